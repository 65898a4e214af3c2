"""The form of a released column: how its cells are written. One box has one text, and any other text is refused."""

from __future__ import annotations

from typing import Literal

import numpy as np
import polars as pl
from pydantic import BaseModel, ConfigDict

from shoal.ranges.parsing import LAST_SIGNS, STAR, looks_generalized, set_labels, set_members, sets_among, unescape
from shoal.table import Array, Column
from shoal.table.text_types import few_texts
from shoal.table.texts import texts_of
from shoal.table.unite import exact_texts

FormKind = Literal[
    "as-it-was", "range", "columns", "set", "node", "label", "mean", "midpoint", "suppressed-cells", "perturbed",
    "recoded", "pseudonym", "shifted", "scrubbed", "removed",
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
}
_BRACKETS = {"[;]": (r"^\[([^;]+);([^;]+)\]$", "[", ";", "]"), "-": (r"^([0-9.]+)-([0-9.]+)$", "", "-", "")}


class ColumnForm(BaseModel):
    """How the cells of a released column are written.

    `type`: the type of the original values; `brackets`: how a range is written; `tree`: whose nodes stand there;
    `escaped`: a raw text that looks like a released one has a `\\` before it; `blanked`: so many cells were emptied in
    rows that are suppressed throughout; `labels_are_names`: a label only names a node, whatever it seems to say;
    `decimals`: means are written with so many, as the original values are.

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
        }[self.kind]
        if self.labels_are_names:
            words += "; its labels are names: a range that one seems to say need not hold the value"
        more = "; a text of the original that looks like a released one has a \\ before it" if self.escaped else ""
        return words + more


def not_canonical(column: Column, form: ColumnForm) -> int:
    """How many distinct values of a released column are not written as its form says.

    >>> from shoal.reading import read
    >>> form = ColumnForm(kind="range", type="integer", brackets="[;]")
    >>> not_canonical(read({"age": ["[20;29]", "31", "*", "[05;9]"]})["age"], form)
    1
    """
    values = column.values
    if form.kind in ("mean", "midpoint", "columns", "as-it-was") or values.dtype != pl.String:
        return column.respelled if form.kind != "as-it-was" or form.type != "text" else 0
    named = values.filter(values != STAR) if form.generalizes else values
    if form.kind == "range":
        return int((~_is_range(named, form, column.declared is not None)).sum())
    if form.kind == "set":
        return int((~_is_set(named)).sum())
    if form.kind == "suppressed-cells":
        good = _is_text(named) if form.type == "text" else texts_of(as_type(named, form.type)) == named
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
