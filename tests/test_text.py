"""What people see of every measuring verb, 80 columns wide, on tables of every make."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.cli import main
from shoal.models import MODELS

TABLES = {
    "plain": "who,age,sex,town\n1,30,M,Oslo\n2,30,M,Oslo\n3,41,F,Rome\n4,41,F,Rome\n5,52,F,Bonn\n",
    "generalised": (
        "who,age,sex,town\n1,[30;39],M,Oslo\n2,[30;49],M,Oslo\n3,[30;49],F,Rome\n4,[30;49],F,Rome\n5,50,F,Bonn\n"
    ),
    "suppressed": "who,age,sex,town\n1,30,M,Oslo\n2,30,M,*\n3,*,F,Rome\n4,41,F,Rome\n5,*,*,*\n",
    "all suppressed": "who,age,sex,town\n1,*,*,*\n2,*,*,*\n",
    "persons": "who,age,sex,town\n1,30,M,Oslo\n1,31,M,Oslo\n2,30,M,Oslo\n2,31,M,Oslo\n3,41,F,Rome\n",
    "one record": "who,age,sex,town\n1,30,M,Oslo\n",
    "missing": "who,age,sex,town\n1,,M,Oslo\n2,30,,\n3,,,\n4,41,F,Rome\n",
}
QI = ["--qi", "age,sex,town"]
VERBS: dict[str, list[str]] = {
    "profile": [],
    "detect": [],
    "detect drop": ["--null-rule", "drop", "--columns", "who,age"],
    "detect sample": ["--sample", "2", "--columns", "age,sex,town"],
    "risk": QI,
    "risk knowledge": ["--knowledge", "census=age,sex", "--knowledge", "place=town", "--threshold", "ema"],
    "risk person": [*QI, "--person", "who"],
    "risk wildcard": [*QI, "--null-rule", "wildcard"],
    "risk raw": [*QI, "--generalized", "no"],
    "leak": [*QI, "--leaked", "1", "--threshold", "0.5"],
    "leak person": [*QI, "--person", "who", "--leaked", "1", "--targets", "1,2"],
    "leak simulated": [*QI, "--leaked", "50%", "--simulate", "20", "--seed", "1"],
}
# what has no answer says so: (table, verb) -> words of the error
REFUSED: dict[tuple[str, str], str] = {
    ("all suppressed", "leak"): "there is no class to measure",
    ("all suppressed", "leak person"): "there is no class to measure",
    ("all suppressed", "leak simulated"): "there is no class to measure",
}


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str


Run = Callable[..., Done]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """A command in this process, on a terminal of 80 columns."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("shoal.cli.render.out.width", 80)

    def run(*arguments: str) -> Done:
        monkeypatch.setattr(sys, "argv", ["shoal", *arguments])
        code: Any = 0
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
        shown = capsys.readouterr()
        return Done(code, shown.out, shown.err)

    return run


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("table", TABLES)
def test_text_of_every_verb_on_every_table(table: str, verb: str, run: Run) -> None:
    Path("people.csv").write_text(TABLES[table])
    done = run(verb.split()[0], "people.csv", *VERBS[verb])
    assert done.code in (0, 2), done.err
    if done.code == 2:
        assert REFUSED[table, verb] in done.err
        assert done.out == ""
        return
    assert (table, verb) not in REFUSED
    assert done.err == ""
    assert all(len(line) <= 80 for line in done.out.splitlines())
    assert "…" not in done.out
    sentence = " ".join(done.out.split("\n\n")[0].split())
    assert re.match(r"[A-Z0-9].*", sentence)
    assert not re.search(r"\b1 (records|persons|rows|columns|uniques|answers|sets)\b", done.out)
    assert "nan" not in done.out.lower()
    assert not re.search(r"(?<!e)-0\b", done.out)


@pytest.mark.parametrize("verb", ["profile", "detect", "risk", "leak"])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_an_empty_table_is_one_clear_error(verb: str, ending: str, run: Run) -> None:
    empty = pl.DataFrame(schema={"age": pl.Int64, "sex": pl.String, "town": pl.String})
    empty.write_csv("people.csv") if ending == "csv" else empty.write_parquet("people.parquet")
    done = run(verb, f"people.{ending}", *VERBS[verb])
    assert (done.code, done.out) == (2, "")
    assert done.err == f"error: people.{ending} has no rows.\nNothing can be measured on an empty table.\n"


SIMPLE_MODELS = {
    "k-anonymity": "k: 2",
    "k-map": "k: 3, population_size: 50",
    "highest-risk": "threshold: 0.2",
    "average-risk": "threshold: 0.5",
}


@pytest.mark.parametrize("table", ["plain", "generalised", "suppressed", "all suppressed", "persons"])
@pytest.mark.parametrize("model", SIMPLE_MODELS)
def test_risk_judges_every_model_that_looks_at_class_sizes(model: str, table: str, run: Run) -> None:
    Path("people.csv").write_text(TABLES[table])
    Path("policy.yaml").write_text(f"models: [{{model: {model}, {SIMPLE_MODELS[model]}}}]\n")
    person = ["--person", "who"] if table == "persons" else []
    done = run("risk", "people.csv", *QI, *person, "--policy", "policy.yaml")
    assert (done.code, done.err) == (0, "")
    assert model in done.out
    assert "hold" in done.out


def test_the_models_are_those_that_risk_can_judge() -> None:
    """A model that looks at class sizes only is in the test above."""
    known = {cls.model_fields["model"].default: cls for cls in MODELS}
    assert set(SIMPLE_MODELS) <= set(known)
    needy = {"sensitive", "population", "y"}
    simple = {name: cls for name, cls in known.items() if not cls.of_sets and name != "k-matching"}
    alone = {name for name, cls in simple.items() if not needy & set(cls.model_fields)}
    assert alone | {"k-map"} == set(SIMPLE_MODELS)


def test_one_screen_does_not_count_uniques_twice_without_saying_so(run: Run) -> None:
    """Three records are alone in their class; one of them fits into another's range, so two are unique by Eq 1."""
    Path("people.csv").write_text(TABLES["generalised"])
    found = shoal.risk("people.csv", quasi_identifiers=["age", "sex", "town"])
    assert (found.uniques, found.alone, found.readings["strict"].uniques) == (2, 3, 3)
    text = " ".join(run("risk", "people.csv", *QI).out.split())
    assert "40.0% of the 5 records (2) are the only one" in text
    assert "In the strict reading, where only equal values are alike, 3 are." in text
    assert "uniques (fit no other record's ranges) 2" in text
    assert "Strict reading" in text
    assert "1 (unique)" not in text
    plain = run("risk", "people.csv", *QI, "--generalized", "no").out
    assert "1 (unique)" in plain
    assert "strict" not in plain.lower()


def test_a_column_that_others_determine_is_not_called_constant(run: Run) -> None:
    Path("people.csv").write_text("age,sex,land\n30,M,x\n30,M,x\n41,F,x\n52,F,x\n")
    text = run("detect", "people.csv").out
    assert "land has one value only" in text
    assert "sex has one value only" not in text
    assert "sex follows from age" in text


def test_releases_are_compared_on_80_columns(run: Run) -> None:
    """Whole numbers and whole names, however many releases there are and however long their names."""
    Path("people.csv").write_text(TABLES["plain"])
    outputs = []
    for number in range(6):
        output = f"a_release_with_quite_a_long_name_{number}.csv"
        released = shoal.anonymize("people.csv", quasi_identifiers=["age", "sex", "town"], k=2, method="mondrian")
        shoal.release(released, output)
        outputs.append(output)
        done = run("compare", *outputs)
        assert (done.code, done.err) == (0, "")
        assert all(len(line) <= 80 for line in done.out.splitlines())
        words = "".join(done.out.split())
        for row in shoal.compare(outputs).releases:
            assert f"{row.loss:.4f}" in words
            assert f"{row.seconds:.2f}" in words
        assert "…" not in words
        assert done.out.count("mondrian") == len(outputs)
