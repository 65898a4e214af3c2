"""Grids on a terminal: whatever they hold and however narrow it is, nothing is cut off."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from shoal.cli import render as terminal
from shoal.cli.render import render
from shoal.results import Bar, Cell, Commands, Figure, Figures, Files, Grid, Headline, Notes
from shoal.results.html import fragment

WORDS = st.text(alphabet="abcdefgh ", min_size=1, max_size=40).filter(lambda text: text == text.strip())
NUMBERS = st.integers(0, 10**9).map(lambda number: f"{number:,}")


@st.composite
def grids(draw: st.DrawFn) -> Grid:
    left, numbers = draw(st.integers(1, 3)), draw(st.integers(0, 7))
    row = st.tuples(*[WORDS] * left, *[NUMBERS] * numbers, st.floats(0, 1).map(Bar))
    heads = draw(st.lists(WORDS, min_size=left + numbers, max_size=left + numbers))
    return Grid((*heads, ""), draw(st.lists(row, min_size=1, max_size=5)), left)


def printed(grid: Grid, width: int) -> list[str]:
    before, terminal.out = terminal.out, Console(file=io.StringIO(), width=width, highlight=False, color_system=None)
    try:
        render([grid])
        return terminal.out.file.getvalue().splitlines()  # type: ignore[attr-defined, no-any-return]
    finally:
        terminal.out = before


@given(grids(), st.sampled_from([80, 100, 132]))
def test_numbers_stay_whole_words_are_folded_not_lost(grid: Grid, width: int) -> None:
    lines = printed(grid, width)
    assert all(len(line) <= width for line in lines)
    assert not any("…" in line for line in lines)
    tokens = [token for line in lines for token in line.split()]
    letters = "".join(tokens)
    assert all(content in tokens for row in grid.rows for content in row[grid.left : -1])
    cells = "".join(str(content) for row in grid.rows for content in row[: grid.left])
    for letter in "abcdefgh":
        assert letters.count(letter) >= cells.count(letter)


@given(grids())
def test_the_same_grid_as_html_has_every_cell(grid: Grid) -> None:
    page = fragment([grid])
    assert page.count("<tr>") == len(grid.rows) + 1
    assert all(f">{content}<" in page for row in grid.rows for content in row[:-1])


def test_every_section_in_both_media(monkeypatch: pytest.MonkeyPatch) -> None:
    sections = [
        Headline("A <b> sentence\x1b[31m."),
        Figures([Figure("uni\x07ques", "1", "bad")], "Figures"),
        Grid(("<i>", "n"), [(Cell("<u>", "good"), "2")], title="Grid"),
        Notes(["a <note>"]),
        Files({"policy": "a&b.yaml"}),
        Commands(["shoal risk <file>"]),
    ]
    console = Console(file=io.StringIO(), width=80, highlight=False, color_system=None)
    monkeypatch.setattr(terminal, "out", console)
    render(sections)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert "policy written to a&b.yaml" in text
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "<b>" in text
    page = fragment(sections)
    for tag in ("<b>", "<i>", "<u>", "<note>", "<file>"):
        assert tag not in page
    assert "<code>a&amp;b.yaml</code>" in page
