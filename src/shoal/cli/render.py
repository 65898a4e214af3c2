"""Sections on the terminal: one renderer for all results."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from shoal.errors import CLOSED_PIPE, InputError, Message, ShoalError
from shoal.results.result import Result
from shoal.results.sections import (
    Bar,
    Cell,
    Chart,
    Commands,
    Content,
    Exhibit,
    Figures,
    Files,
    Grid,
    Headline,
    Meaning,
    Notes,
    Section,
    Tone,
)

# The terminal: results go to stdout, everything else to stderr; how tables, bars and names look.


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
        code, what, cure = error.exit_code, error.args[0] if error.args else "", ""
    if isinstance(error, InputError):
        what, cure = error.what, error.cure or ""
    err.print(Text("error: ", style="bold red") + Text(printable(what)), soft_wrap=True)
    if cure:
        err.print(Text(printable(cure), style="cyan"), soft_wrap=True)
    return code


def printable(text: str) -> str:
    """A text as a terminal may show it: settings as flags, no control characters but line ends.

    >>> printable("age\x1b[31m")
    'age\ufffd[31m'
    """
    if isinstance(text, Message):
        from shoal.cli.group import flag_of

        text = text.named_by(flag_of)
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


BAR = 30
_GAP = 2
# bars are not drawn shorter than this, words not folded narrower than this
_LEAST_BAR, _LEAST_WORDS = 8, 14
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
    out.print()
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
            out.print(Padding(Text(title, style="dim"), (0, 0, 0, 2)))
            for command in commands:  # whole, so that it can be copied
                out.print(Text("  " + printable(command), style="cyan"), soft_wrap=True)
        case Files(files):
            for what, path in files.items():  # whole, so that it can be copied
                out.print(Text(printable(f"{what} written to {path}")), soft_wrap=True)
        case Exhibit(chart, table):  # what it means is about the picture
            _title(chart.title)
            _print_grid(table)
        case Meaning(text):
            note(text)
        case Chart():  # its numbers stand in a grid
            pass


def _title(title: str) -> None:
    if title:
        out.print(Padding(Text(printable(title), style="bold"), (0, 0, 0, 2)))


def _figures(section: Figures) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(style="dim")
    table.add_column(justify="right", overflow="fold")  # a path is shown whole
    for figure in section.figures:
        table.add_row(Text(printable(figure.name)), Text(printable(figure.value), style=STYLES[figure.tone]))
    return table


def _print_grid(grid: Grid) -> None:
    """As a table; where the terminal is too narrow for it, with the rows side by side or below each other."""
    width = out.width - 2 * _GAP
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
        out.print(Padding(_cell(cells.pop(0)[1]), (0, 0, 0, _GAP)))
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


# How wide the columns of a grid are: numbers whole, heads and words broken where they must be.


@dataclass(frozen=True)
class TableColumn:
    """A column of a grid: its head with line breaks, what it holds, its width."""

    head: str
    width: int
    words: bool
    bars: bool
    folds: bool


def fit_columns(grid: Grid, width: int) -> list[TableColumn] | None:
    """The columns of a grid in a width; None where even the narrowest form would cut something off.

    >>> fit_columns(Grid(("column", "share"), [("age", "74.8%")]), 80)[1]
    TableColumn(head='share', width=5, words=False, bars=False, folds=False)
    >>> fit_columns(Grid(("column", "share"), [("age", "74.8%")]), 8)
    """
    gaps = _GAP * (len(grid.heads) - 1)
    for narrow in (False, True):
        columns = [_column(grid, place, narrow) for place in range(len(grid.heads))]
        rigid = sum(column.width for column in columns if not column.bars and not column.folds)
        least = sum(min(column.width, _LEAST_WORDS) for column in columns if column.folds)
        bars = [column for column in columns if column.bars]
        wanted = sum(column.width for column in columns if column.folds)
        room = width - gaps - rigid
        if room >= least + _LEAST_BAR * len(bars) and (narrow or room >= wanted + _LEAST_BAR * len(bars)):
            longest = (room - min(wanted, room - _LEAST_BAR * len(bars))) // max(len(bars), 1)
            return [_shorter(column, min(BAR, longest)) if column.bars else column for column in columns]
    return None


def rows_fit_side_by_side(grid: Grid, width: int) -> bool:
    """Whether the rows fit as columns, their first cells folded as heads and all others whole.

    >>> rows_fit_side_by_side(Grid(("release", "k"), [("a.csv", "2"), ("b.csv", "5")]), 80)
    True
    """
    if not grid.left or not grid.rows:
        return False
    left = width - max(cell_len(printable(head)) for head in grid.heads) - _GAP * len(grid.rows)
    widest = [max((cell_len(_text(content)) for content in row[1:]), default=0) for row in grid.rows]
    return all(max(cells, _LEAST_WORDS) <= left // len(grid.rows) for cells in widest)


def _shorter(column: TableColumn, width: int) -> TableColumn:
    return TableColumn(column.head, width, column.words, column.bars, column.folds)


def _column(grid: Grid, place: int, narrow: bool) -> TableColumn:
    """A column with its head in one line, or broken at blanks as far as its cells allow."""
    cells = [row[place] for row in grid.rows]
    bars = any(isinstance(content, Bar) for content in cells)
    words = place < grid.left
    folds = not bars and (words or place in grid.wrap)
    head = printable(grid.heads[place])
    widest = max((cell_len(line) for content in cells for line in _text(content).split("\n")), default=0)
    if narrow and not folds:
        longest = max((cell_len(word) for word in head.split()), default=0)
        head = textwrap.fill(head, max(widest, longest, 1), break_long_words=False, break_on_hyphens=False)
    heads = max(cell_len(line) for line in head.split("\n"))
    return TableColumn(head, max(widest, heads), words, bars, folds)


def _text(content: Content) -> str:
    if isinstance(content, Bar):
        return ""
    return printable(content.text if isinstance(content, Cell) else content)
