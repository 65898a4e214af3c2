"""Machine code on disk: built again when a function or a constant of another file changes, kept otherwise."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from shoal.anonymization.partition.rehearsals import EXCHANGE, EXCHANGE_SQUARES, GROUP
from shoal.compiled.build import StampedFile
from shoal.compiled.stamp import stamp

OUTER = """
from shoal.compiled import compiled
from {package} import constants
from {package}.inner import STEP, inner

@compiled
def outer(number):
    return inner(number) + STEP * 100 + constants.LARGE
"""
INNER = """
from shoal.compiled import compiled_part

STEP = {step}

@compiled_part
def deep(number):
    return number + {added}

@compiled_part
def inner(number):
    return deep(number)
"""
SAY = """
from folder.outer import outer
from shoal.compiled import is_ready
ready = is_ready(outer)
print(ready, outer(1), outer.built)
"""


def _run(folder: Path, step: int = 1, added: int = 1, large: int = 1000) -> list[str]:
    package = folder / "folder"
    package.mkdir(exist_ok=True)
    (package / "__init__.py").touch()
    (package / "outer.py").write_text(OUTER.format(package="folder"))
    (package / "inner.py").write_text(INNER.format(step=step, added=added))
    (package / "constants.py").write_text(f"LARGE = {large}\n")
    path = os.pathsep.join([str(folder), *filter(None, sys.path)])
    env = {**os.environ, "PYTHONPATH": path, "NUMBA_CACHE_DIR": str(folder / "kept"), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, "-c", SAY], env=env, capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_a_change_in_another_file_is_compiled_and_nothing_else_is(tmp_path: Path) -> None:
    assert _run(tmp_path) == ["False", "1102", "1"]
    assert _run(tmp_path) == ["True", "1102", "0"]
    assert _run(tmp_path, added=5) == ["False", "1106", "1"]
    assert _run(tmp_path, added=5, step=2) == ["False", "1206", "1"]
    assert _run(tmp_path, added=5, step=2, large=3000) == ["False", "3206", "1"]
    assert _run(tmp_path, added=5, step=2, large=3000) == ["True", "3206", "0"]


def test_the_loops_of_the_package_are_stamped_whole() -> None:
    for rehearsal in (GROUP, EXCHANGE, EXCHANGE_SQUARES):
        assert rehearsal.loop.stamp == stamp(rehearsal.loop)
        file = rehearsal.loop.dispatcher._cache._cache_file  # where numba runs the loop itself
        assert isinstance(file, StampedFile)
        assert file._source_stamp[1] == stamp(rehearsal.loop)
        assert " at 0x" not in repr(rehearsal.loop.targetoptions)  # the same in every process
