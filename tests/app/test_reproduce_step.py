"""What the app shows as command and as Python runs as printed, and says the same."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shlex
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from accepted import ACCEPTED
from shoal.app.project import FileReading, Project, Workspace
from shoal.app.reproduce_step import in_one, reproduce_step, script
from shoal.releases.signing import make_signing_key
from shoal.verbs.forms import names_of

POLICY = {
    "columns": {
        "age": "quasi-identifier",
        "sex": "quasi-identifier",
        "zip": "quasi-identifier",
        "illness": "sensitive",
    },
    "models": [{"model": "k-anonymity", "k": 3}],
    "attacks": ACCEPTED,
}


@pytest.fixture
def workspace(own_temporary_folder: Path, people: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    project = Project.open(tmp_path / "project")
    made = project.new("people.csv", "machine", people)
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    yield made
    project.close()


def run_command(text: str) -> str:
    """Run a command in this process, as the shell would split it; what it printed."""
    from click.testing import CliRunner

    from shoal.cli.group import app

    words = shlex.split(text)
    assert words[0] == "shoal"
    done = CliRunner().invoke(app, words[1:])
    assert done.exit_code == 0, done.output + repr(done.exception)
    return done.output


def run_python(text: str) -> str:
    """Run Python as printed; what it printed."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(text, "step.py", "exec"), {"__name__": "step"})  # noqa: S102
    return out.getvalue()


STEPS: list[tuple[str, dict[str, Any]]] = [
    ("profile", {}),
    ("detect", {"columns": ["age", "sex", "zip"], "max_size": 2, "seed": 1}),
    ("risk", {"qi": ["age", "zip"], "knowledge": {"a": ["age"], "b": ["zip", "sex"]}, "threshold": 0.2}),
    (
        "risk",
        {
            "qi": ["age"],
            "sampling": "5%",
            "estimate": "pitman",
            "sensitive": ["illness"],
            "disclosure": ["illness in flu"],
        },
    ),
    ("leak", {"leaked": "10%", "targets": "1,2", "simulate": 20, "seed": 1}),
    ("hierarchy-build", {"column": ["age"], "width": 5}),
    ("anonymize", {"seed": 3, "method": "mondrian", "decide": {"illness": "sensitive"}}),
    ("publish", {"seed": 3, "no_pdf": True, "excel_safe": True, "sign": "owner.pem"}),
    ("verify", {"signed_by": "owner.pem.pub"}),
    ("verify", {"release": "anonymize"}),
    ("attack", {"twin": False, "targets": 50}),
    ("report", {"for": "ema", "public": True}),
    ("desk-open", {"epsilon": "1", "confirm_types": True, "types": {"age": "integer"}}),
    ("desk-query", {"kind": "count", "epsilon": "0.1", "where": "age >= 33", "by": ["sex"], "keys": [["f", "m"]]}),
    ("desk-query", {"kind": "mean", "column": "age", "epsilon": "0.1", "bounds": "0,100", "preview": True}),
    ("desk-show", {}),
]


@pytest.mark.parametrize("medium", ["command", "python"])
def test_every_step_runs_as_printed(workspace: Workspace, medium: str) -> None:
    workspace.set_policy(POLICY)
    Path("policy.yaml").write_bytes(workspace.policy_path.read_bytes())
    make_signing_key("owner.pem")
    for verb, options in STEPS:
        step = reproduce_step(workspace, verb, options)
        assert step is not None
        said = run_command(step.command) if medium == "command" else run_python(step.python)
        assert said or verb == "report", verb
    made = {"release", "release.private", "safe.csv", "hierarchy.csv", "desk", "report.html"}
    assert made <= {path.name for path in Path().iterdir()}


ROLES = {"age": "quasi-identifier", "zip": "quasi-identifier", "sex": "other", "illness": "other", "income": "other"}
ROLES |= {"hours": "other"}
FILES: list[tuple[str, dict[str, Any]]] = [
    ("anonymize", {"k": 3, "qi": ["age", "zip"], "method": "lattice", "decide": ROLES}),
    (
        "perturb",
        {"noise": {"age": 0.1}, "pram": {"sex": "0.9"}, "shuffle": {"income": ["hours"]}, "seed": 2, "decide": ROLES},
    ),
    (
        "perturb",
        {
            "correlated_noise": [{"columns": ["income", "hours"], "share": 0.2}],
            "file_format": "parquet",
            "decide": ROLES,
        },
    ),
    ("safe-harbor", {"year_of_data": 2012, "excel_safe": True}),
    ("safe-harbor", {"year_of_data": 2012, "propose": True}),
    ("pseudonymize", {"column": "zip", "key_file": "key.bin", "format": "short"}),
    ("apply", {"release": "anonymize", "keep_order": True}),
    ("compare", {"releases": [{"release": "anonymize"}, {"release": "apply"}]}),
    ("cells", {"by": ["income", "hours"], "count": "age", "least": 2}),
    ("verify", {"release": "apply"}),
]


@pytest.mark.parametrize("medium", ["command", "python"])
def test_every_file_is_released_as_printed(workspace: Workspace, people: Path, medium: str) -> None:
    row = pl.int_range(pl.len())
    more = pl.read_csv(people, infer_schema=False).with_columns(income=row * 7 % 191 + 20, hours=row * 3 % 17 + 20)
    more.write_csv(people)
    for verb, options in FILES:
        for file in Path().glob("perturbed.*") if verb == "perturb" else ():
            file.unlink()  # of the run before
        step = reproduce_step(workspace, verb, options)
        assert step is not None
        assert run_command(step.command) if medium == "command" else run_python(step.python), verb
    files = {"perturbed.parquet", "safe-harbor.csv", "pseudonymized.csv", "applied.csv", "key.bin"}
    assert files | {"proposed.yaml"} <= {path.name for path in Path().iterdir()}


MORE: list[tuple[str, dict[str, Any]]] = [
    ("scrub", {"text": ["note"], "known": ["name"], "person": "who", "replace": "mask", "spans_out": True}),
    ("k-safety", {"entities": "terms.csv", "k": 2, "text": "note", "method": "exact"}),
    ("regenerate", {"distribution": "race.csv", "seed": 1}),
    ("attack-link", {"identified": "voters.csv", "on": ["age"], "release": "scrub"}),
    ("attack-intersect", {"second_file": "again.csv", "person": "who", "qi": ["age"], "sensitive": ["race"]}),
    ("attack-unicity", {"person": "who", "columns": ["age", "race"], "points": [1, 2], "coarsen": {"age": ["5"]}}),
    ("attack-scoreboard", {"person": "who", "item": "age", "known": 1, "wrong": 0, "targets": 5}),
    ("attack-reconstruct", {"answer": "answer"}),
    ("attack-membership", {"candidates": "in.csv", "reference": "out.csv", "marker": "marker"}),
]


@pytest.mark.parametrize("medium", ["command", "python"])
def test_texts_and_single_attacks_run_as_printed(workspace: Workspace, people: Path, medium: str) -> None:
    table = "who,name,age,race,note\na,Ann Quill,30,*,Quill has a fever\nb,Bo Roe,40,2,Roe has a rash\n"
    people.write_text(table)
    Path("again.csv").write_text(table)
    Path("terms.csv").write_text("entity,term\nflu,fever\nmeasles,fever\nrubella,rash\nmeasles,rash\n")
    Path("race.csv").write_text("race,n\n4,1\n")
    Path("voters.csv").write_text("voter,age\nann,30\n")
    Path("in.csv").write_text("m1,m2\n2,0\n1,1\n")
    Path("out.csv").write_text("m1,m2\n0,0\n1,2\n")
    for verb, options in MORE:
        if verb == "attack-reconstruct":
            people.write_text("answer,ann,bo\n1,1,1\n0,1,0\n")
        if verb == "attack-membership":
            people.write_text("marker,frequency\nm1,0.5\nm2,0.25\n")
        step = reproduce_step(workspace, verb, options)
        assert step is not None
        assert run_command(step.command) if medium == "command" else run_python(step.python), verb
    assert {"scrubbed.csv", "spans.csv", "documents.csv", "filled.csv"} <= {path.name for path in Path().iterdir()}


@pytest.mark.parametrize("medium", ["command", "python"])
def test_dates_are_shifted_as_printed(own_temporary_folder: Path, tmp_path: Path, medium: str) -> None:
    path = tmp_path / "visits.csv"
    pl.DataFrame({"person": ["a", "a", "b"], "day": ["2012-01-31", "2012-02-03", "2013-05-01"]}).write_csv(path)
    project = Project.open(None)
    workspace = project.new(path.name, "machine", path)
    asked = {"person": "person", "key_file": str(tmp_path / "key.bin"), "range": 30, "date_order": "ymd"}
    step = reproduce_step(workspace, "shift-dates", asked)
    assert step is not None
    with contextlib.chdir(tmp_path):
        run_command(step.command) if medium == "command" else run_python(step.python)
    days = pl.read_csv(tmp_path / "shifted.csv", try_parse_dates=True)["day"]
    assert (days[1] - days[0]).days == 3
    assert str(days[0]) != "2012-01-31"
    project.close()


def test_names_of_files_and_columns_are_quoted(own_temporary_folder: Path, tmp_path: Path) -> None:
    odd = ["a,b", 'say "x"', "$(touch hacked)", "d'e", "f;g\nh"]
    path = tmp_path / "$(touch hacked) 'x'.csv"
    pl.DataFrame({name: [1, 2, 2] for name in odd}).write_csv(path)
    project = Project.open(None)
    workspace = project.new(path.name, "machine", path)
    step = reproduce_step(workspace, "risk", {"qi": odd})
    assert step is not None
    assert names_of([in_one([*odd, " c "])]) == [*odd, " c "]
    assert json.loads(run_command(step.command + " --json"))["quasi_identifiers"] == odd
    run_python(step.python)
    assert os.system(step.command.replace("shoal ", "true ", 1)) == 0
    assert not (Path.cwd() / "hacked").exists()
    project.close()


def test_reading_options_are_said(workspace: Workspace) -> None:
    told = workspace.with_reading(FileReading("utf-8", ",", ("NA", "a b")))
    step = reproduce_step(told, "risk", {"qi": ["age"]})
    assert step is not None
    assert "--encoding utf-8 --delimiter , --missing 'NA,a b'" in step.command
    assert run_command(step.command)
    assert run_python(step.python)


def test_a_code_book_is_named_where_it_is_taken(workspace: Workspace) -> None:
    Path("book.csv").write_text("name,label,values\nsex,Sex,m=male;f=female\n")
    told = workspace.with_reading(FileReading(codebook="book.csv"))
    step, risk = reproduce_step(told, "profile"), reproduce_step(told, "risk", {"qi": ["age"]})
    assert step is not None
    assert risk is not None
    assert "--codebook book.csv" in step.command
    assert "--codebook" not in risk.command
    for one in (step, risk):
        assert run_command(one.command)
        assert run_python(one.python)


def test_a_file_that_was_uploaded_goes_by_its_name(workspace: Workspace, people: Path, tmp_path: Path) -> None:
    project = Project.open(tmp_path / "other")
    uploaded = project.new("-my people.csv", "upload")
    Path("-my people.csv").write_bytes(people.read_bytes())
    steps = [reproduce_step(uploaded, "profile"), reproduce_step(uploaded, "risk", {"qi": ["age"]})]
    for step in steps:
        assert step is not None
        assert run_command(step.command)
        assert run_python(step.python)
    assert script(step for step in steps if step).count("./-my people.csv") == 2
    project.close()


def test_what_cannot_be_typed_says_so(workspace: Workspace) -> None:
    step = reproduce_step(workspace, "publish", {"decide": {"a=b": "other"}})
    assert step is not None
    assert step.command.startswith("#")
    assert "{'a=b': 'other'}" in step.python
