"""How values become labels: by a constant, a map or tree, runs of values, or chunks of rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, get_args

import numpy as np
import polars as pl

from shoal.errors import InputError, check_at_least, check_choice
from shoal.storage import Array, Column
from shoal.storage.reading.frames import batches, column_names, is_frame
from shoal.storage.texts import texts_of, with_null

LabelKind: TypeAlias = Literal["interval", "mean", "median"]


class Labeller(Protocol):
    """A way to label the values of a column: one label per value, and one more for null (None: stays null)."""

    def labels(self, column: Column, records: Array) -> pl.Series:
        """The labels; `records[code]` tells how many records have a value, those with none need no label."""
        ...


class Constant(NamedTuple):
    """Every value, null too, becomes the same text.

    >>> from shoal.storage.reading import read
    >>> Constant("*").labels(read({"sex": ["f", "m"]})["sex"], np.array([1, 1])).to_list()
    ['*', '*', '*']
    """

    label: str = "*"

    def labels(self, column: Column, records: Array) -> pl.Series:
        return pl.Series([self.label] * (len(column.values) + 1), dtype=pl.String)


@dataclass(frozen=True)
class Mapped:
    """Values become what a given map says; values and keys are compared as text. Null stays null unless it is a key.

    >>> from shoal.storage.reading import read
    >>> town = read({"town": ["ALLEIN", "AOSTA"]})["town"]
    >>> Mapped({"ALLEIN": "AOSTA", "AOSTA": "AOSTA"}).labels(town, np.array([1, 1])).to_list()
    ['AOSTA', 'AOSTA', None]
    """

    label_of: Mapping[Any, Any] = field(repr=False)

    def labels(self, column: Column, records: Array) -> pl.Series:
        known = dict(zip(_given_texts(self.label_of), self.label_of.values(), strict=True))
        found = pl.Series([_text(known.get(value)) for value in texts_of(column.values)], dtype=pl.String)
        _refuse_missing(found.is_null().to_numpy(), records, column, "map", "label")
        return with_null(found, _text(known.get(None)))


@dataclass(frozen=True)
class NeighbourRuns:
    """Runs of `size` neighbouring distinct values become one label; the last run may be shorter.

    Mean and median are of the records in the run. Text needs its `order`: the values from first to last.

    >>> from shoal.storage.reading import read
    >>> year = read({"year": [1918, 1920, 1921]})["year"]
    >>> NeighbourRuns(2).labels(year, np.array([1, 1, 1])).to_list()
    ['[1918;1920]', '[1918;1920]', '[1921;1921]', None]
    """

    size: int
    label: LabelKind = "interval"
    order: Sequence[Any] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        check_at_least(1, self.size, "A run of distinct values")
        check_choice("label", self.label, get_args(LabelKind))

    def labels(self, column: Column, records: Array) -> pl.Series:
        present = _in_order(column, records, self.order)
        starts = np.arange(0, len(present.codes), self.size)
        lengths = np.add.reduceat(present.records, starts) if len(starts) else present.records
        return _group_labels(column, present, self.label, starts, present.first_rows[starts], lengths)


@dataclass(frozen=True)
class Chunks:
    """The records, sorted by value, are cut into `count` equal chunks; a value joins the first chunk that holds it.

    Chunk i holds the rows floor(i·n/count) .. floor((i+1)·n/count)-1. The median is the middle row of the chunk as it
    was cut, before values joined (Y_avg of Pastore et al.); interval and mean are of the values that joined.

    >>> from shoal.storage.reading import read
    >>> year = read({"year": [1950, 1960, 1970]})["year"]
    >>> Chunks(2).labels(year, np.array([1, 3, 4])).to_list()
    ['1960', '1960', '1970', None]
    """

    count: int
    label: LabelKind = "median"
    order: Sequence[Any] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        check_at_least(1, self.count, "The number of chunks")
        check_choice("label", self.label, get_args(LabelKind))

    def labels(self, column: Column, records: Array) -> pl.Series:
        present = _in_order(column, records, self.order)
        total = int(present.records.sum())
        count = min(self.count, max(total, 1))  # with a chunk for each row, more are empty
        bounds = np.arange(count + 1) * total // count
        chunks, starts = np.unique(np.searchsorted(bounds[1:], present.first_rows, side="right"), return_index=True)
        return _group_labels(column, present, self.label, starts, bounds[chunks], np.diff(bounds)[chunks])


def tree_levels(hierarchy: Any) -> list[Mapped]:
    """The levels of a tree, each as a map from leaves: from a frame (leaf, level1, …) or from maps level by level.

    >>> maps = [{"ALLEIN": "AOSTA", "TUFARA": "CAMPOBASSO"}, {"AOSTA": "VALLE D'AOSTA", "CAMPOBASSO": "MOLISE"}]
    >>> [level.label_of["TUFARA"] for level in tree_levels(maps)]
    ['CAMPOBASSO', 'MOLISE']
    """
    if is_frame(hierarchy):
        return _levels_of_frame(pl.concat(batches(hierarchy, column_names(hierarchy))))
    if not hierarchy:
        raise InputError("The hierarchy has no level.", "Give a map for each level.")
    levels = [dict(hierarchy[0])]
    for number, step in enumerate(hierarchy[1:], 2):
        missing = {label for label in levels[-1].values() if label not in step}
        if missing:
            raise InputError(
                f"Level {number} of the hierarchy misses {len(missing):,} labels of level {number - 1}.",
                "Give each label of a level its label of the next level.",
            )
        levels.append({leaf: step[label] for leaf, label in levels[-1].items()})
    return [Mapped(level) for level in levels]


# values as text


def _given_texts(given: Iterable[Any]) -> list[str | None]:
    """Values that a caller wrote down, as the text that the same values of a column have."""
    try:
        return texts_of(pl.Series(list(given))).to_list()
    except (TypeError, pl.exceptions.PolarsError):  # a mix of types
        return [_text(value) for value in given]


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _refuse_missing(missing: Array, records: Array, column: Column, where: str, what: str) -> None:
    """Refuse what a given map or order leaves out; values that no row has may be left out."""
    present = records > 0
    if count := int(np.count_nonzero(missing & present)):
        raise InputError(
            f"The {where} for column '{column.name}' misses {count:,} of its {int(present.sum()):,} values.",
            f"Give every value a {what}.",
        )


def _levels_of_frame(frame: pl.DataFrame) -> list[Mapped]:
    if frame.width < 2:
        raise InputError("The hierarchy has no level.", "Give the values in the first column and a level in each next.")
    frame = frame.unique(maintain_order=True)
    leaves = frame.to_series(0)
    if twice := len(leaves) - leaves.n_unique():
        raise InputError(f"The hierarchy places {twice:,} values twice.", "Give each value one place in the tree.")
    keys = leaves.to_list()
    return [Mapped(dict(zip(keys, level.to_list(), strict=True))) for level in frame.get_columns()[1:]]


# groups of neighbouring values


class _Present(NamedTuple):
    """The codes of the values that occur, in order of value, and the records of each."""

    codes: Array
    records: Array

    @property
    def first_rows(self) -> Array:
        """Where each value starts when all records are sorted by value."""
        return np.asarray(np.cumsum(self.records) - self.records)


def _in_order(column: Column, records: Array, order: Sequence[Any] | None) -> _Present:
    if order is None and isinstance(column.dtype, pl.Enum):
        order = column.dtype.categories.to_list()
    codes = np.flatnonzero(records)
    if order is not None:
        places = {text: place for place, text in enumerate(_given_texts(order))}
        place = np.array([places.get(text, -1) for text in texts_of(column.values)], np.int64)
        _refuse_missing(place < 0, records, column, "order", "place")
        codes = codes[np.argsort(place[codes], kind="stable")]
    elif column.values.dtype == pl.String:
        raise InputError(
            f"Column '{column.name}' holds text, which has no order of values.",
            "Give its values in their order, or recode it by a map.",
        )
    return _Present(codes, records[codes])


def _group_labels(
    column: Column, present: _Present, kind: LabelKind, starts: Array, first_rows: Array, lengths: Array
) -> pl.Series:
    """Labels of groups of neighbours; a group's values begin at `starts`, its median lies within `lengths` rows."""
    ends = np.append(starts, len(present.codes))[1:]
    if kind == "interval":
        texts = texts_of(column.values).gather(present.codes)
        of_group = "[" + texts.gather(starts) + ";" + texts.gather(ends - 1) + "]"
    elif kind == "mean":
        of_group = _means(column, present, starts)
    else:
        middle = np.searchsorted(np.cumsum(present.records), first_rows + _middle(lengths), side="right")
        of_group = texts_of(column.values).gather(present.codes[middle])
    group_of_code = np.full(len(column.values), -1, np.int64)
    group_of_code[present.codes] = np.repeat(np.arange(len(starts)), ends - starts)
    places = pl.Series(group_of_code)
    return with_null(of_group.gather(places.set(places < 0, None)), None)


def _middle(lengths: Array) -> Array:
    """The place of the median among so many rows, by the rule of Pastore's program.

    Of two middle rows the upper one where half the length is even, else the lower one.

    >>> _middle(np.array([1, 2, 3, 4, 6])).tolist()
    [0, 0, 1, 2, 2]
    """
    half = lengths // 2
    return np.asarray(half - ((lengths % 2 == 0) & (half % 2 == 1)))


def _means(column: Column, present: _Present, starts: Array) -> pl.Series:
    if not column.values.dtype.is_numeric():
        raise InputError(f"Column '{column.name}' does not hold numbers: there is no mean.", "Use interval or median.")
    if len(starts) == 0:
        return pl.Series([], dtype=pl.String)
    values = column.values.cast(pl.Float64).to_numpy()[present.codes]
    sums = np.add.reduceat(values * present.records, starts)
    return texts_of(pl.Series(sums / np.add.reduceat(present.records, starts)))
