"""Excel workbooks as they are written: one sheet, every text a text, so that no cell is ever run as a formula."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path
from typing import Any

import polars as pl

from shoal.errors import InputError
from shoal.storage.formats import needed
from shoal.storage.formats.cells import fitting, needs_text
from shoal.storage.formats.labels import Labels

_MOST_ROWS, _MOST_COLUMNS, _LONGEST_TEXT = 1_048_575, 16_384, 32_767
# whole numbers of more digits are rounded there
_DIGITS = 1e15
# the first day that all programs read alike: Excel has a 29 February 1900
_FIRST_DAY = date(1900, 3, 1)


def write_excel(frame: pl.DataFrame, path: Path, labels: Labels) -> None:
    """A workbook with one sheet; nothing but the table is in it."""
    with needed("Excel", "excel"):
        import xlsxwriter

    frame = fitting(frame, "Excel", _needs_text)
    _check_size(frame)
    settings = {
        "strings_to_formulas": False,
        "strings_to_urls": False,
        "strings_to_numbers": False,
        "default_date_format": "yyyy-mm-dd",
        "constant_memory": False,
    }
    with xlsxwriter.Workbook(str(path), settings) as book:
        book.set_properties({"created": datetime(2000, 1, 1)})
        sheet = book.add_worksheet("data", _exact_sheet())
        moment = book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss.000"})
        for place, series in enumerate(frame.get_columns()):
            sheet.write_string(0, place, series.name)
            form = moment if isinstance(series.dtype, pl.Datetime) else None
            # blank texts would be cells that hold nothing
            sheet.write_column(1, place, series.to_list(), form)
        sheet.freeze_panes(1, 0)


def _exact_sheet() -> type[Any]:
    """A sheet whose numbers are written with all their digits: the library writes sixteen, and a float may need 17."""
    from xlsxwriter.worksheet import Worksheet

    class ExactWorksheet(Worksheet):  # type: ignore[misc]
        def _xml_number_element(self, number: float, attributes: Any) -> None:
            self._xml_start_tag("c", attributes)
            self._xml_data_element("v", repr(number))
            self._xml_end_tag("c")

    return ExactWorksheet


def _needs_text(series: pl.Series) -> bool:
    """Also times of day, numbers of more digits than Excel shows, and days before its calendar starts."""
    if series.dtype in (pl.Time, pl.Boolean):
        return series.dtype == pl.Time
    if series.dtype.is_integer():
        return bool((series.cast(pl.Float64).abs() >= _DIGITS).any())
    if series.dtype == pl.Date or isinstance(series.dtype, pl.Datetime):
        return needs_text(series) or bool((series.cast(pl.Date) < _FIRST_DAY).any())
    return needs_text(series)


def _check_size(frame: pl.DataFrame) -> None:
    if frame.height > _MOST_ROWS or frame.width > _MOST_COLUMNS:
        raise InputError(
            f"An Excel sheet holds {_MOST_ROWS:,} rows and {_MOST_COLUMNS:,} columns at most.",
            "Write .parquet or .csv.",
        )
    for series in frame.get_columns():
        if series.dtype == pl.String and bool((series.str.len_chars() > _LONGEST_TEXT).any()):
            raise InputError(
                f"Column '{series.name}' has texts that are too long for an Excel cell.", "Write .parquet or .csv."
            )
