"""Identity risk of a table whose tuples are too many for one machine: histograms of class sizes from where rows are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from shoal.engine import Engine, SizeHistogram, TooManyTuples
from shoal.errors import Message
from shoal.exposure.journalist import attacker_risk, journalist_risk, sampled_classes
from shoal.exposure.measure import ClassHistogram
from shoal.exposure.results import IdentityRisk, Knowledge, SizeCount
from shoal.exposure.sample import Sample
from shoal.exposure.sensitive import judged
from shoal.policy import Policy
from shoal.policy.default_policy import DefaultPolicy
from shoal.policy.thresholds import Threshold
from shoal.ranges.parsing import forms_in
from shoal.storage.reading import Options
from shoal.storage.rows import Rows
from shoal.vocabulary import Generalized, NullRule

NOTE = "the tuples are too many for one machine: classes were counted where the rows are, readings of nulls were not"


def rolled_up(
    engine: Engine,
    source: Any,
    names: list[str],
    groups: Mapping[str, list[str]],
    *,
    reading: tuple[NullRule, Generalized],
    count: str | None,
    limit: Threshold,
    policy: Policy | DefaultPolicy,
    sample: Sample,
    options: Options | None,
) -> IdentityRisk:
    """What `risk` says where classes are of equal values: the same figures, from roll-ups."""
    rule, generalized = reading
    chosen = [some for size in range(1, len(groups) + 1) for some in combinations(groups, size)]
    known = [list(dict.fromkeys(column for name in some for column in groups[name])) for some in chosen]
    measured = list(dict.fromkeys([*names, *(name for columns in groups.values() for name in columns)]))
    missing = _missing_values(engine, source, names, generalized, count, options)
    dropped = measured if rule == "drop" else ()
    sizes, *others = engine.sizes(source, [names, *known], count=count, without_nulls=dropped, options=options)
    cells, removed = _cells(sizes), sizes.removed
    total = cells.measured
    classes = sampled_classes(sample, cells, None, total + removed)
    nobody = Rows([])
    journalist = journalist_risk(nobody, None, classes, reading, limit, options)
    prosecutor = attacker_risk(cells.members, 1 / cells.sizes, limit)
    knowledge = []
    for some, histogram in zip(chosen, others, strict=True):
        uniques = _cells(histogram).uniques
        knowledge.append(Knowledge(list(some), uniques, uniques / total, 0))
    return IdentityRisk(
        records=total,
        removed_rows=removed,
        persons=None,
        classes=int(cells.classes.sum()),
        uniques=cells.uniques,
        uniqueness=cells.uniques / total,
        k=cells.k,
        null_rule=rule,
        quasi_identifiers=names,
        undecided=0,
        suppressed_rows=0,
        prosecutor=prosecutor,
        journalist=journalist.risk,
        journalist_by=journalist.by,
        risk_over=sample.over,
        marketer=journalist.risk or prosecutor,
        histogram=[SizeCount(*row) for row in np.stack([cells.sizes, cells.classes, cells.members], 1).tolist()],
        knowledge=knowledge if groups else None,
        sensitive=None,
        models=judged(policy, nobody, classes, reading, sample.over, total + removed),
        generalized={},
        readings={},
        population_table=None,
        threshold_name=limit.name,
        missing={} if dropped else missing,
        notes=[NOTE],
        population=None,
        chosen=None,
        chosen_reason=None,
        predictions=None,
        individual=None,
        suda=None,
        per_record=None,
    )


def refuse_beyond_equality(
    error: TooManyTuples, policy: Policy | DefaultPolicy, rule: NullRule, *asked: object
) -> None:
    """Raise the error again where something was asked for that needs the tuples themselves."""
    about_tuples = any(model.needs_files or model.needs_keys for model in policy.models)
    if about_tuples or rule == "wildcard" or any(asked):
        raise error


def _missing_values(
    engine: Engine,
    source: Any,
    names: Sequence[str],
    generalized: Generalized,
    count: str | None,
    options: Options | None,
) -> dict[str, int]:
    """Records without a value, column by column; refuses generalised texts, which match more than their equals."""
    missing_by_column = {}
    for name in names:
        counted = engine.count(source, [name], count=count, options=options)
        if forms_in(counted.columns[name], generalized):
            raise TooManyTuples(
                f"Column '{name}' holds generalised texts, and the tuples are too many to be compared on one machine.",
                Message("Measure fewer columns, or set `{generalized}` to no to compare texts as they are."),
            )
        if missing := counted.rows.records_in(counted.columns[name].is_null()):
            missing_by_column[name] = missing
    return missing_by_column


def _cells(found: SizeHistogram) -> ClassHistogram:
    members = found.sizes * found.classes
    return ClassHistogram(found.sizes, found.classes, members, int(found.classes[found.sizes == 1].sum()))
