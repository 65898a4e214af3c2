"""The one door: data, manifest, data dictionary and private record leave together, or nothing does.

The data is written under a temporary name beside its target, synced, read back and measured against the policy. Then
come the private record, the data dictionary and the manifest, and last the data takes its name. The manifest names the
hash of the data, so that a reader can always tell a whole release from an interrupted one.
"""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import polars as pl

from shoal import __version__
from shoal.anonymization.search.plan import Plan
from shoal.errors import InputError, ShoalError
from shoal.judgement.checks import Check
from shoal.manifest.files import manifest_path, plan_path, private_path
from shoal.policy import Policy
from shoal.ranges.columns import ReleasedColumns
from shoal.reading import read
from shoal.releases.verify import SUPPRESSED, Verification, check_rows, judge, shuffled_order
from shoal.table import Table
from shoal.table.type_words import type_word
from shoal.writing import check_target, sha256, sync, write_draft, write_json

if TYPE_CHECKING:
    from shoal.standards.hipaa.results import SafeHarbor

NO_GUARANTEE = "No privacy model was checked: this release carries no guarantee."
_FORMULA = r"^[=+\-@\t\r]"


class Refused(ShoalError):
    """The written file does not keep the policy; nothing was released."""

    exit_code = 1


class Findings(Protocol):
    """What was found, for the manifest."""

    @property
    def information_loss_by_column(self) -> dict[str, float]: ...
    def to_dict(self) -> dict[str, Any]: ...


class Releasable(Protocol):
    """A changed table that may leave: what `anonymize` and `perturb` give."""

    @property
    def table(self) -> Table: ...
    @property
    def policy(self) -> Policy: ...
    @property
    def method(self) -> str: ...
    @property
    def parameters(self) -> dict[str, Any]: ...
    @property
    def columns(self) -> dict[str, ReleasedColumns]: ...
    @property
    def quasi_identifiers(self) -> list[str]: ...
    @property
    def findings(self) -> Findings: ...
    @property
    def plan(self) -> Plan | None: ...
    @property
    def seconds(self) -> float: ...
    @property
    def polars(self) -> pl.DataFrame: ...
    @property
    def private(self) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Released:
    """Where the parts of a release are, and how many records it holds."""

    output: Path
    manifest: Path
    dictionary: Path
    private: Path
    plan: Path | None
    written: int


@dataclass(frozen=True, slots=True)
class Papers:
    """What accompanies the data: the private record, the data dictionary, the manifest."""

    private: dict[str, Any]
    dictionary: dict[str, Any]
    manifest: dict[str, Any]
    plan: dict[str, Any] | None = None


def release(
    result: Releasable | SafeHarbor,
    path: str | Path,
    *,
    force: bool = False,
    shuffle: bool = False,
    seed: int | None = None,
    no_guarantee: bool = False,
    excel_safe: bool = False,
    source: Path | None = None,
) -> Released:
    """Write a table, anonymised or after safe harbor, once the written file itself was measured against the policy.

    `shuffle` releases the rows in a secret order (their order can identify); the seed is drawn if none is given and
    goes to the private record only. `excel_safe` puts an apostrophe before text that spreadsheets run as a formula.
    """
    from shoal.standards.hipaa.results import SafeHarbor

    if isinstance(result, SafeHarbor):
        from shoal.standards.hipaa.release_safe_harbor import release_safe_harbor

        return release_safe_harbor(
            result, path, force=force, shuffle=shuffle, seed=seed, excel_safe=excel_safe, source=source
        )[0]
    path = Path(path)
    if not result.policy.models and not no_guarantee:
        raise InputError(
            "The policy names no privacy model, so nothing would be guaranteed.",
            "Add one (-k 5), or say --no-guarantee to release without.",
        )
    seed = secrets.randbits(63) if seed is None else seed
    frame = result.polars
    if shuffle:
        frame = frame[shuffled_order(len(frame), seed)]
    if excel_safe:
        frame = defused(frame)

    def papers(draft: Path) -> Papers:
        found = _verify_draft(result, draft, shuffle, seed, excel_safe)
        if found.verdict != "holds":
            raise Refused(reasons(found))
        manifest = _manifest(result, draft, path, len(frame), found, no_guarantee, shuffle)
        private = {**private_record(result.table, shuffle, seed, source), **result.private}
        plan = None if result.plan is None else result.plan.to_dict()
        return Papers(private, _dictionary(result, frame), manifest, plan)

    return leave(frame, path, force, papers)


def leave(frame: pl.DataFrame, path: Path, force: bool, papers: Callable[[Path], Papers]) -> Released:
    """Through the door: the draft is written, `papers` judges it (and may refuse), then all parts take their names."""
    check_target(path, force)
    parts = (manifest_path(path), _dictionary_path(path), private_path(path), plan_path(path))
    others = [file for file in parts if file.exists()]
    if others and not force:
        raise InputError(f"{others[0]} exists already: it belongs to another release.", "Add --force to replace it.")
    draft = _draft(path)
    try:
        write_draft(frame, draft, path)
        records = papers(draft)
        write_json(private_path(path), records.private, 0o600)
        if records.plan is None:
            plan_path(path).unlink(missing_ok=True)  # of a release that this one replaces
        else:
            write_json(plan_path(path), records.plan, 0o600)
        write_json(_dictionary_path(path), records.dictionary, 0o644)
        write_json(manifest_path(path), records.manifest, 0o644)
        draft.chmod(0o644)
        draft.replace(path)
        sync(path.parent)  # the renames themselves must survive a crash
    except OSError as error:
        raise InputError(f"{path} could not be written: {error.strerror}.", "Nothing was released.") from None
    except pl.exceptions.ComputeError:  # its message may show values
        raise InputError(
            f"A column has a type that a {path.suffix} file cannot hold.",
            "Write .parquet. Nothing was released.",
        ) from None
    finally:
        draft.unlink(missing_ok=True)
    plan = plan_path(path) if plan_path(path).exists() else None
    return Released(path, manifest_path(path), _dictionary_path(path), private_path(path), plan, len(frame))


def _draft(path: Path) -> Path:
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.stem}.", suffix=path.suffix.lower(), dir=path.parent)
    except OSError as error:
        raise InputError(f"{path.parent} cannot be written to: {error.strerror}.", "Choose another folder.") from None
    os.close(handle)
    return Path(name)


def _verify_draft(result: Releasable, draft: Path, shuffle: bool, seed: int, excel_safe: bool) -> Verification:
    """The models on the file as it was written, and every row of it against its original."""
    table = read(draft)
    names = result.quasi_identifiers
    checks: list[Check] = []
    if not excel_safe:
        order = shuffled_order(table.rows, seed) if shuffle else None
        natures = {name: column.nature for name, column in result.columns.items()}
        trees = {} if result.plan is None else result.plan.trees
        suppressed = result.method == SUPPRESSED
        checks = check_rows(table, result.table, result.policy, natures, order, trees, suppressed)
    return judge(table, names, result.policy, checks, result.parameters.get("levels"))


def reasons(found: Verification) -> str:
    """What does not hold, in words."""
    lines = [
        f"{verdict.name} {_listed(verdict.parameters)} does not hold (worst class: {_listed(verdict.worst)})"
        for verdict in found.models
        if not verdict.holds
    ]
    lines += [f"{check.name}: {check.detail}" for check in found.checks if not check.holds]
    return "Refused, nothing was written. " + "; ".join(lines) + "."


def _listed(entries: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in entries.items() if name != "columns")


def defused(frame: pl.DataFrame) -> pl.DataFrame:
    """Text that spreadsheets would run as a formula, with an apostrophe before it."""
    texts = [name for name, dtype in frame.schema.items() if dtype == pl.String]
    return frame.with_columns(
        pl.when(pl.col(name).str.contains(_FORMULA)).then("'" + pl.col(name)).otherwise(pl.col(name)).alias(name)
        for name in texts
    )


def private_record(table: Table, shuffle: bool, seed: int, source: Path | None) -> dict[str, Any]:
    """For the owner only: how rows can be found again."""
    digest = sha256(source) if source is not None and source.is_file() else None
    row_map = "numpy.random.default_rng(seed).permutation(records)" if shuffle else "rows in the order of the input"
    return {
        "shuffled": shuffle,
        "seed": seed,
        "row_map": row_map,
        "records": table.rows,
        "input_sha256": digest,
    }


def _columns(result: Releasable) -> list[dict[str, Any]]:
    """Each column of the input: its role, what was done, under which names it is released."""
    found = []
    for name in result.table.columns:
        role = result.policy.columns.get(name, "other")
        changed = result.columns.get(name)
        if role == "identifier":
            found.append({"name": name, "role": role, "nature": "removed", "technique": "removed", "released_as": []})
            continue
        nature = changed.nature if changed else "unchanged"
        found.append(
            {
                "name": name,
                "role": role,
                "nature": nature,
                "technique": "none" if nature == "unchanged" else result.method,
                "released_as": [series.name for series in changed.series] if changed else [name],
            }
        )
    return found


def _dictionary(result: Releasable, frame: pl.DataFrame) -> dict[str, Any]:
    """The data dictionary: type, role, technique and what was lost, column by column."""
    loss = result.findings.information_loss_by_column
    columns = [
        {
            **column,
            "types": [type_word(frame.schema[name]) for name in column["released_as"]],
            "information_loss": loss.get(column["name"]),
        }
        for column in _columns(result)
    ]
    return {"columns": columns}


def _manifest(
    result: Releasable,
    draft: Path,
    path: Path,
    written: int,
    found: Verification,
    no_guarantee: bool,
    shuffle: bool,
) -> dict[str, Any]:
    findings = result.findings.to_dict()
    return {
        "shoal": __version__,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "data": path.name,
        "data_sha256": sha256(draft),
        "policy": result.policy.model_dump(mode="json"),
        "policy_sha256": result.policy.digest(),
        "method": result.method,
        "parameters": result.parameters,
        "quasi_identifiers": result.quasi_identifiers,
        "columns": _columns(result),
        "written": written,
        "seconds": round(result.seconds, 3),
        "shuffled": shuffle,
        "findings": findings,
        "verdict": "no guarantee" if not result.policy.models else found.verdict,
        "models": [verdict.to_dict() for verdict in found.models],
        "no_guarantee": no_guarantee and not result.policy.models,
        **({"warning": NO_GUARANTEE} if not result.policy.models else {}),
    }


def _dictionary_path(path: Path) -> Path:
    return path.with_name(path.stem + ".dictionary.json")
