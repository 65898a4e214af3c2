"""Inputs that are nearly right are read or refused: no other error, no end of the process, no value in a message."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
# 20,000 in all, more where more can go wrong
INPUTS = {
    "csv": 4000, "json lines": 3000, "parquet": 3000, "arrow": 2500, "gzip": 1000, "zstd": 1500, "policy": 1500,
    "hierarchy": 1000, "hierarchy in YAML": 500, "plan": 1000, "desk": 500, "condition": 500,
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


@pytest.mark.slow
@pytest.mark.parametrize("name", INPUTS)
@pytest.mark.parametrize("seed", range(1, 6))
def test_many_more(name: str, seed: int) -> None:
    assert fuzz(name, 20_000, seed)["wrong"] == []
