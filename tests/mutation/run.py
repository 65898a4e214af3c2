"""Run the tests of mutants: `python -m mutation.run COUNT SEED [MINUTES]` in `tests/` prints which of them are missed.

The tests are collected once. Each is then run once, to see which functions it calls and how long it takes; that is kept
in build/reach.json, by test file, until the file changes. Each mutant is a fork in which the functions of its module
are replaced; the tests that call its function are run, quick ones first, up to the first that fails or until they have
cost so many seconds of CPU time. No thread of polars may run before a fork. A mutant that is not noticed within its
seconds counts as missed, also where it runs on for ever.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import resource
import sys
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from mutation.mutants import ROOT, SOURCE, TESTS, Mutant, all_mutants, drawn, patch

# seconds for one mutant, of CPU time and by the clock; what the tests chosen for it cost by themselves; and the seconds
# of CPU time that tests of one file are watched
LIMIT = int(os.environ.get("SHOAL_MUTANT_SECONDS", "60"))
CLOCK = 30 * LIMIT
TESTED = LIMIT / 3
WATCHED = LIMIT
REACH = ROOT / "build" / "reach.json"
# by function, and by file, the tests that call it with the seconds of each
Calls = dict[str, list[tuple[float, str]]]


class Runner:
    """A session of pytest whose tests are run in forks, with and without mutants."""

    def __init__(self, count: int, seed: int, minutes: float) -> None:
        self.mutants, self.until = drawn(count, seed), time.monotonic() + 60 * minutes

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        threads = [(task / "comm").read_text() for task in Path("/proc/self/task").iterdir()]
        assert "polars-0\n" not in threads, "a module of tests works with polars while it is imported"
        items = {item.nodeid: item for item in session.items}
        calls = _calls(items)
        killed = 0
        for number, mutant in enumerate(self.mutants, 1):
            if time.monotonic() > self.until:
                _say(f"time is up after {number - 1} of {len(self.mutants)}")
                break
            began, tests = time.monotonic(), _chosen(calls, mutant)
            found = fails([items[test] for test in tests], mutant) if tests else False
            killed += found is True
            word = "killed" if found else "survives" if found is False else f"survives {LIMIT} s"
            _say(f"{word}: {mutant} ({len(tests)} tests, {time.monotonic() - began:.0f} s)")
            _say(f"{killed} of {number}")
        return True


def _chosen(calls: Calls, mutant: Mutant) -> list[str]:
    """The quickest tests that call the function of a mutant; where none was seen, those of its file."""
    known, cost, chosen = calls.get(mutant.function) or calls.get(mutant.file, []), 0.0, []
    for seconds, test in sorted(known):
        cost += seconds
        if cost > TESTED and chosen:
            break
        chosen.append(test)
    return chosen


def _calls(items: dict[str, pytest.Item]) -> Calls:
    """Which tests call each function; files whose tests were not watched yet are watched now."""
    kept = json.loads(REACH.read_text()) if REACH.exists() else {}
    by_file: dict[Path, list[pytest.Item]] = {}
    for item in items.values():
        by_file.setdefault(item.path, []).append(item)
    for path, those in by_file.items():
        name, state = path.relative_to(ROOT).as_posix(), hashlib.sha256(path.read_bytes()).hexdigest()
        if kept.get(name, {}).get("state") == state:
            continue
        part = REACH.with_suffix(".part")
        part.unlink(missing_ok=True)
        _in_child(partial(_watched, those, part), WATCHED)
        kept[name] = {"state": state, "tests": _lines(part)}
        if missed := [item.name for item in those if item.nodeid not in kept[name]["tests"]]:
            _say(f"failed, skipped or without time: {name}: {', '.join(missed[:20])}")
        REACH.write_text(json.dumps(kept))
    calls: Calls = {}
    for file in kept.values():
        for test, (seconds, functions) in file["tests"].items():
            if test in items:
                for name in {*functions, *(function.partition(":")[0] for function in functions)}:
                    calls.setdefault(name, []).append((seconds, test))
    return calls


def _lines(part: Path) -> dict[str, tuple[float, list[str]]]:
    """What was watched, up to where the time was up."""
    return dict(json.loads(line) for line in part.read_text().splitlines()) if part.exists() else {}


def _watched(items: Sequence[pytest.Item], part: Path) -> int:
    """Run tests and note, line by line, what those that pass call and cost."""
    called: set[str] = set()

    def call(frame: FrameType, event: str, _: Any) -> None:
        if (file := frame.f_code.co_filename).startswith(f"{SOURCE}{os.sep}"):
            called.add(f"{file[len(str(SOURCE)) + 1 :]}:{frame.f_code.co_qualname}")

    with part.open("w") as lines:
        for item, following in zip(items, [*items[1:], None], strict=True):
            called.clear()
            began = time.process_time()
            threading.settrace(call)
            sys.settrace(call)
            passed = _passes(item, following)
            sys.settrace(None)
            if passed:
                lines.write(json.dumps([item.nodeid, [time.process_time() - began, sorted(called)]]) + "\n")
                lines.flush()
    return 0


def _passes(item: pytest.Item, following: pytest.Item | None) -> bool:
    from _pytest.runner import runtestprotocol

    return all(report.passed for report in runtestprotocol(item, log=False, nextitem=following))


def fails(items: Sequence[pytest.Item], mutant: Mutant) -> bool | None:
    """Whether a test fails with a mutant; None where nothing failed in the time that there is."""
    code = _in_child(partial(_run, items, mutant), LIMIT)
    return None if code < 0 else code != 0  # below 0: ended by a signal


def _run(items: Sequence[pytest.Item], mutant: Mutant) -> int:
    patch(mutant)
    return int(not all(_passes(*pair) for pair in zip(items, [*items[1:], None], strict=True)))


def _in_child(work: Callable[[], int], limit: int) -> int:
    """What a fork ends with; it is ended after so many seconds of its CPU time, or when the clock says so."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
            with Path(os.devnull).open("w") as nothing:  # what tests print
                os.dup2(nothing.fileno(), 1)
                os.dup2(nothing.fileno(), 2)
            code = work()
        finally:
            os._exit(code)
    late = threading.Timer(CLOCK, os.kill, (child, 9))
    late.start()
    _, status = os.waitpid(child, 0)
    late.cancel()
    return os.waitstatus_to_exitcode(status)


def main(count: int, seed: int, minutes: float = 600) -> None:
    """Say of each mutant of a sample whether the tests noticed it."""
    os.chdir(ROOT)
    REACH.parent.mkdir(exist_ok=True)
    examples = [f"src/{name}" for name in dict.fromkeys(mutant.file for mutant in all_mutants())]
    names = [*examples, *dict.fromkeys(name for tests in TESTS.values() for name in tests)]
    with contextlib.redirect_stdout(io.StringIO()) as said:
        options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", "not slow", "--capture=no"]
        code = pytest.main([*options, *names], plugins=[Runner(count, seed, minutes)])
    assert code == 0, said.getvalue()


def _say(line: str) -> None:
    os.write(_OUT, f"{line}\n".encode())


_OUT = os.dup(1)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), *map(float, sys.argv[3:]))
