"""The workflows of the hosted checks: valid by their schema, and what they run is there. Here they are not run."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_follows_its_schema(path: Path) -> None:
    pytest.importorskip("check_jsonschema")
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_three_systems_and_every_python_are_checked() -> None:
    matrix = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())["jobs"]["systems"]["strategy"]["matrix"]
    assert {os.split("-")[0] for os in matrix["os"]} == {"ubuntu", "macos", "windows"}
    assert matrix["python"][0] == "3.11"
    assert "3.13" in matrix["python"]


def test_wheels_of_five_systems_are_built_and_tried() -> None:
    jobs = yaml.safe_load((ROOT / ".github/workflows/wheels.yml").read_text())["jobs"]
    assert len(jobs["wheel"]["strategy"]["matrix"]["include"]) == 5
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["cibuildwheel"]
    tried = " ".join(settings["test-command"])
    assert all(f"shoal {verb}" in tried for verb in ("sample-data", "risk", "anonymize", "verify"))


def test_the_commands_that_a_wheel_is_tried_with_work(tmp_path: Path) -> None:
    for command in tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["cibuildwheel"]["test-command"]:
        done = subprocess.run(
            [sys.executable, "-m", *command.split()], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
