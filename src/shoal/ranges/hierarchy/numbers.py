"""Numbers as intervals: of equal width, of growing powers, of equal frequency.

An interval is written `[min;max]`, both ends included. Numbers with at most six decimals are counted in their smallest
unit, so that the ends of neighbours do not meet: `[20.0;24.9]`, `[25.0;29.9]`. Other numbers take observed ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

import numpy as np
import polars as pl

from shoal.errors import InputError
from shoal.ranges.hierarchy.given import Step, spans
from shoal.ranges.parsing import STAR
from shoal.storage import Array, Column
from shoal.storage.texts import texts_of

_MOST_DIGITS = 6
# the finest round intervals are at most so many
_MOST_INTERVALS = 64
_MOST_GROUPS = 64
# sums of two such numbers still fit into 64 bits
_LARGEST = 2**62


def whole_units(values: pl.Series) -> tuple[Array, int] | None:
    """Numbers in their smallest unit, and its decimals; None where they have no common unit.

    >>> units, digits = whole_units(pl.Series([0.5, 2.25]))
    >>> units.tolist(), digits
    ([50, 225], 2)
    """
    if values.dtype.is_integer():
        whole = values.cast(pl.Int64, strict=False)
        return None if whole.null_count() else (whole.to_numpy(), 0)
    floats = values.cast(pl.Float64).to_numpy()
    for digits in range(_MOST_DIGITS + 1):
        scaled = np.round(floats * 10**digits)
        if not (np.abs(scaled) < 2**53).all():
            return None
        if (scaled / 10**digits == floats).all():
            return scaled.astype(np.int64), digits
    return None


def interval_steps(values: pl.Series, width: float | None, factor: int, last: int | None = None) -> Iterator[Step]:
    """Intervals of one width from zero on; at each further level `factor` neighbours are joined. `last`: of places in
    an order, behind which none is.

    >>> [labels.to_list() for _, labels in interval_steps(pl.Series([17, 18, 23, 31]), 5, 2)]
    [['[15;19]', '[20;24]', '[30;34]'], ['[10;19]', '[20;29]', '[30;39]'], ['[0;19]', '[20;39]'], ['[0;39]']]
    """
    units = whole_units(values)
    if units is None:
        yield from _observed_steps(values, width, factor)
        return
    numbers, digits = units
    if width is None:
        step = round_width(int(numbers[-1]) - int(numbers[0]) + 1) if len(numbers) else 1
    else:
        given = Decimal(str(width))
        finer = max(0, -int(given.normalize().as_tuple().exponent) - digits)
        largest = int(np.abs(numbers).max(initial=0)) * 10**finer
        step = int(given.scaleb(digits + finer))
        if max(largest, step) >= _LARGEST:
            raise InputError(f"A width of {width} does not suit these numbers.", "Use one nearer to their range.")
        numbers, digits = numbers * 10**finer, digits + finer
    count = 2
    while count > 1 and step < _LARGEST:  # two sides of nought never join
        nodes, codes = np.unique(np.floor_divide(numbers, step), return_inverse=True)
        ends = [(node * step, node * step + step - 1) for node in nodes.tolist()]
        if last is not None:
            ends = [(low, min(high, last)) for low, high in ends]
        labels = [
            f"[{_written(low, digits)};{_written(high, digits)}]"
            if low < high or last is None
            else _written(low, digits)
            for low, high in ends
        ]
        yield codes, pl.Series(labels, dtype=pl.String)
        step, count = step * factor, len(nodes)


def round_width(span: int) -> int:
    """The smallest width that people choose (2, 5, 10, 50, 100, 500, …) with at most 64 intervals in a span.

    >>> round_width(74), round_width(9), round_width(100_000)
    (5, 2, 5000)
    """
    if span < 10:
        return 2
    width = 5
    while span > width * _MOST_INTERVALS:
        width *= 2 if str(width).startswith("5") else 5
    return width


def _written(number: int, digits: int) -> str:
    return str(number) if digits == 0 else f"{Decimal(number).scaleb(-digits):.{digits}f}"


def _observed_steps(values: pl.Series, width: float | None, factor: int) -> Iterator[Step]:
    """Intervals of equal width whose ends are the values that lie in them."""
    floats, texts = values.cast(pl.Float64).to_numpy(), texts_of(values)
    finite = floats[np.isfinite(floats)]
    if len(finite) == 0:
        return
    span = float(finite[-1] / 2 - finite[0] / 2) or 1.0
    step = width or 2 * span / _MOST_INTERVALS
    # infinite values belong to the outermost intervals; a node is the place of its lower end
    clipped = np.clip(floats, finite[0], finite[-1])
    nodes = np.floor(clipped / step if width else (clipped / 2 - finite[0] / 2) / (step / 2))
    below = np.full(len(nodes), np.nan)
    while not np.array_equal(nodes, below):  # two sides of nought never join
        yield spans(texts, nodes)
        nodes, below = np.floor(nodes / factor), nodes


def frequency_steps(column: Column, groups: int | None, factor: int) -> Iterator[Step]:
    """Groups of neighbouring values with about equally many records; at each further level `factor` groups are joined.

    A value belongs to group floor(m · groups / n), m the records below it and half of its own.

    >>> from shoal.storage.reading import read
    >>> column = read({"pay": [1, 2, 2, 3, 7, 8, 8, 900]})["pay"]
    >>> [labels.to_list() for _, labels in frequency_steps(column, 4, 2)]
    [['1', '[2;3]', '7', '[8;900]'], ['[1;3]', '[7;900]'], ['[1;900]']]
    """
    distinct = len(column.values)
    if distinct == 0:
        return
    if groups is None:
        groups = factor
        while groups * factor <= min(_MOST_GROUPS, distinct):
            groups *= factor
    records = column.frequencies()
    middle = 2 * (np.cumsum(records) - records) + records
    nodes = np.minimum(middle * groups // max(2 * int(records.sum()), 1), groups - 1)
    texts = texts_of(column.values)
    while True:
        step = spans(texts, nodes)
        yield step
        if len(step[1]) <= 1:
            return
        nodes = nodes // factor


def check_numbers(column: Column) -> None:
    """Refuse intervals of what has no numbers."""
    if not column.values.dtype.is_numeric() and len(column.values):
        raise InputError(
            f"Column '{column.name}' does not hold numbers: there are no intervals of equal width.",
            "Use the kind equal-frequency for what has an order, prefix or categories for text.",
        )


# Categories by frequency: at each level half of those kept stay, the rarest are joined into one set.


# a longer list of members is no label that people read
_LONGEST_SET = 60
_MOST_MEMBERS = 12
_NO_MEMBER = r"^$|^\s|\s$|[,;\[\]{}*]"


def category_steps(column: Column, factor: int = 2) -> Iterator[Step]:
    """Keep the most frequent categories, join the others: `{widowed, separated}`, or `other (31 values)` if many.

    Of n categories ceil(n / factor) are kept at the first level, then ceil(kept / factor), down to one. Of equally
    frequent ones the first by value are kept.

    >>> from shoal.storage.reading import read
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
