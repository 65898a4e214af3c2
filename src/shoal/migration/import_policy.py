"""A policy, and its hierarchies as files, from the project of another tool."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from shoal.errors import InputError
from shoal.hierarchy import Hierarchy
from shoal.migration.amnesia import is_amnesia, read_amnesia
from shoal.migration.arx import read_arx
from shoal.migration.draft import Draft
from shoal.migration.results import ImportedPolicy
from shoal.migration.sdcmicro import read_sdcmicro
from shoal.policy import as_policy
from shoal.policy.loading import policy_from_text
from shoal.reading.small import parse_json, read_small
from shoal.writing import check_target, write_whole


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
        write_whole(target, lambda written: written.write_text(text, "utf-8"))
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


def _read(path: Path, column: str | None) -> Draft:
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


def _content(draft: Draft) -> dict[str, Any]:
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


def _text(draft: Draft, path: Path, written: dict[str, Any]) -> str:
    """The policy as YAML, with what is missing as comments above it."""
    version = f" {draft.version}" if draft.version else ""
    lines = [f"From {draft.tool}{version}: {path.name}"]
    lines += [f"Not taken over: {entry.what}. {entry.why}" for entry in draft.not_taken]
    comments = "".join(f"# {' '.join(re.sub(r'[^ -~]', ' ', line).split())}\n" for line in lines)
    return comments + yaml.safe_dump(written, sort_keys=False, allow_unicode=True)
