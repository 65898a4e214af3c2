"""The command that makes a page again, for its footer."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shoal.reading import Options


def command(
    paper: str,
    found: Mapping[str, Any],
    counts: Any,
    columns: Mapping[str, str | None],
    options: Options | None,
    folder: Path | None,
    charts: bool,
) -> str:
    """The whole command, with every setting that the numbers depend on; files by their name, without their folder.

    >>> command("sanchez", {"records": 20000, "seed": 0}, None, {}, None, Path("/data/papers"), True)
    'shoal reproduce sanchez --rows 20000 --seed 0 -o papers'
    """
    words = ["shoal", "reproduce", paper]
    if paper == "sanchez":
        words += ["--rows", str(found["records"])]
    if paper == "pastore" and counts is not None:
        words += ["--counts", Path(counts).name if isinstance(counts, (str, Path)) else "TABLE"]
        words += _columns(columns) + _reading(options)
    if paper != "pastore" or counts is None:
        words += ["--seed", str(found["seed"])]
    if folder is not None:
        words += ["-o", folder.absolute().name]
        words += [] if charts else ["--no-charts"]
    return shlex.join(words)


def _columns(columns: Mapping[str, str | None]) -> list[str]:
    from shoal.papers.pastore import Names

    usual = vars(Names())
    own = {name: column for name, column in columns.items() if column is not None and column != usual[name]}
    return [word for name, column in own.items() for word in (f"--{name}", column)]


def _reading(options: Options | None) -> list[str]:
    """How the file was read, where it is not the default."""
    if options is None:
        return []
    delimiter = "tab" if options.delimiter == "\t" else options.delimiter
    missing = ",".join(options.missing) or None
    named = {"--encoding": options.encoding, "--delimiter": delimiter, "--missing": missing}
    return [word for name, value in named.items() if value is not None for word in (name, value)]
