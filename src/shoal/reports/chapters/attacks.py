"""What was tried against the release."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from shoal.attacks import ATTACKS, AttackOutcome, Criterion
from shoal.attacks.base import OF_TWIN, ends_of, exceeds, twin_in
from shoal.attacks.verification import likely_excess
from shoal.releases.compare import linked_section
from shoal.reports.chapters.base import Chapter, listing
from shoal.reports.findings import ReportFindings
from shoal.results import Cell, Chart, Exhibit, Grid, Headline, Meaning, Section
from shoal.results.sections import RatePicture, RateRow, Tone
from shoal.wording import in_words, percent, share, with_interval

_VERDICTS = {
    "pass": Cell("within the limit", "good"),
    "fail": Cell("above the limit", "bad"),
    "measured": Cell("measured; the policy sets no limit"),
    "not tested": Cell("not tested"),
}
_UNJUDGED = Cell("measured without a control: not judged", "warning")
_EXCESS = (
    "The excess is what being in the data adds: of the people on whom the attack would fail if they were not in the "
    "data, the share on whom it succeeds because they are."
)
_FORMULA = (
    "Rate = successes / targets, with its 95% interval; guessing: how often somebody is right who has not seen the "
    "release. Control: the rate of the same attack on people who are not in the data. Excess = 1 - (1 - rate) / (1 - "
    "control). To have people outside it, half of the people are released in the same way (the twin), and the other "
    "half are the control: rate and control of an excess are those of the twin. A limit is held against the upper end "
    "of the excess; an attack that does better on the release than on the twin is judged by its rate on the release."
)


_OWNERS = "Attacks need the original. What they measured is not part of the promise, and stands in the owner's report."


def attacks(found: ReportFindings) -> Chapter:
    """The worst attack, verdicts with limits, who attacks with what, every rate with control and interval."""
    about = "What was tried against the release, as an attacker would."
    if found.attacks is None:
        drawn = found.private_table is not None and found.context.edition == "public"
        return Chapter(
            "attacks", "Attacks", _OWNERS if drawn else "No attack was tried.", linked_section(found.linked or ())
        )
    outcomes = found.attacks.attacks
    shown = on_release(outcomes)
    sections: list[Section] = [*worst_parts(found), _verdicts(found), Meaning(_EXCESS)]
    sections += [explained(shown)] if shown else []
    if [one for one in shown if one.rate is not None]:
        sections.append(rates_exhibit(outcomes))
    notes = [(one.name, _sentences(one.notes)) for one in shown if one.notes]
    sections += [Grid(("attack", "remarks"), notes, 2, title="What was noticed", wrap=(0, 1))] if notes else []
    return Chapter("attacks", "Attacks", about, [*sections, *linked_section(found.linked or ())])


def _sentences(notes: list[str]) -> str:
    return " ".join(f"{note[:1].upper()}{note[1:]}." for note in notes)


def attacks_by_criterion(found: ReportFindings) -> list[Chapter]:
    """The same facts, one chapter for each of the criteria of WP29."""
    chapters = []
    for criterion in get_args(Criterion)[:3]:
        outcomes = [one for one in _outcomes(found) if one.criterion == criterion]
        title = criterion.replace("-", " ").capitalize()
        word = _word(found, criterion).text if found.attacks else "not tested"
        sections: list[Section] = [Headline(f"{title}: {word}."), rates_grid(outcomes)]
        chapters.append(Chapter(f"attacks-{criterion}", title, "", sections))
    return chapters


def _outcomes(found: ReportFindings) -> list[AttackOutcome]:
    return [] if found.attacks is None else found.attacks.attacks


def on_release(outcomes: Sequence[AttackOutcome]) -> list[AttackOutcome]:
    """Without those on the twin of the release."""
    return [one for one in outcomes if not one.name.endswith(OF_TWIN)]


def _beside(one: AttackOutcome, outcomes: Sequence[AttackOutcome]) -> AttackOutcome:
    """The outcome that has the control: the attack itself, or that on the twin."""
    return one if one.control is not None else twin_in(one, outcomes) or one


def worst_attack(found: ReportFindings) -> Headline | None:
    """The attack that gains most from a person's being in the data, beside its control; None where none was tried."""
    return _worst(found)[0]


def _worst(found: ReportFindings) -> tuple[Headline | None, AttackOutcome | None]:
    """What to say of the worst attack, and which it is, where one gains for certain."""
    outcomes = _outcomes(found)
    shown = [one for one in on_release(outcomes) if one.rate is not None]
    if found.attacks is None or not shown:
        return None, None
    failed = [name for name, word in found.attacks.verdict.items() if word == "fail"]
    above = f"Above the policy's limit: {in_words(failed)}. " if failed else ""
    known = [(one, beside) for one in shown if (beside := _beside(one, outcomes)).excess is not None]
    if not known:
        most = max(shown, key=lambda one: one.rate or 0)
        text = (
            f"No attack could be compared with people who are not in the data. {most.name} succeeds most often: for "
            f"{share(most.rate)} of the people in it, where guessing is right for {share(most.baseline)}."
        )
        return Headline(above + text, "warning"), None
    proven = [pair for pair in known if exceeds(*pair) or (pair[1].excess_low or 0) > 0]
    if not proven:
        one, beside = max(known, key=lambda pair: pair[1].excess_high or 0)
        text = (
            "No attack succeeded measurably more often on people in the data than on people who are not in it; with "
            f"95% confidence the excess is at most {share(beside.excess_high)} ({one.name})."
        )
        return Headline(above + text, "bad" if failed else "good"), None
    one, beside = max(proven, key=lambda pair: likely_excess(*pair) or 0)
    tone: Tone = "bad" if failed else "plain" if found.policy.limit(one.criterion) is not None else "warning"
    return Headline(above + _gains_most(one, beside), tone), one


def worst_parts(found: ReportFindings) -> list[Section]:
    """The worst attack, and who it is that attacks."""
    worst, which = _worst(found)
    if worst is None:
        return []
    named = next((one for one in ATTACKS if which is not None and one.name == which.name), None)
    return [worst] if named is None else [worst, Meaning(f"The attacker: {named.knows} Success: {named.success}")]


def _gains_most(one: AttackOutcome, beside: AttackOutcome) -> str:
    judged = one if exceeds(one, beside) else beside
    return (
        f"Worst attack: {one.name}. It succeeds for {share(judged.rate)} of the people in the data and for "
        f"{share(beside.control)} of people who are not in it."
    )


def _word(found: ReportFindings, criterion: str) -> Cell:
    verdicts: dict[str, str] = {} if found.attacks is None else dict(found.attacks.verdict)
    word = verdicts.get(criterion, "not tested")
    tried = any(one.criterion == criterion for one in _outcomes(found))
    return _UNJUDGED if word == "not tested" and tried else _VERDICTS.get(word, Cell(word))


def _verdicts(found: ReportFindings) -> Grid:
    rows = []
    for criterion in found.attacks.verdict if found.attacks else ():
        ends = ends_of([one for one in _outcomes(found) if one.criterion == criterion])
        limit = found.policy.limit(criterion)
        told = "none" if limit is None else percent(limit)
        rows.append((criterion, _word(found, criterion), told, share(max(ends.values(), default=None))))
    return Grid(("criterion", "verdict", "limit", "excess at most"), rows, 2, title="Verdicts", wrap=(1,))


def explained(shown: Sequence[AttackOutcome]) -> Grid:
    """Who it is that attacks, and what a success is, by the attacks' own words."""
    known = {one.name: one for one in ATTACKS}
    rows = [
        (one.name, one.criterion, known[one.name].knows, known[one.name].success) for one in shown if one.name in known
    ]
    return Grid(
        ("attack", "tests", "the attacker", "success means"), rows, 4, title="Who attacks, with what", wrap=(0, 2, 3)
    )


_HEADS = ("attack", "targets", "rate (95% interval)", "guessing", "on the twin", "control", "excess (95% interval)")


def rates_grid(outcomes: Sequence[AttackOutcome]) -> Grid:
    """Every attack on the release with its rate, beside guessing, its twin and its control."""
    return Grid(_HEADS, [_rates(one, _beside(one, outcomes)) for one in on_release(outcomes)])


def _rates(one: AttackOutcome, beside: AttackOutcome) -> tuple[str, ...]:
    return (
        one.name,
        f"{one.targets:,}",
        with_interval(one.rate, one.low, one.high),
        share(one.baseline),
        share(None if beside is one else beside.rate),
        share(beside.control),
        with_interval(beside.excess, beside.excess_low, beside.excess_high),
    )


def rates_exhibit(outcomes: Sequence[AttackOutcome]) -> Exhibit:
    """The rates on one axis; those of which none is known are in the table alone."""
    rows = []
    for one in on_release(outcomes):
        if one.rate is not None:
            beside = _beside(one, outcomes)
            twin = None if beside is one else beside.rate
            rows.append(RateRow(one.name, one.rate, one.low, one.high, one.baseline, beside.control, twin))
    words = [(row.label, share(row.rate), f"control {share(row.control)}") for row in rows]
    most = max(rows, key=lambda row: row.rate or 0)
    meaning = (
        f"{most.label} succeeds most often, for {share(most.rate)} of the people it is tried on. A high rate "
        "alone does not mean that the release does harm: what counts is how far it lies above the control, the same "
        "attack on people who are not in the data."
    )
    alternative = listing("Success of each attack", words)
    chart = Chart(RatePicture(tuple(rows)), alternative, "Attacks, with controls and intervals")
    return Exhibit(chart, rates_grid(outcomes), meaning, _FORMULA)
