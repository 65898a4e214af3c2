"""The terminal: results go to stdout, everything else to stderr; how tables, bars and names look."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from shoal.errors import CLOSED_PIPE, InputError, ShoalError


class _Terminal(Console):
    def on_broken_pipe(self) -> None:
        """Rich ends with 1, which here says that a promise is not met."""
        try:
            super().on_broken_pipe()
        except SystemExit:
            raise SystemExit(CLOSED_PIPE) from None


out = _Terminal(highlight=False)
err = _Terminal(stderr=True, highlight=False)
# narrower, tables would lose their words: let the terminal wrap instead
if out.width < 80:
    out.width = 80

_BAR = 30


def show_error(error: BaseException) -> int:
    """What happened, and the cure; the exit code. The message of a bug may hold values and is not shown."""
    code = 70
    what, cure = (
        f"shoal failed ({type(error).__name__}); this is a bug in shoal.",
        "Run it again with --debug, and report it.",
    )
    if isinstance(error, ShoalError):
        code, what, cure = error.exit_code, str(error), ""
    if isinstance(error, InputError):
        from shoal.cli.group import flags
        from shoal.cli.settings import as_options, option_of, with_flags

        # a setting such as `count` is also a word of the language: there only the cure means the setting
        named = [setting for setting in error.settings if "_" in setting and setting in error.what]
        known = {} if error.in_a_file else flags()
        what, cure = with_flags(as_options(error.what, named), known), error.cure or ""
        said = [setting for setting in error.settings if setting in named or option_of(setting) in what.split()]
        cure = as_options(cure, [setting for setting in error.settings if setting not in said or setting in cure])
        cure = with_flags(cure, known)
    err.print(Text("error: ", style="bold red") + Text(printable(what)), soft_wrap=True)
    if cure:
        err.print(Text(printable(cure), style="cyan"), soft_wrap=True)
    return code


def printable(text: str) -> str:
    """Text from a file as a terminal may show it: no control characters but line ends.

    >>> printable("age\x1b[31m")
    'age\ufffd[31m'
    """
    return "".join(letter if letter.isprintable() or letter == "\n" else "\ufffd" for letter in text)


def print_block(renderable: Any) -> None:
    """A block with a blank line after it."""
    out.print(Padding(renderable, (0, 0, 1, 2)))


def bar(share: float, width: int = _BAR) -> Text:
    """A share as a bar."""
    eighths = round(share * width * 8)
    return Text("█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip(), style="cyan")


def note(text: str) -> None:
    """A remark below the tables."""
    out.print(Padding(Text("· " + printable(text), style="dim"), (0, 0, 0, 2)))
