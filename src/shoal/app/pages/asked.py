"""What a result was asked with: results of earlier decisions are marked, and those that are cheap are made again."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from typing import Any

from fastapi import Request

from shoal.app.jobs import Busy, Job
from shoal.app.project import Workspace
from shoal.app.server import jobs_of
from shoal.writing import write_bytes

# what a verb depends on beside how the file is read: parts of the policy; None is all of it
_COLUMNS = ("columns", "types", "null_rule", "count", "person", "weight", "household", "wildcard_alpha")
_PARTS: dict[str, tuple[str, ...] | None] = {
    "preview": (),
    "propose": (),
    "sample-data": (),
    "detect": _COLUMNS,
    "risk": (*_COLUMNS, "knowledge", "linked", "threshold", "population_size", "sampling", "risk_over"),
    "trees": ("columns", "types"),
    "desk-types": (),
    "desk-open": (),
    "desk-query": (),
}


# what a verb does not depend on, where it depends on all else
_WITHOUT = {"protect": ("context", "output", "attacks", "leak")}


def _key(workspace: Workspace, verb: str) -> str:
    parts, without = _PARTS.get(verb), _WITHOUT.get(verb, ())
    policy = workspace.policy().as_written() if workspace.has_policy and parts != () else {}
    policy = {name: value for name, value in policy.items() if (parts is None or name in parts) and name not in without}
    asked = {"policy": policy, "reading": {**vars(workspace.reading), "missing": list(workspace.reading.missing)}}
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


def _kept(workspace: Workspace) -> dict[str, str]:
    with suppress(OSError, ValueError):
        found: dict[str, str] = json.loads((workspace.folder / "asked.json").read_bytes())
        return found
    return {}


def needs_again(workspace: Workspace, verb: str) -> bool:
    """Whether a verb was last started with other decisions, or not from a page."""
    return _kept(workspace).get(verb) != _key(workspace, verb)


def begin(request: Request, workspace: Workspace, verb: str, options: dict[str, Any] | None = None) -> Job | None:
    """Start a verb and remember with which decisions; None where it is running already."""
    kept = {**_kept(workspace), verb: _key(workspace, verb)}
    write_bytes(workspace.folder / "asked.json", json.dumps(kept).encode(), 0o600)
    with suppress(Busy):
        return jobs_of(request).start(workspace, verb, options)
    return None


def ensure(request: Request, workspace: Workspace, verb: str, options: dict[str, Any] | None = None) -> None:
    """Start a verb that is cheap unless it runs, or was started with the same decisions before."""
    if not workspace.source.exists() and workspace.origin == "example":
        return  # it is being generated
    last = jobs_of(request).last(workspace, verb)
    if last is not None and (last.running or not needs_again(workspace, verb)):
        return
    begin(request, workspace, verb, options)
