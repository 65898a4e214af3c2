"""A plan and its answer in plain words: whose rows, what they can change, how far off, what is missing."""

from __future__ import annotations

import math
from typing import Any

from shoal.dp.answers import Outcome, errors_by_rows
from shoal.dp.plans import Plan
from shoal.dp.results import number
from shoal.dp.terms import Terms
from shoal.policy.decimals import written
from shoal.wording import counted, in_words


def protected(terms: Terms) -> str:
    """Whose presence is hidden."""
    if terms.person is None:
        return "Each row is taken as one person: the desk has no person column."
    rows = counted(terms.max_rows_per_person, "row")
    return f"A person is a value of {terms.person}; at most {rows} of each counts, drawn when the desk opened."


def presence(plan: Plan, terms: Terms) -> str:
    """What one person's presence can change."""
    query = plan.query
    epsilon = float(query.epsilon)
    factor = f"{math.exp(epsilon):.3g}" if epsilon < 50 else f"e^{epsilon:g}"
    words = f"One person's presence changes {_change(plan)}"
    if terms.accounting == "zcdp":
        price = written(query.price(terms).loss)
        words += f"; the answer costs rho {price}, as much as one with epsilon {written(query.epsilon)}"
    else:
        words += f", and the chance of any answer by a factor of at most {factor} (e^{written(query.epsilon)})"
    return words + (f", but for a chance of {written(query.delta)}." if query.delta else ".")


def _change(plan: Plan) -> str:
    rows, query = plan.rows_per_person, plan.query
    groups = " over all groups together" if query.by or query.bins else ""
    if query.kind == "persons":
        return "the exact count by at most 1" + (f" in at most {counted(rows, 'group')}" if query.by else "")
    if query.kind == "sum" and plan.sums is not None:
        most = plan.sums.steps.reach * plan.sums.steps.size * rows
        return f"the exact sum by at most {number(most)}{groups}"
    if query.kind in ("count", "histogram"):
        return f"the exact count by at most {number(rows)}{groups}"
    return f"at most {counted(rows, 'row')} of those that the {query.kind} is computed from"


def error(plan: Plan, off: float | None) -> str | None:
    """How far the answer may be off."""
    if off is None:
        return None
    if plan.choices:
        step = plan.query.step
        assert step is not None
        return (
            f"With 95% confidence at most {number(off)} rows lie between the answer and the true quantile; "
            f"answers lie {number(float(step))} apart. Trust it where far more rows were selected."
        )
    if plan.query.kind in ("mean", "variance") and plan.query.by:
        return f"Each true value is within its ± with 95% confidence, at most ±{number(off)}."
    each = "Each true value" if plan.query.by or plan.query.bins else "The true value"
    return f"{each} is within ±{number(off)} with 95% confidence."


def error_by_rows(plan: Plan) -> str | None:
    """The error of a mean or variance before it is asked, for tables of several sizes."""
    found = errors_by_rows(plan)
    if not found:
        return None
    listed = ", ".join(f"±{number(off)} for {int(rows):,}" for rows, off in found.items())
    return f"The error depends on how many rows are selected, which is private: at most {listed} rows."


def rules(plan: Plan, terms: Terms) -> list[str]:
    """Missing values, bounds, thresholds: what the true value is the true value of."""
    query = plan.query
    found = []
    needed = list(dict.fromkeys([*query.by, *([query.column] if query.column else [])]))
    if needed:
        found.append(f"Rows without a value in {in_words(needed)} are left out (null, NaN).")
    if query.where is not None:
        found.append("A comparison with a missing value is neither true nor false: it selects no row.")
    if query.low is not None and query.high is not None:
        low, high = written(query.low), written(query.high)
        found.append(f"Values below {low} or above {high} count as {low} or {high}; the error does not include that.")
    elif query.bins:
        found.append("Values beyond the first and the last edge are counted in the first and the last bin.")
    if terms.person is not None:
        found.append("True values are those of the capped rows; the error does not include what the cap left out.")
    if plan.keys is not None:
        who = "persons" if query.kind == "persons" else "rows"
        found.append(
            f"Groups are shown if their noisy count of {who} reaches {plan.keys.threshold:,}; "
            "name the groups (keys) to see all."
        )
    elif query.keys is not None:
        found.append("Rows of other groups than the keys given are left out.")
    return found


def warnings(plan: Plan, outcome: Outcome) -> list[str]:
    """Where the noise drowns the signal."""
    found = []
    entries: list[dict[str, Any]] = (
        outcome.answer if isinstance(outcome.answer, list) else [{"key": None, "answer": outcome.answer}]
    )
    if outcome.error_95 is not None and not plan.choices:
        drowned = [
            entry for entry in entries if 2 * entry.get("error_95", outcome.error_95) > abs(entry["answer"] or 0)
        ]
        if drowned and len(entries) == 1:
            found.append("The noise drowns the signal: the error is more than half of the answer. Give more epsilon.")
        elif drowned:
            found.append(
                f"The noise drowns the signal in {len(drowned):,} of {len(entries):,} groups: the error is more than "
                "half of the answer. Give more epsilon, or ask for fewer, larger groups."
            )
    if isinstance(outcome.answer, list) and not entries:
        found.append("No group is large enough to be shown. Give more epsilon or delta, or name the groups (keys).")
    if plan.query.epsilon > 10:
        found.append("An epsilon above 10 promises next to nothing.")
    return found
