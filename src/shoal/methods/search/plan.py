"""A solution as a plan: fit once, apply to new data. It names the values of the data, so it is for its owner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
import polars as pl
from pydantic import BaseModel, ConfigDict, Field

from shoal import __version__
from shoal.errors import InputError
from shoal.methods.search.generalize import Generalized, Space, lost_units
from shoal.methods.search.optimum import Optimum
from shoal.policy import Policy, as_policy
from shoal.policy.manifest import LARGEST_PLAN, as_shape, read_json
from shoal.ranges.hierarchy import Hierarchy, fit
from shoal.ranges.hierarchy.fit import leaf_of_each_value
from shoal.ranges.hierarchy.given import given_hierarchies, rows_of
from shoal.ranges.parsing import as_numbers, ends_of
from shoal.storage import Array, Column
from shoal.storage.reading import read
from shoal.storage.texts import texts_of

if TYPE_CHECKING:
    from shoal.methods.cut_plan import CutPlan


KIND = "generalisation plan"


@dataclass(frozen=True)
class LatticePlan:
    """The levels of every round, the trees they refer to, and the policy that they keep.

    Without rounds it only tells what the labels of a release hold, and cannot be applied to new data.
    """

    policy: Policy
    trees: Mapping[str, Hierarchy]
    rounds: list[tuple[int, ...]]

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        columns = {name: {"hierarchy": rows_of(tree)} for name, tree in self.trees.items()}
        return {
            "kind": KIND,
            "shoal": __version__,
            "policy": self.policy.model_dump(mode="json"),
            "columns": columns,
            "rounds": [dict(zip(self.trees, levels, strict=True)) for levels in self.rounds],
        }


def read_plan(path: str | Path) -> LatticePlan | CutPlan:
    """A plan from its file.

    >>> read_plan("nothing.json")
    Traceback (most recent call last):
    shoal.errors.InputError: There is no plan nothing.json. ...
    """
    path = Path(path)
    return plan_of(read_json(path, "plan", LARGEST_PLAN), path)


class _PlanColumn(BaseModel):
    """The tree of a column, row by row: never a path."""

    model_config = ConfigDict(extra="forbid", defer_build=True)

    hierarchy: Annotated[list[Annotated[list[str], Field(min_length=1)]], Field(min_length=1)]


class _PlanFile(BaseModel):
    """A plan as it is written."""

    model_config = ConfigDict(extra="forbid", defer_build=True)

    kind: Literal["generalisation plan"]
    shoal: str
    policy: dict[str, Any]
    columns: Annotated[dict[str, _PlanColumn], Field(min_length=1)]
    rounds: list[dict[str, Annotated[int, Field(ge=0, lt=10_000)]]]


def plan_of(content: dict[str, Any], path: Path) -> LatticePlan | CutPlan:
    """A plan from its JSON: of levels, or of cuts."""
    from shoal.methods.cut_plan import KIND, cuts_of

    content = {name: part for name, part in content.items() if name != "salt"}
    if content.get("kind") == KIND:
        return cuts_of(content, path)
    plan_file = as_shape(_PlanFile, content, path, "plan")
    policy = as_policy(plan_file.policy)
    names = list(plan_file.columns)
    asked = set(policy.quasi_identifiers)
    fits = asked == set(names) if plan_file.rounds else asked >= set(names)
    if not fits or any(set(levels) != set(names) for levels in plan_file.rounds):
        raise InputError(f"{path} names other columns than its policy.", "Take it as it was written.")
    trees = given_hierarchies({name: plan_file.columns[name].hierarchy for name in names}, names)
    rounds = [tuple(levels[name] for name in names) for levels in plan_file.rounds]
    heights = [trees[name].height for name in names]
    if any(not 0 <= level < height for levels in rounds for level, height in zip(levels, heights, strict=True)):
        raise InputError(f"{path} names levels that its hierarchies do not have.", "Take it as it was written.")
    return LatticePlan(policy, trees, rounds)


def grown(tree: Hierarchy, column: Column) -> Hierarchy:
    """The tree with leaves for new numbers and dates that lie in one of its ranges at every level.

    >>> from shoal.storage.reading import read
    >>> tree = given_hierarchies({"age": [["30", "[30;34]", "*"], ["34", "[30;34]", "*"]]}, ["age"])["age"]
    >>> grown(tree, read({"age": [31, 40]})["age"]).levels[1].to_list()
    ['[30;34]', '[30;34]', '[30;34]']
    """
    if not (column.dtype.is_numeric() or column.dtype.is_temporal()):
        return tree
    texts = texts_of(column.values)
    known = set(tree.levels[0].to_list())
    fitted = fit(tree, column)
    if not fitted.missing:
        return tree
    numbers = as_numbers(column.values)
    new = np.array([text not in known for text in texts.to_list()], bool)
    paths: list[list[str | None]] = [texts.to_list()]
    for level in range(1, tree.height - 1):
        labels = pl.Series(tree.labels(level))
        low, high = ends_of(read(pl.DataFrame({"label": labels}))["label"])
        places = read(pl.DataFrame({"label": labels}))["label"].codes
        low, high = low[places], high[places]
        inside = (low[None, :] <= numbers[:, None]) & (numbers[:, None] <= high[None, :])
        new &= inside.sum(axis=1) == 1
        paths.append([labels[int(node)] for node in inside.argmax(axis=1)])
    rows = [[path[place] for path in paths] for place in np.flatnonzero(new).tolist()]
    if not rows:
        return tree
    more = [pl.Series([row[level] for row in rows], dtype=pl.String) for level in range(len(paths))]
    more.append(pl.Series(["*"] * len(rows)))
    try:
        levels = [pl.concat([old.alias(""), added.alias("")]) for old, added in zip(tree.levels, more, strict=True)]
        return Hierarchy(tree.column, tuple(levels), tree.source, tree.in_values)
    except InputError:  # ranges that do not hold their own leaves: then a new value has no place either
        return tree


def _known_units(space: Space, plan: LatticePlan) -> Array:
    """Which tuples (or histories) have only values that the plan's trees know: others are never shown."""
    known = np.ones(len(space.tuples), bool)
    for column in space.columns:
        there = np.append(
            leaf_of_each_value(plan.trees[column.name].levels[0], column.values, texts_of(column.values)) >= 0, True
        )
        known &= there[space.tuples.tuples[column.name].codes]
    if space.histories is None:
        return known
    unknown = np.bincount(
        space.histories.of_history.codes, ~known[space.histories.of_tuple], minlength=len(space.units)
    )
    return np.asarray(unknown == 0)


def follow(space: Space, plan: LatticePlan, policy: Policy) -> Generalized:
    """Settle every tuple in the first round in which its class keeps the policy; the rest is suppressed."""
    round_of_unit = np.full(len(space.units), -1, np.int64)
    known = _known_units(space, plan)
    left: Array = np.flatnonzero(known)
    part: Space = space.part(known)
    again: Sequence[Any] = [model for model in policy.models if not model.whole]
    for number, levels in enumerate(plan.rounds):
        if not len(left):
            break
        evaluate = part.evaluator(part.grid_of_levels(), again, part.members, space.members)
        lost = lost_units(evaluate, levels)
        round_of_unit[left[~lost]] = number
        left = left[lost]
        part = space.part(known & (round_of_unit < 0))
    nothing = Optimum(None, None, None, False, 0, 0, [])
    return Generalized(space, nothing, list(plan.rounds), round_of_unit)


# The policy that a release carries: with the trees that its models look at.


def embedded(policy: Policy, trees: Mapping[str, Hierarchy]) -> Policy:
    """The policy with the given trees that models look at written out, so that whoever verifies has them.

    Those are the trees of sensitive columns, and where a population is counted in the classes also those of
    quasi-identifiers. One that was built stays out: it names every value of the data.
    """
    needed = {name for name in policy.needed if name not in policy.quasi_identifiers}
    if any(model.needs_population for model in policy.models):
        needed |= set(policy.quasi_identifiers)
    needed &= set(trees)
    return policy.model_copy(update={"hierarchies": {name: rows_of(trees[name]) for name in sorted(needed)}})
