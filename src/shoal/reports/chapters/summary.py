"""The result in short."""

from __future__ import annotations

from shoal.reports.chapters.base import Chapter, Found, Meaning, Part, models_grid, one_in, risk_of, share, threshold_of
from shoal.results import Grid, Headline
from shoal.wording import counted, percent

_FORMULAS = (
    "A class: the records that have the same values of all quasi-identifiers. k = records of the smallest class. "
    "Risk of a record = 1 / records of its class; highest risk = 1 / k; average risk = classes / records."
)


def summary(found: Found) -> Chapter:
    """What was released, how far people could be found before, how far now, and what was promised."""
    before, after, data = risk_of(found, "before"), risk_of(found, "after"), found["data"]
    sections: list[Part] = []
    if before and after:
        sections += [_headline(before, after), *_threshold(found, after), _risks(before, after), _meaning(after)]
    if found["verification"] is not None:
        sections.append(models_grid(found["verification"], "What was promised, measured on the released file"))
    table = f"{counted(data['records'], 'record')} in {counted(data['columns'], 'column')}"
    released = f"{counted(data['released'], 'record')} released" if data["released"] != data["records"] else "released"
    if found.get("refusal") is not None:
        released = "refused"
    return Chapter("summary", "Summary", f"{table}, {released} on {found['created'][:10]}.", sections)


def _headline(before: Found, after: Found) -> Headline:
    if after["k"] > 1:
        text = (
            f"Before, {percent(before['uniqueness'])} of the records were the only ones with their values; now every "
            f"record shares its values with {after['k'] - 1:,} others at least."
        )
        return Headline(text, "good")
    return Headline(
        f"{percent(after['uniqueness'])} of the released records are the only ones with their values.", "bad"
    )


def _threshold(found: Found, after: Found) -> list[Part]:
    """Whether the risk that is left is within what is accepted: said plainly either way."""
    level, highest = threshold_of(found), after["prosecutor"]["highest"]
    if level is None or highest is None:
        return []
    if highest <= level[0] * (1 + 1e-9):
        return [
            Headline(f"The highest risk that is left, {highest:.3g}, is within the threshold of {level[1]}.", "good")
        ]
    text = (
        f"The highest risk that is left, {highest:.3g}, is above the threshold of {level[1]}: whoever signs must say "
        "why it is accepted, or the policy must ask for more."
    )
    return [Headline(text, "bad")]


def _risks(before: Found, after: Found) -> Grid:
    rows = [
        ("records", f"{before['records']:,}", f"{after['records']:,}"),
        ("smallest class (k)", f"{before['k']:,}", f"{after['k']:,}"),
        ("the only one of their kind", percent(before["uniqueness"]), percent(after["uniqueness"])),
        ("highest risk", one_in(before["prosecutor"]["highest"]), one_in(after["prosecutor"]["highest"])),
        ("average risk", share(before["prosecutor"]["average"]), share(after["prosecutor"]["average"])),
    ]
    return Grid(("figure", "before", "after"), rows, title="The risk in figures")


def _meaning(after: Found) -> Meaning:
    highest = one_in(after["prosecutor"]["highest"])
    chance = "is certain to find them" if highest == "certain" else f"is right {highest}"
    text = (
        "For a person in the data: somebody who knows their values of all these columns, and that they are in the "
        f"data, and then guesses which record is theirs, {chance} at best."
    )
    return Meaning(text, _FORMULAS)
