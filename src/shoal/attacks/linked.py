"""Attacks on tables that were released together: the persons, with how many rows they have in each table."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from shoal.attacks.base import AttackOutcome
from shoal.errors import InputError, Message
from shoal.policy import Policy
from shoal.policy.judgement.linked_tables import LinkedTables, read_linked
from shoal.releases.linked import unpacked
from shoal.releases.table_set import TableSet
from shoal.storage import Array
from shoal.storage.order import shuffled_order
from shoal.verbs.attacking import AttackAllRequest
from shoal.vocabulary import Role


def on_linked(release: TableSet, policy: Policy, asked: AttackAllRequest) -> list[AttackOutcome]:
    """The battery on a table of persons: their own columns, and the number of their rows in every other table.

    A released number may be less than that of the person, for rows are suppressed: it is read as `that many or more`.
    """
    from shoal.attacks.battery import battery
    from shoal.attacks.opening import subject_of

    if policy.relations is None:
        raise InputError("The policy has no `relations`: nothing says how the tables belong together.", "Add them.")
    if asked.control is not None:
        raise InputError("Attacks on several tables take no control.", Message("Leave out `{control}`."))
    if asked.original is None:
        return []
    private = release.private
    if private is None:
        raise InputError(
            "Whose released rows are whose is in the private record, which is not beside the release.",
            "Attack it where its owner's folder is.",
        )
    relations, person = policy.relations, policy.relations.person
    tables = read_linked(asked.original, relations, asked.options)
    before = LinkedTables.of(relations, tables)
    after = LinkedTables.of(relations, release.tables)
    place = list(release.manifest.tables).index(person)
    rows = unpacked(private["rows"][person])
    rows = rows[shuffled_order(len(rows), int(private["seed"]) + place)]
    own = relations.tables[person]
    roles: dict[str, Role] = {name: role for name, role in own.columns.items() if role != "identifier"}
    people, shown = {}, {}
    for name in roles:
        people[name] = tables[person][name].decode()[rows]
        shown[name] = after.tables[person][name].decode()
    for name, (known, told) in _rows_of_persons(before, after).items():
        column = f"rows of {name}"
        roles[column] = "quasi-identifier"
        most = int(known.max(initial=0))
        people[column] = pl.Series(known[rows])
        shown[column] = pl.Series([f"[{least};{most}]" if least < most else str(most) for least in told.tolist()])
    asked_of = Policy(columns=roles, models=[model for model in policy.models if not model.needs])
    subject = subject_of(
        pl.DataFrame(shown), pl.DataFrame(people), None, asked_of, None, None, asked.targets, asked.seed
    )
    return battery(subject)


def _rows_of_persons(before: LinkedTables, after: LinkedTables) -> Mapping[str, tuple[Array, Array]]:
    """How many rows each person has in each table of their own, in the original and in the release."""
    found = {}
    for name in before.relations.owned[1:]:
        counts = [np.bincount(one.owners[name][0], minlength=one.persons) for one in (before, after)]
        found[name] = (counts[0], counts[1])
    return found
