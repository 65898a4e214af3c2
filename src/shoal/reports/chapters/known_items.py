"""What somebody who knows a few items or events of a person finds, before and after."""

from __future__ import annotations

from shoal.reports.chapters.base import Chapter
from shoal.reports.findings_model import ReportFindings
from shoal.results import Grid, Notes
from shoal.wording import counted, percent


def known_items(found: ReportFindings) -> Chapter | None:
    """The combinations of each size that one person alone has, and the persons whom some of theirs single out."""
    before = None if found.risk.before is None else found.risk.before.known
    if not before:
        return None
    after = {one.known: one for one in (found.risk.after.known if found.risk.after else None) or []}
    rows = []
    for one in before:
        later = after.get(one.known)
        left = ("–", "–") if later is None else (f"{later.k:,}", percent(later.alone))
        rows.append((f"{one.known}", f"{one.combinations:,}", f"{one.uniques:,}", percent(one.alone), *left))
    heads = ("known", "combinations", "of one person", "alone before", "fewest who share one after", "alone after")
    most = before[-1]
    words = (
        f"Before the change, {counted(most.known, 'item')} of a person, drawn at random, told {percent(most.alone)} of "
        "the persons from all others."
    )
    about = "Of items or events somebody rarely knows all, and often knows a few."
    return Chapter("known-items", "What a few items give away", about, [Notes([words]), Grid(heads, rows)])
