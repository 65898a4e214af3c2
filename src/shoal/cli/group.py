"""The application; its commands are in the table of `shoal.cli.commands`."""

import re
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from shoal import __version__
from shoal.cli.commands import COMMANDS
from shoal.errors import CLOSED_PIPE, Setting

# A group of commands that imports a command's module when the command is called, not before.


MARKUP: Literal["markdown"] = "markdown"


# options that other commands have, and the way to the same thing here
_INSTEAD = {
    ("publish", "--engine"): "publish works on this machine; anonymize, verify and leak run on Spark: --engine spark.",
    ("publish", "--memory"): "Set the variable SHOAL_MEMORY instead: it holds for every step of publish.",
    ("publish", "--spill-dir"): "Set the variable SHOAL_SPILL instead: it holds for every step of publish.",
}


_QUOTE = "'"
# the command that was called last: errors name its options
_called: list[Any] = []


def flags() -> dict[str, str]:
    """The options of the command that was called, by the parameters of the library that they give."""
    parameters = [parameter for command in _called for parameter in command.params]
    return {parameter.name: parameter.opts[0] for parameter in parameters if parameter.opts[0].startswith("-")}


def flag_of(setting: Setting) -> str | None:
    """How a setting is typed, with the value that it is to have; None where the command has no option for it."""
    flag = flags().get(setting.name.replace(".", "_"))
    return f"{flag} {setting.value.strip(_QUOTE)}" if flag and setting.value else flag


# what typer says of a value that is no number, in plain words
_NUMBERS = {
    "Input should be a valid integer": "a whole number is needed, such as 5.",
    "Input should be a valid number": "a number is needed, such as 0.5.",
}


class Group(TyperGroup):
    """A group of commands that notes which of them is called."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is called, with its options; a file in its place is refused with the way to all of them."""
        try:
            name, command, rest = super().resolve_command(ctx, args)
        except Exception as error:
            if "all" in self.commands and args and Path(args[0]).suffix and hasattr(error, "message"):
                from shoal.systems.console import shell_line

                error.message += f" Name a command before the file: {ctx.command_path} all {shell_line(args[0])}"
            raise
        _called[:] = [] if command is None else [command]
        return name, command, rest


def group_of_commands(help: str) -> typer.Typer:
    """A command such as `attack` that has commands of its own."""
    return typer.Typer(cls=Group, add_completion=False, no_args_is_help=True, rich_markup_mode=MARKUP, help=help)


class LazyGroup(Group):
    """The commands of the table: a line of help each, until one is called."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for name, entry in COMMANDS.items():
            self.add_command(TyperCommand(name, help=entry.help, rich_help_panel=entry.panel, rich_markup_mode=MARKUP))

    def invoke(self, ctx: Any) -> Any:
        """Run the command; typer ends with 1 at a closed pipe, which here says that a promise is not met."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            error.message = next((said for words, said in _NUMBERS.items() if words in error.message), error.message)
            raise
        except BrokenPipeError:
            raise SystemExit(CLOSED_PIPE) from None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is called, imported."""
        if args and args[0] in COMMANDS:
            self.add_command(load(args[0]))
        return super().resolve_command(ctx, args)


class _Command(TyperCommand):
    """A command of the table."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments; an option that only other commands have is refused with the way to the same thing."""
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            asked = getattr(error, "option_name", "")
            if way := _INSTEAD.get((self.name or "", asked)):
                error.message, error.possibilities = f"{error.message}. {way}", None  # type: ignore[attr-defined]
            elif any(asked == f"-{flag}" for parameter in self.params for flag in parameter.opts):
                error.possibilities = [asked[1:]]  # type: ignore[attr-defined]
            raise


def load(name: str) -> Any:
    """A command of the table, imported."""
    entry = COMMANDS[name]
    target = getattr(import_module(entry.module), entry.function)
    if not isinstance(target, typer.Typer):
        alone = typer.Typer(add_completion=False, rich_markup_mode=MARKUP)
        alone.command(name, cls=_Command, rich_help_panel=entry.panel)(target)
        target = alone
    command = get_command(target)
    command.name = name
    return command


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
