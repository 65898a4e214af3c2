"""`lattice`: every column to one level of its hierarchy, the provably best choice of levels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np
from pydantic import AfterValidator, BeforeValidator, Field

from shoal.errors import InputError, Message
from shoal.methods.base import Importance, Method, Share, closeness_told
from shoal.methods.outcomes import LatticeOutcome
from shoal.methods.past_memory import BYTES_PER_ROW, needed_columns
from shoal.methods.results import Anonymized, evidence_of_result, findings_of, judged, with_members
from shoal.methods.units import one_of_them
from shoal.policy import Policy
from shoal.ranges.columns import ReleasedColumns, as_it_was
from shoal.storage import Column, Table
from shoal.storage.external import TupleOfRow
from shoal.storage.spill import Spill
from shoal.storage.table import blocks_of, records_with
from shoal.storage.tuples import counted_tuples
from shoal.utility.cost import cost_of_labels
from shoal.vocabulary import Minimize
from shoal.wording import in_units

if TYPE_CHECKING:
    from shoal.methods.search.generalize import Generalized, LatticePlan, Prepared, SearchOptions
    from shoal.policy.conditions import ColumnCondition


# larger tables are not read again to measure their information loss
_MEASURED = 200_000


def _levels_of(value: Any) -> Any:
    """`1..3` or `2` as the least and the greatest level."""
    if not isinstance(value, str):
        return (value, value) if isinstance(value, int) and not isinstance(value, bool) else value
    low, _, high = value.partition("..")
    return low.strip(), (high or low).strip()


def _in_order(levels: tuple[int, int]) -> tuple[int, int]:
    if levels[0] > levels[1]:
        raise ValueError("the greatest level comes before the least: write the least first, such as 1..3")
    return levels


_Level = Annotated[int, Field(ge=0)]
Levels = dict[str, Annotated[tuple[_Level, _Level], BeforeValidator(_levels_of), AfterValidator(_in_order)]]


class Lattice(Method):
    """The best level of a hierarchy for every column, proven to be the best, with few records left out.

    >>> Lattice(suppression="5%").suppression
    0.05
    """

    name: ClassVar[str] = "lattice"
    does: ClassVar[str] = (
        "every column to one level of its hierarchy, the provably best choice of levels, under any models"
    )
    page: ClassVar[str] = "lattice.md"
    source: ClassVar[str] = "full-domain generalisation (Samarati, Sweeney; as in ARX)"
    past_memory: ClassVar[bool] = True
    by_default: ClassVar[bool] = True

    hierarchies: Any = Field(
        default=None, description="A folder (for column c the file c.csv or …_c.csv), or per column a file or its rows."
    )
    suppression: Share | None = Field(
        default=None, description="Records that may be left out, such as 5%; the policy's, or 0."
    )
    minimize: Minimize | None = Field(
        default=None, description="The measure to minimize; the policy's, otherwise loss."
    )
    importance: Importance = Field(default={}, description="How much a column matters; the policy's, otherwise 1.")
    levels: Levels = Field(default={}, description="Per column the least and the greatest level, such as 1..3.")
    local: bool = Field(default=False, description="Generalise again what was left out, while that gains something.")
    complete_hierarchies: bool = Field(default=False, description="Put values without a leaf directly below *.")
    labels_are_names: bool = Field(
        default=False, description="Labels only name nodes; a range that one seems to say need not hold its values."
    )
    time_limit: Annotated[float, Field(gt=0)] = Field(default=60.0, description="Time limit of the search in seconds.")

    def allowed(self, table: Table, policy: Policy) -> str | None:
        """Any policy with a model."""
        if not policy.models:
            return Message("needs a privacy model to keep: `{k}`, or models in the policy")
        if self.local and policy.household is not None:
            return Message("gives members of a household different levels with `{local}` (`household`): leave it out")
        return one_of_them(policy)

    def by_tuple(self, policy: Policy) -> int | None:
        """Equal records are generalised alike."""
        return 0

    def search_options(self, policy: Policy) -> SearchOptions:
        """What is given here, otherwise what the policy says."""
        from shoal.methods.search.generalize import SearchOptions

        return SearchOptions(
            policy.suppression if self.suppression is None else self.suppression,
            self.minimize or policy.minimize,
            self.importance_by(policy),
            self.levels or policy.levels,
            self.time_limit,
            self.local,
        )

    def prepare(self, table: Table, policy: Policy) -> Prepared:
        """Read or build the hierarchies, count the table."""
        from shoal.methods.search.generalize import prepare

        if self.labels_are_names:
            policy = policy.model_copy(update={"labels_are_names": True})
        return prepare(table, policy, self.hierarchies, self.search_options(policy), self.complete_hierarchies)

    def change(
        self, table: Table, policy: Policy, conditions: Sequence[ColumnCondition] = (), k_without_policy: bool = False
    ) -> Anonymized:
        """Search, generalise, judge what comes out.

        Households that may be left out are searched by the joined keys of their members, which is more than the verdict
        asks of records: so the search without leaving any out is tried too, the better one kept, and neither is called
        the optimum.
        """
        if policy.household is None or not self.search_options(policy).suppression:
            return self._searched(table, policy, conditions)
        solutions, refusal = [], None
        for method in (self.model_copy(update={"suppression": 0.0}), self):
            try:
                solutions.append(method._searched(table, policy, conditions))
            except InputError as error:
                refusal = error
        if not solutions:
            assert refusal is not None
            raise refusal
        best = min(solutions, key=lambda result: (not all(model.holds for model in result.models), _cost(result)))
        assert best.findings.search is not None
        search = replace(best.findings.search, optimal=False, lower_bound=None)
        return replace(best, findings=replace(best.findings, search=search))

    def change_on_disk(
        self, table: Table, policy: Policy, conditions: Sequence[ColumnCondition], spill: Spill
    ) -> Anonymized:
        """Search on the tuples that there are, and give every row what its tuple becomes."""
        names = policy.quasi_identifiers
        tuples = counted_tuples(table, [*names, *needed_columns(policy, conditions)])
        if (needed := tuples.rows * BYTES_PER_ROW) > spill.budget:
            raise InputError(
                f"The table has {tuples.rows:,} different combinations of what the policy looks at, and searching them "
                f"takes {in_units(needed)} of memory: {in_units(spill.budget)} may be used.",
                Message(
                    "Set `{memory}` to {}, choose fewer quasi-identifiers, or the `{method}` sorted-clusters or "
                    "coarsen.",
                    in_units(1.05 * needed),
                ),
            )
        generalised = self.change(tuples, policy, conditions)
        columns = _spread(generalised.columns, tuples.select(names), table, spill)
        return replace(generalised, table=table, columns=columns)

    def _searched(self, table: Table, policy: Policy, conditions: Sequence[ColumnCondition]) -> Anonymized:
        from shoal.methods.search.generalize import LatticePlan, score_of, solve
        from shoal.methods.search.grid import COLUMN_MEASURES

        prepared = self.prepare(table, policy)
        solved = solve(prepared)
        result, solved = generalized(table, prepared, solved, conditions, drop_rounds=True)
        optimum, options = solved.optimum, prepared.options
        outcome = LatticeOutcome(
            solved.levels,
            prepared.built,
            optimum.score,
            optimum.nodes_total,
            optimum.nodes_checked,
            optimum.optimal,
            optimum.lower_bound,
            len(solved.rounds),
        )
        if len(solved.rounds) > 1:  # what was proven of one generalisation for all rows says nothing about several
            score = score_of(solved, prepared.space.grid(options)) if options.minimize in COLUMN_MEASURES else None
            outcome = replace(outcome, score=score, global_score=optimum.score, optimal=False, lower_bound=None)
        plan = LatticePlan(prepared.policy, prepared.trees, solved.rounds)
        return replace(result, plan=plan, findings=replace(result.findings, search=outcome))


def _cost(result: Anonymized) -> float:
    """What was lost, cell by cell of the records."""
    from shoal.utility.quality import quality

    trees = {} if result.plan is None else dict(result.plan.trees)
    names = result.policy.quasi_identifiers
    loss = quality(result.table, result.shown, names, hierarchies=trees, analysis=False).loss
    return 1.0 if loss is None else loss


def by_plan(table: Table, plan: LatticePlan) -> Anonymized:
    """What a plan makes of a table."""
    from shoal.methods.search.generalize import SearchOptions, follow, prepare
    from shoal.ranges.hierarchy.given import given_hierarchies

    policy = plan.policy
    needed = set(policy.needed)
    hierarchies = {
        **given_hierarchies(policy.hierarchies, needed),
        **{n: replace(tree, in_values=True) for n, tree in plan.trees.items()},
    }
    prepared = prepare(table, policy, hierarchies, SearchOptions(suppression=1.0), True)
    prepared = replace(prepared, policy=policy)  # trees that were built stay out of what is published
    result, solved = generalized(table, prepared, follow(prepared.space, plan, policy))
    outcome = LatticeOutcome(solved.levels, prepared.built)
    parameters = {**result.parameters, "plan": True}
    return replace(result, plan=plan, parameters=parameters, findings=replace(result.findings, search=outcome))


def generalized(
    table: Table,
    prepared: Prepared,
    solved: Generalized,
    conditions: Sequence[ColumnCondition] = (),
    drop_rounds: bool = False,
) -> tuple[Anonymized, Generalized]:
    """A generalisation as the rows that are released, measured and judged.

    Each round of local recoding keeps its models, but a model about all rounds together may break: with `drop_rounds`
    the last ones then go.
    """
    from shoal.methods.search.generalize import relabel, score_of

    policy, space, options = prepared.policy, prepared.space, prepared.options
    shown = relabel(solved, policy.labels_are_names)
    evidence = evidence_of_result(table, policy, shown.columns, shown.class_of_row, _levels(solved))
    while drop_rounds and len(solved.rounds) > 1 and not all(v.holds for v in judged(policy, evidence)):
        solved = solved.without_last_round()
        shown = relabel(solved, policy.labels_are_names)
        evidence = evidence_of_result(table, policy, shown.columns, shown.class_of_row, _levels(solved))
    columns = table.select(policy.quasi_identifiers)
    classes = shown.class_of_row, shown.classes
    cost = cost_of_labels(columns, shown.columns, prepared.trees, space.weights)
    findings = findings_of(table, columns, None, shown.columns, classes, conditions, closeness_told(policy), cost=cost)
    if space.weights is not None:
        lost = int(space.weights[solved.round_of_row < 0].sum())
        findings = replace(findings, records=int(space.weights.sum()), suppressed_rows=lost)
    by_leaves = solved.space.grid(replace(options, minimize="loss", importance={}))
    findings = replace(with_members(findings, evidence), loss=score_of(solved, by_leaves))
    parameters = {
        "suppression": options.suppression,
        "minimize": options.minimize,
        "importance": dict(options.importance),
        "levels": _levels(solved),
        "local": options.local,
        "plan": False,
    }
    models = judged(policy, evidence)
    result = Anonymized(Lattice.name, models, findings, table, policy, parameters, shown.columns)
    return _with_information_loss(result, prepared), solved


def _with_information_loss(result: Anonymized, prepared: Prepared) -> Anonymized:
    """The papers' loss, read from the labels: where all columns are numbers or dates, nothing is missing, and each row
    is a record."""
    names = result.policy.quasi_identifiers
    columns = result.table.select(names)
    ordered = all(not column.nulls and (column.dtype.is_numeric() or column.dtype.is_temporal()) for column in columns)
    of_records = prepared.space.weights is None or result.table.records is not None
    if not ordered or result.table.total > _MEASURED or not of_records:
        return result
    from shoal.utility.quality import information_loss_of_labels

    lost = information_loss_of_labels(result.table.expanded(), result.shown.expanded(), names)
    return replace(result, findings=replace(result.findings, information_loss=lost))


def _levels(solved: Generalized) -> dict[str, int] | None:
    """The level of each column; several rounds have no level of their own."""
    return solved.levels if len(solved.rounds) == 1 else None


def _spread(
    released: Mapping[str, ReleasedColumns], tuples: Sequence[Column], table: Table, spill: Spill
) -> dict[str, ReleasedColumns]:
    """What tuples became, over the rows."""
    columns = table.select([column.name for column in tuples])
    which = TupleOfRow(tuples, columns)
    shown = {name: entry.encoded[0] for name, entry in released.items() if entry.nature != "unchanged"}
    files = {name: spill.new_file("labels") for name in shown}
    for block in blocks_of(table.rows):
        tuple_of_row = which.of(block)
        for name, column in shown.items():
            files[name].append(column.codes[tuple_of_row])
    spread_columns = {}
    for name, entry in released.items():
        if name not in shown:
            spread_columns[name] = as_it_was(table[name])
            continue
        label = shown[name]
        codes = files[name].mapped(label.codes.dtype)
        held = replace(label, codes=codes, nulls=records_with(codes, len(label.values)), records=None)
        spread_columns[name] = ReleasedColumns.in_codes([held], entry.nature, np.zeros(0, bool), entry.form)
    return spread_columns
