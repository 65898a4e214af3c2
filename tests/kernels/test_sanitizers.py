"""Every kernel under the address and undefined-behaviour sanitizers of the C compiler."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LANES = str(ROOT / "tests" / "kernels" / "test_lanes.py")
SANITIZERS = "-fsanitize=address,undefined -fno-sanitize-recover=all"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux" or not shutil.which("gcc"), reason="the sanitizers are those of gcc"),
]


def library(name: str) -> str:
    """Where gcc keeps a library of its own."""
    return subprocess.run(
        ["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True
    ).stdout.strip()


def test_no_sanitizer_stops_a_kernel(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    shutil.copy(ROOT / "hatch_build.py", tmp_path)
    flags = {"CC": "gcc", "CFLAGS": SANITIZERS, "LDFLAGS": SANITIZERS}
    built = subprocess.run(
        [sys.executable, "hatch_build.py"], cwd=tmp_path, env={**os.environ, **flags}, capture_output=True, check=False
    )
    assert built.returncode == 0, built.stderr[-2000:]
    environment = {
        **os.environ,
        "LD_PRELOAD": f"{library('libasan.so')} {library('libubsan.so')}",
        "ASAN_OPTIONS": "detect_leaks=0",  # Python frees nothing at its end
        "PYTHONMALLOC": "malloc",
        "PYTHONPATH": f"{tmp_path / 'src'}:{ROOT / 'tests'}",
        "SHOAL_THREADS": "1",
    }
    # arrays as numpy makes them, with memory around them that nobody may touch; then both kinds of code for lanes
    jobs = ["-c", "from kernels.jobs import run; run(13)"]
    lanes = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, "--import-mode=importlib", LANES]
    for command in (jobs, lanes):
        done = subprocess.run(
            [sys.executable, *command], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
