"""Random surrogates: words that nothing computes, kept in a table apart (mode 0600) that grows file by file."""

from __future__ import annotations

import csv
import os
import secrets
import stat
from base64 import b32encode
from pathlib import Path

from shoal.errors import InputError

_HEADER = ["value", "pseudonym"]
# 80 bits: among 4 million persons two alike once in 10^11 tables, and then one more is drawn
_BYTES = 10


def read_surrogates(path: Path) -> dict[str, str]:
    """The table as it is; empty where there is none yet."""
    if not path.exists():
        return {}
    cure = "Name the table that an earlier run wrote, or a file that is not there yet."
    if os.name == "posix" and path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise InputError(f"Surrogate table {path} can be read by others.", f"Run chmod 600 {path}.")
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))
    except (UnicodeDecodeError, csv.Error, OSError):
        raise InputError(f"{path} is no surrogate table.", cure) from None
    if not rows or rows[0] != _HEADER or any(len(row) != 2 for row in rows):
        raise InputError(f"{path} is no surrogate table.", cure)
    table = dict(rows[1:])
    if len(table) != len(rows) - 1 or len(set(table.values())) != len(table):
        raise InputError(f"{path} names a value or a pseudonym twice.", "Take the table as an earlier run wrote it.")
    return table


def extended(table: dict[str, str], values: list[bytes]) -> dict[str, str]:
    """The table with a random word for every value that has none yet.

    >>> first = extended({}, [b"7"])
    >>> extended(first, [b"7", b"8"])["7"] == first["7"]
    True
    """
    table = dict(table)
    taken = set(table.values())
    for value in values:
        text = value.decode()
        if text not in table:
            while (word := b32encode(secrets.token_bytes(_BYTES)).decode().lower()) in taken:
                pass
            table[text] = word
            taken.add(word)
    return table


def write_private_table(path: Path, header: list[str], rows: list[tuple[str, str]]) -> None:
    """A table for its owner only (mode 0600 from its first byte on), whole or not at all."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(header)
            writer.writerows(rows)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        raise InputError(f"{path} could not be written: {error.strerror}.", "Nothing was done.") from None
    finally:
        draft.unlink(missing_ok=True)


def write_surrogates(path: Path, table: dict[str, str]) -> None:
    """Write the whole table in the order of the words, which says nothing about the order of the persons."""
    write_private_table(path, _HEADER, sorted(table.items(), key=lambda entry: entry[1]))
