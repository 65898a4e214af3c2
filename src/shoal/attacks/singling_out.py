"""Singling out: a condition read off the release that exactly one person of the population meets.

After Giomi et al. 2022 and Cohen and Nissim 2020. The attacker takes a released record and as many of its cells, in a
random order of columns, as make it the only such record of the release. The condition succeeds if exactly one person of
the original meets it; the control is a population of the same size of people who are not in the data, because how
often one meets a condition depends on how many there are. Where the control is smaller, so many people of the original
are taken, and the conditions from their records.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import ClassVar

import numpy as np

from shoal.attacks.base import Attack, AttackOutcome, Criterion
from shoal.attacks.common import released_columns
from shoal.attacks.linking.columns import ReleasedCells, as_places, cells_of
from shoal.attacks.linking.link import masks_of
from shoal.attacks.subject import Subject, person_of_row
from shoal.policy import Policy
from shoal.storage import Array, Table
from shoal.storage.classes import Coded, class_of_each_row, first_row_of_each_class, pack, sorted_with_order
from shoal.threads import in_threads, processors
from shoal.wording import percent

# random orders in which columns are added to conditions
_ORDERS = 8
# so few conditions are not worth a thread
_FEW = 100


@dataclass(frozen=True)
class Conditions:
    """Cells of released rows: condition c asks in the columns `uses[c]` for what row `rows[c, column]` has there;
    `sharp` where only that record has it."""

    rows: Array
    uses: Array
    sharp: Array


class SinglingOut(Attack):
    """The attacker sees the release and nothing else, and looks for conditions that isolate somebody."""

    name: ClassVar[str] = "singling-out"
    criterion: ClassVar[Criterion] = "singling-out"
    knows: ClassVar[str] = "Sees the released table and nothing else, and combines its values to conditions."
    success: ClassVar[str] = "A condition fits exactly one person."

    def skips(self, subject: Subject) -> str | None:
        """Conditions need people who meet them."""
        if subject.original is None:
            return "there is no original"
        return None if columns_of(subject) else "the release has no column of the original"

    def run(self, subject: Subject) -> AttackOutcome:
        """Conditions from random records, asked of the people in the data and of as many who are not."""
        assert subject.original is not None
        names, generator = columns_of(subject), np.random.default_rng(subject.seed)
        kept, theirs = populations(subject, generator)
        ours, among = subject.original.take(kept), np.arange(subject.table.rows)
        if subject.place is not None:
            among = np.sort(subject.place[kept][subject.place[kept] >= 0])
        conditions = conditions_of(subject, names, min(subject.targets, len(among)), generator, among)
        mixed = replace(conditions, rows=generator.permuted(conditions.rows, axis=0))
        inside = QueriedPeople.of(subject, names, ours)
        scores, least = isolated(inside, conditions), None
        notes = (
            ["a condition that fits several released records counts as failed"] if not conditions.sharp.all() else []
        )
        notes += self._what_helped(names, conditions, scores, inside)
        if subject.place is None and len(kept) < subject.original.rows:
            least, scores = scores, alone_in_part(subject, names, conditions, ours)
        return AttackOutcome.of(
            self.name,
            self.criterion,
            scores,
            None if theirs is None else isolated(QueriedPeople.of(subject, names, theirs), conditions),
            baseline=float(isolated(inside, mixed).mean()),
            least=least,
            unknown=subject.persons_unknown,
            notes=notes,
        )

    def _what_helped(self, names: list[str], conditions: Conditions, scores: Array, people: QueriedPeople) -> list[str]:
        """The column that most conditions that isolate somebody use, and what is left without it."""
        if not scores.any() or len(names) < 2:
            return []
        place = int(conditions.uses[scores > 0].mean(axis=0).argmax())
        without = conditions.uses.copy()
        without[:, place] = False
        left = isolated(people, replace(conditions, uses=without)).mean()
        if left >= scores.mean():
            return []
        share = percent(float(conditions.uses[scores > 0][:, place].mean()))
        return [
            f"column {names[place]} stands in {share} of the conditions that isolate somebody: without it the rate "
            f"falls from {percent(float(scores.mean()))} to {percent(float(left))}"
        ]


def columns_of(subject: Subject) -> list[str]:
    """The released columns that the original has too."""
    assert subject.original is not None
    return [name for name in released_columns(subject.released) if name in subject.original.columns]


def populations(subject: Subject, generator: np.random.Generator) -> tuple[Array, Table | None]:
    """The people in the data, as rows of the original, and those who are not: as many of each."""
    assert subject.original is not None
    if subject.control is None:
        return np.arange(subject.original.rows), None
    sizes = [size_of(table, subject.policy) for table in (subject.original, subject.control)]
    ours, theirs = (
        _some(table, subject.policy, size, min(sizes), generator)
        for table, size in zip((subject.original, subject.control), sizes, strict=True)
    )
    return ours, subject.control.take(theirs)


def size_of(table: Table, policy: Policy) -> int:
    """The people of a table."""
    persons = person_of_row(table, policy)
    return table.rows if persons is None else len(np.unique(persons))


def _some(table: Table, policy: Policy, size: int, wanted: int, generator: np.random.Generator) -> Array:
    """The rows of so many people of a table, drawn at random."""
    if size == wanted:
        return np.arange(table.rows)
    persons, drawn = person_of_row(table, policy), generator.choice(size, wanted, replace=False)
    return np.sort(drawn) if persons is None else np.flatnonzero(np.isin(persons, np.unique(persons)[drawn]))


def conditions_of(
    subject: Subject, names: list[str], count: int, generator: np.random.Generator, among: Array | None = None
) -> Conditions:
    """Columns are added in a random order until the record, or its person's, is the only one with these cells.

    The records are drawn `among` these released rows.
    """
    rows = generator.choice(subject.table.rows if among is None else among, count, replace=False)
    uses, sharp = np.zeros((count, len(names)), bool), np.zeros(count, bool)
    columns = [_codes(subject, name) for name in names]
    for part in np.array_split(np.arange(count), max(min(_ORDERS, count), 1)):
        classes = Coded(np.zeros(subject.table.rows, np.int64), 1)
        for place in generator.permutation(len(names)):
            left = part[~sharp[part]]
            uses[left, place] = True
            classes = Coded(*class_of_each_row(pack([classes, columns[place]])))
            sharp[left] = _people_in(classes, subject.released_persons)[classes.codes[rows[left]]] == 1
            if sharp[part].all():
                break
    return Conditions(np.repeat(rows[:, None], len(names), axis=1), uses, sharp)


def _people_in(classes: Coded, persons: Coded | None) -> Array:
    """The records of each class; where they have persons, those."""
    codes = classes.codes
    if persons is not None:
        codes = codes[first_row_of_each_class(*class_of_each_row(pack([classes, persons])))]
    return np.bincount(codes, minlength=classes.cardinality)


def _codes(subject: Subject, name: str) -> Coded:
    if name in subject.released.pairs:
        return Coded(*class_of_each_row(pack([subject.table[end] for end in subject.released.pairs[name]])))
    return Coded(subject.table[name].codes, subject.table[name].cardinality)


def isolated(people: QueriedPeople, conditions: Conditions) -> Array:
    """Which conditions exactly one of these people meets; one that is not sharp fails."""
    return np.asarray(people.meeting(conditions, limit=2) == 1, np.float64)


def alone_in_part(subject: Subject, names: list[str], conditions: Conditions, part: Table) -> Array:
    """How likely the person of a record is the only one to meet its condition, in a part of the people with them.

    Nobody knows who that is: they are taken to be one of those who meet it. Each other is in the part by chance.
    """
    assert subject.original is not None
    size, all_of_them = (size_of(table, subject.policy) for table in (part, subject.original))
    met = QueriedPeople.of(subject, names, subject.original).meeting(conditions, limit=all_of_them + 1)
    return np.where(met > 0, (1 - (size - 1) / max(all_of_them - 1, 1)) ** np.maximum(met - 1, 0), 0.0)


@dataclass(frozen=True)
class QueriedPeople:
    """People of whom conditions are asked: what of them the released cells hold, and their rows in every order."""

    cells: list[ReleasedCells]
    points: Array
    orders: Array
    starts: tuple[Array, Array]
    owner: Array

    @classmethod
    def of(cls, subject: Subject, names: list[str], people: Table) -> QueriedPeople:
        """People by some columns; an owner of several rows is one."""
        cells = [
            as_conditions(cells_of(subject.released, name, people[name], "value"), subject, people, name)
            for name in names
        ]
        columns = [people[name] for name in names]
        sizes = [max(cell.atoms, column.cardinality) for cell, column in zip(cells, columns, strict=True)]
        coded = [Coded(column.codes, size) for column, size in zip(columns, sizes, strict=True)]
        counts = [np.bincount(one.codes, minlength=one.cardinality) for one in coded]
        persons = person_of_row(people, subject.policy)
        return cls(
            cells,
            np.stack([one.codes.astype(np.int32) for one in coded], axis=1),
            np.stack([sorted_with_order(one)[0].astype(np.int32) for one in coded]),
            (
                np.concatenate([[0], np.cumsum([size + 1 for size in sizes])]),
                np.concatenate([np.concatenate([[0], np.cumsum(count)]) for count in counts]),
            ),
            np.arange(people.rows) if persons is None else np.unique(persons, return_inverse=True)[1],
        )

    def meeting(self, conditions: Conditions, limit: int) -> Array:
        """How many of these people meet each condition, counted up to a limit; nobody does one that is not sharp."""
        from shoal.kernels.attacks import met_by

        asked = [replace(cell, codes=cell.codes[conditions.rows[:, at]]) for at, cell in enumerate(self.cells)]
        (low, high, mask_at, masks), sharp = _boxes(asked, conditions.uses), np.flatnonzero(conditions.sharp)
        given = (low[sharp], high[sharp], mask_at[sharp] if len(mask_at) else mask_at, masks)
        met = np.zeros(len(sharp), np.int64)
        parts = 4 * processors() if len(sharp) > _FEW else 1
        cuts = np.linspace(0, len(sharp), parts + 1).astype(np.int64).tolist()
        in_threads(
            lambda part: met_by(given, self.points, self.orders, self.starts, self.owner, limit, part[0], part[1], met),
            list(pairwise(cuts)),
        )
        found = np.zeros(len(conditions.sharp))
        found[sharp] = met
        return found


def _boxes(cells: list[ReleasedCells], uses: Array) -> tuple[Array, Array, Array, Array]:
    """A box for each condition: its ends and where its masks start, and the masks; columns that it does not use hold
    everything."""
    low = np.stack([cell.low[cell.codes] for cell in cells], axis=1).astype(np.int32)
    high = np.stack([cell.high[cell.codes] for cell in cells], axis=1).astype(np.int32)
    top = np.array([cell.atoms - 1 for cell in cells], np.int32)
    mask_at, masks = masks_of(cells, np.arange(len(uses)))
    if len(mask_at):
        mask_at = np.where(uses, mask_at, -1)
    return np.where(uses, low, np.int32(0)), np.where(uses, high, top), mask_at, masks


def as_conditions(cells: ReleasedCells, subject: Subject, people: Table, name: str) -> ReleasedCells:
    """Cells that hold values; a mean or a perturbed value holds what is nearer to it than to its neighbours."""
    if cells.kind == "fit":
        return cells
    column, places = subject.table[name], as_places(subject.table[name])
    theirs = as_places(people[name])
    if places is None or theirs is None:
        return cells_of(replace(subject.released, forms={}), name, people[name], "value")
    between = (places[1:] + places[:-1]) / 2
    low = np.searchsorted(theirs, np.concatenate([[-np.inf], between]), side="left")
    high = np.searchsorted(theirs, np.concatenate([between, [np.inf]]), side="left") - 1
    if column.nulls:
        low, high = np.append(low, len(theirs)), np.append(high, len(theirs) - (0 if people[name].nulls else 1))
    return ReleasedCells(name, "fit", column.codes, low, high, max(len(theirs) + (people[name].nulls > 0), 1))
