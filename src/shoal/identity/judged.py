"""The models of a policy, judged by the classes that `risk` counts: what cannot be judged there does not hold."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from shoal.identity.journalist import SampledClasses
from shoal.policy.unwritten import Unwritten
from shoal.results.verdict import Verdict
from shoal.table.rows import Rows
from shoal.vocabulary import Generalized, NullRule, RiskOver

if TYPE_CHECKING:
    from shoal.judgement.shown import Shown
    from shoal.models.base import Evidence
    from shoal.policy import Policy


def judged(
    policy: Policy | Unwritten,
    rows: Rows,
    classes: SampledClasses,
    reading: tuple[NullRule, Generalized],
    over: RiskOver,
    records: int,
) -> list[Verdict]:
    """A verdict for every model of the policy, on a table of `records` with those that were set aside.

    Models of class sizes are judged by the histogram of the classes; those that look at a population or at what tells
    classes apart, by the classes one by one. A model of a sensitive column needs its rows (`shoal verify`): it is `not
    judged`, which does not hold.
    """
    if not policy.models:
        return []
    by_size = _by_size(rows, classes, reading, over, records)
    singly = None
    found = []
    for model in policy.models:
        if reason := _not_here(model, rows):
            worst = {model.figure: None, "status": "not judged", "reason": reason}
            found.append(Verdict(model.model, model.parameters(), False, worst))
        elif model.needs_files or model.needs_keys:
            singly = singly or _singly(policy, rows, reading, records, by_size)
            found.append(model.judge(singly))
        else:
            found.append(model.judge(by_size))
    return found


def _not_here(model: Any, rows: Rows) -> str | None:
    if model.needs:
        return "it is about a sensitive column: use verify"
    if rows.person is not None and model.needs_files:
        return "a population is not counted where a person has many rows"
    return "what tells histories apart is not looked at: use verify" if rows.person and model.needs_keys else None


def _by_size(
    rows: Rows, classes: SampledClasses, reading: tuple[NullRule, Generalized], over: RiskOver, records: int
) -> Evidence:
    """The classes as a histogram; where missing values match, one by one: a size then says nothing of the members."""
    from shoal.models.base import Evidence, PeopleEstimate

    matching = bool((classes.sizes * (1 if classes.classes is None else classes.classes) != classes.members).any())
    if matching and classes.classes is not None:
        shown = _shown(rows, reading)
        people = None if classes.people is None else shown.sizes * (classes.people[0] / classes.sizes[0])
        classes = replace(classes, sizes=shown.sizes, members=shown.members, classes=None, people=people)
    estimate = None
    if classes.people is not None or classes.reason is not None:
        estimate = PeopleEstimate(classes.people, classes.by or "", classes.reason or "")
    members = classes.members if matching else None
    return Evidence(classes.sizes, classes.classes, records, members=members, estimate=estimate, risk_over=over)


def _singly(
    policy: Policy | Unwritten,
    rows: Rows,
    reading: tuple[NullRule, Generalized],
    records: int,
    by_size: Evidence,
) -> Evidence:
    """Every class with its people in the populations that models name, and what tells it apart."""
    from shoal.judgement.evidence import people_of_models
    from shoal.models.evidence import evidence_of_rows
    from shoal.policy import Policy

    assert isinstance(policy, Policy)
    shown = _shown(rows, reading)
    names = [column.name for column in rows.columns]
    found = evidence_of_rows(
        shown.class_of_row,
        {},
        keys={name: codes.codes for name, codes in zip(names, shown.columns, strict=True)},
        stars=dict(zip(names, shown.stars, strict=True)),
        weights=rows.weights,
        populations=people_of_models(rows.columns, policy, shown.class_of_row, names),
    )
    if shown.matching:
        found = replace(found, sizes=shown.sizes, members=shown.members)
    return replace(found, records=records, risk_over=by_size.risk_over)


def _shown(rows: Rows, reading: tuple[NullRule, Generalized]) -> Shown:
    from shoal.judgement.shown import shown_in

    return shown_in(rows, reading[0], generalized=reading[1])
