"""Sections on the terminal: one renderer for all results."""

from __future__ import annotations

from collections.abc import Sequence

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from shoal.cli import console
from shoal.cli.console import bar, note, print_block, printable
from shoal.results.result import Result
from shoal.results.sections import Bar, Cell, Chart, Commands, Content, Figures, Grid, Headline, Notes, Section, Tone

STYLES: dict[Tone, str] = {
    "plain": "",
    "good": "green",
    "bad": "red",
    "warning": "yellow",
    "dim": "dim",
    "strong": "bold",
}


def show(result: Result) -> None:
    """What people see of a result."""
    console.out.print()
    render(result.sections())


def render(sections: Sequence[Section]) -> None:
    """Print sections in their order."""
    for section in sections:
        _print(section)


def _print(section: Section) -> None:
    match section:
        case Headline(text, tone):
            print_block(Text(printable(text), style=f"bold {STYLES[tone]}" if tone != "strong" else "bold"))
        case Figures():
            _title(section.title)
            print_block(_figures(section))
        case Grid():
            _title(section.title)
            print_block(_grid(section))
        case Notes(notes):
            for remark in notes:
                note(remark)
        case Commands(commands, title):
            console.out.print(Padding(Text(title, style="dim"), (0, 0, 0, 2)))
            for command in commands:  # whole, so that it can be copied
                console.out.print(Text("  " + printable(command), style="cyan"), soft_wrap=True)
        case Chart(_, _, alternative, _):
            note(alternative)


def _title(title: str) -> None:
    if title:
        console.out.print(Padding(Text(printable(title), style="bold"), (0, 0, 0, 2)))


def _figures(section: Figures) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(style="dim")
    table.add_column(justify="right")
    for figure in section.figures:
        table.add_row(Text(printable(figure.name)), Text(printable(figure.value), style=STYLES[figure.tone]))
    return table


def _grid(section: Grid) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    bars = {j for row in section.rows for j, content in enumerate(row) if isinstance(content, Bar)}
    for j, head in enumerate(section.heads):
        words = j < section.left
        whole = not words and j not in section.wrap
        table.add_column(
            Text(printable(head)), justify="left" if words or j in bars else "right", no_wrap=whole, overflow="fold"
        )
    for row in section.rows:
        table.add_row(*(_cell(content) for content in row))
    return table


def _cell(content: Content) -> Text:
    if isinstance(content, Bar):
        return bar(content.share)
    if isinstance(content, Cell):
        return Text(printable(content.text), style=STYLES[content.tone])
    return Text(printable(content))
