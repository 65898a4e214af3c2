"""A policy, and its hierarchies as files, from the project of another tool."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from shoal.errors import InputError
from shoal.policy import Policy, as_policy
from shoal.policy.loading import policy_from_text
from shoal.policy.migration.arx import read_arx
from shoal.policy.migration.draft import NotTaken, PolicyDraft, Tool
from shoal.ranges.hierarchy import Hierarchy
from shoal.ranges.hierarchy.given import given_hierarchies
from shoal.results import Commands, Files, Grid, Headline, Result, Section, left_out, where_known
from shoal.storage.reading.bytes import parse_json, read_small
from shoal.storage.writing import check_target, write_text, write_whole
from shoal.vocabulary import Role
from shoal.wording import counted

# sdcMicro problems as the R script `sdcmicro_to_json.R` writes them: slots of an sdcMicroObj, without its data.


# columns that are named in one line
_SHOWN = 20


def _as_list(value: Any) -> Any:
    return [] if value is None else [value] if isinstance(value, str) else value


Names = Annotated[list[str], BeforeValidator(_as_list)]


class SdcProblem(BaseModel):
    """What the script writes; names of columns where sdcMicro has their numbers."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    tool: Literal["sdcMicro"]
    version: str | None = None
    columns: Names
    key_vars: Names = Field(alias="keyVars", default=[])
    num_vars: Names = Field(alias="numVars", default=[])
    pram_vars: Names = Field(alias="pramVars", default=[])
    ghost_vars: Names = Field(alias="ghostVars", default=[])
    deleted_vars: Names = Field(alias="deletedVars", default=[])
    sensitive_vars: Names = Field(alias="sensibleVar", default=[])
    weight_var: str | None = Field(alias="weightVar", default=None)
    household: str | None = Field(alias="hhId", default=None)
    strata_vars: Names = Field(alias="strataVar", default=[])
    alpha: float | None = None
    suppression_k: int | None = Field(alias="localSuppressionK", default=None)
    changed: Names = []


def read_sdcmicro(content: Any, path: Path) -> PolicyDraft:
    """Key variables as quasi-identifiers, weights and households; methods that were run are listed."""
    try:
        problem = SdcProblem.model_validate(content)
    except ValidationError as error:
        where = ", ".join(".".join(str(part) for part in entry["loc"]) for entry in error.errors()[:3])
        raise InputError(
            f"{path} is not what sdcmicro_to_json.R writes ({where}).",
            "Write it again with the script that is here.",
        ) from None
    draft = PolicyDraft("sdcMicro", problem.version)
    for names, role in (
        (problem.key_vars, "quasi-identifier"),
        (problem.sensitive_vars, "sensitive"),
        (problem.deleted_vars, "identifier"),
    ):
        draft.columns |= {name: role for name in names if name not in draft.columns}  # type: ignore[misc]
    if problem.weight_var is not None:
        draft.settings["weight"] = problem.weight_var
    if problem.household is not None:
        draft.settings["household"] = problem.household
    if problem.suppression_k is not None and problem.suppression_k > 1:
        draft.models.append({"model": "k-anonymity", "k": problem.suppression_k})
    else:
        draft.lacks("a k", "an sdcMicroObj states none unless local suppression was run: add a model")
    # freqCalc lets a missing value match all others, for this much of a record
    draft.settings["null_rule"] = "wildcard"
    if problem.alpha is not None and problem.alpha != 1:
        draft.settings["wildcard_alpha"] = problem.alpha
    _left(draft, problem)
    return draft


def _left(draft: PolicyDraft, problem: SdcProblem) -> None:
    """What has no place in a policy."""
    named: list[tuple[list[str], str, str]] = [
        (problem.num_vars, "continuous key variable", "decide its role: microaggregate it, or use `shoal perturb`"),
        (problem.pram_vars, "variable for PRAM", "use `shoal perturb --pram`, and decide its role"),
        (problem.ghost_vars, "ghost variable", "cells that are suppressed with a key variable; decide its role"),
        (problem.strata_vars, "stratum", "models hold in the whole table, not by stratum; decide its role"),
    ]
    for names, what, why in named:
        for name in names:
            draft.lacks(f"'{name}' as {what}", why)
    said = {*draft.columns, problem.weight_var, problem.household, *(name for names, *_ in named for name in names)}
    if others := [name for name in problem.columns if name not in said]:
        more = f" and {len(others) - _SHOWN:,} more" if len(others) > _SHOWN else ""
        draft.lacks(f"{', '.join(others[:_SHOWN])}{more}", "sdcMicro gives these columns no part: decide their roles")
    for what in problem.changed:
        draft.lacks(f"what was done already: {what}", "shoal starts from the original table")
    if problem.sensitive_vars:
        draft.lacks("l-diversity of sensitive variables", "sdcMicro measures it without a limit: add a model")


# Amnesia's hierarchies: `distinct` or `range`, name, type and height, then lines `parent has child child`.


_MOST_NODES = 1_000_000
_MOST_WHOLE_NUMBERS = 20_000
_CURE = "Export it again from Amnesia."


def is_amnesia(text: str) -> bool:
    """Whether a text starts as Amnesia's hierarchies do.

    >>> is_amnesia("distinct\\nname age\\ntype string\\nheight 3\\n")
    True
    """
    lines = [line.strip().lower() for line in text.splitlines()[:8] if line.strip()]
    return (
        bool(lines)
        and (lines[0] in ("distinct", "range") or lines[0].startswith("name "))
        and any(line.startswith("height ") for line in lines)
    )


def read_amnesia(text: str, path: Path, column: str | None) -> PolicyDraft:
    """The tree of one column; the column is a quasi-identifier."""
    lines = text.splitlines()
    start = next((number for number, line in enumerate(lines) if not line.strip() and number), len(lines))
    head = dict(line.split(None, 1) for line in lines[:start] if len(line.split(None, 1)) == 2)
    kinds = {line.strip().lower() for line in lines[:start]} & {"distinct", "range"}
    name = column or head.get("name", "").strip() or path.stem
    parents = _parents(lines[start:], path)
    draft = PolicyDraft("Amnesia", columns={name: "quasi-identifier"})
    if "range" in kinds:
        _ranges(draft, name, parents, head.get("type", ""))
    else:
        draft.trees[name] = given_hierarchies({name: _rows(parents, path)}, [name])[name]
    draft.lacks("k, the other columns and the table", "Amnesia keeps no project file: add them to the policy")
    return draft


def _parents(lines: list[str], path: Path) -> dict[str, str]:
    """The parent of every node but the root."""
    found: dict[str, str] = {}
    for line in lines:
        if not line.strip():
            continue
        parent, has, children = line.partition(" has ")
        if not has:
            raise InputError(f"{path} has a line without `has` behind its head.", _CURE)
        for child in children.split():
            if found.setdefault(child, parent.strip()) != parent.strip():
                raise InputError(f"{path} gives a node two parents: it is not a tree.", _CURE)
        if len(found) > _MOST_NODES:
            raise InputError(f"{path} has more than {_MOST_NODES:,} nodes.", _CURE)
    if not found:
        raise InputError(f"{path} has no nodes.", _CURE)
    return found


def _rows(parents: dict[str, str], path: Path) -> list[list[str]]:
    """Every leaf with its path to the root, which is `*`; leaves that stand higher are repeated upward."""
    inner = set(parents.values())
    leaves = [node for node in parents if node not in inner]
    ways = []
    for leaf in leaves:
        way = [leaf]
        while way[-1] in parents:
            way.append(parents[way[-1]])
            if len(way) > 1_000:
                raise InputError(f"{path} has a node that is above itself.", _CURE)
        ways.append(way)
    if len({way[-1] for way in ways}) != 1 or not ways:
        raise InputError(f"{path} has several roots, or none.", _CURE)
    height = max(len(way) for way in ways)
    return [[way[0]] * (height - len(way)) + way[:-1] + ["*"] for way in ways]


def _ranges(draft: PolicyDraft, name: str, parents: dict[str, str], kind: str) -> None:
    """Ranges of whole numbers as a tree of the numbers; others have no leaves that could be listed."""
    if kind.strip() != "int":
        draft.lacks(
            f"the ranges of '{name}' ({kind.strip() or 'no type'})",
            "only ranges of whole numbers can be listed: build them with `shoal hierarchy build --width`",
        )
        return
    rows = _rows(parents, Path(name))
    try:
        ends = {node: _ends(node) for node in [*parents, *parents.values()]}
    except ValueError:
        raise InputError(f"A range of '{name}' has no two numbers with a comma between.", _CURE) from None
    top = max(high for _, high in ends.values())
    span = top - min(low for low, _ in ends.values())
    if span > _MOST_WHOLE_NUMBERS:
        draft.lacks(f"the ranges of '{name}'", f"they span more than {_MOST_WHOLE_NUMBERS:,} numbers")
        return
    # a number on the border of two ranges belongs to the upper one; the last range holds its own end
    labels = {node: f"[{low};{high if high == top else high - 1}]" for node, (low, high) in ends.items()}
    listed = []
    for way in rows:
        low, high = ends[way[0]]
        last = high + 1 if high == top else high
        listed += [[str(value), *(labels[node] for node in way[:-1]), "*"] for value in range(low, last)]
    draft.trees[name] = given_hierarchies({name: listed}, [name])[name]
    draft.types[name] = "number"


def _ends(node: str) -> tuple[int, int]:
    low, high = (float(end) for end in node.split(","))
    if not (low.is_integer() and high.is_integer() and low < high):
        raise ValueError
    return int(low), int(high)


# What `shoal.import_policy` returns: a policy from another tool's project, and what is not in it.


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


def import_policy(
    source: str | Path, *, output: str | Path | None = None, column: str | None = None, force: bool = False
) -> ImportedPolicy:
    """Turn an ARX project (.deid), an sdcMicro problem (JSON) or an Amnesia hierarchy (text) into a policy.

    `output` writes the policy, and its hierarchies as CSV files into a folder beside it. `column` names the column of
    an Amnesia hierarchy where its own name is another. Data inside a project is not read.
    """
    path = Path(source)
    draft = _read(path, column)
    target = None if output is None else Path(output)
    if target is not None:
        check_target(target, force, (".yaml", ".yml"))
    files = {} if target is None else _files(draft.trees, target)
    hierarchies: Any = {name: str(file) for name, file in files.items()}
    policy = as_policy({**_content(draft), "hierarchies": hierarchies})
    text = _text(draft, path, policy.as_written())
    policy_from_text(text, path)  # as it will be read
    if target is not None:
        for name, file in files.items():
            file.parent.mkdir(exist_ok=True)
            check_target(file, force, (".csv",))
            write_whole(file, draft.trees[name].to_csv)
        write_text(target, text)
    return ImportedPolicy(
        tool=draft.tool,
        tool_version=draft.version,
        columns=dict(policy.columns),
        models=draft.models,
        hierarchies={name: tree.height for name, tree in draft.trees.items()},
        not_taken=draft.not_taken,
        policy_text=text,
        policy=policy,
        trees=draft.trees,
        output=None if target is None else str(target),
        hierarchy_files=hierarchies or None,
    )


def _read(path: Path, column: str | None) -> PolicyDraft:
    """Whose project it is, by what is in it."""
    try:
        head = path.open("rb").read(4)
    except FileNotFoundError:
        raise InputError(f"There is no file {path}.", "Check its name.") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.", "Name a file.") from None
    if head.startswith(b"PK"):
        return read_arx(path)
    try:
        text = read_small(path).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{path} is neither a ZIP archive nor UTF-8 text.", _KNOWN) from None
    if is_amnesia(text):
        return read_amnesia(text, path, column)
    try:
        content = parse_json(text)
    except ValueError:
        raise InputError(f"{path} is not the project of a tool that is known.", _KNOWN) from None
    if not isinstance(content, dict) or content.get("tool") != "sdcMicro":
        raise InputError(f"{path} is JSON, and not of sdcMicro.", _KNOWN)
    return read_sdcmicro(content, path)


_KNOWN = "Give an ARX project (.deid), the JSON of sdcmicro_to_json.R, or a hierarchy of Amnesia."


def _content(draft: PolicyDraft) -> dict[str, Any]:
    """The policy without its hierarchies; what a model is about is sensitive, and has to be there."""
    for model in draft.models:
        about = model.get("sensitive")
        if about is not None and draft.columns.get(about) is None:
            draft.columns[about] = "sensitive"
    found: dict[str, Any] = {"columns": draft.columns, "types": draft.types, "models": draft.models}
    return {**found, **draft.settings}


def _files(trees: dict[str, Hierarchy], target: Path) -> dict[str, Path]:
    """A file for every tree, whose name is the column's as far as a file system can hold it."""
    folder, found = target.with_name(f"{target.stem}-hierarchies"), dict[str, Path]()
    for number, name in enumerate(trees, 1):
        plain = re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-")[:60] or "column"
        taken = {file.name.lower() for file in found.values()}
        file = f"{plain}.csv" if f"{plain}.csv".lower() not in taken else f"{plain}-{number}.csv"
        found[name] = folder / file
    return found


def _text(draft: PolicyDraft, path: Path, written: dict[str, Any]) -> str:
    """The policy as YAML, with what is missing as comments above it."""
    version = f" {draft.version}" if draft.version else ""
    lines = [f"From {draft.tool}{version}: {path.name}"]
    lines += [f"Not taken over: {entry.what}. {entry.why}" for entry in draft.not_taken]
    comments = "".join(f"# {' '.join(re.sub(r'[^ -~]', ' ', line).split())}\n" for line in lines)
    return comments + yaml.safe_dump(written, sort_keys=False, allow_unicode=True)
