"""The release of rows that an engine keeps: a folder of Parquet files, read back and judged before it takes its name.

The manifest and the data dictionary stand beside the folder. They are written first, the folder is
renamed last: a run that is ended leaves no release, and can be run again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from shoal.detection.undecided import Decisions
from shoal.engine import engine_of, rows_where_they_are
from shoal.errors import InputError
from shoal.policy.judgement.shown_classes import Check
from shoal.policy.manifest import private_path
from shoal.releases.documents import DataDraft, ReleaseDocuments, documents_of
from shoal.releases.manifest_checks import forms_check
from shoal.releases.results import Verification
from shoal.releases.treatment import Releasable, TreatedRows, labels_given
from shoal.releases.verify import by_tuple, class_sizes_suffice, judge
from shoal.storage import Table
from shoal.storage.databases import without_password
from shoal.storage.reading import Options, declaring
from shoal.storage.reading.files import is_address


class Failed(Exception):
    """The written data does not keep the policy."""


def path_here(path: str | Path) -> Path:
    """The path of a release; an address is refused, because there a rename is a copy, of which half may be seen.

    >>> path_here("s3a://bucket/safe.parquet")
    Traceback (most recent call last):
    shoal.errors.InputError: s3a://bucket/safe.parquet is an address, where a release cannot appear whole. ...
    """
    if is_address(path):
        raise InputError(
            f"{without_password(str(path))} is an address, where a release cannot appear whole.",
            "Name a folder by its path (a disk, a mounted bucket), or write `frame` there with Spark and verify it.",
        )
    return Path(path)


def stays_remote(result: Releasable) -> bool:
    """Whether the rows of a result are kept by an engine that leaves them where they are."""
    return engine_of(result.table).keeps_rows


def check_remote(path: Path) -> None:
    """Refuse a format that the engine does not write."""
    if path.suffix.lower() != ".parquet":
        raise InputError(f"{path} is not a .parquet folder.", "This engine writes Parquet: name it safe.parquet.")


def release_remote(
    result: Releasable,
    path: Path,
    treated: TreatedRows,
    *,
    shuffle: bool,
    seed: int,
    no_guarantee: bool,
    sign: str | Path | None,
    decisions: Decisions,
) -> tuple[ReleaseDocuments, Verification, int]:
    """Write the rows where they are, once what was written was judged: what is written beside, and of how many rows."""
    engine = engine_of(result.table)
    numbered = engine.is_ordered(result.table)
    rows = _rows(result, treated, numbered)
    made: list[tuple[ReleaseDocuments, Verification, int]] = []
    joined = by_tuple(result.policy) if result.rule is None else None

    def check(draft: str, digest: str, removed: Sequence[int]) -> Mapping[str, bytes]:
        options = declaring(Options(engine=engine.name), result.policy.types, True, result.quasi_identifiers)
        by_part = 0 if class_sizes_suffice(result.policy) and result.rule is None else None
        table = rows_where_they_are(engine, draft, options, _needed(result), joined, by_part)
        gone = treated.removed_records
        # the order of rows is not that of the input, also where nobody asked for another one
        blanked, rows_gone = treated.blanked, list(removed)
        drawn = DataDraft(path, digest, table, blanked, True, seed, False, None, rows_gone, removed_records=gone)
        entries = drawn.entries(result)
        checks = [*result.checks(table), _records(table, result.table.total - gone)]
        checks += [forms for forms in [forms_check(entries, table, result.policy, False)] if not forms.holds]
        raw = [name for entry in entries if not entry.form.generalizes for name in entry.released_as]
        levels, before = result.parameters.get("levels"), table.total + gone
        judged = judge(table, result.quasi_identifiers, result.policy, checks, levels, raw, drawn=before)
        if not judged.holds:
            raise Failed(judged.reasons())
        notes = [*decisions.notes, "rows were not compared with their originals one by one"]
        documents = documents_of(result, drawn, judged, entries, labels_given(result), no_guarantee, sign, notes)
        made.append((documents, judged, table.total))
        return _beside(path, documents, numbered)

    order = seed if shuffle or numbered else None
    engine.write(rows, path, check=check, shuffle=order, rows=result.table.total, left_out=treated.removed_records)
    documents, judged, written = made[-1]
    return documents, judged, written


def _rows(result: Releasable, treated: TreatedRows, numbered: bool) -> Any:
    """The rows on the cluster, as they are released."""
    remote = getattr(result, "remote", None)
    if remote is not None:
        return remote if numbered else result.table.elsewhere.plain(remote)
    kept = np.ones(result.table.rows, bool)
    kept[list(treated.removed)] = False
    frame = treated.frame if not treated.removed else result.polars  # rows that go are left out below
    dropped = result.policy.with_role("identifier")
    return engine_of(result.table).assign(result.table, frame, dropped=dropped, kept=kept, numbered=numbered)


def _needed(result: Releasable) -> list[str]:
    """The columns of the release that models are judged on."""
    policy = result.policy
    found = [*result.quasi_identifiers, *policy.sensitive, *policy.needed, *policy.counted_by]
    gone = {*policy.with_role("identifier")} - {*policy.needed}
    return [name for name in dict.fromkeys(found) if name not in gone]


def _records(table: Table, wanted: int) -> Check:
    return Check("records", table.total == wanted, f"{table.total:,} of {wanted:,} records")


def _beside(path: Path, documents: ReleaseDocuments, numbered: bool) -> dict[str, bytes]:
    """The files beside the data: no private record where nobody knows which row was which."""
    found = {part.name: content for part, (content, _) in documents.files(path).items()}
    if not numbered:
        del found[private_path(path).name]
    return found
