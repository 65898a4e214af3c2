"""Methods tried on a table: how each did, how two are compared, and the time that is left."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from typing import TYPE_CHECKING

from shoal.anonymization.methods import Method
from shoal.anonymization.outcomes import Candidate
from shoal.anonymization.results import Anonymized
from shoal.dataclasses import dataclass
from shoal.errors import InputError, ShoalError
from shoal.models import KAnonymity
from shoal.policy import Policy
from shoal.table import Table
from shoal.vocabulary import Prefer

if TYPE_CHECKING:
    from shoal.policy.conditions import ColumnCondition

_FIGURES = ("information_loss", "loss")


@dataclass(frozen=True)
class Task:
    """What is to be changed, and what is asked of it."""

    policy: Policy
    conditions: Sequence[ColumnCondition] = ()
    k_without_policy: bool = False

    def with_k(self, k: int) -> Task:
        """The same for another k."""
        others = [model for model in self.policy.models if not isinstance(model, KAnonymity)]
        policy = self.policy.model_copy(update={"models": [KAnonymity(k=k), *others]})
        return replace(self, policy=policy)


@dataclass(frozen=True)
class Trial:
    """A method, how it did, what it made of the table, and the time of the processors, whoever else uses them."""

    method: Method
    candidate: Candidate
    result: Anonymized | None
    cpu_seconds: float = 0.0


@dataclass
class Clock:
    """The time that is left of a limit; what is spent in a `pause` does not count."""

    limit: float
    start: float = field(default_factory=time.monotonic)
    paused: float = 0.0

    @property
    def left(self) -> float:
        return self.limit - (time.monotonic() - self.start - self.paused)

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Time that is not charged: loops that are compiled once and kept."""
        start = time.monotonic()
        yield
        self.paused += time.monotonic() - start


def tried(method: Method, table: Table, task: Task, seconds: float) -> Trial:
    """A method on a table, with its losses; an unknown loss is None."""
    start, used = time.monotonic(), time.process_time()
    if "time_limit" in type(method).model_fields:
        method = method.model_copy(update={"time_limit": max(seconds, 1.0)})
    try:
        result = method.run(table, task.policy, task.conditions, task.k_without_policy)
    except ShoalError as error:
        reason = error.what if isinstance(error, InputError) else str(error)
        took = time.monotonic() - start
        refused = Candidate(method.name, None, None, took, "refused", table.total, reason.rstrip("."))
        return Trial(method, refused, None, time.process_time() - used)
    return Trial(method, candidate_of(result, time.monotonic() - start), result, time.process_time() - used)


def candidate_of(result: Anonymized, seconds: float) -> Candidate:
    """How a method did, from what it made."""
    findings = result.findings
    return Candidate(
        result.method,
        findings.information_loss,
        findings.loss,
        seconds,
        result.verdict,
        findings.records,
        None,
        findings.suppressed_rows,
        findings.suppressed_cells,
    )


def common_figure(good: Sequence[Candidate]) -> str:
    """The papers' information loss where it is known of all, otherwise the loss of all columns."""
    return next((name for name in _FIGURES if all(getattr(entry, name) is not None for entry in good)), "loss")


def cost(candidate: Candidate, figure: str, prefer: Prefer) -> tuple[float, ...]:
    """What is compared: the loss, an unknown one after all others; before it what is suppressed, where few are wanted.

    >>> few = Candidate("a", None, 0.5, 1.0, "holds", 9, None, 0, 2)
    >>> many = Candidate("b", None, 0.1, 1.0, "holds", 9, None, 3, 9)
    >>> cost(few, "loss", "few-suppressed") < cost(many, "loss", "few-suppressed")
    True
    """
    known = getattr(candidate, figure)
    loss = math.inf if known is None else known
    if prefer != "few-suppressed":
        return (loss,)
    return candidate.suppressed_rows or 0, candidate.suppressed_cells or 0, loss
