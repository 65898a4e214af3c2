"""Run the tests of mutants: `python -m mutation.run COUNT SEED [MINUTES]` in `tests/` prints which of them are missed.

First each test is run once, to see which functions it calls and how long it takes (kept in build/reach.json while no
source changes). shoal is imported once. Each mutant is a fork in which the functions of its module are replaced; the
tests that call its function are run, quick ones first, up to the first that fails. No thread of polars may run before
the fork: tests are collected in it. A mutant that is not noticed within its seconds of CPU time counts as missed, also
where it runs on for ever.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import io
import json
import os
import resource
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from mutation.mutants import ROOT, SOURCE, TESTS, Mutant, all_mutants, drawn, patch

# CPU seconds for one mutant, and for the tests of one file when they are watched
LIMIT = int(os.environ.get("SHOAL_MUTANT_SECONDS", "60"))
WATCHED = 600
REACH = ROOT / "build" / "reach.json"


class Watch:
    """Which functions of shoal each test calls, and its seconds of CPU time; of tests that pass."""

    def __init__(self) -> None:
        self.reach: dict[str, tuple[float, list[str]]] = {}
        self._called: set[str] = set()

    def _call(self, frame: FrameType, event: str, _: Any) -> None:
        if frame.f_code.co_filename.startswith(f"{SOURCE}{os.sep}"):
            self._called.add(f"{frame.f_code.co_filename[len(str(SOURCE)) + 1 :]}:{frame.f_code.co_firstlineno}")

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: Any) -> Iterator[None]:
        self._called, began = set(), time.process_time()
        threading.settrace(self._call)
        sys.settrace(self._call)
        yield
        sys.settrace(None)
        if not getattr(item, "failed", False):
            self.reach[item.nodeid] = (time.process_time() - began, sorted(self._called))

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: Any) -> Iterator[None]:
        outcome = yield
        item.failed = getattr(item, "failed", False) or not outcome.get_result().passed  # type: ignore[attr-defined]


def reach() -> dict[str, list[str]]:
    """By function the tests that call it, quick ones first."""
    state = hashlib.sha256()
    for path in [*sorted(SOURCE.rglob("*.py")), *sorted((ROOT / "tests").rglob("*.py"))]:
        state.update(path.read_bytes())
    kept = json.loads(REACH.read_text()) if REACH.exists() else {}
    if kept.get("state") != state.hexdigest():
        kept = {"state": state.hexdigest(), "tests": {}}
        examples = [f"src/{name}" for name in dict.fromkeys(mutant.file for mutant in all_mutants())]
        names = dict.fromkeys(name for tests in TESTS.values() for name in tests)
        for file in [*(ROOT / name for name in examples), *(file for name in names for file in _files(ROOT / name))]:
            _in_child(partial(_watched, str(file)), WATCHED)
            part = REACH.with_suffix(".part")
            kept["tests"] |= json.loads(part.read_text()) if part.exists() else {}
            part.unlink(missing_ok=True)
        REACH.write_text(json.dumps(kept))
    found: dict[str, list[str]] = {}
    for test, (_, functions) in sorted(kept["tests"].items(), key=lambda one: one[1][0]):
        for function in functions:
            found.setdefault(function, []).append(test)
    return found


def _watched(file: str) -> int:
    watch = Watch()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        pytest.main(["-q", "-p", "no:cacheprovider", "-m", "not slow", file], plugins=[watch])
    REACH.parent.mkdir(exist_ok=True)
    REACH.with_suffix(".part").write_text(json.dumps(watch.reach))
    return 0


def fails(tests: Sequence[str], mutant: Mutant) -> bool | None:
    """Whether a test fails with a mutant; None where nothing failed in the time that there is."""
    code = _in_child(partial(_run, tests, mutant), LIMIT)
    # 1: a test fails, 2: none could be collected; below 0: ended by a signal
    if code < 0:
        return None
    assert code < 3, f"pytest ended with {code}: {tests}"
    return code != 0


def _run(tests: Sequence[str], mutant: Mutant) -> int:
    patch(mutant)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        return int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", "-m", "not slow", *tests]))


def _files(path: Path) -> list[Path]:
    return sorted(path.glob("test_*.py"), key=lambda file: file.stat().st_size) if path.is_dir() else [path]


def _in_child(work: Callable[[], int], limit: int) -> int:
    """What a fork ends with; it is ended after so many seconds of its CPU time."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
            code = work()
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def main(count: int, seed: int, minutes: float = 600) -> None:
    """Say of each mutant of a sample whether the tests noticed it."""
    os.chdir(ROOT)
    for name in sorted({mutant.module for mutant in all_mutants()}):
        importlib.import_module(name)
    calling = reach()
    killed, until = 0, time.monotonic() + 60 * minutes
    for number, mutant in enumerate(drawn(count, seed), 1):
        if time.monotonic() > until:
            _say(f"time is up after {number - 1} of {count}")
            break
        began, tests = time.monotonic(), calling.get(mutant.function, [])
        found = fails(tests, mutant) if tests else False
        killed += found is True
        word = "killed" if found else "survives" if found is False else f"survives {LIMIT} s"
        _say(f"{word}: {mutant} ({len(tests)} tests, {time.monotonic() - began:.0f} s)")
        _say(f"{killed} of {number}")


def _say(line: str) -> None:
    os.write(_OUT, f"{line}\n".encode())


_OUT = os.dup(1)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), *map(float, sys.argv[3:]))
