"""The same facts under the headings that others ask for: HIPAA expert determination, EMA and Health Canada, WP29."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shoal.errors import InputError
from shoal.reports.chapters import Chapter


@dataclass(frozen=True)
class Heading:
    """A heading of a standard, what it asks for, and the chapters that answer it."""

    title: str
    asks: str
    chapters: tuple[str, ...]


# headings are facts: ISO/IEC 27559:2022; HHS guidance of 2012 on expert determination; EMA 0070 and Health Canada PRCI;
# WP29 Opinion 05/2014
CROSSWALKS: dict[str, tuple[Heading, ...]] = {
    "iso-27559": (
        Heading("Summary", "The result in short.", ("summary",)),
        Heading("6 Context assessment", "Threats, recipients, transparency and impact.", ("context",)),
        Heading("7 Data assessment", "Data features: principals, data type, attribute types.", ("data",)),
        Heading("8.2 Identifiability assessment", "How exposed people are.", ("identifiability",)),
        Heading("8.2 Adversarial testing", "What was tried against the release.", ("attacks", "leak")),
        Heading("8.3 Transforming the data, re-evaluation", "Measured anew.", ("change", "residual", "utility")),
        Heading("9 Governance", "Before, after, and in case of incidents.", ("limits", "repeat", "signature")),
    ),
    "hipaa": (
        Heading("Summary", "The result in short.", ("summary",)),
        Heading("The anticipated recipient", "Who could re-identify, with which means.", ("context",)),
        Heading("Replicability", "Which features occur consistently with a person.", ("data",)),
        Heading("Data source availability", "Which outside sources hold these features.", ("leak",)),
        Heading("Distinguishability", "How far the features single a person out.", ("identifiability",)),
        Heading("Assessment of the risk", "Whether the risk that is left is very small; no number is prescribed.",
                ("residual", "attacks")),
        Heading("Methods and results", "What was applied.", ("change", "utility", "limits", "repeat")),
        Heading("The expert", "Who determined it, until when it is valid.", ("signature",)),
    ),
    "ema": (
        Heading("1 Anonymisation methodology", "Which approach was taken.", ("summary", "context", "change")),
        Heading("2 Identification of data variables", "Direct and indirect identifiers, and the technique for each.",
                ("data",)),
        Heading("3 Risk of re-identification", "Initial risk, threshold (0.09), residual risk.",
                ("identifiability", "residual", "attacks", "leak")),
        Heading("4 Data utility", "What was lost for analyses.", ("utility",)),
        Heading("5 Conclusion", "What was assumed, and who is responsible.", ("limits", "repeat", "signature")),
    ),
    "wp29": (
        Heading("The data and its release", "What is released to whom.", ("summary", "context", "data", "change")),
        Heading("Singling out", "Whether records of a person can be isolated.", ("identifiability", "residual")),
        Heading("Linkability and inference", "Whether records are linked, values inferred.", ("attacks", "leak")),
        Heading("What is left", "Residual risk, assumptions.", ("utility", "limits", "repeat", "signature")),
    ),
}  # fmt: skip


def arranged(chapters: Sequence[Chapter], crosswalk: str | None) -> list[Chapter]:
    """The chapters as they are, or under the headings of a standard; every chapter stays.

    >>> arranged([], "ema")[0].title
    '1 Anonymisation methodology'
    """
    if crosswalk is None:
        return list(chapters)
    if crosswalk not in CROSSWALKS:
        raise InputError(f"There is no report for '{crosswalk}'.", f"Use one of {', '.join(CROSSWALKS)}.")
    known = {chapter.key: chapter for chapter in chapters}
    found = [known["refused"]] if "refused" in known else []
    for place, heading in enumerate(CROSSWALKS[crosswalk]):
        parts = [known[key] for key in heading.chapters if key in known]
        sections = [section for part in parts for section in part.sections]
        about = " ".join([heading.asks, *(part.about for part in parts)])
        found.append(Chapter(f"part-{place + 1}", heading.title, about, sections))
    return found
