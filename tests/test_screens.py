"""What people see at 80 columns: one line for each column of a wide table, next steps that can be copied."""

from __future__ import annotations

import io
import shlex

import polars as pl
import pytest
from rich.console import Console

import shoal
from shoal.cli import render as terminal
from shoal.cli.render import show
from shoal.dp.results import Opened
from shoal.reports.publication.results import Publication, Step
from shoal.results import Commands, Result


def _shown(result: Result, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    page = io.StringIO()
    monkeypatch.setattr(terminal, "out", Console(file=page, width=80, highlight=False, color_system=None))
    show(result)
    return page.getvalue().splitlines()


def _commands(result: Result) -> list[list[str]]:
    return [
        shlex.split(command)
        for section in result.sections()
        if isinstance(section, Commands)
        for command in section.commands
    ]


def test_a_profile_of_many_columns_is_one_table(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["sex", "age", "marital-status", "native-country", "household_weights", *(f"code {n}" for n in range(9))]
    rows = 60
    values: dict[str, list[object]] = {name: [row % 7 for row in range(rows)] for name in names}
    values |= {
        "sex": ["f", "m"] * (rows // 2),
        "age": [20 + row for row in range(rows)],
        "marital-status": ["married", "divorced", "widowed"] * (rows // 3),
        "native-country": ["France", "Germany", "Italy", "Spain"] * (rows // 4),
    }
    lines = _shown(shoal.profile(pl.DataFrame(values)), monkeypatch)
    head = next(place for place, line in enumerate(lines) if line.split()[:2] == ["column", "proposed"])
    table = lines[head + 1 : lines.index(next(line for line in lines[head:] if not line.strip()), head)]
    assert [name for name in names if any(line.startswith(f"  {name}  ") for line in table)] == names
    assert all(len(line) <= 80 for line in lines)
    assert all(line.startswith("  ") for line in lines if line.strip())
    role = next(line for line in table if line.startswith("  marital-status"))
    assert role.split() == ["marital-status", "quasi-identifier", "marital-status,", "text", "–", "3"]


def test_next_steps_are_quoted() -> None:
    folder = "my desk; rm x"
    opened = Opened(folder, 9, 9, None, 1.0, 0.0, {"age": "number"}, {}, "a key", False, "a witness", 0)
    more = ["--ledger-key", "a key", "--witness", "a witness"]
    assert _commands(opened) == [
        ["shoal", "desk", "query", folder, "count", "--epsilon", "0.1", *more],
        ["shoal", "desk", "show", folder, *more],
    ]


def test_the_next_step_of_a_publication_is_quoted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Publication, "summary", lambda self: "Ready.")
    monkeypatch.setattr(Publication, "_worst_attack", lambda self: [])
    found = Publication("for all/of them", "holds", {}, [Step("verify", 0.1, "holds")])
    assert _commands(found) == [["shoal", "verify", "for all/of them"]]
