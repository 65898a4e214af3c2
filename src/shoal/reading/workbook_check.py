"""Is a workbook a workbook, and does it fit in memory? Looked at before it is parsed: what a few bytes unpack to, and
the rectangle that its cells span."""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from shoal.errors import InputError
from shoal.reading.bytes import EXPANSION_COUNTS_FROM, GREATEST_EXPANSION

_LARGEST = 1 << 32
# a rectangle of more cells than this, and of so many for each cell in it, is made to fill memory
_CELLS_COUNT_FROM, _SPARSE = 1 << 24, 200
_MOST_REPEATED = 1 << 26
_CHUNK = 1 << 22
_CELL = re.compile(rb'\br="([A-Z]{1,3})([0-9]{1,9})"')
_ROW = re.compile(rb"<table:table-row\b([^>]*)>(.*?)</table:table-row>", re.DOTALL)
_REPEATED_ROWS = re.compile(rb'number-rows-repeated="([0-9]{1,12})"')
_REPEATED_CELL = re.compile(rb"<table:(?:covered-)?table-cell\b([^>]*)>")
_REPEATED_COLUMNS = re.compile(rb'number-columns-repeated="([0-9]{1,12})"')


def check_archive(path: Path) -> None:
    """Refuse an archive that is not a workbook, or that unpacks to more than a table can be."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            if not any(name.startswith("xl/") or name == "content.xml" for name in names):
                raise InputError(f"{path} is a ZIP archive and not a workbook.", "Give the table inside.")
            unpacked = 0
            for name in names:
                cells = _Cells()
                ods = b"" if name == "content.xml" else None
                for piece in _pieces(archive, name):
                    unpacked += len(piece)
                    _refuse_bomb(path, unpacked)
                    if name.startswith("xl/worksheets/"):
                        cells.add(piece)
                    elif ods is not None:
                        ods += piece
                _refuse_span(path, cells.spanned, max(_CELLS_COUNT_FROM, cells.seen * _SPARSE))
                _refuse_span(path, _ods_cells(ods or b""), _MOST_REPEATED)
    except InputError:
        raise
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError, ValueError):
        raise InputError(
            f"{path} cannot be read as a workbook: it is damaged or cut short.", "Open it and save it again."
        ) from None


def _pieces(archive: zipfile.ZipFile, name: str) -> Iterator[bytes]:
    with archive.open(name) as file:
        while piece := file.read(_CHUNK):
            yield piece


def _refuse_bomb(path: Path, unpacked: int) -> None:
    most = max(EXPANSION_COUNTS_FROM, path.stat().st_size * GREATEST_EXPANSION)
    if unpacked > min(most, _LARGEST):
        raise InputError(f"{path} unpacks to more than a workbook can be.", "Export the table as CSV or Parquet.")


def _refuse_span(path: Path, spanned: int, most: int) -> None:
    if spanned > most:
        raise InputError(
            f"A sheet of {path} spans {spanned:,} cells, nearly all of them empty or alike.",
            "Delete the cells far to the right or below the table, and save it again.",
        )


class _Cells:
    """How many cells of a sheet there are, and the rectangle that they span."""

    def __init__(self) -> None:
        self.seen, self._right, self._bottom, self._rest = 0, 0, 0, b""

    def add(self, piece: bytes) -> None:
        text = self._rest + piece
        cut = text.rfind(b"<")
        self._rest = text[cut:] if cut >= 0 else b""
        found = _CELL.findall(text[:cut] if cut >= 0 else text)
        if found:
            self.seen += len(found)
            self._right = max(self._right, *map(_number, {letters for letters, _ in found}))
            self._bottom = max(self._bottom, *(int(digits) for digits in {digits for _, digits in found}))

    @property
    def spanned(self) -> int:
        """The cells of the rectangle."""
        return self._right * self._bottom


def _number(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + letter - 64
    return number


def _ods_cells(content: bytes) -> int:
    """The cells with a value that rows and columns which are repeated stand for."""
    cells = 0
    for attributes, inside in _ROW.findall(content):
        times = max([1, *map(int, _REPEATED_ROWS.findall(attributes))])
        filled = [cell for cell in _REPEATED_CELL.findall(inside) if b"value-type" in cell]
        cells += times * sum(max([1, *map(int, _REPEATED_COLUMNS.findall(cell))]) for cell in filled)
    return cells
