"""Hot loops compiled to machine code, and work shared among threads. Imported only where it is used."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar, cast

import numba

from shoal import progress

# a number of the type of the arrays that it comes from: machine code tells them apart, annotations do not
Number = Any
Function = TypeVar("Function", bound=Callable[..., Any])
Task = TypeVar("Task")
Result = TypeVar("Result")


def compiled(function: Function) -> Function:
    """Compile a loop when it is first called; the machine code is kept on disk and runs beside other threads."""
    return cast(Function, numba.njit(cache=True, nogil=True, boundscheck=False)(function))


def compiled_inside(function: Function) -> Function:
    """The same for a few lines in a hot loop: they become a part of it, for a call would cost more than they do."""
    return cast(Function, numba.njit(cache=True, nogil=True, boundscheck=False, forceinline=True)(function))


def compiled_loosely(function: Function) -> Function:
    """The same, where sums may be taken in any order: the processor then takes many numbers at once."""
    loose = numba.njit(cache=True, nogil=True, boundscheck=False, fastmath=True, forceinline=True)
    return cast(Function, loose(function))


def processors() -> int:
    """How many processors this process may use; `SHOAL_THREADS` asks for fewer or more."""
    asked = os.environ.get("SHOAL_THREADS", "")
    return max(1, int(asked)) if asked.isdigit() else len(os.sched_getaffinity(0))


def in_threads(work: Callable[[Task], Result], tasks: Sequence[Task], step: str = "") -> list[Result]:
    """The results of all tasks, in their order; tasks share nothing, so the number of threads changes nothing.

    >>> in_threads(lambda number: number * 2, [1, 2, 3])
    [2, 4, 6]
    """
    with ThreadPoolExecutor(processors()) as pool:
        found = []
        for number, result in enumerate(pool.map(work, tasks)):
            found.append(result)
            if step:
                progress.report(step, number + 1, len(tasks))
    return found
