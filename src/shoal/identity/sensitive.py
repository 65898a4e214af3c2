"""For what k and l? The figures of every model about sensitive values, measured on a table as it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.dataclasses import dataclass
from shoal.errors import as_names
from shoal.identity.results import RecursiveFigure, SensitiveFigures, WorstClass
from shoal.policy.unwritten import Unwritten
from shoal.table import Array, Column
from shoal.table.classes import Coded
from shoal.table.rows import Rows, compact
from shoal.vocabulary import Generalized, NullRule

if TYPE_CHECKING:
    from shoal.judgement.shown import Shown
    from shoal.models import Evidence
    from shoal.models.spread import Spread
    from shoal.policy import Policy
    from shoal.policy.conditions import ColumnCondition

# (c,l)-diversity is told for every l up to here
_MOST_L = 5


@dataclass(frozen=True)
class SensitiveQuestions:
    """What is asked about sensitive values: the columns, and conditions whose disclosure is measured (Eq 5).

    >>> SensitiveQuestions(["illness"], disclosure=["illness in HIV,cancer"]).columns
    ['illness']
    """

    columns: Sequence[str] | str = ()
    disclosure: Sequence[str] | str = ()


@dataclass(frozen=True)
class Asked:
    """Questions, read: every column once, those of conditions included."""

    columns: list[str]
    conditions: list[ColumnCondition]


def asked(questions: Sequence[str] | str | SensitiveQuestions | None) -> Asked:
    """The columns and conditions of what was asked.

    >>> asked(SensitiveQuestions("illness", "charge > 100")).columns
    ['illness', 'charge']
    """
    if questions is None:
        return Asked([], [])
    if not isinstance(questions, SensitiveQuestions):
        questions = SensitiveQuestions(questions)
    texts = as_names(questions.disclosure) or []
    if not texts:
        return Asked(as_names(questions.columns) or [], [])
    from shoal.policy.conditions import parse_condition

    conditions = [parse_condition(text) for text in texts]
    names = [*(as_names(questions.columns) or []), *(condition.column for condition in conditions)]
    return Asked(list(dict.fromkeys(names)), conditions)


def sensitive_figures(
    rows: Rows,
    names: Sequence[str],
    questions: Asked,
    null_rule: NullRule,
    generalized: Generalized,
    policy: Policy | Unwritten,
) -> list[SensitiveFigures]:
    """The figures of every sensitive column over the classes of some quasi-identifiers; `rows` have both."""
    from shoal.judgement.shown import shown_in

    shown = shown_in(rows.select(names), null_rule, generalized=generalized)
    columns = {name: compact(rows.select([name]).columns[0]) for name in questions.columns}
    evidence = _evidence(shown, columns, _trees(policy, list(columns.values())))
    found = []
    for name, column in columns.items():
        conditions = [condition for condition in questions.conditions if condition.column == name]
        disclosed = {condition.text: _disclosed(shown, condition.meets(column)) for condition in conditions}
        found.append(_figures(name, evidence, disclosed))
    return found


def _trees(policy: Policy | Unwritten, columns: list[Column]) -> dict[str, tuple[Array, ...]]:
    if isinstance(policy, Unwritten):
        return {}
    from shoal.judgement.evidence import trees_of

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
    from shoal.judgement.disclosure import attribute_disclosure

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
