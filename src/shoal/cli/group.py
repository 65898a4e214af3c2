"""The commands, made from the requests of `shoal.verbs`: each is made, and what it works with loaded, when called."""

from __future__ import annotations

import inspect
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from shoal import __version__
from shoal.errors import CLOSED_PIPE, INTERRUPTED, Setting
from shoal.verbs import GROUPS, VERBS, Entry, Request, request_of
from shoal.verbs.forms import NUMBER, OFF, SWITCH, WHOLE

# options that other commands have, and the way to the same thing here
_INSTEAD = {
    ("publish", "--engine"): "publish works on this machine; anonymize, verify and leak run on Spark: --engine spark.",
    ("publish", "--memory"): "Set the variable SHOAL_MEMORY instead: it holds for every step of publish.",
    ("publish", "--spill-dir"): "Set the variable SHOAL_SPILL instead: it holds for every step of publish.",
}
_CONTEXT = {"help_option_names": ["-h", "--help"]}
_QUOTE = "'"
# the command that was called last: errors name its options
_called: list[click.Command] = []


def flags() -> dict[str, str]:
    """The options of the command that was called, by the parameters of the library that they give."""
    parameters = [parameter for command in _called for parameter in command.params]
    return {parameter.name or "": parameter.opts[0] for parameter in parameters if parameter.opts[0].startswith("-")}


def flag_of(setting: Setting) -> str | None:
    """How a setting is typed, with the value that it is to have; None where the command has no option for it."""
    name = setting.name.replace(".", "_")
    flag = flags().get(name)
    switches = {
        one.name for command in _called for one in command.params if isinstance(one, click.Option) and one.is_flag
    }
    return f"{flag} {setting.value.strip(_QUOTE)}" if flag and setting.value and name not in switches else flag


# The options of a request as click reads them: everything but numbers and switches is a text until it is called.


class _Number(click.ParamType):  # type: ignore[type-arg]
    """A number, within the limits that nobody else checks."""

    name = "number"

    def __init__(self, kind: type, entry: Entry) -> None:
        self.kind, self.option = kind, entry.option

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """The number; anything else is refused in words."""
        try:
            number = self.kind(value)
        except ValueError:
            example = "a whole number is needed, such as 5." if self.kind is int else "a number is needed, such as 0.5."
            self.fail(example, param, ctx)
        least, most = self.option.least, self.option.most
        if self.option.checks and least is not None and number < least:
            self.fail(f"{number} is less than {least:g}.", param, ctx)
        if self.option.checks and most is not None and number > most:
            self.fail(f"{number} is more than {most:g}.", param, ctx)
        return number


def _parameter(entry: Entry) -> click.Parameter:
    kinds: dict[Any, type] = {WHOLE: int, NUMBER: float}
    kind: Any = _Number(kinds[entry.form], entry) if entry.form in kinds else click.STRING
    required = entry.required or entry.option.required
    if not entry.option.flag:
        many = entry.metavar.endswith("...")
        return click.Argument(
            [entry.name], type=kind, required=required, nargs=-1 if many else 1, metavar=entry.metavar
        )
    flags = [entry.name, *entry.option.flags]
    if entry.form in (SWITCH, OFF):
        return click.Option(flags, is_flag=True, default=None)
    return click.Option(flags, type=kind, required=required, multiple=entry.form.repeated)


class Command(click.Command):
    """A command that is made from a request."""

    def __init__(self, words: str) -> None:
        self.request = request_of(words)
        self.entries = list(entries_of(self.request))
        super().__init__(
            words.split()[-1],
            params=[_parameter(entry) for entry in self.entries],
            help=inspect.getdoc(self.request),
            context_settings=_CONTEXT,
            callback=lambda **typed: self.call(words, typed),
        )

    def call(self, words: str, typed: dict[str, Any]) -> None:
        """Run the verb with what was typed, read by the forms of its options."""
        from shoal.cli.run import run

        source = typed.pop("file", None)
        values = {}
        for entry in self.entries:
            value = typed.get(entry.name)
            if value is None or value == ():
                continue
            if entry.form in (SWITCH, OFF):
                values[entry.name] = value is (entry.form is SWITCH)
            else:
                values[entry.name] = entry.form.read(entry.option.long, list(value) if entry.form.repeated else value)
        run(words, self.request, source, values)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments; an option that only other commands have is refused with the way to the same thing."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            asked, near = error.option_name, error.possibilities or []
            if any(asked == f"-{flag}" for parameter in self.params for flag in parameter.opts):
                near = [asked[1:]]
            way = _INSTEAD.get((self.name or "", asked))
            hint = f". {way}" if way else f" (Possible options: {', '.join(near)})" if near else ""
            raise click.UsageError(f"No such option: {asked}{hint}", ctx) from None

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The text of the request, and its options."""
        from shoal.cli.help import show_help

        panels: dict[str, list[tuple[str, str]]] = {}
        for entry in self.entries:
            if not entry.option.flag:
                panels.setdefault("Arguments", []).append((entry.metavar, entry.help))
        for entry in self.entries:
            if entry.option.flag:
                typed = f"{', '.join(entry.option.flags)} {entry.metavar}".strip()
                required = " [required]" if entry.required or entry.option.required else ""
                panels.setdefault(entry.option.panel or "Options", []).append((typed, entry.help + required))
        panels.setdefault("Options", []).append(("-h, --help", "Show this message and exit."))
        usage = (
            f"{ctx.command_path} [OPTIONS] {' '.join(entry.metavar for entry in self.entries if not entry.option.flag)}"
        )
        formatter.write(show_help(usage.strip(), self.help or "", panels, _width()))


def _width() -> int:
    return max(60, min(100, shutil.get_terminal_size().columns))


def entries_of(request: type[Request]) -> Iterator[Entry]:
    """All that is typed for a verb; those of methods are asked of the methods."""
    if request.methods is None:
        yield from request.typed()
        return
    from shoal.cli.method_options import entries_of_methods, names_of_methods

    for entry in request.typed():
        yield entry._replace(option=names_of_methods(entry.option))
    yield from entries_of_methods(request.methods, request.without)


class Group(click.Group):
    """Commands that are made when they are called; it notes which of them is."""

    def __init__(self, name: str = "", **settings: Any) -> None:
        super().__init__(name, context_settings=_CONTEXT, no_args_is_help=True, **settings)
        starts = f"{name} " if name else ""
        names = [words.removeprefix(starts).split()[0] for words in VERBS if words.startswith(starts)]
        self.names = {known: f"{starts}{known}" for known in names}

    def list_commands(self, ctx: Any) -> list[str]:
        """The names, in the order of the help."""
        return list(self.names)

    def get_command(self, ctx: Any, cmd_name: str) -> click.Command | None:
        """A command, made."""
        return None if cmd_name not in self.names else load(self.names[cmd_name])

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """The command that is called, with its options; a file in its place is refused with the way to all of them."""
        name = args[0]
        if name not in self.names and not name.startswith("-"):
            raise click.UsageError(f"No such command '{name}'.{self._hint(ctx, name)}", ctx)
        found, command, rest = super().resolve_command(ctx, args)
        if isinstance(command, Command):
            _called[:] = [command]
        return found, command, rest

    def _hint(self, ctx: click.Context, name: str) -> str:
        from difflib import get_close_matches

        if "all" in self.names and Path(name).suffix:
            from shoal.systems.console import shell_line

            return f" Name a command before the file: {ctx.command_path} all {shell_line(name)}"
        near = get_close_matches(name, self.names, n=1)
        return f" Did you mean '{near[0]}'?" if near else ""

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The text of the group, and its commands."""
        from shoal.cli.help import show_help

        first = {
            name: " ".join((load(words).help or "").replace("**", "").split("\n\n")[0].split())
            for name, words in self.names.items()
        }
        panels = {"Commands": list(first.items()), "Options": [("-h, --help", "Show this message and exit.")]}
        formatter.write(show_help(f"{ctx.command_path} COMMAND ...", self.help or "", panels, _width()))


def load(words: str) -> click.Command:
    """A command of the table, or a group of them."""
    if words in GROUPS:
        group = Group(words, help=GROUPS[words])
        group.commands = {name: load(path) for name, path in group.names.items()}
        return group
    return Command(words)


_TOUR = """\
Publish a table about people without giving the people away. Start with
  shoal risk people.csv --qi age,sex,zip
  shoal publish people.csv -o release           (or in the browser: shoal app)
"""
# asked for now and then: these share a line of their panel
_SELDOM = frozenset(
    ("lattice", "cells", "k-safety", "regenerate", "signing-key", "epsilon", "standards", "import-policy")
) | {"estimate", "joint", "schema", "doctor"}
_EXIT = "Exit codes: 0 fine, 1 not met, 2 bad input, 3 budget refused. No network."


class Root(Group):
    """All commands on one screen."""

    def main(self, *arguments: Any, **more: Any) -> Any:
        """Run the program; a shell that asks for completion may ask in the words of before (`source_bash`)."""
        if asked := os.environ.get("_SHOAL_COMPLETE"):
            from shoal.cli.completion import in_old_order

            os.environ["_SHOAL_COMPLETE"] = in_old_order(asked)
        return super().main(*arguments, **more)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; click ends with 1 at a closed pipe or Ctrl-C, which here says that a promise is not met."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise SystemExit(CLOSED_PIPE) from None
        except KeyboardInterrupt:
            raise SystemExit(INTERRUPTED) from None

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """What to start with, then a line for each command, panel by panel."""
        from shoal.cli.help import overview

        panels: dict[str, list[tuple[str, str]]] = {}
        for words, place in VERBS.items():
            name = words.split()[0]
            text = GROUPS[name] if name in GROUPS else inspect.getdoc(request_of(words)) or ""
            line = (name, " ".join(text.split("\n\n")[0].split()))
            if line not in panels.setdefault(place.panel, []):
                panels[place.panel].append(line)
        for panel, lines in panels.items():
            seldom = ", ".join(name for name, _ in lines if name in _SELDOM)
            panels[panel] = [*(line for line in lines if line[0] not in _SELDOM), ("also", seldom)]
        usage = f"Usage: {ctx.command_path} COMMAND ... | --version | --debug (tracebacks) | --help"
        formatter.write(overview(usage, _TOUR, panels, _EXIT, click.style))


def _show_version(ctx: click.Context, _: Any, asked: bool) -> None:
    if asked:
        click.echo(f"shoal {__version__}")
        ctx.exit()


def _completion(what: str) -> Any:
    def run(ctx: click.Context, parameter: Any, asked: bool) -> None:
        if asked:
            from shoal.cli import completion

            getattr(completion, what)(ctx, parameter, asked)

    return run


app = Root(
    help=_TOUR,
    params=[
        click.Option(
            ["--version"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_show_version,
            help="Show the version.",
        ),
        click.Option(
            ["--show-completion"], is_flag=True, is_eager=True, expose_value=False, callback=_completion("show")
        ),
        click.Option(
            ["--install-completion"], is_flag=True, is_eager=True, expose_value=False, callback=_completion("install")
        ),
        click.Option(["--debug"], is_flag=True, expose_value=False, help="Show a traceback when something fails."),
    ],
)
