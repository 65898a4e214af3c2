"""What `shoal.leak` found: plain numbers, the same names as in JSON and in the docs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import ClassVar

from shoal.exposure.leakage.curves import over_k
from shoal.exposure.leakage.law import ClassSizes
from shoal.exposure.leakage.simulate import Simulated
from shoal.results import (
    Bar,
    Chart,
    Figure,
    Figures,
    Files,
    Grid,
    Headline,
    Notes,
    Result,
    Section,
    Tone,
    known_with,
    left_out,
    where_known,
)
from shoal.results.sections import ResultPicture
from shoal.vocabulary import LeakUnit
from shoal.wording import counted, figure, percent

_SIZES = (1, 2, 3, 5, 10, 15, 20, 50)
_MOST_ROWS = 200
_ROUNDING = 1e-12


@dataclass(frozen=True, repr=False)
class LeakRisk(Result):
    """The probability that all targets, picked at random, are re-identified from a leak.

    `error` is relative: an estimate of rounding for the exact law, the distance from the exact law for the recursion,
    half the 95% interval for a simulation. `leaked` counts persons, or records where `unit` says so. `smallest_k` is
    the smallest class size that keeps the threshold at this leak, `largest_leak` the largest leak at which these
    classes do. `exact` and `difference` stand beside a recursion; `standard_deviation` is that of the mean risk, over
    leaks.
    """

    name: ClassVar[str] = "leak"

    persons: int
    leaked: int
    class_sizes: dict[int, int]
    targets: int
    probability: float
    method: str
    error: float
    classes: ClassSizes = left_out()
    unit: LeakUnit = "persons"
    suppressed_rows: int = 0
    notes: list[str] = field(default_factory=list)
    class_size: int | None = left_out(default=None)  # where Eq 5 was asked for with one size
    history: float | None = where_known()
    standard_deviation: float | None = where_known()
    exact: float | None = where_known()
    difference: float | None = known_with("exact")
    threshold: float | None = where_known()
    threshold_name: str | None = known_with("threshold")
    holds: bool | None = known_with("threshold")
    smallest_k: int | None = known_with("threshold")
    largest_leak: int | None = known_with("threshold")
    simulated: Simulated | None = where_known()
    chart: str | None = where_known()

    def summary(self) -> str:
        """One sentence of plain words, and one on the threshold."""
        who = (
            "one person picked at random is"
            if self.targets == 1
            else f"{self.targets:,} persons picked at random are all"
        )
        everybody = "1 person" if self.persons == 1 else f"the {self.persons:,} persons"
        part = f"{self.leaked:,} of {everybody}"
        if self.unit == "records":
            part = f"{counted(self.leaked, 'record')} of {everybody}"
        elif self.history is not None:
            part += f", {percent(self.history)} of their records,"
        verb = "leaks" if self.leaked == 1 else "leak"
        words = f"If {part} {verb}, {who} re-identified with probability {in_figures(self.probability)}."
        if self.threshold is None:
            return words
        named = f" ({self.threshold_name})" if self.threshold_name else ""
        return f"{words} That is {'within' if self.holds else 'over'} the threshold {self.threshold:.4g}{named}."

    def sections(self) -> list[Section]:
        """The sentence, the figures, and what larger classes would buy."""
        tone: Tone = "strong" if self.holds is None else "good" if self.holds else "bad"
        shown: list[Section] = [Headline(self.summary(), tone), _figures(self)]
        if self.method == "exact":
            shown.append(_larger_classes(self))
        shown += [Chart(ResultPicture("leak", [self]), self.summary()), Notes(self.notes)]
        return shown if self.chart is None else [*shown, Files({"chart": self.chart})]


@dataclass(frozen=True, repr=False)
class LeakSeries(Result):
    """Several answers of `shoal.leak`, one per leak, number of targets and threshold, in this order."""

    name: ClassVar[str] = "leak-series"

    answers: list[LeakRisk]
    chart: str | None = where_known()

    def __len__(self) -> int:
        return len(self.answers)

    def __iter__(self) -> Iterator[LeakRisk]:
        return iter(self.answers)

    def __getitem__(self, place: int) -> LeakRisk:
        return self.answers[place]

    @property
    def over(self) -> int:
        """How many answers are over their threshold."""
        return sum(answer.holds is False for answer in self.answers)

    @property
    def holds(self) -> bool | None:
        """Whether all answers are within their threshold; None without one."""
        return None if self.answers[0].threshold is None else not self.over

    def summary(self) -> str:
        """How many answers, and how many are over the threshold."""
        persons = counted(self.answers[0].persons, "person")
        if self._asks_for_k():
            return f"The smallest k that keeps the threshold, for {persons}."
        words = f"{counted(len(self.answers), 'answer')} for {persons}."
        if self.holds is None:
            return words
        return f"{words} {f'{self.over:,} of them over' if self.over else 'All within'} the threshold."

    def sections(self) -> list[Section]:
        """One line per answer, with the columns in which answers differ."""
        shown: list[Section] = [Headline(self.summary(), "bad" if self.over else "strong"), self._grid()]
        if len(self.answers) > _MOST_ROWS:
            shown.append(Notes([f"{len(self.answers) - _MOST_ROWS:,} more answers are in the JSON"]))
        notes = dict.fromkeys(note for answer in self.answers for note in answer.notes)
        shown += [Chart(ResultPicture("leak", self.answers), self.summary()), Notes(list(notes))]
        return shown if self.chart is None else [*shown, Files({"chart": self.chart})]

    def _asks_for_k(self) -> bool:
        """Whether the classes are not given but sought."""
        return all(answer.class_size is not None and answer.class_size == answer.smallest_k for answer in self.answers)

    def _grid(self) -> Grid:
        answers = self.answers
        with_limit = self.holds is not None
        columns: dict[str, list[str]] = {"leaked": [f"{answer.leaked:,}" for answer in answers]}
        if all(answer.unit == "persons" for answer in answers):
            columns["share"] = [percent(answer.leaked / answer.persons) for answer in answers]
        if len({answer.targets for answer in answers}) > 1:
            columns["targets"] = [f"{answer.targets:,}" for answer in answers]
        columns["probability"] = [f"{answer.probability:.4g}" for answer in answers]
        if answers[0].simulated is not None:
            columns["simulated"] = [f"{answer.simulated.mean:.4g}" if answer.simulated else "" for answer in answers]
        if with_limit:
            if len({answer.threshold for answer in answers}) > 1:
                columns["threshold"] = [answer.threshold_name or f"{answer.threshold:.3g}" for answer in answers]
            if not self._asks_for_k():
                columns["within it"] = ["yes" if answer.holds else "no" for answer in answers]
            columns["smallest k"] = [figure(answer.smallest_k) for answer in answers]
        lengths = [float(answer.smallest_k or 0) if with_limit else answer.probability for answer in answers]
        longest = max(lengths) or 1.0
        cells = zip(*columns.values(), (Bar(length / longest) for length in lengths), strict=True)
        return Grid((*columns, ""), list(cells)[:_MOST_ROWS], 0)


def _figures(result: LeakRisk) -> Figures:
    rows = {
        "probability": f"{result.probability:.6g}",
        "method": result.method,
        "relative error": f"{result.error:.1e}",
        "classes": f"{result.classes.classes:,}",
        "smallest class (k)": f"{result.classes.k:,}",
    }
    if result.standard_deviation is not None:
        rows["standard deviation over leaks"] = f"{result.standard_deviation:.3g}"
    if result.difference is not None:
        rows["recursion minus exact law"] = f"{result.difference:+.3g}"
    if result.simulated is not None:
        interval = f"{result.simulated.low:.5g} to {result.simulated.high:.5g}"
        rows[f"simulated, {result.simulated.runs:,} runs"] = f"{result.simulated.mean:.5g} (95%: {interval})"
    if result.threshold is not None and result.largest_leak is not None:
        rows["k that keeps the threshold, if all classes had it"] = figure(result.smallest_k)
        rows["largest leak that keeps it"] = (
            f"{result.largest_leak:,} ({percent(result.largest_leak / result.persons)})"
        )
    return Figures([Figure(name, value) for name, value in rows.items()])


def _larger_classes(result: LeakRisk) -> Grid:
    """Diminishing returns: the probability by class size, and what each further person in a class took off."""
    sizes = sorted({size for size in (*_SIZES, result.class_size or 1) if size <= result.persons})
    curve = over_k(result.persons, result.leaked, sizes, result.targets)
    highest = max(curve.y) or 1.0
    reductions = [""]
    for (size, probability), (larger, less) in pairwise(zip(curve.x, curve.y, strict=True)):
        fall = probability - less  # what only rounding makes is 0
        reductions.append("0" if abs(fall) < _ROUNDING * probability else f"{fall / (larger - size):.2g}")
    entries = zip(curve.x, curve.y, reductions, strict=True)
    rows = [(f"{size:,}", f"{chance:.4g}", less, Bar(chance / highest)) for size, chance, less in entries]
    return Grid(("class size", "probability", "reduction per extra member", ""), rows, 0)


def in_figures(probability: float) -> str:
    """A probability with its percentage where that says something.

    >>> in_figures(0.18446), in_figures(0.00032), in_figures(0.0)
    ('0.1845 (18.4%)', '0.00032', '0')
    """
    figures = f"{probability:.4g}"
    return f"{figures} ({percent(probability)})" if 0.001 <= probability < 1 else figures
