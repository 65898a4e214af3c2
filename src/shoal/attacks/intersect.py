"""Composition: two releases about overlapping people. What is left in both of a person's classes is nearly certain.

Ganta, Kasiviswanathan and Smith, *Composition attacks and auxiliary information in data privacy* (2008): each release
alone keeps l values possible for everybody; somebody who is in both has a value that both allow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl

from shoal.attacks.base import AttackOutcome, AttackVerdict, outcome_sections, verdicts_of
from shoal.attacks.common import differ_in_writing
from shoal.errors import InputError, Message, as_names
from shoal.policy.judgement.shown_classes import shown_in
from shoal.releases.readable import Readable, readable
from shoal.results import Cell, Figure, Figures, Grid, Headline, Result, Section
from shoal.storage.reading import Options
from shoal.storage.rows import Rows
from shoal.verbs.attacking import AttackIntersectRequest
from shoal.verbs.base import takes
from shoal.vocabulary import NullRule
from shoal.wording import counted, percent


@dataclass(frozen=True)
class ValuesLeft:
    """A sensitive column: how many values are possible for a person in the first release, in the second, in both."""

    column: str
    first: float
    second: float
    both: float
    certain_alone: int
    certain: int
    none_left: int


@dataclass(frozen=True, repr=False)
class Intersection(Result):
    """Persons who are in two releases, and what their classes together leave possible.

    The values possible are means over the persons. `certain`: one value is left, `certain_alone`: it was so in one of
    the releases already; `none_left`: the releases contradict each other about the person.
    """

    name: ClassVar[str] = "attack-intersect"

    attacks: list[AttackOutcome]
    verdict: dict[str, AttackVerdict]
    seed: int
    persons: int
    columns: list[ValuesLeft]

    def summary(self) -> str:
        """How many persons are left with one value."""
        found = self.attacks[0]
        of = f"Of {counted(self.persons, 'person')} in both releases"
        rates = percent(found.rate or 0.0), percent(found.baseline or 0.0)
        return f"{of}, {rates[0]} have one sensitive value left; alone, {rates[1]}."

    def sections(self) -> list[Section]:
        """Column by column, what is possible in each release and in both."""
        heads = (
            "sensitive",
            "possible in the first",
            "in the second",
            "in both",
            "certain alone",
            "certain",
            "none left",
        )
        rows: list[tuple[Cell | str, ...]] = [
            (
                Cell(one.column),
                *(f"{value:.2f}" for value in (one.first, one.second, one.both)),
                *(f"{value:,}" for value in (one.certain_alone, one.certain, one.none_left)),
            )
            for one in self.columns
        ]
        shown: list[Section] = [Headline(self.summary(), "bad" if self.attacks[0].successes else "good")]
        figures = Figures([Figure("persons in both", f"{self.persons:,}")])
        return [*shown, figures, Grid(heads, rows), *outcome_sections(self.attacks, self.verdict)]


@takes(AttackIntersectRequest)
def attack_intersect(source: Any, asked: AttackIntersectRequest) -> Intersection:
    """Attack the persons whom two releases share, by the classes that the person is in.

    `person` is a column of both releases that says who is who. What makes a class, and what is sensitive, is in the
    manifests, or said here. A person is hit where one value of a sensitive column is left, and it is the right one.

    >>> first = {"who": [1, 2, 3, 4], "age": ["3*", "3*", "4*", "4*"], "ill": ["flu", "HIV", "flu", "cold"]}
    >>> second = {"who": [2, 9], "age": ["[30;35]", "[30;35]"], "ill": ["HIV", "cold"]}
    >>> attack_intersect(first, second=second, person="who", quasi_identifiers="age", sensitive="ill").attacks[0].rate
    1.0
    """
    names, sensitive = as_names(asked.quasi_identifiers), as_names(asked.sensitive)
    sources, person = [source, asked.second], asked.person
    if asked.state is not None:
        from shoal.streams.verify import consecutive_outputs

        if asked.second is not None or person is not None:
            raise InputError("The state of a stream knows the persons of one output.", "Name that output alone.")
        sources, person, plan = consecutive_outputs(source, asked.state)
        names, sensitive = names or plan.names, sensitive or plan.sensitive
    elif asked.second is None or person is None:
        cure = Message("Name it, and the `{person}`; or give the {state} of a stream.")
        raise InputError("There is no second release.", cure)
    sides = [_side(one, person, names, sensitive, asked.options) for one in sources]
    columns = [name for name in sides[0].sensitive if name in sides[1].sensitive]
    if not columns:
        raise InputError("The releases have no sensitive column in common.", "Name columns of both in sensitive.")
    persons = sides[0].persons.join(sides[1].persons, on="person", how="inner").sort("person")["person"]
    if not len(persons):
        raise InputError("Nobody is in both releases.", _why_nobody(sides, person))
    left = [_left(sides, name, persons) for name in columns]
    hits = np.logical_or.reduce([one.hit for one in left])
    alone = np.logical_or.reduce([one.alone for one in left])
    notes = ["a person with a suppressed record is not attacked"] if any(side.suppressed for side in sides) else []
    if worst := max(left, key=lambda one: one.figures.certain - one.figures.certain_alone):
        said = worst.figures
        if said.certain > said.certain_alone:
            notes.append(f"column {said.column} gives most away: {said.certain - said.certain_alone:,} become certain")
    outcome = AttackOutcome.of(
        "intersection", "inference", hits.astype(float), baseline=float(alone.mean()), notes=notes
    )
    return Intersection([outcome], verdicts_of([outcome]), 0, len(persons), [one.figures for one in left])


@dataclass(frozen=True)
class _Side:
    """A release: the class of each row and its person, the sensitive columns."""

    released: Readable
    frame: pl.DataFrame  # row, person, class
    persons: pl.DataFrame
    sensitive: list[str]
    suppressed: bool


def _side(source: Any, person: str, names: list[str], sensitive: list[str], options: Options | None) -> _Side:
    released = readable(source, options)
    manifest = None if released.source is None else released.source.manifest_or_none
    rule: NullRule = "value"
    if manifest is not None:
        rule = manifest.policy.null_rule
        names = names or list(manifest.quasi_identifiers)
        sensitive = sensitive or list(manifest.policy.sensitive)
    if not names or not sensitive:
        what = "quasi-identifiers" if not names else "sensitive column"
        raise InputError(f"A release without a manifest does not say its {what}.", "Name them.")
    if person not in released.table.columns:
        raise InputError(
            f"{released.table.name} has no column '{person}' that says who is who.",
            "Keep a pseudonym of the person, the same in both releases, to see what they give away together.",
        )
    shown = shown_in(Rows.of(released.table, names), rule)
    who = released.table[person].decode().cast(pl.String)
    frame = pl.DataFrame({"person": who, "class": shown.class_of_row}).with_row_index("row")
    hidden = frame.filter((pl.col("class") < 0) | pl.col("person").is_null())["person"].unique()
    persons = frame.select("person").unique().filter(~pl.col("person").is_in(hidden.implode())).drop_nulls()
    return _Side(
        released, frame, persons, [name for name in sensitive if name in released.table.columns], len(hidden) > 0
    )


def _why_nobody(sides: Sequence[_Side], person: str) -> str:
    first, other = (side.released.table[person] for side in sides)
    return differ_in_writing(first, other) or f"Check that '{person}' is the same pseudonym in both."


@dataclass(frozen=True)
class _Left:
    hit: Any
    alone: Any
    figures: ValuesLeft


def _left(sides: Sequence[_Side], name: str, persons: pl.Series) -> _Left:
    """What both releases leave possible in one sensitive column, person by person."""
    possible = [_possible(side, name, persons) for side in sides]
    both = possible[0].join(possible[1], on=["person", "value"], how="inner")
    real = sides[0].frame.select("person", value=sides[0].released.table[name].decode().cast(pl.String))
    base = pl.DataFrame({"person": persons})

    def per_person(frame: pl.DataFrame) -> np.ndarray[Any, Any]:
        counts = frame.group_by("person").agg(pl.len().alias("n"))
        return base.join(counts, on="person", how="left", maintain_order="left")["n"].fill_null(0).to_numpy()

    counts = [per_person(one) for one in (*possible, both)]
    right = per_person(both.join(real.unique(), on=["person", "value"], how="inner"))
    alone = (counts[0] == 1) | (counts[1] == 1)
    hit = (counts[2] == 1) & (right == 1)
    means = [float(one.mean()) for one in counts]
    certain = int(alone.sum()), int(hit.sum()), int((counts[2] == 0).sum())
    figures = ValuesLeft(name, means[0], means[1], means[2], *certain)
    return _Left(hit, alone & hit, figures)


def _possible(side: _Side, name: str, persons: pl.Series) -> pl.DataFrame:
    """Which values the classes of each person hold; a missing one is a value too: it is not known to be another."""
    value = side.released.table[name].decode().cast(pl.String).fill_null("\0missing")
    rows = side.frame.with_columns(value=value).filter(pl.col("class") >= 0)
    held = rows.select("class", "value").unique()
    classes = rows.select("person", "class").filter(pl.col("person").is_in(persons.implode())).unique()
    return classes.join(held, on="class", how="inner").select("person", "value").unique()
