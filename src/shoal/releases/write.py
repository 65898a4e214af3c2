"""The release step: data, manifest, data dictionary and private record are written together, or nothing is.

The data is written under a temporary name beside its target, synced, read back and measured against the policy. A
fresh release then gets its manifest, dictionary, private record and plan first, and the data takes its name last. Where
a release is replaced, the new parts wait under names that carry the hash of the new data until the data has taken its
name: whenever it is interrupted, either the old release is whole or the new one is, and both are read as such.
"""

from __future__ import annotations

import os
import secrets
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import polars as pl

from shoal.anonymization.search.plan import Plan
from shoal.detection.undecided import Decisions, decisions_of
from shoal.errors import InputError, ShoalError
from shoal.judgement.checks import Check
from shoal.manifest.files import (
    dictionary_path,
    files_of,
    manifest_path,
    pending_path,
    plan_path,
    private_path,
    read_manifest,
    read_private,
)
from shoal.manifest.schema import ColumnEntry
from shoal.policy import Policy
from shoal.ranges.parsing import STAR
from shoal.reading import read
from shoal.releases.documents import Draft, ReleaseDocuments, documents_of
from shoal.releases.excel import defused
from shoal.releases.open import is_text_file
from shoal.releases.original import Beside, against_original, labels_of
from shoal.releases.results import Released, Verification
from shoal.releases.suppressed import blank_sensitive, gives_away, sensitive_columns
from shoal.releases.verify import judge, shuffled_order
from shoal.table import Array, Table
from shoal.vocabulary import Role
from shoal.writing import check_apart, check_target, failure, sha256, sync, write_bytes, write_draft

# seconds after which a part that waits for its data waits in vain
_LEFT = 600


class Refused(ShoalError):
    """The written file does not keep the policy; nothing was released."""

    exit_code = 1


class Releasable(Protocol):
    """A changed table that may leave: it says what its manifest tells and what is checked in the written file."""

    @property
    def table(self) -> Table: ...
    @property
    def policy(self) -> Policy: ...
    @property
    def technique(self) -> str:
        """By which name the manifest knows it."""
        ...

    @property
    def rule(self) -> str | None:
        """The rule that it keeps instead of a privacy model, by its source."""
        ...

    @property
    def personal(self) -> bool:
        """Whether it stays among those who hold the original: then its columns need no decision."""
        ...

    @property
    def parameters(self) -> dict[str, Any]: ...
    @property
    def quasi_identifiers(self) -> list[str]: ...
    @property
    def plan(self) -> Plan | None: ...
    @property
    def seconds(self) -> float: ...
    @property
    def polars(self) -> pl.DataFrame: ...
    @property
    def private(self) -> dict[str, Any]: ...
    def manifest_columns(self) -> list[ColumnEntry]: ...
    def manifest_findings(self) -> dict[str, Any]: ...
    def manifest_sections(self, written: Table) -> dict[str, Any]: ...
    def checks(self, written: Table) -> list[Check]: ...


def release(
    result: Releasable,
    path: str | Path,
    *,
    force: bool = False,
    shuffle: bool = False,
    seed: int | None = None,
    no_guarantee: bool = False,
    excel_safe: bool = False,
    source: Path | Sequence[Path] | None = None,
    sign: str | Path | None = None,
    decide: Mapping[str, Role] | None = None,
) -> Released:
    """Write a changed table, once the written file itself was measured against the policy.

    `shuffle` releases the rows in a secret order (their order can identify); the seed is drawn if none is given and
    goes to the private record only. `excel_safe` puts an apostrophe before text that spreadsheets run as a formula.
    `source`: the input, which is never replaced. `sign`: the file of the key that signs the manifest. `decide`: roles
    of columns that nobody decided on yet; while one of them points at people, the release is refused.
    """
    path = Path(path)
    result = _with_roles(result, decide)
    if not result.policy.models and not no_guarantee and result.rule is None:
        raise InputError(
            "The policy names no privacy model, so nothing would be guaranteed.",
            "Add one (k = 5, for example), or say `no_guarantee` to release without.",
        )
    inputs = [] if source is None else [source] if isinstance(source, Path) else list(source)
    named = [*inputs, Path(result.table.name)] if _is_file(result.table.name) else inputs
    check_apart(input=named, signing_key=sign, output=files_of(path))
    one_input = inputs[0] if len(inputs) == 1 else named[0] if len(named) == 1 else None
    check_target(path, force)
    decisions = _decisions(result)
    if decisions.stopping:
        raise Refused(f"Refused, nothing was written. {decisions.refusal()}")
    seed = secrets.randbits(63) if seed is None else seed
    frame, blanked = _frame(result, path)
    if shuffle:
        frame = frame[shuffled_order(len(frame), seed)]
    if excel_safe:
        frame = defused(frame)
    found: list[Verification] = []

    def documents(draft: Path) -> ReleaseDocuments:
        table = read(draft)
        made = Draft(path, sha256(draft), table, blanked, shuffle, seed, excel_safe, one_input)
        labels = _labels(result)
        entries = made.entries(result)
        order = shuffled_order(table.rows, seed) if shuffle else None
        trees = {} if result.plan is None else result.plan.trees
        beside = Beside(order, trees, labels, True, excel_safe, is_text_file(path))
        checks = [*result.checks(table), *against_original(table, result.table, entries, beside)]
        names = [name for entry in entries for name in entry.released_as if entry.name in _promised(result)]
        raw = [name for entry in entries if not entry.form.generalizes for name in entry.released_as]
        levels = result.parameters.get("levels")
        judged = judge(table, names, result.policy, checks, levels, raw)
        if not judged.holds:
            why = ""
            if blanked:
                why = " The sensitive values of suppressed records were emptied; allow fewer suppressed records."
            raise Refused(f"Refused, nothing was written. {judged.reasons()}.{why}")
        found.append(judged)
        return documents_of(result, made, judged, entries, labels, no_guarantee, sign, decisions.notes)

    written = write_release(frame, path, force, documents)
    return _released(result, path, written, found[0], blanked, len(frame), decisions)


def _with_roles(result: Releasable, decide: Mapping[str, Role] | None) -> Releasable:
    if not decide:
        return result
    if not hasattr(result, "with_roles"):
        raise InputError(f"A release by {result.technique} decides on columns itself.", "Leave out `decide`.")
    return result.with_roles(decide)  # type: ignore[no-any-return]


def _decisions(result: Releasable) -> Decisions:
    """What nobody decided; a standard such as safe harbor decides on every column itself."""
    return Decisions() if result.personal or result.rule is not None else decisions_of(result)


def _promised(result: Releasable) -> set[str]:
    """The columns, by their names in the input, that models are judged on."""
    released = set(result.quasi_identifiers)
    return {entry.name for entry in result.manifest_columns() if released & set(entry.released_as)}


def _released(
    result: Releasable,
    path: Path,
    documents: ReleaseDocuments,
    judged: Verification,
    blanked: dict[str, int],
    rows: int,
    decisions: Decisions,
) -> Released:
    respelled = sum(
        column.respelled for name, column in result.table.columns.items() if name in result.policy.quasi_identifiers
    )
    signature = documents.manifest.get("signature")
    return Released(
        path,
        manifest_path(path),
        dictionary_path(path),
        private_path(path),
        rows,
        judged.suppressed_rows,
        sum(blanked.values()),
        respelled,
        documents.manifest["verdict"],
        judged.k,
        judged.models,
        judged.checks,
        None if documents.plan is None else plan_path(path),
        None if signature is None else signature["public_key"],
        [entry.column for entry in decisions.undecided_columns],
        decisions.notes,
    )


def _is_file(name: str) -> bool:
    try:
        return Path(name).is_file()
    except (OSError, ValueError):
        return False


def _frame(result: Releasable, path: Path) -> tuple[pl.DataFrame, dict[str, int]]:
    """What is written: untouched cells byte by byte, no categories that no cell holds, suppressed rows kept quiet."""
    changed = {entry.name for entry in result.manifest_columns() if entry.form.kind != "as-it-was"}
    changed |= set(result.policy.quasi_identifiers)
    frame = result.polars
    series = []
    for column in frame.get_columns():
        own = result.table.columns.get(column.name)
        untouched = own is not None and own.written is not None and column.name not in changed
        if untouched and (own.written[1].dtype != pl.String or is_text_file(path)):  # type: ignore[union-attr,index]
            column = own.as_written()  # type: ignore[union-attr]
        if isinstance(column.dtype, (pl.Categorical, pl.Enum)):
            column = column.cast(pl.String)
        series.append(column)
    frame = pl.DataFrame(series)
    suppressed = _suppressed(result, frame)
    if suppressed is None:
        return frame, {}
    policy = result.policy
    needed = [*sensitive_columns(policy), *(name for name in (policy.person, policy.count) if name is not None)]
    needed = [name for name in dict.fromkeys(needed) if name in frame.columns]
    if not gives_away(read(frame.select(needed)) if needed else Table({}, len(frame)), policy, suppressed):
        return frame, {}
    return blank_sensitive(frame, sensitive_columns(result.policy), suppressed)


def _suppressed(result: Releasable, frame: pl.DataFrame) -> Array | None:
    """Which rows are `*` in every quasi-identifier; None where none is."""
    entries = {name: entry for entry in result.manifest_columns() for name in entry.released_as}
    names = result.quasi_identifiers
    if not names or not all(entries[name].form.generalizes and frame[name].dtype == pl.String for name in names):
        return None
    found = frame.select(pl.all_horizontal(pl.col(name).eq_missing(STAR) for name in names)).to_series()
    return found.to_numpy() if found.any() else None


def _labels(result: Releasable) -> Any:
    """What values became, for columns whose labels only their map knows."""
    names = [entry.name for entry in result.manifest_columns() if entry.form.kind == "label"]
    shown = {name: read(result.polars.select(name))[name] for name in names}
    return labels_of(shown, {name: result.table[name] for name in names})


@dataclass(frozen=True)
class _Parts:
    """The bytes of the parts beside the data, and the rights of each."""

    files: dict[Path, tuple[bytes, int]]
    stale_plan: Path | None

    @classmethod
    def of(cls, path: Path, documents: ReleaseDocuments) -> _Parts:
        files = {
            manifest_path(path): (documents.manifest_bytes, 0o644),
            dictionary_path(path): (documents.dictionary_bytes, 0o644),
            private_path(path): (documents.private_bytes, 0o600),
        }
        if documents.plan_bytes is not None:
            files[plan_path(path)] = (documents.plan_bytes, 0o600)
        return cls(files, plan_path(path) if documents.plan_bytes is None else None)


def write_release(
    frame: pl.DataFrame, path: Path, force: bool, documents: Callable[[Path], ReleaseDocuments]
) -> ReleaseDocuments:
    """The draft is written, `documents` judges it (and may refuse), then all parts take their names."""
    check_target(path, force)
    replaced = path.exists()
    if not replaced and not force:
        _check_free(path)
    draft = _draft(path)
    made: list[Path] = []
    try:
        write_draft(frame, draft, path)
        found = documents(draft)
        parts = _Parts.of(path, found)
        digest = found.manifest["data_sha256"]
        places = {part: pending_path(part, digest) if replaced else part for part in parts.files}
        for part, (content, mode) in parts.files.items():
            write_bytes(places[part], content, mode)
            made.append(places[part])
        draft.chmod(0o644)
        sync(path.parent)
        draft.replace(path)
        made.clear()  # from here on they belong to the data
        sync(path.parent)
        for part, place in places.items():
            place.replace(part)
        if parts.stale_plan is not None:
            parts.stale_plan.unlink(missing_ok=True)  # of a release that this one replaces
        _remove_leftovers(path)
        sync(path.parent)  # the renames themselves must survive a crash
    except OSError as error:
        raise InputError(f"{path} could not be written: {failure(error)}.", "Nothing was released.") from None
    except pl.exceptions.ComputeError:  # its message may show values
        raise InputError(
            f"A column has a type that a {path.suffix} file cannot hold.",
            "Write .parquet. Nothing was released.",
        ) from None
    finally:
        for file in [draft, *made]:
            file.unlink(missing_ok=True)
    return found


def _check_free(path: Path) -> None:
    """Refuse to write over the parts of another release; those of one that was interrupted are no release."""
    for part in files_of(path)[1:]:
        if part.exists() and not _interrupted(path):
            raise InputError(f"{part} exists already: it belongs to another release.", "Use `force` to replace it.")


def _interrupted(path: Path) -> bool:
    """Whether the parts beside a target name data that never came."""
    try:
        manifest = read_manifest(path)
        named = manifest.data if manifest is not None else None
        if named is None and (private := read_private(path)) is not None:
            named = private.data
    except InputError:
        return False
    return named is not None and not path.with_name(Path(named).name).exists()


def _remove_leftovers(path: Path) -> None:
    """Parts that waited for a release that was never finished."""
    for part in files_of(path)[1:]:
        for file in [*part.parent.glob(f".{part.name}.*"), *part.parent.glob(f"..{part.name}.*")]:
            if time.time() - file.stat().st_mtime > _LEFT:  # younger ones may be another process's
                file.unlink(missing_ok=True)


def _draft(path: Path) -> Path:
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.stem}.", suffix=path.suffix.lower(), dir=path.parent)
    except OSError as error:
        raise InputError(f"{path.parent} cannot be written to: {failure(error)}.", "Choose another folder.") from None
    os.close(handle)
    return Path(name)
