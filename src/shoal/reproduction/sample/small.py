"""Sample tables in the image of those that papers examined: driving licences, ratings of films, traces of phones."""

from __future__ import annotations

import numpy as np
import polars as pl

from shoal.reproduction.sample.discharges import discharges

# Driving licences of a small region, in the image of the Italian open data that Pastore et al. examined.
#
# Fourteen columns: who lives where, born when, with which licence, since when; two thirds of the records lack some
# date, a few lack the sex. A municipality lies in one province, a province in one region. About nobody.


MUNICIPALITIES, PROVINCES = 74, 4
CATEGORIES = ["B", "A", "C", "AM", "A1", "A2", "BE", "CE", "D", "DE"]
CATEGORY_WEIGHTS = np.array([0.62, 0.17, 0.06, 0.04, 0.03, 0.02, 0.02, 0.02, 0.015, 0.005])
_SYLLABLES = ["ar", "vi", "sa", "mon", "cha", "gres", "va", "to", "ly", "per", "bru", "is"]
_DAY = np.timedelta64(1, "D")


def licences(rows: int, seed: int = 0) -> pl.DataFrame:
    """The licence table; the towns are the same for every seed.

    >>> licences(2).columns[:4]
    ['anno_nascita', 'comune_residenza', 'provincia_residenza', 'regione_residenza']
    """
    draw = np.random.default_rng(seed)
    towns, province_of, weights = _towns()
    town = draw.choice(len(towns), rows, p=weights)
    born = 2015 - np.clip(draw.gamma(6.0, 8.5, rows), 14, 100).astype(np.int64)
    sex = np.where(draw.random(rows) < 0.52, "M", "F")
    category = draw.choice(len(CATEGORIES), rows, p=CATEGORY_WEIGHTS / CATEGORY_WEIGHTS.sum())
    first = _dates(draw, born + 18, rows)
    renewed = first + draw.integers(0, 3650, rows) * _DAY
    expires = renewed + (draw.choice([3, 5, 10], rows, p=[0.1, 0.3, 0.6]) * 365) * _DAY
    points = np.clip(30 - draw.poisson(3.5, rows), 0, 30)
    province = province_of[town]
    frame = pl.DataFrame(
        {
            "anno_nascita": born,
            "comune_residenza": np.array(towns)[town],
            "provincia_residenza": np.array([f"P{index}" for index in range(PROVINCES)])[province],
            "regione_residenza": np.full(rows, "REGIONE"),
            "stato_nascita": np.where(
                draw.random(rows) < 0.9,
                "ITALIA",
                np.array(["ROMANIA", "MAROCCO", "ALBANIA"])[draw.integers(0, 3, rows)],
            ),
            "sesso": sex,
            "categoria_patente": np.array(CATEGORIES)[category],
            "data_rilascio": first,
            "data_rinnovo": renewed,
            "data_scadenza": expires,
            "abilitato_a": np.where(draw.random(rows) < 0.3, "S", "N"),
            "data_abilitazione": first + draw.integers(0, 400, rows) * _DAY,
            "stato_patente": np.array(["VALIDA", "SCADUTA", "SOSPESA"])[draw.choice(3, rows, p=[0.9, 0.08, 0.02])],
            "punti_patente": points,
        }
    )
    return frame.with_columns(
        pl.when(pl.Series(draw.random(rows) < 0.002)).then(None).otherwise(pl.col("sesso")).alias("sesso"),
        pl.when(pl.Series(draw.random(rows) < 0.67))
        .then(None)
        .otherwise(pl.col("data_abilitazione"))
        .alias("data_abilitazione"),
        pl.when(pl.Series(draw.random(rows) < 0.3)).then(None).otherwise(pl.col("data_rinnovo")).alias("data_rinnovo"),
    )


def _towns() -> tuple[
    list[str], np.ndarray[tuple[int], np.dtype[np.int64]], np.ndarray[tuple[int], np.dtype[np.float64]]
]:
    """Names, provinces and shares of the municipalities; the first town holds a quarter of the people."""
    draw = np.random.default_rng(1861)
    names: list[str] = []
    while len(names) < MUNICIPALITIES:
        name = "".join(draw.choice(_SYLLABLES, 3)).upper()
        if name not in names:
            names.append(name)
    sizes = draw.lognormal(0, 1.1, MUNICIPALITIES)
    sizes[0] = sizes[1:].sum() / 3
    return names, np.sort(draw.integers(0, PROVINCES, MUNICIPALITIES)), sizes / sizes.sum()


def _dates(
    draw: np.random.Generator, year: np.ndarray[tuple[int], np.dtype[np.int64]], rows: int
) -> np.ndarray[tuple[int], np.dtype[np.datetime64]]:
    """A day within some years of a birthday."""
    start = (np.minimum(year, 2014) - 1970).astype("datetime64[Y]").astype("datetime64[D]")
    return np.minimum(start + draw.integers(0, 2500, rows) * _DAY, np.datetime64("2015-12-31"))


# Discharges with the second confidential attribute of Sánchez et al., drawn beside the rest: the charge and all else
# stay as they are without it.


# ICD-9-CM codes of frequent principal diagnoses, by who has them: the youngest age, the oldest, the sex (0: both)
_DIAGNOSES = (
    (0, 0, 0, ("V3000", "V3001", "7742", "7706")),
    (1, 14, 0, ("49392", "4661", "486", "5409", "2765")),
    (15, 44, 2, ("650", "66411", "65421", "5750", "5990")),
    (15, 44, 1, ("5409", "29620", "6826", "5770", "8208")),
    (45, 64, 0, ("41401", "71536", "486", "5770", "1749", "1890")),
    (65, 85, 0, ("42833", "0389", "486", "82021", "5849", "1519", "1749")),
)


def discharges_with_diagnosis(rows: int, seed: int = 0) -> pl.DataFrame:
    """The discharges with `diag_p`, the principal diagnosis (ICD-9-CM), by age and sex.

    >>> discharges_with_diagnosis(3).columns[-2:]
    ['charge', 'diag_p']
    """
    frame = pl.DataFrame(discharges(rows, seed))
    draw = np.random.default_rng([seed, rows])
    age, sex = (frame[name].to_numpy() for name in ("age_yrs", "sex"))
    codes = np.full(rows, "7999", "U5")
    for youngest, oldest, of_sex, frequent in _DIAGNOSES:
        who = (age >= youngest) & (age <= oldest) & ((of_sex == 0) | (sex == of_sex))
        often = 1 / np.arange(1, len(frequent) + 1)
        codes[who] = draw.choice(np.array(frequent), int(who.sum()), p=often / often.sum())
    return frame.with_columns(pl.Series("diag_p", codes))


# Ratings of films with dates, in the image of the sparse table that Narayanan and Shmatikov (2008) examined.
#
# Films differ in fame by a power law, tastes are those of the crowd with some luck. About nobody.


RATINGS = 200
MOST_FILMS = 17_770
_FILMS_PER_RATING = 20
_DAYS = 6 * 365
_BLOCK = 1 << 14


def ratings(rows: int, seed: int = 0) -> pl.DataFrame:
    """Ratings by `rows / 200` users, user by user; a film that a user meets twice is rated once, so rows may be fewer.

    >>> ratings(600).columns, ratings(600)["user"].n_unique()
    (['user', 'film', 'stars', 'day'], 3)
    """
    return sparse_ratings(-(-rows // RATINGS), RATINGS, MOST_FILMS, seed)[:rows]


def sparse_ratings(users: int, each: int, films: int, seed: int = 0) -> pl.DataFrame:
    """Ratings by users with `each` ratings among `films`: the fewer films, the denser the table.

    >>> sparse_ratings(2, 3, 100).height
    6
    """
    draw = np.random.default_rng(seed)
    fame = np.cumsum(1 / np.arange(3, films + 3))
    mean = np.clip(draw.normal(3.6, 0.5, films), 1, 5)
    parts = [
        _some(draw, start, min(_BLOCK, users - start), each, fame / fame[-1], mean) for start in range(0, users, _BLOCK)
    ]
    return pl.concat(parts)


def _some(
    draw: np.random.Generator, first: int, users: int, each: int, fame: np.ndarray, mean: np.ndarray
) -> pl.DataFrame:
    film = np.sort(np.searchsorted(fame, draw.random((users, each))), axis=1)
    once = np.ones(film.shape, bool)
    once[:, 1:] = film[:, 1:] != film[:, :-1]
    user = np.broadcast_to(np.arange(first, first + users, dtype=np.uint32)[:, None], film.shape)[once]
    film = film[once].astype(np.uint16)
    stars = np.clip(np.rint(draw.normal(mean[film], 1.0)), 1, 5).astype(np.uint8)
    joined = draw.integers(0, _DAYS, users)
    stay = draw.exponential(300, film.shape)
    day = np.clip(joined[user - first] + stay, 0, _DAYS).astype(np.int32)
    return pl.DataFrame({"user": user, "film": film, "stars": stars, "day": pl.Series(day + 10_957).cast(pl.Date)})


# Where phones were and when, in the image of the traces that de Montjoye et al. (2013) examined.
#
# One row is a sighting of a user: a cell of a square grid and an hour of a month. Everybody has a home, a workplace and
# a few other places near home, and is seen a hundred times, mostly at home or at work. About nobody.


SIGHTINGS = 100
HOURS = 24 * 30
# users per cell, as in the paper: 1.5 million users, 6,500 antennas
_USERS_PER_CELL = 230
_PLACES = 10
_TRIPS_AT_ONCE = 1 << 16


def trips(rows: int, seed: int = 0) -> pl.DataFrame:
    """Sightings of `rows / 100` users, user by user; `cell` counts the cells of the grid line by line.

    >>> trips(300).columns, trips(300)["user"].n_unique()
    (['user', 'cell', 'hour'], 3)
    """
    draw = np.random.default_rng(seed)
    users = -(-rows // SIGHTINGS)
    side = max(8, round((users / _USERS_PER_CELL) ** 0.5))
    blocks = [_sightings(draw, min(_TRIPS_AT_ONCE, users - start), side) for start in range(0, users, _TRIPS_AT_ONCE)]
    cell, hour = (np.concatenate([block[part] for block in blocks])[:rows] for part in (0, 1))
    user = np.repeat(np.arange(users, dtype=np.uint32), SIGHTINGS)[:rows]
    return pl.DataFrame({"user": user, "cell": cell, "hour": hour})


def _sightings(draw: np.random.Generator, users: int, side: int) -> tuple[np.ndarray, np.ndarray]:
    """Cells and hours of some users: places scatter around home, the k-th is visited as 1/k."""
    home = draw.integers(0, side, (users, 1, 2))
    away = np.rint(draw.standard_cauchy((users, _PLACES, 2))).astype(np.int64)
    away[:, 0] = 0
    place = np.clip(home + np.clip(away, -side, side), 0, side - 1)
    cells = (place[..., 0] * side + place[..., 1]).astype(np.uint32)
    often = np.cumsum(1 / np.arange(1, _PLACES + 1))
    which = np.searchsorted(often / often[-1], draw.random((users, SIGHTINGS)))
    hour = draw.integers(0, HOURS, (users, SIGHTINGS), dtype=np.uint16)
    return np.take_along_axis(cells, which, axis=1).ravel(), hour.ravel()
