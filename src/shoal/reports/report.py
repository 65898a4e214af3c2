"""A report from findings: one HTML file, or a PDF. Nothing is computed here, nothing is loaded from elsewhere."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any, get_args

from shoal.attacks import Criterion
from shoal.errors import InputError, Message
from shoal.reports.chapters import Chapter, attacks_by_criterion, chapters_of
from shoal.reports.charts.pictures import NARROW, WIDE, drawing
from shoal.reports.charts.style import with_texts
from shoal.reports.findings import typed_findings
from shoal.results import Bar, Cell, Content, Exhibit, Figures, Grid, Headline, Meaning, Notes, Section
from shoal.storage.writing import write_bytes
from shoal.wording import in_words

# Parts of chapters as what a page and a PDF set: plain texts and numbers, ready to be escaped.


Block = dict[str, Any]


def blocks_of(parts: Sequence[Section]) -> list[Block]:
    """Every part as a block; small exhibits that follow each other stand side by side."""
    found: list[Block] = []
    for part in parts:
        if isinstance(part, Exhibit) and part.small:
            if not found or found[-1]["kind"] != "row":
                found.append({"kind": "row", "exhibits": []})
            found[-1]["exhibits"].append(_exhibit(part))
        elif (block := _block(part)) is not None:
            found.append(block)
    return found


def exhibits_of(blocks: Sequence[Block]) -> list[Block]:
    """Everything with a chart in it."""
    alone = [block for block in blocks if block["kind"] == "exhibit"]
    return [*alone, *(one for block in blocks if block["kind"] == "row" for one in block["exhibits"])]


def _block(part: Section) -> Block | None:
    match part:
        case Headline(text, tone):
            return {"kind": "headline", "text": text, "tone": tone}
        case Figures(figures, title):
            shown = [{"name": one.name, "value": one.value, "tone": one.tone} for one in figures]
            return {"kind": "figures", "title": title, "figures": shown}
        case Grid():
            return grid_block(part) if part.rows else None
        case Meaning(text, formula):
            return {"kind": "meaning", "text": text, "formula": formula}
        case Exhibit():
            return _exhibit(part)
        case Notes(notes):
            return {"kind": "notes", "notes": list(notes)} if notes else None
    return None


def _exhibit(part: Exhibit) -> Block:
    return {
        "kind": "exhibit",
        "picture": part.chart.picture,
        "title": part.chart.title,
        "alternative": part.chart.alternative,
        "meaning": part.meaning,
        "formula": part.formula,
        "table": grid_block(part.table),
        "small": part.small,
    }


def grid_block(grid: Grid) -> Block:
    """A table: which of its columns are numbers, and what it is called for who cannot see it."""

    def number(place: int) -> bool:
        return place >= grid.left and place not in grid.wrap

    return {
        "kind": "grid",
        "title": grid.title,
        "label": grid.title or ", ".join(head for head in grid.heads if head) or "table",
        "has_heads": any(grid.heads),
        "heads": [
            {
                "text": head,
                "number": number(place),
                "wide": place > 0 and place == max(grid.wrap, default=0),
                "wraps": place > 0 and place in grid.wrap,
            }
            for place, head in enumerate(grid.heads)
        ],
        "rows": [[_cell(content, number(place)) for place, content in enumerate(row)] for row in grid.rows],
    }


def _cell(content: Content, number: bool) -> Block:
    if isinstance(content, Bar):
        return {"text": f"{content.share:.1%}", "tone": "plain", "number": number}
    if isinstance(content, Cell):
        return {"text": content.text, "tone": content.tone, "number": number}
    return {"text": content, "tone": "plain", "number": number}


# A report as PDF, set by typst: the texts go in as data, never as markup.


_NO_GLYPH = "Some letters have no glyph in the fonts of this PDF: they are shown as □. The HTML report shows them."
# what is beyond Latin, Greek and Cyrillic letters and the signs of mathematics and punctuation
_STRANGE = re.compile("[^\u0000-\u052f\u1e00-\u24ff\u2500-\u27ff]")


def pdf_of(document: dict[str, Any]) -> bytes:
    """The document as accessible PDF (PDF/UA-1); where a letter has no glyph, as plain PDF that says so."""
    check_report(pdf=True)
    import typst

    for chapter in document["chapters"]:
        for block in exhibits_of(chapter["blocks"]):
            block["svg"] = drawing(block.pop("picture"), NARROW if block["small"] else WIDE)
    template = (files("shoal.reports") / "templates" / "report.typ").read_bytes()

    def compiled(accessible: bool) -> bytes:
        """Accessible PDF fails where an alternative text or a glyph is missing."""
        inputs = {"document": json.dumps(document, ensure_ascii=False)}
        made: bytes = typst.compile(
            template,
            format="pdf",
            sys_inputs=inputs,
            pdf_standards=["ua-1"] if accessible else [],
            ignore_system_fonts=True,
        )
        return made

    try:
        return compiled(accessible=True)
    except Exception as error:
        if "glyph" not in str(error) and "font" not in str(error):
            raise InputError("The PDF could not be set.", "Use the HTML report.") from None
        document = _without_strange(document)
        document["chapters"][0]["blocks"].insert(0, {"kind": "notes", "notes": [_NO_GLYPH]})
        return compiled(accessible=False)


def _without_strange(found: Any) -> Any:
    """The same document with a box for each letter that the typefaces of the PDF may lack.

    >>> _without_strange({"label": "北京路, età, Łódź, Ωμέγα, Київ"})
    {'label': '□□□, età, Łódź, Ωμέγα, Київ'}
    """
    return with_texts(found, lambda text: _STRANGE.sub("□", text))


# Texts that can be set: what no page can show, or what would turn its texts around, is a question mark.


# control characters but for tab and new line, halves of characters, what is no character, and marks of direction
_UNSHOWN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]"
)


def printable(found: Any) -> Any:
    """The same document with texts that can be set, keys included.

    >>> printable({"label": "bell\\x07", "rows": [("a\\u202eb", 1)]})
    {'label': 'bell?', 'rows': [('a?b', 1)]}
    """
    return with_texts(found, lambda text: _UNSHOWN.sub("?", text))


# The same facts under the headings that others ask for: HIPAA expert determination, EMA and Health Canada, WP29.


@dataclass(frozen=True)
class Heading:
    """A heading of a standard, what it asks for, and the chapters that answer it."""

    title: str
    asks: str
    chapters: tuple[str, ...]


# headings are facts: ISO/IEC 27559:2022; HHS guidance of 2012 on expert determination; EMA 0070 and Health Canada PRCI;
# WP29 Opinion 05/2014
TITLES = {
    "iso-27559": "ISO/IEC 27559", "hipaa": "HIPAA expert determination, 45 CFR 164.514(b)(1)",
    "ema": "EMA Policy 0070 and Health Canada PRCI", "wp29": "WP29, Opinion 05/2014",
}  # fmt: skip
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
        Heading("The anticipated recipient", "Who could re-identify, with which means; what of it is protected health "
                "information, who holds it, what was agreed.", ("context",)),
        Heading("Replicability", "Which features occur consistently with a person.", ("data",)),
        Heading("Data source availability", "Which outside sources hold these features.", ("knowledge",)),
        Heading("Distinguishability", "How far the features single a person out.", ("identifiability",)),
        Heading("Assessment of the risk", "Whether the risk that is left is very small; no number is prescribed.",
                ("residual", "attacks", "leak")),
        Heading("Methods and results", "What was applied.", ("change", "utility", "limits", "repeat")),
        Heading("The expert", "Who determined it under 45 CFR 164.514(b)(1), until when it is valid.", ("signature",)),
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


# what stands first, and the chapters of single criteria, which only some standards have
_ELSEWHERE = {"refused", *(f"attacks-{criterion}" for criterion in get_args(Criterion))}


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
    placed = {key for heading in CROSSWALKS[crosswalk] for key in heading.chapters} | _ELSEWHERE
    for place, heading in enumerate(CROSSWALKS[crosswalk]):
        parts = [known[key] for key in heading.chapters if key in known]
        sections = [section for part in parts for section in part.sections]
        about = " ".join(words for words in [heading.asks, *(part.about for part in parts)] if words)
        found.append(Chapter(f"part-{place + 1}", heading.title, about, sections))
    return [*found, *(chapter for chapter in chapters if chapter.key not in placed)]


def check_report(*, pdf: bool) -> None:
    """Refuse a report whose libraries are absent, before any work is done for it; a page needs no typst."""
    needed = {"jinja2": "Jinja2", "altair": "altair", "vl_convert": "vl-convert", **({"typst": "typst"} if pdf else {})}
    absent = [name for module, name in needed.items() if find_spec(module) is None]
    install = "Install it with: pip install 'shoal[report]'."
    if absent == ["typst"]:
        raise InputError("A PDF needs typst.", f"{install} Or leave the PDF out.")
    if absent:
        raise InputError(f"A report needs {in_words(absent)}.", install)


def write_report(found: Mapping[str, Any], path: Path, *, crosswalk: str | None = None, force: bool = True) -> Path:
    """Write the report as HTML or, by its name's ending, as PDF."""
    if path.suffix.lower() not in (".html", ".pdf"):
        raise InputError(f"{path} is not the name of a report.", "End it in .html or .pdf.")
    if path.exists() and not force:
        raise InputError(f"{path} is there already.", Message("Replace it with `{force}`."))
    if not path.parent.is_dir():
        raise InputError(f"There is no folder {path.parent}.", "Make it first.")
    made = report_pdf(found, crosswalk) if path.suffix.lower() == ".pdf" else report_html(found, crosswalk).encode()
    write_bytes(path, made, 0o644 if found["context"].get("edition") == "public" else 0o600)
    return path


def report_html(found: Mapping[str, Any], crosswalk: str | None = None) -> str:
    """The report as one page."""
    return page_html(document(found, crosswalk))


def page_html(page: dict[str, Any]) -> str:
    """A document as one page: no script, nothing from outside, all texts escaped."""
    check_report(pdf=False)
    from jinja2 import Environment
    from markupsafe import Markup

    folder = files("shoal.reports") / "templates"
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string((folder / "report.html.j2").read_text(encoding="utf-8"))
    for chapter in page["chapters"]:
        for block in exhibits_of(chapter["blocks"]):
            picture = block.pop("picture")
            block["narrow"] = _coded(drawing(picture, NARROW))
            block["svg"] = block["narrow"] if block["small"] else _coded(drawing(picture, WIDE))
    style = (folder / "report.css").read_text(encoding="utf-8")
    return template.render(style=Markup(style), **page)


def _coded(svg: str) -> str:
    return base64.b64encode(svg.encode()).decode()


def report_pdf(found: Mapping[str, Any], crosswalk: str | None = None) -> bytes:
    """The report as PDF, with page numbers, contents and a place to sign."""

    return pdf_of(document(found, crosswalk))


def document(findings: Mapping[str, Any], crosswalk: str | None = None) -> dict[str, Any]:
    """What both media set: titles, chapters, blocks; plain texts and numbers, ready to be escaped."""
    found = typed_findings(findings)
    edition, expires = found.context.edition, found.context.expires
    chapters = arranged([*chapters_of(found), *(attacks_by_criterion(found) if crosswalk else [])], crosswalk)
    refused = found.refusal is not None
    until = f", valid until {expires}" if expires and not refused else ""
    title = found.context.title or ": ".join(filter(None, ["Anonymisation report", found.data.name]))
    kind = f"Evidence of a refused release ({edition})" if refused else f"{edition.capitalize()} report"
    under = f", under the headings of {TITLES[crosswalk]}" if crosswalk else ""
    subtitle = f"{kind} of {found.created[:10]}{until}{under}"
    return page_of(title, subtitle, found.software["shoal"], chapters) | {
        "expires": expires,
        "edition": edition,
        "created": found.created,
        "hash": found.data.released_sha256 or "",
    }


def page_of(title: str, subtitle: str, version: str, chapters: Sequence[Chapter]) -> dict[str, Any]:
    """A document of chapters with its title."""
    shown = [_chapter(chapter) for chapter in chapters]
    page = {"title": title, "subtitle": subtitle, "version": version, "created": "", "hash": "", "chapters": shown}
    return dict(printable(page))


def _chapter(chapter: Chapter) -> dict[str, Any]:
    return {"key": chapter.key, "title": chapter.title, "about": chapter.about, "blocks": blocks_of(chapter.sections)}
