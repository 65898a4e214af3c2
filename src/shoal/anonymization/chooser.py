"""Without a method: try what the policy allows, on a sample first, and take what loses least."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from shoal import progress
from shoal.anonymization.methods import METHODS, Method, methods_with
from shoal.anonymization.methods.base import k_of
from shoal.anonymization.outcomes import Candidate, Choice, FrontierPoint
from shoal.anonymization.results import Anonymized
from shoal.anonymization.sampling import members_of, sample_of
from shoal.errors import InputError, ShoalError
from shoal.models import KAnonymity
from shoal.policy import Policy
from shoal.policy.conditions import ColumnCondition
from shoal.table import Table
from shoal.wording import percent

# rows on which every method is tried before the best is run on all
SAMPLE = 20_000
_WARM = 500
_LARGE_K = 1_000
_KS = (2, 3, 5, 10, 20, 50)
_FIGURES = ("information_loss", "loss")
_ASK_LESS = "Ask for less, or allow `suppression`."


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


def narrowed(policy: Policy, options: Mapping[str, Any]) -> tuple[list[Method], list[str]]:
    """The methods to try, with the options that are given, and what narrowed the choice.

    Options leave those that have them; settings of the policy that only the lattice keeps leave the lattice.
    """
    kinds = methods_with(options)
    if options.get("interval") == "mean":  # a mean is not truthful: whoever asks for it asks for microaggregation
        kinds = [METHODS["microaggregate"]]
    usual = [kind for kind in kinds if kind.by_default] or kinds
    named = list(options)
    trees = policy.hierarchies
    of_columns = isinstance(trees, str) or any(name in trees for name in policy.quasi_identifiers)
    asked = {"hierarchies": of_columns, "levels": bool(policy.levels), "minimize": policy.minimize != "loss"}
    for setting, given in asked.items():
        able = [kind for kind in usual if setting in kind.model_fields]
        if given and able and len(able) < len(usual):
            usual, named = able, [*named, f"policy: {setting}"]
    return [kind(**options) for kind in usual], named


def allowed(table: Table, policy: Policy, options: Mapping[str, Any]) -> tuple[list[Method], dict[str, str], list[str]]:
    """The methods that could keep the policy on this table, why others could not, and what narrowed the choice."""
    methods, narrowed_by = narrowed(policy, options)
    reasons = {method.name: method.allowed(table, policy) for method in methods}
    not_allowed = {name: reason for name, reason in reasons.items() if reason is not None}
    return [method for method in methods if method.name not in not_allowed], not_allowed, narrowed_by


def choose(
    table: Table,
    policy: Policy,
    options: Mapping[str, Any],
    time_limit: float,
    conditions: Sequence[ColumnCondition] = (),
    k_without_policy: bool = False,
) -> Anonymized:
    """Try the allowed methods, take the best, say why.

    On more than 20,000 rows they are tried on as many, evenly drawn (whole persons where there are some); what would
    take too long on all of them is not taken. The best is then run on the whole table; if it breaks the policy there,
    the next best is.
    """
    if not policy.models and not options:
        raise InputError("Without a privacy model there is nothing to choose by.", "Give `k`, or name a `method`.")
    start, task = time.monotonic(), Task(policy, conditions, k_without_policy)
    k, members = k_of(policy) or 0, members_of(table, policy)
    if k > members:
        who = "persons" if policy.person is not None else "records"
        raise InputError(f"No method keeps the policy: k = {k} is more than the {members:,} {who}.", "Use a smaller k.")
    methods, not_allowed, narrowed_by = allowed(table, policy, options)
    for method in methods:
        method.check_columns(table, policy)
    if not methods:
        raise InputError(f"No method is allowed: {_listed(not_allowed)}.", "Name another method, or change the policy.")
    if k > _LARGE_K:  # exchanges between groups take time that grows with their size
        methods = [_with_less_effort(method, options) for method in methods]
    small = sample_of(table, policy, max(SAMPLE, 20 * k))
    tried = _try_all(methods, small, task, time_limit, sampled=small is not table)
    growth = table.rows / max(small.rows, 1)
    tried, slow = _faster(tried, small, task, time_limit, growth)
    order = _ranked(tried, slow)
    if not order:
        reasons = {entry.candidate.method: entry.candidate.reason or "the policy does not hold" for entry in tried}
        raise InputError(f"No method keeps the policy. {_listed(reasons)}.", _cure(policy, options))
    candidates = [entry.candidate for entry in tried]
    for best in order:
        result = best.result if small is table else None
        if result is None:
            whole = _tried(best.method, table, task, time_limit)
            candidates.append(whole.candidate)
            result = whole.result
        if result is not None and result.verdict == "holds":
            break
    else:
        raise InputError("No method keeps the policy on the whole table.", _cure(policy, options))
    frontier = _frontier(best.method, small, task, time_limit - (time.monotonic() - start))
    # methods are compared on the same records: those on which all were tried
    reason = _why(best.candidate, [entry.candidate for entry in tried], slow, small is not table)
    if narrowed_by:
        reason += f" Tried were the methods that have what was asked for ({', '.join(narrowed_by)})."
    choice = Choice(candidates, reason, frontier, not_allowed, narrowed_by)
    return replace(result, findings=replace(result.findings, choice=choice))


def _with_less_effort(method: Method, options: Mapping[str, Any]) -> Method:
    has_effort = "effort" in type(method).model_fields and "effort" not in options
    return method.model_copy(update={"effort": "fast"}) if has_effort else method


@dataclass(frozen=True)
class Trial:
    """A method, how it did, and what it made of the table."""

    method: Method
    candidate: Candidate
    result: Anonymized | None


def _try_all(methods: Sequence[Method], table: Table, task: Task, time_limit: float, sampled: bool) -> list[Trial]:
    """Every method on the same rows, as long as there is time; the first always."""
    start = time.monotonic()
    tried: list[Trial] = []
    for method in methods:
        progress.report(f"trying {method.name}", 0)
        left = time_limit - (time.monotonic() - start)
        if tried and left <= 0:
            late = Candidate(method.name, None, None, 0.0, "not tried", 0, "the time limit was reached")
            tried.append(Trial(method, late, None))
            continue
        if sampled:  # compiled and loaded once, so that the sample tells the time of the whole
            _tried(method, sample_of(table, task.policy, _WARM), task, 1.0)
        tried.append(_tried(method, table, task, max(left / 2, 1.0)))
    return tried


def _tried(method: Method, table: Table, task: Task, seconds: float) -> Trial:
    """A method on a table, with its losses; an unknown loss is None."""
    start = time.monotonic()
    if "time_limit" in type(method).model_fields:
        method = method.model_copy(update={"time_limit": seconds})
    try:
        result = method.run(table, task.policy, task.conditions, task.k_without_policy)
    except ShoalError as error:
        reason = error.what if isinstance(error, InputError) else str(error)
        refused = Candidate(
            method.name, None, None, time.monotonic() - start, "refused", table.rows, reason.rstrip(".")
        )
        return Trial(method, refused, None)
    took, findings = time.monotonic() - start, result.findings
    candidate = Candidate(method.name, findings.information_loss, findings.loss, took, result.verdict, table.rows)
    return Trial(method, candidate, result)


def _faster(
    tried: list[Trial], table: Table, task: Task, time_limit: float, growth: float
) -> tuple[list[Trial], set[str]]:
    """Which methods would be too slow on the whole table; one with an `effort` gets a second chance with less."""
    slow = {entry.method.name for entry in tried if growth > 1 and entry.candidate.seconds * growth > time_limit}
    for place, entry in enumerate(tried):
        # the same groups with less polish, rather than another method
        if entry.method.name in slow and getattr(entry.method, "effort", None) == "default":
            tried[place] = _tried(entry.method.model_copy(update={"effort": "fast"}), table, task, 1.0)
            if tried[place].candidate.seconds * growth <= time_limit:
                slow.discard(entry.method.name)
    return tried, slow


def _ranked(tried: Sequence[Trial], slow: set[str]) -> list[Trial]:
    """Methods that hold, the least loss first; an unknown loss comes after all known ones, what is too slow last."""
    good = [entry for entry in tried if entry.candidate.verdict == "holds"]
    figure = _figure([entry.candidate for entry in good])

    def key(entry: Trial) -> tuple[bool, float]:
        loss = getattr(entry.candidate, figure)
        return entry.method.name in slow, math.inf if loss is None else loss

    return sorted(good, key=key)


def _figure(good: Sequence[Candidate]) -> str:
    """The papers' information loss where it is known of all, otherwise the loss of all columns."""
    return next((name for name in _FIGURES if all(getattr(entry, name) is not None for entry in good)), "loss")


def _why(own: Candidate, candidates: Sequence[Candidate], slow: set[str], sampled: bool) -> str:
    """One sentence."""
    good = [entry for entry in candidates if entry.verdict == "holds"]
    passed = [entry.method for entry in good if entry.method in slow and entry.method != own.method]
    late = f" (not within the time limit: {', '.join(passed)})" if passed else ""
    good = [entry for entry in good if entry.method not in passed]
    figure = _figure(good)
    words, loss = figure.replace("_", " "), getattr(own, figure)
    where = f", tried on {own.rows:,} records" if sampled else ""
    rivals = {entry.method: getattr(entry, figure) for entry in good if entry.method != own.method}
    if not rivals:
        known = f"its {words} is {loss:.4f}" if loss is not None else f"its {words} is not known"
        return f"{own.method} is the only method that keeps the policy here{late}; {known}{where}."
    if loss is None:
        return f"{own.method} was taken{where}{late}: the {words} of no method that keeps the policy is known."
    unknown = [name for name, rival in rivals.items() if rival is None]
    also = f"; that of {', '.join(unknown)} is not known" if unknown else ""
    compared = {name: rival for name, rival in rivals.items() if rival is not None}
    if not compared:
        return f"{own.method} was taken{where}{late}: its {words} is {loss:.4f}{also}."
    second = min(compared, key=lambda name: compared[name])
    ratio = loss / compared[second] if compared[second] else 1.0
    less = f"{percent(1 - ratio)} less than {second}" if ratio < 1 else f"no more than {second}'s"
    return f"{own.method} loses least: its {words} is {loss:.4f}, {less}{where}{late}{also}."


def _frontier(method: Method, table: Table, task: Task, seconds: float) -> list[FrontierPoint]:
    """The loss of the chosen method for other k, as far as there is time: what a lower risk costs.

    A table with classes of 5 also has classes of 2: a smaller k never costs more than a larger one.
    """
    own, end = k_of(task.policy), time.monotonic() + max(seconds, 0)
    tried: list[Candidate] = []
    ks: list[int] = []
    for k in sorted({*_KS, own or 0}) if own else ():
        if time.monotonic() > end or k > table.rows // 2:
            break
        candidate = _tried(method, table, task.with_k(k), 5.0).candidate
        if candidate.verdict == "holds":
            ks.append(k)
            tried.append(candidate)
    points = []
    for place, k in enumerate(ks):
        least = {name: _least([getattr(entry, name) for entry in tried[place:]]) for name in _FIGURES}
        points.append(FrontierPoint(k, 1 / k, least["information_loss"], least["loss"]))
    return points


def _least(losses: Sequence[float | None]) -> float | None:
    """The least of what is known."""
    return min((loss for loss in losses if loss is not None), default=None)


def _listed(reasons: Mapping[str, str]) -> str:
    return "; ".join(f"{name}: {reason.rstrip('.')}" for name, reason in reasons.items())


def _cure(policy: Policy, options: Mapping[str, Any]) -> str:
    wide_open = options.get("suppression") in (1, 1.0, "100%") or policy.suppression == 1
    return "Ask for less." if wide_open else _ASK_LESS
