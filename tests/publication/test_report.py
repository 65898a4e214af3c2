"""The report as a page and as PDF: whole, in order, with a meaning for every figure, and signable."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, get_args

import pytest

from shoal.reports.chapters import chapters_of
from shoal.reports.chapters.base import listing
from shoal.reports.charts.style import in_both_lights, width, with_lengths
from shoal.reports.findings import typed_findings
from shoal.reports.report import report_html, report_pdf
from shoal.results import Exhibit
from shoal.results.sections import Picture, ResultPicture

pypdf = pytest.importorskip("pypdf")


def pages_of(pdf: bytes, folder: Path) -> list[str]:
    file = folder / "report.pdf"
    file.write_bytes(pdf)
    return [page.extract_text() for page in pypdf.PdfReader(file).pages]


def test_every_chart_has_a_meaning_a_formula_a_table_and_words(plain_findings: dict[str, Any]) -> None:
    chapters = chapters_of(typed_findings(plain_findings))
    shown = [part for chapter in chapters for part in chapter.sections if isinstance(part, Exhibit)]
    drawn = {type(one.chart.picture) for one in shown}
    assert drawn == set(get_args(Picture)) - {ResultPicture}, "every picture is shown"
    for one in shown:
        assert one.meaning.endswith(".")
        assert one.formula.endswith(".")
        assert one.table.rows
        assert one.chart.alternative
        assert one.chart.title
    # without an exhibit a long list is told in part
    assert listing("All", [(str(i), "x") for i in range(15)]).endswith("; 3 more in the table.")


class Outline(HTMLParser):
    """Headings, pictures and table heads of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.levels: list[int] = []
        self.ids: list[str] = []
        self.images: list[dict[str, str | None]] = []
        self.heads = 0
        self.tables = 0

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        if re.fullmatch(r"h[1-6]", tag):
            self.levels.append(int(tag[1]))
        if given.get("id"):
            self.ids.append(str(given["id"]))
        if tag == "img":
            self.images.append(given)
        self.tables += tag == "table"
        self.heads += tag == "th"


def test_the_page_is_in_order(planted: Path) -> None:
    page = Outline()
    page.feed((planted / "release" / "report.html").read_text())
    assert page.levels[0] == 1
    assert page.levels.count(1) == 1
    assert all(after <= before + 1 for before, after in zip(page.levels, page.levels[1:], strict=False))
    assert len(page.ids) == len(set(page.ids))
    assert all(image["alt"] for image in page.images)
    assert page.heads > page.tables > 10
    assert len(page.images) >= 10


def test_the_pdf_can_be_signed_and_says_what_it_is(plain_findings: dict[str, Any], tmp_path: Path) -> None:
    pages = pages_of(report_pdf(plain_findings), tmp_path)
    released = plain_findings["data"]["released_sha256"]
    for number, page in enumerate(pages, 1):
        text = page.replace("\n", "").replace(" ", "")
        assert released in text
        assert f"page{number}of{len(pages)}" in text
        assert "validuntil2031-05-17" in text
        assert f"shoal{plain_findings['software']['shoal']}" in text
    assert "Contents" in pages[0]
    assert all(name in pages[-1] for name in ("Name and role", "Signature", "Date", "Valid until", "2031-05-17"))
    root = pypdf.PdfReader(tmp_path / "report.pdf").trailer["/Root"]
    assert root["/MarkInfo"]["/Marked"]
    assert b"pdfuaid" in root["/Metadata"].get_data()


def test_letters_without_a_glyph_give_a_plain_pdf_that_says_so(planted: Path, tmp_path: Path) -> None:
    found = json.loads((planted / "release.private" / "findings.json").read_text())
    pages = pages_of(report_pdf(found), tmp_path)
    assert any("no glyph in the fonts" in " ".join(page.split()) for page in pages)
    root = pypdf.PdfReader(tmp_path / "report.pdf").trailer["/Root"]
    assert b"pdfuaid" not in root["/Metadata"].get_data()
    assert "Signature" in pages[-1]


def test_a_report_is_the_same_bytes_twice(plain_findings: dict[str, Any]) -> None:
    again = json.loads(json.dumps(plain_findings))
    assert report_html(plain_findings) == report_html(again)
    assert report_pdf(plain_findings) == report_pdf(again)


def test_the_risk_that_is_left_is_held_against_the_threshold(plain_findings: dict[str, Any]) -> None:
    assert "The highest risk that is left, 20.0%, is within the threshold of 25.0%." in report_html(plain_findings)
    worse = json.loads(json.dumps(plain_findings))
    worse["risk"]["after"]["prosecutor"]["highest"] = 0.5
    assert "The highest risk that is left, 50.0%, is above the threshold of 25.0%" in report_html(worse)


def test_findings_with_gaps_still_give_a_report(plain_findings: dict[str, Any]) -> None:
    for missing in ("detect", "change", "verification", "attacks", "leak", "utility", "profile"):
        page = report_html({**plain_findings, missing: None})
        assert "Signature" in page
    bare = {**plain_findings, "risk": {"before": None, "after": None}}
    assert "Signature" in report_html(bare)


def test_texts_keep_the_length_that_they_were_laid_out_with() -> None:
    lines = '<text font-size="10px"><tspan>ab</tspan><tspan x="0" dy="11">c</tspan></text>'
    assert with_lengths(lines).count("textLength") == 2
    assert width("職", 10) == 10
    assert "prefers-color-scheme" in in_both_lights("<svg><g/></svg>")


def test_a_column_name_with_control_characters_is_set(plain_findings: dict[str, Any], tmp_path: Path) -> None:
    """The library that draws would end the whole process at a character that XML does not have."""
    found = json.loads(json.dumps(plain_findings).replace('"job"', '"bell\\u0007\\u001b[31m\\u202e"'))
    page = report_html(found)
    assert "bell??[31m?" in page
    assert not re.search("[\x07\x1b\u202e]", page)
    assert any("bell??[31m?" in text for text in pages_of(report_pdf(found), tmp_path))
