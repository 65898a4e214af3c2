"""The chapters of a report, from findings alone: headings after ISO/IEC 27559, finished sentences, figures and tables.

What a page and a PDF show is decided here; they only set it. To add a chapter, write its function in a file of its own
and name it in `CHAPTERS`; a crosswalk of `reports/report.py` that does not place it shows it at the end.
"""

from __future__ import annotations

from collections.abc import Callable

from shoal.reports.chapters.attacks import attacks, attacks_by_criterion
from shoal.reports.chapters.base import Chapter
from shoal.reports.chapters.change import change
from shoal.reports.chapters.closing import after, limits, refused, repeat, signature
from shoal.reports.chapters.exposure import before, knowledge, known_items, leak
from shoal.reports.chapters.private_table import private_table
from shoal.reports.chapters.summary import context, data, summary
from shoal.reports.chapters.utility import utility
from shoal.reports.findings import ReportFindings

__all__ = ["CHAPTERS", "Chapter", "attacks_by_criterion", "chapters_of"]

# in the order of ISO/IEC 27559; a chapter that has nothing to say is None
CHAPTERS: tuple[Callable[[ReportFindings], Chapter | None], ...] = (
    refused, summary, private_table, context, data, knowledge, before, change, after, attacks, leak, utility, limits,
    repeat, signature, known_items,
)  # fmt: skip


def chapters_of(found: ReportFindings) -> list[Chapter]:
    """Every chapter that has something to say."""
    return [chapter for make in CHAPTERS if (chapter := make(found)) is not None]
