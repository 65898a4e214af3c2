"""What is wrong with a hierarchy: not a tree, leaves given twice, levels that cross. All of it at once, by row."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import polars as pl

from shoal.errors import InputError
from shoal.ranges.parsing import STAR
from shoal.table import Array
from shoal.table.text_types import few_texts
from shoal.wording import counted

# a file with one fault in every row needs no more lines to be understood
MOST_PROBLEMS = 20


class HierarchyError(InputError):
    """All problems of one or several hierarchies at once; a label is never shown, its row is."""

    def __init__(self, problems: Sequence[tuple[str, str]]) -> None:
        self.problems = list(problems)
        lines = [f"  {where}: {text}" for where, text in self.problems[:MOST_PROBLEMS]]
        if (more := len(self.problems) - MOST_PROBLEMS) > 0:
            lines.append(f"  and {counted(more, 'more problem')}")
        super().__init__(
            f"The hierarchies have {counted(len(self.problems), 'problem')}:\n" + "\n".join(lines),
            "Give each leaf one row and each node one parent: leaf;level1;…;*.",
        )


def codes_of(labels: pl.Series) -> Array:
    """Texts as numbers, in the order in which they first come.

    >>> codes_of(pl.Series(["b", "a", "b"])).tolist()
    [0, 1, 0]
    """
    few = few_texts(labels)
    if few is not None and None not in few:
        places: dict[str | None, int] = {}
        return np.array([places.setdefault(label, len(places)) for label in few], np.int32)
    seen = labels.unique(maintain_order=True)
    if len(seen) == len(labels):
        return np.arange(len(labels), dtype=np.int32)
    return labels.cast(pl.Enum(seen)).to_physical().cast(pl.Int32).to_numpy()


def find_problems(levels: Sequence[pl.Series], codes: Sequence[Array], rows: Array, word: str = "row") -> list[str]:
    """Why these levels are not a tree; `rows` are the numbers under which a person finds each leaf.

    >>> levels = [pl.Series(["a", "b", "c"]), pl.Series(["x", "x", "y"]), pl.Series(["p", "q", "q"])]
    >>> find_problems(levels, [codes_of(level) for level in levels], np.array([1, 2, 3]))
    ['levels 1 and 2 cross: a node of level 1 has two parents (rows 1 and 2)']
    """
    problems = [
        f"the leaf of {word} {rows[again]} is given in {word} {rows[first]} already"
        for first, again in (_pairs(codes[0], np.arange(len(rows))) if codes[0].max(initial=-1) + 1 < len(rows) else [])
    ]
    for number, (level, above) in enumerate(pairwise(levels)):
        if number:  # a leaf has one row, and so one parent
            stars = ((level == STAR) & (above != STAR)).to_numpy()
            problems += [f"`{STAR}` of level {number} stands below another label ({word} {row})" for row in rows[stars]]
            problems += _two_parents(codes, number, rows, word)
    return problems


def _two_parents(codes: Sequence[Array], number: int, rows: Array, word: str) -> list[str]:
    level, above = codes[number], codes[number + 1]
    pairs = _pairs(level, above)
    if pairs and word == "row" and not _pairs(above, level):
        first, again = pairs[0]
        return [
            f"level {number + 1} is finer than level {number} (rows {rows[first]} and {rows[again]}): exchange them"
        ]
    return [
        f"levels {number} and {number + 1} cross: a node of level {number} has two parents "
        f"({word}s {rows[first]} and {rows[again]})"
        for first, again in pairs
    ]


def _pairs(nodes: Array, parents: Array) -> list[tuple[int, int]]:
    """For each node with several parents: its first place, and for each further parent the first place of that."""
    if len(nodes) == 0:
        return []
    both = nodes.astype(np.int64) * (int(parents.max()) + 1) + parents
    _, firsts = np.unique(both, return_index=True)
    firsts = np.sort(firsts)
    _, first_of_node, which = np.unique(nodes[firsts], return_index=True, return_inverse=True)
    home = firsts[first_of_node][which]
    other = home != firsts
    return list(zip(home[other].tolist(), firsts[other].tolist(), strict=True))
