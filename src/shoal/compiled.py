"""Hot loops compiled to machine code. Imported only where it is used.

Loops are compiled when they are first called, and kept on disk: beside their source, in the user's cache folder where
that is read-only, or in `NUMBA_CACHE_DIR`. Files are replaced whole, so that several processes may share them, and
hold only while all that is built into a loop is as it was (`shoal.compiled_stamp`).
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core.caching import IndexDataCacheFile

from shoal import progress
from shoal.compiled_stamp import stamp
from shoal.threads import processors

# a number of the type of the arrays that it comes from: machine code tells them apart, annotations do not
Number = Any
Function = TypeVar("Function", bound=Callable[..., Any])

STEP = "compiling the inner loops, once"
_TICK = 0.2
_CHILD = "import sys; from shoal.compiled import run_here; run_here(sys.argv[1])"


def _jit(function: Function, **options: Any) -> Function:
    # divisions by zero give inf, as in numpy: a branch that raises in every loop would double the time to compile it
    common = {"nogil": True, "boundscheck": False, "error_model": "numpy", "no_cfunc_wrapper": True}
    return cast(Function, cast(Any, numba.njit)(**common, **options)(function))


class StampedFile(IndexDataCacheFile):
    """The index of a loop's machine code; its stamp is taken when it is first looked at: then all names are known."""

    def __init__(self, file: IndexDataCacheFile, loop: Any) -> None:
        self.__dict__.update(vars(file))
        self._of_its_file, self._loop = self.__dict__.pop("_source_stamp"), loop

    @cached_property
    def _source_stamp(self) -> tuple[Any, str]:
        return self._of_its_file, stamp(self._loop)


def compiled(function: Function) -> Function:
    """Compile a loop when it is first called; the machine code is kept on disk and runs beside other threads."""
    try:
        loop = _jit(function, cache=True)
    except RuntimeError:  # there is no folder to keep it in
        return _jit(function)
    cache = cast(Any, loop)._cache
    if type(getattr(cache, "_cache_file", None)) is IndexDataCacheFile:
        cache._cache_file = StampedFile(cache._cache_file, loop)
    return loop


def compiled_part(function: Function) -> Function:
    """The same for a function that only compiled loops call: it is kept with them, not by itself."""
    return _jit(function)


def compiled_once(function: Function) -> Function:
    """The same for a function that is called in one place: it becomes a part of its caller before anything else."""
    return _jit(function, inline="always")


def compiled_inside(function: Function) -> Function:
    """The same for a few lines in a hot loop: they become a part of it, for a call would cost more than they do."""
    return _jit(function, forceinline=True)


def compiled_loosely(function: Function) -> Function:
    """The same, where sums may be taken in any order: the processor then takes many numbers at once."""
    return _jit(function, fastmath=True, forceinline=True)


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
    file: Any = getattr(getattr(loop, "_cache", None), "_cache_file", None)
    if loop.signatures or not hasattr(file, "_load_index"):
        return True
    try:
        return bool(file._load_index())
    except OSError:
        return True


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
