"""The same facts under the headings that others ask for: HIPAA expert determination, EMA and Health Canada, WP29."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.dataclasses import dataclass
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
        Heading("Context assessment (clause 6)", "Threats, recipients, transparency and impact.",
                ("context", "knowledge")),
        Heading("Data assessment (clause 7)", "Data features: principals, data type, attribute types.", ("data",)),
        Heading("Identifiability assessment (clause 8.2)", "How exposed people are.", ("identifiability",)),
        Heading("Adversarial testing (clause 8.2)", "What was tried against the release.", ("attacks", "leak")),
        Heading("Transforming the data, re-evaluation (clause 8.3)", "Measured anew.",
                ("change", "residual", "utility")),
        Heading("Governance (clause 9)", "Before, after, and in case of incidents.", ("limits", "repeat", "signature")),
    ),
    "hipaa": (
        Heading("Summary", "The result in short.", ("summary",)),
        Heading("The anticipated recipient", "Who could re-identify, with which means.", ("context",)),
        Heading("Replicability", "Which features occur consistently with a person.", ("data",)),
        Heading("Data source availability", "Which outside sources hold these features.", ("knowledge",)),
        Heading("Distinguishability", "How far the features single a person out.", ("identifiability",)),
        Heading("Assessment of the risk", "Whether the risk that is left is very small; no number is prescribed.",
                ("residual", "attacks", "leak")),
        Heading("Methods and results", "What was applied.", ("change", "utility", "limits", "repeat")),
        Heading("The expert", "Who determined it, until when it is valid.", ("signature",)),
    ),
    "ema": (
        Heading("Summary", "The result in short.", ("summary",)),
        Heading("Anonymisation methodology", "Which approach was taken.", ("context", "change")),
        Heading("Identification of data variables", "Direct and indirect identifiers, and the technique for each.",
                ("data",)),
        Heading("Risk of re-identification", "Initial risk, threshold, residual risk.",
                ("knowledge", "identifiability", "residual", "attacks", "leak")),
        Heading("Data utility", "What was lost for analyses.", ("utility",)),
        Heading("Conclusion", "What was assumed, and who is responsible.", ("limits", "repeat", "signature")),
    ),
    "wp29": (
        Heading("Summary", "The result in short.", ("summary",)),
        Heading("The data and its release", "What is released to whom.", ("context", "data", "knowledge", "change")),
        Heading("Singling out", "Whether records of a person can be isolated.",
                ("identifiability", "residual", "attacks-singling-out")),
        Heading("Linkability", "Whether records about the same person can be linked.",
                ("attacks-linkability", "leak")),
        Heading("Inference", "Whether values of a person can be deduced.", ("attacks-inference",)),
        Heading("All attacks", "Who attacked with what, and with what success.", ("attacks",)),
        Heading("What is left", "Utility, residual risk, assumptions.", ("utility", "limits", "repeat", "signature")),
    ),
}  # fmt: skip


def arranged(chapters: Sequence[Chapter], crosswalk: str | None) -> list[Chapter]:
    """The chapters as they are, or under the headings of a standard; every chapter stays.

    >>> arranged([], "ema")[0].title
    'Summary'
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
        about = " ".join(words for words in [heading.asks, *(part.about for part in parts)] if words)
        found.append(Chapter(f"part-{place + 1}", heading.title, about, sections))
    return found
