"""`shoal hierarchy build` and `shoal hierarchy check`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from shoal.cli import main

TABLE = "age,zip,job\n17,93701,smith\n18,93702,smith\n44,10001,poet\n90,,monk\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "people.csv").write_text(TABLE)
    return tmp_path


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def shoal(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Done]:
    """Run a command within the folder; in this process, for starting one takes longer than all that it does here."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr("shoal.cli.render.out.width", 100)

    def run(*arguments: str) -> Done:
        monkeypatch.setattr(sys, "argv", ["shoal", "hierarchy", *arguments])
        code: Any = 0
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
        said = capsys.readouterr()
        return Done(code, said.out, said.err)

    return run


def found(done: Done) -> list[dict[str, Any]]:
    assert done.returncode in (0, 1), done.stderr
    hierarchies: list[dict[str, Any]] = json.loads(done.stdout)["hierarchies"]
    return hierarchies


def test_one_column_to_a_file(folder: Path, shoal: Callable[..., Done]) -> None:
    done = shoal("build", "people.csv", "--column", "age", "--width", "5", "-o", "age.csv", "--json")
    assert found(done) == [
        {"column": "age", "source": "intervals of equal width", "leaves": 4, "levels": 3, "nodes": [4, 3, 1],
         "output": "age.csv"}
    ]  # fmt: skip
    assert (folder / "age.csv").read_text().splitlines()[0] == '17;"[15;19]";*'


def test_all_columns_to_a_folder_that_check_accepts(folder: Path, shoal: Callable[..., Done]) -> None:
    done = shoal("build", "people.csv", "-o", "trees")
    assert done.returncode == 0, done.stderr
    assert "3 hierarchies" in done.stdout
    assert sorted(path.name for path in (folder / "trees").iterdir()) == ["age.csv", "job.csv", "zip.csv"]
    checked = found(shoal("check", "trees", "--data", "people.csv", "--json"))
    assert {(one["column"], one["missing"], one["outside"]) for one in checked} == {
        ("age", 0, 0), ("job", 0, 0), ("zip", 0, 0),
    }  # fmt: skip
    again = shoal("build", "people.csv", "-o", "trees")
    assert again.returncode == 2
    assert "--force" in again.stderr
    assert shoal("build", "people.csv", "-o", "trees", "--force", "--json").returncode == 0


def test_values_without_a_leaf_and_labels_that_are_not_true(folder: Path, shoal: Callable[..., Done]) -> None:
    (folder / "my_age.csv").write_text("17;0-16\n18;17-20\n")
    (folder / "town.csv").write_text("Rome;*\n")
    done = shoal("check", "my_age.csv", "town.csv", "--data", "people.csv")
    assert done.returncode == 1
    assert "no such column" in done.stdout
    assert "age: 1 leaf lies outside" in done.stdout
    age, town = found(shoal("check", "my_age.csv", "town.csv", "--data", "people.csv", "--json"))
    assert (age["column"], age["missing"], age["outside"], town["missing"]) == ("age", 2, 1, None)


def test_all_problems_of_all_files_at_once(folder: Path, shoal: Callable[..., Done]) -> None:
    (folder / "trees").mkdir()
    (folder / "trees" / "age.csv").write_text("17;x\n17;y\n")
    (folder / "trees" / "job.yaml").write_text("a: {x: [1]}\nb: {x: [2]}\n")
    done = shoal("check", "trees", "--json")
    assert done.returncode == 2
    assert "age.csv: the leaf of row 2 is given in row 1 already" in done.stderr
    assert "job.yaml: levels 1 and 2 cross" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["build", "people.csv", "--column", "age,job", "-o", "x.csv"], "one file for 2 columns"),
        (["build", "people.csv", "--column", "job", "--kind", "dates", "-o", "x.csv"], "does not hold dates"),
        (["build", "people.csv", "--column", "none", "-o", "x.csv"], "no column"),
        (["build", "people.csv", "--kind", "odd", "-o", "x"], "not known"),
        (["build", "people.csv", "-o", "there/is/none"], "not a folder"),
        (["build", "people.csv", "--column", "age", "-o", "people.csv", "--force"], "at once"),
        (["check", "none.csv"], "no hierarchy"),
        (["check", "."], "problem"),
    ],
)
def test_bad_input_is_one_error_and_nothing_is_written(
    folder: Path, shoal: Callable[..., Done], arguments: list[str], message: str
) -> None:
    done = shoal(*arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert [path.name for path in folder.iterdir()] == ["people.csv"]
