"""What the policy says under HIPAA stands in the report; where it says nothing, nobody misses it."""

from __future__ import annotations

import re
from pathlib import Path

import shoal
from accepted import ACCEPTED

SAID = {
    "phi": "diagnoses and dates of care",
    "covered_entity": "a hospital, a health care provider",
    "data_use_agreement": "signed in 2026: no linkage",
}


def report(folder: Path, context: dict[str, str]) -> str:
    rows = {"age": [20 + n % 30 for n in range(61)], "illness": ["abc"[n % 3] for n in range(61)]}
    policy = shoal.Policy(
        columns={"age": "quasi-identifier", "illness": "sensitive"},
        models=[{"model": "k-anonymity", "k": 3}],  # type: ignore[list-item]
        attacks=ACCEPTED,  # type: ignore[arg-type]
        context=context,  # type: ignore[arg-type]
    )
    shoal.publish(rows, policy, output=folder)
    return "".join(path.read_text() for path in folder.rglob("report*.html"))


def test_the_terms_stand_in_the_report(tmp_path: Path) -> None:
    text = report(tmp_path / "said", SAID)
    for words, said in zip(
        ("protected health information", "covered entity", "data use agreement"), SAID.values(), strict=True
    ):
        assert words in text
        assert said in text
    silent = re.sub(r"<[^>]+>", " ", report(tmp_path / "silent", {}))
    assert "covered entity" not in silent


def test_a_report_under_the_headings_of_a_standard_names_it(tmp_path: Path) -> None:
    from shoal.reports.publication.results import report_files

    report(tmp_path / "said", SAID)
    (page,) = report_files(tmp_path / "said.private", html=tmp_path / "hipaa.html", crosswalk="hipaa")
    assert "under the headings of HIPAA expert determination, 45 CFR 164.514(b)(1)" in page.read_text()
