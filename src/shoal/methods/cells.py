"""Tables of counts: no small cell is shown, and none follows from the margins.

CMS: no count of 1 to 10. A cell that is left out follows where a margin shows the sum: then it is one equation with one
unknown. All equations between cells and margins are propagated as bounds of whole numbers until nothing changes; small
systems are also solved, so that a cell is found that only several equations together give away.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl

from shoal.errors import InputError, Message, as_names
from shoal.results import Figure, Figures, Headline, Notes, Result, Section
from shoal.storage import Array, Table
from shoal.storage.reading import read
from shoal.storage.texts import check_have_texts
from shoal.verbs.base import takes
from shoal.verbs.measuring import CellsRequest
from shoal.wording import counted

LEAST = 11
TOTAL_WORDS = ("total", "all", "sum", "overall")
_SUPPRESSED = r"^(?:\*+|<\s*\d+|≤\s*\d+|\d+\s*-\s*\d+|s|x|n/?a|\.|-|\(?suppressed\)?|)$"
# Past this many unknown cells the equations are propagated but not solved.
MOST_SOLVED = 1_500
MOST_CELLS = 1_000_000


@dataclass(frozen=True, repr=False)
class Cells(Result):
    """What was found in a table of counts; it holds if no small count is shown or derivable."""

    name: ClassVar[str] = "cells"

    cells: int
    margins: int
    suppressed: int
    missing: int
    small: int
    derivable: int
    least: int
    solved: bool
    verdict: Literal["holds", "refused"]

    def summary(self) -> str:
        """Whether a small count is shown or follows from the margins."""
        if self.verdict == "holds":
            return f"No count of 1 to {self.least - 1} is shown, and none follows from the margins."
        shown = f"{counted(self.small, 'count')} of 1 to {self.least - 1} shown"
        return f"{shown}, {self.derivable:,} more derivable by subtraction."

    def sections(self) -> list[Section]:
        """The verdict, and the figures behind it."""
        names = ("cells", "margins", "suppressed", "missing", "small", "derivable")
        notes = [] if self.solved else ["too many unknown cells to solve the equations: bounds were propagated only"]
        notes.append("shares and averages of the same table can give a count away too: they are not checked here")
        return [
            Headline(self.summary(), "good" if self.verdict == "holds" else "bad"),
            Figures([Figure(name, f"{getattr(self, name):,}") for name in names]),
            Notes(notes),
        ]


@takes(CellsRequest)
def cells(source: Any, asked: CellsRequest) -> Cells:
    """Check a table of counts: `by` are its dimensions, rows whose dimension says `total` are margins.

    A count that is empty, `*` or `<11` is suppressed. Combinations that are not listed count as unknown.

    >>> import polars as pl
    >>> table = pl.DataFrame({"sex": ["f", "m", "Total"], "n": ["20", "*", "25"]})
    >>> found = cells(table, by="sex", count="n")
    >>> found.small, found.derivable, found.verdict
    (0, 1, 'refused')
    """
    if asked.least < 2:
        raise InputError(f"A least count of {asked.least} protects nobody.", Message("Use {least} 11, for example."))
    names = as_names(asked.by)
    table = read(source, [*names, asked.count], asked.options)
    check_have_texts(table.columns.values())
    dimensions = [_dimension(table, name, asked.total) for name in names]
    values = _counts(table, asked.count)
    system = _system(dimensions, values)
    low, high, solved = _bounds(system)
    known = low == high
    shown = np.isfinite(system.value)
    little = (low >= 1) & (low < asked.least)
    small = int(np.count_nonzero(shown & little))
    derivable = int(np.count_nonzero(~shown & known & little))
    return Cells(
        cells=table.rows,
        margins=system.margins,
        suppressed=int(np.count_nonzero(~shown[: table.rows])),
        missing=len(system.value) - table.rows,
        small=small,
        derivable=derivable,
        least=asked.least,
        solved=solved,
        verdict="holds" if not small and not derivable else "refused",
    )


@dataclass(frozen=True)
class _System:
    """Cells with their values (NaN: unknown), and equations: a margin and the cells that sum up to it."""

    value: Array
    margins: int
    equations: list[tuple[int, list[int]]]


def _dimension(table: Table, name: str, total: str | None) -> tuple[list[str], str | None]:
    """The values of a dimension row by row, and which of them is the total."""
    column = table[name]
    texts = ["" if text is None else str(text) for text in column.decode().cast(pl.String).to_list()]
    words = [total.lower()] if total is not None else list(TOTAL_WORDS)
    found = sorted({text for text in texts if text.strip().lower() in words})
    if len(found) > 1:
        raise InputError(f"Column '{name}' has more than one word for its total.", Message("Name it in {total}."))
    return texts, found[0] if found else None


def _counts(table: Table, name: str) -> Array:
    column = table[name].decode()
    if column.dtype.is_numeric():
        values = column.cast(pl.Float64).fill_null(float("nan")).to_numpy()
    else:
        texts = column.cast(pl.String).fill_null("").str.strip_chars().str.replace_all(r"(\d),(\d{3})", "${1}${2}")
        numbers = texts.cast(pl.Float64, strict=False)
        if not (numbers.is_not_null() | texts.str.contains("(?i)" + _SUPPRESSED)).all():
            raise InputError(
                f"Column '{name}' holds values that are neither counts nor marks of suppression.",
                "Write counts as whole numbers, suppressed cells as * or empty.",
            )
        values = numbers.fill_null(float("nan")).to_numpy()
    bad = np.isfinite(values) & ((values < 0) | (values != np.floor(values)))
    if bad.any():
        raise InputError(f"Column '{name}' has numbers that are not counts.", "Counts are whole and not negative.")
    return values.astype(np.float64)


def _system(dimensions: list[tuple[list[str], str | None]], values: Array) -> _System:
    """One equation per margin and dimension: the total is the sum over the dimension's values, listed or not."""
    keys = list(zip(*(texts for texts, _ in dimensions), strict=True))
    place = {key: row for row, key in enumerate(keys)}
    if len(place) != len(keys):
        raise InputError("A combination of the dimensions is listed twice.", Message("Name all dimensions in {by}."))
    totals = [total for _, total in dimensions]
    members = [sorted(set(texts) - {total}) for (texts, _), total in zip(dimensions, totals, strict=True)]
    if np.prod([len(categories) + 1.0 for categories in members]) > MOST_CELLS:
        raise InputError("The table has too many combinations to check.", "Check fewer dimensions at once.")
    equations: list[tuple[int, list[int]]] = []
    unknown: list[float] = []
    margins = 0
    # all margins that could be shown, also those that are not: what they sum up follows too
    axes = [
        [*categories, total] if total is not None else categories
        for categories, total in zip(members, totals, strict=True)
    ]
    for key in product(*axes):
        at = [axis for axis, total in enumerate(totals) if total is not None and key[axis] == total]
        if not at:
            continue
        margins += key in place
        for axis in at:
            parts = [(*key[:axis], member, *key[axis + 1 :]) for member in members[axis]]
            for part in (key, *parts):
                if part not in place:
                    place[part] = len(keys) + len(unknown)
                    unknown.append(float("nan"))
            equations.append((place[key], [place[part] for part in parts]))
    return _System(np.concatenate([values, np.array(unknown)]), margins, equations)


def _bounds(system: _System) -> tuple[Array, Array, bool]:
    """The least and the greatest value that each cell can have, and whether the equations were solved too."""
    shown = np.isfinite(system.value)
    low, high = np.where(shown, system.value, 0.0), np.where(shown, system.value, np.inf)
    solved = int(np.count_nonzero(~shown)) <= MOST_SOLVED
    while True:
        before = low.copy(), high.copy()
        _propagate(system, low, high)
        if (low > high).any():
            raise InputError("The counts do not add up to their totals.", "Fix the table, or name its total.")
        settled = np.array_equal(before[0], low) and np.array_equal(before[1], high)
        if settled and not (solved and _solve(system, low, high)):
            return low, high, solved


def _propagate(system: _System, low: Array, high: Array) -> None:
    """Every equation once: total = sum, each part = total - the others."""
    for total, listed in system.equations:
        parts = np.array(listed)
        least, most = low[parts], high[parts]
        low[total], high[total] = max(low[total], least.sum()), min(high[total], most.sum())
        endless = ~np.isfinite(most)
        bounded = np.where(endless, 0.0, most)
        others = np.where(endless.sum() - endless > 0, np.inf, bounded.sum() - bounded)
        low[parts] = np.maximum(least, low[total] - others)
        high[parts] = np.minimum(most, high[total] - (least.sum() - least))


def _solve(system: _System, low: Array, high: Array) -> bool:
    """Cells that the equations together determine; True if any was found."""
    open_cells = np.flatnonzero(low < high)
    rows = [
        (total, parts) for total, parts in system.equations if any(low[cell] < high[cell] for cell in (total, *parts))
    ]
    if not len(open_cells) or not rows:
        return False
    place = {int(cell): index for index, cell in enumerate(open_cells)}
    matrix, right = np.zeros((len(rows), len(open_cells))), np.zeros(len(rows))
    for row, (total, parts) in enumerate(rows):
        for cell, sign in ((total, -1.0), *((part, 1.0) for part in parts)):
            if cell in place:
                matrix[row, place[cell]] += sign
            else:
                right[row] -= sign * low[cell]
    _, sizes, basis = np.linalg.svd(matrix)
    rank = int((sizes > 1e-9).sum())
    free = np.abs(basis[rank:]).max(axis=0, initial=0.0)
    fixed = np.flatnonzero(free < 1e-9)
    if not len(fixed):
        return False
    solution = np.round(np.linalg.lstsq(matrix, right, rcond=None)[0][fixed])
    low[open_cells[fixed]] = high[open_cells[fixed]] = solution
    return True
