"""Requests, and what follows from them: signatures, types for callers, commands, the API and the documentation."""

from __future__ import annotations

import importlib.util
import inspect
import subprocess
import sys
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import shoal
from shoal.app.verbs import VERBS as API
from shoal.cli.group import app, load
from shoal.verbs import VERBS, request_of
from shoal.verbs.measuring import CellsRequest, LeakRequest, RiskRequest

ROOT = Path(__file__).parents[1]
COUNTS = {"town": ["a", "b", "Total"], "n": [20, 30, 50]}
# commands that are not one function of a source and options
APART = {"reproduce sanchez", "reproduce pastore", "reproduce antoniou", "reproduce course", "reproduce all"}
APART |= {"desk query", "desk show", "joint simulate", "schema", "doctor"}
# what only the library can be told
LIBRARY_ALONE = {"signing-key": {"force"}, "app": {"say"}}
# what it takes by name beside the options of methods
BY_NAME = {"anonymize": {"items", "items_in", "person", "km", "events", "lkc"}}


def names_of(request: Any) -> dict[str, Any]:
    return {entry.name: entry.default for entry in fields(request)}


@pytest.mark.parametrize("words", sorted(set(VERBS) - APART))
def test_a_function_takes_the_fields_of_its_request(words: str) -> None:
    request = request_of(words)
    _, *parameters = inspect.signature(request.function()).parameters.values()
    taken = {one.name: one.default for one in parameters if one.kind is not one.VAR_KEYWORD}
    assert set(taken) - LIBRARY_ALONE.get(words, set()) == set(names_of(request)) - BY_NAME.get(words, set())
    for name, default in names_of(request).items():
        if name in BY_NAME.get(words, set()):
            continue
        needed = taken[name] is inspect.Parameter.empty  # of the app: its defaults are the command's
        assert (taken[name] == default) or (needed and default is MISSING) or words == "app", name


def test_a_function_takes_a_request_as_it_takes_keywords() -> None:
    by_keywords = shoal.cells(COUNTS, by="town", count="n")
    assert shoal.cells(COUNTS, CellsRequest(by="town", count="n")).to_dict() == by_keywords.to_dict()
    table = {"age": [30, 30, 41], "illness": ["flu", "flu", "cold"]}
    asked = RiskRequest(quasi_identifiers=["age"], sensitive="illness", disclosure=["illness = flu"])
    found = shoal.risk(table, quasi_identifiers=["age"], sensitive="illness", disclosure=["illness = flu"])
    assert shoal.risk(table, asked).to_dict() == found.to_dict()
    leaked = shoal.leak(None, LeakRequest(persons=10_000, leaked=4_000, class_size=5))
    assert leaked.to_dict() == shoal.leak(persons=10_000, leaked=4_000, class_size=5).to_dict()


def test_what_a_function_does_not_take_is_refused_by_its_own_name() -> None:
    with pytest.raises(TypeError, match=r"cells\(\) .*'colour'"):
        shoal.cells(COUNTS, by="town", count="n", colour="red")  # type: ignore[call-overload]
    with pytest.raises(TypeError, match=r"cells\(\) missing a required argument: 'count'"):
        shoal.cells(COUNTS, by="town")  # type: ignore[call-overload]
    with pytest.raises(TypeError, match=r"risk\(\) missing a required argument: 'source'"):
        shoal.risk(quasi_identifiers=["age"])  # type: ignore[call-overload]


def test_callers_are_checked_by_mypy(tmp_path: Path) -> None:
    """What is right passes, and each line that is wrong is an error: keywords keep their names and types."""
    path = tmp_path / "caller.py"
    path.write_text(
        "import shoal\nfrom shoal.verbs.measuring import CellsRequest\n"
        "found = shoal.risk({}, quasi_identifiers=['age'], null_rule='drop', weight='w', suda=True)\n"
        "found.uniques + 1\n"
        "shoal.cells({}, CellsRequest(by='town', count='n'))\n"
        "shoal.leak(persons=10, leaked='10%', class_size=5)\n"
        "shoal.verify('safe.csv', 'policy.yaml', original='people.csv')\n"
        "shoal.risk({}, null_rule='never')  # wrong\n"
        "shoal.risk({}, quasi_identifier=['age'])  # wrong\n"
        "shoal.cells({}, by='town')  # wrong\n"
        "shoal.detect({}, max_size='many')  # wrong\n"
        "shoal.cells({}, by='town', count='n').nothing  # wrong\n"
    )
    command = [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    errors = {int(line.split(":")[1]) for line in done.stdout.splitlines() if ": error:" in line}
    wrong = {number for number, line in enumerate(path.read_text().splitlines(), 1) if line.endswith("# wrong")}
    assert errors == wrong, done.stdout


def test_every_option_of_the_api_is_one_of_the_command() -> None:
    for verb in API.values():
        typed = {entry.name for entry in verb.options.request.typed()}
        assert {entry.name for entry in verb.options.entries.values()} <= typed
        for entry in verb.options.entries.values():
            assert verb.options.model_json_schema()["properties"][entry.json]["description"].startswith(
                entry.option.help
            )


@pytest.mark.parametrize("words", VERBS)
def test_the_help_is_readable_at_80_columns(words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No word is broken, no line is longer, and explanations have half of the width."""
    monkeypatch.setenv("COLUMNS", "80")
    done = CliRunner().invoke(app, [*words.split(), "--help"])
    assert done.exit_code == 0
    lines = done.output.splitlines()
    assert max(map(len, lines)) <= 80
    text = " ".join(" ".join(line.strip("│╭╮╰╯─ ") for line in lines).split())
    for entry in load(words).entries:  # type: ignore[attr-defined]
        assert " ".join(entry.help.replace("`", "").replace("**", "").split())[:60] in text.replace("**", "")
        for flag in entry.option.flags:
            assert flag in text


def test_the_tables_of_options_are_those_of_the_requests() -> None:
    found = importlib.util.spec_from_file_location("option_tables", ROOT / "docs" / "option_tables.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    for path, content in module.pages():
        assert path.read_text() == content, "write it anew with: python docs/option_tables.py"
