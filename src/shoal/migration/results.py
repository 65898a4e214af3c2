"""What `shoal.import_policy` returns: a policy from another tool's project, and what is not in it."""

from __future__ import annotations

from typing import Any, ClassVar

from shoal.dataclasses import dataclass
from shoal.hierarchy import Hierarchy
from shoal.migration.draft import NotTaken, Tool
from shoal.policy import Policy
from shoal.results import Commands, Files, Grid, Headline, Result, Section, left_out, where_known
from shoal.vocabulary import Role
from shoal.wording import counted


@dataclass(frozen=True, repr=False)
class ImportedPolicy(Result):
    """A policy from the project of another tool; `not_taken` lists what it has and the policy has not."""

    name: ClassVar[str] = "import-policy"

    tool: Tool
    tool_version: str | None
    columns: dict[str, Role]
    models: list[dict[str, Any]]
    # the columns that have a hierarchy, with its levels
    hierarchies: dict[str, int]
    not_taken: list[NotTaken]
    policy_text: str
    policy: Policy = left_out()
    trees: dict[str, Hierarchy] = left_out(default_factory=dict)
    output: str | None = where_known()
    hierarchy_files: dict[str, str] | None = where_known()

    def summary(self) -> str:
        """What was taken over, in a sentence, and whether something was left."""
        taken = [counted(len(self.columns), "role"), counted(len(self.models), "model")]
        taken.append(f"{len(self.hierarchies)} {'hierarchy' if len(self.hierarchies) == 1 else 'hierarchies'}")
        taken += [f"{name} {value}" for name in ("weight", "household") if (value := getattr(self.policy, name))]
        left = f" {counted(len(self.not_taken), 'thing')} could not be taken over." if self.not_taken else ""
        return f"From {self.tool}: {', '.join(taken)}.{left}"

    def sections(self) -> list[Section]:
        """What was taken, what was not and what to do about it, and where the files are."""
        levels = {name: f"{height} levels" for name, height in self.hierarchies.items()}
        rows = [(name, role, levels.get(name, "")) for name, role in self.columns.items()]
        shown: list[Section] = [Headline(self.summary(), "warning" if self.not_taken else "good")]
        if rows:
            shown.append(Grid(("column", "role", "hierarchy"), rows, 3))
        if self.models:
            shown.append(Grid(("model", "settings"), [_settings(model) for model in self.models], 2))
        if self.not_taken:
            left = [(entry.what, entry.why) for entry in self.not_taken]
            shown.append(Grid(("not taken over", "why, or what to do"), left, 2, wrap=(0, 1)))
        if self.output is not None:
            shown.append(Files({"policy": self.output, **(self.hierarchy_files or {})}))
            shown.append(Commands([f"shoal risk TABLE --policy {self.output}"]))
        return shown


def _settings(model: dict[str, Any]) -> tuple[str, str]:
    return str(model["model"]), ", ".join(f"{name}={value}" for name, value in model.items() if name != "model")
