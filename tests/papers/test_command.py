"""`shoal reproduce`: the contract of its JSON, its words, its exit codes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner

import shoal.reproduction
from shoal.cli import app
from shoal.reproduction import Reproduction


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "COLUMNS": "120", "NO_COLOR": "1"}
    command = [sys.executable, "-m", "shoal", "reproduce", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


def as_json(*arguments: str | Path) -> Any:
    done = run(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return json.loads(done.stdout)


def test_sanchez_as_json() -> None:
    found = as_json("sanchez", "--rows", "1000", "--seed", "0")
    assert list(found["eq1"]) == ["C", "S", "T", "CS", "CT", "ST", "CST"]
    for method in ("s2", "s4"):
        assert list(found[method]) == ["2", "3", "5", "10"]
        for figures in found[method].values():
            assert set(figures) >= {"classes", "uniques", "information_loss", "attribute_disclosure"}
            assert 0 <= figures["attribute_disclosure"] <= 1
    for mode in ("range", "labels"):
        assert set(found["s3"][mode]) >= {"32", "16", "8"}
        assert set(found["s3"][mode]["32"]) >= {"uniques", "information_loss", "attribute_disclosure"}
        assert set(found["sweep"][mode]) == {"uniques", "information_loss"}
        assert len(found["sweep"][mode]["uniques"]) == 36
        assert "32,16" in found["sweep"][mode]["information_loss"]


def test_pastore_as_json(tmp_path: Path) -> None:
    rows = [(1970, "A", "P", "F", 3), (1970, "A", "P", "M", 1), (1971, "B", "P", "F", 1)]
    table = tmp_path / "licences.csv"
    pl.DataFrame(rows, schema=["born", "town", "county", "gender", "how_many"], orient="row").write_csv(table)
    columns = ["--year", "born", "--municipality", "town", "--province", "county", "--sex", "gender"]
    found = as_json("pastore", "--data", table, *columns, "--count", "how_many", "--no-charts")
    assert len(found["strategies"]) == 15
    assert found["strategies"][0] == {
        "strategy": "original",
        "uniques": 2,
        "uniqueness": 0.4,
        "modified_rows": 0,
        "classes": 3,
        "k": 1,
    }
    assert found["records"] == 5
    refused = run("pastore", "--data", table)
    assert refused.returncode == 2
    assert "has no columns" in refused.stderr
    assert refused.stdout == ""


def test_words_and_files(tmp_path: Path) -> None:
    done = run("pastore", "-o", tmp_path / "out", "--no-charts")
    assert done.returncode == 0, done.stderr
    assert "local against global" in done.stdout
    assert (tmp_path / "out" / "pastore.html").exists()
    again = run("pastore", "-o", tmp_path / "out", "--no-charts")
    assert again.returncode == 2
    assert "force" in again.stderr


def test_all_as_json(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def measured(paper: str, *settings: Any) -> Reproduction:
        asked.append((paper, settings[:2]))
        return Reproduction.of(paper, "title", "source", "text", {"records": 1, "seed": 7}, [])

    monkeypatch.setattr(shoal.reproduction, "_measured", measured)
    done = CliRunner().invoke(app, ["reproduce", "all", "--rows", "200", "--seed", "7", "--json"])
    assert done.exit_code == 0
    assert list(json.loads(done.stdout)) == ["sanchez", "pastore", "antoniou", "course"]
    assert asked == [(paper, (200, 7)) for paper in ("sanchez", "pastore", "antoniou", "course")]


def test_help_shows_examples() -> None:
    assert "shoal reproduce all" in run("--help").stdout
    assert "licences.parquet" in run("pastore", "--help").stdout
