"""Excel and OpenDocument workbooks: a sheet, its header row found, its cells by type; no formula is ever run."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl

from shoal.errors import InputError, quoted
from shoal.storage.formats import needed
from shoal.storage.reading.csv import looks_like_data, names_of_header
from shoal.storage.reading.files import InputFile, Options, TableFile
from shoal.storage.reading.hostile import check_archive, within_limits

# rows among which the header is looked for
_SAMPLE = 60
_SHOWN = 5


def open_workbook(found: InputFile, options: Options, head: bytes) -> TableFile:
    """A sheet of a workbook: the one that `book.xlsx#name` names, or the first one that is visible and not empty."""
    with needed("Excel", "excel"):
        import fastexcel
    # its warnings about empty cells would stand on the terminal
    logging.getLogger("fastexcel").addHandler(logging.NullHandler())

    path = found.path
    if head.startswith(b"PK"):
        check_archive(path)
    with _damage_as_error(path):
        book = within_limits(path, lambda: fastexcel.read_excel(path))
    notes: list[str] = []
    name, others = _chosen(book, found, notes)
    with _damage_as_error(path):
        top = within_limits(path, lambda: _rows(book, name, skip_rows=0, n_rows=_SAMPLE, dtypes="string"))
    if not top.height or not top.width:
        raise InputError(f"Sheet '{name}' of {path} is empty.", "It should hold at least a header and one row.")
    row = _header_row(top)
    if row:
        notes.append(f"the header stands below {row} row(s) of other text, which are not read")
    names = names_of_header([cell or "" for cell in top.row(row)])
    size = path.stat().st_size

    def batches(columns: list[str]) -> Iterator[tuple[pl.DataFrame, int]]:
        with _damage_as_error(path):
            places = [names.index(column) for column in columns]
            frame = within_limits(path, lambda: _rows(book, name, skip_rows=row + 1, use_columns=places))
        frame.columns = columns
        clean = pl.DataFrame([_clean(series) for series in frame.get_columns()])
        yield clean.filter(~pl.all_horizontal(pl.all().is_null())), size  # without blank rows

    source = TableFile(path, names, batches, notes=notes, elsewhere=_elsewhere(path, name, others))
    source.header_in_doubt = looks_like_data(names)
    return source


def _rows(book: Any, name: str, **settings: Any) -> pl.DataFrame:
    sheet = book.load_sheet(name, header_row=None, schema_sample_rows=None, **settings)
    return pl.DataFrame(sheet.to_polars())


@contextmanager
def _damage_as_error(path: Path) -> Iterator[None]:
    """Faults that the library finds; its messages may show values, and its panics are no Exceptions."""
    try:
        yield
    except InputError:
        raise
    except BaseException as error:
        if isinstance(error, Exception) or type(error).__name__ == "PanicException":
            raise InputError(
                f"{path} cannot be read as a workbook: it is damaged, or protected by a password.",
                "Open it and save it again without a password.",
            ) from None
        raise


def _elsewhere(path: Path, name: str, others: list[str]) -> str:
    if not others:
        return ""
    return f"This is sheet '{name}'; others are {quoted(others[:_SHOWN])} ({path.name}#{others[0]} reads another)."


def _chosen(book: Any, found: InputFile, notes: list[str]) -> tuple[str, list[str]]:
    """The sheet that is read, and the other ones; they are said."""
    path, names = found.path, [str(name) for name in book.sheet_names]
    if found.part is not None:
        if found.part not in names:
            raise InputError(f"{path} has no sheet '{found.part}'.", f"It has {quoted(names[:20])}.")
        return found.part, [name for name in names if name != found.part]
    with _damage_as_error(path):
        about = within_limits(path, lambda: {name: book.load_sheet(name, header_row=None, n_rows=1) for name in names})
    hidden = [name for name, sheet in about.items() if sheet.visible != "visible"]
    shown = [name for name in names if name not in hidden]
    full = [name for name in shown if about[name].total_height]
    if hidden:
        notes.append(f"hidden sheets, not read: {', '.join(hidden[:_SHOWN])}")
    if not full:
        raise InputError(
            f"{path} has no visible sheet with cells.",
            f"Name a hidden one: {path.name}#{hidden[0]}." if hidden else "It should hold at least a header and a row.",
        )
    if len(full) > 1:
        others = ", ".join(name for name in full[1 : 1 + _SHOWN])
        notes.append(f"sheet '{full[0]}' is read; others: {others} ({path.name}#{full[1]} reads another)")
    return full[0], full[1:]


def _header_row(top: pl.DataFrame) -> int:
    """The first row that names nearly all columns with texts, each once: titles above it fill a few cells only.

    >>> _header_row(pl.DataFrame([["Persons", None], [None, None], ["age", "sex"], ["34", "f"]], orient="row"))
    2
    """
    rows = [[cell.strip() if cell else "" for cell in row] for row in top.iter_rows()]
    filled = [[cell for cell in row if cell] for row in rows]
    widest = max(map(len, filled))
    for place, cells in enumerate(filled):
        texts = [cell for cell in cells if not _is_value(cell)]
        if len(cells) * 5 >= widest * 4 and len(texts) == len(cells) == len(set(cells)) and cells:
            return place
    return next((place for place, cells in enumerate(filled) if cells), 0)


def _is_value(cell: str) -> bool:
    return cell.replace(".", "").replace(",", "").replace("-", "").replace(":", "").replace(" ", "").isdigit()


def _clean(series: pl.Series) -> pl.Series:
    """Blanks as missing, whole numbers as such, and a day where no time is told."""
    if series.dtype == pl.String:
        return series.set(series.str.strip_chars() == "", None)
    if series.dtype.is_float():
        known = series.fill_nan(None).drop_nulls()
        whole = bool(((known == known.round()) & (known.abs() < 1 << 53)).all()) and len(known) > 0
        return series.fill_nan(None).cast(pl.Int64) if whole else series
    if isinstance(series.dtype, pl.Datetime):
        rounded = series.dt.cast_time_unit("us").dt.round("1ms")
        return rounded.dt.date() if (rounded == rounded.dt.truncate("1d")).all() else rounded
    return series
