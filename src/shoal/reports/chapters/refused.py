"""What stands first where a release was refused: it is evidence, not a report of something that was released."""

from __future__ import annotations

from shoal.reports.chapters.base import Chapter, Found
from shoal.results import Figure, Figures, Headline


def refused(found: Found) -> Chapter | None:
    """At which step the release was refused, why, and what can be done; None where it was not."""
    refusal = found.get("refusal")
    if refusal is None:
        return None
    figures = [Figure("step", refusal["step"]), Figure("reason", refusal["reason"])]
    figures += [Figure("what can be done", refusal["cure"])] if refusal.get("cure") else []
    about = "The policy was not met. What follows was measured until then, on a draft that does not exist any more."
    headline = Headline("The release was refused: nothing was released.", "bad")
    return Chapter("refused", "Refused", about, [headline, Figures(figures)])
