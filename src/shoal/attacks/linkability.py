"""Linkability: an attacker holds two partial files about people, and puts them together through the release.

After Giomi et al. 2022 ("A unified framework for quantifying privacy risk in synthetic data"), in whose sense WP29's
second criterion is measured; ties between equal candidates are shared.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import polars as pl

from shoal.attacks.base import Attack, AttackOutcome, Criterion
from shoal.attacks.linking.link import Linkage
from shoal.attacks.subject import Subject
from shoal.storage import Array, Table
from shoal.storage.classes import Coded, CountTable


class Linkability(Attack):
    """One file has half of the quasi-identifiers, the other the rest: which record fits both parts of a person?

    A target scores 1/n where n records fit both parts, and nothing where none does. The same for control people, who
    are put together at somebody else's record; whether a record is the right one is what `linkage` counts.
    """

    name: ClassVar[str] = "linkability"
    criterion: ClassVar[Criterion] = "linkability"
    knows: ClassVar[str] = (
        "Holds two registers of the same people, each with half of the quasi-identifiers and no name in common."
    )
    success: ClassVar[str] = "Both halves of a person meet in one record; where n records fit, the hit counts as 1/n."

    def skips(self, subject: Subject) -> str | None:
        """With one column there are no two parts."""
        if subject.original is None:
            return "there is no original"
        return None if len(subject.on) > 1 else "fewer than two quasi-identifiers can be linked on"

    def run(self, subject: Subject) -> AttackOutcome:
        """Put the two parts of every target together."""
        scores, control = (
            None if people is None or linked is None else put_together(subject, people, linked)
            for people, linked in zip(subject.people, subject.linked, strict=True)
        )
        assert scores is not None
        names = list(subject.on)
        notes = [f"the parts are {', '.join(names[::2])} and {', '.join(names[1::2])}"]
        baseline = 1 / max(subject.table.rows, 1)
        return AttackOutcome.of(self.name, self.criterion, scores, control, baseline=baseline, notes=notes)


def put_together(subject: Subject, people: Table, whole: Linkage) -> Array:
    """Of each person: 1 over the records that are candidates for both parts."""
    names = list(subject.on)
    if not whole.by_distance:  # who lies in all cells lies in those of both parts
        fitting = subject.candidates(whole)
        return np.divide(1.0, fitting, out=np.zeros(people.rows), where=fitting > 0)
    parts = [subject.linkage(people, part) for part in (names[::2], names[1::2])]
    both = in_both(*parts)
    return np.divide(1.0, both, out=np.zeros(people.rows), where=both > 0)


def in_both(first: Linkage, second: Linkage) -> Array:
    """The records that are candidates of each target in two linkages with the same people and release."""
    boxes = CountTable.of(
        {
            "first": Coded(first.boxes.box_of_row, len(first.boxes.low)),
            "second": Coded(second.boxes.box_of_row, len(second.boxes.low)),
        }
    )
    cells = pl.DataFrame(
        {name: column.codes.astype(np.int64) for name, column in boxes.tuples.items()} | {"records": boxes.counts}
    )
    ours, theirs = _listed(first, "first"), _listed(second, "second")
    found = ours.join(cells, on="first").join(theirs, on=["target", "second"], how="semi")
    summed = found.group_by("target").agg(pl.col("records").sum())
    records = np.zeros(len(first.point_of_row))
    records[summed["target"].to_numpy()] = summed["records"].to_numpy()
    return records


def _listed(linked: Linkage, name: str) -> pl.DataFrame:
    """The candidate boxes of every target."""
    starts, boxes = linked.pairs
    point = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    pairs = pl.DataFrame({"point": point, name: boxes})
    targets = pl.DataFrame({"point": linked.point_of_row, "target": np.arange(len(linked.point_of_row))})
    return targets.join(pairs, on="point").select("target", name)
