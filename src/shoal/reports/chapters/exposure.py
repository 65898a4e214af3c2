"""What attackers may know, and how exposed people were before anything was changed."""

from __future__ import annotations

from typing import Any

from shoal.reports.chapters.base import Chapter, JsonFindings, Part, ReportExhibit, listing, risk_of, share, told_apart
from shoal.results import Chart, Grid, Headline, Notes
from shoal.wording import counted, in_words, percent


def knowledge(found: JsonFindings) -> Chapter | None:
    """What others may know of a person, by the policy; how far each of that singles people out."""
    risk = risk_of(found, "before")
    if risk is None:
        return None
    exhibit = _by_knowledge(found)
    columns = in_words(risk["quasi_identifiers"])
    notes = [
        f"At most, an attacker is taken to know {columns} of a person: the quasi-identifiers, and no other column."
    ]
    if exhibit is None:
        notes.append("The policy names no sources with a part of these columns (its section knowledge).")
    about = "What others may know of a person: the sources that the figures of this report are about."
    return Chapter("knowledge", "What attackers may know", about, [Notes(notes), *([exhibit] if exhibit else [])])


def before(found: JsonFindings) -> Chapter | None:
    """Singled out by all columns, by the fewest columns, and in the population."""
    risk = risk_of(found, "before")
    if risk is None:
        return None
    columns = in_words(risk["quasi_identifiers"])
    sections: list[Part] = [
        Headline(
            f"{percent(risk['uniqueness'])} of the records are the only ones with their values of {columns}: anybody "
            "who knows these values of a person finds the record.",
            "bad" if risk["uniques"] else "good",
        )
    ]
    sections += [part] if (part := _frontier(found)) is not None else []
    sections.append(_population(risk))
    about = "How exposed the people were before anything was changed."
    return Chapter("identifiability", "Identifiability before", about, sections)


def _by_knowledge(found: JsonFindings) -> ReportExhibit | None:
    entries = (risk_of(found, "before") or {}).get("knowledge") or []
    if not entries:
        return None
    later = {tuple(one["groups"]): one["uniqueness"] for one in (risk_of(found, "after") or {}).get("knowledge") or []}
    rows, chart = [], []
    for entry in entries:
        words, now = " + ".join(entry["groups"]), later.get(tuple(entry["groups"]))
        rows.append((words, percent(entry["uniqueness"]), "–" if now is None else percent(now)))
        chart.append({"label": words, "when": "before", "share": entry["uniqueness"]})
        chart += [] if now is None else [{"label": words, "when": "after", "share": now}]
    most = max(entries, key=lambda entry: entry["uniqueness"])
    meaning = (
        f"An attacker who knows {in_words(most['groups'])} of a person could single out {percent(most['uniqueness'])} "
        "of the people in the original data."
    )
    return ReportExhibit(
        Chart("shares", {"rows": chart, "title": "singled out"}, listing("Singled out, before and after", rows),
              "Risk by what attackers know"),
        Grid(("an attacker knows", "singled out before", "after"), rows),
        meaning,
        "Singled out = records that are alone with their values of the known columns / all records.",
    )  # fmt: skip


def _frontier(found: JsonFindings) -> ReportExhibit | None:
    entries = (found["detect"] or {}).get("by_size") or []
    if not entries:
        return None
    rows = [(str(len(entry["columns"])), in_words(entry["columns"]), percent(entry["uniqueness"])) for entry in entries]
    chart = [{"label": str(len(entry["columns"])), "share": entry["uniqueness"]} for entry in entries]
    half = next((entry for entry in entries if entry["uniqueness"] >= 0.5), None)
    number = len((half or entries[-1])["columns"])
    meaning = f"Even all {counted(number, 'column')} together single out fewer than half of the people."
    if half is not None:
        alone = f"{in_words(half['columns'])} alone {'is' if number == 1 else 'are'} enough"
        meaning = (
            f"{alone} to single out {percent(half['uniqueness'])} of the people: nobody needs to know everything about "
            "a person."
        )
    return ReportExhibit(
        Chart("steps", {"rows": chart, "title": "singled out", "x": "columns known"},
              listing("The most identifying sets of columns", [row[1:] for row in rows]), "How few columns are enough"),
        Grid(("columns", "the most identifying", "singled out"), rows, 2, wrap=(1,)),
        meaning,
        "For each number m of columns: the set of m columns by which most records are alone, of all sets of m.",
    )  # fmt: skip


def _population(risk: JsonFindings) -> Notes:
    """Whether the figures are about the table alone, or about the people whom it was drawn from."""
    journalist = risk.get("journalist")
    if not journalist:
        return Notes(
            ["These figures are about the table alone: somebody who is unique in it may have doubles outside it."]
        )
    return Notes(
        [
            "Counted in the population that the table is a sample of, the highest risk is "
            f"{share(journalist['highest'])} and the average risk {share(journalist['average'])}."
        ]
    )


# What a leak of a part of the release would do.


_FORMULA = (
    "P = (1/D) Σ (1 - C(D-k, L) / C(D, L)) over all classes: D persons, L of them leaked, k in the class (Antoniou "
    "et al., Eq. 5 for any class sizes)."
)


def leak(found: JsonFindings) -> Chapter | None:
    """How likely one person is re-identified if a part of the release is stolen, and what the policy asks for."""
    answers = (found["leak"] or {}).get("answers") or []
    single = [one for one in answers if one["targets"] == 1 and one.get("threshold") is None]
    parts: list[Part] = [_promised(one) for one in answers if one.get("threshold") is not None]
    if single:
        parts.append(_curve(single))
    about = "How likely people are re-identified if a part of the release is stolen."
    return Chapter("leak", "After a leak", about, parts) if parts else None


def _promised(one: dict[str, Any]) -> Headline:
    """The question of the policy and its answer."""
    part = percent(one["leaked"] / max(one["persons"], 1))
    who = "one person" if one["targets"] == 1 else f"{one['targets']:,} people"
    are = "is" if one["targets"] == 1 else "are all"
    chance, limit = told_apart(one["probability"], one["threshold"])
    within = one["probability"] <= one["threshold"] * (1 + 1e-9)
    text = (
        f"What the policy asks: if {part} of the people leak, {who} picked at random {are} re-identified with a "
        f"probability of {chance}, {'within' if within else 'above'} the limit of {limit}."
    )
    return Headline(text, "good" if within else "bad")


def _curve(answers: list[dict[str, Any]]) -> ReportExhibit:
    shares = [(one["leaked"] / max(one["persons"], 1), one["probability"]) for one in answers]
    rows = [(percent(part), percent(probability)) for part, probability in shares]
    chart = [{"x": part, "y": probability} for part, probability in shares]
    tenth = min(shares, key=lambda pair: abs(pair[0] - 0.1))
    return ReportExhibit(
        Chart("curve", {"rows": chart, "x": "part that leaks", "y": "one person is re-identified"},
              listing("One person is re-identified if so much leaks", rows), "If a part of the release is stolen"),
        Grid(("part that leaks", "one person is re-identified"), rows, 0),
        f"If {percent(tenth[0])} of the people in the release leaked, one person picked at random would be "
        f"re-identified with a probability of {percent(tenth[1])}.",
        _FORMULA,
    )  # fmt: skip
