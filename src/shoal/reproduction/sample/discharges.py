"""Hospital discharges in the image of California's of 2009, the table of Sánchez et al. that cannot be had.

Calibrated to the supplement's Table S5 (correlations) and Fig S3 (reidentification): at 3,985,166 rows and seed 0,
74.8% of the records are unique on the nine quasi-identifiers. Deterministic for (rows, seed): numpy PCG64, no
threads. The geography (hospitals, ZIP codes, catchments) has a seed of its own, so that tables of different sizes
share one world. The order of the draws is part of the format: golden values hang on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from shoal.storage import Array

# Counties of California: people in 2009 in thousands, and the ZIP prefixes of their residents.


@cache
def county_table() -> dict[int, tuple[int, list[int]]]:
    """By the code of a county: people in thousands, and three-digit ZIP prefixes."""
    text = files("shoal.reproduction.sample").joinpath("counties.csv").read_text("utf-8")
    rows = [line.split(",") for line in text.splitlines()[1:]]
    return {int(code): (int(people), [int(prefix) for prefix in prefixes.split()]) for code, people, prefixes in rows}


QUASI_IDENTIFIERS = ["oshpd_id", "age_yrs", "sex", "ethncty", "race", "patzip", "patcnty", "los", "adm_qtr"]
CENSUS = ["age_yrs", "sex", "ethncty", "race", "patzip", "patcnty"]
SPATIAL = ["oshpd_id"]
TEMPORAL = ["los", "adm_qtr"]

NEWBORN, MATERNITY, OTHER = 0, 1, 2
HISPANIC, UNKNOWN_ETHNICITY = 1, 3
HIGHEST_CHARGE, LONGEST_STAY = 9_999_999, 3000


@dataclass(frozen=True)
class Parameters:
    """What was calibrated."""

    hospitals: int = 452
    zips: int = 1763
    zip_sigma: float = 1.395
    # shares of a ZIP's patients that go to its first, second, … hospital
    slots: tuple[float, ...] = (0.62, 0.15, 0.07, 0.03)
    in_county: float = 0.838
    unknown: float = 0.0034
    redraw: float = 0.22
    no_charge: float = 0.09
    charge_mean: float = 9.135
    charge_sigma: float = 0.78
    charge_by_stay: float = 0.86
    maternity: float = 0.115
    newborn: float = 0.128
    long_stay: float = 0.012


@dataclass(frozen=True)
class Geography:
    """ZIP codes with county and weight, hospitals with county, and who goes where."""

    zip: Array
    zip_county: Array
    zip_weight: Array
    hospital: Array
    near: Array  # per ZIP its hospitals in the county, by preference
    referral: Array  # per ZIP three hospitals anywhere
    charges_nothing: Array  # per hospital


def _generator(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


def geography(seed: int, parameters: Parameters) -> Geography:
    """The world in which the patients live."""
    draw = _generator(seed)
    codes = np.array(sorted(county_table()))
    people = np.array([county_table()[code][0] for code in codes], float)
    zips, zip_county, zip_weight = _zip_codes(draw, codes, people, parameters)
    hospital, hospital_county, hospital_size = _hospitals(draw, codes, people, parameters)

    places = len(parameters.slots)
    near = np.zeros((len(zips), places), int)
    for index in range(len(zips)):
        own = np.flatnonzero(hospital_county == zip_county[index])
        if len(own) == 0:
            own = np.array([np.argmin(np.abs(hospital_county - zip_county[index]))])
        liking = np.log(hospital_size[own]) + draw.gumbel(size=len(own))
        preferred = own[np.argsort(-liking)]
        near[index] = preferred[np.arange(places) % len(preferred)]
    referral = draw.choice(len(hospital), size=(len(zips), 3), p=hospital_size / hospital_size.sum())
    charges_nothing = draw.random(len(hospital)) < parameters.no_charge
    return Geography(zips, zip_county, zip_weight, hospital, near, referral, charges_nothing)


def _zip_codes(
    draw: np.random.Generator, counties: Array, people: Array, parameters: Parameters
) -> tuple[Array, Array, Array]:
    """At least one ZIP per county, their number as people^0.8, their sizes lognormal within the county."""
    weight = people**0.8
    wanted = np.maximum(1, np.round(weight / weight.sum() * parameters.zips)).astype(int)
    zips: list[int] = []
    zip_county: list[int] = []
    zip_weight: list[float] = []
    used: set[int] = set()
    for county, count, population in zip(counties, wanted, people, strict=True):
        prefixes = county_table()[county][1]
        found: list[int] = []
        while len(found) < count:
            code = int(prefixes[draw.integers(len(prefixes))]) * 100 + int(draw.integers(1, 100))
            if code in used:
                if all(prefix * 100 + last in used for prefix in prefixes for last in range(1, 100)):
                    break
                continue
            used.add(code)
            found.append(code)
        sizes = draw.lognormal(0, parameters.zip_sigma, len(found))
        zips += found
        zip_county += [county] * len(found)
        zip_weight += list(sizes / sizes.sum() * population)
    weights = np.array(zip_weight)
    return np.array(zips), np.array(zip_county), weights / weights.sum()


def _hospitals(
    draw: np.random.Generator, counties: Array, people: Array, parameters: Parameters
) -> tuple[Array, Array, Array]:
    """Hospitals per county as people^0.85, none in the tiniest; their sizes lognormal."""
    weight = people**0.85
    wanted = np.round(weight / weight.sum() * parameters.hospitals).astype(int)
    wanted[people > 15] = np.maximum(1, wanted[people > 15])
    codes: list[int] = []
    county_of: list[int] = []
    sizes: list[float] = []
    for county, count in zip(counties, wanted, strict=True):
        numbers = np.sort(draw.choice(np.arange(1, 1400), size=count, replace=False))
        codes += list(county * 10000 + numbers)
        county_of += [county] * count
        sizes += list(draw.lognormal(0, 0.7, count))
    return np.array(codes), np.array(county_of), np.array(sizes)


def discharges(
    rows: int, seed: int = 0, geography_seed: int = 2009, parameters: Parameters | None = None
) -> dict[str, Array]:
    """The discharge table, column by column, as 32-bit integers.

    >>> discharges(2)["patzip"].tolist()
    [95095, 91472]
    """
    given = parameters or Parameters()
    world = geography(geography_seed, given)
    draw, real = _generator(seed), np.float32
    home = np.searchsorted(np.cumsum(world.zip_weight), draw.random(rows) * 0.9999999).astype(np.int32)
    hospital = _hospital(draw, world, home, given)

    chance = draw.random(rows, dtype=real)
    kind = np.where(
        chance < given.newborn, NEWBORN, np.where(chance < given.newborn + given.maternity, MATERNITY, OTHER)
    )
    kind = kind.astype(np.int8)
    age = _age(draw, kind)
    male = np.where(kind == MATERNITY, 0.0, np.where(kind == NEWBORN, 0.512, 0.590 - 0.0024 * (age - 20)))
    sex = np.where(draw.random(rows, dtype=real) < male.astype(real), 1, 2).astype(np.int32)

    by_zip = _generator(geography_seed + 1)
    ethnicity = _ethnicity(draw, by_zip, world, home, age)
    race = _race(draw, by_zip, world, home, age, ethnicity)
    stay = _length_of_stay(draw, kind, age, given)
    quarter = (1 + np.searchsorted(np.cumsum([0.2535, 0.2495, 0.2495]), draw.random(rows))).astype(np.int32)

    # the authors filled masked cells by drawing from the marginals (Algorithm S1): so are these shuffled
    pool = draw.integers(0, rows, size=int(given.redraw * rows))
    redrawn = np.flatnonzero(draw.random(rows, dtype=real) < given.redraw)[: len(pool)]
    source = [draw.permutation(redrawn) for _ in range(3)]
    age[redrawn], ethnicity[redrawn], race[redrawn] = age[source[0]], ethnicity[source[1]], race[source[2]]

    rare = draw.random(rows, dtype=real)
    sex[rare < 2e-4] = 3
    sex[(rare >= 2e-4) & (rare < 3e-4)] = 4
    patzip = world.zip[home].astype(np.int32)
    county = world.zip_county[home].astype(np.int32)
    unknown = draw.random(rows, dtype=real) < given.unknown
    patzip[unknown] = 0
    county[unknown] = 0
    sex[unknown] = np.where(draw.random(int(unknown.sum())) < 0.76, 1, 2)

    charge = _charge(draw, kind, age, stay, given)
    charge[world.charges_nothing[hospital]] = 0
    return {
        "oshpd_id": world.hospital[hospital].astype(np.int32),
        "age_yrs": age,
        "sex": sex,
        "ethncty": ethnicity,
        "race": race,
        "patzip": patzip,
        "patcnty": county,
        "los": stay,
        "adm_qtr": quarter,
        "charge": charge,
    }


def _hospital(draw: np.random.Generator, world: Geography, home: Array, given: Parameters) -> Array:
    shares = np.array(given.slots, float)
    steps = np.cumsum(shares / shares.sum())
    slot = np.searchsorted(steps, draw.random(len(home), dtype=np.float32) * np.float32(0.999999)).astype(np.int8)
    hospital = world.near[home, slot]
    away = draw.random(len(home), dtype=np.float32) > given.in_county
    choice = np.searchsorted(np.cumsum([0.65, 0.25, 0.10]), draw.random(int(away.sum())) * 0.9999999)
    hospital[away] = world.referral[home[away], choice]
    return np.asarray(hospital)


def _age(draw: np.random.Generator, kind: Array) -> Array:
    age = np.zeros(len(kind), np.int32)
    mothers = kind == MATERNITY
    age[mothers] = np.clip(np.rint(draw.normal(28.3, 6.1, int(mothers.sum()))), 13, 50).astype(np.int32)
    others = np.flatnonzero(kind == OTHER)
    chance = draw.random(len(others), dtype=np.float32)
    drawn = np.where(
        chance < 0.055,
        draw.gamma(1.1, 5.5, len(others)),
        np.where(chance < 0.50, draw.normal(47, 15, len(others)), draw.normal(75, 9.5, len(others))),
    )
    age[others] = np.clip(np.floor(np.abs(drawn)), 0, 85).astype(np.int32)
    return age


def _ethnicity(
    draw: np.random.Generator, by_zip: np.random.Generator, world: Geography, home: Array, age: Array
) -> Array:
    """1 Hispanic, 2 not, 3 unknown; the Hispanic share falls with age and varies by ZIP."""
    share = by_zip.beta(1.4, 2.4, len(world.zip)) * (1.13 - 0.0050 * world.zip_county)
    hispanic = np.clip(share[home] * (1.62 - 0.0150 * age), 0.02, 0.97)
    chance = draw.random(len(home), dtype=np.float32)
    known = np.where(draw.random(len(home), dtype=np.float32) < hispanic, HISPANIC, 2)
    return np.where(chance < 0.022, UNKNOWN_ETHNICITY, known).astype(np.int32)


def _race(
    draw: np.random.Generator,
    by_zip: np.random.Generator,
    world: Geography,
    home: Array,
    age: Array,
    ethnicity: Array,
) -> Array:
    """1 white, 2 black, 3 native, 4 Asian or Pacific, 5 other, 6 unknown."""
    chance = draw.random(len(home), dtype=np.float32)
    by_age = 1.42 - 0.0095 * age
    black = by_zip.beta(0.7, 6.8, len(world.zip))[home] * by_age
    asian = (by_zip.beta(0.9, 7.5, len(world.zip)) * (1.45 - 0.018 * world.zip_county))[home] * by_age
    both = black + asian
    race = np.select(
        [chance < black, chance < both, chance < both + 0.028, chance < both + 0.033, chance < both + 0.043],
        [2, 4, 5, 3, 6],
        1,
    )
    of_hispanics = draw.random(len(home), dtype=np.float32)
    hispanic = np.select([of_hispanics < 0.595, of_hispanics < 0.955, of_hispanics < 0.985], [1, 5, 6], 2)
    return np.where(ethnicity == HISPANIC, hispanic, race).astype(np.int32)


def _length_of_stay(draw: np.random.Generator, kind: Array, age: Array, given: Parameters) -> Array:
    real = np.float32
    normal = draw.standard_normal(len(kind), dtype=real)
    stay = np.where(
        kind == NEWBORN,
        np.floor(np.exp(0.78 + 0.42 * normal)),
        np.where(
            kind == MATERNITY,
            np.floor(np.exp(0.92 + 0.34 * normal)),
            np.floor(np.exp(1.17 + 0.0000 * age + 0.80 * normal)),
        ),
    ).astype(np.int32)
    factor = np.where(kind == NEWBORN, real(3.4), np.where(age < 45, real(1.0), real(0.45)))
    long = draw.random(len(kind), dtype=real) < given.long_stay * factor
    stay[long] = (stay[long] + np.floor(draw.gamma(0.75, 42, int(long.sum())))).astype(np.int32)
    return np.minimum(stay, LONGEST_STAY).astype(np.int32)


def _charge(draw: np.random.Generator, kind: Array, age: Array, stay: Array, given: Parameters) -> Array:
    noise = draw.standard_normal(len(kind))
    charge = np.exp(
        given.charge_mean
        + given.charge_by_stay * np.log1p(stay)
        + 0.002 * age
        + given.charge_sigma * noise
        - 0.75 * (kind == NEWBORN)
    )
    return np.asarray(np.minimum(np.rint(charge), HIGHEST_CHARGE), np.int32)
