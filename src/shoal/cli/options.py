"""Options that commands share, and how what is typed becomes what the library takes."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.errors import InputError

File = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE...",
        help="CSV, Parquet, Arrow or JSON lines; a folder or a glob; several files.",
        show_default=False,
    ),
]
PolicyOption = Annotated[
    Path | None,
    typer.Option(
        "--policy",
        metavar="FILE",
        help="A policy file (YAML); options given here override it.",
        show_default=False,
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
EncodingOption = Annotated[
    str | None,
    typer.Option("--encoding", metavar="NAME", help="Encoding of a text file; found if not given.", show_default=False),
]
DelimiterOption = Annotated[
    str | None,
    typer.Option("--delimiter", metavar="CHAR", help="What separates columns; found if not given.", show_default=False),
]
MissingOption = Annotated[
    str | None,
    typer.Option(
        "--missing",
        metavar="WORDS",
        help="Words of a text file that mean missing, such as NA,unknown.",
        show_default=False,
    ),
]


QiOption = Annotated[
    list[str] | None,
    typer.Option(
        "--qi", metavar="COLUMNS", help="Quasi-identifiers: what an attacker may know, a,b,c.", show_default=False
    ),
]
ColumnsOption = Annotated[
    list[str] | None,
    typer.Option("--columns", metavar="COLUMNS", help="Only these columns, a,b,c.", show_default=False),
]
CountOption = Annotated[
    str | None,
    typer.Option("--count", metavar="COLUMN", help="A row stands for this many records.", show_default=False),
]


def one_or_many(files: list[str]) -> str | list[str]:
    """One path, or a list of several."""
    return files[0] if len(files) == 1 else files


def names_of(given: list[str] | None) -> list[str] | None:
    """Column names from `a,b` or repeated options; a name with a comma in it stands in quotes."""
    if given is None:
        return None
    try:
        names = [
            name
            for text in given
            for row in csv.reader(io.StringIO(text, newline=""), skipinitialspace=True)
            for name in row
        ]
    except csv.Error:
        raise InputError(
            "The list of columns cannot be read.", "Write the names with commas between: age,sex,zip."
        ) from None
    if not any('"' in text for text in given):  # in quotes, spaces belong to the name
        names = [name.strip() for name in names]
    if not names or "" in names:
        raise InputError("A column name in the list is empty.", "Write the names with commas between: age,sex,zip.")
    return names


def groups_of(given: list[str] | None) -> dict[str, list[str]] | None:
    """Groups of knowledge from `NAME=a,b`."""
    if given is None:
        return None
    groups: dict[str, list[str]] = {}
    for text in given:
        name, equals, columns = text.partition("=")
        if not equals or not name.strip() or name.strip() in groups:
            raise InputError(
                f"--know '{text}' is not a new NAME=COLUMNS.",
                "Write --know census=age,sex,zip, each name once.",
            )
        groups[name.strip()] = names_of([columns]) or []
    return groups


def one_of(option: str, given: str | None, known: tuple[str, ...]) -> Any:
    """A word of a closed list."""
    if given is not None and given not in known:
        raise InputError(f"{option} '{given}' is not known.", f"Use one of {', '.join(known)}.")
    return given


def reading(encoding: str | None, delimiter: str | None, missing: str | None) -> Any:
    """How to read text files."""
    from shoal.read import Options

    if delimiter is not None:
        delimiter = {"tab": "\t", "\\t": "\t"}.get(delimiter, delimiter)
        if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n':
            raise InputError("A delimiter is one character.", "Write --delimiter ';' or --delimiter tab.")
    return Options(encoding, delimiter, tuple(names_of([missing]) or ()) if missing else ())


def print_json(found: dict[str, Any]) -> None:
    """One JSON object on stdout, and nothing else."""
    import json

    typer.echo(json.dumps(found, ensure_ascii=False))


def wishes_of(given: list[str] | None) -> dict[str, str] | None:
    """Recodings from `COLUMN=HOW`."""
    if given is None:
        return None
    wishes = {}
    for text in given:
        column, equals, how = text.partition("=")
        if not equals or not column.strip() or not how.strip():
            raise InputError(f"--generalize '{text}' is not COLUMN=HOW.", "Write --generalize town=provinces.csv.")
        wishes[column.strip()] = how.strip()
    return wishes


DateOrderOption = Annotated[
    str | None,
    typer.Option(
        "--date-order",
        metavar="dmy|mdy|ymd",
        help="How dates such as 03/04/2012 are written, where the column does not tell.",
        show_default=False,
    ),
]
CenturyOption = Annotated[
    int | None,
    typer.Option(
        "--century-from",
        metavar="YEAR",
        help="The first year that two digits can mean: from 1930 on, 29 is 2029.",
        show_default=False,
    ),
]
KeyFileOption = Annotated[
    Path | None,
    typer.Option(
        "--key-file",
        metavar="FILE",
        help="The secret key; made (readable by you only) if it is not there. Keep it apart.",
        show_default=False,
    ),
]
