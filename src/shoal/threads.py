"""Work shared among threads: numpy, polars and compiled loops let other threads run while they work."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TypeVar, cast

from shoal import progress
from shoal.errors import InputError
from shoal.systems import machine

Task = TypeVar("Task")
Result = TypeVar("Result")
_MOST, _DIGITS = 1024, 6


def processors() -> int:
    """How many processors this process may use; `SHOAL_THREADS` asks for fewer or more, from 1 to 1024."""
    asked = os.environ.get("SHOAL_THREADS", "").strip()
    if not asked:
        return machine.processors()
    if not (asked.isascii() and asked.isdigit() and len(asked) <= _DIGITS and 1 <= int(asked) <= _MOST):
        raise InputError(
            f"The environment variable SHOAL_THREADS is not a whole number from 1 to {_MOST:,}.", "Set it, or unset it."
        )
    return int(asked)


def in_threads(work: Callable[[Task], Result], tasks: Sequence[Task], step: str = "") -> list[Result]:
    """The results of all tasks, in their order; tasks share nothing, so the number of threads changes nothing.

    >>> in_threads(lambda number: number * 2, [1, 2, 3])
    [2, 4, 6]
    """
    with ThreadPoolExecutor(processors()) as pool:
        found = []
        try:
            for number, result in enumerate(pool.map(work, tasks)):
                found.append(result)
                if step:
                    progress.report(step, number + 1, len(tasks))
        except BaseException:  # what has not begun need not
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return found


def ahead(items: Iterator[Task]) -> Iterator[Task]:
    """The same items; the next one is made while the last one is worked on.

    >>> list(ahead(iter([1, 2])))
    [1, 2]
    """
    end = object()
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(next, items, end)
        try:
            while (item := coming.result()) is not end:
                coming = pool.submit(next, items, end)
                yield cast(Task, item)
        finally:
            wait([coming])
            if isinstance(items, Generator):
                items.close()
