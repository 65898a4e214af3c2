"""How wide the columns of a grid are on a terminal: numbers whole, heads and words broken where they must be."""

from __future__ import annotations

import textwrap

from rich.cells import cell_len

from shoal.cli.console import printable
from shoal.dataclasses import dataclass
from shoal.results.sections import Bar, Cell, Content, Grid

BAR = 30
_GAP = 2
# bars are not drawn shorter than this, words not folded narrower than this
_LEAST_BAR, _LEAST_WORDS = 8, 14


@dataclass(frozen=True)
class Column:
    """A column of a grid: its head with line breaks, what it holds, its width."""

    head: str
    width: int
    words: bool
    bars: bool
    folds: bool


def fit_columns(grid: Grid, width: int) -> list[Column] | None:
    """The columns of a grid in a width; None where even the narrowest form would cut something off.

    >>> fit_columns(Grid(("column", "share"), [("age", "74.8%")]), 80)[1]
    Column(head='share', width=5, words=False, bars=False, folds=False)
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


def _shorter(column: Column, width: int) -> Column:
    return Column(column.head, width, column.words, column.bars, column.folds)


def _column(grid: Grid, place: int, narrow: bool) -> Column:
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
    return Column(head, max(widest, heads), words, bars, folds)


def _text(content: Content) -> str:
    if isinstance(content, Bar):
        return ""
    return printable(content.text if isinstance(content, Cell) else content)
