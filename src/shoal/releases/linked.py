"""The release of tables that belong together: written, joined again as they were written, and judged as one."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from shoal.detection.undecided import decisions_about
from shoal.errors import InputError
from shoal.methods.linked import LinkedResult
from shoal.methods.pseudonyms.pseudonymize import keyed, texts_of
from shoal.policy import Policy
from shoal.policy.judgement.linked_tables import LinkedTables, judge_views, read_linked
from shoal.policy.judgement.shown_classes import Check
from shoal.policy.manifest import ColumnEntry
from shoal.policy.relations import Relations
from shoal.ranges.hierarchy import Hierarchy
from shoal.ranges.hierarchy.given import given_hierarchies, rows_of
from shoal.releases.beside_table import as_the_file_spells
from shoal.releases.original import ReleaseContext, against_original
from shoal.releases.results import NEEDS_PRIVATE, Verification
from shoal.releases.table_set import TablesDraft, TableSet
from shoal.releases.write import Refused
from shoal.storage import Array, Table
from shoal.storage.order import shuffled_order
from shoal.storage.reading import Options

ONE_WHOLE = "whose row each is"


def draft_of(result: LinkedResult, findings: Mapping[str, Any]) -> TablesDraft:
    """What is released of tables that were anonymised together; columns that nobody decided on stop it."""
    notes = []
    for name, table in result.linked.tables.items():
        told = result.linked.relations.tables[name]
        undecided = [column for column in table.names if column not in told.columns and column not in told.keys]
        decided = decisions_about(table, undecided, told.with_role("other"), told.with_role("quasi-identifier"))
        if decided.stopping:
            what = "\n  ".join(f"{name}.{one.column}: {one.reason}" for one in decided.stopping)
            raise Refused(
                f"Refused, nothing was written. Nobody decided on columns that point at people:\n  {what}\n"
                "Give each a role in the policy's relations: identifier (removed), quasi-identifier, sensitive, other."
            )
        notes += [f"{name}: {note}" for note in decided.notes]
        if left := [one.column for one in decided.undecided_columns]:
            notes.append(f"{name}: nobody decided on {', '.join(left)}, which leave as they are")
    tables = result.tables
    private = {
        "key": result.secret.hex(),
        "seed": result.seed,
        "rows": {name: packed(table.rows) for name, table in tables.items()},
        # what the labels of nodes hold
        "trees": {name: rows_of(tree) for name, tree in result.trees.items()},
    }
    policy = _self_contained(result.policy)
    return TablesDraft(
        "linked",
        {name: table.frame for name, table in tables.items()},
        {name: table.columns for name, table in tables.items()},
        policy,
        {"groups": result.groups},
        {**findings, "tables": {name: table.figures for name, table in tables.items()}},
        private,
        notes,
        lambda written: _checked(written, result, policy),
    )


def _self_contained(policy: Policy) -> Policy:
    """The policy with its trees, so that no file is read on the word of a manifest."""
    if not policy.hierarchies or policy.relations is None:
        return policy
    given = given_hierarchies(policy.hierarchies, policy.relations.quasi_identifiers())
    return policy.model_copy(update={"hierarchies": {name: rows_of(tree) for name, tree in given.items()}})


def _checked(written: Mapping[str, Table], result: LinkedResult, policy: Policy) -> Verification:
    """The written tables, joined again; and each row against the one that it was."""
    found = judged(written, policy)
    checks = list(found.checks)
    for place, (name, table) in enumerate(result.tables.items()):
        rows = np.searchsorted(result.linked.rows[name], table.rows)
        order = rows[shuffled_order(len(rows), result.seed + place)]
        original = result.linked.tables[name].take(order)
        checks += _against(name, written[name], original, table.columns, result.trees)
    return _verification(found, checks)


def _against(
    name: str, written: Table, original: Table, columns: Sequence[ColumnEntry], trees: Mapping[str, Hierarchy]
) -> list[Check]:
    """The cells of one table against the rows that they were; what does not hold is named."""
    entries = [entry for entry in columns if entry.form.kind != "pseudonym"]
    kept = {entry.name for entry in entries}
    own = Table({key: column for key, column in original.columns.items() if key in kept}, original.rows)
    shown = Table({key: column for key, column in written.columns.items() if key in kept}, written.rows)
    named = {tree.partition(".")[2]: found for tree, found in trees.items() if tree.startswith(f"{name}.")}
    checks = against_original(shown, own, entries, ReleaseContext(None, named, {}, True, text_file=True))
    return [Check(f"{name}, {check.name}", check.holds, check.detail) for check in checks if not check.holds]


def _verification(found: Verification, checks: list[Check]) -> Verification:
    holds = all(one.holds for one in found.models) and all(one.holds for one in checks)
    return Verification(
        "holds" if holds else "refused",
        found.records,
        found.k,
        0,
        found.models,
        checks,
        None,
        found.classes,
        found.uniques,
    )


def judged(tables: Mapping[str, Table], policy: Policy) -> Verification:
    """Tables as they are written: keys name rows, every row is one person's, and the models hold on persons' views."""
    assert policy.relations is not None
    relations = policy.relations
    _check_columns(tables, relations)
    spelled = {
        name: as_the_file_spells(table, relations.tables[name].with_role("quasi-identifier"))
        for name, table in tables.items()
    }
    linked = LinkedTables.of(relations, spelled)
    views = judge_views(linked, policy)
    dangling = sum(
        int((found < 0).sum()) - linked.tables[one.table][one.column].nulls for one, found in linked.parents.items()
    )
    nobody, shared = sum(linked.orphans.values()), _shared(linked)
    checks = [
        Check("references", not dangling, f"{dangling:,} name no row" if dangling else "all name a row, or none"),
        Check(
            ONE_WHOLE,
            not nobody and not shared,
            f"{nobody:,} rows are nobody's, {shared:,} of several persons"
            if nobody or shared
            else "every row is one person's",
        ),
    ]
    k = int(views.sizes.min()) if len(views.sizes) else 0
    uniques = int((views.sizes == 1).sum())
    records = linked.persons
    first = Verification("", records, k, 0, views.models, checks, None, len(views.sizes), uniques)
    return _verification(first, checks)


def _check_columns(tables: Mapping[str, Table], relations: Relations) -> None:
    for name, told in relations.tables.items():
        if name not in tables:
            raise InputError(f"The release has no table {name}.", "Give the policy that it was made by.")
        tables[name].select([column for column, role in told.columns.items() if role != "identifier"])


def _shared(linked: LinkedTables) -> int:
    """Rows that more than one person reaches, along references in either direction."""
    whose = {name: np.full(table.rows, -1) for name, table in linked.tables.items()}
    several = {name: np.zeros(table.rows, bool) for name, table in linked.tables.items()}
    for name, (persons, rows) in linked.owners.items():
        whose[name][rows] = persons
        several[name][rows] = whose[name][rows] != persons
    for one, row in linked.parents.items():
        named = np.flatnonzero(row >= 0)
        several[one.table][named] |= whose[one.table][named] != whose[one.target][row[named]]
    return sum(int(found.sum()) for found in several.values())


def verify_linked(release: TableSet, policy: Policy, original: Any, options: Options | None) -> Verification:
    """A release of tables that belong together, read again; with its original row by row, and key by key."""
    if policy.relations is None:
        raise InputError("The policy has no `relations`: nothing says how the tables belong together.", "Add them.")
    found = judged(release.tables, policy)
    if original is None:
        return found
    private = release.private
    if private is None:
        return _verification(found, [*found.checks, Check("rows", False, NEEDS_PRIVATE)])
    checks = list(found.checks)
    tables = read_linked(original, policy.relations, options)
    before, trees = {}, given_hierarchies(private["trees"], list(private["trees"]))
    for place, (name, entry) in enumerate(release.manifest.tables.items()):
        rows = unpacked(private["rows"][name])
        if (
            len(rows) != entry.rows
            or rows.max(initial=-1) >= tables[name].rows
            or release.tables[name].rows != entry.rows
        ):
            return _verification(found, [*checks, Check(f"{name}, rows", False, "not those of the private record")])
        before[name] = rows[shuffled_order(len(rows), int(private["seed"]) + place)]
        checks += _against(name, release.tables[name], tables[name].take(before[name]), entry.columns, trees)
    checks += _keys(release, policy.relations, tables, before, bytes.fromhex(private["key"]))
    if len(checks) == len(found.checks):
        checks.append(
            Check("original", True, "every cell holds what its row was, and every reference leads where it led")
        )
    return _verification(found, checks)


def _keys(
    release: TableSet, relations: Relations, tables: Mapping[str, Table], before: Mapping[str, Array], secret: bytes
) -> list[Check]:
    """Keys are the pseudonyms of those that they were, and references lead to the rows that they led to."""
    linked, checks = LinkedTables.of(relations, release.tables), []
    original = {}
    whole = LinkedTables.of(relations, tables)
    for one, found in whole.parents.items():
        number = np.append(whole.rows[one.target], -1)
        of_row = np.full(tables[one.table].rows, -1)
        of_row[whole.rows[one.table]] = number[found]
        original[one] = of_row
    for one, found in linked.parents.items():
        if any(linked.orphans.values()):
            break
        target = np.append(before[one.target], -1)[found]
        wrong = int(((found >= 0) & (target != original[one][before[one.table]])).sum())
        if wrong:
            checks.append(Check(f"{one.table}.{one.column}", False, f"{wrong:,} lead to another row than before"))
    for name, told in relations.tables.items():
        if told.key is None or name not in relations.owned:
            continue
        texts = texts_of(tables[name][told.key].decode()[before[name]]).to_list()
        names = keyed([name.encode() + b"\0" + text for text in texts], secret, "blake2b", "short")
        if not names.equals(release.tables[name][told.key].decode().cast(names.dtype)):
            checks.append(Check(f"{name}.{told.key}", False, "not the pseudonyms of the keys that were there"))
    return checks


def packed(rows: Array) -> str:
    """Row numbers as a text: their differences, compressed.

    >>> unpacked(packed(np.array([3, 4, 9]))).tolist()
    [3, 4, 9]
    """
    differences = np.diff(rows.astype(np.int64), prepend=0).astype("<i8")
    return base64.b64encode(zlib.compress(differences.tobytes())).decode()


def unpacked(text: str) -> Array:
    """The row numbers again."""
    return np.cumsum(np.frombuffer(zlib.decompress(base64.b64decode(text)), "<i8"))
