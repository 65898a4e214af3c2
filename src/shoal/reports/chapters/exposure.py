"""What attackers may know, and how exposed people were before anything was changed."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.detection.results import Detection
from shoal.exposure.leakage.results import LeakRisk
from shoal.population.results import population_sections
from shoal.reports.chapters.base import Chapter, listing, who
from shoal.reports.findings import ReportedRisk, ReportFindings, RiskBeforeAfter
from shoal.results import Chart, Exhibit, Grid, Headline, Notes, Section
from shoal.results.sections import BarPicture, BarRow, LinePicture, LinePoint
from shoal.wording import counted, in_words, percent, share, told_apart


def knowledge(found: ReportFindings) -> Chapter | None:
    """What others may know of a person, by the policy; how far each of that singles people out."""
    risk = found.risk.before
    if risk is None:
        return None
    exhibit = _by_knowledge(found.risk)
    columns = in_words(risk.quasi_identifiers)
    notes = [
        f"At most, an attacker is taken to know {columns} of a person: the quasi-identifiers, and no other column."
    ]
    if exhibit is None:
        notes.append("The policy names no sources with a part of these columns (its section knowledge).")
    about = "What others may know of a person: the sources that the figures of this report are about."
    return Chapter("knowledge", "What attackers may know", about, [Notes(notes), *([exhibit] if exhibit else [])])


def before(found: ReportFindings) -> Chapter | None:
    """Singled out by all columns, by the fewest columns, and in the population."""
    risk = found.risk.before
    if risk is None:
        return None
    columns = in_words(risk.quasi_identifiers)
    sections: list[Section] = [
        Headline(
            f"{percent(risk.uniqueness)} of the {who(risk)}s are the only ones with their values of {columns}: anybody "
            f"who knows these values of a person finds the {who(risk)}.",
            "bad" if risk.uniques else "good",
        )
    ]
    sections += [_frontier(found.detect)] if found.detect is not None and found.detect.by_size else []
    sections += population_sections(risk.population, risk.chosen, risk.chosen_reason, risk.predictions)
    sections.append(_population(risk))
    about = "How exposed the people were before anything was changed."
    return Chapter("identifiability", "Identifiability before", about, sections)


def _by_knowledge(risks: RiskBeforeAfter) -> Exhibit | None:
    entries = risks.before.knowledge if risks.before is not None else None
    if not entries:
        return None
    known = [] if risks.after is None else risks.after.knowledge or []
    later = {tuple(one.groups): one.uniqueness for one in known}
    rows, bars = [], []
    for entry in entries:
        words, now = " + ".join(entry.groups), later.get(tuple(entry.groups))
        rows.append((words, percent(entry.uniqueness), share(now)))
        bars.append(BarRow(words, entry.uniqueness, "before"))
        bars += [] if now is None else [BarRow(words, now, "after")]
    most = max(entries, key=lambda entry: entry.uniqueness)
    meaning = (
        f"An attacker who knows {in_words(most.groups)} of a person could single out {percent(most.uniqueness)} "
        "of the people in the original data."
    )
    alternative = listing("Singled out, before and after", rows)
    return Exhibit(
        Chart(BarPicture(tuple(bars), "singled out"), alternative, "Risk by what attackers know"),
        Grid(("an attacker knows", "singled out before", "after"), rows),
        meaning,
        "Singled out = records that are alone with their values of the known columns / all records.",
    )


def _frontier(found: Detection) -> Exhibit:
    entries = found.by_size
    rows = [(str(len(entry.columns)), in_words(entry.columns), percent(entry.uniqueness)) for entry in entries]
    bars = tuple(BarRow(str(len(entry.columns)), entry.uniqueness) for entry in entries)
    half = next((entry for entry in entries if entry.uniqueness >= 0.5), None)
    number = len((half or entries[-1]).columns)
    meaning = f"Even all {counted(number, 'column')} together single out fewer than half of the people."
    if half is not None:
        alone = f"{in_words(half.columns)} alone {'is' if number == 1 else 'are'} enough"
        meaning = (
            f"{alone} to single out {percent(half.uniqueness)} of the people: nobody needs to know everything about "
            "a person."
        )
    alternative = listing("The most identifying sets of columns", [row[1:] for row in rows])
    return Exhibit(
        Chart(
            BarPicture(bars, "singled out", "columns known", upright=True), alternative, "How few columns are enough"
        ),
        Grid(("columns", "the most identifying", "singled out"), rows, 2, wrap=(1,)),
        meaning,
        "For each number m of columns: the set of m columns by which most records are alone, of all sets of m.",
    )


def _population(risk: ReportedRisk) -> Notes:
    """Whether the figures are about the table alone, or about the people whom it was drawn from."""
    journalist = risk.journalist
    if journalist is None:
        return Notes(
            ["These figures are about the table alone: somebody who is unique in it may have doubles outside it."]
        )
    by = " from the weights alone, which are the same for rare and frequent combinations,"
    return Notes(
        [
            f"{risk.in_population.capitalize()} that the table is a sample of,"
            f"{by if risk.journalist_by == 'weights' else ''} the highest risk is "
            f"{share(journalist.highest)} and the average risk {share(journalist.average)}."
        ]
    )


# What a leak of a part of the release would do.


_FORMULA = (
    "P = (1/D) Σ (1 - C(D-k, L) / C(D, L)) over all classes: D persons, L of them leaked, k in the class (Antoniou "
    "et al., Eq. 5 for any class sizes)."
)


def leak(found: ReportFindings) -> Chapter | None:
    """How likely one person is re-identified if a part of the release is stolen, and what the policy asks for."""
    answers = [] if found.leak is None else found.leak.answers
    parts: list[Section] = [_promised(one, one.threshold) for one in answers if one.threshold is not None]
    if single := single_leaks(found):
        parts.append(leak_exhibit(single))
    about = "How likely people are re-identified if a part of the release is stolen."
    return Chapter("leak", "After a leak", about, parts) if parts else None


def single_leaks(found: ReportFindings) -> list[LeakRisk]:
    """The answers of the curve: one person, and no question of the policy."""
    answers = [] if found.leak is None else found.leak.answers
    return [one for one in answers if one.targets == 1 and one.threshold is None]


def _promised(one: LeakRisk, threshold: float) -> Headline:
    """The question of the policy and its answer."""
    who = "one person" if one.targets == 1 else f"{one.targets:,} people"
    are = "is" if one.targets == 1 else "are all"
    chance, limit = told_apart(one.probability, threshold)
    within = one.probability <= threshold * (1 + 1e-9)
    text = (
        f"What the policy asks: if {percent(_part(one))} of the people leak, {who} picked at random {are} "
        f"re-identified with a probability of {chance}, {'within' if within else 'above'} the limit of {limit}."
    )
    return Headline(text, "good" if within else "bad")


def _part(one: LeakRisk) -> float:
    return one.leaked / max(one.persons, 1)


def leak_exhibit(answers: Sequence[LeakRisk]) -> Exhibit:
    """The probability that one person is found again, over the part that leaks."""
    points = tuple(LinePoint(_part(one), one.probability) for one in answers)
    rows = [(percent(point.x), percent(point.y)) for point in points]
    tenth = min(points, key=lambda point: abs(point.x - 0.1))
    picture = LinePicture(points, "part that leaks", "one person is re-identified")
    alternative = listing("One person is re-identified if so much leaks", rows)
    return Exhibit(
        Chart(picture, alternative, "If a part of the release is stolen"),
        Grid(("part that leaks", "one person is re-identified"), rows, 0),
        f"If {percent(tenth.x)} of the people in the release leaked, one person picked at random would be "
        f"re-identified with a probability of {percent(tenth.y)}.",
        _FORMULA,
    )


# What somebody who knows a few items or events of a person finds, before and after.


def known_items(found: ReportFindings) -> Chapter | None:
    """The combinations of each size that one person alone has, and the persons whom some of theirs single out."""
    before = None if found.risk.before is None else found.risk.before.known
    if not before:
        return None
    after = {one.known: one for one in (found.risk.after.known if found.risk.after else None) or []}
    rows = []
    for one in before:
        later = after.get(one.known)
        left = ("–", "–") if later is None else (f"{later.k:,}", percent(later.alone))
        rows.append((f"{one.known}", f"{one.combinations:,}", f"{one.uniques:,}", percent(one.alone), *left))
    heads = ("known", "combinations", "of one person", "alone before", "fewest who share one after", "alone after")
    most = before[-1]
    words = (
        f"Before the change, {counted(most.known, 'item')} of a person, drawn at random, told {percent(most.alone)} of "
        "the persons from all others."
    )
    about = "Of items or events somebody rarely knows all, and often knows a few."
    return Chapter("known-items", "What a few items give away", about, [Notes([words]), Grid(heads, rows)])
