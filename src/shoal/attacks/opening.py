"""From what is given to a subject: whose row is whose, whether control people are others, and a twin of a release."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from shoal.attacks.common import check_texts
from shoal.attacks.linking.columns import cells_of
from shoal.attacks.subject import Subject
from shoal.errors import InputError, Message
from shoal.methods import METHODS, Method
from shoal.methods.anonymize import anonymize
from shoal.methods.results import Anonymized
from shoal.policy import Policy, as_policy
from shoal.policy.manifest import PRIVATE_TABLE
from shoal.releases.readable import Readable, readable
from shoal.storage import Array, Table
from shoal.storage.order import released_order
from shoal.storage.reading import Options, declaring, read
from shoal.wording import percent

_SAME_TABLE = "Give the table that the release was made from, unchanged and in its order."
# of the rows, so many lie in their cells at least where the original is the right table
_MOST_HELD = 0.5
UNCHECKED = "whether control people are in the data was not checked: name a person column, or an id column (--id)"


def subject_of(
    source: Any,
    original: Any,
    control: Any,
    policy: Policy | dict[str, Any] | str | Path | None,
    id_column: str | None,
    options: Options | None,
    targets: int,
    seed: int,
) -> Subject:
    """A release with the people in it and, where they are given, people who are not."""
    released = readable(source, options)
    check_data(released)
    if original is None and isinstance(source, Anonymized):
        original = source.table
    if control is not None and original is None:
        raise InputError("There is a control, and no original to hold it against.", "Give the original too.")
    decided = policy_of(source, released, policy)
    _check_attackable(released, decided)
    declared = declaring(options, {**decided.types, **released.types})
    table = None if original is None else read(original, None, declared)
    others = None if control is None else read(control, None, declared)
    if table is not None and others is not None:
        check_apart_people(original, table, control, others, id_column or decided.person)
    knows = tuple(name for name in decided.quasi_identifiers if table is None or name in table.columns)
    if table is not None and not any(name in _names(released) for name in knows):
        raise InputError(
            "The release has none of the policy's quasi-identifiers in common with the original.",
            "Name those that an attacker may know in the policy.",
        )
    written = (*knows, *decided.sensitive)
    for where, people in (("the original", table), ("the control", others)):
        if people is not None:
            check_texts(released, people, written, where)
    place = None if table is None else _place(source, released, table)
    subject = Subject(released, decided, knows, table, others, place, targets, seed)
    check_same_people(subject)
    return subject


def _check_attackable(released: Readable, policy: Policy) -> None:
    manifest = None if released.source is None else released.source.manifest_or_none
    if manifest is not None and manifest.method == PRIVATE_TABLE and manifest.columns[0].technique == "tables":
        raise InputError("Tables of counts hold no records, and these attacks are about records.",
                         "See what an attacker can do at most by `shoal epsilon`.")  # fmt: skip
    if policy.set_columns and not policy.quasi_identifiers:
        raise InputError(
            "These attacks know the quasi-identifiers of people, and the release has sets of items or events.",
            "Attack it by what somebody knows of a set: `shoal attack unicity`, `shoal attack scoreboard`.",
        )


def check_same_people(subject: Subject) -> None:
    """Refuse another table than the one that the release was made from: other rows, or values outside their cells."""
    table, manifest, place = subject.original, subject.manifest, subject.place
    if table is None:
        return
    drawn = manifest is not None and manifest.method == PRIVATE_TABLE  # of such records none is anybody's
    made_from = None if manifest is None or drawn else subject.table.rows + manifest.removed_rows
    if made_from is not None and table.rows != made_from:
        raise InputError(
            f"The original has {table.rows:,} rows, and the release was made from {made_from:,}.", _SAME_TABLE
        )
    if place is None:
        return
    rows = np.flatnonzero(place >= 0)
    held = np.ones(len(rows), bool)
    for name in subject.on:
        cells = cells_of(subject.released, name, table[name], subject.policy.null_rule)
        if cells.kind == "fit":
            codes = table[name].codes[rows]
            held &= cells.holds(place[rows], codes) | (codes == len(table[name].values))
    if len(rows) and held.mean() < _MOST_HELD:
        raise InputError(
            f"{percent(1 - float(held.mean()))} of the original's rows do not lie in the cells released of them.",
            _SAME_TABLE,
        )


def check_data(released: Readable) -> None:
    """Refuse data that is not the file of the manifest beside it: the manifest says how it is to be read."""
    manifest = None if released.source is None else released.source.manifest_or_none
    if released.source is not None and manifest is not None and released.source.data_sha256 != manifest.data_sha256:
        raise InputError(
            "The data is not the file that its manifest is about: the hashes differ.",
            "Take the file that was released, or put the manifest away and give a policy.",
        )


def _names(released: Readable) -> set[str]:
    return {*released.table.names, *released.pairs}


def policy_of(source: Any, released: Readable, given: Policy | dict[str, Any] | str | Path | None) -> Policy:
    """The policy that a release is held against: the one that is given, else that of its manifest."""
    if given is not None:
        found = as_policy(given)
        manifest = None if released.source is None else released.source.manifest_or_none
        if not found.columns and manifest is not None:  # a standard names no columns
            return found.model_copy(update={"columns": manifest.policy.columns, "person": manifest.policy.person})
        return found
    if isinstance(source, Anonymized):
        return source.policy
    if released.source is None:
        raise InputError("There is no policy.", Message("Give a {policy}, or the released file with its manifest."))
    return released.source.policy


def check_apart_people(original: Any, table: Table, control: Any, others: Table, name: str | None) -> None:
    """Refuse control people who are in the data: by person or row id, never by equal values."""
    same = control is original or (
        isinstance(original, (str, Path)) and isinstance(control, (str, Path)) and _one_file(original, control)
    )
    if same:
        raise InputError("The control is the original itself.", "Give people who are not in the data.")
    if not others.rows:
        raise InputError("The control has no rows.", "Give people who are not in the data.")
    if name is None:
        return
    for where, one in (("the original", table), ("the control", others)):
        if name not in one.columns:
            raise InputError(f"Column '{name}' is not in {where}.", "Name a column of both that says whose row it is.")
        if one[name].nulls:
            raise InputError(
                f"Column '{name}' is empty in rows of {where}.",
                "Say whose every row is, or take those rows out: nobody can tell whether the people are others.",
            )
    ours, theirs = _alike(*(one[name].values.cast(str) for one in (table, others)))
    if overlap := int(theirs.is_in(ours.implode()).sum()):
        raise InputError(
            f"{overlap:,} people of the control are in the original, by column '{name}'.",
            "Take them out of the control.",
        )


def _alike(*columns: pl.Series) -> list[pl.Series]:
    """Ids without what files differ in: blanks around them, leading zeros, `.0`; as they are if that makes two one."""
    bare = [
        ids.str.strip_chars().str.replace(r"^(-?\d+)\.0+$", "${1}").str.replace(r"^0+(\d)", "${1}") for ids in columns
    ]
    same = all(one.n_unique() == ids.n_unique() for one, ids in zip(bare, columns, strict=True))
    return bare if same else list(columns)


def _one_file(first: str | Path, second: str | Path) -> bool:
    try:
        return Path(first).samefile(second)
    except OSError:
        return False


def _place(source: Any, released: Readable, table: Table) -> Array | None:
    """The released row of each row of the original; None where nobody knows."""
    if isinstance(source, Anonymized):
        return np.arange(table.rows) if released.table.rows == table.rows else None
    if released.source is None or released.source.manifest_or_none is None:
        return None
    manifest, private = released.source.manifest, released.source.private
    if manifest.method == PRIVATE_TABLE:
        return None
    if (manifest.shuffled or manifest.removed_rows) and private is None:
        return None
    removed = [] if private is None else private.removed
    seed = private.seed if private is not None and private.shuffled else None
    if table.rows - len(removed) != released.table.rows:
        return None
    order = released_order(table.rows, seed, removed)
    place = np.full(table.rows, -1, np.int64)
    place[np.arange(table.rows) if order is None else order] = np.arange(released.table.rows)
    return place


# A twin of a release: half of the people, anonymised by the same policy and method; the other half are the control.
#
# The shipped release holds everybody, so that nobody is left to compare its people with. The twin has such people.


# of a method's parameters, what it found rather than what it was told
_FOUND = ("levels", "plan", "category_trees", "importance")
SMALLEST = 4


def twin_of(subject: Subject, source: Any) -> Subject | str:
    """The twin, or why there is none."""
    original = subject.original
    if original is None:
        return "there is no original to make a twin from"
    if subject.policy.count is not None:
        return "rows stand for many records, which cannot be parted at random"
    name, parameters = _method(subject, source)
    if name not in METHODS:
        return f"no twin can be made by the method {name}"
    ours = halves(original, subject.policy.person, subject.seed)
    if min(ours.sum(), (~ours).sum()) < SMALLEST:
        return "there are too few people for a twin"
    inside, outside = original.take(np.flatnonzero(ours)), original.take(np.flatnonzero(~ours))
    try:
        made = anonymize(inside, _policy(subject, source), method=method_of(name, parameters))
    except InputError as error:
        return f"half of the people cannot be anonymised by the same policy ({error.what})"
    if made.verdict == "refused":
        return "half of the people cannot be anonymised by the same policy"
    released = readable(made)
    place = np.arange(inside.rows) if released.table.rows == inside.rows else None
    return replace(subject, released=released, original=inside, control=outside, place=place)


def _policy(subject: Subject, source: Any) -> Policy:
    """The policy that the release was made for, whatever it is held against now."""
    if isinstance(source, Anonymized):
        return source.policy
    return subject.policy if subject.manifest is None else subject.manifest.policy


def _method(subject: Subject, source: Any) -> tuple[str, dict[str, Any]]:
    if isinstance(source, Anonymized):
        return source.method, source.parameters
    if subject.manifest is None:
        section = subject.policy.method
        return ("that nobody names", {}) if section is None else (section.name, section.options)
    return subject.manifest.method, dict(subject.manifest.parameters)


def method_of(name: str, parameters: dict[str, Any]) -> Method | str:
    """The method with the options that a release says it was made with; by its name where they are not all known."""
    kind = METHODS[name]
    told = {key: value for key, value in parameters.items() if key in kind.model_fields and key not in _FOUND}
    try:
        return kind(**{key: value for key, value in told.items() if value is not None})
    except ValueError:
        return name


def halves(table: Table, person: str | None, seed: int) -> Array:
    """Which rows belong to the half that is released: a random half of the people, each with all rows.

    >>> from shoal.storage.reading import read
    >>> int(halves(read({"age": [1, 2, 3, 4]}), None, 0).sum())
    2
    """
    generator = np.random.default_rng(seed)
    if person is None or person not in table.columns:
        chosen = np.zeros(table.rows, bool)
        chosen[generator.permutation(table.rows)[: table.rows // 2]] = True
        return chosen
    column = table[person]
    drawn = np.zeros(column.cardinality, bool)
    drawn[generator.permutation(column.cardinality)[: column.cardinality // 2]] = True
    return np.asarray(drawn[column.codes])
