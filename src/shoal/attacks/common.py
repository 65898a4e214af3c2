"""Which released column is which column of another file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from shoal.attacks.linking.columns import NEAREST, UNLINKABLE, cells_of
from shoal.errors import InputError, Message
from shoal.releases.readable import Readable
from shoal.storage import Array, Column, Table
from shoal.storage.writing import check_apart, check_target, failure, write_bytes
from shoal.utility.decoding import Ends
from shoal.wording import in_words

On = Mapping[str, str] | Sequence[str] | str | None


def released_columns(released: Readable) -> list[str]:
    """The columns of a release by the names that they had in the original, those that tell something of it."""
    ends = {end for pair in released.pairs.values() for end in pair}
    names = [*released.pairs, *(name for name in released.table.names if name not in ends)]
    kinds = {name: released.forms[name].kind if name in released.forms else "as-it-was" for name in names}
    return [name for name in names if kinds[name] not in UNLINKABLE]


def columns_in_common(released: Readable, other: Table, on: On = None) -> dict[str, str]:
    """The columns to link on: each released one with its name in the other file.

    `on` names them, `age=age_yrs` where the names differ: the other file's name first, then the release's, or the
    other way round where only that is possible. Without it all names that both have.

    >>> from shoal.storage.reading import read
    >>> from shoal.releases.readable import readable
    >>> columns_in_common(readable({"age_yrs": [1]}), read({"age": [1]}), "age=age_yrs")
    {'age_yrs': 'age'}
    """
    ours, theirs = released_columns(released), list(other.names)
    if on is None:
        found = {name: name for name in ours if name in theirs}
        if not found:
            raise InputError(
                "The release and the other file have no column in common.",
                "Say which belong together, such as age=age_yrs.",
            )
        return found
    return dict(_pair(left.strip(), right.strip(), ours, theirs) for left, right in _pairs(on))


def _pairs(on: Mapping[str, str] | Sequence[str] | str) -> Iterable[tuple[str, str]]:
    if isinstance(on, Mapping):
        return list(on.items())
    names = on.split(",") if isinstance(on, str) else list(on)
    if not names:
        raise InputError("No column to link on is named.", Message("Name one, or leave the setting `{on}` out."))
    parts = [name.partition("=") for name in names]
    return [(left, right if equals else left) for left, equals, right in parts]


def _pair(left: str, right: str, ours: list[str], theirs: list[str]) -> tuple[str, str]:
    if left in theirs and right in ours:
        return right, left
    if left in ours and right in theirs:
        return left, right
    for name in dict.fromkeys((left, right)):
        if name not in ours and name not in theirs:
            raise InputError(
                f"Neither file has a column '{name}'.",
                f"The release has {in_words(ours)}; the other file has {in_words(theirs)}.",
            )
    where = "the other file" if left in ours and right in ours else "the release"
    raise InputError(
        f"Columns '{left}' and '{right}' are not one of each file.", f"Name the column that {where} has: NAME=OTHER."
    )


# Whether a column of a release and that of another file are written the same way, and if not, what differs.


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


# Which rows were hit, for the owner of the data: row numbers only, in a file that nobody else may read.


_ENDINGS = (".csv", ".txt")


def check_rows_out(path: str | Path | None, force: bool, **sources: Any) -> None:
    """Refuse a file for row numbers before any work is done: one that exists, or that is an input."""
    if path is not None:
        check_apart(output=path, **sources)
        check_target(Path(path), force, _ENDINGS)


def write_rows(path: str | Path | None, rows: Array) -> None:
    """Row numbers, counted from 0, one per line, mode 0600; nothing where no file is named."""
    if path is None:
        return
    text = "row\n" + "".join(f"{row}\n" for row in rows.tolist())
    try:
        write_bytes(Path(path), text.encode(), 0o600)
    except OSError as error:
        raise InputError(f"{path} could not be written: {failure(error)}.", "Nothing was written.") from None
