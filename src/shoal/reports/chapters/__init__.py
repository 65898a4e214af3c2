"""The chapters of a report, from findings alone: headings after ISO/IEC 27559, finished sentences, figures and tables.

What a page and a PDF show is decided here; they only set it.
"""

from __future__ import annotations

from shoal.reports.chapters.attacks import attacks, attacks_by_criterion
from shoal.reports.chapters.base import Chapter, JsonFindings, Meaning, Part, ReportExhibit
from shoal.reports.chapters.change import change
from shoal.reports.chapters.closing import after, limits, refused, repeat, signature
from shoal.reports.chapters.exposure import before, knowledge, leak
from shoal.reports.chapters.summary import context, data, summary
from shoal.reports.chapters.utility import utility

__all__ = ["Chapter", "JsonFindings", "Meaning", "Part", "ReportExhibit", "attacks_by_criterion", "chapters_of"]
_MAKERS = (
    refused, summary, context, data, knowledge, before, change, after, attacks, leak, utility, limits, repeat,
    signature,
)  # fmt: skip


def chapters_of(found: JsonFindings) -> list[Chapter]:
    """Every chapter, in the order of ISO/IEC 27559."""
    return [chapter for make in _MAKERS if (chapter := make(found)) is not None]
