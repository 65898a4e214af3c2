"""Categories by frequency: at each level half of those kept stay, the rarest are joined into one set."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from shoal.hierarchy.steps import Step
from shoal.ranges.parsing import STAR
from shoal.table import Column
from shoal.table.texts import texts_of

# a longer list of members is no label that people read
_LONGEST_SET = 60
_MOST_MEMBERS = 12
_NO_MEMBER = r"^$|^\s|\s$|[,;\[\]{}*]"


def category_steps(column: Column, factor: int = 2) -> Iterator[Step]:
    """Keep the most frequent categories, join the others: `{widowed, separated}`, or `other (31 values)` if many.

    Of n categories ceil(n / factor) are kept at the first level, then ceil(kept / factor), down to one. Of equally
    frequent ones the first by value are kept.

    >>> from shoal.reading import read
    >>> column = read({"job": ["clerk"] * 5 + ["smith"] * 3 + ["monk", "poet", "poet"]})["job"]
    >>> [labels.to_list() for _, labels in category_steps(column)]
    [['clerk', 'smith', '{monk, poet}'], ['clerk', '{monk, poet, smith}']]
    """
    texts, count = texts_of(column.values), len(column.values)
    records = column.frequencies()
    rank = np.empty(count, np.int64)
    rank[np.argsort(-records, kind="stable")] = np.arange(count)
    taken, left = set(texts), count
    while left > 1:
        left = -(-left // factor)
        kept = rank < left
        label = set_label(texts.filter(~kept))
        while label in taken:  # a category may have that name
            label += "'"
        # above the leaves `*` means everything: a category of that name is the set of itself
        stay = texts.filter(kept).replace(STAR, f"{{{STAR}}}")
        yield np.where(kept, np.cumsum(kept) - 1, left), stay.append(pl.Series([label]))


def set_label(members: pl.Series) -> str:
    """The members where they are few and can be read back, else how many there are.

    >>> set_label(pl.Series(["monk", "poet"])), set_label(pl.Series(["a, b", "c"]))
    ('{monk, poet}', 'other (2 values)')
    """
    if len(members) <= _MOST_MEMBERS and not members.str.contains(_NO_MEMBER).any():
        label = "{" + ", ".join(members) + "}"
        if len(label) <= _LONGEST_SET:
            return label
    return f"other ({len(members):,} values)"
