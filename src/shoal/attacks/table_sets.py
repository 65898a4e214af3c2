"""Attacks on releases of several tables: each kind has its own, one battery runs them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from shoal.attacks.base import AttackOutcome, AttackResult, verdicts_of
from shoal.errors import InputError, Message
from shoal.methods.anatomy import COUNT, GROUP, QUASI_IDENTIFIERS, SENSITIVE
from shoal.policy import Policy, as_policy
from shoal.policy.judgement.linked_tables import LinkedTables, read_linked
from shoal.releases.linked import unpacked
from shoal.releases.table_set import TableSet
from shoal.storage import Array
from shoal.storage.order import shuffled_order
from shoal.storage.reading import Options, read
from shoal.verbs.attacking import AttackAllRequest
from shoal.vocabulary import Role


def attack_tables(release: TableSet, asked: AttackAllRequest) -> AttackResult:
    """Every attack on a release of several tables."""
    if asked.id_column is not None or asked.targets_out is not None:
        raise InputError(
            "Attacks on several tables know people by the policy's keys, and write no rows.",
            Message("Leave out `{id_column}` and `{targets_out}`."),
        )
    policy = release.manifest.policy if asked.policy is None else as_policy(asked.policy)
    if release.manifest.kind == "anatomy":
        outcomes = _on_anatomy(release, policy, asked)
    else:
        outcomes = _on_linked(release, policy, asked)
    without = "" if asked.original is not None else "Attacks on people need the original."
    return AttackResult(outcomes, verdicts_of(outcomes, policy.attacks), asked.seed, without=without)


def _on_anatomy(release: TableSet, policy: Policy, asked: AttackAllRequest) -> list[AttackOutcome]:
    """Who is in the table, by the exact quasi-identifiers; and which value somebody has, guessed in their group."""
    exact, apart = (read(release.source_of(name)) for name in (QUASI_IDENTIFIERS, SENSITIVE))
    cells = pl.DataFrame({"group": apart[GROUP].decode(), "count": apart[COUNT].decode()})
    guess = cells.group_by("group").agg((pl.col("count").max() / pl.col("count").sum()).alias("share"))
    of_row = pl.DataFrame({"group": exact[GROUP].decode()}).join(guess, on="group", how="left", maintain_order="left")
    column, counts = apart[policy.sensitive[0]], cells["count"].to_numpy()
    usual = float(np.bincount(column.codes, counts).max() / exact.rows)
    value_note = "the exact quasi-identifiers lead to the group of everybody in the table"
    outcomes = [
        AttackOutcome.of(
            "group-guess", "inference", of_row["share"].fill_null(0).to_numpy(), baseline=usual, chance=usual,
            notes=[value_note],
        )
    ]  # fmt: skip
    if asked.original is None:
        return outcomes
    names = policy.quasi_identifiers
    people = _tuples(asked.original, names, asked.options)
    if asked.control is None:  # half of the people are the table, the other half are not in it
        mixed = people[np.random.default_rng(asked.seed).permutation(len(people))]
        there, targets, others = mixed[::2], mixed[::2], mixed[1::2]
        notes = ["control: half of the people, against the table of the other half"]
    else:
        there = exact.to_polars().select(pl.col(names).cast(pl.String))
        targets, others, notes = people, _tuples(asked.control, names, asked.options), []
    found, control = (_among(some.head(asked.targets), there, names) for some in (targets, others))
    return [AttackOutcome.of("presence", "membership", found, control, notes=notes), *outcomes]


def _tuples(source: Any, names: Sequence[str], options: Options | None) -> pl.DataFrame:
    table = read(source, list(names), options)
    return table.to_polars().select(pl.col(names).cast(pl.String))


def _among(people: pl.DataFrame, there: pl.DataFrame, names: Sequence[str]) -> Array:
    """Whether each person's quasi-identifiers stand in a table (1) or not (0)."""
    known = there.unique().with_columns(pl.lit(1.0).alias("found"))
    met = people.join(known, on=list(names), how="left", nulls_equal=True, maintain_order="left", suffix="_")
    return met.get_column("found").fill_null(0.0).to_numpy()


# Tables that were released together: the persons, with how many rows they have in each table.


def _on_linked(release: TableSet, policy: Policy, asked: AttackAllRequest) -> list[AttackOutcome]:
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
