"""`shoal risk` on samples: the same figures as the library, and errors that name the options."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import shoal


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "shoal", "risk", *arguments], capture_output=True, text=True)


@pytest.fixture
def survey(tmp_path: Path) -> str:
    path = tmp_path / "survey.csv"
    ages = [30, 30, 30, 41, 41, 52, 63, 64, 64, 64]
    pl.DataFrame(
        {"age": ages, "sex": list("ffmmfmfmmf"), "w": [4.0] * 10, "hid": [1, 1, 2, 2, 3, 4, 4, 5, 6, 7]}
    ).write_csv(path)
    return str(path)


def test_the_command_gives_what_the_library_gives(survey: str) -> None:
    found = shoal.risk(
        survey,
        quasi_identifiers=["age", "sex"],
        weight="w",
        household="hid",
        estimate="all",
        suda_size=1,
        global_limit="5%",
        approximate=True,
    ).to_dict()
    options = ["--weight", "w", "--household", "hid", "--estimate", "all", "--suda-size", "1", "--global-limit", "5%"]
    done = run(survey, "--qi", "age,sex", *options, "--approximate", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == json.loads(json.dumps(found))
    assert {"population", "chosen", "individual", "suda"} <= found.keys()
    assert found["suda"]["size"] == 1
    shown = run(survey, "--qi", "age,sex", *options)
    assert "expected re-identifications" in shown.stdout
    assert "Special uniques of up to 1 column" in shown.stdout


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (["--sampling", "105%"], "--sampling"),
        (["--population-size", "3"], "--population-size"),
        (["--estimate", "copula", "--sampling", "5%"], "--estimate"),
        (["--estimate", "all"], "--population-size"),
        (["--household", "hid"], "--weight"),
        (["--weight", "nothing"], "nothing"),
    ],
)
def test_errors_name_the_option(survey: str, options: list[str], word: str) -> None:
    done = run(survey, "--qi", "age,sex", *options)
    assert done.returncode == 2
    assert word in done.stderr
    assert not done.stdout
