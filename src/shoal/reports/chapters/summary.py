"""The result in short."""

from __future__ import annotations

from shoal.reports.chapters.attacks import worst_parts
from shoal.reports.chapters.base import (
    Chapter,
    Found,
    Meaning,
    Part,
    judged_risk,
    models_grid,
    over_population,
    risk_of,
    risk_words,
    share,
    threshold_of,
    told_apart,
)
from shoal.results import Grid, Headline
from shoal.wording import counted, percent

_FORMULAS = (
    "A class: the records that have the same values of all quasi-identifiers. k = records of the smallest class. "
    "Risk of a record = 1 / records of its class; highest risk = 1 / k; average risk = classes / records. In the "
    "population: the same with the people that the records of a class stand for."
)


def summary(found: Found) -> Chapter:
    """What was released, how far people could be found before, how far now, what attacks gained, what was promised."""
    before, after = risk_of(found, "before"), risk_of(found, "after")
    sections: list[Part] = []
    if before and after:
        sections += [_headline(before, after), *_threshold(found, after)]
        sections += [*worst_parts(found), _risks(before, after), _meaning(after)]
    if found["verification"] is not None:
        sections.append(models_grid(found["verification"], "What was promised, measured on the released file"))
    return Chapter("summary", "Summary", _about(found), sections)


def _about(found: Found) -> str:
    data = found["data"]
    table = f"{counted(data['records'], 'record')} in {counted(data['columns'], 'column')}"
    columns = [entry for entry in (found["change"] or {}).get("columns") or [] if entry["released"]]
    if found.get("refusal") is not None:
        return f"{table}; refused on {found['created'][:10]}: nothing was released."
    if not data["released"] or not columns:
        return f"{table}; nothing was released."
    return (
        f"{table}; released on {found['created'][:10]}: {counted(data['released'], 'record')} in "
        f"{counted(len(columns), 'column')}."
    )


def _headline(before: Found, after: Found) -> Headline:
    if after["k"] > 1:
        others = f"at least {after['k'] - 1:,} other{'' if after['k'] == 2 else 's'}"
        text = (
            f"Before, {percent(before['uniqueness'])} of the records were unique in their quasi-identifiers; now every "
            f"record shares them with {others}."
        )
        return Headline(text, "good")
    return Headline(
        f"{percent(after['uniqueness'])} of the released records are unique in their quasi-identifiers.", "bad"
    )


def _threshold(found: Found, after: Found) -> list[Part]:
    """Whether the risk that is left is within what is accepted: said plainly either way."""
    level, highest = threshold_of(found), judged_risk(after)["highest"]
    if level is None or highest is None:
        return []
    risk, limit = told_apart(highest, level[0])
    named = f"the threshold of {limit}{f' ({level[1]})' if level[1] else ''}"
    where = ", counted in the population," if over_population(after) else ","
    if highest <= level[0] * (1 + 1e-9):
        return [Headline(f"The highest risk that is left{where} {risk}, is within {named}.", "good")]
    text = (
        f"The highest risk that is left{where} {risk}, is above {named}: whoever signs must say why it is accepted, or "
        "the policy must ask for more."
    )
    return [Headline(text, "bad")]


def _risks(before: Found, after: Found) -> Grid:
    rows: list[tuple[str, ...]] = [
        ("records", f"{before['records']:,}", f"{after['records']:,}"),
        ("smallest class (k)", f"{before['k']:,}", f"{after['k']:,}"),
        ("unique in the quasi-identifiers", percent(before["uniqueness"]), percent(after["uniqueness"])),
    ]
    for words, key in (("", "prosecutor"), (" in the population", "journalist")):
        if before.get(key) and after.get(key):
            rows += [
                (f"highest risk{words}", *(risk_words(risk[key]["highest"]) for risk in (before, after))),
                (f"average risk{words}", *(share(risk[key]["average"]) for risk in (before, after))),
            ]
    return Grid(("figure", "before", "after"), rows, title="The risk in figures")


def _meaning(after: Found) -> Meaning:
    highest = after["prosecutor"]["highest"]
    chance = "finds it" if highest == 1 else f"is right with a probability of at most {share(highest)}"
    text = (
        "For a person in the data: somebody who knows their values of all quasi-identifiers, and that they are in the "
        f"data, and then guesses which record is theirs, {chance}."
    )
    if over_population(after):
        text += (
            " Somebody who does not know whether they are in the data is right with a probability of at most "
            f"{share(after['journalist']['highest'])}."
        )
    return Meaning(text, _FORMULAS)
