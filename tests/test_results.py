"""What every result keeps: one battery over all of them, and their JSON Schemas as a contract."""

from __future__ import annotations

import io
import json
import re
from dataclasses import FrozenInstanceError, fields
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner
from pydantic import ValidationError
from rich.console import Console

from results_cases import CASES, CONTROL, SECRETS, TAG, Case
from shoal.cli import app
from shoal.cli import render as terminal
from shoal.cli.render import render
from shoal.errors import InputError
from shoal.results import Chart, Exhibit
from shoal.results.html import fragment
from shoal.results.registry import MODULES, all_results, model_of, result_type, schema_of

SCHEMAS = Path(__file__).parent / "schemas"
SOURCE = Path(__file__).parents[1] / "src" / "shoal"
CONTROL_CHARACTERS = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")


@pytest.fixture(scope="module", params=sorted(CASES))
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Case:
    """One result after the other, each made once."""
    return CASES[request.param](tmp_path_factory.mktemp(request.param))


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Console:
    """A terminal of 80 columns without colours, whose text can be read back."""
    console = Console(file=io.StringIO(), width=80, highlight=False, color_system=None)
    monkeypatch.setattr(terminal, "out", console)
    return console


def on_screen(case: Case, screen: Console) -> str:
    assert isinstance(screen.file, io.StringIO)
    render(case.result.sections())
    return screen.file.getvalue()


def test_every_result_is_registered_and_has_a_case() -> None:
    """The list is complete: every class with a `name` in the source is in `MODULES`, and in `results_cases`."""
    pattern = re.compile(r'^    name: ClassVar\[str\] = "([a-z-]+)"$', re.MULTILINE)
    defined = {}
    for path in SOURCE.rglob("*.py"):
        module = ".".join(["shoal", *path.relative_to(SOURCE).with_suffix("").parts]).removesuffix(".__init__")
        text = path.read_text()
        if re.search(r"\((?:\w*Result|Personal|Anonymized)\)", text):
            defined |= dict.fromkeys(pattern.findall(text), module)
    assert defined == MODULES, "Name the module of each result in shoal.results.registry.MODULES."
    assert set(CASES) == set(MODULES), "Add a small real run of the verb to tests/results_cases.py."
    assert {name: cls.name for name, cls in all_results().items()} == {name: name for name in MODULES}


def test_frozen(case: Case) -> None:
    name = fields(case.result)[0].name  # type: ignore[arg-type]
    with pytest.raises(FrozenInstanceError):
        setattr(case.result, name, None)


def test_to_dict_is_ready_for_json_and_keeps_its_schema(case: Case) -> None:
    found = case.result.to_dict()
    assert json.loads(json.dumps(found)) == found
    assert found["schema_version"] == case.result.schema_version
    jsonschema.Draft202012Validator(schema_of(type(case.result))).validate(found)
    model_of(type(case.result)).model_validate(found)


def test_the_command_prints_exactly_that(case: Case) -> None:
    if case.command is None:
        pytest.skip("no command gives this result")
    done = CliRunner().invoke(app, [*case.command, "--json"])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    printed, expected = json.loads(done.stdout), case.result.to_dict()
    assert {key for key in expected if printed.get(key) != expected[key]} == case.apart
    assert set(printed) == set(expected)
    assert done.stdout.count("\n") == 1


def test_a_summary_is_sentences(case: Case) -> None:
    words = case.result.summary()
    assert words.strip() == words != ""
    assert "\n" not in words
    assert not any(secret in words for secret in SECRETS)


def test_a_repr_shows_no_value_and_no_name(case: Case) -> None:
    shown = repr(case.result)
    assert shown.startswith(f"<{case.result.name}")
    assert not any(text in shown for text in (*SECRETS, TAG, CONTROL, "sex"))


def test_a_terminal_shows_it_whole_and_without_control_characters(case: Case, screen: Console) -> None:
    text = on_screen(case, screen)
    assert text.strip()
    assert not CONTROL_CHARACTERS.search(text)
    meant = re.compile("--qi …|-o …|[0-9a-f]{16}…")
    assert "…" not in meant.sub("", text)  # what a terminal cuts off ends in it
    assert not any(secret in text for secret in SECRETS)


def test_a_notebook_shows_it_escaped(case: Case) -> None:
    page = case.result._repr_html_()
    assert page == fragment(case.result.sections())
    assert "<script" not in page
    assert not any(secret in page for secret in SECRETS)
    assert case.names_columns == ("&lt;script&gt;" in page)
    assert page.count("<table>") == page.count("</table>")


def test_a_notebook_draws_it(case: Case) -> None:
    """Charts stand in the page, and every result has one of its own, with something in it and no secret."""
    pytest.importorskip("altair", reason="the extra `charts` is not installed")
    charts = [section for section in case.result.sections() if isinstance(section, (Chart, Exhibit))]
    assert case.result._repr_html_().count("<svg") == len(charts)
    drawn = case.result.plot().to_dict()
    assert any(drawn["datasets"].values()), "a chart without anything in it"
    text = json.dumps(drawn)
    assert "<script" not in text
    assert not any(secret in text for secret in SECRETS)


@pytest.mark.parametrize("name", sorted(MODULES))
def test_the_schema_is_the_one_that_was_agreed(name: str) -> None:
    path = SCHEMAS / f"{name}.json"
    cure = (
        f"The JSON of '{name}' has another shape than tests/schemas/{name}.json. If that is meant, raise the result's "
        f"schema_version where a key is gone or has another meaning, and run: "
        f"shoal schema {name} > tests/schemas/{name}.json"
    )
    assert path.exists(), cure
    assert json.loads(path.read_text()) == schema_of(result_type(name)), cure


def test_no_schema_is_left_behind() -> None:
    assert {path.stem for path in SCHEMAS.glob("*.json")} == set(MODULES)


def test_a_schema_refuses_what_is_not_that_result(case: Case) -> None:
    """A key too many, a key too few, another version, another type: a schema that accepts anything guards nothing."""
    schema: dict[str, Any] = schema_of(type(case.result))
    jsonschema.Draft202012Validator.check_schema(schema)
    good = case.result.to_dict()
    wrong = [{**good, "odd": 1}, {**good, "schema_version": 99}]
    wrong += [{key: value for key, value in good.items() if key != gone} for gone in schema["required"]]
    typed = [key for key in good if {"type", "anyOf", "$ref", "const", "enum"} & set(schema["properties"][key])]
    wrong += [{**good, key: 5 if isinstance(good[key], str) else ["x"] if good[key] is None else "x"} for key in typed]
    for broken in wrong:
        assert not jsonschema.Draft202012Validator(schema).is_valid(broken)
        with pytest.raises(ValidationError):
            model_of(type(case.result)).model_validate(broken)


def test_schema_on_the_command_line() -> None:
    listed = CliRunner().invoke(app, ["schema"]).stdout.split()
    assert listed == list(MODULES)
    assert json.loads(CliRunner().invoke(app, ["schema", "risk"]).stdout) == schema_of(result_type("risk"))
    assert isinstance(CliRunner().invoke(app, ["schema", "riks"]).exception, InputError)
