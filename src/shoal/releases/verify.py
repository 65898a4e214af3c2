"""Measure a released file afresh against its policy; with the original beside it, row by row."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from shoal.anonymization.methods import METHODS
from shoal.databases import database_of, is_database
from shoal.detection.context import context_of_table
from shoal.detection.undecided import look_at
from shoal.engine import engine_of
from shoal.engine.base import Pairs, RowMap
from shoal.errors import InputError
from shoal.judgement.checks import Check
from shoal.judgement.evidence import evidence_of
from shoal.leakage.check import leak_check
from shoal.manifest.columns import decided_names, types_by_name
from shoal.manifest.files import names_as_released, stored_as
from shoal.manifest.schema import NO_ROW_MAP, PERSONAL, ColumnEntry, Manifest
from shoal.models import KMatching
from shoal.models.base import PeopleEstimate
from shoal.models.k_matching import readings_of
from shoal.policy import Policy, as_policy
from shoal.ranges.forms import not_canonical
from shoal.reading import Options, declaring, read
from shoal.reading.files import is_address
from shoal.releases.distinct import distinct_suppressed, in_release_order, is_on_disk
from shoal.releases.excel import defused_name
from shoal.releases.open import Release
from shoal.releases.original import Beside, against_original, inferred_entries
from shoal.releases.published import figures_check, files_check
from shoal.releases.results import NEEDS_PRIVATE, Verification
from shoal.releases.scrubbed_notes import KnownById, known_gone, rescrubbed
from shoal.releases.shown_types import as_published
from shoal.releases.signing import check_signature
from shoal.releases.suppressed import sensitive_columns, suppressed_check, suppressed_rows
from shoal.scrubbing.knowledge import KnownFrom, read_known
from shoal.table import Table
from shoal.table.column_type import ColumnType
from shoal.table.order import released_order
from shoal.table.spill import Spill
from shoal.table.text_types import MISSING_WORDS
from shoal.table.texts import texts_of
from shoal.table.type_words import type_word
from shoal.wording import in_words
from shoal.writing import OutputFormat, tells_empty

__all__ = ["Verification", "judge", "verify"]

_NOT_KNOWN = (
    "without a manifest nothing says how many records were removed, nor so which share of population_size this is: "
    "keep the manifest beside the file, or give sampling"
)


def verify(
    source: Any,
    policy: Policy | str | Path | None = None,
    *,
    original: Any = None,
    signed_by: str | Path | None = None,
    known_from: KnownFrom | None = None,
    options: Options | None = None,
) -> Verification:
    """Read a released file back and judge every model of the policy.

    A manifest beside the file is checked too: the hash of the data, the policy, the counts, and that every cell is
    written as its column's form says. With a policy the manifest is evidence, not authority. With the original and the
    private record beside the release, every cell must hold its record's value, no other column may differ, no row may
    be lost. `signed_by`: the public key by which the manifest must be signed. `known_from`: the values by id that
    `shoal.scrub` looked for in notes, to be looked for again.
    """
    if known_from is not None and original is None:
        raise InputError("known_from is given without the original, whose ids say whose note is whose.", "Give both.")
    more = None if known_from is None else read_known(known_from)
    release = _release(source, options)
    manifest = None if release is None else release.manifest_or_none
    decided = _policy(policy, manifest)
    if not decided.models and decided.leak is None and not (manifest and manifest.no_guarantee):
        raise InputError("The policy names no model: there is nothing to verify.", "Add a model such as k-anonymity.")
    types = _types(decided, manifest)
    if policy is None and release is not None:
        types = {**types, **release.whole_types}
    names = names_as_released(decided, manifest)
    engine = engine_of(source, options)
    if release is None or engine.keeps_rows:
        where = source if release is None or release.address is not None else release.data
        needed = [*names, *decided.sensitive, *_measured(decided)]
        reading = declaring(options, types, released=True, only_empty=names)
        by_row = original is not None or (manifest is not None and _by_rule(manifest))
        joined = None if by_row else by_tuple(decided)
        table = engine.rows(where, None, reading, needed=list(dict.fromkeys(needed)), by_tuple=joined)
    else:
        table = release.table_by(types, [*names, *_unsaid(decided, manifest)])
    checks: list[Check] = []
    if signed_by is not None:
        checks.append(check_signature(manifest, signed_by))
    if release is not None and manifest is not None:
        checks += _against_manifest(release, manifest, decided, policy is not None, table)
        checks += [] if release.address else files_check(release.data, manifest, Path(source).is_dir())
    checks += _undecided(table, decided, manifest)
    absent = [name for name in names if name not in table.columns]
    if absent and manifest is not None:  # a check that says so stands there already
        return Verification("refused", table.total, 0, 0, [], checks)
    if original is not None:
        readings = (declaring(options, types, released=True, only_empty=names), declaring(options, types))
        if engine.keeps_rows:
            beside = engine.rows(original, None, readings[1], needed=[])
            asked = partial(engine.pairs, table, beside, options=readings)
            checks += _with_original(release, manifest, table, beside, decided, more, elsewhere=asked)
        else:
            beside = read(original, None, readings[1])
            checks += _beside_original(release, manifest, table, beside, decided, more, options)
    forms = {} if manifest is None else {name: manifest.form_of(name) for name in names}
    raw = [name for name, form in forms.items() if form is not None and not form.generalizes]
    levels = None if manifest is None else manifest.levels
    drawn = None if manifest is None else table.total + manifest.removed_rows
    judged = judge(table, names, decided, checks, levels, raw, declared=manifest is not None, drawn=drawn)
    if manifest is None or manifest.policy.digest() != as_published(decided, manifest).digest():
        return judged
    said = figures_check(manifest, judged)
    return replace(judged, checks=[*judged.checks, said], verdict=judged.verdict if said.holds else "refused")


def by_tuple(policy: Policy) -> int | None:
    """From how many records on equal ones are judged together: all, where nothing belongs to single records."""
    by_record = (policy.count, policy.person, policy.weight, policy.household)
    return 0 if all(name is None for name in by_record) else None


def _measured(policy: Policy) -> list[str]:
    """The columns beside the quasi-identifiers that models look at, or by which people are counted."""
    named = [policy.count, policy.person, policy.weight, policy.household]
    return [*(name for model in policy.models for name in model.needs), *(name for name in named if name is not None)]


def _release(source: Any, options: Options | None) -> Release | None:
    """The release that a source is; a frame and an address of a store have nothing beside them."""
    here = isinstance(source, (str, Path)) and (is_database(source) or not is_address(source))
    return Release.open(source, options=options) if here else None


def policy_to_verify(source: Any, policy: Policy | str | Path | None, options: Options | None = None) -> Policy:
    """The policy that a file is held against: the one that is given, else that of the manifest beside it."""
    release = _release(source, options)
    return _policy(policy, None if release is None else release.manifest_or_none)


def _policy(policy: Policy | str | Path | None, manifest: Manifest | None) -> Policy:
    if policy is not None:
        return as_policy(policy)
    if manifest is None:
        raise InputError(
            "There is no policy to verify against.", "Give a policy, or keep the manifest beside the file."
        )
    named = [link.table for link in manifest.policy.linked]
    named += [name for model in manifest.policy.models for name in model.needs_files]
    if named:
        raise InputError(
            "The manifest's policy names other tables, which are not read on its word.", "Give the policy yourself."
        )
    return manifest.policy


def _types(policy: Policy, manifest: Manifest | None) -> dict[str, ColumnType]:
    """What columns are: as the policy says, and where it leaves the writing open as the release does.

    A manifest cannot make two texts one by this: what is not spelled as its type says is read as it stands, and which
    texts are missing, or stand for others, is for the policy to say.
    """
    types = {} if manifest is None else {name: joining(found, None) for name, found in manifest.policy.types.items()}
    for name, given in policy.types.items():
        if given.is_complete or name not in types or types[name].type != given.type:
            types[name] = given
        else:
            types[name] = joining(types[name], given)
    return types


def joining(found: ColumnType, given: ColumnType | None) -> ColumnType:
    """The writing that was found, with the texts that are missing or stand for others by what is given."""
    mapped, missing = ({}, ()) if given is None else (given.map, given.missing)
    return found.model_copy(update={"map": mapped, "missing": missing})


def _unsaid(policy: Policy, manifest: Manifest | None) -> list[str]:
    """Columns that models look at and only the manifest has a type for, by which `NA` and its like would be missing."""
    looked_at = {name for model in policy.models for name in model.needs}
    types = {} if manifest is None else manifest.policy.types
    return [name for name in types if name in looked_at and name not in policy.types]


def judge(
    table: Table,
    names: list[str],
    policy: Policy,
    checks: list[Check],
    levels: Mapping[str, int] | None = None,
    raw: Collection[str] = (),
    declared: bool = True,
    drawn: int | None = None,
) -> Verification:
    """The models of a policy on a table's columns, beside other checks that must hold too.

    In `raw` columns `*` is a text of the original; `declared`: a manifest says where it is not. `drawn`: the rows of
    the original; where nothing says how many were removed, `population_size` does not tell which share the table is.
    """
    checks = [*checks, Check("leak", *leak_check(table, names, policy))] if policy.leak else list(checks)
    if not names and not policy.models:  # nothing was promised: what was done is checked
        held = all(check.holds for check in checks)
        return Verification("holds" if held else "refused", table.total, 0, 0, [], checks)
    if policy.models and not names:
        checks.append(Check("models", False, "there is no quasi-identifier to judge them on"))
    starred = [name for name in names if name not in raw]
    evidence, suppressed = evidence_of(table, names, policy, levels, starred, drawn)
    if drawn is None and evidence.estimate is not None and evidence.estimate.by == "population_size":
        evidence = replace(evidence, estimate=PeopleEstimate(None, reason=_NOT_KNOWN))
    verdicts = [model.judge(evidence) for model in policy.models]
    if policy.models and policy.person is not None and policy.person not in table.columns:
        detail = f"column {policy.person} is not in the file, so persons cannot be counted: keep it, as a pseudonym"
        checks.append(Check("persons", False, detail))
    elif suppressed:
        checks += _of_suppressed(table, names, policy, raw, declared, drawn)
    verdicts = [replace(verdict, worst={**verdict.worst, "columns": names}) for verdict in verdicts]
    holds = all(verdict.holds for verdict in verdicts) and all(check.holds for check in checks)
    k = int(evidence.sizes.min()) if len(evidence.sizes) else 0
    records = table.total if policy.count is None or evidence.records is None else evidence.records
    readings = readings_of(evidence) if any(isinstance(model, KMatching) for model in policy.models) else None
    counts = np.ones(len(evidence.sizes), np.int64) if evidence.classes is None else evidence.classes
    classes, uniques = int(counts.sum()), int(counts[evidence.sizes == 1].sum())
    verdict = "holds" if holds else "refused"
    return Verification(verdict, records, k, suppressed, verdicts, checks, readings, classes, uniques)


def _of_suppressed(
    table: Table, names: list[str], policy: Policy, raw: Collection[str], declared: bool, drawn: int | None
) -> list[Check]:
    """What suppressed rows give away; of rows on disk by the distinct ones."""
    wildcard, records = policy.null_rule == "wildcard", None
    by_row = (policy.person, policy.count, policy.weight, policy.population_size, policy.sampling)
    if is_on_disk(table) and not any(setting is not None for setting in by_row):
        about = [name for name in sensitive_columns(policy) if name in table.columns]
        table, stars, records = distinct_suppressed(table, names, raw, wildcard, about)
    else:
        stars = suppressed_rows(table, names, raw, wildcard)
    found = suppressed_check(table, policy, stars, declared, drawn, records)
    return [] if found is None else [found]


def _undecided(table: Table, policy: Policy, manifest: Manifest | None) -> list[Check]:
    """Columns of the file that neither the policy nor the manifest's policy decides on, looked at again."""
    if manifest is not None and not policy.models and (manifest.method in PERSONAL or _by_rule(manifest)):
        return []
    decided = decided_names(policy) | set(names_as_released(policy, manifest))
    if manifest is not None:
        decided |= decided_names(manifest.policy)
        decided |= {name for entry in manifest.columns if entry.form.kind != "as-it-was" for name in entry.released_as}
    if manifest is not None and manifest.excel_safe:
        decided |= {defused_name(name) for name in decided}
    context = context_of_table(table)
    found = [look_at(table[name], table.total, context) for name in types_by_name(table) if name not in decided]
    if not found:
        return []
    lines = "; ".join(entry.in_words().removesuffix(".") for entry in found if entry.stops)
    detail = lines or f"nothing in {in_words([entry.column for entry in found])} points at people by detection alone"
    return [Check("undecided columns", not lines, detail)]


def _by_rule(manifest: Manifest) -> bool:
    """Whether a standard decided on every column, and is checked again."""
    return "safe_harbor" in manifest.sections


# the manifest


def _against_manifest(release: Release, manifest: Manifest, policy: Policy, given: bool, table: Table) -> list[Check]:
    same_data = release.data_sha256 == manifest.data_sha256
    whole = manifest.policy.digest() == manifest.policy_sha256
    own = manifest.policy.digest() == as_published(policy, manifest).digest()
    same = "the policy of the release" if own else "another policy"
    names, present = manifest.released_names, list(types_by_name(table))
    promised = [] if policy.models else [Check("privacy models", True, "none was promised, so none was checked")]
    checks = [
        *promised,
        Check(
            "data hash", same_data, "the data is the file that was released" if same_data else "the data was changed"
        ),
        Check("policy", whole, f"verified against {same}" if whole else "the manifest's policy was changed"),
        Check("records", table.total == manifest.written, f"{table.total:,} of {manifest.written:,} records"),
        Check("columns", present == names, f"{len(present)} of {len(names)} columns in their order"),
        *_stored(release, manifest),
        _consistent(manifest),
        _decided(manifest, policy),
        forms_check(manifest.columns, table, policy, manifest.excel_safe),
        *_notation(release, manifest),
        *(_joined(manifest, policy, table) if given else ()),
    ]
    if release.private is not None:
        own = release.private.data_sha256 == release.data_sha256
        same_words = release.private.manifest_sha256 == manifest.digest()
        detail = "data and manifest are those of the private record"
        if not (own and same_words):
            detail = "the data is not the one of the private record" if not own else "the manifest was changed"
        checks.append(Check("private record", own and same_words, detail))
    return checks + _sections(manifest, table, policy) + rescrubbed(table, manifest)


def _stored(release: Release, manifest: Manifest) -> list[Check]:
    """Whether the manifest is that of this table, and the name is that of a table whose rows everybody sees alike."""
    if release.address is None or release.address.table is None:
        return []
    found = database_of(release.address).found(release.address)
    kind = found.kind
    if manifest.stored_in != stored_as(release.address, found):
        return [Check("stored in", False, "the manifest is that of another table, schema, database or of a file")]
    detail = "the table that the manifest names" if kind == "table" else f"the name is that of a {kind}, not of a table"
    return [Check("stored in", kind == "table", detail)]


def _sections(manifest: Manifest, table: Table, policy: Policy) -> list[Check]:
    """What a standard asks for, on the file as it is."""
    if "safe_harbor" not in manifest.sections:
        if manifest.method == "hipaa-safe-harbor":
            return [Check("safe harbor", False, "the manifest lacks its section on safe harbor")]
        return []
    from shoal.standards.hipaa.recheck import recheck_released

    return recheck_released(table, manifest.sections["safe_harbor"], policy)


def _consistent(manifest: Manifest) -> Check:
    """Whether the manifest says the same of a column in all places."""
    odd = [entry.name for entry in manifest.columns if not entry.consistent and not manifest.excel_safe]
    names = [entry.name for entry in manifest.columns]
    odd += sorted({name for name in names if names.count(name) > 1})
    roles = manifest.policy.columns
    odd += [
        entry.name
        for entry in manifest.columns
        if "quasi-identifier" in {entry.role, roles.get(entry.name)} and entry.role != roles.get(entry.name, entry.role)
    ]
    by_policy = decided_names(manifest.policy)
    odd += [
        entry.name
        for entry in manifest.columns
        if entry.form.kind == "as-it-was"
        and (entry.decided_by != "detection") != (entry.name in by_policy)
        and not _by_rule(manifest)
    ]
    odd += [entry.name for entry in manifest.columns if not _fits_method(entry, manifest)]
    detail = "what the manifest says of each column agrees in itself"
    return Check("manifest", not odd, f"contradicts itself: {', '.join(odd[:8])}" if odd else detail)


def _fits_method(entry: ColumnEntry, manifest: Manifest) -> bool:
    """Whether a column has a form that its release can have: methods of anonymisation write none of these forms."""
    if entry.form.kind == "recoded":  # its rules are checked by the section on safe harbor alone
        return "safe_harbor" in manifest.sections
    return entry.form.kind not in ("perturbed", "pseudonym", "shifted") or manifest.method not in METHODS


def _decided(manifest: Manifest, policy: Policy) -> Check:
    """Whether every column that the policy speaks of is there under its name, and no other quasi-identifier."""
    problems = []
    for name, role in policy.columns.items():
        entry = manifest.column(name)
        if role == "identifier":
            if entry is not None and entry.released_as:
                problems.append(f"{name} identifies and is released")
        elif entry is None:
            if role == "quasi-identifier" or name in {n for model in policy.models for n in model.needs}:
                problems.append(f"{name} is not released")
        elif role == "quasi-identifier" and entry.form.kind == "removed":
            problems.append(f"{name} is not released")
        elif entry.form.kind != "removed" and entry.released_as != entry.derived and not manifest.excel_safe:
            problems.append(f"{name} is released under another name")
    if not policy.labels_are_names:
        named = [entry.name for entry in manifest.columns if entry.form.labels_are_names]
        problems += [f"labels of {name} are names, which the policy does not allow" for name in named]
    detail = "all columns of the policy are there under their names"
    return Check("decided columns", not problems, "; ".join(problems[:8]) or detail)


def _joined(manifest: Manifest, policy: Policy, table: Table) -> list[Check]:
    """Whether a manifest takes other texts for missing, for suppressed or for one another than the policy does."""
    problems = []
    for name, found in manifest.policy.types.items():
        given = policy.types.get(name)
        missing, mapped = (set(), set()) if given is None else (set(given.missing), set(given.map.items()))
        if set(found.missing) - missing or set(found.map.items()) - mapped:
            problems.append(f"`types` of {name}: `missing` or `map` names texts that the policy does not name")
    problems += [
        f"{name} has words for missing values and no type in the policy"
        for name in _unsaid(policy, manifest)
        if name in table.columns and texts_of(table[name].values).is_in(list(MISSING_WORDS)).any()
    ]
    written = manifest.output or OutputFormat()
    for setting in ("suppressed_as", "missing_as"):
        said = getattr(written, setting)
        if said not in (None, "*", getattr(policy.output, setting)):
            problems.append(f"`output`: `{setting}` is not that of the policy, which must name it")
    detail = "; ".join(problems[:8])
    return [Check("texts", False, f"the manifest takes texts for others than they are: {detail}")] if problems else []


def forms_check(entries: Sequence[ColumnEntry], table: Table, policy: Policy, excel_safe: bool) -> Check:
    """Whether every cell is written as the form of its column says, in the type that was released."""
    problems = []
    for entry in entries:
        for number, name in enumerate(entry.released_as):
            if name not in table.columns:
                continue
            column = table[name]
            kind = type_word(column.dtype)
            if number < len(entry.types) and entry.types[number] != kind:
                problems.append(f"{name} is {kind}, not {entry.types[number]}")
            quasi = "quasi-identifier" in (entry.role, policy.columns.get(entry.name))
            quasi |= entry.form.kind not in ("as-it-was", "perturbed", "recoded")
            odd = not_canonical(column, entry.form) if quasi and not excel_safe else 0
            if odd:
                problems.append(f"{name} has {odd:,} texts that are not written as its form says")
    return Check("forms", not problems, "; ".join(problems[:8]) or "every cell is written as its column's form says")


def _notation(release: Release, manifest: Manifest) -> list[Check]:
    """Whether every cell is written as the manifest's `output` says, so that it means what was judged."""
    if manifest.output is None:
        return []
    odd = release.otherwise_written
    detail = f"cells of {in_words(odd[:8])} are not written as the manifest says" if odd else "as the manifest says"
    return [Check("output", not odd, detail)]


# the original


def _with_original(
    release: Release | None,
    manifest: Manifest | None,
    table: Table,
    original: Table,
    policy: Policy,
    more: KnownById | None,
    spill: Spill | None = None,
    elsewhere: Callable[..., Iterator[Pairs]] | None = None,
) -> list[Check]:
    _check_ordered(table, original)
    if release is not None and release.private is not None and release.private.row_map == NO_ROW_MAP:
        raise InputError(
            "The release was made from rows without an order: which row was which cannot be told again.",
            "Leave out the original, or release again from an ordered input: &order=id.",
            settings="original",
        )
    if release is None or manifest is None:
        entries = inferred_entries(table, original, policy.columns)
        names = [name for entry in entries for name in entry.released_as]
        strange = [name for name in table.columns if name not in names]
        extra = [Check("columns", False, f"{', '.join(strange[:8])} not in the original")] if strange else []
        order = None if spill is not None or elsewhere is not None else np.arange(table.rows)
        pairs = None if elsewhere is None else partial(elsewhere, RowMap())
        return [*extra, *against_original(table, original, entries, Beside(order, spill=spill, elsewhere=pairs))]
    private = release.private
    if (manifest.shuffled or manifest.removed_rows) and private is None:
        return [Check("rows", False, NEEDS_PRIVATE)]
    removed = [] if private is None else private.removed
    if len(set(removed)) != manifest.removed_rows or any(row >= original.total for row in removed):
        return [Check("rows", False, "the rows that were removed are not those that the private record names")]
    seed = private.seed if private is not None and private.shuffled else None
    order = None
    if spill is None and elsewhere is None:
        order = released_order(original.rows, seed, removed)
    if spill is not None:
        original = _in_release_order(original, manifest, seed, removed, spill)
    beside = Beside(
        order,
        {} if release.plan is None else release.plan.trees,
        {} if private is None else private.labels,
        vouched=private is not None
        and private.data_sha256 == release.data_sha256
        and private.manifest_sha256 == manifest.digest(),
        excel_safe=manifest.excel_safe,
        text_file=not tells_empty(release.data),
        removed=len(removed),
        weighed_by=policy.weight or policy.count,
        spill=spill,
        elsewhere=None if elsewhere is None else partial(elsewhere, RowMap(seed, removed)),
    )
    gone = known_gone(table, original, manifest, order, more)
    return [*against_original(table, original, manifest.columns, beside), *gone]


def _check_ordered(table: Table, original: Table) -> None:
    """Refuse rows of which none can be found again."""
    for one in (original, table):
        if engine_of(one).is_ordered(one):
            continue
        cure = "Order them by a key: add &order=id to the address, or order by to the query. When a release is "
        cure += "written, every row is compared before it is committed."
        if engine_of(one).keeps_rows:
            cure = "Write it as files, and name those: rows of a data frame are not numbered, nor are those of a table "
            cure += "with more rows than the driver takes (spark.shoal.driver.tuples)."
        raise InputError(
            f"The rows of {one.name} have no order, so that none can be found in the other table.",
            cure,
            settings="original",
        )


def _beside_original(
    release: Release | None,
    manifest: Manifest | None,
    table: Table,
    original: Table,
    policy: Policy,
    more: KnownById | None,
    options: Options | None,
) -> list[Check]:
    """The rows against the original's; those on disk with more disk for another order of theirs."""
    if not (is_on_disk(table) or is_on_disk(original)):
        return _with_original(release, manifest, table, original, policy, more)
    asked = options or Options()
    with Spill(asked.memory, asked.spill_dir) as spill:
        spill.start(original.rows * (16 + sum(column.codes.itemsize for column in original.columns.values())))
        return _with_original(release, manifest, table, original, policy, more, spill)


def _in_release_order(
    original: Table, manifest: Manifest, seed: int | None, removed: Sequence[int], spill: Spill
) -> Table:
    """The original with its rows as the release has them; columns that were removed from it stay where they are."""
    names = [name for name in original.names if (entry := manifest.column(name)) is not None and entry.released_as]
    ordered = in_release_order(original.select(names), original.rows, seed, removed, spill)
    return replace(original, columns={**original.columns, **dict(zip(names, ordered, strict=True))})
