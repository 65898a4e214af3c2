"""The notation of a release's file: what `*`, missing values and decimal points are written as, and read back from.

A notation is one-to-one, or the release is refused: `*` as an empty text stands in no column that has missing values
too (a text file cannot tell them apart), and no text may be one of the original's. So a file is read back to exactly
what was judged, and a cell that is not written by the notation is found out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import polars as pl

from shoal.errors import InputError, Message, Setting, joined
from shoal.policy.manifest import ColumnEntry, WrittenAs
from shoal.ranges.parsing import STAR
from shoal.storage import Column, Table
from shoal.storage.encode import ColumnEncoder, encode
from shoal.storage.formats.cells import defused_name, defused_texts
from shoal.storage.reading import Options, declared_table, read
from shoal.storage.texts import texts_of
from shoal.storage.writing import OutputFormat, is_text_file


def defused(frame: pl.DataFrame) -> pl.DataFrame:
    """A table whose cells and column names spreadsheets do not run."""
    texts = [defused_texts(series) if series.dtype == pl.String else series for series in frame.get_columns()]
    return pl.DataFrame([series.alias(defused_name(series.name)) for series in texts])


_NUMBER = r"-?[0-9]+(?:{point}[0-9]+)?(?:[eE][-+]?[0-9]+)?"


class Notation(NamedTuple):
    """A way of writing, and the columns of the file that it concerns.

    `starred` columns hold `*` for what is suppressed; `decimals` are numbers, or ranges of them; `empty`: an empty text
    is a missing value in this file.
    """

    written: WrittenAs
    starred: frozenset[str] = frozenset()
    empty: bool = True
    excel_safe: bool = False

    @classmethod
    def of(cls, written: WrittenAs, entries: Iterable[ColumnEntry], path: Path, excel_safe: bool) -> Notation:
        """That of a file, by what its manifest says of the columns."""
        starred = frozenset(name for entry in entries if entry.form.generalizes for name in entry.released_as)
        return cls(written, starred, is_text_file(path), excel_safe)

    @property
    def star(self) -> str | None:
        """What `*` is written as; None where it stands there itself."""
        star = self.written.star
        return str(defused_texts(pl.Series([star]))[0]) if star and self.excel_safe else star

    @property
    def changes_cells(self) -> bool:
        """Whether cells are written otherwise than they are judged."""
        return self.star is not None or bool(self.written.decimal_columns) or self.written.missing_as is not None

    def cells(self, texts: pl.Series, name: str) -> pl.Series:
        """Texts of a column as they are written; a missing value stays one."""
        if name in self.written.decimal_columns:
            texts = _with_point(texts, r"\.", ",")
        if self.empty and self.written.missing_as is not None:
            texts = texts.set(texts == "", None)
        return texts.set(texts == STAR, self.star) if self._stars(name) else texts

    def shown(self, texts: pl.Series, name: str) -> pl.Series:
        """The same, with what stands there for a missing value."""
        cells = self.cells(texts, name)
        return cells.fill_null(self.written.missing_as or "") if self.empty else cells

    def meant(self, texts: pl.Series, name: str) -> pl.Series:
        """The texts that those of a file stand for."""
        texts = texts.fill_null("") if self.empty else texts
        texts = texts.set(texts == self.star, STAR) if self._stars(name) else texts
        if self.empty:
            texts = texts.set(texts.is_in(["", self.written.missing_as or ""]), None)
        return _with_point(texts, ",", ".") if name in self.written.decimal_columns else texts

    def _stars(self, name: str) -> bool:
        return name in self.starred and self.star is not None


def _with_point(texts: pl.Series, point: str, wanted: str) -> pl.Series:
    """Numbers, and ranges of them, with another sign before their decimals; all other texts as they are."""
    number = _NUMBER.format(point=point)
    whole = texts.str.contains(rf"^'?(?:{number}|\[{number};{number}\]|{number}-{number})$").fill_null(False)
    return texts.zip_with(~whole, texts.str.replace_all(point, wanted)) if whole.any() else texts


def written_as(output: OutputFormat, frame: pl.DataFrame, entries: Sequence[ColumnEntry], table: Table) -> WrittenAs:
    """A format with the columns of a frame that hold numbers with decimals, as numbers or in texts."""
    _check_star(output, entries, table)
    if not output.decimal_comma:
        return WrittenAs(**output.model_dump())
    ranges = {name for e in entries if e.form.generalizes and e.form.type == "number" for name in e.released_as}
    own = {name for name, column in table.columns.items() if column.dtype.is_float() or column.dtype.is_decimal()}
    types = {name: column.declared.type for name, column in table.columns.items() if column.declared is not None}
    pointed = [name for name, one in types.items() if one.thousands is not None and one.decimal != ","]
    if pointed:
        raise InputError(
            Message(
                "Column '{}' is written with a decimal point by its type, and `{decimal_comma}` asks for a comma.",
                pointed[0],
            ),
            Message("Leave out `{decimal_comma}`, or the type."),
        )
    spelled = {name for name, one in types.items() if one.decimal == ","}
    decimal_columns = [
        series.name
        for series in frame.get_columns()
        if series.dtype.is_float()
        or series.dtype.is_decimal()
        or (series.dtype == pl.String and series.name in (ranges | own) - spelled)
    ]
    return WrittenAs(**output.model_dump(), decimal_columns=tuple(decimal_columns))


def _check_star(output: OutputFormat, entries: Sequence[ColumnEntry], table: Table) -> None:
    """Refuse a text for `*` that is a value of the input: whoever reads it could not tell that it is suppressed."""
    for entry in entries:
        column = table.columns.get(entry.name)
        if not output.star or column is None or not entry.form.generalizes:
            continue
        texts = texts_of(column.values)
        texts = texts if column.declared is None else column.declared.spell(column.values)
        if (texts == output.star).any():
            raise InputError(
                Message("Column '{}' has texts that would be alike with `{suppressed_as}`.", entry.name),
                "Choose another text.",
            )


def in_notation(frame: pl.DataFrame, notation: Notation) -> pl.DataFrame:
    """A table as it is written; refused where it could not be read back."""
    if not notation.changes_cells:
        return frame
    return pl.DataFrame([_written(series, notation) for series in frame.get_columns()])


def _written(series: pl.Series, notation: Notation) -> pl.Series:
    if series.dtype != pl.String:
        return series
    distinct = series.unique()
    read_again = notation.meant(notation.shown(distinct, series.name), series.name)
    if notation.empty:  # a text file has no empty text beside a missing value
        distinct = distinct.set(distinct == "", None)
    if not read_again.eq_missing(distinct).all():
        raise InputError(_alike(series, notation), "Choose another text.")
    return notation.cells(series, series.name)


def _alike(series: pl.Series, notation: Notation) -> str:
    """Why a column cannot be written in a notation."""
    if series.name in notation.starred and notation.star == "" and series.null_count() and notation.empty:
        return Message(
            "Column '{}' has missing and suppressed cells: written as nothing, both would be alike. "
            "`{missing_as}` gives missing cells a text of their own.",
            series.name,
        )
    settings = joined([Message("`{}`", Setting(name)) for name in _settings(series, notation)], " and ")
    return Message("Column '{}' has texts that would be alike with {}.", series.name, settings)


def _settings(series: pl.Series, notation: Notation) -> list[str]:
    said = ["suppressed_as"] if series.name in notation.starred and notation.star is not None else []
    said += ["missing_as"] if notation.written.missing_as is not None else []
    return said or ["decimal_comma"]


def read_back(path: Path | Table, notation: Notation | None, options: Options | None = None) -> tuple[Table, list[str]]:
    """A file of a release, or a table of a database that was read, as it is judged, and the columns that have cells
    in another notation."""
    if options is not None and options.declared_types:  # types tell how cells are meant, not how a file writes them
        table, otherwise = read_back(path, notation, replace(options, types=None, types_of_policy={}))
        return declared_table(table, options), otherwise
    if notation is None:
        return read(path, None, options), []
    options = options or Options()
    if notation.empty and options.delimiter is None and isinstance(path, Path):
        options = replace(options, delimiter=notation.written.separator(path))
    if not notation.changes_cells:
        return read(path, None, options), []
    table = read(path, None, replace(options, as_text=True) if notation.empty else options)
    columns: dict[str, Column] = {}
    otherwise = []
    for name, column in table.columns.items():
        columns[name], same = _column_as_meant(column, notation, options)
        otherwise += [] if same else [name]
    return replace(table, columns=columns), otherwise


def _column_as_meant(column: Column, notation: Notation, options: Options) -> tuple[Column, bool]:
    """A column as it is judged, and whether every cell of it is written by the notation."""
    if column.values.dtype != pl.String:
        return column, True
    texts = column.values.extend_constant(None, 1) if column.nulls else column.values
    meant = notation.meant(texts, column.name)
    in_file = texts.fill_null("") if notation.empty else texts
    same = bool(notation.shown(meant, column.name).eq_missing(in_file).all())
    rows = meant.gather(column.codes).alias(column.name)
    if not notation.empty:
        return (encode(rows) if column.name in notation.starred else column), same
    encoder = ColumnEncoder(column.name, True, frozenset(options.missing))
    encoder.add(rows)
    return encoder.finish(), same
