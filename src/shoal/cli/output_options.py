"""How a release is written, as options of the commands that write one."""

from __future__ import annotations

from typing import Annotated, Any

import typer

PANEL = "How the file is written"

OutputDelimiterOption = Annotated[
    str | None,
    typer.Option(
        "--output-delimiter",
        metavar="CHAR",
        help="What separates the columns of the release: , ; | or tab.",
        show_default=False,
        rich_help_panel=PANEL,
    ),
]
DecimalCommaOption = Annotated[
    bool,
    typer.Option("--decimal-comma", help="1,5 for 1.5 (and ; between columns).", rich_help_panel=PANEL),
]
BomOption = Annotated[
    bool, typer.Option("--bom", help="Start with a mark by which Excel knows UTF-8.", rich_help_panel=PANEL)
]
SuppressedAsOption = Annotated[
    str | None,
    typer.Option(
        "--suppressed-as",
        metavar="TEXT",
        help='What * is written as, such as "" or suppressed.',
        show_default=False,
        rich_help_panel=PANEL,
    ),
]
MissingAsOption = Annotated[
    str | None,
    typer.Option(
        "--missing-as",
        metavar="TEXT",
        help="What a missing value is written as, such as NA.",
        show_default=False,
        rich_help_panel=PANEL,
    ),
]


def output_of(
    delimiter: str | None,
    decimal_comma: bool,
    bom: bool,
    missing_as: str | None,
    suppressed_as: str | None = None,
) -> Any:
    """What was given, and only that: the rest is the policy's."""
    from shoal.writing import OutputFormat

    given = {
        "delimiter": delimiter,
        "decimal_comma": decimal_comma or None,
        "bom": bom or None,
        "missing_as": missing_as,
        "suppressed_as": suppressed_as,
    }
    given = {name: value for name, value in given.items() if value is not None}
    return OutputFormat(**given) if given else None
