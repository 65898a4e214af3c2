"""What accompanies the data: the manifest, the data dictionary, the private record and the plan."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from shoal import __version__
from shoal.policy import Policy
from shoal.policy.manifest import (
    NO_ROW_MAP,
    ColumnEntry,
    Manifest,
    PrivateRecord,
    StoredIn,
    WrittenAs,
    dictionary_path,
    manifest_path,
    plan_path,
    policy_path,
    private_path,
)
from shoal.ranges.hierarchy.given import given_hierarchies, rows_of
from shoal.releases.original import Labels
from shoal.releases.published import measured_figures
from shoal.releases.results import Verification
from shoal.releases.treatment import Releasable
from shoal.results.result import as_json
from shoal.storage import Table
from shoal.storage.column_type import ColumnType, type_word
from shoal.storage.formats.cells import defused_name
from shoal.storage.reading import NO_ORDER
from shoal.storage.reading.files import check_unchanged
from shoal.storage.writing import OutputFormat, sha256

# Declared types as a manifest tells them: of an order, only values that a released cell holds.
#
# An order lists values that there can be. Whoever reads one that no released record shows may conclude that somebody
# had it: the private record keeps the whole order, the manifest what is left of it.


Shown = Mapping[str, ColumnType | None]


def shown_types(
    result: Releasable, frame: pl.DataFrame, entries: Sequence[ColumnEntry]
) -> dict[str, ColumnType | None]:
    """The types whose order is cut, by column, None where no cell shows any value; `frame` is what is released.

    An order stays whole where a model measures by it, where a tree of the policy names its values anyway, and where
    tables outside the release are read by it.
    """
    policy = result.policy
    if any(model.needs_files for model in policy.models) or isinstance(policy.hierarchies, str):
        return {}
    whole = {*policy.hierarchies, *policy.needed}
    types: dict[str, ColumnType | None] = {}
    for entry in entries:
        said, column = policy.types.get(entry.name), result.table.columns.get(entry.name)
        if said is None or not said.order or column is None or column.declared is None or entry.name in whole:
            continue
        held = column.declared.places_in(frame.select(entry.released_as)) if entry.released_as else set()
        if held is not None and len(held) < len(said.order):
            left = [label for place, label in enumerate(said.order) if place in held]
            types[entry.name] = _cut(said, left) if left else None
    return types


def _cut(said: ColumnType, order: Sequence[str]) -> ColumnType:
    kept = {text: label for text, label in said.map.items() if label in order}
    return said.model_copy(update={"order": tuple(order), "map": kept})


def with_types(policy: Policy, types: Shown) -> Policy:
    """A policy with other types for some of its columns, or with none."""
    if not types:
        return policy
    found = {**policy.types, **types}
    return policy.model_copy(update={"types": {name: said for name, said in found.items() if said is not None}})


def as_published(policy: Policy, manifest: Manifest) -> Policy:
    """A policy with its orders cut as a manifest has them, where that is all in which their types differ."""
    cut: dict[str, ColumnType | None] = {}
    for name, said in policy.types.items():
        found = manifest.policy.types.get(name)
        if said.order and (found is None or (found.order and _cut(said, _left(said, found)) == found)):
            cut[name] = found
    return with_types(policy, cut)


def _left(said: ColumnType, found: ColumnType) -> list[str]:
    return [label for label in said.order or () if label in (found.order or ())]


NO_GUARANTEE = "No privacy model was checked: this release carries no guarantee."

STILL_PERSONAL = "This is still personal data: other columns may tell who people are. No privacy model was checked."


class ReleaseDocuments(NamedTuple):
    """The parts beside the data, as JSON."""

    manifest: dict[str, Any]
    dictionary: dict[str, Any]
    private: dict[str, Any]
    policy: dict[str, Any]
    plan: dict[str, Any] | None = None

    def files(self, path: Path) -> dict[Path, tuple[bytes, int]]:
        """The files beside the data, each with its bytes and its mode: those for the owner are nobody else's."""
        written_by = b"# By what this release was made: `shoal verify --policy` accepts it (JSON is YAML).\n"
        files = {
            manifest_path(path): (json_bytes(self.manifest), 0o644),
            dictionary_path(path): (json_bytes(self.dictionary), 0o644),
            private_path(path): (json_bytes(self.private), 0o600),
            policy_path(path): (written_by + json_bytes(self.policy), 0o600),
        }
        return files if self.plan is None else {**files, plan_path(path): (json_bytes(self.plan), 0o600)}


def json_bytes(content: dict[str, Any]) -> bytes:
    """JSON as it is written into a file."""
    return json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False).encode()


@dataclass(frozen=True)
class DataDraft:
    """The written data before it takes its name, and how it was written."""

    target: Path
    data_sha256: str
    table: Table
    blanked: dict[str, int]
    shuffled: bool
    seed: int
    excel_safe: bool
    source: Path | None
    # rows of the input that are not released
    removed: list[int] = field(default_factory=list)
    # how the file is written, where that is not the usual way
    output: WrittenAs | None = None
    # declared types as the manifest tells them, where it does not tell their whole order
    types: Shown = field(default_factory=dict)
    # the records of the removed rows, where rows stand for several
    removed_records: int | None = None
    # the table that it is in, where it is not a file
    stored_in: StoredIn | None = None

    def entries(self, result: Releasable) -> list[ColumnEntry]:
        """The columns of the release with the types that a reader finds, and what was emptied."""
        found = []
        for entry in result.manifest_columns():
            names = [defused_name(name) if self.excel_safe else name for name in entry.released_as]
            types = [type_word(self.table[name].dtype) for name in names]
            form = entry.form.model_copy(update={"blanked": self.blanked.get(entry.name, 0)})
            found.append(entry.model_copy(update={"released_as": names, "types": types, "form": form}))
        return found


def documents_of(
    result: Releasable,
    draft: DataDraft,
    judged: Verification,
    entries: Sequence[ColumnEntry],
    labels: Labels,
    no_guarantee: bool,
    sign: str | Path | None,
    notes: Sequence[str] = (),
) -> ReleaseDocuments:
    """All parts of a release whose data was judged."""
    manifest = _manifest(result, draft, judged, entries, no_guarantee, notes)
    dictionary = dictionary_of(manifest)
    # a plan names values of the data: without the salt its hash would confirm a guess of them
    plan = None if result.plan is None else {**result.plan.to_dict(), "salt": secrets.token_hex(16)}
    parts = {"dictionary": dictionary, **({} if plan is None else {"plan": plan})}
    hashes = {name: hashlib.sha256(json_bytes(part)).hexdigest() for name, part in parts.items()}
    row_map = (
        "shoal.storage.order.shuffled_order(records, seed)" if draft.shuffled else "rows in the order of the input"
    )
    if draft.removed:
        row_map = row_map.replace("(records,", "(records - removed,") + ", after the removed rows were taken out"
    if not result.table.ordered:
        row_map = NO_ROW_MAP
    source = draft.source
    input_sha256 = sha256(source) if source is not None and source.is_file() else None
    check_unchanged(result.table.files)  # the hash is of what was read, to the end
    private = PrivateRecord(
        data=draft.target.name,
        data_sha256=draft.data_sha256,
        manifest_sha256=draft.data_sha256,  # until that is known
        plan_sha256=hashes.get("plan"),
        shuffled=draft.shuffled,
        seed=draft.seed,
        row_map=row_map,
        records=result.table.total,
        removed=draft.removed,
        input_sha256=input_sha256,
        labels=labels,  # type: ignore[arg-type]
        types={name: result.policy.types[name] for name in draft.types},
        measured={},
        salt=secrets.token_hex(16),
        **{"perturbation_seed": None, "treatment_seed": None, **result.private},
    )
    manifest = manifest.model_copy(update={"parts": {**hashes, "private": private.digest()}})
    if sign is not None:
        from shoal.releases.signing import sign as signed

        manifest = signed(manifest, sign)
    private = private.model_copy(update={"manifest_sha256": manifest.digest()})
    policy = effective_policy(result, entries, manifest).as_written()
    return ReleaseDocuments(manifest.to_dict(), dictionary, private.model_dump(mode="json"), policy, plan)


def effective_policy(result: Releasable, entries: Sequence[ColumnEntry], manifest: Manifest) -> Policy:
    """What was decided about a release, wherever it was said: in the policy, by options, by answers, and about columns
    that the method changed because they were named to it."""
    decided = {entry.name: entry.role for entry in entries if entry.decided_by != "detection"}
    written = OutputFormat.model_validate((manifest.output or OutputFormat()).model_dump(exclude={"decimal_columns"}))
    policy = self_contained(result.policy)
    return policy.model_copy(update={"columns": {**decided, **policy.columns}, "output": written})


def self_contained(policy: Policy) -> Policy:
    """A policy that names no hierarchy by its file: the trees themselves stand there."""
    trees = policy.hierarchies
    if not isinstance(trees, str) and not any(isinstance(tree, str) for tree in trees.values()):
        return policy
    found = given_hierarchies(trees, policy.columns)
    return policy.model_copy(update={"hierarchies": {name: rows_of(tree) for name, tree in found.items()}})


def _manifest(
    result: Releasable,
    draft: DataDraft,
    judged: Verification,
    entries: Sequence[ColumnEntry],
    no_guarantee: bool,
    notes: Sequence[str],
) -> Manifest:
    policy = with_types(self_contained(result.policy), draft.types)
    promised = bool(policy.models)
    standard = result.rule
    section = result.manifest_sections(draft.table)
    warning = None if promised else NO_GUARANTEE
    if result.personal:
        warning = STILL_PERSONAL
    if standard is not None:
        warning = "Safe harbor removes what the rule lists; it bounds no risk. See its residual risk for what is left."
    return Manifest.model_validate(
        {
            "shoal": __version__,
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "data": draft.target.name,
            "data_sha256": draft.data_sha256,
            "stored_in": draft.stored_in,
            "policy": policy,
            "policy_sha256": policy.digest(),
            "method": result.technique,
            "source": standard,
            "parameters": as_json(result.parameters),
            "quasi_identifiers": [
                defused_name(name) if draft.excel_safe else name for name in result.quasi_identifiers
            ],
            "columns": list(entries),
            "written": draft.table.total,
            "suppressed_rows": judged.suppressed_rows,
            "removed_rows": len(draft.removed) if draft.removed_records is None else draft.removed_records,
            "seconds": round(result.seconds, 3),
            "shuffled": draft.shuffled,
            "excel_safe": draft.excel_safe,
            "output": draft.output,
            "findings": as_json(result.manifest_findings() | measured_figures(judged)),
            "sections": as_json(section),
            "verdict": "holds" if promised or standard is not None else "no guarantee",
            "models": as_json([verdict.to_dict() for verdict in judged.models]),
            "checks": as_json(judged.checks),
            "no_guarantee": not promised and (no_guarantee or standard is not None),
            "warning": warning,
            "notes": [*notes, *([] if result.table.ordered else [NO_ORDER])],
        }
    )


def dictionary_of(manifest: Manifest) -> dict[str, Any]:
    """The data dictionary of a manifest: type, role, technique, form in words and what was lost, column by column."""
    loss: Any = manifest.findings.get("information_loss_by_column") or {}
    scrubbed: Any = (manifest.findings.get("scrubbed") or {}).get("columns", {})  # type: ignore[union-attr]
    declared = manifest.policy.types
    columns = [
        {
            **entry.model_dump(mode="json", exclude_none=True),
            **({"declared_as": declared[entry.name].to_short()} if entry.name in declared else {}),
            "form_in_words": entry.form.in_words,
            "information_loss": loss.get(entry.name),
            **({"scrubbed": scrubbed[entry.name]} if entry.name in scrubbed else {}),
        }
        for entry in manifest.columns
    ]
    return {"schema_version": 2, "columns": columns}
