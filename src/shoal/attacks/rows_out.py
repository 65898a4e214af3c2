"""Which rows were hit, for the owner of the data: row numbers only, in a file that nobody else may read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from shoal.errors import InputError
from shoal.table import Array
from shoal.writing import check_apart, check_target, failure, write_bytes

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
