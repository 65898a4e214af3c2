"""Singling out: a condition read off the release that exactly one person of the population meets.

After Giomi et al. 2022 and Cohen and Nissim 2020. The attacker takes a released record and as many of its cells, in a
random order of columns, as make it the only such record of the release. The condition succeeds if exactly one person of
the original meets it; the control is a population of the same size of people who are not in the data, because how
often one meets a condition depends on how many there are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from shoal.attacks.base import AttackOutcome, Criterion
from shoal.attacks.common import released_columns
from shoal.attacks.linking.columns import Cells, as_places, cells_of
from shoal.attacks.linking.link import Boxes, Linkage, masks_of
from shoal.attacks.subject import Subject
from shoal.table import Array, Table
from shoal.table.classes import Coded, class_of_each_row, pack
from shoal.wording import percent

# random orders in which columns are added to conditions
_ORDERS = 8


@dataclass(frozen=True)
class Conditions:
    """Cells of released rows: condition c asks in the columns `uses[c]` for what row `rows[c, column]` has there;
    `sharp` where only that record has it."""

    rows: Array
    uses: Array
    sharp: Array


class SinglingOut:
    """The attacker sees the release and nothing else, and looks for conditions that isolate somebody."""

    name: ClassVar[str] = "singling-out"
    criterion: ClassVar[Criterion] = "singling-out"

    def skips(self, subject: Subject) -> str | None:
        """Conditions need people who meet them."""
        if subject.original is None:
            return "there is no original"
        return None if columns_of(subject) else "the release has no column of the original"

    def run(self, subject: Subject) -> AttackOutcome:
        """Conditions from random records, asked of the people in the data and of as many who are not."""
        names, generator = columns_of(subject), np.random.default_rng(subject.seed)
        ours, theirs = populations(subject, generator)
        conditions = conditions_of(subject, names, min(subject.targets, subject.table.rows), generator)
        mixed = replace(conditions, rows=generator.permuted(conditions.rows, axis=0))
        scores = isolated(subject, names, conditions, ours)
        control = None if theirs is None else isolated(subject, names, conditions, theirs)
        baseline = float(isolated(subject, names, mixed, ours).mean())
        notes = (
            ["a condition that fits several released records counts as failed"] if not conditions.sharp.all() else []
        )
        notes += self._what_helped(subject, names, conditions, scores, ours)
        return AttackOutcome.of(self.name, self.criterion, scores, control, baseline=baseline, notes=notes)

    def _what_helped(
        self, subject: Subject, names: list[str], conditions: Conditions, scores: Array, people: Table
    ) -> list[str]:
        """The column that most conditions that isolate somebody use, and what is left without it."""
        if not scores.any() or len(names) < 2:
            return []
        place = int(conditions.uses[scores > 0].mean(axis=0).argmax())
        without = conditions.uses.copy()
        without[:, place] = False
        left = isolated(subject, names, replace(conditions, uses=without), people).mean()
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


def populations(subject: Subject, generator: np.random.Generator) -> tuple[Table, Table | None]:
    """The people in the data and those who are not, as many of each."""
    assert subject.original is not None
    if subject.control is None:
        return subject.original, None
    size = min(subject.original.rows, subject.control.rows)
    ours, theirs = (
        table if table.rows == size else table.take(np.sort(generator.choice(table.rows, size, replace=False)))
        for table in (subject.original, subject.control)
    )
    return ours, theirs


def conditions_of(subject: Subject, names: list[str], count: int, generator: np.random.Generator) -> Conditions:
    """Columns are added in a random order until the record is the only one with these cells."""
    rows = generator.choice(subject.table.rows, count, replace=False)
    uses, sharp = np.zeros((count, len(names)), bool), np.zeros(count, bool)
    columns = [_codes(subject, name) for name in names]
    for part in np.array_split(np.arange(count), min(_ORDERS, count)):
        classes = Coded(np.zeros(subject.table.rows, np.int64), 1)
        for place in generator.permutation(len(names)):
            left = part[~sharp[part]]
            uses[left, place] = True
            classes = Coded(*class_of_each_row(pack([classes, columns[place]])))
            sizes = np.bincount(classes.codes, minlength=classes.cardinality)
            sharp[left] = sizes[classes.codes[rows[left]]] == 1
            if sharp[part].all():
                break
    return Conditions(np.repeat(rows[:, None], len(names), axis=1), uses, sharp)


def _codes(subject: Subject, name: str) -> Coded:
    if name in subject.released.pairs:
        return Coded(*class_of_each_row(pack([subject.table[end] for end in subject.released.pairs[name]])))
    return Coded(subject.table[name].codes, subject.table[name].cardinality)


def isolated(subject: Subject, names: list[str], conditions: Conditions, people: Table) -> Array:
    """Which conditions exactly one of these people meets; one that is not sharp fails."""
    cells = [
        as_conditions(cells_of(subject.released, name, people[name], "value"), subject, people, name) for name in names
    ]
    asked_cells = [replace(cell, codes=cell.codes[conditions.rows[:, at]]) for at, cell in enumerate(cells)]
    boxes = _boxes(asked_cells, conditions.uses)
    points = [people[name] for name in names]
    point_of_row, count = class_of_each_row(pack([Coded(one.codes, max(one.cardinality, 1)) for one in points]))
    first = np.unique(point_of_row, return_index=True)[1]
    asked = np.stack([one.codes[first].astype(np.int32) for one in points], axis=1)
    starts, met = Linkage(_only(boxes, conditions.sharp), np.ascontiguousarray(asked), point_of_row).pairs
    weight = np.repeat(np.bincount(point_of_row, minlength=count), np.diff(starts))
    meeting = np.bincount(np.flatnonzero(conditions.sharp)[met], weight, minlength=len(conditions.sharp))
    return np.asarray(meeting == 1, np.float64)


def _boxes(cells: list[Cells], uses: Array) -> Boxes:
    """A box for each condition; columns that it does not use hold everything."""
    every = np.arange(len(uses))
    low = np.stack([cell.low[cell.codes] for cell in cells], axis=1).astype(np.int32)
    high = np.stack([cell.high[cell.codes] for cell in cells], axis=1).astype(np.int32)
    top = np.array([cell.atoms - 1 for cell in cells], np.int32)
    mask_at, masks = masks_of(cells, every)
    if len(mask_at):
        mask_at = np.where(uses, mask_at, -1)
    return Boxes(
        tuple(cells), every, np.where(uses, low, 0), np.where(uses, high, top), np.ones(len(uses)), mask_at, masks
    )


def _only(boxes: Boxes, kept: Array) -> Boxes:
    """Some of the boxes."""
    return replace(
        boxes,
        low=np.ascontiguousarray(boxes.low[kept]),
        high=np.ascontiguousarray(boxes.high[kept]),
        weight=boxes.weight[kept],
        mask_at=boxes.mask_at[kept] if len(boxes.mask_at) else boxes.mask_at,
        box_of_row=np.arange(int(kept.sum())),
    )


def as_conditions(cells: Cells, subject: Subject, people: Table, name: str) -> Cells:
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
    return Cells(name, "fit", column.codes, low, high, max(len(theirs) + (people[name].nulls > 0), 1))
