"""How far a long job has come: the library reports, whoever shows it listens."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

# step name, how much is done, how much there is (None: not known)
Listener = Callable[[str, float, float | None], None]

_listener: ContextVar[Listener | None] = ContextVar("shoal_progress", default=None)


def report(step: str, done: float, total: float | None = None) -> None:
    """Tell the listener, if there is one, how far a step has come."""
    listener = _listener.get()
    if listener is not None:
        listener(step, done, total)


def is_heard() -> bool:
    """Whether somebody listens.

    >>> is_heard()
    False
    """
    return _listener.get() is not None


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Send every report made inside to `listener`.

    >>> heard = []
    >>> with listening(lambda step, done, total: heard.append((step, done))):
    ...     report("reading", 0.5, 1.0)
    >>> heard
    [('reading', 0.5)]
    """
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)
