"""What attackers may know, and how exposed people were before anything was changed."""

from __future__ import annotations

from shoal.reports.chapters.base import Chapter, Exhibit, Found, Part, listing, risk_of, share
from shoal.results import Chart, Grid, Headline, Notes
from shoal.wording import counted, in_words, percent


def knowledge(found: Found) -> Chapter | None:
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


def before(found: Found) -> Chapter | None:
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


def _by_knowledge(found: Found) -> Exhibit | None:
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
    return Exhibit(
        Chart("shares", {"rows": chart, "title": "singled out"}, listing("Singled out, before and after", rows),
              "Risk by what attackers know"),
        Grid(("an attacker knows", "singled out before", "after"), rows),
        meaning,
        "Singled out = records that are alone with their values of the known columns / all records.",
    )  # fmt: skip


def _frontier(found: Found) -> Exhibit | None:
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
    return Exhibit(
        Chart("steps", {"rows": chart, "title": "singled out", "x": "columns known"},
              listing("The most identifying sets of columns", [row[1:] for row in rows]), "How few columns are enough"),
        Grid(("columns", "the most identifying", "singled out"), rows, 2, wrap=(1,)),
        meaning,
        "For each number m of columns: the set of m columns by which most records are alone, of all sets of m.",
    )  # fmt: skip


def _population(risk: Found) -> Notes:
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
