"""What each privacy model adds to the cost: k alone, then with l, then with t, by one method on the same rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from shoal import progress
from shoal.anonymization.methods import Method
from shoal.anonymization.outcomes import Candidate, ModelCost
from shoal.anonymization.sampling import SAMPLE, sample_of
from shoal.anonymization.trials import Task, Trial, tried
from shoal.models import AnyModel, KAnonymity
from shoal.table import Table

_SECONDS = 10.0


def in_order(models: Sequence[AnyModel]) -> list[AnyModel]:
    """The models in the order in which their cost is told: k-anonymity first, the others as the policy has them."""
    return sorted(models, key=lambda model: not isinstance(model, KAnonymity))


def cost_by_model(method: Method, table: Table, task: Task, whole: Candidate | None = None) -> list[ModelCost] | None:
    """The cost of the first model, of the first two, and so on; None where there is one model only, or the method
    does not look at models.

    At most 20,000 rows are looked at. `whole` is what all models cost on this table, where that is known already.
    """
    models = in_order(task.policy.models)
    if len(models) < 2 or not method.by_default:
        return None
    small = sample_of(table, task.policy, SAMPLE)
    last = whole if small is table else None
    found: list[Candidate] = []
    for count in range(1, len(models) + 1):
        if count == len(models) and last is not None:
            found.append(last)
            continue
        progress.report(f"measuring what {models[count - 1].model} adds", 0)
        found.append(_tried(method, small, task, models[:count]).candidate)
    known = all(entry.loss is not None for entry in found if entry.verdict == "holds")
    figure = "loss" if known else "information_loss"
    found = _never_rising(found, figure)
    return [_step(models[place], found, place, figure) for place in range(len(models))]


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


def _tried(method: Method, table: Table, task: Task, models: Sequence[AnyModel]) -> Trial:
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
