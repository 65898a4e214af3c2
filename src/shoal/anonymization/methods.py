"""The methods by name: from a table, a policy and how it was asked for to a changed table and its findings."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import polars as pl

from shoal.anonymization.findings import Anonymized, evidence_of_result, findings_of, judged
from shoal.anonymization.microaggregation import microaggregate, sum_of_squares
from shoal.anonymization.partition import Bad, Cuts, Effort, partition
from shoal.anonymization.transforms.coarsen import Labels, coarsen
from shoal.anonymization.transforms.mask import Step, mask
from shoal.anonymization.transforms.safe_first import untouched_if_safe as keep_safe
from shoal.anonymization.transforms.sorted_clusters import Remainder, close_clusters, sorted_clusters
from shoal.anonymization.transforms.wishes import Where, recoded_columns
from shoal.errors import InputError, check_choice
from shoal.judgement.evidence import trees_of
from shoal.models import KAnonymity, TCloseness, XYAnonymity
from shoal.models.evidence import evidence_of_rows
from shoal.policy import Policy
from shoal.policy.conditions import ColumnCondition
from shoal.ranges.boxed import Boxed, spread
from shoal.ranges.columns import Form, ReleasedColumns, released_columns
from shoal.reading import read
from shoal.table import Array, Column, Table
from shoal.table.classes import class_of_each_row, pack
from shoal.utility.quality import quality

if TYPE_CHECKING:
    from shoal.anonymization.search.generalize import Generalized, Wishes
    from shoal.anonymization.search.plan import Plan

Method = Literal["sorted-clusters", "coarsen", "mask", "recode", "mondrian", "microaggregate", "lattice", "suppress"]
_COMPARED = 200_000
# boxes as a function of columns, and the parameters for the manifest
Made = tuple[Callable[[Sequence[Column]], Boxed], dict[str, Any]]


@dataclass(frozen=True)
class How:
    """What is said about how to change a table; each method takes what concerns it."""

    resolution: int | None = None
    labels: Labels = "range"
    remainder: Remainder = "top"
    effort: Effort = "default"
    cuts: Cuts = "best"
    weights: Mapping[str, float] = field(default_factory=dict)
    mdav: bool = False
    strata: list[str] = field(default_factory=list)
    untouched_if_safe: bool = False
    interval: Form | None = None
    generalize: Mapping[str, str] = field(default_factory=dict)
    where: Where = "all"
    search: bool = False
    hierarchies: Any = None
    complete_hierarchies: bool = False
    wishes: Wishes | None = None
    conditions: Sequence[ColumnCondition] = ()
    reading: str | None = None
    importance: Mapping[str, float] = field(default_factory=dict)
    all_m: int | None = None
    k_alone: bool = False


def run(method: str, table: Table, policy: Policy, how: How) -> Anonymized:
    """Change a table by a method."""
    check_choice("method", method, get_args(Method))
    if method != "lattice" and (policy.count is not None or policy.person is not None):
        raise InputError(
            "Tables of counts and of persons with many rows are anonymised by the lattice only.",
            "Use --method lattice, or one row a person.",
        )
    start = time.perf_counter()
    if method == "lattice":
        found = by_lattice(table, policy, how)
    elif method == "recode":
        found = _recode(table, policy, how)
    elif method == "suppress":
        from shoal.anonymization.suppression.method import by_suppression

        found = by_suppression(table, policy, how.k_alone, how.reading, how.importance, how.all_m, how.conditions)
    else:
        found = _by_boxes(method, table, policy, how)
    seconds = time.perf_counter() - start
    names = policy.quasi_identifiers
    # so that releases can be compared; on large tables where it costs nothing
    if table.rows <= _COMPARED and set(names) <= set(found.polars.columns):
        trees = None if found.plan is None else dict(found.plan.trees)
        figures = quality(table.to_polars(), found.polars, names, hierarchies=trees)
        information = found.findings.information_loss
        information = figures.information_loss if information is None else information
        found = replace(found, findings=replace(found.findings, loss=figures.loss, information_loss=information))
    return replace(found, seconds=seconds)


def _recode(table: Table, policy: Policy, how: How) -> Anonymized:
    """Pastore's recodings, as wished or elected."""
    columns = table.select(policy.quasi_identifiers)
    below = max((model.k for model in policy.models if isinstance(model, KAnonymity)), default=2)
    released, parameters, strategies = recoded_columns(columns, how.generalize, how.where, how.search, below)
    class_of_row, count = class_of_each_row(pack([_shown(column) for column in released.values()]))
    classes = class_of_row, count
    close = t_closeness_of(policy)
    findings = findings_of(table, columns, None, released, classes, how.conditions, close, strategies, False)
    verdicts = judged(policy, evidence_of_result(table, policy, released, class_of_row))
    return Anonymized(table, policy, "recode", parameters, released, findings, verdicts)


def _by_boxes(method: str, table: Table, policy: Policy, how: How) -> Anonymized:
    """A method that puts every row into a box."""
    columns = table.select(policy.quasi_identifiers)
    if how.untouched_if_safe and (method != "sorted-clusters" or t_closeness_of(policy) is not None):
        raise InputError("Untouched if safe works with sorted-clusters and k alone.", "Leave out --t, or the option.")
    form = how.interval or ("mean" if method == "microaggregate" else "bracket")
    way, parameters = _MAKERS[method](table, policy, how)
    boxed = keep_safe(columns, k_of(policy), way) if how.untouched_if_safe else way(columns)
    parameters |= {"interval": form, "untouched_if_safe": how.untouched_if_safe}
    released = {column.name: released_columns(column, boxed, form) for column in columns}
    # boxes that are equal may have different means
    shown = [_shown(column) for column in released.values()] if form == "mean" else []
    classes = class_of_each_row(pack(shown)) if shown else boxed.class_of_each_row()
    close, means = t_closeness_of(policy), form == "mean"
    findings = findings_of(table, columns, boxed, released, classes, how.conditions, close, None, means)
    if method == "microaggregate":
        findings = replace(findings, squares_within=_squares_within(columns, boxed))
    verdicts = judged(policy, evidence_of_result(table, policy, released, classes[0]))
    return Anonymized(table, policy, method, parameters, released, findings, verdicts)


def _shown(column: ReleasedColumns) -> Column:
    """A released column, encoded again."""
    series = column.series[0]
    return read(pl.DataFrame({series.name: series}))[series.name]


def by_lattice(table: Table, policy: Policy, how: How, plan: Plan | None = None) -> Anonymized:
    """The best generalisation of a table, or what a plan makes of it."""
    from shoal.anonymization.search.generalize import Wishes, score_of
    from shoal.anonymization.search.lattice import prepare, relabel, solve
    from shoal.anonymization.search.plan import Plan, follow
    from shoal.anonymization.search.quality import COLUMN_QUALITIES
    from shoal.hierarchy.chosen import given_hierarchies

    wishes, hierarchies, conditions = how.wishes or Wishes(), how.hierarchies, how.conditions
    if plan is not None:
        needed = {name for model in policy.models for name in model.needs}
        hierarchies = {**given_hierarchies(policy.hierarchies, needed), **plan.trees}
    prepared = prepare(table, policy, hierarchies, wishes, how.complete_hierarchies or plan is not None)
    if plan is not None:  # trees that were built stay out of what is published
        prepared = replace(prepared, policy=policy)
    found = solve(prepared) if plan is None else follow(prepared.space, plan, prepared.policy)
    shown = relabel(found)
    evidence = evidence_of_result(table, prepared.policy, shown.columns, shown.class_of_row, _levels(found))
    while plan is None and len(found.rounds) > 1 and not all(v.holds for v in judged(prepared.policy, evidence)):
        # each round keeps its models, but a model about all rounds together may break: then the last goes
        found = found.without_last_round()
        shown = relabel(found)
        evidence = evidence_of_result(table, prepared.policy, shown.columns, shown.class_of_row, _levels(found))
    search: dict[str, Any] = {"levels": found.levels}
    if plan is None:
        optimum = found.optimum
        search |= {
            "score": optimum.score,
            "nodes_total": optimum.nodes_total,
            "nodes_checked": optimum.nodes_checked,
            "optimal": optimum.optimal,
            "lower_bound": optimum.lower_bound,
            "rounds": len(found.rounds),
        }
        if len(found.rounds) > 1:  # what was proven of one generalisation for all rows says nothing about several
            score = score_of(found, prepared.space.grid(wishes)) if wishes.quality in COLUMN_QUALITIES else None
            search |= {"score": score, "global_score": optimum.score, "optimal": False, "lower_bound": None}
    search["built_hierarchies"] = prepared.built
    findings = findings_of(
        table,
        table.select(policy.quasi_identifiers),
        None,
        shown.columns,
        (shown.class_of_row, shown.classes),
        conditions,
        t_closeness_of(policy),
        None,
        False,
    )
    parameters = {
        "suppression": wishes.suppression,
        "quality": wishes.quality,
        "levels": _levels(found),
        "local": wishes.local,
        "plan": plan is not None,
    }
    weights = prepared.space.weights
    if weights is not None:
        lost = int(weights[found.round_of_row < 0].sum())
        findings = replace(findings, records=int(weights.sum()), suppressed_rows=lost)
    sizes = evidence.sizes  # of records, or of persons
    k, uniques = int(sizes.min()) if len(sizes) else 0, int((sizes == 1).sum())
    return Anonymized(
        table,
        prepared.policy,
        "lattice",
        parameters,
        shown.columns,
        replace(findings, search=search, k=k, uniques=uniques, classes=len(sizes), loss=_loss(found, wishes)),
        judged(prepared.policy, evidence),
        Plan(prepared.policy, prepared.trees, found.rounds) if plan is None else plan,
    )


def _loss(found: Generalized, wishes: Wishes) -> float:
    """The loss of all rounds together, whatever quality was searched for."""
    from shoal.anonymization.search.generalize import score_of

    return score_of(found, found.space.grid(replace(wishes, quality="loss", weights={})))


def _levels(found: Generalized) -> dict[str, int] | None:
    """The level of each column; several rounds have no level of their own."""
    return found.levels if len(found.rounds) == 1 else None


def k_of(policy: Policy) -> int:
    """The k of a policy."""
    found = [model.k for model in policy.models if isinstance(model, KAnonymity)]
    if not found:
        raise InputError("This method needs k.", "Give -k 5, or a k-anonymity model in the policy.")
    return max(found)


def t_closeness_of(policy: Policy) -> TCloseness | None:
    """The model of ordered t-closeness, if there is one."""
    return next((model for model in policy.models if isinstance(model, TCloseness)), None)


def _partition(table: Table, policy: Policy, how: How) -> Made:
    """Multidimensional partitioning under every model of the policy, and its parameters for the manifest."""
    k, bad = k_of(policy), _bad_groups(table, policy)
    parameters = {"k": k, "effort": how.effort, "cuts": how.cuts, "weights": dict(how.weights)}
    return lambda columns: partition(columns, k, how.effort, cuts=how.cuts, weights=how.weights, bad=bad), parameters


def _microaggregate(table: Table, policy: Policy, how: How) -> Made:
    """Microaggregation under every model of the policy, and its parameters for the manifest."""
    k, close, bad, kept = k_of(policy), t_closeness_of(policy), _bad_groups(table, policy), table.select(how.strata)
    both = [name for name in how.strata if name in policy.quasi_identifiers]
    if both:
        raise InputError(f"Column '{both[0]}' is a quasi-identifier and a stratum at once.", "Decide on one of them.")
    parameters = {"k": k, "effort": how.effort, "mdav": how.mdav, "strata": how.strata, "weights": dict(how.weights)}
    confidential = table[close.sensitive] if close and not how.strata and not how.mdav else None
    return (
        lambda columns: microaggregate(
            columns,
            k,
            how.effort,
            mdav=how.mdav,
            strata=kept,
            confidential=confidential,
            t=close.t if close else None,
            weights=how.weights,
            bad=bad,
        ),
        parameters | ({"t": close.t} if close else {}),
    )


def _squares_within(columns: Sequence[Column], boxed: Boxed) -> float | None:
    """SSE / SST of the groups, each column in units of its spread; none where nothing varies."""
    from shoal.anonymization.partition.coordinates import coordinates_apart

    within, whole = sum_of_squares(coordinates_apart(columns), boxed.box_of_row)
    return within / whole if whole else None


def _bad_groups(table: Table, policy: Policy) -> Bad | None:
    """Which groups break a model other than k-anonymity, which the partition keeps by itself."""
    models = [model for model in policy.models if not isinstance(model, KAnonymity)]
    unfit = [model.model for model in models if model.whole or model.needs_population or isinstance(model, XYAnonymity)]
    if unfit:
        raise InputError(f"Groups are not made for the model {unfit[0]}.", "Use --method lattice.")
    if not models:
        return None
    sensitive = {name: table.select([name])[0] for model in models for name in model.needs}
    trees = trees_of(policy, list(sensitive.values()))

    def bad(group_of_row: Array, count: int) -> Array:
        evidence = evidence_of_rows(group_of_row, sensitive, trees=trees)
        return np.asarray(np.logical_or.reduce([~model.good(model.measure(evidence)) for model in models]))

    return bad


def _coarsen(table: Table, policy: Policy, how: How) -> Made:
    """Algorithm S3."""
    if how.resolution is None:
        raise InputError("The method 'coarsen' needs a resolution.", "Give --resolution 16, for example.")
    wanted, labels = how.resolution, how.labels
    check_choice("labels", labels, get_args(Labels))
    return lambda columns: coarsen(columns, wanted, labels), {"resolution": wanted, "labels": labels}


def _mask(table: Table, policy: Policy, how: How) -> Made:
    """The masking steps of the policy."""
    if not policy.masking:
        raise InputError("The method 'mask' needs the policy's masking steps.", "See docs/anonymize.md.")
    steps = [Step(step.column, step.groups, step.digits) for step in policy.masking]
    return lambda columns: mask(columns, steps).boxed, {"steps": len(steps)}


def _sorted_clusters(table: Table, policy: Policy, how: How) -> Made:
    """Algorithm S2, with t-closeness S4."""
    others = [model.model for model in policy.models if not isinstance(model, (KAnonymity, TCloseness))]
    if others or sum(isinstance(model, TCloseness) for model in policy.models) > 1:
        raise InputError(
            "sorted-clusters keeps k-anonymity and the t-closeness of one column.", "Use --method lattice or mondrian."
        )
    k, close = k_of(policy), t_closeness_of(policy)
    if close is None:
        # distances are in units of the whole table's spread, also where only a part of the rows is changed
        spreads = {column.name: spread(column) for column in table.select(policy.quasi_identifiers)}
        return lambda columns: sorted_clusters(columns, k, spreads), {"k": k}
    check_choice("remainder", how.remainder, get_args(Remainder))
    confidential, t = table[close.sensitive], close.t
    return (
        lambda columns: close_clusters(columns, confidential, k, t, how.remainder),
        {"k": k, "t": t, "remainder": how.remainder},
    )


# methods that make boxes
_MAKERS: dict[str, Callable[[Table, Policy, How], Made]] = {
    "sorted-clusters": _sorted_clusters,
    "coarsen": _coarsen,
    "mask": _mask,
    "mondrian": _partition,
    "microaggregate": _microaggregate,
}
