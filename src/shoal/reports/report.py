"""A report from findings: one HTML file, or a PDF. Nothing is computed here, nothing is loaded from elsewhere."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from shoal.errors import InputError
from shoal.reports.blocks import blocks_of, exhibits_of
from shoal.reports.chapters import Chapter, attacks_by_criterion, chapters_of
from shoal.reports.crosswalk import arranged
from shoal.reports.printable import printable
from shoal.reports.report_charts import NARROW, WIDE, drawing
from shoal.writing import write_bytes


def write_report(found: Mapping[str, Any], path: Path, *, crosswalk: str | None = None, force: bool = True) -> Path:
    """Write the report as HTML or, by its name's ending, as PDF."""
    if path.suffix.lower() not in (".html", ".pdf"):
        raise InputError(f"{path} is not the name of a report.", "End it in .html or .pdf.")
    if path.exists() and not force:
        raise InputError(f"{path} is there already.", "Replace it with --force.")
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
    try:
        from jinja2 import Environment
        from markupsafe import Markup
    except ImportError:
        raise InputError("A report needs Jinja2.", "Install it with: pip install 'shoal[report]'.") from None
    folder = files("shoal.reports") / "templates"
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string((folder / "report.html.j2").read_text(encoding="utf-8"))
    for chapter in page["chapters"]:
        for block in exhibits_of(chapter["blocks"]):
            block["narrow"] = _coded(drawing(block["name"], block["data"], NARROW))
            block["svg"] = block["narrow"] if block["small"] else _coded(drawing(block["name"], block["data"], WIDE))
    style = (folder / "report.css").read_text(encoding="utf-8")
    return template.render(style=Markup(style), **page)


def _coded(svg: str) -> str:
    return base64.b64encode(svg.encode()).decode()


def report_pdf(found: Mapping[str, Any], crosswalk: str | None = None) -> bytes:
    """The report as PDF, with page numbers, contents and a place to sign."""
    from shoal.reports.pdf import pdf_of

    return pdf_of(document(found, crosswalk))


def document(found: Mapping[str, Any], crosswalk: str | None = None) -> dict[str, Any]:
    """What both media set: titles, chapters, blocks; plain texts and numbers, ready to be escaped."""
    edition, expires = found["context"].get("edition", "internal"), found["context"].get("expires")
    chapters = arranged([*chapters_of(found), *(attacks_by_criterion(found) if crosswalk else [])], crosswalk)
    until = f", valid until {expires}" if expires else ""
    refused = found.get("refusal") is not None
    until = "" if refused else until
    title = found["context"].get("title") or "Anonymisation report"
    kind = f"Evidence of a refused release ({edition})" if refused else f"{edition.capitalize()} report"
    subtitle = f"{kind} of {found['created'][:10]}{until}"
    return page_of(title, subtitle, found["software"]["shoal"], chapters) | {
        "expires": str(expires or ""),
        "edition": edition,
        "created": found["created"],
        "hash": found["data"].get("released_sha256") or "",
    }


def page_of(title: str, subtitle: str, version: str, chapters: Sequence[Chapter]) -> dict[str, Any]:
    """A document of chapters with its title."""
    shown = [_chapter(chapter) for chapter in chapters]
    page = {"title": title, "subtitle": subtitle, "version": version, "created": "", "hash": "", "chapters": shown}
    return dict(printable(page))


def _chapter(chapter: Chapter) -> dict[str, Any]:
    return {
        "key": chapter.key,
        "title": chapter.title,
        "about": chapter.about,
        "blocks": blocks_of(chapter.sections),
    }
