"""Jobs that together call every kernel, on small tables: thresholds above which kernels are used are lowered."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np
import polars as pl

# module, name, and the value that lets small tables through
THRESHOLDS = [
    ("shoal.storage.classes", "MANY", 1),
    ("shoal.storage.classes", "_FEW_CLASSES", 8),
    ("shoal.storage.classes", "_FROM_ROWS", 1),
    ("shoal.storage.classes", "_BITS", 4),
    ("shoal.ranges.boxed", "_MANY", 1),
    ("shoal.utility.loss", "_MANY", 1),
    ("shoal.methods.search.sources", "_LEAST_SLOTS", 64),
    ("shoal.methods.search.evaluate", "_LEAST_CELLS", 64),
    ("shoal.methods.search.evaluate", "_LEAST_SIZES", 64),
    ("shoal.methods.search.closing", "_LEAST_CELLS", 64),
    ("shoal.utility.loss", "BLOCK", 64),
    ("shoal.streams.stream", "CLUSTERS", 5),
    ("shoal.streams.stream", "REUSABLE", 8),
]
QUASI_IDENTIFIERS = ["age_yrs", "sex", "ethncty", "race", "patzip", "patcnty", "los", "adm_qtr", "oshpd_id"]


def discharges(rows: int, seed: int) -> pl.DataFrame:
    from shoal.reproduction.sample import sample_data

    return sample_data("discharges", rows=rows, seed=seed)


def anonymized(seed: int, method: str, *, rows: int = 60, text: str | None = None, **options: Any) -> Any:
    """A few records anonymised; numbers of the column `text` are read as texts, which have no order."""
    import shoal

    table = discharges(rows, seed)
    if text is not None:
        table = table.with_columns(table[text].cast(str))
    used = options.setdefault("quasi_identifiers", QUASI_IDENTIFIERS)
    decide = {name: "other" for name in table.columns if name not in (*used, options.get("sensitive"))}
    return shoal.anonymize(table, method=method, decide=decide, **options)


def partitions(seed: int) -> None:
    for effort in ("fast", "default", "best"):
        anonymized(seed, "mondrian", k=2, effort=effort)
    for cuts in ("best", "strict", "relaxed"):
        anonymized(seed, "mondrian", k=3, cuts=cuts)
    anonymized(seed, "mondrian", quasi_identifiers=["age_yrs"], k=2)
    anonymized(seed, "mondrian", rows=200, sensitive="charge", k=3, l=2)


def lattices(seed: int) -> None:
    few = QUASI_IDENTIFIERS[:4]
    for suppression in (0, 0.05, 1):
        anonymized(seed, "lattice", k=2, suppression=suppression)
    for minimize in ("discernibility", "average-class-size"):
        anonymized(seed, "lattice", quasi_identifiers=few, k=2, suppression=0.1, minimize=minimize)
    anonymized(seed, "lattice", quasi_identifiers=few, k=2, suppression=0.1, local=True)
    anonymized(seed, "lattice", quasi_identifiers=few, k=2, suppression=0.1, sensitive="charge", l=2)
    for sensitive, text in (("charge", None), ("sex", None), ("sex", "sex")):
        columns = [name for name in few if name != sensitive]
        anonymized(
            seed, "lattice", quasi_identifiers=columns, sensitive=sensitive, text=text, k=2, suppression=0.1, t=0.4
        )


@contextmanager
def set_to(module: str, **values: Any) -> Iterator[None]:
    """Thresholds of a module of the search for a while."""
    there = importlib.import_module(f"shoal.methods.search.{module}")
    before = {name: getattr(there, name) for name in values}
    for name, value in values.items():
        setattr(there, name, value)
    yield
    for name, value in before.items():
        setattr(there, name, value)


def large_lattices(seed: int) -> None:
    """What is done with many tuples, with many nodes, with many values in a column, and when time is over."""
    _large_lattices(seed)
    with set_to("grid", _NARROW=0):
        lattices(seed)
        _large_lattices(seed)


def _large_lattices(seed: int) -> None:
    from shoal.errors import InputError

    few = QUASI_IDENTIFIERS[:4]
    anonymized(seed, "lattice", quasi_identifiers=few, k=2, suppression=0)
    for listed, most_open in ((0, 1 << 21), (0, 0)):
        with set_to("optimum", _LISTED=listed, _OPEN=most_open):
            anonymized(seed, "lattice", quasi_identifiers=few, k=2, suppression=0.1)
            anonymized(seed, "lattice", quasi_identifiers=few, k=2, suppression=0.1, minimize="entropy")
    roll_up = {"_FEW": 0, "_FEWER": 1.0, "_LOOKS": 1, "_SAMPLED": 0}
    for cells, bits in ((1 << 20, 1 << 20), (1 << 20, 0), (0, 1 << 20), (0, 0)):
        with set_to("sources", _WORTH_PACKING=0, _MOST_CELLS=cells, _MOST_BITS=bits, **roll_up):
            anonymized(seed, "lattice", quasi_identifiers=few, k=2, suppression=0.1)
        with set_to("evaluate", _MOST_CELLS=cells), set_to("sources", _MOST_BITS=bits, **roll_up):
            anonymized(seed, "lattice", quasi_identifiers=few, k=2, suppression=0.1)
    with suppress(InputError):  # no solution in so little time: only what none is below
        no_time = {"minimize": "discernibility", "time_limit": 1e-9}
        anonymized(seed, "lattice", quasi_identifiers=few, k=2, suppression=0.1, **no_time)


def parts_within_t(seed: int) -> None:
    """The largest part of a class that is within t, by a tree of values and without."""
    from shoal.models.distances import DistanceTree, must_lose
    from shoal.models.spread import Spread, Whole

    draw = np.random.default_rng(seed)
    tree = (np.arange(6), np.array([0, 0, 1, 1, 2, 2]), np.array([0, 0, 1, 1, 1, 1]), np.zeros(6, np.int64))
    whole = Whole(draw.integers(1, 30, 6), tree=tree)
    classes, codes = np.repeat(np.arange(4), 6), np.tile(np.arange(6), 4)
    spread = Spread(classes, codes, draw.integers(1, 9, 24), whole)
    for hierarchical in (False, True):
        for t in (0.05, 0.2, 0.5):
            must_lose(spread, DistanceTree(whole, hierarchical), np.array([True, False, True, True]), t)


def microaggregations(seed: int) -> None:
    anonymized(seed, "microaggregate", k=3)
    anonymized(seed, "microaggregate", k=3, mdav=True)
    anonymized(seed, "microaggregate", k=3, sensitive="charge", t=0.3)


def numbered(seed: int) -> None:
    """Keys of one word and of two, in every size of table."""
    from shoal.kernels import rows
    from shoal.storage.classes import Coded, class_of_each_row, class_of_rows
    from shoal.storage.order import shuffled_order

    draw = np.random.default_rng(seed)
    for bits in (8, 31, 58, 62):
        class_of_each_row(Coded(draw.integers(0, 2**bits, 300).astype(np.uint64)[draw.integers(0, 300, 300)], 2**bits))
    class_of_rows([Coded(draw.integers(0, 2**40, 200)[draw.integers(0, 200, 200)], 2**40) for _ in range(2)])
    shuffled_order(100, seed)
    for kind in (np.uint8, np.uint16, np.uint32):
        codes, taken = draw.integers(0, 200, 100).astype(kind), np.empty(100, np.uint32)
        rows.take_codes(codes, draw.permutation(100), taken, np.zeros(150, bool))
        for bits in (8, 11, 32):
            rows.pack_numbers(
                taken, draw.integers(0, 2**bits, 256).astype(np.uint32), bits, np.zeros(4 * 104, np.uint8)
            )


def counted(seed: int) -> None:
    """Points that stand for some people each, and groups that a model refuses."""
    from shoal.methods.partition import counted_groups
    from shoal.methods.partition.groups import Groups
    from shoal.methods.partition.mondrian import merged_until_allowed

    draw = np.random.default_rng(seed)
    points, people = draw.random((40, 3)).astype(np.float32), draw.integers(1, 4, 40)
    for effort in ("fast", "default", "best"):
        counted_groups(points.copy(), people, 4, effort, None)
    counted_groups(points.round(1), people, 4, "default", None, squares=True)  # with many ties
    first = np.zeros(40, bool)
    first[::2] = True
    merged_until_allowed(
        Groups(points.copy(), np.arange(40), first), lambda group, count: np.bincount(group, minlength=count) < 5
    )


def measured(seed: int) -> None:
    """The information loss straight from boxes."""
    from shoal.methods.sorted_clusters import sorted_clusters
    from shoal.storage.reading import read
    from shoal.utility.loss import total_of_many

    columns = read(discharges(150, seed)).select(["age_yrs", "los", "charge"])
    total_of_many(columns, sorted_clusters(columns, 3))


def attacked(seed: int) -> None:
    """Every attack on releases by boxes, by sets of categories and by means; and those on long tables."""
    import shoal
    from shoal.reproduction.sample.small import sparse_ratings, trips

    few = QUASI_IDENTIFIERS[:5]
    original = discharges(80, seed)
    for method, options in (("mondrian", {}), ("lattice", {"suppression": 0.2}), ("microaggregate", {})):
        release = anonymized(seed, method, rows=80, quasi_identifiers=few, sensitive="charge", k=2, **options)
        shoal.attack(release, original=original, seed=seed)
    shoal.attack_unicity(trips(300), person="user", columns=["cell", "hour"], points=[1, 3], seed=seed)
    shoal.attack_scoreboard(sparse_ratings(30, 20, 200), person="user", item="film", value="stars", date="day")


def disturbed(seed: int) -> None:
    from shoal.kernels.rows import swap_partners

    draw = np.random.default_rng(seed)
    for window in (1, 3, 50):
        swap_partners(window, draw.random(40))


def streamed(seed: int) -> None:
    """Streams of every kind of column, with missing values, persons who come again, and too few of them at the end."""
    from shoal.streams.stream import Stream

    draw, letters = np.random.default_rng(seed), [*"abcdefghijklmnopqrstuvwxyz"]
    policy = {
        "columns": dict.fromkeys(("age", "letter", "place", "word"), "quasi-identifier") | {"ill": "sensitive"},
        "person": "who",
        "hierarchies": {"place": [[letter, "vowel" if letter in "aeiou" else "other", "*"] for letter in letters]},
    }
    for k, l, delay in ((2, 1, 9), (3, 2, 30)):  # noqa: E741
        models = [{"model": "k-anonymity", "k": k}, {"model": "l-diversity", "l": l, "sensitive": "ill"}]
        stream = Stream({**policy, "models": models}, delay=delay)
        for _ in range(4):
            place, values = draw.choice(letters, 20).tolist(), draw.integers(0, 100, (20, 4)).tolist()
            stream.push(
                {"who": who % 15, "age": None if age > 90 else age, "letter": one, "place": one, "word": str(word)}
                | {"ill": ill % 3}
                for one, (who, age, word, ill) in zip(place, values, strict=True)
            )
            list(stream)
        stream.flush()


JOBS: list[Callable[[int], None]] = [
    numbered,
    partitions,
    lattices,
    large_lattices,
    parts_within_t,
    microaggregations,
    counted,
    measured,
    attacked,
    disturbed,
    streamed,
]


def run(seed: int) -> None:
    for module, name, value in THRESHOLDS:
        there = importlib.import_module(module)
        assert hasattr(there, name), f"{module} has no {name}"
        setattr(there, name, value)
    for job in JOBS:
        job(seed)
