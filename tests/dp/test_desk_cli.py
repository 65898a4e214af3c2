"""`shoal desk` as a user meets it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from shoal.dp import Desk, open_desk


def shoal(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1"}
    command = [sys.executable, "-m", "shoal", *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env=environment, stdin=subprocess.DEVNULL
    )


def as_json(*arguments: str | Path) -> Any:
    done = shoal(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def folder(tmp_path: Path, visits: pl.DataFrame) -> Path:
    visits.write_parquet(tmp_path / "visits.parquet")
    open_desk(tmp_path / "visits.parquet", folder=tmp_path / "desk", types="proposed", epsilon="2", delta="1e-4")
    return tmp_path / "desk"


def test_open_ask_show(tmp_path: Path, visits: pl.DataFrame) -> None:
    visits.write_csv(tmp_path / "visits.csv")
    desk = tmp_path / "desk"
    opened = as_json("desk", "open", tmp_path / "visits.csv", "--confirm-types",
                     "--epsilon", "2", "--delta", "1e-7", "--person", "who",
                     "--max-rows-per-person", "5", "-o", desk)  # fmt: skip
    assert opened["kept_rows"] == opened["persons"] == 2000
    found = as_json("desk", "query", desk, "count", "--where", "age >= 65", "--epsilon", "0.1")
    assert set(found) >= {"answer", "epsilon", "delta", "error_95", "remaining", "repeated"}
    assert isinstance(found["answer"], int)
    assert (found["epsilon"], found["delta"], found["error_95"]) == (0.1, 0, 150)
    assert found["remaining"] == {"epsilon": 1.9, "delta": 1e-7}
    assert found["repeated"] is False
    assert as_json("desk", "query", desk, "count", "--where", "age>=65", "--epsilon", "0.10")["repeated"] is True
    budget = as_json("desk", "show", desk)
    assert set(budget) >= {"epsilon", "delta", "spent", "remaining", "queries"}
    assert (budget["epsilon"], budget["delta"], budget["queries"]) == (2, 1e-7, 1)
    assert budget["spent"] == {"epsilon": 0.1, "delta": 0}


def test_groups_as_json(folder: Path) -> None:
    found = as_json(
        "desk", "query", folder, "mean", "charge", "--bounds", "0,500000", "--by", "sex", "--epsilon", "0.3"
    )
    assert [entry["key"] for entry in found["answer"]] == ["f", "m"]
    assert all(set(entry) == {"key", "answer", "error_95"} for entry in found["answer"])
    assert found["delta"] == 1e-5
    found = as_json(
        "desk", "query", folder, "count", "--by", "sex,ward", "--keys", "f,m", "--keys", "a,b", "--epsilon", "0.3"
    )
    assert [entry["key"] for entry in found["answer"]] == [["f", "a"], ["f", "b"], ["m", "a"], ["m", "b"]]


def test_a_preview_comes_before_the_price(folder: Path) -> None:
    found = as_json("desk", "query", folder, "--preview", "sum", "age", "--bounds", "-5,100", "--epsilon", "0.5")
    assert found["preview"] is True
    assert found["answer"] is None
    assert found["error_95"] == 599
    assert as_json("desk", "show", folder)["queries"] == 0
    assert "nothing was spent" in shoal("desk", "query", folder, "count", "--preview", "--epsilon", "0.5").stdout


def test_a_refusal_exits_with_3(folder: Path) -> None:
    done = shoal("desk", "query", folder, "count", "--epsilon", "2.5")
    assert done.returncode == 3
    assert "epsilon 2.5 requested, 2 remaining, 0.5 short" in done.stderr
    assert done.stdout == ""
    done = shoal("desk", "query", folder, "count", "--epsilon", "2.5", "--json")
    assert done.returncode == 3
    found = json.loads(done.stdout)
    assert found["difference"] == {"epsilon": 0.5, "delta": 0}
    assert (found["requested"]["epsilon"], found["remaining"]["epsilon"]) == (2.5, 2)


@pytest.mark.parametrize(
    "arguments",
    [
        ("count", "--epsilon", "0"),
        ("count", "--epsilon", "inf"),
        ("count",),
        ("sum", "age", "--epsilon", "0.1"),
        ("mean", "salary", "--bounds", "0,1", "--epsilon", "0.1"),
        ("count", "--where", "age + 1 > 2", "--epsilon", "0.1"),
    ],
)
def test_bad_input_exits_with_2_and_costs_nothing(folder: Path, arguments: tuple[str, ...]) -> None:
    done = shoal("desk", "query", folder, *arguments)
    assert done.returncode == 2
    assert done.stderr
    with Desk(folder) as desk:
        assert desk.budget().queries == 0


def test_people_get_the_answer_and_what_it_means(folder: Path) -> None:
    shown = shoal("desk", "query", folder, "count", "--where", "age >= 65", "--epsilon", "0.5").stdout
    assert "count:" in shown
    assert "± 6" in shown
    assert "The true value is within ±6 with 95% confidence." in shown
    assert "Each row is taken as one person" in shown
    assert "left: epsilon 1.5" in shown
    shown = shoal("desk", "query", folder, "histogram", "age", "--bins", "0,18,65,120", "--epsilon", "0.5").stdout
    assert "[18;65)" in shown
    shown = shoal("desk", "query", folder, "median", "age", "--bounds", "0,120", "--epsilon", "0.5").stdout
    assert "rows lie between the answer and the true quantile" in shown
    shown = shoal("desk", "show", folder).stdout
    assert "3 answers given; epsilon 1.5 spent, 0.5 left." in shown
    assert "count where age >= 65" in shown


def test_help_teaches() -> None:
    shown = shoal("desk", "query", "--help").stdout
    assert "Examples" in shown
    assert "Exit code 3" in shown
    assert "--max-rows-per-person" in shoal("desk", "open", "--help").stdout


def test_asking_for_help_loads_no_opendp() -> None:
    code = (
        "import sys\nfrom shoal.cli import main\nsys.argv = ['shoal', 'desk', 'query', '--help']\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print(sorted({'polars', 'numpy', 'opendp', 'sqlite3'} & set(sys.modules)))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip().splitlines()[-1] == "[]"


def test_a_query_does_not_load_scikit_learn(folder: Path) -> None:
    code = (
        "import sys\nfrom shoal.dp import Desk\n"
        f"Desk({str(folder)!r}).query('count', epsilon='0.1')\nprint('sklearn' in sys.modules)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "False"


def test_types_are_proposed_and_then_declared(tmp_path: Path) -> None:
    """The case of the attack, as commands."""
    (tmp_path / "ty.csv").write_text("age,sex\n30,f\n31,m\nn/s,f\n")
    desk = tmp_path / "desk"
    done = shoal("desk", "open", tmp_path / "ty.csv", "--epsilon", "1", "-o", desk)
    assert done.returncode == 2
    assert "--types 'age=text,sex=text'" in done.stderr
    assert "--confirm-types" in done.stderr
    assert "n/s" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["ty.csv"]
    done = shoal("desk", "open", tmp_path / "ty.csv", "--epsilon", "1", "--types", "age=integer,sex=text", "-o", desk)
    assert done.returncode == 0, done.stderr
    assert "age: 1 value did not fit the type integer" in done.stdout
    assert "shoal desk query" in done.stdout
    assert "n/s" not in done.stdout
    assert as_json("desk", "query", desk, "mean", "age", "--bounds", "0,100", "--epsilon", "0.1")["answer"] is not None


def test_key_and_witness_on_the_command_line(tmp_path: Path, visits: pl.DataFrame) -> None:
    visits.write_parquet(tmp_path / "visits.parquet")
    kept = ("--ledger-key", tmp_path / "keys" / "k", "--witness", tmp_path / "keys" / "w")
    (tmp_path / "keys").mkdir()
    desk = tmp_path / "desk"
    found = as_json("desk", "open", tmp_path / "visits.parquet", "--confirm-types", "--epsilon", "1", "-o", desk, *kept)
    assert (found["ledger_key"], found["witness"]) == (str(kept[1]), str(kept[3]))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["desk", "keys", "visits.parquet"]
    for missing in ((), kept[:2], kept[2:]):
        done = shoal("desk", "query", desk, "count", "--epsilon", "0.1", *missing)
        assert done.returncode == 2
        assert "witness" in done.stderr or "key file" in done.stderr
    assert as_json("desk", "query", desk, "count", "--epsilon", "0.1", *kept)["entry"] == 1
    assert "agrees with the witness" in shoal("desk", "show", desk, *kept).stdout
    state = as_json("desk", "show", desk, *kept)
    assert (state["queries"], state["witness"], state["history"][0]["loss"]) == (1, True, "0.1")


@pytest.mark.parametrize("old", [("budget", "open"), ("budget", "show"), ("query",)])
def test_the_old_names_are_gone(old: tuple[str, ...]) -> None:
    assert shoal(*old, "--help").returncode == 2


def test_every_result_keeps_its_schema(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import shoal as library
    from shoal.dp import BudgetRefused, Opened
    from shoal.results.registry import schema_of

    monkeypatch.setattr("shoal.dp.answers.ALPHA", 1e-12)  # else noise alone passes for bounds in one of forty runs
    opened = open_desk({"age": [1, 2]}, folder=folder.with_name("other"), epsilon="1", types="proposed")
    with Desk(folder) as desk:
        with pytest.raises(library.BudgetRefused) as refused:
            desk.query("count", epsilon="9")
        assert isinstance(refused.value, BudgetRefused)
        results = [
            opened,
            desk.preview("mean", "charge", bounds="0,1e6", epsilon="0.1"),
            desk.query("count", by="sex", keys=["f", "m"], epsilon="0.1"),
            desk.query("bounds", "charge", where="age > 1000", epsilon="0.1"),
            desk.budget(),
            desk.refusal(refused.value),
        ]
    for result in results:
        found, schema = result.to_dict(), schema_of(type(result))
        assert set(found) == set(schema["properties"])
        assert json.loads(json.dumps(found)) == found
        assert result.summary()
        assert result._repr_html_().startswith("<style>")
        assert len(repr(result)) < 200
    assert isinstance(results[0], Opened)
    assert "no answer" in results[3].summary()


def test_a_desk_under_zcdp_shows_rho(tmp_path: Path) -> None:
    open_desk({"age": [1, 2]}, folder=tmp_path / "desk", epsilon="1", delta="1e-6", accounting="zcdp", types="proposed")
    shown = shoal("desk", "show", tmp_path / "desk").stdout
    assert "0 answers given; rho 0 spent" in shown
    assert "largest single query that fits" in shown
