"""JUnit and SARIF files of `verify` and `risk`."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from shoal.cli import app
from shoal.reports.ci import CiReports, artifact, junit_xml, rule_names, sarif_log
from shoal.results.sections import Case

# the part of SARIF 2.1.0 that is written, with nothing beside it


def closed(required: list[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": required, "additionalProperties": False, "properties": properties}


WORD, WORDS = {"type": "string"}, {"type": "object"}
TEXT = closed(["text"], text=WORD)
LOCATION = closed(
    ["physicalLocation"],
    physicalLocation=closed(
        ["artifactLocation"],
        artifactLocation=closed(["uri"], uri={"type": "string", "pattern": r"^[A-Za-z0-9._~/%-]+$"}),
        region=closed(["startLine"], startLine={"type": "integer", "minimum": 1}),
    ),
)
RESULT = closed(
    ["ruleId", "ruleIndex", "message", "locations"],
    ruleId=WORD,
    ruleIndex={"type": "integer", "minimum": 0},
    level={"enum": ["none", "note", "warning", "error"]},
    kind={"enum": ["pass", "open", "informational", "notApplicable", "review", "fail"]},
    message=TEXT,
    locations={"type": "array", "items": LOCATION},
    partialFingerprints={"type": "object", "additionalProperties": WORD},
)
RULE = closed(["id"], id=WORD, name=WORD, shortDescription=TEXT, properties=WORDS)
DRIVER = closed(
    ["name"],
    name=WORD,
    version=WORD,
    semanticVersion={"type": "string", "pattern": r"^\d+\.\d+\.\d+"},
    rules={"type": "array", "items": RULE, "uniqueItems": True},
)
RUN = closed(
    ["tool", "results"],
    tool=closed(["driver"], driver=DRIVER),
    invocations={"type": "array", "items": closed(["executionSuccessful"], executionSuccessful={"type": "boolean"})},
    results={"type": "array", "items": RESULT},
    columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
    properties=WORDS,
)
SARIF = closed(
    ["version", "runs"], **{"$schema": WORD, "version": {"const": "2.1.0"}, "runs": {"type": "array", "items": RUN}}
)


def check_sarif(log: dict[str, Any]) -> None:
    """The schema, and what SARIF 2.1.0 says beside it: results point at rules, only a failure has a level."""
    jsonschema.validate(log, SARIF)
    for run in log["runs"]:
        rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
        assert len(set(rules)) == len(rules)
        for result in run["results"]:
            assert rules[result["ruleIndex"]] == result["ruleId"]
            assert result["kind"] == "fail" or result["level"] == "none"
            assert result["message"]["text"]


def check_junit(path: Path) -> ElementTree.Element:
    """What the usual schema of JUnit files asks for."""
    root = ElementTree.fromstring(path.read_bytes())
    assert root.tag == "testsuites"
    (suite,) = root
    assert set(suite.attrib) == {"name", "tests", "failures", "errors", "skipped", "time"}
    assert (suite.tag, suite.get("skipped"), suite.get("errors")) == ("testsuite", "0", "0")
    numbers = [entry.get("time", "") for entry in [root, suite, *suite]]
    assert all(re.fullmatch(r"\d+\.\d{3}", number) for number in numbers)  # xs:decimal, no exponent
    assert {name: root.get(name) for name in ("tests", "failures", "errors")} == {
        name: suite.get(name) for name in ("tests", "failures", "errors")
    }
    assert int(suite.get("tests", "")) == len(suite)
    assert int(suite.get("failures", "")) == len(suite.findall("testcase/failure"))
    for case in suite:
        assert set(case.attrib) == {"classname", "name", "time"}
        assert case.tag == "testcase"
        assert {entry.tag for entry in case} <= {"failure", "error", "skipped", "system-out", "system-err"}
        assert len(case) <= 1
        assert all(set(entry.attrib) == {"message", "type"} for entry in case)
    return suite


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{age},{sex}\n" for age in (37411, 37412) for sex in "fm" for _ in range(5))
    Path("good.csv").write_text("code,sex\n" + rows)
    Path("bad.csv").write_text("code,sex\n" + rows + "99887,f\n")
    Path("policy.yaml").write_text(
        "columns: {code: quasi-identifier, sex: quasi-identifier}\nmodels:\n"
        "  - {model: k-anonymity, k: 5}\n  - {model: highest-risk, threshold: 0.2}\n"
    )
    return tmp_path


@pytest.mark.parametrize(
    ("command", "cases"), [(["verify"], 2), (["risk", "--fail-above-threshold"], 3)], ids=["verify", "risk"]
)
@pytest.mark.parametrize("table", ["good.csv", "bad.csv"])
def test_every_promise_is_a_case(tables: Path, command: list[str], cases: int, table: str) -> None:
    asked = [command[0], table, "--policy", "policy.yaml", *command[1:], "--junit", "j.xml", "--sarif", "s.sarif"]
    done = CliRunner().invoke(app, asked)
    failed = table == "bad.csv"
    assert done.exit_code == int(failed)
    suite = check_junit(tables / "j.xml")
    assert len(suite) == cases
    assert bool(suite.findall("testcase/failure")) == failed
    log = json.loads((tables / "s.sarif").read_text())
    check_sarif(log)
    (run,) = log["runs"]
    assert len(run["tool"]["driver"]["rules"]) == cases
    assert len(run["results"]) == len(suite.findall("testcase/failure"))
    for text in ((tables / "j.xml").read_text(), (tables / "s.sarif").read_text()):
        assert "99887" not in text
        assert "37411" not in text


def test_reports_are_replaced_and_data_is_not(tables: Path) -> None:
    Path("j.xml").write_text("old")
    CliRunner().invoke(app, ["verify", "good.csv", "--policy", "policy.yaml", "--junit", "j.xml"])
    check_junit(tables / "j.xml")
    before = Path("good.csv").read_bytes()
    done = CliRunner().invoke(app, ["verify", "good.csv", "--policy", "policy.yaml", "--junit", "good.csv"])
    assert done.exit_code
    assert Path("good.csv").read_bytes() == before
    done = CliRunner().invoke(app, ["verify", "good.csv", "--policy", "policy.yaml", "--junit", "none/j.xml"])
    assert done.exit_code


def test_bad_input_leaves_no_report(tables: Path) -> None:
    assert CliRunner().invoke(app, ["verify", "absent.csv", "--policy", "policy.yaml", "--junit", "j.xml"]).exit_code
    assert not Path("j.xml").exists()


ANY = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


@given(st.lists(st.tuples(ANY, ANY, st.booleans(), ANY), max_size=5))
def test_any_words_make_whole_files(entries: list[tuple[str, str, bool, str]]) -> None:
    cases = [Case("check", *entry) for entry in entries]
    root = ElementTree.fromstring(junit_xml(cases, "shoal verify", 0))
    assert len(root[0]) == len(cases)
    check_sarif(json.loads(json.dumps(sarif_log(cases, "a b.csv", "x"))))
    assert len(set(rule_names(cases))) == len(cases)


def test_addresses_keep_no_password_and_no_folder_elsewhere(tmp_path: Path) -> None:
    assert artifact("postgresql://me:secret@host/db") == "database"
    assert artifact(str(tmp_path / "safe.csv")) == "safe.csv"
    assert CiReports("verify", "a.csv").junit is None
