"""Downcoding: who knows the algorithm learns more from a box than that the value lies in it.

After Cohen, *Attacks on Deidentification's Defenses* (2022): generalisation that is as small as it can be tells how
small it could be. A range is as narrow as its members allow, so somebody has each of its ends. Of n members with m
possible values each, P(value = end) = (1 - t^(n-1)) / (m · (1 - 2t^n + u^n)), t = (m-1)/m, u = (m-2)/m, where every
table with these ends is equally likely: one half in a class of two, whatever the width.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from shoal.attacks.base import Attack, AttackOutcome, Criterion
from shoal.attacks.linking.columns import ReleasedCells, cells_of
from shoal.attacks.subject import Subject
from shoal.policy.judgement.shown_classes import shown_in
from shoal.storage import Array
from shoal.storage.rows import Rows
from shoal.wording import counted, percent

# methods whose ranges are as narrow as their members allow
TIGHT = ("mondrian", "sorted-clusters")


class Downcoding(Attack):
    """The attacker knows the method, the released table and the values that occur, and guesses the cells of ranges.

    Each target is a cell of a range with more than one value. Who does not know the method guesses one of the values
    in it at random: that is the baseline. Who knows that somebody has each end guesses an end.
    """

    name: ClassVar[str] = "downcoding"
    criterion: ClassVar[Criterion] = "inference"
    knows: ClassVar[str] = (
        "Knows the method, and so that somebody of each class has each end of a range; knows nothing about the person."
    )
    success: ClassVar[str] = "Guesses the person's exact value out of the released range."

    def skips(self, subject: Subject) -> str | None:
        """Only ranges that are as narrow as their members allow tell more than they say."""
        if subject.manifest is None or subject.manifest.method not in TIGHT:
            return "cells of this method are not as narrow as their members allow"
        if subject.original is None or subject.place is None:
            return "whose row is whose is not known"
        return None if any(True for _ in _ranges(subject)) else "no column is released as ranges"

    def run(self, subject: Subject) -> AttackOutcome:
        """Guess every cell of a range, with and without the knowledge of its ends."""
        shown = shown_in(Rows.of(subject.table, subject.released_quasi_identifiers), subject.policy.null_rule)
        classes = shown.class_of_row
        scores, before, after, sure = [], [], [], 0
        by_column = {}
        for name, cells in _ranges(subject):
            value = _original_by_row(subject, name)
            code = cells.codes
            low, high = cells.low[code], cells.high[code]
            cell = (high > low) & (classes >= 0) & (value >= 0)
            star = np.zeros(len(code), bool) if cells.star is None else cells.star[code]
            cell &= ~star & (low <= value) & (value <= high)
            if not cell.any():
                continue
            members = np.bincount(classes[classes >= 0])[classes[cell]]
            width = (high - low + 1)[cell]
            hit = (value[cell] == low[cell]) | (value[cell] == high[cell])
            scores.append(hit / 2)
            before.append(1 / width)
            after.append(end_probability(members, width))
            sure += int(((members == 2) & (width > 2)).sum())
            by_column[name] = float((hit / 2).sum() - (1 / width).sum())
        if not scores:
            return AttackOutcome.of(self.name, self.criterion, np.zeros(0))
        found, guessed, expected = (np.concatenate(part) for part in (scores, before, after))
        chosen = np.random.default_rng(subject.seed).permutation(len(found))[: subject.targets]
        notes = [
            f"{counted(len(found), 'cell')} of ranges; in {sure:,} of them every value but the ends is excluded",
            f"an end is right with a probability of {percent(float(expected.mean()))} on average",
            f"column {max(by_column, key=lambda name: by_column[name])} gives most away",
        ]
        baseline = float(guessed.mean())
        return AttackOutcome.of(self.name, self.criterion, np.sort(found[chosen]), baseline=baseline, notes=notes)


def _ranges(subject: Subject) -> list[tuple[str, ReleasedCells]]:
    """The columns that are released as ranges, beside the original values."""
    assert subject.original is not None
    found = []
    for name in subject.on:
        form = subject.released.forms.get(name)
        if name not in subject.released.pairs and (form is None or form.kind != "range"):
            continue
        cells = cells_of(subject.released, name, subject.original[name], "value")
        if cells.kind == "fit" and cells.mask_of is None:
            found.append((name, cells))
    return found


def _original_by_row(subject: Subject, name: str) -> Array:
    """The code of the original value of each released row; -1 where it is missing or not known whose it is."""
    assert subject.original is not None
    assert subject.place is not None
    column = subject.original[name]
    found = np.full(subject.table.rows, -1, np.int64)
    there = (subject.place >= 0) & ~column.is_null()
    found[subject.place[there]] = column.codes[there]
    return found


def end_probability(members: Array, width: Array) -> Array:
    """How likely a member of a class has a given end of its range, where both ends are known to occur.

    >>> end_probability(np.array([2, 2, 1000]), np.array([10, 2, 10])).round(3).tolist()
    [0.5, 0.5, 0.1]
    """
    n, m = np.maximum(members, 2).astype(float), np.maximum(width, 2).astype(float)
    t, u = np.log1p(-1 / m), np.log1p(-2 / np.maximum(m, 2 + 1e-9))
    top = -np.expm1((n - 1) * t)
    both = -2 * np.expm1(n * t) + np.where(m > 2, np.expm1(n * u), -1.0)
    return np.asarray(np.clip(top / (m * both), 0.0, 0.5))
