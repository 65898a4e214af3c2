"""Without a method: try what the policy allows, on a sample first, and take what loses least."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from shoal import progress
from shoal.anonymization.findings import Anonymized
from shoal.anonymization.methods import How, run
from shoal.errors import InputError, ShoalError
from shoal.models import KAnonymity, TCloseness
from shoal.policy import Policy
from shoal.table import Table
from shoal.utility.quality import quality
from shoal.wording import percent

# rows on which every method is tried before the best is run on all
SAMPLE = 20_000
_WARM = 500
_KS = (2, 3, 5, 10, 20, 50)


@dataclass(frozen=True)
class Candidate:
    """One method that was tried: what it lost, how long it took, whether the policy holds; `rows` it was tried on.

    `information_loss` is defined for numbers and dates only; `loss` (docs/quality.md) for all columns.
    """

    method: str
    information_loss: float | None
    loss: float | None
    seconds: float
    verdict: str
    rows: int
    reason: str | None = None


@dataclass(frozen=True)
class Choice:
    """The method that was taken, the others, why, and the least loss for other k on the sample."""

    method: str
    candidates: list[Candidate]
    reason: str
    frontier: list[dict[str, Any]]

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "method": self.method,
            "candidates": [asdict(candidate) for candidate in self.candidates],
            "reason": self.reason,
            "frontier": self.frontier,
        }


def allowed(table: Table, policy: Policy, how: How) -> list[str]:
    """The methods that could keep the policy on this table and stay truthful, the most promising first.

    What is said about how to do it may leave one only: `resolution` is a word of coarsening.
    """
    said = {
        "coarsen": how.resolution is not None,
        "recode": bool(how.generalize) or how.search,
        "microaggregate": how.mdav or bool(how.strata) or how.interval == "mean",
        "sorted-clusters": how.untouched_if_safe or how.remainder != "top",
        "mondrian": how.cuts != "best",
    }
    named = [method for method, asked in said.items() if asked]
    if named:
        return named[:1]
    columns = table.select(policy.quasi_identifiers)
    one_row_each = policy.count is None and policy.person is None
    has_k = any(isinstance(model, KAnonymity) for model in policy.models)
    methods = []
    if one_row_each and has_k:
        methods.append("mondrian")
    if how.interval in (None, "bracket"):
        methods.append("lattice")
    simple = all(isinstance(model, (KAnonymity, TCloseness)) for model in policy.models)
    several = sum(isinstance(model, TCloseness) for model in policy.models) > 1
    ordered = all(not column.nulls and (column.dtype.is_numeric() or column.dtype.is_temporal()) for column in columns)
    if one_row_each and has_k and simple and not several and ordered:
        methods.append("sorted-clusters")
    return methods


def choose(table: Table, policy: Policy, how: How, time_limit: float) -> Anonymized:
    """Try the allowed methods, take the best, say why.

    On more than 20,000 rows they are tried on as many, evenly drawn; what would take too long on all of them is not
    taken. The best is then run on the whole table; if it breaks the policy there, the next best is.
    """
    if not policy.models:
        raise InputError("Without a privacy model there is nothing to choose by.", "Give -k 5, or say --method.")
    start = time.monotonic()
    small = table if table.rows <= SAMPLE else table.take(np.linspace(0, table.rows - 1, SAMPLE).astype(np.int64))
    tried: list[tuple[Candidate, Anonymized | None]] = []
    for method in allowed(table, policy, how):
        progress.report(f"trying {method}", 0)
        left = time_limit - (time.monotonic() - start)
        if tried and left <= 0:
            tried.append((Candidate(method, None, None, 0.0, "not tried", 0, "the time limit was reached"), None))
            continue
        if small is not table:  # compiled and loaded once, so that the sample tells the time of the whole
            _tried(method, how, small.take(np.arange(min(_WARM, small.rows))), policy, 1.0)
        tried.append(_tried(method, how, small, policy, max(left / 2, 1.0)))
    growth = table.rows / small.rows
    slow = {found.method for found, _ in tried if growth > 1 and found.seconds * growth > time_limit}
    if "mondrian" in slow and how.effort == "default":
        # the same groups with less polish, rather than another method
        how = replace(how, effort="fast")
        fast = _tried("mondrian", how, small, policy, 1.0)
        tried = [fast if found.method == "mondrian" else (found, result) for found, result in tried]
        if fast[0].seconds * growth <= time_limit:
            slow.discard("mondrian")
    order = _ranked([candidate for candidate, _ in tried], slow)
    if not order:
        reasons = "; ".join(f"{found.method}: {found.reason}" for found, _ in tried if found.reason)
        raise InputError(f"No method keeps the policy ({reasons}).", "Ask for less, or allow --suppression.")
    results = {candidate.method: result for candidate, result in tried}
    candidates = [candidate for candidate, _ in tried]
    for method in order:
        result = results[method] if small is table else None
        if result is None:
            candidate, result = _tried(method, how, table, policy, time_limit, sampled=candidates)
            candidates = [candidate if found.method == method else found for found in candidates]
        if result is not None and result.verdict == "holds":
            break
    else:
        raise InputError("No method keeps the policy on the whole table.", "Ask for less, or allow --suppression.")
    frontier = _frontier(method, how, small, policy, time_limit - (time.monotonic() - start))
    # methods are compared on the same records: those on which all were tried
    reason = _why(method, [candidate for candidate, _ in tried], slow, small.rows < table.rows)
    choice = Choice(method, candidates, reason, frontier)
    findings = replace(result.findings, search={**(result.findings.search or {}), **choice.to_dict()})
    return replace(result, findings=findings)


def _tried(
    method: str, how: How, table: Table, policy: Policy, seconds: float, sampled: Sequence[Candidate] = ()
) -> tuple[Candidate, Anonymized | None]:
    """A method on a table, with its losses; `sampled`: then the loss of all columns is the sample's."""
    start = time.monotonic()
    try:
        wishes = None if how.wishes is None else replace(how.wishes, time_limit=seconds)
        result = run(method, table, policy, replace(how, wishes=wishes))
    except ShoalError as error:
        return Candidate(method, None, None, time.monotonic() - start, "refused", table.rows, str(error)), None
    took = time.monotonic() - start
    known = {candidate.method: candidate for candidate in sampled}
    names = policy.quasi_identifiers
    information, loss = result.findings.information_loss, result.findings.loss
    if method in known:
        information = known[method].information_loss if information is None else information
        loss = known[method].loss
    elif set(names) <= set(result.polars.columns):
        trees = None if result.plan is None else dict(result.plan.trees)
        figures = quality(table.to_polars(), result.polars, names, hierarchies=trees)
        loss = figures.loss
        information = figures.information_loss if information is None else information
    return Candidate(method, information, loss, took, result.verdict, table.rows), result


def _ranked(candidates: Sequence[Candidate], slow: set[str]) -> list[str]:
    """Methods that hold, the least loss first; what would take too long at full size last."""
    good = [candidate for candidate in candidates if candidate.verdict == "holds"]
    figure = _figure(good)

    def key(candidate: Candidate) -> tuple[bool, float]:
        return candidate.method in slow, float(getattr(candidate, figure) or 0.0)

    return [candidate.method for candidate in sorted(good, key=key)]


def _figure(good: Sequence[Candidate]) -> str:
    """The papers' information loss where it is defined for all, otherwise the loss of all columns."""
    return "information_loss" if all(candidate.information_loss is not None for candidate in good) else "loss"


def _why(method: str, candidates: Sequence[Candidate], slow: set[str], sampled: bool) -> str:
    """One sentence."""
    good = [candidate for candidate in candidates if candidate.verdict == "holds"]
    passed = [candidate.method for candidate in good if candidate.method in slow and candidate.method != method]
    late = f" (not within the time limit: {', '.join(passed)})" if passed else ""
    good = [candidate for candidate in good if candidate.method not in passed]
    figure = _figure(good)
    words = figure.replace("_", " ")
    own = next(candidate for candidate in good if candidate.method == method)
    others = [candidate for candidate in good if candidate.method != method]
    if not others:
        return (
            f"{method} is the only method that keeps the policy here{late}; its {words} is {getattr(own, figure):.4f}."
        )
    second = min(others, key=lambda candidate: float(getattr(candidate, figure)))
    ratio = getattr(own, figure) / getattr(second, figure) if getattr(second, figure) else 1.0
    less = f"{percent(1 - ratio)} less than {second.method}" if ratio < 1 else f"no more than {second.method}'s"
    where = f", tried on {own.rows:,} records" if sampled else ""
    return f"{method} loses least: its {words} is {getattr(own, figure):.4f}, {less}{where}{late}."


def _frontier(method: str, how: How, table: Table, policy: Policy, seconds: float) -> list[dict[str, Any]]:
    """The loss of the chosen method for other k, as far as there is time: what a lower risk costs."""
    own = max((model.k for model in policy.models if isinstance(model, KAnonymity)), default=0)
    others = [model for model in policy.models if not isinstance(model, KAnonymity)]
    found: list[dict[str, Any]] = []
    if not own:
        return found
    end = time.monotonic() + max(seconds, 0)
    for k in sorted({*_KS, own}):
        if time.monotonic() > end or k > table.rows // 2:
            break
        candidate, _ = _tried(method, how, table, policy.model_copy(update={"models": [KAnonymity(k=k), *others]}), 5.0)
        if candidate.verdict == "holds":
            losses = {"information_loss": candidate.information_loss, "loss": candidate.loss}
            found.append({"k": k, "highest_risk": 1 / k, **losses})
    return found
