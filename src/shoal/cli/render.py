"""Sections on the terminal: one renderer for all results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from shoal.cli import console
from shoal.cli.console import bar, note, print_block, printable
from shoal.cli.widths import BAR, fit_columns, rows_fit_side_by_side
from shoal.results.result import Result
from shoal.results.sections import (
    Bar,
    Cell,
    Chart,
    Commands,
    Content,
    Figures,
    Files,
    Grid,
    Headline,
    Notes,
    Section,
    Tone,
)

_GAP = 2
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
            _print_grid(section)
        case Notes(notes):
            for remark in notes:
                note(remark)
        case Commands(commands, title):
            console.out.print(Padding(Text(title, style="dim"), (0, 0, 0, 2)))
            for command in commands:  # whole, so that it can be copied
                console.out.print(Text("  " + printable(command), style="cyan"), soft_wrap=True)
        case Files(files):
            for what, path in files.items():  # whole, so that it can be copied
                console.out.print(Text(printable(f"{what} written to {path}")), soft_wrap=True)
        case Chart():  # its numbers stand in a grid
            pass


def _title(title: str) -> None:
    if title:
        console.out.print(Padding(Text(printable(title), style="bold"), (0, 0, 0, 2)))


def _figures(section: Figures) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(style="dim")
    table.add_column(justify="right", overflow="fold")  # a path is shown whole
    for figure in section.figures:
        table.add_row(Text(printable(figure.name)), Text(printable(figure.value), style=STYLES[figure.tone]))
    return table


def _print_grid(grid: Grid) -> None:
    """As a table; where the terminal is too narrow for it, with the rows side by side or below each other."""
    width = console.out.width - 2 * _GAP
    fitted = fit_columns(grid, width)
    if fitted is None:
        if rows_fit_side_by_side(grid, width):
            _print_side_by_side(grid)
        else:
            for row in grid.rows:
                _print_stacked(grid, row)
        return
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="dim")
    for column in fitted:
        justify: Literal["left", "right"] = "left" if column.words or column.bars else "right"
        table.add_column(Text(column.head), justify=justify, no_wrap=not column.folds, overflow="fold")
    for row in grid.rows:
        table.add_row(*(_cell(content, column.width) for content, column in zip(row, fitted, strict=True)))
    print_block(table)


def _print_side_by_side(grid: Grid) -> None:
    """Rows as columns: the first cell of a row is the head of its column."""
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold")
    table.add_column(Text(printable(grid.heads[0])), style="dim", no_wrap=True)
    for row in grid.rows:
        table.add_column(_cell(row[0]), justify="right", overflow="fold")
    for place, head in enumerate(grid.heads[1:], 1):
        cells = [row[place] for row in grid.rows]
        if not all(isinstance(content, Bar) for content in cells):
            table.add_row(Text(printable(head)), *(_cell(content) for content in cells))
    print_block(table)


def _print_stacked(grid: Grid, row: Sequence[Content]) -> None:
    """One row: its first cell as a title, the others below it, each with its head."""
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, _GAP, 0, 0))
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    cells = list(zip(grid.heads, row, strict=True))
    if grid.left:
        console.out.print(Padding(_cell(cells.pop(0)[1]), (0, 0, 0, _GAP)))
    for head, content in cells:
        if not isinstance(content, Bar):
            table.add_row(Text(printable(head)), _cell(content))
    print_block(table)


def _cell(content: Content, width: int = BAR) -> Text:
    if isinstance(content, Bar):
        return bar(content.share, width)
    if isinstance(content, Cell):
        return Text(printable(content.text), style=STYLES[content.tone])
    return Text(printable(content))
