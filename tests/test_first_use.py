"""Loops that nobody has compiled yet: compiled side by side, kept on disk, and said to whoever waits."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from shoal import compiled, progress
from shoal.anonymization.methods import METHODS
from shoal.anonymization.partition.cut_tree import best_cut
from shoal.anonymization.partition.peel import outermost_first
from shoal.anonymization.partition.sorting import rank
from shoal.compiled import Rehearsal, is_ready, kept, make_ready, ready

LOOP = """
from shoal.compiled import compiled

@compiled
def twice(number: int) -> int:
    return 2 * number

def rehearse() -> None:
    twice(1)
"""
RUN = """
import sys
import few_loops
from shoal import progress
from shoal.compiled import Rehearsal, is_ready, make_ready

heard = []
before = is_ready(few_loops.twice)
with progress.listening(lambda step, done, total: heard.append(step)):
    make_ready([Rehearsal("few_loops", "rehearse", few_loops.twice)])
print(before, is_ready(few_loops.twice), few_loops.twice(4), sorted(set(heard)), len(few_loops.twice.signatures))
"""


def run(folder: Path, **environment: str) -> str:
    source = str(Path(compiled.__file__).parents[2])
    settings = {"PYTHONPATH": os.pathsep.join([str(folder), source]), **environment}
    done = subprocess.run(
        [sys.executable, "-c", RUN], capture_output=True, text=True, check=True, env={**os.environ, **settings}
    )
    return done.stdout.strip()


def test_a_loop_is_compiled_once_and_that_is_said(tmp_path: Path) -> None:
    (tmp_path / "few_loops.py").write_text(LOOP)
    cache = str(tmp_path / "cache")
    first = run(tmp_path, NUMBA_CACHE_DIR=cache)
    assert first == "False True 8 ['compiling the inner loops, once'] 1"
    assert run(tmp_path, NUMBA_CACHE_DIR=cache) == "True True 8 [] 1"  # from disk, and nothing to say


def test_a_loop_whose_source_has_changed_is_compiled_again(tmp_path: Path) -> None:
    loops, cache = tmp_path / "few_loops.py", str(tmp_path / "cache")
    loops.write_text(LOOP)
    run(tmp_path, NUMBA_CACHE_DIR=cache)
    loops.write_text(LOOP.replace("2 * number", "3 * number + 0"))
    assert run(tmp_path, NUMBA_CACHE_DIR=cache).startswith("False True 12")


def test_shares_go_to_other_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[str] = []
    here: list[str] = []

    class Ended:
        def poll(self) -> int:
            return 1  # it failed: the first call compiles, as always

    class Cold:
        @staticmethod
        def is_ready() -> bool:
            return False

    monkeypatch.setenv("SHOAL_THREADS", "2")
    monkeypatch.setattr(ready, "_started", lambda share: started.append(share) or Ended())
    monkeypatch.setattr(ready, "run_here", here.append)
    heard: list[str] = []
    with progress.listening(lambda step, done, total: heard.append(step)):
        assert make_ready([Rehearsal("m", name, Cold) for name in "abc"])
    assert here[0] == "m:a"
    assert started[0] == "m:b"
    assert sorted(here + started) == ["m:a", "m:b", "m:c"]  # the third goes to whoever is free first
    assert set(heard) == {compiled.STEP}


@pytest.mark.parametrize("method", ["mondrian", "lattice"])
def test_every_rehearsal_runs_the_loop_that_it_names(method: str) -> None:
    rehearsals = METHODS[method]().rehearsals()
    assert rehearsals
    for one in rehearsals:
        compiled.run_here(one.address)
        assert one.loop.signatures


def test_a_rehearsal_that_fails_is_left_to_the_first_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ready, "run_here", lambda address: 1 / 0)
    ready._run_all("m:a", ready.deque(["m:b"]))


def test_within_another_program_everything_is_compiled_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/opt/app/steward")
    assert not ready._can_start()
    monkeypatch.setattr(sys, "executable", "")
    assert not ready._can_start()
    monkeypatch.setattr(sys, "executable", "/usr/bin/python3")
    assert ready._can_start()
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert not ready._can_start()


def test_what_cannot_be_kept_is_never_compiled_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = compiled.compiled(lambda number: number + 1)
    monkeypatch.setattr(kept, "_can_keep", lambda place: False)
    assert compiled.folder(loop) is None
    assert is_ready(loop)
    assert not list(kept.found(loop))


def test_without_a_folder_to_keep_it_in_a_loop_still_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    exec_made: dict[str, object] = {}
    exec("def plus(a, b):\n    return a + b", exec_made)  # noqa: S102 (numba finds no file to put its own beside)
    assert compiled.compiled(exec_made["plus"])(1, 2) == 3  # type: ignore[operator, type-var]


NUMBERS = st.integers(0, 60).flatmap(lambda size: arrays(np.float64, size, elements=st.integers(-9, 9)))


@settings(max_examples=60, deadline=None)
@given(NUMBERS)
def test_ranks_are_sorted_and_every_number_is_there(keys: np.ndarray) -> None:  # type: ignore[type-arg]
    ranked = np.arange(len(keys))
    rank(keys, ranked)
    assert (keys[ranked] == np.sort(keys)).all()
    assert sorted(ranked.tolist()) == list(range(len(keys)))


@pytest.mark.parametrize("shape", ["sorted", "reversed", "equal", "random", "organ pipe"])
def test_ranks_of_many(shape: str) -> None:
    size = 5000
    keys = {
        "sorted": np.arange(size, dtype=float),
        "reversed": np.arange(size, 0, -1, dtype=float),
        "equal": np.ones(size),
        "random": np.random.default_rng(0).random(size),
        "organ pipe": np.minimum(np.arange(size), size - np.arange(size)).astype(float),
    }[shape]
    ranked = np.arange(size)
    rank(keys, ranked)
    assert (keys[ranked] == np.sort(keys)).all()
    assert len(np.unique(ranked)) == size


def test_outermost_by_hand() -> None:
    assert outermost_first(np.array([[1.0], [2.0], [9.0], [4.0]], np.float32)).tolist() == [2, 0, 1, 3]


def test_parts_of_loops_are_python_too() -> None:
    """The exact cut, run as Python, sorts as numpy does: 1 2 | 8 9 9."""
    rows = np.array([[9], [1], [8], [2], [9]], np.float32)
    assert best_cut.py_func(rows, 0, 5, 2, np.zeros(1, bool)) == (0, 2.0)  # type: ignore[attr-defined]
