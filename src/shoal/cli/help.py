"""The help of a command: its text, then its options, panel by panel, at any width from 60 columns on."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.panel import Panel
from rich.text import Text

# how wide a flag with its value may be beside its explanation; wider ones stand on a line of their own
_BESIDE = 27
_INDENT = 4
_MARKS = re.compile(r"\*\*(?P<bold>.+?)\*\*|(?<![*\w])\*(?P<italic>[^*\s][^*]*?)\*(?![*\w])|`(?P<code>[^`]+)`", re.S)


def show_help(usage: str, text: str, panels: dict[str, list[tuple[str, str]]], width: int) -> str:
    """The whole help as a terminal shows it; `panels` are pairs of what is typed and what it means."""
    console = Console(width=width, highlight=False)
    with console.capture() as shown:
        console.print(Text.assemble(("Usage: ", "bold"), usage), soft_wrap=True)
        for paragraph in text.strip().split("\n\n"):
            console.print()
            console.print(_paragraph(paragraph, width))
        console.print()
        for title, lines in panels.items():
            content = Text("\n").join(_lines(lines, width - _INDENT))
            console.print(Panel(content, title=title, title_align="left", border_style="dim"))
    return shown.get()


def _paragraph(paragraph: str, width: int) -> Text:
    """A paragraph; an indented one is an example, which is shown as it is typed."""
    if paragraph.startswith("    "):
        typed = " ".join(line.strip() for line in paragraph.splitlines())
        broken = textwrap.wrap(typed, width - 6, break_long_words=False, break_on_hyphens=False)
        return Text("\n".join(f"  {line}" if place == 0 else f"      {line}" for place, line in enumerate(broken)))
    words = " ".join(paragraph.split())
    return marked("\n".join(textwrap.wrap(words, width, break_long_words=False, break_on_hyphens=False)))


def marked(text: str) -> Text:
    """A text with `**bold**`, `*italic*` and code in backquotes, as the terminal shows them.

    >>> marked("**Who** is *unique*? See `risk`.").plain
    'Who is unique? See risk.'
    """
    found, place = Text(), 0
    for mark in _MARKS.finditer(text):
        found.append(text[place : mark.start()])
        kind = mark.lastgroup or ""
        found.append(mark[kind], style={"code": "cyan"}.get(kind, kind))
        place = mark.end()
    found.append(text[place:])
    return found


def _lines(pairs: Iterable[tuple[str, str]], width: int) -> Iterable[Text]:
    """What is typed on the left, what it means on the right: a column of words is never narrower than half a line."""
    for typed, meaning in pairs:
        explained = textwrap.wrap(meaning, width - _BESIDE - 2, break_long_words=False, break_on_hyphens=False)
        first = Text(typed, style="bold")
        if len(typed) > _BESIDE:
            yield first
            beside = [Text(" " * (_BESIDE + 2)) + marked(line) for line in explained]
        else:
            first.pad_right(_BESIDE + 2 - len(typed))
            yield first + marked(explained[0] if explained else "")
            beside = [Text(" " * (_BESIDE + 2)) + marked(line) for line in explained[1:]]
        yield from beside


def overview(usage: str, tour: str, panels: dict[str, list[tuple[str, str]]], end: str, style: Any) -> str:
    """All commands on one screen: what to start with, then a line each, panel by panel."""
    lines = [usage, tour]
    for title, commands in panels.items():
        lines += [style(title, bold=True), *(_line(name, text) for name, text in commands)]
    return "\n".join([*lines, end]) + "\n"


def _line(name: str, text: str, width: int = 80) -> str:
    """A command and the bold words of its help, on one line.

    >>> _line("detect", "**Which columns identify people?** And why.")
    '  detect        Which columns identify people?'
    """
    bold = re.search(r"\*\*(.+?)\*\*", text)
    line = f"  {name:<13} {bold.group(1) if bold else text}"
    return line if len(line) <= width else line[: width - 1].rsplit(" ", 1)[0] + " …"
