"""Whether a column of a release and that of another file are written the same way, and if not, what differs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import polars as pl

from shoal.attacks.common import released_columns
from shoal.attacks.linking.columns import NEAREST, cells_of
from shoal.errors import InputError
from shoal.releases.readable import Readable
from shoal.table import Column, Table
from shoal.utility.decoding import Ends

# what two spellings of a text may differ in, and the pattern without which they are alike
_RESPELLINGS = {
    "upper and lower case": r"^$",
    "blanks around the values": r"^\s+|\s+$",
    "leading zeros": r"^0+",
    "punctuation": r"[^\p{L}\p{N}]",
}


def check_writing(released: Readable, people: Table, columns: Mapping[str, str]) -> None:
    """Refuse columns that are written so differently that nobody can fit, with the likely reason."""
    for name, theirs in columns.items():
        if not _may_fit(released, name, people[theirs]):
            raise InputError(
                f"No value of column '{theirs}' fits column '{name}' of the release.",
                differ_in_writing(released.table[name], people[theirs]),
            )


def check_texts(released: Readable, people: Table, names: Iterable[str], where: str) -> None:
    """The same for columns that both call by one name, as far as they are texts: numbers of others may all differ."""
    there = released_columns(released)
    for name in names:
        if name not in there or name in released.pairs or name not in people.columns:
            continue
        column, theirs = released.table[name], people[name]
        if pl.String in (column.values.dtype, theirs.values.dtype) and not _may_fit(released, name, theirs):
            raise InputError(
                f"No value of column '{name}' of {where} fits the release.", differ_in_writing(column, theirs)
            )


def _may_fit(released: Readable, name: str, column: Column) -> bool:
    """Whether some value lies in a cell other than `*`, which holds anything; or nothing can be said of it."""
    form = released.forms.get(name)
    if name in released.pairs or (form is not None and form.kind in NEAREST):
        return True
    raw = form is not None and form.kind in ("as-it-was", "recoded")
    shown = released.table[name]
    if form is not None and not raw and isinstance(released.meaning(name), Ends):
        cells_of(released, name, column, "value")  # refuses texts beside ranges of numbers
        return True
    if not len(shown.values) or not len(column.values):
        return True
    cells = cells_of(released, name, column, "value")
    said = np.ones(len(shown.values), bool) if cells.star is None else ~cells.star[: len(shown.values)]
    fits = cells.low[: len(said)] <= cells.high[: len(said)]
    return bool(fits[said].any()) or not said.any()


def differ_in_writing(released: Column, other: Column) -> str:
    """Why no value of one column may fit the other, as far as their types and writing tell."""
    ours, theirs = released.values.dtype, other.values.dtype
    if (ours == pl.String) != (theirs == pl.String):
        text, number = ("the release", "the other file") if ours == pl.String else ("the other file", "the release")
        return f"It is text in {text} and not in {number}: write it the same way, leading zeros included."
    if ours == pl.String:
        for cure, pattern in _RESPELLINGS.items():
            ours_folded, folded = (
                one.values.str.to_lowercase().str.replace_all(pattern, "") for one in (released, other)
            )
            if ours_folded.is_in(folded.implode()).any():
                return f"They differ in {cure}: write them the same way."
        return "Use the same codes in both files."
    if ours.is_temporal() != theirs.is_temporal():
        return "It is a date in one file and a number in the other: write it the same way."
    return "Are both in the same unit?"
