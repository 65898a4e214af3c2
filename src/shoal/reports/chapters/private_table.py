"""A table under differential privacy: the promise, the budget of every step, what was public; errors for its owner."""

from __future__ import annotations

import math

from shoal.reports.chapters.base import Chapter
from shoal.reports.findings import ReportFindings
from shoal.results import Figures, Grid, Headline, Meaning, Notes, Section
from shoal.wording import in_words


def private_table(found: ReportFindings) -> Chapter | None:
    """What differential privacy promises about one person, and what that cost."""
    made = found.private_table
    if made is None:
        return None
    factor = math.exp(min(made.epsilon, 50))
    sections: list[Section] = [
        Headline(made.summary(), "good"),
        Meaning(
            f"For one {made.unit}: whatever anybody concludes from this table, they conclude it with nearly the same "
            f"probability without that one, within a factor of {factor:.3g}, but for a chance of {made.delta:g}. That "
            "holds whatever else they know, and adds up with other releases about the same people.",
            "P[M(D) ∈ S] ≤ e^ε P[M(D') ∈ S] + δ",
        ),
    ]
    sections += [part for part in made.sections() if isinstance(part, (Figures, Grid))]
    from shoal.dp.tables.results import beside_sections

    sections += beside_sections(made.beside or [])
    rows = [(name, one["source"], f"{one['cells']:,}", _bounds(one)) for name, one in made.public["domains"].items()]
    sections.append(Grid(("column", "domain from", "cells", "values"), rows, 2, title="Taken as public", wrap=(3,)))
    sections.append(Notes(["every record is synthetic: none is anybody's own"]))
    about = "What the table promises about each person in the data, and what was spent on it."
    return Chapter("differential-privacy", "Differential privacy", about, sections)


def _bounds(one: dict[str, object]) -> str:
    values = one.get("values")
    if isinstance(values, list):
        return in_words([str(value) for value in values], more="values")
    return f"{one['min']} to {one['max']}"
