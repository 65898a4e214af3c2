"""Commands that are ended by a signal clean up first, as they do when they are interrupted."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from shoal.systems.machine import ENDING_SIGNALS


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """SIGTERM and its kin end the command with its drafts removed; the exit code is 128 + the signal."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, _: Any) -> None:
        raise SystemExit(128 + number)

    before = {number: signal.signal(number, end) for number in ENDING_SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
