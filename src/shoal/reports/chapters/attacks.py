"""What was tried against the release."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, get_args

from shoal.attacks import ATTACKS, AttackOutcome, Criterion
from shoal.attacks.base import OF_TWIN, ends_of, twin_in
from shoal.policy.sections import AttackLimits
from shoal.reports.chapters.base import (
    Chapter,
    JsonFindings,
    Meaning,
    Part,
    ReportExhibit,
    listing,
    share,
    with_interval,
)
from shoal.results import Cell, Chart, Grid, Headline
from shoal.wording import in_words, percent

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


def attacks(found: JsonFindings) -> Chapter:
    """The worst attack, verdicts with limits, who attacks with what, every rate with control and interval."""
    about = "What was tried against the release, as an attacker would."
    if found["attacks"] is None:
        return Chapter("attacks", "Attacks", "No attack was tried.", [])
    shown = _on_release(outcomes_of(found))
    sections: list[Part] = worst_parts(found)
    sections += [_verdicts(found), _explained(shown)] if shown else [_verdicts(found)]
    if [one for one in shown if one.rate is not None]:
        sections.append(_exhibit(found, shown))
    notes = [(one.name, _sentences(one.notes)) for one in shown if one.notes]
    sections += [Grid(("attack", "remarks"), notes, 2, title="What was noticed", wrap=(0, 1))] if notes else []
    return Chapter("attacks", "Attacks", about, sections)


def _sentences(notes: list[str]) -> str:
    return " ".join(f"{note[:1].upper()}{note[1:]}." for note in notes)


def attacks_by_criterion(found: JsonFindings) -> list[Chapter]:
    """The same facts, one chapter for each of the criteria of WP29."""
    chapters = []
    for criterion in get_args(Criterion)[:3]:
        outcomes = [one for one in outcomes_of(found) if one.criterion == criterion]
        rows = [_rates(one, outcomes) for one in _on_release(outcomes)]
        title = criterion.replace("-", " ").capitalize()
        word = _word(found, criterion).text if found["attacks"] else "not tested"
        sections: list[Part] = [Headline(f"{title}: {word}."), Grid(_HEADS, rows)]
        chapters.append(Chapter(f"attacks-{criterion}", title, "", sections))
    return chapters


def outcomes_of(found: JsonFindings) -> list[AttackOutcome]:
    """Every attack as it was found."""
    known = {field.name for field in fields(AttackOutcome)}
    entries = (found["attacks"] or {}).get("attacks") or []
    return [AttackOutcome(**{key: value for key, value in one.items() if key in known}) for one in entries]


def _on_release(outcomes: list[AttackOutcome]) -> list[AttackOutcome]:
    return [one for one in outcomes if not one.name.endswith(OF_TWIN)]


def _beside(one: AttackOutcome, outcomes: list[AttackOutcome]) -> AttackOutcome:
    """The outcome that has the control: the attack itself, or that on the twin."""
    return one if one.control is not None else twin_in(one, outcomes) or one


def worst_attack(found: JsonFindings) -> Headline | None:
    """The attack that gains most from a person's being in the data, beside its control; None where none was tried."""
    return _worst(found)[0]


def _worst(found: JsonFindings) -> tuple[Headline | None, AttackOutcome | None]:
    """What to say of the worst attack, and which it is, where one gains for certain."""
    outcomes = outcomes_of(found)
    shown = [one for one in _on_release(outcomes) if one.rate is not None]
    if not shown:
        return None, None
    failed = [name for name, word in found["attacks"]["verdict"].items() if word == "fail"]
    above = f"Above the policy's limit: {in_words(failed)}. " if failed else ""
    known = [(one, beside) for one in shown if (beside := _beside(one, outcomes)).excess is not None]
    if not known:
        most = max(shown, key=lambda one: one.rate or 0)
        text = (
            f"No attack could be compared with people who are not in the data. {most.name} succeeds most often: for "
            f"{share(most.rate)} of the people in it, where guessing is right for {share(most.baseline)}."
        )
        return Headline(above + text, "warning"), None
    proven = [pair for pair in known if (pair[1].excess_low or 0) > 0]
    if not proven:
        one, beside = max(known, key=lambda pair: pair[1].excess_high or 0)
        text = (
            "No attack succeeded measurably more often on people in the data than on people who are not in it; with "
            f"95% confidence the excess is at most {share(beside.excess_high)} ({one.name})."
        )
        return Headline(above + text, "bad" if failed else "good"), None
    one, beside = max(proven, key=lambda pair: pair[1].excess or 0)
    tone = "bad" if failed else "plain" if one.criterion in _limits(found) else "warning"
    return Headline(above + _gains_most(one, beside), tone), one  # type: ignore[arg-type]


def worst_parts(found: JsonFindings) -> list[Part]:
    """The worst attack, who it is that attacks, and what an excess is."""
    worst, which = _worst(found)
    if worst is None:
        return []
    named = next((one for one in ATTACKS if which is not None and one.name == which.name), None)
    who = "" if named is None else f"The attacker: {named.knows} Success: {named.success} "
    return [worst, Meaning(f"{who}{_EXCESS}")]


def _gains_most(one: AttackOutcome, beside: AttackOutcome) -> str:
    own = share(one.rate)
    also = "" if own == share(beside.rate) else f" On the release itself it succeeds for {own}."
    return (
        f"Worst attack: {one.name}. It succeeds for {share(beside.rate)} of the people in the data and for "
        f"{share(beside.control)} of people who are not in it: an excess of "
        f"{with_interval(beside.excess, beside.excess_low, beside.excess_high).replace('(', '(95% interval ')}.{also}"
    )


def _word(found: JsonFindings, criterion: str) -> Cell:
    word = found["attacks"]["verdict"].get(criterion, "not tested")
    tried = any(one.criterion == criterion for one in outcomes_of(found))
    return _UNJUDGED if word == "not tested" and tried else _VERDICTS.get(word, Cell(word))


def _limits(found: JsonFindings) -> dict[str, float]:
    """The policy's own limits on attacks."""
    return AttackLimits.model_validate(found["policy"].get("attacks") or {}).limits()


def _verdicts(found: JsonFindings) -> Grid:
    limits = _limits(found)
    rows = []
    for criterion in found["attacks"]["verdict"]:
        ends = ends_of([one for one in outcomes_of(found) if one.criterion == criterion])
        told = percent(limits[criterion]) if criterion in limits else "none"
        rows.append((criterion, _word(found, criterion), told, share(max(ends.values(), default=None))))
    return Grid(("criterion", "verdict", "limit", "excess at most"), rows, 2, title="Verdicts", wrap=(1,))


def _explained(shown: list[AttackOutcome]) -> Grid:
    known = {one.name: one for one in ATTACKS}
    rows = [
        (one.name, one.criterion, known[one.name].knows, known[one.name].success) for one in shown if one.name in known
    ]
    return Grid(
        ("attack", "tests", "the attacker", "success means"), rows, 4, title="Who attacks, with what", wrap=(0, 2, 3)
    )


_HEADS = ("attack", "targets", "rate (95% interval)", "guessing", "on the twin", "control", "excess (95% interval)")


def _rates(one: AttackOutcome, outcomes: list[AttackOutcome]) -> tuple[str, ...]:
    beside = _beside(one, outcomes)
    return (
        one.name,
        f"{one.targets:,}",
        with_interval(one.rate, one.low, one.high),
        share(one.baseline),
        share(None if beside is one else beside.rate),
        share(beside.control),
        with_interval(beside.excess, beside.excess_low, beside.excess_high),
    )


def _exhibit(found: JsonFindings, shown: list[AttackOutcome]) -> ReportExhibit:
    outcomes = outcomes_of(found)
    chart: list[dict[str, Any]] = []
    for one in shown:
        if one.rate is not None:
            beside = _beside(one, outcomes)
            row = {key: getattr(one, key) for key in ("rate", "low", "high", "baseline")}
            twin = None if beside is one else beside.rate
            chart.append({"label": one.name, **row, "twin": twin, "control": beside.control})
    words = [(row["label"], share(row["rate"]), f"control {share(row['control'])}") for row in chart]
    most = max(chart, key=lambda row: row["rate"])
    meaning = (
        f"{most['label']} succeeds most often, for {share(most['rate'])} of the people it is tried on. A high rate "
        "alone does not mean that the release does harm: what counts is how far it lies above the control, the same "
        "attack on people who are not in the data."
    )
    return ReportExhibit(
        Chart(
            "attacks", {"rows": chart}, listing("Success of each attack", words), "Attacks, with controls and intervals"
        ),
        Grid(_HEADS, [_rates(one, outcomes) for one in shown]),
        meaning,
        _FORMULA,
    )
