"""The whole output of a stream against its state: who stands behind each line is in the private record of persons."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from pydantic_core import from_json

from shoal.errors import InputError
from shoal.models import Evidence, KAnonymity
from shoal.policy import Policy, as_policy
from shoal.policy.judgement.shown_classes import Check
from shoal.releases.results import Verification
from shoal.storage import Array
from shoal.streams.columns import same_text
from shoal.streams.files import PERSONS, PIPE, read_checkpoint
from shoal.streams.stream import StreamPlan, plan_of


def verify_stream(source: Any, state: str | Path, policy: Policy | str | Path | None = None) -> Verification:
    """Count persons over the whole output: each generalisation had k of them when it was first published.

    `policy`: what the output is held against instead of the policy of its state.
    """
    folder, kept = _state_of(source, state)
    plan = plan_of(kept["settings"]["policy"] if policy is None else as_policy(policy))
    path, persons, counts, delay = (
        Path(source),
        _persons(folder, kept),
        kept["core"]["counts"],
        kept["settings"]["delay"],
    )
    classes, values, odd = _classes(path, plan)
    position, person, clock = persons.T
    recorded = len(classes) == len(persons) and all(
        _hash(file) == kept["left"][word]["sha256"] for word, file in (("output", path), ("persons", folder / PERSONS))
    )
    why = f"{odd:,} lines are no records of this stream" if odd else "the file is not the one that its state knows"
    once = len(np.unique(position)) == len(persons) == counts["released"]
    longest = int((clock - position).max(initial=0))
    waiting = counts["records"] - counts["released"] - counts["suppressed"]
    told = f"{counts['released']:,} records released, {counts['suppressed']:,} suppressed, {waiting:,} wait"
    checks = [
        Check("as written", recorded and not odd, "every line is recorded" if recorded and not odd else why),
        Check("each record once", once and waiting >= 0, told if once else "a record is there twice, or missing"),
        Check("delay", longest <= delay, f"no record waited for more than {longest:,} others ({delay:,} allowed)"),
    ]
    if not len(classes) or len(classes) != len(persons):
        return Verification("refused", len(classes), 0, 0, [KAnonymity(k=plan.k).judge(Evidence(classes))], checks)
    first = np.full(int(classes.max()) + 1, np.iinfo(np.int64).max)
    np.minimum.at(first, classes, clock)
    at_first = clock == first[classes]
    sizes = _distinct(classes[at_first], person[at_first], len(first))
    verdict = KAnonymity(k=plan.k).judge(Evidence(sizes))
    for name, least in plan.l.items():
        known = at_first & (values[name] >= 0)
        fewest = int(_distinct(classes[known], values[name][known], len(first)).min())
        checks.append(Check(f"l-diversity of {name}", fewest >= least, f"at least {fewest:,} values in each group"))
    checks.append(Check("persons", True, f"{len(np.unique(person)):,} persons behind {len(persons):,} lines, counted"))
    holds = verdict.holds and all(check.holds for check in checks)
    unit = {} if plan.person is None else {"risk_over": "persons"}
    models = [replace(verdict, worst={**verdict.worst, **unit, "columns": plan.names})]
    return Verification("holds" if holds else "refused", len(persons), int(sizes.min()), 0, models, checks)


def consecutive_outputs(source: Any, state: str | Path) -> tuple[list[pl.DataFrame], str, StreamPlan]:
    """The output of a stream cut where half of its time was over, with persons, the column of these, and its plan."""
    folder, kept = _state_of(source, state)
    plan, persons = plan_of(kept["settings"]["policy"]), _persons(folder, kept)
    if plan.person is None:
        raise InputError("The policy of this stream names no person, so that nobody is in two outputs.",
                         "Name the column of persons in it, and publish the stream anew.")  # fmt: skip
    rows = [[same_text(row.get(name)) for name in (*plan.names, *plan.sensitive)] for row in _lines(Path(source))]
    if len(rows) != len(persons):
        raise InputError("The output is not as long as its state says.", "Run the stream to its end.")
    if not rows:
        raise InputError("The output has no records.", "There is nothing to attack.")
    frame = pl.DataFrame(rows, schema=dict.fromkeys([*plan.names, *plan.sensitive], pl.String), orient="row")
    person = "person" + "_" * max(map(len, frame.columns))
    frame = frame.with_columns(pl.Series(person, persons[:, 1]))
    later = pl.Series(persons[:, 2] > np.median(persons[:, 2]))
    return [frame.filter(~later), frame.filter(later)], person, plan


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _state_of(source: Any, state: str | Path) -> tuple[Path, dict[str, Any]]:
    folder = Path(state)
    found = read_checkpoint(folder)
    if not isinstance(source, (str, Path)) or not Path(source).is_file():
        raise InputError(f"There is no file {source}.", "Name the file that `shoal stream` wrote.")
    if found is None:
        raise InputError(f"There is no state of a stream in {folder}.", "Name the folder that the stream had.")
    if found[1]["settings"]["output"] == PIPE:
        raise InputError("The output of this stream went into a pipe: its lines were not recorded.", "Write a file.")
    return folder, found[1]


def _persons(folder: Path, kept: dict[str, Any]) -> Array:
    """Position, person and clock of each line."""
    if not (folder / PERSONS).is_file():
        raise InputError(f"{folder} lacks the record of persons.", "Put it back.")
    return np.fromfile(folder / PERSONS, np.int64)[: kept["left"]["persons"]["size"] // 8].reshape(-1, 3)


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open("rb") as file:
        for line in file:
            try:
                row = from_json(line)
            except ValueError:
                row = None
            yield row if isinstance(row, dict) else {}


def _classes(path: Path, plan: StreamPlan) -> tuple[Array, dict[str, Array], int]:
    """The generalisation of each line as a number, its sensitive values the same way, and how many lines are none."""
    numbers: dict[Any, int] = {}
    of_value: dict[str, dict[str, int]] = {name: {} for name in plan.l}
    classes, values, odd = [], {name: list[int]() for name in plan.l}, 0
    for row in _lines(path):
        odd += not plan.names or any(name not in row for name in plan.names)
        key = tuple(str(row.get(name)) if row.get(name) is not None else None for name in plan.names)
        classes.append(numbers.setdefault(key, len(numbers)))
        for name, known in of_value.items():
            value = same_text(row.get(name))
            values[name].append(-1 if value is None else known.setdefault(value, len(known)))
    return np.array(classes, np.int64), {name: np.array(one, np.int64) for name, one in values.items()}, odd


def _distinct(classes: Array, values: Array, count: int) -> Array:
    """How many distinct values each class has."""
    pairs = np.unique(np.stack([classes, values]), axis=1)
    return np.bincount(pairs[0], minlength=count)
