"""Who receives the data under which controls, and what each column is."""

from __future__ import annotations

from typing import Any

from shoal.reports.chapters.base import Chapter, Found, Meaning, Part, threshold_of
from shoal.results import Cell, Figure, Figures, Grid, Notes
from shoal.wording import in_words, percent

_CONTEXT = {
    "recipient": "recipient",
    "purpose": "purpose",
    "controls": "controls",
    "motives": "possible attackers and their motives",
    "precedent": "reason why this risk is accepted",
    "responsible": "person responsible",
    "expires": "date of expiry",
}
_ROLES = {
    "identifier": "names a person by itself; it is never released",
    "quasi-identifier": "others may know it, and together with others it can point to a person",
    "sensitive": "what nobody should learn about a person",
    "other": "taken to be unknown to others",
    "text": "free text, in which identifiers are replaced",
}
_FORMS = {
    "range": "generalised to ranges",
    "columns": "generalised to ranges in two columns",
    "set": "generalised to sets of values",
    "node": "generalised to named groups",
    "label": "generalised to labels",
    "mean": "replaced by means of groups",
    "midpoint": "replaced by middles of ranges",
    "suppressed-cells": "single cells hidden",
    "perturbed": "changed at random",
    "recoded": "recoded",
    "pseudonym": "replaced by pseudonyms",
    "shifted": "dates shifted",
    "scrubbed": "identifiers in the text replaced",
}
# what profile says to whoever decides: in a report it is decided
_TO_DECIDE = "No rule recognised it"


def context(found: Found) -> Chapter:
    """What the policy says about the release; what it does not say is named."""
    told = found["context"]
    known = [Figure(words, str(told[key])) for key, words in _CONTEXT.items() if told.get(key)]
    level = threshold_of(found)
    if level is not None:
        named = f" ({level[1]})" if level[1] else ""
        known.append(Figure("threshold: the highest risk that is accepted", f"{percent(level[0])}{named}"))
    sections: list[Part] = [Figures(known)] if known else []
    if unsaid := [words for key, words in _CONTEXT.items() if not told.get(key)]:
        sections.append(Notes([f"The policy does not state, in its section context: {in_words(unsaid)}."]))
    about = "Who receives the data, under which controls, and who could attack it."
    return Chapter("context", "Context", about, sections)


def data(found: Found) -> Chapter:
    """Each column: role, technique, reason."""
    columns = (found["change"] or {}).get("columns") or []
    rows = [(entry["column"], entry["role"], _technique(entry), _reason(entry)) for entry in columns]
    about = "Each column: the part that it can play in finding a person, what was done to it, and why."
    held = {entry["role"] for entry in columns}
    roles = [f"{role}: {words}." for role, words in _ROLES.items() if role in held]
    sections: list[Part] = [Notes(roles)] if roles else [Meaning("Nothing was changed.")]
    return Chapter(
        "data", "Data", about, [*sections, Grid(("column", "role", "technique", "reason"), rows, 4, wrap=(0, 2, 3))]
    )


def _reason(entry: dict[str, Any]) -> str:
    reasons = [words for words in entry["reasons"] if not words.startswith(_TO_DECIDE)]
    return " ".join(reasons or entry["reasons"])


def _technique(entry: dict[str, Any]) -> str | Cell:
    if not entry["released"]:
        return "removed"
    if entry["technique"] == "none":
        return Cell("kept as it was", "dim")
    words = _FORMS.get(entry.get("form", ""))
    return f"{words} by {entry['technique']}" if words else str(entry["technique"])
