"""What pages ask for beside the plain verbs: a result of the library together with what a page shows next to it."""

from __future__ import annotations

import json
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from shoal.app.project import Stored
from shoal.app.verbs.base import Columns, Task, Verb, VerbOptions
from shoal.vocabulary import HierarchyKind, Prefer


class ProposeOptions(VerbOptions):
    """A proposal has no options."""


class DeskTypesOptions(VerbOptions):
    """A proposal has no options."""


class TreeKind(BaseModel):
    """How the tree of one column is built."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: HierarchyKind = "auto"
    width: Annotated[float | None, Field(gt=0)] = None
    factor: Annotated[int | None, Field(ge=2, le=10**6)] = None
    groups: Annotated[int | None, Field(ge=1, le=10**6)] = None
    cut: Annotated[int | None, Field(ge=1, le=100)] = None


class TreesOptions(VerbOptions):
    """The columns, and for some of them how."""

    columns: Columns
    kinds: dict[str, TreeKind] | None = None


class ProtectOptions(VerbOptions):
    """What decides between methods; all else stands in the policy."""

    prefer: Prefer | None = None


def _propose(task: Task, options: ProposeOptions) -> Any:
    """The profile, and the policy that it proposes as a file."""
    from shoal.detection.profile import profile

    return profile(task.source, policy=task.policy, options=task.reading, write_policy=task.folder / "proposed.yaml")


def _trees(task: Task, options: TreesOptions) -> Any:
    """The tree of every column, each in a file with a name of ours: that of a column may be anything."""
    from shoal.policy import as_policy
    from shoal.ranges.hierarchy.build import build_hierarchy
    from shoal.ranges.hierarchy.results import BuiltHierarchies, BuiltHierarchy
    from shoal.storage.reading import read
    from shoal.storage.reading.files import declaring

    table = read(task.source, options.columns, declaring(task.reading, as_policy(task.policy).types))
    folder = task.folder / "trees"
    folder.mkdir(mode=0o700)
    made = []
    for place, name in enumerate(table.names):
        asked = (options.kinds or {}).get(name, TreeKind())
        tree = build_hierarchy(table[name], **asked.model_dump())
        path = folder / f"{place}.csv"
        tree.to_csv(path)
        made.append(BuiltHierarchy(tree.column, tree.source, tree.leaves, tree.height, tree.sizes, str(path), tree))
    return BuiltHierarchies(made)


def _protect(task: Task, options: ProtectOptions) -> Any:
    """The table anonymised, not released; and each changed column before and after, beside the result."""
    from shoal.methods.anonymize import anonymize
    from shoal.reports.publication.steps import before_and_after
    from shoal.storage.writing import write_bytes

    found = anonymize(task.source, task.policy, options=task.reading, **options.model_dump(exclude_none=True))
    shares = before_and_after(found)["columns"]
    write_bytes(task.folder / "columns.json", json.dumps(shares).encode(), 0o600)
    return found


def _desk_types(task: Task, options: DeskTypesOptions) -> Stored:
    """The types that a desk would propose; what is declared is up to its owner."""
    from shoal.dp.opening import proposed_types

    return Stored({"types": proposed_types(task.source, options=task.reading)}, "Types of the columns.", [])


VERBS = (
    Verb("propose", ProposeOptions, _propose, "shoal.detection.profile:profile", note="Roles for columns."),
    Verb("trees", TreesOptions, _trees, "shoal.ranges.hierarchy:build_hierarchy", note="How columns get coarser."),
    Verb("desk-types", DeskTypesOptions, _desk_types, "shoal.dp.opening:proposed_types", note="Types to declare."),
    Verb("protect", ProtectOptions, _protect, "shoal.methods.anonymize:anonymize", note="Try a goal."),
)
