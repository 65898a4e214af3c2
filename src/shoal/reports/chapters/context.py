"""Who receives the data under which controls, and what each column is."""

from __future__ import annotations

from typing import Any

from shoal.reports.chapters.base import Chapter, Found, Meaning, Part, threshold_of
from shoal.results import Cell, Figure, Figures, Grid, Notes
from shoal.wording import in_words

_CONTEXT = {
    "recipient": "who receives it",
    "purpose": "what for",
    "controls": "how it is kept",
    "motives": "who might try to find people, and why",
    "precedent": "why this risk is accepted",
    "responsible": "who answers for it",
    "expires": "this assessment is valid until",
}
_ROLES = {
    "identifier": "names a person by itself; it is never released",
    "quasi-identifier": "others may know it, and together with others it can point to a person",
    "sensitive": "what nobody should learn about a person",
    "other": "taken to be unknown to others",
}


def context(found: Found) -> Chapter:
    """What the policy says about the release; what it does not say is named."""
    told = found["context"]
    known = [Figure(words, str(told[key])) for key, words in _CONTEXT.items() if told.get(key)]
    level = threshold_of(found)
    if level is not None:
        known.append(Figure("the highest risk that is accepted", level[1]))
    sections: list[Part] = [Figures(known)] if known else []
    if unsaid := [words for key, words in _CONTEXT.items() if not told.get(key)]:
        sections.append(Notes([f"Not said in the policy's section `context`: {in_words(unsaid)}."]))
    about = "Who receives the data, under which controls, and who could attack it."
    return Chapter("context", "Context", about, sections)


def data(found: Found) -> Chapter:
    """Each column: role, technique, reason."""
    columns = (found["change"] or {}).get("columns") or []
    rows = [(entry["column"], entry["role"], _technique(entry), " ".join(entry["reasons"])) for entry in columns]
    about = "Each column: the part that it can play in finding a person, what was done to it, and why."
    held = {entry["role"] for entry in columns}
    roles = "; ".join(f"{role}: {words}" for role, words in _ROLES.items() if role in held)
    sections: list[Part] = [Meaning(f"The roles. {roles[:1].upper()}{roles[1:]}.")] if roles else []
    return Chapter(
        "data", "Data", about, [*sections, Grid(("column", "role", "technique", "reason"), rows, 4, wrap=(0, 3))]
    )


def _technique(entry: dict[str, Any]) -> str | Cell:
    if not entry["released"]:
        return "removed"
    return Cell("kept as it was", "dim") if entry["technique"] == "none" else entry["technique"]
