"""Inputs that are nearly right are read or refused: no other error, no end of the process, no value in a message."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
# 20,000 in all, more where more can go wrong
INPUTS = {
    "csv": 3700, "json lines": 3000, "parquet": 3000, "arrow": 2500, "gzip": 1000, "zstd": 1500, "policy": 1500,
    "hierarchy": 1000, "hierarchy in YAML": 500, "plan": 1000, "manifest": 300, "desk": 500, "condition": 500,
}  # fmt: skip
MOST_KILOBYTES = 1 << 20


def fuzz(name: str, inputs: int, seed: int) -> dict[str, Any]:
    command = [sys.executable, str(HERE / "worker.py"), name, str(inputs), str(seed)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{name} ended with {done.returncode}: {done.stderr[-500:]}"
    return dict(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize("name", INPUTS)
def test_nearly_right_inputs_are_read_or_refused(name: str) -> None:
    found = fuzz(name, INPUTS[name], seed=0)
    assert found["wrong"] == []
    assert found["kilobytes"] < MOST_KILOBYTES
    assert found["refused"] < found["inputs"], "every input was refused: the examples are wrong"


@pytest.fixture(scope="module")
def by_command() -> dict[str, Any]:
    command = [sys.executable, str(HERE / "commands.py"), "300", "0"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"ended with {done.returncode}: {done.stderr[-500:]}"
    return dict(json.loads(done.stdout.splitlines()[-1]))


def test_commands_end_with_one_of_their_exit_codes_and_without_a_traceback(by_command: dict[str, Any]) -> None:
    assert by_command["wrong"] == []
    assert sum(by_command["codes"].values()) == 300
    assert set(by_command["codes"]) <= {"0", "1", "2", "3"}


@pytest.mark.parametrize("name", ["csv", "json lines", "parquet", "arrow", "gzip", "zstd", "policy"])
def test_commands_in_processes_of_their_own(name: str, tmp_path: Path) -> None:
    sys.path.insert(0, str(HERE.parent))
    from fuzz.targets import TARGETS, people

    target, draw = TARGETS[name], random.Random(name)
    people().write_csv(tmp_path / "people.csv")
    (tmp_path / target.file).write_bytes(target.change(target.examples()[0], draw))
    verb, *options = target.command
    given = [verb, str(tmp_path / target.file), *options]
    if "PEOPLE" in options:
        given = ["risk", str(tmp_path / "people.csv"), "--policy", str(tmp_path / target.file)]
    done = subprocess.run([sys.executable, "-m", "shoal", *given], capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1, 2)
    assert "Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", INPUTS)
@pytest.mark.parametrize("seed", range(1, 6))
def test_many_more(name: str, seed: int) -> None:
    assert fuzz(name, 20_000, seed)["wrong"] == []
