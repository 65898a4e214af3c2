"""What a result was asked with: results of earlier decisions are marked, and those that are cheap are made again."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from functools import lru_cache
from typing import Any

from fastapi import Request

from shoal.app.jobs import Busy, Job, last_done
from shoal.app.project import Workspace, parsed
from shoal.app.server import jobs_of
from shoal.app.verbs import VERBS

# what a verb depends on beside how the file is read: parts of the policy; None is all of it
_COLUMNS = ("columns", "types", "null_rule", "count", "person", "weight", "household", "wildcard_alpha")
_PARTS: dict[str, tuple[str, ...] | None] = {
    "preview": (),
    "propose": (),
    "sample-data": (),
    "detect": _COLUMNS,
    "risk": (*_COLUMNS, "knowledge", "relations", "threshold", "population_size", "sampling", "risk_over"),
    "trees": ("columns", "types"),
    "desk-types": (),
    "desk-open": (),
    "desk-query": (),
}


# what a verb does not depend on, where it depends on all else
_WITHOUT = {"protect": ("context", "output", "attacks", "leak")}
# options of the API that change no decision of the policy; others are other decisions
_HARMLESS = {"risk": (), "protect": ("prefer",), "publish": ("seed", "no_pdf", "sign", "excel_safe")}


@lru_cache(maxsize=64)
def _part(text: bytes | None, verb: str) -> str:
    """What a verb depends on in a policy."""
    parts, without = _PARTS.get(verb), _WITHOUT.get(verb, ())
    policy = parsed(text).as_written() if parts != () else {}
    policy = {name: value for name, value in policy.items() if (parts is None or name in parts) and name not in without}
    return hashlib.sha256(json.dumps(policy, sort_keys=True).encode()).hexdigest()


def _key(text: bytes | None, asked: dict[str, Any], verb: str) -> str:
    rests_on = {"policy": _part(text, verb), "reading": asked.get("reading")}
    if verb != "sample-data":  # which writes the file
        rests_on["source"] = asked.get("source")
    if _PARTS.get(verb) != ():
        rests_on["files"] = asked.get("files")
    return json.dumps(rests_on, sort_keys=True)


def is_of_now(workspace: Workspace, job: Job) -> bool:
    """Whether a job was started with the decisions, and on the file, as they are now."""
    if job.verb in _HARMLESS and set(job.options) - set(_HARMLESS[job.verb]):
        return False
    now = _key(workspace.policy_text, workspace.stamp(), job.verb)
    return _key(job.policy_text, job.asked, job.verb) == now


def needs_again(workspace: Workspace, verb: str) -> bool:
    """Whether what a verb found last is of other decisions, or of another state of the file."""
    job = last_done(workspace, verb)
    return job is None or not is_of_now(workspace, job)


def begin(request: Request, workspace: Workspace, verb: str, options: dict[str, Any] | None = None) -> Job | None:
    """Start a verb; None where it is running already, with what was decided when it started."""
    with suppress(Busy):
        return jobs_of(request).start(workspace, verb, options)
    return None


def ensure(request: Request, workspace: Workspace, verb: str, options: dict[str, Any] | None = None) -> None:
    """Start a verb that is cheap unless it runs, or was started with the same decisions before."""
    if not workspace.source.exists() and workspace.origin == "example":
        return  # it is being generated
    last = jobs_of(request).last(workspace, verb)
    asked = VERBS[verb].options.model_validate(options or {}).model_dump(mode="json", exclude_defaults=True)
    if last is not None and (last.running or (is_of_now(workspace, last) and last.options == asked)):
        return
    begin(request, workspace, verb, options)
