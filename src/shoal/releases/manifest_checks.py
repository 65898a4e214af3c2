"""A released file against its manifest: the hash, the policy, the columns and how every cell is written."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from shoal.detection.context import context_of_table
from shoal.detection.undecided import look_at
from shoal.errors import InputError
from shoal.methods import METHODS
from shoal.policy import Policy
from shoal.policy.judgement.shown_classes import Check
from shoal.policy.manifest import (
    ColumnEntry,
    Manifest,
    decided_names,
    dictionary_path,
    read_json,
    stored_as,
    types_by_name,
)
from shoal.ranges.forms import not_canonical
from shoal.releases.documents import as_published, dictionary_of
from shoal.releases.open import Release
from shoal.storage import Table
from shoal.storage.column_type import type_word
from shoal.storage.databases import database_of
from shoal.storage.formats.cells import defused_name, undefused_texts
from shoal.storage.texts import MISSING_WORDS, texts_of
from shoal.storage.writing import OutputFormat
from shoal.wording import in_words


def against_manifest(
    release: Release, manifest: Manifest, policy: Policy, given: bool, signed: bool, table: Table
) -> list[Check]:
    """Whether a release is what its manifest says; `given`: the policy is not the manifest's own word; `signed`: the
    manifest is that of the owner of a key, or of who has the private record."""
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
        *_treated(manifest, policy, table),
        forms_check(manifest.columns, table, policy, manifest.excel_safe),
        parts_check(release, manifest),
        *_notation(release, manifest),
        *(_joined(manifest, policy, table) if given else ()),
    ]
    if release.private is not None:
        own = release.private.data_sha256 == release.data_sha256
        same_words = release.private.manifest_sha256 == manifest.digest()
        detail = "data and manifest are those of the private record"
        if not own:
            detail = "the data is not the one of the private record"
        elif not release.is_vouched:
            detail = "the manifest was changed" if not same_words else "it is not the one that was released"
        checks.append(Check("private record", release.is_vouched, detail))
    return (
        checks + _sections(manifest, table, policy, signed) + _scrubbed(manifest, table) + _perturbed(manifest, table)
    )


def parts_check(release: Release, manifest: Manifest) -> Check:
    """Whether the files beside the data are those that were released, and the dictionary says what the manifest says;
    a plan is its owner's, and need not be there."""
    wrong = release.other_parts
    if "dictionary" not in wrong and _dictionary(release) != dictionary_of(manifest):
        wrong["dictionary"] = "says of columns what the manifest does not"
    detail = "; ".join(f"the {name} {what}" for name, what in wrong.items())
    return Check("parts", not wrong, detail or "dictionary and plan are those that were released")


def _dictionary(release: Release) -> dict[str, Any] | None:
    try:
        return read_json(dictionary_path(release.data), "data dictionary")
    except InputError:
        return None


def _scrubbed(manifest: Manifest, table: Table) -> list[Check]:
    """What is found in notes now, where there are some."""
    if not any(entry.form.kind == "scrubbed" for entry in manifest.columns):
        return []
    from shoal.releases.scrubbed_notes import rescrubbed

    return rescrubbed(table, manifest)


def _perturbed(manifest: Manifest, table: Table) -> list[Check]:
    """Whether perturbed columns have no value that what was done to them cannot leave."""
    if manifest.method != "perturb":
        return []
    from shoal.methods.perturbation import contradicted

    told = manifest.parameters.get("operators")
    wrong = contradicted(table, told)
    named = {entry.get("column") for entry in told if isinstance(entry, dict)} if isinstance(told, list) else set()
    wrong += [entry.name for entry in manifest.columns if (entry.form.kind == "perturbed") != (entry.name in named)]
    fine = "no value that the operators cannot leave; whether they are theirs only the original shows"
    said = f"not as the operators leave them: {in_words(wrong[:8])}" if wrong else fine
    return [Check("perturbed columns", not wrong, said)]


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


def _sections(manifest: Manifest, table: Table, policy: Policy, signed: bool) -> list[Check]:
    """What a standard asks for, on the file as it is."""
    if "safe_harbor" not in manifest.sections:
        if manifest.method == "hipaa-safe-harbor":
            return [Check("safe harbor", False, "the manifest lacks its section on safe harbor")]
        return []
    from shoal.methods.hipaa.recheck import recheck_released

    return recheck_released(table, manifest.sections["safe_harbor"], policy, signed)


def _consistent(manifest: Manifest) -> Check:
    """Whether the manifest says the same of a column in all places."""
    odd = [entry.name for entry in manifest.columns if not entry.consistent or not _has_own_names(entry, manifest)]
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
        and not by_rule(manifest)
    ]
    odd += [entry.name for entry in manifest.columns if not _fits_method(entry, manifest)]
    detail = "what the manifest says of each column agrees in itself"
    return Check("manifest", not odd, f"contradicts itself: {', '.join(odd[:8])}" if odd else detail)


def _has_own_names(entry: ColumnEntry, manifest: Manifest) -> bool:
    """Whether a column is released under its name, or under those of its two ends."""
    return entry.released_as == [defused_name(name) if manifest.excel_safe else name for name in entry.derived]


def _fits_method(entry: ColumnEntry, manifest: Manifest) -> bool:
    """Whether a column has a form that its release can have: methods of anonymisation write none of these forms."""
    if entry.form.kind == "recoded":  # its rules are checked by the section on safe harbor alone
        return "safe_harbor" in manifest.sections
    if entry.technique == (said.method if (said := manifest.policy.treat.get(entry.name)) else None):
        return True
    return entry.form.kind not in ("perturbed", "pseudonym", "shifted") or manifest.method not in METHODS


def _treated(manifest: Manifest, policy: Policy, table: Table) -> list[Check]:
    """Whether columns that the policy treats were, and no other; means are those of as many records as it asks for."""
    entries = {entry.name: entry for entry in manifest.columns}
    changed = {name for name, entry in entries.items() if name in manifest.policy.treat and entry.technique != "none"}
    if not (policy.treat or changed) or manifest.method not in METHODS:
        return []
    problems = [f"{name} was treated, which the policy does not say" for name in sorted(changed - set(policy.treat))]
    for name, said in policy.treat.items():
        entry = entries.get(name)
        if entry is None or entry.technique != said.method or not entry.released_as:
            problems.append(f"{name} was not treated by {said.method}")
        elif (
            said.k is not None and (counts := table[entry.released_as[0]].frequencies()).size and counts.min() < said.k
        ):
            problems.append(f"{name} has means of fewer than {said.k} records")
    return [Check("treated columns", not problems, "; ".join(problems[:8]) or "treated as the policy says")]


# the forms that methods give to quasi-identifiers alone
OF_CLASSES = ("range", "columns", "set", "node", "label", "mean", "midpoint", "suppressed-cells")


def _decided(manifest: Manifest, policy: Policy) -> Check:
    """Whether every column that the policy speaks of is there under its name, and no other quasi-identifier."""
    problems = []
    for name, role in policy.columns.items():
        entry = manifest.column(name)
        if role == "identifier":
            if entry is not None and entry.released_as:
                problems.append(f"{name} identifies and is released")
        elif entry is None:
            if role == "quasi-identifier" or name in policy.needed:
                problems.append(f"{name} is not released")
        elif role == "quasi-identifier" and entry.form.kind == "removed":
            problems.append(f"{name} is not released")
        elif entry.form.kind != "removed" and not _has_own_names(entry, manifest):
            problems.append(f"{name} is released under another name")
    problems += [
        f"{entry.name} is no quasi-identifier, and only these are released in classes"
        for entry in manifest.columns
        if entry.form.kind in OF_CLASSES
        and policy.columns.get(entry.name) != "quasi-identifier"
        and entry.name not in policy.treat
    ]
    problems += [
        f"{entry.name} is scrubbed, and no text to the policy"
        for entry in manifest.columns
        if entry.form.kind == "scrubbed" and policy.models and policy.columns.get(entry.name) != "text"
    ]
    problems += [
        f"{entry.name} holds coarser items, and is no column of items to the policy"
        for entry in manifest.columns
        if entry.form.kind == "items" and entry.name not in policy.set_columns
    ]
    if not policy.labels_are_names:
        named = [entry.name for entry in manifest.columns if entry.form.labels_are_names]
        problems += [f"labels of {name} are names, which the policy does not allow" for name in named]
    detail = "all columns of the policy are there under their names"
    return Check("decided columns", not problems, "; ".join(problems[:8]) or detail)


def _joined(manifest: Manifest, policy: Policy, table: Table) -> list[Check]:
    """Whether a manifest takes other texts for missing, for suppressed or for one another than the policy does."""
    problems = []
    for name, declared_type in manifest.policy.types.items():
        given = policy.types.get(name)
        missing, mapped = (set(), set()) if given is None else (set(given.missing), set(given.map.items()))
        if set(declared_type.missing) - missing or set(declared_type.map.items()) - mapped:
            problems.append(f"`types` of {name}: `missing` or `map` names texts that the policy does not name")
    problems += [
        f"{name} has words for missing values and no type in the policy"
        for name in unsaid(policy, manifest)
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
            if excel_safe and column.values.dtype == pl.String:
                column = replace(column, values=undefused_texts(column.values))
            odd = not_canonical(column, entry.form) if quasi else 0
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


def unsaid(policy: Policy, manifest: Manifest | None) -> list[str]:
    """Columns that models look at and only the manifest has a type for, by which `NA` and its like would be missing."""
    looked_at = set(policy.needed)
    types = {} if manifest is None else manifest.policy.types
    return [name for name in types if name in looked_at and name not in policy.types]


def by_rule(manifest: Manifest) -> bool:
    """Whether a standard decided on every column, and is checked again."""
    return "safe_harbor" in manifest.sections


def undecided_check(table: Table, decided: Collection[str]) -> list[Check]:
    """The columns of a file that nobody decided on, looked at by their values as before a release."""
    context = context_of_table(table)
    undecided = [look_at(table[name], table.total, context) for name in types_by_name(table) if name not in decided]
    if not undecided:
        return []
    lines = "; ".join(entry.in_words().removesuffix(".") for entry in undecided if entry.stops)
    detail = (
        lines or f"nothing in {in_words([entry.column for entry in undecided])} points at people by detection alone"
    )
    return [Check("undecided columns", not lines, detail)]
