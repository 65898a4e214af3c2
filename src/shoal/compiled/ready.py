"""Loops compiled side by side before their first use, and whoever waits is told."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from shoal import progress
from shoal.compiled import machine
from shoal.dataclasses import dataclass
from shoal.threads import processors

STEP = "compiling the inner loops, once"
_TICK = 0.2
_CHILD = "import sys; from shoal.compiled.ready import run_here; run_here(sys.argv[1])"


@dataclass(frozen=True)
class Rehearsal:
    """A function of a module, without arguments, that runs some loops on a few records; the slowest to compile."""

    module: str
    function: str
    loop: Any

    @property
    def address(self) -> str:
        return f"{self.module}:{self.function}"


def is_ready(loop: Any) -> bool:
    """Whether the machine code of a loop is loaded or on disk; also where it cannot be kept, or nobody can tell."""
    return bool(loop.is_ready())


def at_hand(loop: Any) -> bool:
    """Whether a loop runs as machine code that is there already: for what is done without it where it is not.

    Nothing is compiled and numba is not started, so the answer is no on systems where only numba runs loops.
    """
    return machine.is_supported() and bool(loop.is_ready())


def run_here(address: str) -> None:
    """Run a rehearsal, `module:function`, in this process."""
    module, function = address.split(":")
    getattr(importlib.import_module(module), function)()


def make_ready(rehearsals: Sequence[Rehearsal]) -> bool:
    """Compile what is needed and not there yet, longest first: here, and in as many processes as there are processors.

    What another process could not do is left to the first call, as always. Whether there was something to compile.
    """
    missing = deque(one.address for one in rehearsals if not is_ready(one.loop))
    if not missing:
        return False
    beside = processors() - 1 if _can_start() else 0
    own = threading.Thread(target=_run_all, args=(missing.popleft(), missing), daemon=True)
    running = [_started(missing.popleft()) for _ in range(min(beside, len(missing)))]
    own.start()
    while own.is_alive() or running:
        progress.report(STEP, 0)
        own.join(_TICK) if own.is_alive() else time.sleep(_TICK / 4)
        running = [other for other in running if other.poll() is None]
        if len(running) < beside and (address := _next(missing)):
            running.append(_started(address))
    return True


def _next(missing: deque[str]) -> str | None:
    try:
        return missing.popleft()
    except IndexError:  # somebody else took the last one
        return None


def _run_all(address: str | None, others: deque[str]) -> None:
    while address:
        with suppress(Exception):  # the first call will raise it again, where it is expected
            run_here(address)
        address = _next(others)


def _can_start() -> bool:
    """Whether this is Python as one starts it, and not a program that it is built into."""
    return not getattr(sys, "frozen", False) and Path(sys.executable or "").name.lower().startswith("python")


def _started(address: str) -> subprocess.Popen[bytes]:
    path = os.pathsep.join(entry for entry in sys.path if entry)
    return subprocess.Popen(
        [sys.executable, "-c", _CHILD, address],
        env={**os.environ, "PYTHONPATH": path, "PYTHONSAFEPATH": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
