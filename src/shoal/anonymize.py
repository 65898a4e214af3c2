"""Change a table so that it keeps its policy, and say what that cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import polars as pl

from shoal import progress
from shoal.boxes import fit
from shoal.classes import Coded, class_of_each_row, pack
from shoal.conditions import Condition, parse_condition
from shoal.errors import InputError, as_names, check_choice
from shoal.frames import to_native
from shoal.models import AnyModel, Evidence, KAnonymity, LDiversity, TCloseness, Verdict
from shoal.models.evidence import evidence_of_rows
from shoal.policy import Policy, Quality, Role, as_policy, share_of
from shoal.read import Options, read
from shoal.released import Form, ReleasedColumns, modified_rows, released_columns
from shoal.risk.closeness import ordered_distance
from shoal.table import Array, Column, Table
from shoal.transform.boxed import Boxed, spread
from shoal.transform.coarsen import Labels, coarsen
from shoal.transform.mask import Step, mask
from shoal.transform.safe_first import untouched_if_safe as keep_safe
from shoal.transform.sorted_clusters import Remainder, close_clusters, sorted_clusters
from shoal.transform.wishes import Where, recoded_columns
from shoal.utility import Change, attribute_disclosure, change_of, information_loss
from shoal.verify import evidence_of, trees_of

if TYPE_CHECKING:
    from shoal.search.generalize import Wishes
    from shoal.search.plan import Plan

Method = Literal["sorted-clusters", "coarsen", "mask", "recode", "lattice", "suppress"]


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
    # what the search for the best generalisation found: levels, score, how it was proven
    search: dict[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        """As JSON; `closeness`, `strategies` and what a search found only where they were asked for."""
        found = asdict(self)
        search = found.pop("search") or {}
        for name in ("closeness", "strategies"):
            if found[name] is None:
                del found[name]
        return found | search


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
    plan: Plan | None = None

    @property
    def quasi_identifiers(self) -> list[str]:
        """The names under which the quasi-identifiers are released."""
        return [series.name for column in self.columns.values() for series in column.series]

    @property
    def private(self) -> dict[str, Any]:
        """What only the owner of a release may know, beside the order of rows: nothing."""
        return {}

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
    l: int | None = None,  # noqa: E741
    t: float | None = None,
    models: Sequence[AnyModel] = (),
    method: Method = "sorted-clusters",
    resolution: int | None = None,
    labels: Labels = "range",
    remainder: Remainder = "top",
    untouched_if_safe: bool = False,
    interval: Form = "bracket",
    generalize: Mapping[str, str] | None = None,
    where: Where = "all",
    search: bool = False,
    hierarchies: Any = None,
    suppression: float | str | None = None,
    quality: str | None = None,
    weights: Mapping[str, float] | None = None,
    levels: Mapping[str, tuple[int, int]] | None = None,
    local: bool = False,
    complete_hierarchies: bool = False,
    time_limit: float = 60.0,
    reading: str | None = None,
    importance: Mapping[str, float] | None = None,
    all_m: int | None = None,
    disclosure: Sequence[str] = (),
    options: Options | None = None,
) -> Anonymized:
    """Anonymise a table by a published method; what is given here overrides the policy.

    `sorted-clusters`: Algorithm S2 (k), with t also S4; `coarsen`: S3 (resolution); `mask`: the policy's masking steps;
    `recode`: labels as `generalize` says (a file of labels, `*`, `runs:4`, `chunks:4`), everywhere or only `where`
    records stand out; `search` tries all combinations and elects the best (Pastore et al.). `lattice`: the best level
    of a hierarchy for every column (`hierarchies`: a folder or a mapping; built where none is given), proven to be the
    best by `quality` with at most `suppression` of the records left out; `local` generalises those again. `suppress`:
    few cells become `*`, where `reading` says what that means (wildcard: it matches anything; strict: a value of its
    own), `importance` what a column is worth, and `all_m` that every combination of m columns is protected.

    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [30, 34, 51, 52], "charge": [1, 2, 3, 4]})
    >>> result = anonymize(people, quasi_identifiers=["age"], sensitive="charge", k=2)
    >>> result.frame["age"].to_list(), result.findings.k, result.verdict
    (['[30;34]', '[30;34]', '[51;52]', '[51;52]'], 2, 'holds')
    """
    check_choice("method", method, get_args(Method))
    given = decided(as_policy(policy), as_names(quasi_identifiers), as_names(sensitive), k, l, t, models)
    if method != "lattice" and (given.count is not None or given.person is not None):
        raise InputError(
            "Tables of counts and of persons with many rows are anonymised by the lattice only.",
            "Use --method lattice, or one row a person.",
        )
    table = read(source, None, options)
    columns = table.select(given.quasi_identifiers)
    table.select(given.sensitive)
    conditions = [parse_condition(text) for text in disclosure]
    table.select([condition.column for condition in conditions])
    progress.report("anonymising", 0)
    if method == "lattice":
        wishes = wishes_of(given, suppression, quality, weights, levels, local, time_limit)
        return by_lattice(table, given, hierarchies, wishes, complete_hierarchies, conditions)
    if method == "suppress":
        from shoal.transform.suppress.method import by_suppression

        # a k beside a policy that names k-anonymity means what the policy means
        k_alone = k is not None and not any(isinstance(model, KAnonymity) for model in as_policy(policy).models)
        return by_suppression(table, given, k_alone, reading, importance or given.weights, all_m, conditions)
    if method == "recode":
        released, parameters, strategies = recoded_columns(columns, generalize or {}, where, search, _least_k(given))
        shown = [_shown(column) for column in released.values()]
        class_of_row, count = class_of_each_row(pack(shown))
        boxed = None
    else:
        if untouched_if_safe and (method != "sorted-clusters" or t_closeness_of(given) is not None):
            raise InputError(
                "Untouched if safe works with sorted-clusters and k alone.", "Leave out --t, or the option."
            )
        way, parameters = _way(method, table, given, resolution, labels, remainder)
        boxed = keep_safe(columns, _k(given), way) if untouched_if_safe else way(columns)
        parameters |= {"interval": interval, "untouched_if_safe": untouched_if_safe}
        released = {column.name: released_columns(column, boxed, interval) for column in columns}
        class_of_row, count = boxed.class_of_each_row()
        strategies = None
    findings = findings_of(
        table, columns, boxed, released, (class_of_row, count), conditions, t_closeness_of(given), strategies
    )
    return Anonymized(
        table, given, method, parameters, released, findings, _judged(table, given, released, class_of_row)
    )


def by_lattice(
    table: Table,
    policy: Policy,
    hierarchies: Any,
    wishes: Wishes,
    complete_hierarchies: bool = False,
    conditions: Sequence[Condition] = (),
    plan: Plan | None = None,
) -> Anonymized:
    """The best generalisation of a table, or what a plan makes of it."""
    from shoal.search.lattice import prepare, relabel, solve
    from shoal.search.plan import Plan, follow
    from shoal.search.trees import given_hierarchies

    if plan is not None:
        hierarchies = {**given_hierarchies(policy.hierarchies, policy.sensitive), **plan.trees}
    prepared = prepare(table, policy, hierarchies, wishes, complete_hierarchies or plan is not None)
    found = solve(prepared) if plan is None else follow(prepared.space, plan, prepared.policy)
    shown = relabel(found)
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
    )
    parameters = {
        "suppression": wishes.suppression,
        "quality": wishes.quality,
        "levels": found.levels,
        "local": wishes.local,
        "plan": plan is not None,
    }
    return Anonymized(
        table,
        prepared.policy,
        "lattice",
        parameters,
        shown.columns,
        replace(findings, search=search),
        _judged(table, prepared.policy, shown.columns, shown.class_of_row),
        Plan(prepared.policy, prepared.trees, found.rounds) if plan is None else plan,
    )


def wishes_of(
    policy: Policy,
    suppression: float | str | None,
    quality: str | None,
    weights: Mapping[str, float] | None,
    levels: Mapping[str, tuple[int, int]] | None,
    local: bool,
    time_limit: float,
) -> Wishes:
    """How to search: what is given here, otherwise what the policy says."""
    from shoal.search.generalize import Wishes

    try:
        share = policy.suppression if suppression is None else share_of(suppression)
    except ValueError as error:
        raise InputError(f"The suppression limit cannot be read: {error}.", "Use 5%, for example.") from None
    wanted = quality or policy.quality
    check_choice("quality", wanted, get_args(Quality))
    if not time_limit > 0:
        raise InputError(f"A time limit of {time_limit:g} s leaves no time.", "Use 60, for example.")
    return Wishes(share, wanted, weights or policy.weights, levels or policy.levels, time_limit, local)


def _judged(
    table: Table, policy: Policy, released: Mapping[str, ReleasedColumns], class_of_row: Array
) -> list[Verdict]:
    """Every model on the classes, as `verify` will judge the file."""
    across = [model for model in policy.models if model.needs_population or model.needs_keys]
    if across or policy.count or policy.person:  # these look at the released values themselves
        evidence = evidence_shown(table, policy, released)
    else:
        stars = np.logical_and.reduce([column.suppressed for column in released.values()])
        rows = class_of_each_row(Coded(class_of_row[~stars], int(class_of_row.max(initial=0)) + 1))[0]
        class_of_row = np.full(table.rows, -1, np.int64)
        class_of_row[~stars] = rows
        sensitive = {name: table[name] for model in policy.models for name in model.needs}
        evidence = evidence_of_rows(class_of_row, sensitive, trees=trees_of(policy, list(sensitive.values())))
    return [model.judge(evidence) for model in policy.models]


def evidence_shown(table: Table, policy: Policy, released: Mapping[str, ReleasedColumns]) -> Evidence:
    """What models look at, from the released values."""
    shown = pl.DataFrame([series for column in released.values() for series in column.series])
    names = shown.columns
    needed = {name for model in policy.models for name in model.needs} | {policy.count, policy.person} - {None}
    beside = [table[name].decode() for name in table.columns if name in needed - set(names)]
    return evidence_of(read(shown.with_columns(beside)), names, policy)[0]


def _shown(column: ReleasedColumns) -> Column:
    """A released column, encoded again."""
    return read(pl.DataFrame([column.series[0]]))[column.series[0].name]


def _least_k(policy: Policy) -> int:
    """Under which size a class stands out, where only such rows are changed."""
    return max((model.k for model in policy.models if isinstance(model, KAnonymity)), default=2)


def decided(
    policy: Policy,
    names: list[str],
    sensitive: list[str],
    k: int | None,
    l: int | None,  # noqa: E741
    t: float | None,
    more: Sequence[AnyModel] = (),
) -> Policy:
    """The policy with what was given beside it; l and t are asked of every sensitive column."""
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
    named = [name for name, role in roles.items() if role == "sensitive"]
    models: list[AnyModel] = list(policy.models)
    if k is not None:
        if k < 2:
            raise InputError(f"k = {k} protects nobody.", "Use 2 or more.")
        models = [KAnonymity(k=k), *(model for model in models if not isinstance(model, KAnonymity))]
    if l is not None:
        if l < 2:
            raise InputError(f"l = {l} asks for nothing.", "Use 2 or more.")
        _need_sensitive("l-diversity", named)
        rest = [model for model in models if not isinstance(model, LDiversity)]
        models = [*rest, *(LDiversity(l=l, sensitive=name) for name in named)]
    if t is not None:
        if not 0 < t <= 1:
            raise InputError(f"t = {t} is not above 0 and up to 1.", "Use --t 0.1, for example.")
        _need_sensitive("t-closeness", named)
        close = [model for model in models if not isinstance(model, TCloseness)]
        models = [*close, *(TCloseness(t=t, sensitive=name) for name in named)]
    return policy.model_copy(update={"columns": roles, "models": [*models, *more]})


def _need_sensitive(model: str, named: list[str]) -> None:
    if not named:
        raise InputError(f"{model} needs a sensitive column.", "Name it with --sensitive.")


def _k(policy: Policy) -> int:
    found = [model.k for model in policy.models if isinstance(model, KAnonymity)]
    if not found:
        raise InputError("This method needs k.", "Give -k 5, or a k-anonymity model in the policy.")
    return max(found)


def t_closeness_of(policy: Policy) -> TCloseness | None:
    """The model of ordered t-closeness, if there is one."""
    return next((model for model in policy.models if isinstance(model, TCloseness)), None)


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
    k, close = _k(policy), t_closeness_of(policy)
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


def findings_of(
    table: Table,
    columns: Sequence[Column],
    boxed: Boxed | None,
    released: dict[str, ReleasedColumns],
    classes: tuple[Array, int],
    conditions: Sequence[Condition],
    close: TCloseness | None,
    strategies: list[dict[str, Any]] | None,
) -> Findings:
    """What a change cost, from the boxes or the released columns and the class of each row (-1: suppressed)."""
    class_of_row, count = classes
    kept = class_of_row >= 0
    sizes = np.bincount(class_of_row[kept], minlength=count)
    if not kept.all():
        # suppressed rows are alike: for what is learnt about them they are one class
        class_of_row, count = np.where(kept, class_of_row, count), count + 1
    uniques, undecided = (int((sizes == 1).sum()), 0) if boxed is None else _uniques(columns, boxed, sizes)
    loss = None if boxed is None else information_loss(columns, boxed)
    disclosed = []
    for condition in conditions:
        found = attribute_disclosure(class_of_row, count, condition.meets(table[condition.column]))
        disclosed.append(Disclosed(condition.text, found.records, found.disclosed, found.share))
    near = None
    if close is not None and close.distance in ("auto", "ordered"):
        column = table[close.sensitive]
        near = {
            "values": float(ordered_distance(class_of_row, count, column, "values").max()),
            "ranks": float(ordered_distance(class_of_row, count, column, "ranks").max()),
        }
    stars = [column.suppressed for column in released.values()]
    return Findings(
        records=table.rows,
        k=int(sizes.min()) if len(sizes) else 0,
        classes=len(sizes),
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
        change=None if boxed is None else change_of(columns, boxed),
        strategies=strategies,
    )


def _uniques(columns: Sequence[Column], boxed: Boxed, sizes: Array) -> tuple[int, int]:
    """By Eq 1; classes of two and more need no look."""
    if (sizes > 1).all():
        return 0, 0
    found = fit([boxed.ranges(column) for column in columns])
    return int(found.unique.sum()), int(found.undecided.sum())
