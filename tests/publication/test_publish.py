"""A publication: two folders, whole or not at all, with findings that say nothing about few people."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import shoal
from accepted import ACCEPTED
from shoal.cli.group import app
from shoal.reports.chapters import chapters_of
from shoal.reports.findings import KEYS, read_findings, typed_findings
from shoal.reports.publication.small_counts import for_the_public, grouped_sizes, without_small_counts
from shoal.reports.report import CROSSWALKS, arranged, document, report_html, report_pdf
from shoal.vocabulary import LEAST_SHOWN

TAG = "<script>alert(1)</script>"
TYPST = "#import $x$ *bold* @label"
POLICY: dict[str, Any] = {
    "columns": {
        "age": "quasi-identifier",
        "town": "quasi-identifier",
        "name": "identifier",
        "illness": "sensitive",
        TAG: "other",
        TYPST: "other",
    },
    "models": [{"model": "k-anonymity", "k": 3}],
    "attacks": ACCEPTED,
    "knowledge": {"census": ["age"], "neighbour": ["town"]},
}


def people() -> pl.DataFrame:
    """Sixty persons; one town, one illness and all names are rare."""
    ages = [20 + i % 30 for i in range(60)]
    towns = ["Ulm", "Bern", "Graz"] * 19 + ["Ulm", "Bern", "Qyxtown"]
    illness = ["flu", "cold"] * 29 + ["flu", "Qyxitis"]
    names = [f"Qyxname{i}" for i in range(60)]
    columns = {"age": ages, "town": towns, "name": names, "illness": illness}
    return pl.DataFrame({**columns, TAG: [1, 2] * 30, TYPST: [1, 2] * 30})


def names_in(folder: Path) -> set[str]:
    return {file.name for file in folder.iterdir()}


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, shoal.Publication]:
    folder = tmp_path_factory.mktemp("published")
    people().write_csv(folder / "people.csv")
    result = shoal.publish(folder / "people.csv", POLICY, output=folder / "release")
    return folder, result


def test_what_the_folders_hold(published: tuple[Path, shoal.Publication]) -> None:
    folder, result = published
    assert result.verdict == "holds"
    assert sorted(file.name for file in (folder / "release").iterdir()) == [
        "README.md", "data.csv", "data.dictionary.json", "data.manifest.json", "findings.json", "report.html",
        "report.pdf",
    ]  # fmt: skip
    private = folder / "release.private"
    assert {"findings.json", "report.html", "report.pdf", "policy.yaml", "data.private.json"} <= names_in(private)
    assert stat.S_IMODE(private.stat().st_mode) == 0o700
    assert all(stat.S_IMODE(file.stat().st_mode) == 0o600 for file in private.iterdir())
    assert not [name for name in names_in(folder) if name.startswith(".")]


def test_the_findings_have_the_keys_of_the_contract(published: tuple[Path, shoal.Publication]) -> None:
    folder, result = published
    for place in ("release", "release.private"):
        found = read_findings(folder / place)
        assert tuple(key for key in found if key != "accepted") == KEYS
        assert found["accepted"]  # the policy accepts what attacks gain
        assert set(found["risk"]) == {"before", "after"}
    assert result.findings["verification"]["verdict"] == "holds"
    assert [step.name for step in result.steps][-1] == "report"
    assert {"output", "verdict", "report", "steps", "findings"} <= set(result.to_dict())


def test_verify_accepts_the_folder_and_refuses_a_changed_cell(published: tuple[Path, shoal.Publication]) -> None:
    folder, _ = published
    assert shoal.verify(folder / "release", original=folder / "people.csv").verdict == "holds"
    assert shoal.Release.open(folder / "release").private is not None
    data = folder / "release" / "data.csv"
    before = data.read_bytes()
    data.write_bytes(before.replace(b"flu", b"cold", 1))
    assert shoal.verify(folder / "release").verdict != "holds"
    data.write_bytes(before)
    assert shoal.verify(folder / "release").verdict == "holds"


def test_no_rare_value_is_in_any_artefact_but_the_data(published: tuple[Path, shoal.Publication]) -> None:
    folder, _ = published
    for place in ("release", "release.private"):
        for file in (folder / place).iterdir():
            # the data holds the sensitive values as they are; names and rare towns it does not
            assert b"Qyxname" not in file.read_bytes(), file
            if file.name != "data.csv" and not file.name.endswith(".plan.json"):
                # whole words: three letters may stand in a compressed PDF by chance
                assert not any(word in file.read_bytes() for word in (b"Qyxtown", b"Qyxitis")), file


def test_names_of_columns_are_texts_not_markup(published: tuple[Path, shoal.Publication]) -> None:
    folder, _ = published
    page = (folder / "release" / "report.html").read_text()
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert TYPST in page
    assert "http://" not in page.replace("http://www.w3.org", "")


def test_a_report_is_the_same_bytes_from_the_same_findings(published: tuple[Path, shoal.Publication]) -> None:
    folder, _ = published
    found = read_findings(folder / "release.private")
    assert report_html(found) == report_html(json.loads(json.dumps(found)))
    assert report_html(found).encode() == (folder / "release.private" / "report.html").read_bytes()
    assert report_pdf(found) == (folder / "release.private" / "report.pdf").read_bytes()


def test_the_public_edition_has_no_seed_and_no_hash_of_the_input(published: tuple[Path, shoal.Publication]) -> None:
    folder, _ = published
    public, private = read_findings(folder / "release"), read_findings(folder / "release.private")
    assert private["data"]["sha256"]
    assert private["attacks"]["seed"] == 0
    assert "sha256" not in public["data"]
    assert "seed" not in public["attacks"]
    assert public["context"]["edition"] == "public"
    assert private["data"]["sha256"] not in (folder / "release" / "report.html").read_text()


@pytest.mark.parametrize("name", list(CROSSWALKS))
def test_every_crosswalk_keeps_every_chapter(name: str, published: tuple[Path, shoal.Publication]) -> None:
    chapters = chapters_of(typed_findings(published[1].findings))
    keys = [key for heading in CROSSWALKS[name] for key in heading.chapters if not key.startswith("attacks-")]
    assert sorted(keys) == sorted({chapter.key for chapter in chapters}), "a chapter is lost or stands twice"
    before = [section for chapter in chapters for section in chapter.sections]
    after = [section for chapter in arranged(chapters, name) for section in chapter.sections]
    assert sorted(map(repr, before)) == sorted(map(repr, after))


@pytest.mark.parametrize("name", list(CROSSWALKS))
def test_headings_of_a_crosswalk_have_no_numbers_of_their_own(name: str) -> None:
    """The report numbers its chapters; the first is the summary, and no heading states a threshold."""
    titles = [heading.title for heading in CROSSWALKS[name]]
    assert titles[0] == "Summary"
    assert not any(title[0].isdigit() for title in titles)
    assert not any("0.09" in heading.asks for heading in CROSSWALKS[name])


def test_wp29_has_each_criterion_under_its_heading(published: tuple[Path, shoal.Publication]) -> None:
    page = document(published[1].findings, "wp29")
    by_title = {chapter["title"]: chapter["blocks"] for chapter in page["chapters"]}
    for title in ("Singling out", "Linkability", "Inference"):
        assert any(block["kind"] == "headline" and block["text"].startswith(f"{title}: ") for block in by_title[title])
    names = {row[0]["text"] for block in by_title["Linkability"] if block["kind"] == "grid" for row in block["rows"]}
    assert names == {"linkage", "linkability"}


def test_a_policy_that_is_not_met_writes_nothing_but_evidence(tmp_path: Path) -> None:
    policy = {
        **POLICY,
        "models": [{"model": "k-anonymity", "k": 3}, {"model": "k-map", "k": 3, "population": "no.csv"}],
    }
    with pytest.raises(shoal.InputError):
        shoal.publish(people(), policy, output=tmp_path / "release")
    assert names_in(tmp_path) == set()
    undecided = {**POLICY, "columns": {name: role for name, role in POLICY["columns"].items() if name != "name"}}
    result = shoal.publish(people(), undecided, output=tmp_path / "release", keep_evidence=tmp_path / "evidence")
    assert result.verdict == "refused"
    assert (result.refusal or "").startswith("anonymise: ")
    assert result.frame is None
    assert names_in(tmp_path) == {"evidence"}
    assert read_findings(tmp_path / "evidence")["verification"] is None


def test_a_folder_that_is_there_is_not_replaced_unasked_nor_one_that_is_not_ours(tmp_path: Path) -> None:
    people().write_csv(tmp_path / "people.csv")
    (tmp_path / "release").mkdir()
    (tmp_path / "release" / "thesis.txt").write_text("mine")
    for force in (False, True):
        with pytest.raises(shoal.InputError):
            shoal.publish(tmp_path / "people.csv", POLICY, output=tmp_path / "release", force=force)
    assert (tmp_path / "release" / "thesis.txt").read_text() == "mine"


def test_the_command_writes_reports_again(published: tuple[Path, shoal.Publication], tmp_path: Path) -> None:
    folder, _ = published
    page, pdf = tmp_path / "again.html", tmp_path / "again.pdf"
    args = ["report", str(folder / "release"), "-o", str(page), "--pdf", str(pdf), "--for", "ema"]
    assert CliRunner().invoke(app, args).exit_code == 0
    assert "Anonymisation methodology" in page.read_text()
    assert pdf.read_bytes().startswith(b"%PDF")
    assert CliRunner().invoke(app, ["report", str(folder), "-o", str(page)]).exit_code != 0
    assert CliRunner().invoke(app, args).exit_code != 0  # it is there already


sizes = st.lists(st.tuples(st.integers(1, 50), st.integers(1, 40)), max_size=12, unique_by=lambda pair: pair[0])


@given(sizes, sizes)
def test_class_sizes_are_joined_until_no_line_is_about_few(
    first: list[tuple[int, int]], second: list[tuple[int, int]]
) -> None:
    """Uniques are told anyway and stand alone; what is left after them is joined, before and after alike."""
    before, after = (
        [{"size": size, "classes": count, "records": size * count} for size, count in sorted(pairs)]
        for pairs in (first, second)
    )
    joined = grouped_sizes(before, after)
    for when, lines in (("before", before), ("after", after)):
        assert sum(line[when] for line in joined) == sum(line["records"] for line in lines)
        counts = [line[when] for line in joined if line["size"] > 1]
        assert all(count == 0 or count >= LEAST_SHOWN for count in counts) or len(counts) <= 1


def test_small_counts_of_values_are_hidden_and_totals_stay() -> None:
    found = without_small_counts({"columns": [{"nulls": 3, "single": 12}], "uniques": 2, "class_sizes": {"5": 1}})
    assert found == {"columns": [{"nulls": None, "single": 12}], "uniques": 2}
    assert for_the_public({"a": [{"seed": 1, "b": 2}]}) == {"a": [{"b": 2}]}


def test_without_a_policy_questions_are_asked_and_answers_make_one(tmp_path: Path) -> None:
    frame = people().select("age", "town", "illness")
    frame.write_csv(tmp_path / "people.csv")
    done = CliRunner().invoke(app, ["publish", str(tmp_path / "people.csv"), "-o", str(tmp_path / "release")])
    assert isinstance(done.exception, shoal.InputError)
    assert names_in(tmp_path) == {"people.csv"}
    with pytest.raises(shoal.InputError, match="recipient"):
        shoal.publish(frame, output=tmp_path / "release")
    answers = {"recipient": "inside", "age": "quasi-identifier", "town": "quasi-identifier", "illness": "sensitive"}
    result = shoal.publish(frame, output=tmp_path / "release", answers=answers, pdf=False)
    assert result.verdict == "holds"
    assert result.findings["verification"]["k"] >= 3
    kept = shoal.load_policy(tmp_path / "release.private" / "policy.yaml")
    assert kept.columns["illness"] == "sensitive"
    assert [model.model for model in kept.models] == ["k-anonymity", "l-diversity"]
    with pytest.raises(shoal.InputError, match="recipient"):
        shoal.publish(frame, answers={**answers, "recipient": "whoever"})
    with pytest.raises(shoal.InputError, match="ages"):
        shoal.publish(frame, answers={**answers, "ages": "other"})


def test_a_limit_that_cannot_be_tested_is_not_met(tmp_path: Path) -> None:
    """With a limit on membership, which no attack of the battery tests with a control, nothing is written."""
    policy = {**POLICY, "attacks": {"membership": 0.05}}
    result = shoal.publish(people(), policy, output=tmp_path / "release", pdf=False)
    assert result.verdict == "refused"
    assert "membership" in (result.refusal or "")
    assert names_in(tmp_path) == set()
