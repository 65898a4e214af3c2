"""Every kernel as machine code and as Python: the same results to the last bit, nothing read or written outside."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from kernels.uncompiled import FOLDER, names, uncompiled

TESTS = Path(__file__).parents[1]


def compared(seed: int, *file: str) -> dict[str, int]:
    """How often each kernel was compared; what was compared is kept in a file, if one is named."""
    environment = {**os.environ, "SHOAL_THREADS": "1", "PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path])}
    command = [sys.executable, "-m", "kernels.both_ways", str(seed), *file]
    done = subprocess.run(command, cwd=TESTS, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return dict(json.loads(done.stdout))


@pytest.mark.skipif(sys.platform != "linux", reason="guarded pages are made by mprotect of Linux' C library")
@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (2, 3, 5, 8))])
def test_machine_code_agrees_with_its_python(seed: int) -> None:
    times = compared(seed)
    assert {name.split(".")[0] for name in times} == set(names())
    assert not [name for name, count in times.items() if not count], "never compared"


def test_the_kernels_are_compiled() -> None:
    for name in names():
        module = __import__(f"shoal.kernels.{name}", fromlist=["x"])
        assert Path(module.__file__).suffix in (".so", ".pyd"), f"{name} runs as Python: build it with make setup"
        assert Path(module.__file__).parent == FOLDER


def test_arrays_of_another_type_are_refused_not_misread() -> None:
    from shoal.kernels.rows import siphash_words

    for wrong in (
        np.zeros(3, np.uint32),
        np.zeros(3, np.int64),
        np.zeros(6, np.uint64)[::2],
        np.zeros((1, 3), np.uint64),
    ):
        with pytest.raises((ValueError, TypeError)):
            siphash_words(1, 2, wrong)


def test_python_and_machine_code_are_of_one_source() -> None:
    assert (
        uncompiled("rows").siphash_words.__doc__
        == __import__("shoal.kernels.rows", fromlist=["x"]).siphash_words.__doc__
    )
