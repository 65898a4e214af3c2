"""The application; its commands are in the table of `shoal.cli.commands`."""

from __future__ import annotations

from typing import Annotated

import typer

from shoal import __version__
from shoal.cli.group import LazyGroup

app = typer.Typer(
    cls=LazyGroup,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="""**shoal**: publish a table about people without giving the people away.

Find what identifies them, measure how likely they are to be re-identified, change as little as needed, prove it.

Start with your own file:

    shoal profile people.csv
    shoal detect people.csv
    shoal risk people.csv --qi age,sex,zip

or with a generated one:

    shoal sample-data discharges -n 200000 -o discharges.parquet
""",
    epilog="Exit codes: 0 fine, 1 measured and not met, 2 bad input, 3 budget refused, 70 a bug in shoal. "
    "Nothing leaves this machine.",
)


@app.callback(invoke_without_command=True)
def _root(
    version: Annotated[bool, typer.Option("--version", help="Show the version.", is_eager=True)] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show a traceback when something fails (works anywhere).")
    ] = False,
) -> None:
    if version:
        typer.echo(f"shoal {__version__}")
        raise typer.Exit
