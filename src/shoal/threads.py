"""Work shared among threads: numpy, polars and compiled loops let other threads run while they work."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from shoal import progress

Task = TypeVar("Task")
Result = TypeVar("Result")


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
        try:
            for number, result in enumerate(pool.map(work, tasks)):
                found.append(result)
                if step:
                    progress.report(step, number + 1, len(tasks))
        except BaseException:  # what has not begun need not
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return found
