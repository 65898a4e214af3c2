"""The release step: data, manifest, data dictionary and private record are written together, or nothing is.

The data is written under a temporary name beside its target, synced, read back and measured against the policy; then
all parts take their names (`releases/places.py`).
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import polars as pl

from shoal import progress
from shoal.detection.undecided import Decisions, decisions_of
from shoal.errors import InputError, Message, Setting, ShoalError, joined
from shoal.methods.past_memory import DISK_PER_ROW
from shoal.methods.results import Anonymized
from shoal.policy import Policy
from shoal.policy.manifest import (
    ColumnEntry,
    WrittenAs,
    dictionary_path,
    files_of,
    manifest_path,
    plan_path,
    private_path,
)
from shoal.releases.coded import coded_frame, write_coded_frame
from shoal.releases.distinct import in_release_order
from shoal.releases.documents import DataDraft, ReleaseDocuments, documents_of, shown_types
from shoal.releases.in_blocks import (
    TreatedCodes,
    check_streamed,
    code_bytes,
    dictionary_frame,
    is_streamed,
    many_rows,
    treatments_in_codes,
    write_blocks,
)
from shoal.releases.manifest_checks import forms_check
from shoal.releases.notation import Notation, defused, in_notation, written_as
from shoal.releases.original import CHANGED, Labels, ReleaseContext, against_original
from shoal.releases.places import FilePlace, Place, check_free, check_not_input, place_of, write_release
from shoal.releases.remote_release import Failed, check_remote, path_here, release_remote, stays_remote
from shoal.releases.results import Released, Verification
from shoal.releases.treatment import Releasable, TreatedRows, frame_of, has_means, labels_given, treatments
from shoal.releases.verify import judge
from shoal.releases.written_labels import codes_as_numbers, labels_written
from shoal.storage import Array, Table
from shoal.storage.formats.cells import defused_name
from shoal.storage.order import original_rows, released_order, shuffled_order
from shoal.storage.reading import NO_ORDER, Options, declaring
from shoal.storage.spill import MEMORY, Spill
from shoal.storage.writing import OutputFormat, check_apart, tells_empty
from shoal.vocabulary import Role


class Refused(ShoalError):
    """The written file does not keep the policy; nothing was released."""

    exit_code = 1


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
    output: OutputFormat | None = None,
) -> Released:
    """Write a changed table, once the written file itself was measured against the policy.

    `shuffle` releases the rows in a secret order (their order can identify); the seed is drawn if none is given and
    goes to the private record only. `excel_safe` puts an apostrophe before text that spreadsheets run as a formula.
    `source`: the input, which is never replaced. `sign`: the file of the key that signs the manifest. `decide`: roles
    of columns that nobody decided on yet; while one of them points at people, the release is refused. `output`: how
    cells are written (delimiter, decimal comma, what `*` is written as); the policy's, if not given.
    """
    result = _with_roles(result, decide)
    if isinstance(result, Anonymized) and result.technique == "anatomy":
        from shoal.releases.anatomy import release_anatomy

        if (undecided := _decisions(result)).stopping:
            raise Refused(f"Refused, nothing was written. {undecided.refusal()}")
        return release_anatomy(result, path, force=force, seed=seed, sign=sign)
    place = place_of(path)
    path = place.path
    output = result.policy.output.overridden(output)
    output.check(path)
    if not result.policy.models and not no_guarantee and result.rule is None:
        raise InputError(
            "The policy names no privacy model, so nothing would be guaranteed.",
            Message("Add one (k = 5, for example), or say `{no_guarantee}` to release without."),
        )
    inputs = [] if source is None else [source] if isinstance(source, Path) else list(source)
    named = [*inputs, Path(result.table.name)] if _is_file(result.table.name) else inputs
    check_apart(input=[*named, *_read_files(result)], signing_key=sign, output=files_of(path))
    one_input = inputs[0] if len(inputs) == 1 else named[0] if len(named) == 1 else None
    check_not_input([result.table.address], place)
    check_free(place, force)
    decisions = _decisions(result)
    if decisions.stopping:
        raise Refused(f"Refused, nothing was written. {decisions.refusal()}")
    if remote := stays_remote(result):
        _check_usual_notation("A folder of Parquet files is", excel_safe, output)
        place = FilePlace(path_here(place.shown))
        check_remote(place.path)
    seed = secrets.randbits(62 if remote else 63) if seed is None else seed
    how = _Writing(place, force, shuffle, seed, no_guarantee, excel_safe, one_input, sign, decisions, output)
    if remote:
        return _first_that_holds(treatments(result, place.path), lambda treated: _write_remote(result, treated, how))
    if getattr(result, "on_disk", False):
        return _write_on_disk(result, how)
    if not has_means(result) and (many := _in_blocks(result, how)) is not None:
        ways = treatments_in_codes(many, MEMORY)
        return _first_that_holds(ways, lambda treated: _write(many, _codes_draft(many, how, treated), how))

    def write(way: TreatedRows) -> Released:
        shown, way = _means_of_released(result, way, path)
        return _write(shown, _frame_draft(shown, how, way), how)

    return _first_that_holds(treatments(result, path), write)


def _means_of_released(result: Releasable, way: TreatedRows, path: Path) -> tuple[Releasable, TreatedRows]:
    """The result with means over the records that are released: groups that lose suppressed records are too small."""
    if not len(way.removed) or not has_means(result) or not isinstance(result, Anonymized):
        return result, way
    from shoal.methods.treat import means_again

    kept = np.ones(result.table.rows, bool)
    kept[np.asarray(way.removed)] = False
    result = replace(result, table=means_again(result.table, result.policy, result.treated, kept))
    return result, replace(way, frame=frame_of(result, path).filter(kept))


class _Writing(NamedTuple):
    """How a release is written."""

    place: Place
    force: bool
    shuffle: bool
    seed: int
    no_guarantee: bool
    excel_safe: bool
    source: Path | None
    sign: str | Path | None
    decisions: Decisions
    output: OutputFormat


def _in_blocks(result: Releasable, how: _Writing) -> Anonymized | None:
    """The result, if its rows are many and are written block by block: in a format for that, in the usual notation."""
    path = how.place.path
    # an Arrow file has texts as they lie in memory, and so tells blocks from the whole
    same = is_streamed(path) and path.suffix.lower() not in (".arrow", ".feather")
    return many_rows(result) if _is_usual(how) and same else None


def _is_usual(how: _Writing) -> bool:
    """Whether a file is written, in the usual notation of cells."""
    return how.output == OutputFormat() and not how.excel_safe and isinstance(how.place, FilePlace)


class _Draft(NamedTuple):
    """What is written: how it is staged and read again, and the result with which it is compared, whose rows are in the
    order of the file or in an `order`."""

    treated: TreatedRows | TreatedCodes
    compared: Releasable
    order: Array | None
    stage: Callable[[], None]
    read: Callable[[], Table]
    types: Mapping[str, Any]
    written: WrittenAs | None = None
    spill: Spill | None = None


_Treated = TypeVar("_Treated", bound=TreatedRows | TreatedCodes)


def _first_that_holds(ways: Sequence[_Treated], write: Callable[[_Treated], Released]) -> Released:
    """Write the first way to treat suppressed rows of which what was written is judged to hold."""
    *others, last = ways
    for treated in others:
        with suppress(Refused):  # what is emptied or removed shifts the whole table, so that a class may fail
            return write(treated)
    return write(last)


def _write_remote(result: Releasable, treated: TreatedRows, how: _Writing) -> Released:
    """Rows that stay with their engine are written there."""
    try:
        documents, judged, rows = release_remote(
            result,
            how.place.path,
            treated,
            shuffle=how.shuffle,
            seed=how.seed,
            no_guarantee=how.no_guarantee,
            sign=how.sign,
            decisions=how.decisions,
        )
    except Failed as failure:
        raise Refused(f"Refused, nothing was written. {failure}.") from None
    return _released(result, how.place, documents, judged, treated, rows, how.decisions)


def _write(result: Releasable, draft: _Draft, how: _Writing) -> Released:
    """Write a draft, once the written file was judged."""
    judgements, rows, treated = list[Verification](), list[int](), draft.treated

    def documents() -> ReleaseDocuments:
        made = DataDraft(
            how.place.path,
            how.place.digest(),
            draft.read(),
            treated.blanked,
            how.shuffle,
            how.seed,
            how.excel_safe,
            how.source,
            [int(row) for row in treated.removed],
            draft.written,
            draft.types,
            stored_in=how.place.stored_in,
        )
        labels, entries = labels_given(result), made.entries(result)
        judgements.append(_judged(draft, how, made.table, entries, labels))
        rows.append(made.table.rows)
        return documents_of(
            result, made, judgements[0], entries, labels, how.no_guarantee, how.sign, how.decisions.notes
        )

    written = write_release(draft.stage, how.place, how.force, documents)
    return _released(result, how.place, written, judgements[0], treated, rows[0], how.decisions)


def _frame_draft(result: Releasable, how: _Writing, treated: TreatedRows) -> _Draft:
    """A frame that is written at once."""
    frame, path = treated.frame, how.place.path
    shuffled = shuffled_order(len(frame), how.seed) if how.shuffle else None
    order = original_rows(result.table.rows, shuffled, treated.removed)
    frame = frame if shuffled is None else frame[shuffled]
    columns = result.manifest_columns()
    _check_found_orders(result.table, frame, columns)
    types = shown_types(result, frame, columns)
    written = written_as(how.output, frame, columns, result.table)
    frame = codes_as_numbers(frame, result.table, columns, path)
    released_labels = labels_written(result.table, columns, frame)
    frame = in_notation(frame, Notation.of(written, columns, path, False))
    if how.excel_safe:
        frame = defused(frame)
        released_labels = {defused_name(name): own for name, own in released_labels.items()}
        written = written.model_copy(update={"decimal_columns": tuple(map(defused_name, written.decimal_columns))})
    usual = how.output == OutputFormat()

    def read() -> Table:
        notation = None if usual else Notation.of(written, _renamed(columns, how), path, how.excel_safe)
        return how.place.read(notation, declaring(None, result.policy.types, True, result.quasi_identifiers))[0]

    def stage() -> None:
        coded = coded_frame(result, frame, path) if isinstance(result, Anonymized) and _is_usual(how) else None
        if coded is None:
            how.place.stage(frame, how.output, released_labels)
        else:
            how.place.fill(lambda draft: write_coded_frame(coded, frame, draft, path))

    return _Draft(treated, result, order, stage, read, types, None if usual else written)


def _codes_draft(
    result: Anonymized, how: _Writing, treated: TreatedCodes, reading: Options | None = None, spill: Spill | None = None
) -> _Draft:
    """Codes that are written block by block; with `spill` they are put in order on disk first."""
    seed = how.seed if how.shuffle else None
    if spill is None:
        written, compared = treated.result, result
        order = released_order(result.table.rows, seed, treated.removed.tolist())
    else:
        progress.report("putting the rows in order", 0)
        written = treated.in_order(seed, spill)
        compared, order = _with_cells_of(result, written, treated, seed, spill), None
    types = dict[str, Any]()
    for entry in result.manifest_columns():
        own = result.table.columns.get(entry.name)
        if own is not None and own.declared is not None and entry.released_as:
            held = dictionary_frame(written, entry)
            _check_found_orders(result.table, held, [entry])
            types |= shown_types(result, held, [entry])

    def read() -> Table:
        plain = replace(
            reading or Options(),
            types=None,
            types_of_policy={},
            encoding=None,
            delimiter=None,
            missing=(),
            overflow=None,
        )
        table = how.place.read(None, declaring(plain, result.policy.types, True, result.quasi_identifiers))[0]
        progress.report("judging what was written", 0)
        return table

    def stage() -> None:
        how.place.fill(lambda draft: write_blocks(written, treated, draft, how.place.path, order))

    return _Draft(treated, compared, order, stage, read, types, spill=spill)


def _with_cells_of(
    result: Anonymized, written: Anonymized, treated: TreatedCodes, seed: int | None, spill: Spill
) -> Anonymized:
    """What is written, with the cells that were emptied as the input has them: by these it is known which they are."""
    names = list(treated.blanked)
    if not names:
        return written
    own = in_release_order(result.table.select(names), result.table.rows, seed, treated.removed, spill)
    columns = {**written.table.columns, **dict(zip(names, own, strict=True))}
    return replace(written, table=replace(written.table, columns=columns))


def _check_usual_notation(what: str, excel_safe: bool, output: OutputFormat) -> None:
    """Refuse another notation of cells where only the usual one is written."""
    said = [*([Setting("excel_safe")] if excel_safe else []), *output.said()]
    if said:
        cure = Message("Leave out {}.", joined(said, " and "))
        raise InputError(f"{what} written in the usual notation of cells.", cure)


def _write_on_disk(result: Releasable, how: _Writing) -> Released:
    """Rows that do not fit in memory: written block by block, read back and judged on disk."""
    assert isinstance(result, Anonymized)
    _check_usual_notation("A table that does not fit in memory is", how.excel_safe, how.output)
    check_streamed(how.place.path)
    reading = result.reading or Options()
    with Spill(reading.memory, reading.spill_dir) as spill:
        spill.start(result.table.rows * (DISK_PER_ROW + 4 * code_bytes(result.table)))
        ways = treatments_in_codes(result, spill)
        return _first_that_holds(
            ways, lambda treated: _write(result, _codes_draft(result, how, treated, reading, spill), how)
        )


def _check_found_orders(table: Table, frame: pl.DataFrame, entries: Sequence[ColumnEntry]) -> None:
    """Refuse a release whose manifest would name bands that nobody declared and that no released cell holds."""
    for entry in entries:
        column = table.columns.get(entry.name)
        declared = None if column is None else column.declared
        if declared is None or not declared.order_found or not entry.released_as:
            continue
        held = declared.places_in(frame.select(entry.released_as))
        if held is not None and len(held) < len(declared.type.order or ()):
            raise InputError(
                f"Column '{entry.name}' has bands that are suppressed throughout: the manifest would name them, "
                "because their order was found in the data.",
                "Declare all bands that there can be in the policy: "
                f"types: {{{entry.name}: {{type: band, order: [lowest, …, highest]}}}}.",
            )


def _renamed(entries: Sequence[ColumnEntry], how: _Writing) -> list[ColumnEntry]:
    """The columns under the names that the file has."""
    if not how.excel_safe:
        return list(entries)
    return [
        entry.model_copy(update={"released_as": [defused_name(name) for name in entry.released_as]})
        for entry in entries
    ]


def _judged(draft: _Draft, how: _Writing, table: Table, entries: Sequence[ColumnEntry], labels: Labels) -> Verification:
    """The file that was written, measured against the policy and against the input; refused where it fails."""
    result, treated = draft.compared, draft.treated
    trees = {} if result.plan is None else result.plan.trees
    removed, by = len(treated.removed), result.policy.weight or result.policy.count
    as_missing = not tells_empty(how.place.path)
    again = result.rule is not None or result.technique == "perturb" or bool(getattr(result, "treated", None))
    recoded = {series.name: series for series in result.polars.get_columns()} if again else {}
    beside = ReleaseContext(
        draft.order, trees, labels, True, how.excel_safe, as_missing, removed, by, spill=draft.spill, recoded=recoded
    )
    checks = [*result.checks(table), *against_original(table, result.table, entries, beside)]
    checks += [check for check in [forms_check(entries, table, result.policy, how.excel_safe)] if not check.holds]
    names = [name for entry in entries for name in entry.released_as if entry.name in _promised(result)]
    raw = [name for entry in entries if not entry.form.generalizes for name in entry.released_as]
    levels, drawn = result.parameters.get("levels"), table.rows + removed
    judged = judge(table, names, result.policy, checks, levels, raw, drawn=drawn)
    if not judged.holds:
        why = ""
        unseen = any(check.name == "persons" and not check.holds for check in judged.checks)
        if not unseen and (treated.blanked or len(treated.removed)):
            why = Message(" What suppressed records have must not stay: allow fewer of them with `{suppression}`.")
        raise Refused(
            Message("Refused, nothing was written. {}.{}{}", judged.reasons(), why, _not_kept(judged, how.place.path))
        )
    return judged


def _not_kept(judged: Verification, path: Path) -> str:
    """The way out where a file gave back other values than it was given."""
    if not any(check.detail == CHANGED for check in judged.checks) or path.suffix.lower() == ".parquet":
        return ""
    return f" A {path.suffix} file does not give these values back as they are: write .parquet, or make them text."


def _with_roles(result: Releasable, decide: Mapping[str, Role] | None) -> Releasable:
    if not decide:
        return result
    if not hasattr(result, "with_roles"):
        raise InputError(
            f"A release by {result.technique} decides on columns itself.", Message("Leave out `{decide}`.")
        )
    return result.with_roles(decide)  # type: ignore[no-any-return]


def _decisions(result: Releasable) -> Decisions:
    """What nobody decided; a standard such as safe harbor decides on every column itself."""
    if result.personal or result.rule is not None:
        return Decisions()
    known = isinstance(result, Anonymized) and result.decided_for is result.policy
    return result.decisions if known else decisions_of(result)  # type: ignore[attr-defined]


def _promised(result: Releasable) -> set[str]:
    """The columns, by their names in the input, that models are judged on."""
    released = set(result.quasi_identifiers)
    return {entry.name for entry in result.manifest_columns() if released & set(entry.released_as)}


def _released(
    result: Releasable,
    place: Place,
    documents: ReleaseDocuments,
    judged: Verification,
    treated: TreatedRows | TreatedCodes,
    rows: int,
    decisions: Decisions,
) -> Released:
    respelled = sum(
        column.respelled for name, column in result.table.columns.items() if name in result.policy.quasi_identifiers
    )
    signature, path = documents.manifest.get("signature"), place.path
    return Released(
        place.shown,
        manifest_path(path),
        dictionary_path(path),
        private_path(path),
        rows,
        judged.suppressed_rows,
        sum(treated.blanked.values()),
        treated.removed_records,
        respelled,
        documents.manifest["verdict"],
        judged.k,
        judged.models,
        judged.checks,
        None if documents.plan is None else plan_path(path),
        None if signature is None else signature["public_key"],
        [entry.column for entry in decisions.undecided_columns],
        [*decisions.notes, *([] if result.table.ordered else [NO_ORDER])],
    )


def files_read(policy: Policy, maps: Mapping[str, Any]) -> list[str]:
    """The files among what a policy names (populations, hierarchies) and what columns are recoded by."""
    trees = [policy.hierarchies] if isinstance(policy.hierarchies, str) else list(policy.hierarchies.values())
    named: list[Any] = [name for model in policy.models for name in model.needs_files]
    named += [*trees, *maps.values()]
    return [name for name in named if isinstance(name, str) and Path(name).exists()]


def _read_files(result: Releasable) -> list[str]:
    """The files that the policy and the method read: populations, hierarchies, maps of labels."""
    maps = result.parameters.get("generalize")
    return files_read(result.policy, maps if isinstance(maps, dict) else {})


def _is_file(name: str) -> bool:
    try:
        return Path(name).is_file()
    except (OSError, ValueError):
        return False
