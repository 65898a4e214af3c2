"""Leaks of a table whose tuples are too many for one machine: a histogram of class sizes from where the rows are."""

from __future__ import annotations

from typing import Any

from shoal.engine import Engine, TooManyTuples
from shoal.leakage.sizes import ClassSizes
from shoal.leakage.subject import EVERY_RECORD, Subject, set_aside
from shoal.policy import Policy
from shoal.ranges.parsing import forms_in
from shoal.reading import Options
from shoal.vocabulary import Generalized, NullRule

NOTE = "the tuples are too many for one machine: classes were counted where the rows are"


def rolled_up(
    engine: Engine,
    source: Any,
    columns: list[str],
    error: TooManyTuples,
    policy: Policy,
    rule: NullRule,
    generalized: Generalized,
    count: str | None,
    options: Options | None,
) -> Subject:
    """Who could leak, by class sizes alone; raises `error` again where records may be `*` in every column.

    Classes of a leak are of equal values, so that nothing but the sizes is needed. Records that are `*` everywhere
    stand in no class: where each column has a `*`, only the tuples tell whether there are some.
    """
    starred, about = [], None
    for name in columns:
        about = engine.count(source, [name], count=count, options=options)
        starred.append("star" in forms_in(about.columns[name], generalized))
        if not starred[-1]:
            break
    if all(starred) or about is None:
        raise error
    dropped = columns if rule == "drop" else ()
    (found,) = engine.sizes(source, [columns], count=count, without_nulls=dropped, options=options)
    classes = ClassSizes(found.sizes, found.classes)
    notes = [*about.notes, *policy.remarks(about), *set_aside(found.removed), NOTE]
    if count is None:
        notes.append(EVERY_RECORD)
    return Subject(classes.persons, classes, notes=tuple(notes), too_many=error)
