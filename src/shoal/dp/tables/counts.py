"""Tables of counts under differential privacy: measured with noise, then made to agree, whole and never negative.

All tables are fitted by one model, and one set of records is drawn from it by rounding: counts are whole, none is
negative, tables agree wherever they share columns, and combinations that cannot be are nought.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from shoal.dp.tables.account import Account
from shoal.dp.tables.counting import Records, system_randomness
from shoal.dp.tables.domains import Domain
from shoal.dp.tables.model import Clique, JunctionTree, MarginalModel, Measurement
from shoal.dp.tables.synthesis import Zero, total_of
from shoal.errors import InputError, Message

_MOST_CELLS = 2_000_000
_FIT = 1_000
# the file that lists the tables
LIST = "data.csv"


@dataclass(frozen=True)
class CountTables:
    """Tables of counts: each over some columns, one axis for each."""

    cliques: tuple[Clique, ...]
    counts: tuple[np.ndarray[Any, Any], ...]

    def frames(self, domains: Sequence[Domain]) -> dict[str, pl.DataFrame]:
        """The tables as they are written, by the name of the file: a row for each combination."""
        found = dict[str, pl.DataFrame]()
        for clique, counts in zip(self.cliques, self.counts, strict=True):
            own = [domains[axis] for axis in clique]
            rows = itertools.product(*(domain.labels() for domain in own))
            columns = [*(domain.name for domain in own), "count"]
            frame = pl.DataFrame(list(rows), schema=columns[:-1], orient="row", infer_schema_length=None)
            name = file_name(domain.name for domain in own)
            while name.casefold() in {LIST, *map(str.casefold, found)}:
                name = f"_{name}"
            found[name] = frame.with_columns(pl.Series("count", counts.ravel()))
        return found


def file_name(columns: Any) -> str:
    """A file for a table: its columns, with what no file system likes replaced.

    >>> file_name(["age", "zip/code"])
    'age.zip_code.csv'
    """
    return ".".join("".join(c if c.isalnum() or c in "-_" else "_" for c in name) for name in columns) + ".csv"


def cliques_of(tables: Sequence[Sequence[str]], domains: Sequence[Domain]) -> tuple[Clique, ...]:
    """The columns of each table by their places; an error where a table is not one, or all together are too large."""
    places = {domain.name: place for place, domain in enumerate(domains)}
    found = []
    for names in tables:
        if missing := [name for name in names if name not in places]:
            raise InputError.missing_columns(missing, places, Message("What can be counted ({tables})"))
        if len(set(names)) < len(names):
            raise InputError(Message("A table of {tables} names a column twice."), "Name it once.")
        found.append(tuple(sorted(places[name] for name in names)))
    if len(set(found)) < len(found):
        raise InputError(Message("{tables} names a table twice."), "Name it once: it is paid for once.")
    sizes = [domain.size for domain in domains]
    if JunctionTree.of(sizes, found).cells > _MOST_CELLS:
        raise InputError(
            f"The tables have more than {_MOST_CELLS:,} cells together.", "Ask for smaller ones, or for wider bins."
        )
    return tuple(found)


def count_tables(
    records: Records,
    domains: Sequence[Domain],
    cliques: Sequence[Clique],
    account: Account,
    zeros: Sequence[Zero],
    public: int | None,
) -> CountTables:
    """Measure each table with an equal part of the budget, and make them agree."""
    rho, measured = account.part(1 / len(cliques)), list[Measurement]()
    for clique in cliques:
        names = [domains[axis].name for axis in clique]
        noisy = account.counts("table", names, records.counts(clique), rho).astype(float)
        measured.append(Measurement(clique, noisy, 1 / account.steps[-1].scale ** 2))
    total = total_of([one.counts for one in measured], public)
    groups = [np.arange(domain.size) for domain in domains]
    model = MarginalModel.uniform(
        [domain.size for domain in domains], [*cliques, *(zero.clique for zero in zeros)], total
    )
    for zero in zeros:
        model.forbid(zero.clique, zero.mask(groups))
    model.fit(measured, _FIT)
    drawn = Records(tuple(model.records(round(total), system_randomness())), model.tree.sizes)
    return CountTables(tuple(cliques), tuple(drawn.counts(clique) for clique in cliques))


def agreeing(frames: dict[str, pl.DataFrame]) -> str | None:
    """Why tables of counts are not such: not whole, negative, or of different margins; None where all is right."""
    for name, frame in frames.items():
        counts = frame["count"]
        if not counts.dtype.is_integer() or counts.null_count() or bool((counts < 0).any()):
            return f"{name} has a count that is not a whole number from 0 on"
    for (one, first), (other, second) in itertools.combinations(frames.items(), 2):
        shared = [name for name in first.columns[:-1] if name in second.columns[:-1]]
        sums = [frame.group_by(shared).agg(pl.col("count").sum()) if shared else frame.select(pl.col("count").sum())
                for frame in (first, second)]  # fmt: skip
        sums = [frame.with_columns(pl.col(shared).cast(pl.String)).sort(shared) if shared else frame for frame in sums]
        if not sums[0].equals(sums[1]):
            return f"{one} and {other} do not agree"
    return None


def expected_error(scale: float) -> float:
    """How far a noisy count lies off at most, with 95% confidence, before anything is made to agree."""
    return math.ceil(1.96 * scale)
