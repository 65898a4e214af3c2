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
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
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
from shoal.releases.verify import judge, released_order
from shoal.table import Array, Column, Table
from shoal.table.encode import encode
from shoal.table.order import shuffled_order
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
    check_apart(input=[*named, *_read_files(result)], signing_key=sign, output=files_of(path))
    one_input = inputs[0] if len(inputs) == 1 else named[0] if len(named) == 1 else None
    check_target(path, force)
    decisions = _decisions(result)
    if decisions.stopping:
        raise Refused(f"Refused, nothing was written. {decisions.refusal()}")
    seed = secrets.randbits(63) if seed is None else seed
    how = _Writing(path, force, shuffle, seed, no_guarantee, excel_safe, one_input, sign, decisions)
    *others, last = _treatments(result, path)
    for treated in others:
        with suppress(Refused):  # what is emptied or removed shifts the whole table, so that a class may fail
            return _write(result, treated, how)
    return _write(result, last, how)


@dataclass(frozen=True)
class _Writing:
    """How a release is written."""

    path: Path
    force: bool
    shuffle: bool
    seed: int
    no_guarantee: bool
    excel_safe: bool
    source: Path | None
    sign: str | Path | None
    decisions: Decisions


@dataclass(frozen=True)
class _Treated:
    """What is written: cells that were emptied by column, and rows of the input that are not released."""

    frame: pl.DataFrame
    blanked: dict[str, int] = field(default_factory=dict)
    removed: Sequence[int] = ()


def _write(result: Releasable, treated: _Treated, how: _Writing) -> Released:
    """Write one way to treat the suppressed rows, once the written file was judged."""
    frame, path = treated.frame, how.path
    if how.shuffle:
        frame = frame[shuffled_order(len(frame), how.seed)]
    if how.excel_safe:
        frame = defused(frame)
    found: list[Verification] = []

    def documents(draft: Path) -> ReleaseDocuments:
        table = read(draft)
        made = Draft(
            path,
            sha256(draft),
            table,
            treated.blanked,
            how.shuffle,
            how.seed,
            how.excel_safe,
            how.source,
            list(treated.removed),
        )
        labels = _labels(result)
        entries = made.entries(result)
        order = released_order(result.table.rows, how.seed if how.shuffle else None, treated.removed)
        trees = {} if result.plan is None else result.plan.trees
        beside = Beside(order, trees, labels, True, how.excel_safe, is_text_file(path), len(treated.removed))
        checks = [*result.checks(table), *against_original(table, result.table, entries, beside)]
        names = [name for entry in entries for name in entry.released_as if entry.name in _promised(result)]
        raw = [name for entry in entries if not entry.form.generalizes for name in entry.released_as]
        levels = result.parameters.get("levels")
        judged = judge(table, names, result.policy, checks, levels, raw)
        if not judged.holds:
            why = ""
            if treated.blanked or treated.removed:
                why = " What suppressed records have must not stay: allow fewer of them with `suppression`."
            raise Refused(f"Refused, nothing was written. {judged.reasons()}.{why}")
        found.append(judged)
        return documents_of(result, made, judged, entries, labels, how.no_guarantee, how.sign, how.decisions.notes)

    written = write_release(frame, path, how.force, documents)
    return _released(result, path, written, found[0], treated, len(frame), how.decisions)


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
    treated: _Treated,
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
        sum(treated.blanked.values()),
        len(treated.removed),
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


def files_read(policy: Policy, maps: Mapping[str, Any]) -> list[str]:
    """The files among what a policy names (populations, linked tables, hierarchies) and what columns are recoded by."""
    trees = [policy.hierarchies] if isinstance(policy.hierarchies, str) else list(policy.hierarchies.values())
    named: list[Any] = [name for model in policy.models for name in model.needs_files]
    named += [*(link.table for link in policy.linked), *trees, *maps.values()]
    return [name for name in named if isinstance(name, str) and Path(name).exists()]


def _read_files(result: Releasable) -> list[str]:
    """The files that the policy and the method read: populations, linked tables, hierarchies, maps of labels."""
    maps = result.parameters.get("generalize")
    return files_read(result.policy, maps if isinstance(maps, dict) else {})


def _is_file(name: str) -> bool:
    try:
        return Path(name).is_file()
    except (OSError, ValueError):
        return False


def _treatments(result: Releasable, path: Path) -> list[_Treated]:
    """What may be written, the best first: where suppressed rows give something away, their sensitive cells are
    emptied, or else these rows are removed."""
    frame = _frame(result, path)
    suppressed = _suppressed(result, frame)
    if suppressed is None:
        return [_Treated(frame)]
    policy = result.policy
    needed = [*sensitive_columns(policy), *(name for name in (policy.person, policy.count) if name is not None)]
    needed = [name for name in dict.fromkeys(needed) if name in frame.columns]
    changed = _changed(result)
    columns = {name: _encoded(result, frame[name], name in changed) for name in needed}
    if not gives_away(Table(columns, len(frame)), policy, suppressed):
        return [_Treated(frame)]
    found = [_Treated(*blank_sensitive(frame, sensitive_columns(policy), suppressed))]
    if not suppressed.all():
        found.append(_Treated(frame.filter(~suppressed), {}, np.flatnonzero(suppressed).tolist()))
    return found


def _frame(result: Releasable, path: Path) -> pl.DataFrame:
    """What is written: untouched cells byte by byte, no categories that no cell holds."""
    changed = _changed(result)
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
    return pl.DataFrame(series)


def _changed(result: Releasable) -> set[str]:
    """The columns that do not leave as they came."""
    changed = {entry.name for entry in result.manifest_columns() if entry.form.kind != "as-it-was"}
    return changed | set(result.policy.quasi_identifiers)


def _suppressed(result: Releasable, frame: pl.DataFrame) -> Array | None:
    """Which rows are `*` in every quasi-identifier; None where none is."""
    entries = {name: entry for entry in result.manifest_columns() for name in entry.released_as}
    names = result.quasi_identifiers
    if not names or not all(entries[name].form.generalizes and frame[name].dtype == pl.String for name in names):
        return None
    found = frame.select(pl.all_horizontal(pl.col(name).eq_missing(STAR) for name in names)).to_series()
    return found.to_numpy() if found.any() else None


def _encoded(result: Releasable, series: pl.Series, changed: bool) -> Column:
    """A column that is released, in codes: those of the input or of the method where there are some."""
    if not changed and series.name in result.table.columns:
        return result.table[series.name]
    shown = getattr(result, "shown", None)
    return shown[series.name] if shown is not None and series.name in shown.columns else encode(series)


def _labels(result: Releasable) -> Any:
    """What values became, for columns whose labels only their map knows."""
    names = [entry.name for entry in result.manifest_columns() if entry.form.kind == "label"]
    shown = {name: _encoded(result, result.polars[name], True) for name in names}
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
    except (pl.exceptions.ComputeError, pl.exceptions.PanicException):  # its message may show values
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
