"""For what k and l? The figures of every model about sensitive values, measured on a table as it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from shoal.errors import as_names
from shoal.exposure.journalist import SampledClasses
from shoal.exposure.results import RecursiveFigure, SensitiveFigures, WorstClass
from shoal.policy.default_policy import DefaultPolicy
from shoal.policy.judgement.shown_classes import Shown, attribute_disclosure, shown_in
from shoal.results.sections import Verdict
from shoal.storage import Array, Column
from shoal.storage.classes import Coded
from shoal.storage.rows import Rows, compact
from shoal.vocabulary import Generalized, NullRule, RiskOver

if TYPE_CHECKING:
    from shoal.models import Evidence
    from shoal.models.spread import Spread
    from shoal.policy import Policy
    from shoal.policy.conditions import ColumnCondition


# (c,l)-diversity is told for every l up to here
_MOST_L = 5


class CheckedQuestions(NamedTuple):
    """Questions, read: every column once, those of conditions included."""

    columns: list[str]
    conditions: list[ColumnCondition]


def checked_questions(columns: Sequence[str] | str | None, disclosure: Sequence[str] | str = ()) -> CheckedQuestions:
    """Sensitive columns, and conditions whose disclosure is measured (Eq 5), as they were asked for.

    >>> checked_questions("illness", "charge > 100").columns
    ['illness', 'charge']
    """
    texts = as_names(disclosure) or []
    if not texts:
        return CheckedQuestions(as_names(columns) or [], [])
    from shoal.policy.conditions import parse_condition

    conditions = [parse_condition(text) for text in texts]
    names = [*(as_names(columns) or []), *(condition.column for condition in conditions)]
    return CheckedQuestions(list(dict.fromkeys(names)), conditions)


def sensitive_figures(
    rows: Rows,
    names: Sequence[str],
    questions: CheckedQuestions,
    null_rule: NullRule,
    generalized: Generalized,
    policy: Policy | DefaultPolicy,
) -> list[SensitiveFigures]:
    """The figures of every sensitive column over the classes of some quasi-identifiers; `rows` have both."""
    shown = shown_in(rows.select(names), null_rule, generalized=generalized)
    columns = {name: compact(rows.select([name]).columns[0]) for name in questions.columns}
    evidence = _evidence(shown, columns, _trees(policy, list(columns.values())))
    figures = []
    for name, column in columns.items():
        conditions = [condition for condition in questions.conditions if condition.column == name]
        disclosed = {condition.text: _disclosed(shown, condition.meets(column)) for condition in conditions}
        figures.append(_figures(name, evidence, disclosed))
    return figures


def _trees(policy: Policy | DefaultPolicy, columns: list[Column]) -> dict[str, tuple[Array, ...]]:
    if isinstance(policy, DefaultPolicy):
        return {}
    from shoal.policy.judgement.evidence import trees_of

    return trees_of(policy, columns)


def _evidence(shown: Shown, columns: dict[str, Column], trees: dict[str, tuple[Array, ...]]) -> Evidence:
    """The evidence that models are judged by; with persons, of persons."""
    from dataclasses import replace

    from shoal.models.evidence import evidence_of_persons, evidence_of_rows

    person = shown.rows.person
    if person is not None:
        whose = Coded(person.codes, person.cardinality)
        return evidence_of_persons(shown.class_of_person, whose, shown.combinations, columns, trees=trees)
    evidence = evidence_of_rows(shown.class_of_row, columns, weights=shown.rows.weights, trees=trees)
    return replace(evidence, sizes=shown.sizes, members=shown.members) if shown.matching else evidence


def _disclosed(shown: Shown, meets: Array) -> float | None:
    """Eq 5; suppressed rows are alike, so they are one class. With persons, who meets it in any record meets it."""
    person, weights = shown.rows.person, shown.rows.weights
    classes = shown.class_of_row if person is None else shown.class_of_person
    if person is not None:
        there = np.bincount(person.codes, minlength=person.cardinality) > 0
        meets = np.bincount(person.codes[meets], minlength=len(there))[there] > 0
        classes, weights = classes[there], None
    last = int(classes.max(initial=-1)) + 1
    return attribute_disclosure(np.where(classes < 0, last, classes), last + 1, meets, weights).share


def _figures(name: str, evidence: Evidence, disclosed: dict[str, float | None]) -> SensitiveFigures:
    if not len(evidence.sizes):  # no class: nothing is shown, and nothing holds
        return SensitiveFigures(name, None, None, [], None, None, None, None, None, disclosed)
    from shoal.models import (
        AlphaKAnonymity,
        BetaLikeness,
        DeltaDisclosure,
        EntropyLDiversity,
        LDiversity,
        RecursiveLDiversity,
        TCloseness,
    )

    spread = evidence.spreads[name]
    # their limits are never looked at: only what they measure is
    by_class = {
        "l_distinct": _measured(LDiversity(l=2, sensitive=name), spread),
        "l_entropy": _measured(EntropyLDiversity(l=2, sensitive=name), spread),
        "t": _measured(TCloseness(t=1, sensitive=name), spread),
        "alpha": _measured(AlphaKAnonymity(alpha=0.5, k=2, sensitive=name), spread),
        "beta": _measured(BetaLikeness(beta=1, sensitive=name), spread),
        "delta": _measured(DeltaDisclosure(delta=1, sensitive=name), spread),
    }
    least = {
        figure: float(values.min() if figure.startswith("l_") else values.max()) for figure, values in by_class.items()
    }
    l_distinct = int(least.pop("l_distinct"))
    recursive = [
        RecursiveFigure(l, float(_measured(RecursiveLDiversity(c=1, l=l, sensitive=name), spread).max()))
        for l in range(2, min(l_distinct, _MOST_L) + 1)  # noqa: E741
    ]
    worst = int(np.lexsort((-by_class["t"], -by_class["alpha"], by_class["l_distinct"]))[0])
    figures = {figure: float(values[worst]) for figure, values in by_class.items()}
    at_worst = WorstClass(int(evidence.sizes[worst]), **{**figures, "l_distinct": int(figures["l_distinct"])})  # type: ignore[arg-type]
    return SensitiveFigures(
        name, l_distinct, least["l_entropy"], recursive, least["t"], least["alpha"], least["beta"], least["delta"],
        at_worst, disclosed,
    )  # fmt: skip


def _measured(model: Any, spread: Spread) -> Array:
    """The figure of a model in each class."""
    return np.asarray(spread.worst(model.measure_cells(spread), model.at_most))


# The models of a policy, judged by the classes that `risk` counts: what cannot be judged there does not hold.


def judged(
    policy: Policy | DefaultPolicy,
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
    verdicts = []
    for model in policy.models:
        if reason := _not_here(model, rows):
            worst = {model.figure: None, "status": "not judged", "reason": reason}
            verdicts.append(Verdict(model.model, model.parameters(), False, worst))
        elif model.needs_files or model.needs_keys:
            singly = singly or _singly(policy, rows, reading, records, by_size)
            verdicts.append(model.judge(singly))
        else:
            verdicts.append(model.judge(by_size))
    return verdicts


def _not_here(model: Any, rows: Rows) -> str | None:
    if model.of_sets:
        return "it is about items: name them in a policy, or use verify"
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
        shown = shown_in(rows, reading[0], generalized=reading[1])
        people = None if classes.people is None else shown.sizes * (classes.people[0] / classes.sizes[0])
        classes = replace(classes, sizes=shown.sizes, members=shown.members, classes=None, people=people)
    estimate = None
    if classes.people is not None or classes.reason is not None:
        counts = np.ones(len(classes.sizes)) if classes.classes is None else classes.classes
        population = 0.0 if classes.people is None else float(classes.people @ counts)
        draws = classes.draws
        estimate = PeopleEstimate(classes.people, classes.by or "", population, classes.reason or "", draws=draws)
    members = classes.members if matching else None
    return Evidence(classes.sizes, classes.classes, records, members=members, estimate=estimate, risk_over=over)


def _singly(
    policy: Policy | DefaultPolicy, rows: Rows, reading: tuple[NullRule, Generalized], records: int, by_size: Evidence
) -> Evidence:
    """Every class with its people in the populations that models name, and what tells it apart."""
    from shoal.models.evidence import evidence_of_rows
    from shoal.policy import Policy
    from shoal.policy.judgement.evidence import people_of_models

    assert isinstance(policy, Policy)
    shown = shown_in(rows, reading[0], generalized=reading[1])
    names = [column.name for column in rows.columns]
    evidence = evidence_of_rows(
        shown.class_of_row,
        {},
        keys={name: codes.codes for name, codes in zip(names, shown.columns, strict=True)},
        stars=dict(zip(names, shown.stars, strict=True)),
        weights=rows.weights,
        populations=people_of_models(rows.columns, policy, shown.class_of_row, names),
    )
    if shown.matching:
        evidence = replace(evidence, sizes=shown.sizes, members=shown.members)
    return replace(evidence, records=records, risk_over=by_size.risk_over)
