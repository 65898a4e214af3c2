"""Change a table so that it keeps its policy, and say what that cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import polars as pl

from shoal import progress
from shoal.boxes import fit
from shoal.classes import class_of_each_row, pack
from shoal.conditions import Condition, parse_condition
from shoal.errors import InputError, as_names, check_choice
from shoal.frames import to_native
from shoal.models import Evidence, KAnonymity, TCloseness, Verdict
from shoal.policy import Policy, Role, as_policy
from shoal.read import Options, read
from shoal.released import Form, ReleasedColumns, modified_rows, released_columns
from shoal.risk.closeness import ordered_distance
from shoal.table import Array, Column, Table
from shoal.transform.boxed import Boxed, spread
from shoal.transform.coarsen import Labels, coarsen
from shoal.transform.mask import Step, mask
from shoal.transform.microaggregate import microaggregate, sum_of_squares
from shoal.transform.partition import Bad, Cuts, Effort, partition
from shoal.transform.safe_first import untouched_if_safe as keep_safe
from shoal.transform.sorted_clusters import Remainder, close_clusters, sorted_clusters
from shoal.transform.wishes import Where, recoded_columns
from shoal.utility import Change, attribute_disclosure, change_of, information_loss

Method = Literal["sorted-clusters", "coarsen", "mask", "recode", "mondrian", "microaggregate"]


@dataclass(frozen=True)
class Disclosed:
    """Eq 5 for one condition; `share` is null where no record meets it."""

    condition: str
    records: int
    disclosed: int
    share: float | None


@dataclass(frozen=True)
class Findings:
    """What was done to the table and what it cost."""

    records: int
    k: int
    classes: int
    uniques: int
    undecided: int
    information_loss: float | None  # not defined for texts
    information_loss_by_column: dict[str, float]
    modified_rows: int
    removed_rows: int
    suppressed_rows: int
    suppressed_cells: int
    attribute_disclosure: list[Disclosed]
    closeness: dict[str, float] | None
    change: Change | None
    strategies: list[dict[str, Any]] | None = None
    squares_within: float | None = None  # of groups, as a share of the whole table's: SSE / SST

    def to_dict(self) -> dict[str, Any]:
        """As JSON; `closeness`, `strategies`, `squares_within` only where they were asked for."""
        found = asdict(self)
        for name in ("closeness", "strategies", "squares_within"):
            if found[name] is None:
                del found[name]
        return found


@dataclass(frozen=True)
class Anonymized:
    """A changed table: `frame` is of the kind that came in, in the same order; `findings` say what it cost."""

    table: Table
    policy: Policy
    method: str
    parameters: dict[str, Any]
    columns: dict[str, ReleasedColumns]
    findings: Findings
    verdicts: list[Verdict]

    @property
    def verdict(self) -> str:
        """Whether every model of the policy holds."""
        return "holds" if all(verdict.holds for verdict in self.verdicts) else "refused"

    @cached_property
    def polars(self) -> pl.DataFrame:
        """The released table; columns that identify are left out."""
        dropped = set(self.policy.with_role("identifier"))
        series: list[pl.Series] = []
        for name, column in self.table.columns.items():
            if name not in dropped:
                series += self.columns[name].series if name in self.columns else [column.decode()]
        return pl.DataFrame(series)

    @property
    def frame(self) -> Any:
        """The released table as the kind of frame that came in."""
        changed = {name for name, column in self.columns.items() if column.nature != "unchanged"}
        return to_native(self.polars, self.table.native, changed)


def anonymize(
    source: Any,
    policy: Policy | str | Path | None = None,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | str | None = None,
    k: int | None = None,
    t: float | None = None,
    method: Method = "sorted-clusters",
    resolution: int | None = None,
    labels: Labels = "range",
    remainder: Remainder = "top",
    effort: Effort = "default",
    cuts: Cuts = "best",
    weights: Mapping[str, float] | None = None,
    mdav: bool = False,
    strata: Sequence[str] | str | None = None,
    untouched_if_safe: bool = False,
    interval: Form | None = None,
    generalize: Mapping[str, str] | None = None,
    where: Where = "all",
    search: bool = False,
    disclosure: Sequence[str] = (),
    options: Options | None = None,
) -> Anonymized:
    """Anonymise a table by a published method; what is given here overrides the policy.

    `sorted-clusters`: Algorithm S2 (k), with t also S4; `coarsen`: S3 (resolution); `mask`: the policy's masking steps;
    `recode`: labels as `generalize` says (a file of labels, `*`, `runs:4`, `chunks:4`), everywhere or only `where`
    records stand out; `search` tries all combinations and elects the best (Pastore et al.). `mondrian`: groups of k
    near records, of any columns and under any model, with `effort` fast, default or best; `cuts` strict or relaxed for
    Mondrian as published; `weights` for columns that matter more. `microaggregate`: means of groups of k, by `mdav` as
    published if asked, within `strata`, with t-closeness first if the policy names one.

    `interval` is how ranges are written; microaggregation writes means if nothing is said.

    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [30, 34, 51, 52], "charge": [1, 2, 3, 4]})
    >>> result = anonymize(people, quasi_identifiers=["age"], sensitive="charge", k=2)
    >>> result.frame["age"].to_list(), result.findings.k, result.verdict
    (['[30;34]', '[30;34]', '[51;52]', '[51;52]'], 2, 'holds')
    """
    check_choice("method", method, get_args(Method))
    given = _decided(as_policy(policy), as_names(quasi_identifiers), as_names(sensitive), k, t)
    table = read(source, None, options)
    columns = table.select(given.quasi_identifiers)
    table.select(given.sensitive)
    conditions = [parse_condition(text) for text in disclosure]
    table.select([condition.column for condition in conditions])
    progress.report("anonymising", 0)
    if method == "recode":
        released, parameters, strategies = recoded_columns(columns, generalize or {}, where, search, _least_k(given))
        shown = [_shown(column) for column in released.values()]
        class_of_row, count = class_of_each_row(pack(shown))
        boxed = None
    else:
        if untouched_if_safe and (method != "sorted-clusters" or _t(given) is not None):
            raise InputError(
                "Untouched if safe works with sorted-clusters and k alone.", "Leave out --t, or the option."
            )
        interval = interval or ("mean" if method == "microaggregate" else "bracket")
        if method == "mondrian":
            way, parameters = _partition(table, given, effort, cuts, weights)
        elif method == "microaggregate":
            way, parameters = _microaggregate(table, given, effort, mdav, as_names(strata), weights)
        else:
            way, parameters = _way(method, table, given, resolution, labels, remainder)
        boxed = keep_safe(columns, _k(given), way) if untouched_if_safe else way(columns)
        parameters |= {"interval": interval, "untouched_if_safe": untouched_if_safe}
        released = {column.name: released_columns(column, boxed, interval) for column in columns}
        # boxes that are equal may have different means
        shown = [_shown(column) for column in released.values()] if interval == "mean" else []
        class_of_row, count = class_of_each_row(pack(shown)) if shown else boxed.class_of_each_row()
        strategies = None
    findings = _findings(
        table, columns, boxed, released, (class_of_row, count), conditions, _t(given), strategies, interval == "mean"
    )
    if method == "microaggregate" and boxed is not None:
        findings = replace(findings, squares_within=_squares_within(columns, boxed))
    rows = {name: table[name] for name in given.sensitive}
    evidence = Evidence(*np.unique(np.bincount(class_of_row), return_counts=True), class_of_row, rows)
    verdicts = [model.judge(evidence) for model in given.models]
    return Anonymized(table, given, method, parameters, released, findings, verdicts)


def _shown(column: ReleasedColumns) -> Column:
    """A released column, encoded again."""
    return read(pl.DataFrame([column.series[0]]))[column.series[0].name]


def _least_k(policy: Policy) -> int:
    """Under which size a class stands out, where only such rows are changed."""
    return max((model.k for model in policy.models if isinstance(model, KAnonymity)), default=2)


def _decided(policy: Policy, names: list[str], sensitive: list[str], k: int | None, t: float | None) -> Policy:
    """The policy with what was given beside it."""
    roles: dict[str, Role] = dict(policy.columns)
    for name in names:
        roles[name] = "quasi-identifier"
    if names:
        roles = {name: role for name, role in roles.items() if role != "quasi-identifier" or name in names}
    both = [name for name in sensitive if roles.get(name) == "quasi-identifier"]
    if both:
        raise InputError(f"Column '{both[0]}' is a quasi-identifier and sensitive at once.", "Decide on one role.")
    roles.update(dict.fromkeys(sensitive, "sensitive"))
    if "quasi-identifier" not in roles.values():
        raise InputError("No quasi-identifiers are named.", "Name them with --qi age,sex,zip or in a policy.")
    if policy.count is not None or policy.person is not None:
        raise InputError(
            "Tables of counts and of persons with many rows are not anonymised yet.", "Use one row a person."
        )
    models = list(policy.models)
    if k is not None:
        if k < 2:
            raise InputError(f"k = {k} protects nobody.", "Use 2 or more.")
        models = [KAnonymity(k=k), *(model for model in models if not isinstance(model, KAnonymity))]
    if t is not None:
        if not 0 < t <= 1:
            raise InputError(f"t = {t} is not above 0 and up to 1.", "Use --t 0.1, for example.")
        named = [name for name, role in roles.items() if role == "sensitive"]
        if len(named) != 1:
            raise InputError("t-closeness needs one sensitive column.", "Name it with --sensitive.")
        others = [model for model in models if not isinstance(model, TCloseness)]
        models = [*others, TCloseness(t=t, sensitive=named[0])]
    return policy.model_copy(update={"columns": roles, "models": models})


def _k(policy: Policy) -> int:
    found = [model.k for model in policy.models if isinstance(model, KAnonymity)]
    if not found:
        raise InputError("This method needs k.", "Give -k 5, or a k-anonymity model in the policy.")
    return max(found)


def _t(policy: Policy) -> TCloseness | None:
    return next((model for model in policy.models if isinstance(model, TCloseness)), None)


def _partition(
    table: Table, policy: Policy, effort: Effort, cuts: Cuts, weights: Mapping[str, float] | None
) -> tuple[Callable[[Sequence[Column]], Boxed], dict[str, Any]]:
    """Multidimensional partitioning under every model of the policy, and its parameters for the manifest."""
    k, bad = _k(policy), _bad_groups(table, policy)
    parameters = {"k": k, "effort": effort, "cuts": cuts, "weights": dict(weights or {})}
    return lambda columns: partition(columns, k, effort, cuts=cuts, weights=weights, bad=bad), parameters


def _microaggregate(
    table: Table,
    policy: Policy,
    effort: Effort,
    mdav: bool,
    strata: list[str],
    weights: Mapping[str, float] | None,
) -> tuple[Callable[[Sequence[Column]], Boxed], dict[str, Any]]:
    """Microaggregation under every model of the policy, and its parameters for the manifest."""
    k, close, bad, kept = _k(policy), _t(policy), _bad_groups(table, policy), table.select(strata)
    both = [name for name in strata if name in policy.quasi_identifiers]
    if both:
        raise InputError(f"Column '{both[0]}' is a quasi-identifier and a stratum at once.", "Decide on one of them.")
    parameters = {"k": k, "effort": effort, "mdav": mdav, "strata": strata, "weights": dict(weights or {})}
    confidential = table[close.sensitive] if close and not strata and not mdav else None
    return (
        lambda columns: microaggregate(
            columns,
            k,
            effort,
            mdav=mdav,
            strata=kept,
            confidential=confidential,
            t=close.t if close else None,
            weights=weights,
            bad=bad,
        ),
        parameters | ({"t": close.t} if close else {}),
    )


def _squares_within(columns: Sequence[Column], boxed: Boxed) -> float | None:
    """SSE / SST of the groups, each column in units of its spread; none where nothing varies."""
    from shoal.transform.partition.coordinates import coordinates_apart

    within, whole = sum_of_squares(coordinates_apart(columns), boxed.box_of_row)
    return within / whole if whole else None


def _bad_groups(table: Table, policy: Policy) -> Bad | None:
    """Which groups break a model other than k-anonymity, which the partition keeps by itself."""
    models = [model for model in policy.models if isinstance(model, TCloseness)]
    if not models:
        return None

    def bad(group_of_row: Array, count: int) -> Array:
        # rows in no group still belong to the whole table: one more group, which is not judged
        groups = np.where(group_of_row >= 0, group_of_row, count)
        found = [ordered_distance(groups, count + 1, table[model.sensitive])[:count] > model.t for model in models]
        return np.asarray(np.logical_or.reduce(found))

    return bad


def _way(
    method: Method, table: Table, policy: Policy, resolution: int | None, labels: Labels, remainder: Remainder
) -> tuple[Callable[[Sequence[Column]], Boxed], dict[str, Any]]:
    """The method as a function of columns, and its parameters for the manifest."""
    if method == "coarsen":
        if resolution is None:
            raise InputError("The method 'coarsen' needs a resolution.", "Give --resolution 16, for example.")
        wanted = resolution
        check_choice("labels", labels, get_args(Labels))
        return lambda columns: coarsen(columns, wanted, labels), {"resolution": wanted, "labels": labels}
    if method == "mask":
        if not policy.masking:
            raise InputError("The method 'mask' needs the policy's masking steps.", "See docs/anonymize.md.")
        steps = [Step(step.column, step.groups, step.digits) for step in policy.masking]
        return lambda columns: mask(columns, steps).boxed, {"steps": len(steps)}
    k, close = _k(policy), _t(policy)
    if close is None:
        # distances are in units of the whole table's spread, also where only a part of the rows is changed
        spreads = {column.name: spread(column) for column in table.select(policy.quasi_identifiers)}
        return lambda columns: sorted_clusters(columns, k, spreads), {"k": k}
    check_choice("remainder", remainder, get_args(Remainder))
    confidential, t = table[close.sensitive], close.t
    return (
        lambda columns: close_clusters(columns, confidential, k, t, remainder),
        {"k": k, "t": t, "remainder": remainder},
    )


def _findings(
    table: Table,
    columns: Sequence[Column],
    boxed: Boxed | None,
    released: dict[str, ReleasedColumns],
    classes: tuple[Array, int],
    conditions: Sequence[Condition],
    close: TCloseness | None,
    strategies: list[dict[str, Any]] | None,
    means: bool,
) -> Findings:
    class_of_row, count = classes
    sizes = np.bincount(class_of_row, minlength=count)
    uniques, undecided = (int((sizes == 1).sum()), 0) if boxed is None else _uniques(columns, boxed, sizes)
    loss = None if boxed is None else information_loss(columns, boxed)
    disclosed = []
    for condition in conditions:
        found = attribute_disclosure(class_of_row, count, condition.meets(table[condition.column]))
        disclosed.append(Disclosed(condition.text, found.records, found.disclosed, found.share))
    near = None
    if close is not None:
        column = table[close.sensitive]
        near = {
            "values": float(ordered_distance(class_of_row, count, column, "values").max()),
            "ranks": float(ordered_distance(class_of_row, count, column, "ranks").max()),
        }
    stars = [column.suppressed for column in released.values()]
    return Findings(
        records=table.rows,
        k=int(sizes.min()),
        classes=count,
        uniques=uniques,
        undecided=undecided,
        information_loss=None if loss is None else loss.total,
        information_loss_by_column={} if loss is None else loss.by_column,
        modified_rows=int(modified_rows(list(released.values())).sum()),
        removed_rows=0,
        suppressed_rows=int(np.logical_and.reduce(stars).sum()),
        suppressed_cells=int(sum(star.sum() for star in stars)),
        attribute_disclosure=disclosed,
        closeness=near,
        change=None if boxed is None else change_of(columns, boxed, means),
        strategies=strategies,
    )


def _uniques(columns: Sequence[Column], boxed: Boxed, sizes: Array) -> tuple[int, int]:
    """By Eq 1; classes of two and more need no look."""
    if (sizes > 1).all():
        return 0, 0
    found = fit([boxed.ranges(column) for column in columns])
    return int(found.unique.sum()), int(found.undecided.sum())
