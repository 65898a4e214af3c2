"""The form of a released column: how its cells are written. One box has one text, and any other text is refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
import polars as pl
from pydantic import BaseModel, ConfigDict

from shoal.ranges.boxed import ALL_MISSING, NONE_MISSING, SOME_MISSING, Boxed, Sets, Side, places
from shoal.ranges.parsing import LAST_SIGNS, STAR, looks_generalized, set_labels, set_members, sets_among, unescape
from shoal.storage import Array, Column
from shoal.storage.texts import few_texts, texts_of
from shoal.storage.unite import exact_texts

FormKind = Literal[
    "as-it-was", "range", "columns", "set", "node", "label", "mean", "midpoint", "suppressed-cells", "perturbed",
    "recoded", "pseudonym", "shifted", "scrubbed", "removed", "items", "synthetic",
]  # fmt: skip
# what a column says by its form: whether its cells hold the original value, stand for it, or neither
NATURES: dict[str, tuple[str, ...]] = {
    "as-it-was": ("unchanged",),
    "range": ("truthful",),
    "columns": ("truthful",),
    "set": ("truthful",),
    "node": ("truthful", "named"),
    "label": ("truthful", "representative"),
    "mean": ("representative",),
    "midpoint": ("representative",),
    "suppressed-cells": ("truthful",),
    "perturbed": ("perturbed", "representative", "unchanged"),
    "recoded": ("recoded", "unchanged"),
    "pseudonym": ("pseudonym",),
    "shifted": ("shifted",),
    "scrubbed": ("scrubbed",),
    "removed": ("removed",),
    "synthetic": ("synthetic",),
    "items": ("truthful",),
}
_OF_TIME = ("date", "datetime", "moment", "time")
_BRACKETS = {"[;]": (r"^\[([^;]+);([^;]+)\]$", "[", ";", "]"), "-": (r"^([0-9.]+)-([0-9.]+)$", "", "-", "")}


class ColumnForm(BaseModel):
    """How the cells of a released column are written.

    `type`: the type of the original values; `brackets`: how a range is written; `tree`: whose nodes stand there;
    `escaped`: a raw text that looks like a released one has a `\\` before it; `blanked`: so many cells were emptied in
    rows that are suppressed throughout; `labels_are_names`: a label only names a node, whatever it seems to say;
    `decimals`: means are written with at most so many, as the original values are; decimals with exactly so many.
    `separator`: what stands between the items of a cell.

    >>> ColumnForm(kind="range", type="integer", brackets="[;]").in_words
    'a value or a range [low;high]'
    """

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    kind: FormKind
    type: str | None = None
    brackets: Literal["[;]", "-"] | None = None
    tree: str | None = None
    escaped: bool = False
    blanked: int = 0
    labels_are_names: bool = False
    decimals: int | None = None
    separator: str | None = None

    @property
    def generalizes(self) -> bool:
        """Whether `*` in a cell is a suppressed value, and not a text of the original."""
        return self.kind in ("range", "set", "node", "label", "suppressed-cells")

    @property
    def in_words(self) -> str:
        """For the data dictionary."""
        words = {
            "as-it-was": "as it was",
            "range": "a value or a range " + ("[low;high]" if self.brackets == "[;]" else "low-high"),
            "columns": "the low and the high end of a range, in two columns",
            "set": "a category or a set [a, b]",
            "node": f"a value or a node of the tree of {self.tree or 'the column'}",
            "label": "a value or a label that stands for it",
            "mean": "the mean of the records of a class"
            + ("" if self.decimals is None else f", rounded to {self.decimals} decimals"),
            "midpoint": "the middle of a range",
            "suppressed-cells": "the value, or * where it is suppressed",
            "perturbed": "changed at random",
            "recoded": "recoded by a rule",
            "pseudonym": "a pseudonym",
            "shifted": "a date moved by a secret number of days",
            "scrubbed": "free text in which identifiers are replaced",
            "removed": "removed",
            "synthetic": "drawn from a model under differential privacy: nobody's value",
            "items": "items, or nodes above them" + (f", {self.separator} between" if self.separator else ""),
        }[self.kind]
        if self.labels_are_names:
            words += "; its labels are names: a range that one seems to say need not hold the value"
        more = "; a text of the original that looks like a released one has a \\ before it" if self.escaped else ""
        return words + more


def not_canonical(column: Column, form: ColumnForm) -> int:
    """How many distinct values of a released column are not written as its form says.

    >>> from shoal.storage.reading import read
    >>> form = ColumnForm(kind="range", type="integer", brackets="[;]")
    >>> not_canonical(read({"age": ["[20;29]", "31", "*", "[05;9]"]})["age"], form)
    1
    """
    values = column.values
    if form.kind in ("mean", "midpoint") and values.dtype == pl.String and form.type in _OF_TIME:
        return int((~_is_value(values, form.type)).sum())  # of JSON lines, which have no type for them
    if form.kind == "items" and form.separator and values.dtype == pl.String:
        # each once, in the order of their texts, without blanks around
        own = values.str.split(form.separator).list.eval(pl.element().str.strip_chars())
        return int((own.list.unique().list.sort().list.join(form.separator) != values).sum())
    if form.kind in ("mean", "midpoint", "columns", "as-it-was") or values.dtype != pl.String:
        if form.kind == "as-it-was" and form.decimals is not None and column.written is not None:
            return int((~_is_decimal(column.written[1].drop_nulls(), form.decimals)).sum())
        return column.respelled if form.kind != "as-it-was" or form.type != "text" else 0
    named = values.filter(values != STAR) if form.generalizes else values
    if form.kind == "range":
        return int((~_is_range(named, form, column.declared is not None)).sum())
    if form.kind == "set":
        return int((~_is_set(named)).sum())
    if form.kind == "suppressed-cells":
        good = _is_text(named) if form.type == "text" else texts_of(as_type(named, form.type)) == named
        if form.decimals is not None:
            good = _is_decimal(named, form.decimals)
        return int((~good.fill_null(False)).sum())
    return 0


def _is_range(texts: pl.Series, form: ColumnForm, declared: bool) -> pl.Series:
    """Which texts are a value or a range; what is `declared` was read by its writing, text by text."""
    shape, *signs = _BRACKETS[form.brackets or "[;]"]
    low, high = texts.str.extract_groups(shape).struct.unnest().get_columns()
    first, last = as_type(low, form.type), as_type(high, form.type)
    own, left, right = (_is_value(side, form.type, declared) for side in (texts, low, high))
    spans = left & right & (first < last).fill_null(False)
    return own | (spans & (signs[0] + low + signs[1] + high + signs[2] == texts)).fill_null(False)


def _is_value(texts: pl.Series, type_word: str | None, declared: bool = False) -> pl.Series:
    """Which texts are the one text of a value of a type."""
    if declared and type_word == "number":
        return as_type(texts, type_word).is_not_null()
    return (exact_texts(as_type(texts, type_word)) == texts).fill_null(False)


def _is_decimal(texts: pl.Series, decimals: int) -> pl.Series:
    """Which texts are decimals with so many digits behind the point."""
    return (texts.cast(pl.Decimal(38, decimals), strict=False).cast(pl.String) == texts).fill_null(False)


def _is_text(texts: pl.Series) -> pl.Series:
    """Which texts are escaped where they must be, and nowhere else."""
    return (escape(unescape(texts)) == texts).fill_null(False)


def _is_set(texts: pl.Series) -> pl.Series:
    sets = sets_among(texts)
    good = _is_text(texts).to_numpy().copy()
    for place in np.flatnonzero(sets).tolist():
        members = set_members(texts[place])
        whole = len(set(members)) == len(members) > 1 and members == sorted(members)
        good[place] = whole and texts[place] == "[" + ", ".join(set_labels(pl.Series(members)).to_list()) + "]"
    return pl.Series(good)


def escape(texts: pl.Series) -> pl.Series:
    r"""Texts of the original as they stand beside generalised ones: a look-alike, or a `\` at the start, gets a `\`.

    >>> escape(pl.Series(["clerk", "*", "12X", r"\x"])).to_list()
    ['clerk', '\\*', '\\12X', '\\\\x']
    """
    few = few_texts(texts)
    if few is not None and not any(text and (text[-1] in LAST_SIGNS or text[0] == "\\") for text in few):
        return texts
    marked = looks_generalized(texts) | texts.str.starts_with("\\").fill_null(False)
    return texts.zip_with(~marked, "\\" + texts) if marked.any() else texts


def as_type(texts: pl.Series, type_word: str | None) -> pl.Series:
    """Texts as exact values of a type; null where a text is none.

    >>> as_type(pl.Series(["9007199254740993", "x"]), "integer").to_list()
    [9007199254740993, None]
    """
    if type_word == "integer":
        return texts.cast(pl.Int128, strict=False)
    if type_word == "number":
        return texts.cast(pl.Float64, strict=False)
    if type_word == "date":
        return texts.str.to_date("%Y-%m-%d", strict=False)
    if type_word in ("datetime", "moment"):
        return texts.str.to_datetime("%Y-%m-%d %H:%M:%S%.f", strict=False, time_unit="us")
    if type_word == "time":
        return texts.str.to_time("%H:%M:%S%.f", strict=False)
    return texts


def starred(column: Column, form: ColumnForm | None) -> Array:
    """Per distinct value: whether it is `*` as the form means it; without a form, whether it is written so."""
    values = column.values
    if values.dtype != pl.String or (form is not None and not form.generalizes):
        return np.zeros(column.cardinality, bool)
    found = (values == STAR).to_numpy()
    return np.append(found, False) if column.nulls else np.asarray(found)


# Boxes of categories as nodes of a tree: one text per box, the lowest node that holds all of it.


class ColumnTree(NamedTuple):
    """A tree over the values of a column, laid out along its depth-first walk.

    `place[code]` is where a value lies among those of the column. `nodes[level][place]` is its node, `labels[level]`
    the nodes' texts, `leaves[level]` how many leaves of the tree lie under each, of `total` (a missing value is one).
    Nodes of a level are numbered along the walk, so that each is one range of places.
    """

    place: Array
    nodes: list[Array]
    labels: list[list[str]]
    leaves: list[Array]
    total: int

    def cover(self, low: Array, high: Array) -> tuple[Array, Array]:
        """The level and the number of the lowest node that holds the places low .. high.

        >>> tree = ColumnTree(np.arange(3), [np.arange(3), np.array([0, 0, 1]), np.zeros(3, int)], [], [], 3)
        >>> [found.tolist() for found in tree.cover(np.array([0, 0, 1]), np.array([0, 1, 2]))]
        [[0, 1, 2], [0, 0, 0]]
        """
        level, node = np.full(len(low), len(self.nodes) - 1), np.zeros(len(low), np.int64)
        for number in range(len(self.nodes) - 1, -1, -1):
            same = self.nodes[number][low] == self.nodes[number][high]
            level[same], node[same] = number, self.nodes[number][low][same]
        return level, node

    def number(self, level: Array, node: Array) -> Array:
        """The nodes of all levels numbered one after the other."""
        sizes = np.array([len(leaves) for leaves in self.leaves])
        return np.asarray((np.cumsum(sizes) - sizes)[level] + node)

    def line(self) -> Array:
        """Where each value lies between 0 and 1: neighbours are as far apart as the node that holds both is wide.

        >>> tree = ColumnTree(np.arange(3), [np.arange(3), np.array([0, 0, 1]), np.zeros(3, int)], [],
        ...     [np.ones(3), np.array([2, 1]), np.array([3])], 3)
        >>> tree.line().tolist()
        [0.0, 0.4, 1.0]
        """
        at = np.arange(len(self.place))
        level, node = self.cover(at[:-1], at[1:])
        gaps = np.concatenate(self.leaves)[self.number(level, node)]
        steps = np.concatenate([[0.0], np.cumsum(gaps)])[: len(at)]
        return np.asarray((steps / steps[-1] if len(at) > 1 else steps)[self.place])


@dataclass(frozen=True)
class Nodes(Sets):
    """One column of boxes that are released as nodes: set s is written as texts[s] and holds leaves[s] of `total`."""

    texts: pl.Series = None  # type: ignore[assignment]
    leaves: Array = None  # type: ignore[assignment]
    total: int = 0

    def named(self) -> Sequence[str]:
        """The node of each set."""
        return [str(text) for text in self.texts.to_list()]

    def named_again(self, kept: Sequence[tuple[Sets, int]]) -> Nodes:
        """The same, with the node of each set from where it was first met."""
        nodes = [(side.texts[place], side.leaves[place]) for side, place in kept if isinstance(side, Nodes)]
        texts = pl.Series([text for text, _ in nodes], dtype=pl.String)
        return replace(self, texts=texts, leaves=np.array([leaves for _, leaves in nodes]))


def as_nodes(column: Column, boxed: Boxed, tree: ColumnTree) -> Nodes:
    """The boxes of a column, each widened to the lowest node of the tree that holds its records.

    >>> from shoal.ranges.boxed import box_clusters
    >>> from shoal.storage.reading import read
    >>> town = read({"town": ["Lyon", "Nice", "Rome"]})["town"]
    >>> tree = ColumnTree(np.arange(3), [np.arange(3), np.array([0, 0, 1]), np.zeros(3, int)],
    ...     [["Lyon", "Nice", "Rome"], ["FR", "IT"], ["*"]], [np.ones(3), np.array([2, 1]), np.array([3])], 3)
    >>> as_nodes(town, box_clusters([town], np.arange(3), np.array([0, 2])), tree).texts.to_list()
    ['Rome', 'FR']
    """
    side = boxed.sides[column.name]
    place = np.append(tree.place, 0) if column.nulls else tree.place
    order = np.argsort(boxed.box_of_row, kind="stable")
    starts = np.searchsorted(boxed.box_of_row[order], np.arange(boxed.boxes))
    shown = place[column.codes][order]
    missing = np.zeros(boxed.boxes, np.int64) if side.missing is None else side.missing
    return nodes_over(column, tree, np.minimum.reduceat(shown, starts), np.maximum.reduceat(shown, starts), missing)


def nodes_over(column: Column, tree: ColumnTree, first: Array, last: Array, missing: Array) -> Nodes:
    """Boxes that span the places first .. last of a tree, each widened to the lowest node that holds them."""
    values, missing = len(column.values), missing.copy()
    level, node = tree.cover(first, last)
    star = np.array([label == STAR for labels in tree.labels for label in labels], bool)[tree.number(level, node)]
    missing[(level > 0) & star & (missing == NONE_MISSING)] = SOME_MISSING
    # what these hold is told by `missing` alone; a tree may have a leaf that only a missing value has
    level[missing == ALL_MISSING], node[missing == ALL_MISSING] = 0, tree.nodes[0][0]
    level[missing == SOME_MISSING], node[missing == SOME_MISSING] = len(tree.nodes) - 1, 0
    pairs, set_of_box = np.unique(np.stack([level, node]), axis=1, return_inverse=True)
    code_at = np.argsort(tree.place, kind="stable")
    members = [np.sort(code_at[tree.nodes[one] == other]) for one, other in pairs.T.tolist()]
    texts, own = [], texts_of(column.values).to_list()
    for (one, other), held in zip(pairs.T.tolist(), members, strict=True):
        texts.append(own[held[0]] if one == 0 else tree.labels[one][other])
    leaves = np.array([tree.leaves[one][other] for one, other in pairs.T.tolist()])
    low, high = (np.array([held[end] for held in members])[set_of_box.ravel()] for end in (0, -1))
    return Nodes(
        places(column), low, np.minimum(high, values - 1), missing if missing.any() else None, None,
        set_of_box.ravel(), np.concatenate([[0], np.cumsum([len(held) for held in members])]),
        np.concatenate(members), exact_texts(column.values),
        pl.Series(texts, dtype=pl.String), np.where(pairs[0] == 0, 1, leaves), tree.total,
    )  # fmt: skip


def with_short_sets(side: Side, most: int) -> Side:
    """The same boxes of categories, `*` instead of a set of more than `most` members.

    >>> from shoal.ranges.boxed import box_clusters
    >>> from shoal.storage.reading import read
    >>> jobs = read({"job": ["clerk", "monk", "poet", "smith"]}).select(["job"])
    >>> side = box_clusters(jobs, np.arange(4), np.array([0, 3])).sides["job"]
    >>> with_short_sets(side, 2).starred.tolist()
    [True, False]
    """
    if not isinstance(side, Sets):
        return side
    long = (np.diff(side.starts) > most)[side.set_of_box]
    if not long.any():
        return side
    values, sets = len(side.scale), len(side.starts) - 1
    missing = np.zeros(len(long), np.int64) if side.missing is None else side.missing
    missing = np.where(long, SOME_MISSING, missing)
    starred = missing == SOME_MISSING
    return replace(
        side,
        low=np.where(starred, 0, side.low),
        high=np.where(starred, values - 1, side.high),
        missing=missing,
        set_of_box=np.where(starred, sets, side.set_of_box),
        starts=np.append(side.starts, side.starts[-1] + values),
        members=np.append(side.members, np.arange(values)),
    )
