"""Measure a released file afresh against its policy; with the original beside it, row by row."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.engine import engine_of, rows_where_they_are
from shoal.engine.base import Pairs, RowMap
from shoal.errors import InputError, Message
from shoal.models import KAnonymity, KMatching
from shoal.models.base import PeopleEstimate
from shoal.models.k_matching import readings_of
from shoal.policy import Policy, as_policy
from shoal.policy.judgement.evidence import evidence_of
from shoal.policy.judgement.shown_classes import Check
from shoal.policy.manifest import (
    NO_ROW_MAP,
    PERSONAL,
    PRIVATE_TABLE,
    Manifest,
    decided_names,
    names_as_released,
)
from shoal.ranges.hierarchy.given import given_hierarchies
from shoal.releases.beside_table import as_the_file_spells, beside_the_table, written_again
from shoal.releases.distinct import distinct_suppressed, in_release_order, is_on_disk
from shoal.releases.documents import as_published
from shoal.releases.manifest_checks import against_manifest, by_rule, undecided_check, unsaid
from shoal.releases.open import Release
from shoal.releases.original import ReleaseContext, against_original, inferred_entries
from shoal.releases.published import figures_check, files_check
from shoal.releases.results import NEEDS_PRIVATE, Verification
from shoal.releases.signing import check_signature
from shoal.releases.treatment import sensitive_columns, suppressed_check, suppressed_rows
from shoal.storage import Table
from shoal.storage.column_type import ColumnType
from shoal.storage.databases import is_database
from shoal.storage.formats.cells import defused_name
from shoal.storage.order import released_order
from shoal.storage.reading import Options, declaring, read
from shoal.storage.reading.files import is_address
from shoal.storage.spill import Spill
from shoal.storage.writing import OutputFormat, tells_empty
from shoal.wording import in_words

if TYPE_CHECKING:
    from shoal.methods.scrubbing.knowledge import KnownFrom
    from shoal.releases.scrubbed_notes import KnownById


# A released file beside the table that it was made from, in memory or on disk, with what its private record knows.


def with_original(
    release: Release | None,
    manifest: Manifest | None,
    table: Table,
    original: Table,
    policy: Policy,
    more: KnownById | None,
    spill: Spill | None = None,
    elsewhere: Callable[..., Iterator[Pairs]] | None = None,
    recoded: Mapping[str, pl.Series] | None = None,
) -> list[Check]:
    """The rows of a release against those of its original; `elsewhere`: the pairs of rows that an engine has;
    `recoded`: what rules make of the original's columns."""
    _check_ordered(table, original)
    if release is not None and release.private is not None and release.private.row_map == NO_ROW_MAP:
        raise InputError(
            "The release was made from rows without an order: which row was which cannot be told again.",
            Message("Leave out the {original}, or release again from an ordered input: &order=id."),
        )
    if release is None or manifest is None:
        entries = inferred_entries(table, original, policy.columns)
        names = [name for entry in entries for name in entry.released_as]
        strange = [name for name in table.columns if name not in names]
        extra = [Check("columns", False, f"{', '.join(strange[:8])} not in the original")] if strange else []
        order = None if spill is not None or elsewhere is not None else np.arange(table.rows)
        pairs = None if elsewhere is None else partial(elsewhere, RowMap())
        return [
            *extra,
            *against_original(table, original, entries, ReleaseContext(order, spill=spill, elsewhere=pairs)),
        ]
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
    person, days = manifest.parameters.get("person"), manifest.parameters.get("range")
    shifted = None
    if manifest.method == "shift-dates" and isinstance(days, int) and original.has(str(person)):
        whose = original[str(person)]
        shifted = (whose if order is None else whose.take(order)), days
    beside = ReleaseContext(
        order,
        {
            **given_hierarchies(manifest.policy.hierarchies, policy.set_columns),
            **given_hierarchies(policy.hierarchies, policy.set_columns),
            **({} if release.plan is None else release.plan.trees),
        },
        {} if private is None else private.labels,
        vouched=release.is_vouched,
        excel_safe=manifest.excel_safe,
        text_file=not tells_empty(release.data),
        removed=len(removed),
        weighed_by=policy.weight or policy.count,
        spill=spill,
        elsewhere=None if elsewhere is None else partial(elsewhere, RowMap(seed, removed)),
        shifted=shifted,
        recoded=recoded or {},
    )
    # which rows are suppressed is told by the quasi-identifiers of the policy that is held against the file
    roles = [
        entry.model_copy(update={"role": policy.columns.get(entry.name, entry.role)}) for entry in manifest.columns
    ]
    checks = against_original(table, original, roles, beside)
    if not any(entry.form.kind == "scrubbed" for entry in manifest.columns):
        return checks
    from shoal.releases.scrubbed_notes import known_gone

    return [*checks, *known_gone(table, original, manifest, order, more)]


def _check_ordered(table: Table, original: Table) -> None:
    """Refuse rows of which none can be found again."""
    for one in (original, table):
        if engine_of(one).is_ordered(one):
            continue
        cure = "Order them by a key: add &order=id to the address, or order by to the query. When a release is "
        cure += "written, every row is compared before it is committed."
        if engine_of(one).keeps_rows:
            cure = "Write it as files, and name those: rows of a data frame are not numbered."
        raise InputError(
            Message(
                "The rows of {} have no order, so that none can be found in the other table ({original}).", one.name
            ),
            cure,
        )


def beside_original(
    release: Release | None,
    manifest: Manifest | None,
    table: Table,
    original: Table,
    policy: Policy,
    more: KnownById | None,
    options: Options | None,
    recoded: Mapping[str, pl.Series],
) -> list[Check]:
    """The rows against the original's; those on disk with more disk for another order of theirs."""
    if not (is_on_disk(table) or is_on_disk(original)):
        return with_original(release, manifest, table, original, policy, more, recoded=recoded)
    asked = options or Options()
    with Spill(asked.memory, asked.spill_dir) as spill:
        spill.start(original.rows * (16 + sum(column.codes.itemsize for column in original.columns.values())))
        return with_original(release, manifest, table, original, policy, more, spill)


def _in_release_order(
    original: Table, manifest: Manifest, seed: int | None, removed: Sequence[int], spill: Spill
) -> Table:
    """The original with its rows as the release has them; columns that were removed from it stay where they are."""
    names = [name for name in original.names if (entry := manifest.column(name)) is not None and entry.released_as]
    ordered = in_release_order(original.select(names), original.rows, seed, removed, spill)
    return replace(original, columns={**original.columns, **dict(zip(names, ordered, strict=True))})


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

    What is believed is the policy that is given, the file as it is, and a signature that holds. What a manifest beside
    the file says is compared with what follows from these, or reported as claimed: the hash of the data, the policy,
    the counts, and that every cell is written as its column's form says. With a policy, a column on which it is silent
    is looked at as one that nobody decided on. With the original and the private record beside the release, every cell
    must hold its record's value, no other column may differ, no row may be lost. `signed_by`: the public key by which
    the manifest must be signed. `known_from`: the values by id that `shoal.scrub` looked for in notes, to be looked for
    again.
    """
    if known_from is not None and original is None:
        raise InputError(
            Message("{known_from} is given without the {original}, whose ids say whose note is whose."), "Give both."
        )
    more = None if known_from is None else _known(known_from)
    of_original = options or Options()
    options = replace(of_original, second_reader=True)
    release = _release(source, options)
    manifest = None if release is None else release.manifest_or_none
    if release is not None and manifest is not None and manifest.method == PRIVATE_TABLE:
        from shoal.releases.private_table import verify_private_table

        return verify_private_table(release, manifest, policy, original, signed_by, Path(source).is_dir())
    decided = _policy(policy, manifest)
    if not decided.models and decided.leak is None and not (manifest and manifest.no_guarantee):
        raise InputError("The policy names no model: there is nothing to verify.", "Add a model such as k-anonymity.")
    given = policy is not None
    types = _types(decided, manifest, given)
    if policy is None and release is not None:
        types = {**types, **release.whole_types}
    asked_of = decided.quasi_identifiers
    if not given and not asked_of and manifest is not None:
        asked_of = list(manifest.quasi_identifiers)
    names = asked_of if manifest is None else names_as_released(asked_of, manifest.released_names)
    engine = engine_of(source, options)
    if engine.keeps_rows and decided.set_columns:
        raise InputError("Items and events are judged on one machine.", "Read the release as a file.")
    if release is None or engine.keeps_rows:
        where = source if release is None or release.address is not None else release.data
        needed = [*names, *decided.sensitive, *decided.set_columns, *decided.needed, *decided.counted_by]
        reading = declaring(options, types, released=True, only_empty=names)
        by_row = original is not None or (manifest is not None and by_rule(manifest))
        joined = None if by_row else by_tuple(decided)
        by_part = 0 if engine.keeps_rows and class_sizes_suffice(decided) else None
        table = rows_where_they_are(engine, where, reading, list(dict.fromkeys(needed)), joined, by_part)
    else:
        table = release.table_by(types, [*names, *unsaid(decided, manifest)])
    checks = [] if signed_by is None else [check_signature(manifest, signed_by)]
    vouched = release is not None and manifest is not None and release.is_vouched
    signed = vouched or (bool(checks) and checks[0].holds)
    if release is not None and manifest is not None:
        checks += against_manifest(release, manifest, decided, given, signed, table)
        checks += [] if release.address else files_check(release.data, manifest, Path(source).is_dir())
    elif release is not None:
        table = as_the_file_spells(table, names)
    if release is not None and release.address is None:
        checks += beside_the_table(release.data, table)
        checks += [] if manifest is None else written_again(release.data, manifest.output or OutputFormat())
    checks += _undecided(table, decided, manifest, names, given)
    absent = [name for name in names if name not in table.columns]
    if absent and manifest is not None:  # a check that says so stands there already
        return Verification("refused", table.total, 0, 0, [], checks)
    if original is not None:
        readings = (declaring(options, types, released=True, only_empty=names), declaring(of_original, types))
        if engine.keeps_rows:
            beside = engine.rows(original, None, readings[1], needed=[])
            asked = partial(engine.pairs, table, beside, options=readings)
            checks += with_original(release, manifest, table, beside, decided, more, elsewhere=asked)
        else:
            beside = read(original, None, readings[1])
            again: Mapping[str, pl.Series] = {}
            if manifest is not None and by_rule(manifest):
                from shoal.methods.hipaa.recheck import recoded_again

                again = recoded_again(original, manifest.sections["safe_harbor"], decided, of_original)
            if manifest is not None and manifest.method == "perturb":
                again = _perturbed_again(release, manifest, original, of_original)
            elif manifest is not None and manifest.policy.treat:
                again = _treated_again(release, manifest, beside)
            checks += beside_original(release, manifest, table, beside, decided, more, of_original, again)
    if manifest is None:
        return judge(table, names, decided, checks, declared=False)
    forms = {name: manifest.form_of(name) for name in names}
    raw = [name for name, form in forms.items() if form is not None and not form.generalizes]
    measured = partial(judge, table, names, levels=manifest.levels, raw=raw, drawn=table.total + manifest.removed_rows)
    judged = measured(decided, checks)
    said = figures_check(manifest, _as_claimed(manifest, decided, judged, measured))
    return replace(judged, checks=[*judged.checks, said], verdict=judged.verdict if said.holds else "refused")


def _as_claimed(
    manifest: Manifest, policy: Policy, judged: Verification, measured: Callable[..., Verification]
) -> Verification | None:
    """What is measured where the manifest's own policy is asked; None where that asks for what only it names: another
    count of records, other classes, other tables."""
    own = manifest.policy
    if own.digest() == as_published(policy, manifest).digest():
        return judged
    alike = ("quasi_identifiers", "null_rule", "count", "person", "weight", "types", "set_columns", "items")
    asked = all(getattr(own, name) == getattr(as_published(policy, manifest), name) for name in alike)
    if not asked or any(model.needs_files for model in own.models):
        return None
    return measured(own.model_copy(update={"leak": None}), [])


def by_tuple(policy: Policy) -> int | None:
    """Row count above which duplicates are judged as one tuple: always, where nothing belongs to single records."""
    return None if policy.counted_by or policy.set_columns else 0


def class_sizes_suffice(policy: Policy) -> bool:
    """Whether the sizes of classes are all that a policy asks for, so that no tuple need be looked at."""
    alone = all(isinstance(model, KAnonymity) for model in policy.models)
    odd = policy.leak or policy.set_columns or policy.counted_by or policy.types or policy.null_rule == "wildcard"
    return alone and not odd and policy.risk_over == "sample" and bool(policy.quasi_identifiers)


def _perturbed_again(
    release: Release | None, manifest: Manifest, original: Any, options: Options
) -> Mapping[str, pl.Series]:
    """The perturbed columns, made anew by what the manifest tells and the seed of the private record."""
    private = None if release is None else release.private
    if private is None or private.perturbation_seed is None:
        return {}
    from shoal.methods.perturbation import perturbed_again

    told, household = manifest.parameters.get("operators"), manifest.policy.household or ""
    return perturbed_again(original, told, private.perturbation_seed, household, options)


def _treated_again(release: Release | None, manifest: Manifest, original: Table) -> Mapping[str, pl.Series]:
    """The columns that the policy treats, made anew with the seed of the private record."""
    private = None if release is None else release.private
    if private is None or private.treatment_seed is None or is_on_disk(original):
        return {}
    from shoal.methods.treat import treated

    try:
        made = treated(original, manifest.policy, private.treatment_seed)[0]
    except InputError:
        return {}
    return {name: made[name].decode() for name in manifest.policy.treat if made.has(name)}


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
    named = [name for model in manifest.policy.models for name in model.needs_files]
    if named:
        raise InputError(
            "The manifest's policy names other tables, which are not read on its word.", "Give the policy yourself."
        )
    return manifest.policy


def _types(policy: Policy, manifest: Manifest | None, of_reader: bool) -> dict[str, ColumnType]:
    """What columns are: as the policy says, and where it leaves the writing open as the release does.

    A manifest cannot make two texts one by this: what is not spelled as its type says is read as it stands, and which
    texts are missing, or stand for others, is for the policy to say. Where a policy is given, the manifest says it of
    quasi-identifiers only: by the type of a sensitive column its values have an order or have none.
    """
    types = {} if manifest is None else {name: joining(found, None) for name, found in manifest.policy.types.items()}
    if of_reader:
        types = {name: said for name, said in types.items() if policy.columns.get(name) == "quasi-identifier"}
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
    starred = [name for name in names if name not in raw]
    checks = [*checks, _leak(table, names, policy, starred)] if policy.leak else list(checks)
    if not names and not policy.models:  # nothing was promised: what was done is checked
        held = all(check.holds for check in checks)
        return Verification("holds" if held else "refused", table.total, 0, 0, [], checks)
    checks += set_checks(policy, names)
    nobody = policy.person is not None and policy.person not in table.columns
    counted = policy.model_copy(update={"person": None}) if nobody else policy
    evidence, suppressed = evidence_of(table, names, counted, levels, starred, drawn)
    if drawn is None and evidence.estimate is not None and evidence.estimate.by == "population_size":
        evidence = replace(evidence, estimate=PeopleEstimate(None, reason=_NOT_KNOWN))
    verdicts = [model.judge(evidence) for model in policy.models]
    if policy.models and nobody:
        detail = Message(
            "column {} is not in the file, so records were counted, not persons: keep it, as a pseudonym, or count "
            "them by `{state}` of a stream",
            policy.person,
        )
        checks.append(Check("persons", False, detail))
    elif suppressed and table.elsewhere is not None:
        rows = f"{suppressed:,} rows are suppressed in every quasi-identifier"
        few = suppressed < max((model.least_members or 1 for model in policy.models), default=1)
        checks.append(Check("suppressed rows", declared or not few, rows))
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


def set_checks(policy: Policy, names: Sequence[str]) -> list[Check]:
    """Models without anything to judge them on, and items or events that no model is about: both are refused."""
    found = []
    if any(not model.of_sets for model in policy.models) and not names:
        found.append(Check("models", False, "there is no quasi-identifier to judge them on"))
    if policy.models and policy.set_columns and not any(model.of_sets for model in policy.models):
        what = in_words(policy.set_columns)
        found.append(Check("items", False, f"no model is about {what}: add km-anonymity, coherence or lkc-privacy"))
    return found


def _of_suppressed(
    table: Table, names: list[str], policy: Policy, raw: Collection[str], declared: bool, drawn: int | None
) -> list[Check]:
    """What suppressed rows give away; of rows on disk by the distinct ones."""
    wildcard = policy.null_rule == "wildcard"
    by_row = (policy.person, policy.count, policy.weight, policy.population_size, policy.sampling)
    if is_on_disk(table) and not any(setting is not None for setting in by_row):
        about = [name for name in sensitive_columns(policy) if name in table.columns]
        table, stars = distinct_suppressed(table, names, raw, wildcard, about)
    else:
        stars = suppressed_rows(table, names, raw, wildcard)
    found = suppressed_check(table, policy, stars, declared, drawn)
    return [] if found is None else [found]


def _undecided(
    table: Table, policy: Policy, manifest: Manifest | None, names: Sequence[str], given: bool
) -> list[Check]:
    """Columns of the file on which the policy is silent, looked at as those that nobody decided on.

    Safe harbor looks at every column by its own rules, where no model is promised besides. Only where the policy is the
    manifest's own do its words on columns count: of those that were changed, and of what stays personal data.
    """
    if manifest is not None and not policy.models and by_rule(manifest):
        return []
    decided = decided_names(policy) | set(names)
    if manifest is not None and not given:
        if not policy.models and manifest.method in PERSONAL:
            return []
        decided |= {name for entry in manifest.columns if entry.form.kind != "as-it-was" for name in entry.released_as}
    decided |= {defused_name(name) for name in decided}
    return undecided_check(table, decided)


def _leak(table: Table, names: Sequence[str], policy: Policy, starred: Sequence[str]) -> Check:
    from shoal.exposure.leakage.measure import leak_check

    return Check("leak", *leak_check(table, names, policy, starred))


def _known(known_from: KnownFrom) -> KnownById:
    from shoal.methods.scrubbing.knowledge import read_known

    return read_known(known_from)
