"""The solution space of a table: its best node and why it won, loss against risk, the rows as released."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from shoal.anonymization.search.embedded import embedded
from shoal.anonymization.search.generalize import Generalized, Space, Wishes, generalize, make_space
from shoal.errors import InputError
from shoal.hierarchy import Hierarchy
from shoal.hierarchy.chosen import complete, given_hierarchies
from shoal.judgement.persons import linked_classes
from shoal.models import Model
from shoal.policy import Policy
from shoal.ranges.columns import ReleasedColumns
from shoal.table import Array, Table
from shoal.table.classes import Coded, class_of_each_row, first_row_of_each_class, pack
from shoal.table.rows import Rows
from shoal.table.texts import texts_of
from shoal.wording import percent


@dataclass(frozen=True)
class Solution:
    """One node: its levels, score and cost, and the risk of the record at highest risk."""

    levels: dict[str, int]
    score: float
    suppressed_rows: int
    classes: int
    k: int
    highest_risk: float

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


@dataclass(frozen=True)
class Prepared:
    """A table and its decisions, ready for the search."""

    policy: Policy
    space: Space
    trees: dict[str, Hierarchy]
    built: dict[str, str]
    wishes: Wishes


def prepare(
    table: Table, policy: Policy, hierarchies: Any, wishes: Wishes, complete_hierarchies: bool = False
) -> Prepared:
    """Read or build the hierarchies, count the table."""
    names = policy.quasi_identifiers
    needed = sorted({name for model in policy.models for name in model.needs})
    _check_named(wishes, names)
    given = given_hierarchies(hierarchies or policy.hierarchies, [*names, *needed])
    trees, built = complete(given, table.select(names))
    others = {name: tree for name, tree in given.items() if name not in trees}
    rows = Rows.of(table, names, policy.count, policy.person)
    if policy.count is not None and len(rows.columns[0].codes) != table.rows:
        raise InputError(f"Count column '{policy.count}' is zero in some rows: they are no records.", "Remove them.")
    linked = None if rows.person is None else linked_classes(rows.person, policy.linked)
    space = make_space(
        table, names, {**trees, **others}, policy.models, complete_hierarchies, rows.weights, rows.person, linked
    )
    return Prepared(embedded(policy, given), space, trees, built, wishes)


def _check_named(wishes: Wishes, names: Sequence[str]) -> None:
    unknown = sorted({*wishes.weights, *wishes.levels} - set(names))
    if unknown:
        raise InputError.missing_columns(unknown, names, "The list of quasi-identifiers")


def solve(prepared: Prepared) -> Generalized:
    """The best generalisation; an error that says the cure where there is none."""
    if not prepared.policy.models:
        raise InputError("The search needs a privacy model to keep.", "Give -k 5, or models in a policy.")
    found = generalize(prepared.space, prepared.policy.models, prepared.wishes)
    if not found.rounds:
        limit = percent(prepared.wishes.suppression)
        if not found.optimum.optimal:
            raise InputError(
                f"No solution was found in {prepared.wishes.time_limit:g} s.", "Give more with --time-limit."
            )
        raise InputError(
            f"No generalisation keeps the policy with at most {limit} of the records suppressed.",
            "Allow more with --suppression, ask for less, or give hierarchies with more levels.",
        )
    return found


# what is released


@dataclass(frozen=True)
class Relabelled:
    """The quasi-identifiers as they are released, and the class of each row (-1: suppressed)."""

    columns: dict[str, ReleasedColumns]
    class_of_row: Array
    classes: int


def relabel(found: Generalized) -> Relabelled:
    """Write every row with the labels of its round; what was never settled is `*` throughout.

    What is equal is written once: rows are dealt with as distinct (tuple, round) pairs, and spread over the table last.
    """
    space = found.space
    if space.unit_of_row is None:
        of_row, rounds = space.tuple_of_row, found.round_of_unit
        codes = [space.tuples.tuples[column.name].codes for column in space.columns]
    else:
        pairs = Coded(space.tuple_of_row, len(space.tuples)), Coded(found.round_of_row + 1, len(found.rounds) + 1)
        of_row, count = class_of_each_row(pack(pairs))
        first = first_row_of_each_class(of_row, count)
        rounds = found.round_of_row[first]
        codes = [column.codes[first] for column in space.columns]
    columns, keys = {}, []
    for place, column in enumerate(space.columns):
        labels, label, changed = _labels(found, place, codes[place], rounds)
        keys.append(Coded(label, len(labels)))
        if not changed.any():
            columns[column.name] = ReleasedColumns([column.decode()], "unchanged", changed[of_row])
        else:
            texts = pl.Series(column.name, labels, dtype=pl.String).gather(label).gather(of_row)
            columns[column.name] = ReleasedColumns([texts], "truthful", changed[of_row])
    kept = np.flatnonzero(rounds >= 0)
    classes, count = class_of_each_row(pack([Coded(key.codes[kept], key.cardinality) for key in keys]))
    class_of_pair = np.full(len(rounds), -1, np.int64)
    class_of_pair[kept] = classes
    return Relabelled(columns, class_of_pair[of_row], count)


def _labels(found: Generalized, place: int, codes: Array, rounds: Array) -> tuple[list[str | None], Array, Array]:
    """The labels of a column; which of them each code gets in its round, and whether it says something else."""
    column = found.space.columns[place]
    fitted = found.space.fitted[column.name]
    own = [*texts_of(column.values).to_list(), *([None] if column.nulls else [])]
    numbers: dict[str | None, int] = {}
    label, changed = np.zeros(len(codes), np.int64), np.ones(len(codes), bool)
    for number, levels in enumerate(found.rounds):
        level = levels[place]
        texts = own if level == 0 else [fitted.labels[level][node] for node in fitted.codes[level]]
        of_code = np.array([numbers.setdefault(text, len(numbers)) for text in texts], np.int64)
        differs = np.array([text != leaf for text, leaf in zip(texts, own, strict=True)], bool)
        here = rounds == number
        label[here], changed[here] = of_code[codes[here]], differs[codes[here]]
    lost = rounds < 0
    if lost.any():
        label[lost] = numbers.setdefault("*", len(numbers))
    return list(numbers), label, changed


# the solution space


@dataclass(frozen=True)
class Lattice:
    """What was found: the chosen node, why it won, and the frontier: for each level of risk the least loss."""

    chosen: Solution | None
    reason: str
    frontier: list[Solution]
    best: list[Solution]
    nodes_total: int
    nodes_checked: int
    optimal: bool
    lower_bound: float | None
    quality: str
    built: dict[str, str]

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "chosen": None if self.chosen is None else self.chosen.to_dict(),
            "reason": self.reason,
            "frontier": [solution.to_dict() for solution in self.frontier],
            "best": [solution.to_dict() for solution in self.best],
            "nodes_total": self.nodes_total,
            "nodes_checked": self.nodes_checked,
            "optimal": self.optimal,
            "lower_bound": self.lower_bound,
            "quality": self.quality,
            "built_hierarchies": self.built,
        }


def solution_space(prepared: Prepared, ks: Sequence[int] = (), best: int = 10) -> Lattice:
    """The best nodes that keep the policy, and the least loss for each k: how much a lower risk costs.

    The frontier is proven too: for every k (by default 2, 3, 5, 10, 20, 50, 100 and the policy's own) the optimum is
    searched with the other models unchanged.
    """
    from shoal.models import KAnonymity

    found = generalize(prepared.space, prepared.policy.models, prepared.wishes)
    optimum = found.optimum
    own = max((model.k for model in prepared.policy.models if isinstance(model, KAnonymity)), default=1)
    grid = prepared.space.grid(prepared.wishes)
    limit = int(prepared.wishes.suppression * prepared.space.members + 1e-9)
    evaluate = prepared.space.evaluator(grid, prepared.policy.models, limit)

    def solution(levels: tuple[int, ...], score: float, suppressed: int) -> Solution:
        sizes = evaluate.kept_sizes(np.array(levels))
        k = int(sizes.min()) if len(sizes) else 0
        named = dict(zip(prepared.space.fitted, levels, strict=True))
        return Solution(named, score, suppressed, len(sizes), k, 1 / k if k else 1.0)

    is_class_quality = prepared.wishes.quality in ("discernibility", "average-class-size")
    feasible = sorted(
        (node for node in optimum.seen if node.feasible), key=lambda node: (node.product, node.suppressed, node.levels)
    )
    scores = [node.product if is_class_quality else grid.score(node.product) for node in feasible]
    top = [solution(node.levels, score, node.suppressed) for node, score in zip(feasible[:best], scores, strict=False)]
    frontier = []
    others: list[Model] = [model for model in prepared.policy.models if not isinstance(model, KAnonymity)]
    for k in sorted({*(ks or (2, 3, 5, 10, 20, 50, 100)), *([own] if own > 1 else [])}):
        models = [KAnonymity(k=k), *others]
        if k == own and found.rounds:
            at = optimum
        else:
            at = generalize(prepared.space, models, prepared.wishes).optimum
        if at.best is not None and at.score is not None:
            evaluate = prepared.space.evaluator(grid, models, limit)
            node = solution(at.best.levels, at.score, at.best.suppressed)
            if node not in frontier:
                frontier.append(node)
    evaluate = prepared.space.evaluator(grid, prepared.policy.models, limit)
    chosen = top[0] if top else None
    return Lattice(
        chosen,
        why(chosen, top[1:], optimum.optimal, optimum.nodes_total, prepared.wishes),
        frontier,
        top,
        optimum.nodes_total,
        optimum.nodes_checked,
        optimum.optimal,
        optimum.lower_bound,
        prepared.wishes.quality,
        prepared.built,
    )


def why(chosen: Solution | None, others: Sequence[Solution], optimal: bool, total: int, wishes: Wishes) -> str:
    """Why the chosen node won, in one sentence."""
    if chosen is None:
        return (
            f"None of the {total:,} generalisations keeps the policy with at most {percent(wishes.suppression)} of the "
            "records suppressed."
        )
    proof = (
        f"no other of the {total:,} generalisations that keep the policy has a lower {wishes.quality}"
        if optimal
        else f"it is the best found of {total:,} generalisations in the time that was given"
    )
    next_best = f", the next best found {others[0].score:.4f}" if others else ""
    return (
        f"Its {wishes.quality} is {chosen.score:.4f}{next_best}, with {chosen.suppressed_rows:,} records "
        f"suppressed and classes of {chosen.k} and more: {proof}."
    )
