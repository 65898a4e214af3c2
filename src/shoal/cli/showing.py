"""How a command shows its work: rich is loaded (0.03 s) where something is shown with it, not for JSON."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from shoal import progress

if TYPE_CHECKING:
    from shoal.results.result import Result

SECONDS_BEFORE_PROGRESS = 1.0


@contextmanager
def running(quiet: bool) -> Iterator[None]:
    """Show how far a job has come on stderr, from one second on, if a person is looking."""
    if quiet:
        yield
        return
    from shoal.cli.render import err

    if not err.is_terminal:
        yield
        return
    started = time.monotonic()
    with err.status("") as status:
        status.stop()

        def show(step: str, done: float, total: float | None) -> None:
            if time.monotonic() - started < SECONDS_BEFORE_PROGRESS:
                return
            status.start()
            status.update(f"{step} {done / total:.0%}" if total else step)

        with progress.listening(show):
            yield


def show(result: Result) -> None:
    """All sections of a result on the terminal."""
    from shoal.cli.render import show

    show(result)
