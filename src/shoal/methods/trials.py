"""Methods tried on a table: how each did, how two are compared, and the time that is left."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from shoal import progress
from shoal.errors import Message, ShoalError
from shoal.methods import Method
from shoal.methods.outcomes import Candidate, ModelCost
from shoal.methods.results import Anonymized
from shoal.models import AnyModel, KAnonymity
from shoal.policy import Policy
from shoal.storage import Column, Table
from shoal.storage.classes import Coded
from shoal.storage.order import sample_rows
from shoal.storage.rows import Rows, compact
from shoal.vocabulary import Prefer

if TYPE_CHECKING:
    from shoal.policy.conditions import ColumnCondition


_FIGURES = ("information_loss", "loss")


@dataclass(frozen=True)
class TrialTask:
    """What is to be changed, and what is asked of it."""

    policy: Policy
    conditions: Sequence[ColumnCondition] = ()
    k_without_policy: bool = False

    def with_k(self, k: int) -> TrialTask:
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
        """Time that is not charged: modules that are loaded once."""
        start = time.monotonic()
        yield
        self.paused += time.monotonic() - start


def tried(method: Method, table: Table, task: TrialTask, seconds: float) -> Trial:
    """A method on a table, with its losses; an unknown loss is None."""
    start, used = time.monotonic(), time.process_time()
    if "time_limit" in type(method).model_fields:
        method = method.model_copy(update={"time_limit": max(seconds, 1.0)})
    try:
        result = method.run(table, task.policy, task.conditions, task.k_without_policy)
    except ShoalError as error:
        took = time.monotonic() - start
        refused = Candidate(method.name, None, None, took, "refused", table.total, _reason(error))
        return Trial(method, refused, None, time.process_time() - used)
    return Trial(method, candidate_of(result, time.monotonic() - start), result, time.process_time() - used)


def _reason(error: ShoalError) -> str:
    """Why a method found nothing, as a part of a sentence; that nothing was written says nothing about a trial."""
    what: str = getattr(error, "what", str(error))
    return what.as_clause() if isinstance(what, Message) else what.rstrip(".")


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


# What each privacy model adds to the cost: k alone, then with l, then with t, by one method on the same rows.


_SECONDS = 10.0


def in_order(models: Sequence[AnyModel]) -> list[AnyModel]:
    """The models in the order in which their cost is told: k-anonymity first, the others as the policy has them."""
    return sorted(models, key=lambda model: not isinstance(model, KAnonymity))


def cost_by_model(
    method: Method, table: Table, task: TrialTask, whole: Candidate | None = None
) -> list[ModelCost] | None:
    """The cost of the first model, of the first two, and so on; None where there is one model only, or the method
    does not look at models.

    At most 20,000 rows are looked at. `whole` is what all models cost on this table, where that is known already.
    """
    models = in_order(task.policy.models)
    if len(models) < 2 or not method.by_default:
        return None
    small = sample_of(table, task.policy, SAMPLE)
    last = whole if small is table else None
    candidates: list[Candidate] = []
    for count in range(1, len(models) + 1):
        if count == len(models) and last is not None:
            candidates.append(last)
            continue
        progress.report(f"measuring what {models[count - 1].model} adds", 0)
        candidates.append(_tried(method, small, task, models[:count]).candidate)
    known = all(entry.loss is not None for entry in candidates if entry.verdict == "holds")
    figure = "loss" if known else "information_loss"
    candidates = _never_rising(candidates, figure)
    return [_step(models[place], candidates, place, figure) for place in range(len(models))]


def _never_rising(found: Sequence[Candidate], figure: str) -> list[Candidate]:
    """A release that keeps more models keeps the fewer too: fewer never cost more. The better release is told."""
    best = list(found)
    for place in range(len(best) - 2, -1, -1):
        after, own = best[place + 1], best[place]
        if after.verdict == "holds" and (
            own.verdict != "holds" or (getattr(own, figure) or 0.0) > (getattr(after, figure) or 0.0)
        ):
            best[place] = after
    return best


def _tried(method: Method, table: Table, task: TrialTask, models: Sequence[AnyModel]) -> Trial:
    fewer = task.policy.model_copy(update={"models": list(models)})
    return tried(method, table, replace(task, policy=fewer), _SECONDS)


def _step(model: AnyModel, found: Sequence[Candidate], place: int, figure: str) -> ModelCost:
    """One line: the figures where the models hold, and the difference to the line before."""
    entry = found[place]
    known = entry.verdict == "holds"
    now: float | None = getattr(entry, figure) if known else None
    before: float | None = 0.0
    if place:
        before = getattr(found[place - 1], figure) if found[place - 1].verdict == "holds" else None
    return ModelCost(
        model.model,
        model.model_dump(exclude={"model"}, exclude_none=True),
        entry.rows,
        entry.information_loss if known else None,
        entry.loss if known else None,
        None if now is None or before is None else now - before,
    )


# A part of a table on which methods are tried: rows drawn by what they say, or whole persons.


# rows on which methods are tried and compared
SAMPLE = 20_000
# a sample need not be secret, only fair
_SEED = 0


def sample_of(table: Table, policy: Policy, rows: int) -> Table:
    """About so many rows, drawn at random; of persons or households, all rows of some. Fewer rows stay as they are.

    Rows are drawn by a hash of what they say in the columns that the policy is about, so that the same rows in another
    order give the same part. The part is a table of its own: no value or person in it that none of its rows has.

    >>> from shoal.storage.reading import read
    >>> people = read({"id": [1, 1, 2, 2, 3, 3], "age": [30, 31, 40, 41, 50, 51]})
    >>> sample_of(people, Policy(person="id"), 3)["id"].decode().to_list()
    [2, 2, 3, 3]
    """
    if table.total <= rows:
        return table
    whole = policy.person or policy.household
    if whole is None:
        drawn = sample_rows(_decisive(table, policy), rows, _SEED)
    else:
        person = table.select([whole])[0]
        count = max(1, round(person.cardinality * rows / table.rows))
        chosen = np.zeros(person.cardinality, bool)
        chosen[sample_rows([Coded(np.arange(len(chosen)), len(chosen))], count, _SEED)] = True
        drawn = np.flatnonzero(chosen[person.codes])
    part = table.take(drawn)
    return replace(part, columns={name: compact(column) for name, column in part.columns.items()})


def _decisive(table: Table, policy: Policy) -> list[Column]:
    """The columns that methods and models look at; rows that are equal in them are as good as each other."""
    names = dict.fromkeys([*policy.quasi_identifiers, *policy.sensitive, *policy.needed])
    return table.select([name for name in names if name in table.columns]) or list(table.columns.values())


def members_of(table: Table, policy: Policy) -> int:
    """Whom k counts: rows, the records that rows stand for, or persons."""
    rows = Rows.of(table, policy.quasi_identifiers, policy.count, policy.person)
    return rows.records if rows.person is None else rows.person.cardinality
