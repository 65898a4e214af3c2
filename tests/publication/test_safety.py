"""Nothing of few people, and nothing that runs, is in any artefact of a publication."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

import pytest

from shoal.reports.findings import read_findings
from shoal.reports.report import report_html, report_pdf
from shoal.vocabulary import LEAST_SHOWN

PICTURE = re.compile(r"data:image/svg\+xml;base64,([A-Za-z0-9+/=]+)")
RARE = ("Qyx", "1171", "1,171", "1899")
TAG, CJK = "<script>alert(1)</script>", "職業"


def text_of(file: Path) -> str:
    """What can be read in a file: of a PDF the text of its pages, of a page also the texts of its pictures."""
    if file.suffix == ".pdf":
        pypdf = pytest.importorskip("pypdf")
        reader = pypdf.PdfReader(file)
        return "\n".join(page.extract_text() for page in reader.pages) + str(reader.metadata)
    text = file.read_text()
    pictures = [base64.b64decode(picture).decode() for picture in PICTURE.findall(text)]
    words = [word for picture in pictures for word in re.findall(r">([^<]+)<|aria-label=\"([^\"]+)\"", picture)]
    return PICTURE.sub("", text) + " ".join(" ".join(pair) for pair in words)


@pytest.mark.parametrize("place", ["release", "release.private"])
def test_planted_values_are_in_no_artefact(planted: Path, place: str) -> None:
    seen = set()
    for file in sorted((planted / place).iterdir()):
        # the data keeps sensitive values; plan and manifest say at which cuts a number was generalised
        if file.name.startswith("data.") and file.name != "data.dictionary.json":
            assert "Qyxname" not in file.read_text(), file
            continue
        # hashes are letters and digits by chance
        text = re.sub(r"\b[0-9a-f]{64}\b", "", text_of(file))
        assert not [value for value in RARE if value in text], file
        seen.add(file.suffix)
    assert {".html", ".pdf", ".json"} <= seen


def test_the_search_finds_what_it_looks_for(planted: Path, tmp_path: Path) -> None:
    """The check above can fail: a rare value in findings is seen on the page and in the PDF's text."""
    found = json.loads((planted / "release" / "findings.json").read_text().replace("Bern", "Qyxtown"))
    (tmp_path / "report.html").write_text(report_html(found))
    (tmp_path / "report.pdf").write_bytes(report_pdf(found))
    for file in tmp_path.iterdir():
        assert "Qyxtown" in text_of(file), file


def counts_by_value(found: Any) -> list[int]:
    """Every count of records by class size."""
    risk = found["risk"]
    lines = [line["records"] for when in ("before", "after") for line in risk[when]["histogram"]]
    groups = [line[when] for line in risk["after"]["records_by_size"] for when in ("before", "after")]
    return lines + groups


@pytest.mark.parametrize("place", ["release", "release.private"])
def test_no_bar_is_about_few(planted: Path, place: str) -> None:
    found = read_findings(planted / place)
    records = found["data"]["records"]
    assert all(count == 0 or count >= LEAST_SHOWN for count in counts_by_value(found))
    bars = [bar for column in found["utility"]["columns"] for bar in column["bars"]]
    assert len(found["utility"]["columns"]) == 4
    # shares have three digits: half of the last is what rounding may take off
    least = LEAST_SHOWN / records - 0.0005
    assert all(share == 0 or share >= least for bar in bars for share in (bar["before"], bar["after"]))


def test_names_of_columns_are_texts_everywhere(planted: Path) -> None:
    for place in ("release", "release.private"):
        page = (planted / place / "report.html").read_text()
        assert "<script" not in page
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
        assert "#panic(&#34;x&#34;) $x$ *bold* @label" in page
        assert CJK in page
        assert not [picture for picture in PICTURE.findall(page) if b"<script" in base64.b64decode(picture)]


def test_the_public_edition_does_not_say_what_helps_an_attacker(planted: Path) -> None:
    public, private = read_findings(planted / "release"), read_findings(planted / "release.private")
    assert any(one["notes"] for one in private["attacks"]["attacks"])
    assert not any(one["notes"] for one in public["attacks"]["attacks"])
