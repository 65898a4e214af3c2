"""Processes of this Python that behave as on another system."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
SOURCES = HERE.parents[1] / "src"
SYSTEMS = ["darwin", "win32"]


def environment(system: str, temporary: Path) -> dict[str, str]:
    """What a process finds that is to be another system (`here`: this one), with a terminal that knows few signs."""
    if system != "here" and sys.platform != "linux":
        pytest.skip("other systems are simulated on Linux")
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "NO_COLOR", "FORCE_COLOR")}
    kept |= {name: str(temporary) for name in ("TMPDIR", "TEMP", "TMP")}
    path = os.pathsep.join([str(HERE / "simulated"), str(SOURCES)])
    told = {} if system == "here" else {"SHOAL_TEST_SYSTEM": system}
    if system == "win32":
        told["PYTHONTZPATH"] = ""  # time zones are those of the package tzdata
    return {
        **kept,
        **told,
        "PYTHONPATH": path,
        "PYTHONIOENCODING": "cp1252:strict",
        "PYTHONWARNDEFAULTENCODING": "1",
        "COLUMNS": "80",
    }


@pytest.fixture
def temporary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder for temporary files of the other processes."""
    return tmp_path_factory.mktemp("temporary")


@pytest.fixture
def on_system(temporary: Path) -> Callable[..., str]:
    """Run Python code on a system, and have what it prints."""

    def run(system: str, code: str, *given: Any) -> str:
        done = subprocess.run(
            [sys.executable, "-c", code, *map(str, given)],
            capture_output=True,
            env=environment(system, temporary),
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode("cp1252")[-2000:]
        return done.stdout.decode("cp1252").replace("\r\n", "\n")

    return run
