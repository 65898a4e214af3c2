"""The application; its commands are in the table of `shoal.cli.commands`."""

from __future__ import annotations

import re
from typing import Annotated, Any

import typer

from shoal import __version__
from shoal.cli.commands import COMMANDS
from shoal.cli.group import LazyGroup

_TOUR = """\
Publish a table about people without giving the people away. Start with
  shoal risk people.csv --qi age,sex,zip
  shoal publish people.csv -o release           (or in the browser: shoal app)
"""
_EXIT = "Exit codes: 0 fine, 1 not met, 2 bad input, 3 budget refused. No network."
_WIDTH = 80


class Root(LazyGroup):
    """All commands on one screen: what to start with, then a line each, panel by panel."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the overview."""
        lines = [f"Usage: {ctx.command_path} COMMAND ... | --version | --debug (tracebacks) | --help", _TOUR]
        panel = None
        for name, entry in COMMANDS.items():
            if entry.panel != panel:
                panel = entry.panel
                lines.append(typer.style(panel, bold=True))
            lines.append(_line(name, entry.help))
        formatter.write("\n".join([*lines, _EXIT]) + "\n")


def _line(name: str, text: str) -> str:
    """A command and the bold words of its help, on one line.

    >>> _line("detect", "**Which columns identify people?** And why.")
    '  detect        Which columns identify people?'
    """
    bold = re.search(r"\*\*(.+?)\*\*", text)
    line = f"  {name:<13} {bold.group(1) if bold else text}"
    return line if len(line) <= _WIDTH else line[: _WIDTH - 1].rsplit(" ", 1)[0] + " …"


app = typer.Typer(
    cls=Root,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help=_TOUR,
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
