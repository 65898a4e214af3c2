"""What publishing must never do: lose files, mix runs, lie about a refusal, or end in a crash."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from accepted import ACCEPTED
from shoal.reports.findings import checked_findings, read_findings
from shoal.reports.publication import publish as module
from shoal.reports.publication.small_counts import public_edition, small_counts_hidden
from shoal.reports.report import document, report_html

POLICY: dict[str, Any] = {
    "columns": {"age": "quasi-identifier", "illness": "sensitive"},
    "models": [{"model": "k-anonymity", "k": 3}],
    "attacks": ACCEPTED,
}
PEOPLE = pl.DataFrame({"age": [30, 34, 51, 52] * 6, "illness": ["flu", "cold"] * 12})
SHOAL = [sys.executable, "-m", "shoal"]


@pytest.fixture
def light(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports are not drawn: these tests are about files."""
    monkeypatch.setattr(module, "report_html", lambda found: "<p>report</p>")


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A publication to copy."""
    folder = tmp_path_factory.mktemp("kept")
    PEOPLE.write_csv(folder / "people.csv")
    shoal.publish(folder / "people.csv", POLICY, output=folder / "release", pdf=False)
    return folder


@pytest.fixture
def published(kept: Path, tmp_path: Path) -> Path:
    shutil.copytree(kept, tmp_path / "copy")
    return tmp_path / "copy"


def files(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


# data loss


@pytest.mark.parametrize("where", ["release.private/people.csv", "release/people.csv"])
def test_an_input_in_the_folders_that_are_replaced_is_refused(published: Path, where: str) -> None:
    shutil.move(published / "people.csv", published / where)
    before = files(published)
    with pytest.raises(shoal.InputError, match="lies in the"):
        shoal.publish(published / where, POLICY, output=published / "release", force=True)
    assert files(published) == before


def test_a_hierarchy_or_key_in_the_folders_that_are_replaced_is_refused(published: Path) -> None:
    tree = published / "release" / "tree.csv"
    tree.write_text("30;30-39;*\n34;30-39;*\n51;50-59;*\n52;50-59;*\n")
    before = files(published)
    for settings in ({"policy": {**POLICY, "hierarchies": {"age": str(tree)}}}, {"policy": POLICY, "sign": tree}):
        with pytest.raises(shoal.InputError, match="lies in the"):
            shoal.publish(published / "people.csv", output=published / "release", force=True, **settings)
    assert files(published) == before


@pytest.mark.parametrize("where", ["release/mine.txt", "release.private/mine.txt", "release/sub/mine.txt"])
def test_force_names_what_shoal_did_not_write_and_leaves_it(published: Path, where: str) -> None:
    (published / where).parent.mkdir(exist_ok=True)
    (published / where).write_text("mine")
    with pytest.raises(shoal.InputError, match=r"mine\.txt|sub"):
        shoal.publish(published / "people.csv", POLICY, output=published / "release", force=True)
    assert (published / where).read_text() == "mine"


def test_force_does_not_delete_a_folder_that_only_has_the_name_of_an_owners(tmp_path: Path) -> None:
    (tmp_path / "q.private").mkdir()
    (tmp_path / "q.private" / "findings.json").write_text("my own")
    with pytest.raises(shoal.InputError, match=r"findings\.json"):
        shoal.publish(PEOPLE, POLICY, output=tmp_path / "q", force=True)
    assert (tmp_path / "q.private" / "findings.json").read_text() == "my own"


@pytest.mark.usefixtures("light")
def test_force_replaces_a_publication(published: Path) -> None:
    shoal.publish(PEOPLE, POLICY, output=published / "release", pdf=False, force=True)
    assert (published / "release" / "report.html").read_text() == "<p>report</p>"
    assert shoal.verify(published / "release").holds


@pytest.mark.usefixtures("light")
def test_of_two_publications_at_once_one_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other one is written between the check at the start and the names at the end."""
    write = module._write_documents

    def late(*given: Any) -> str:
        done = write(*given)
        monkeypatch.setattr(module, "_write_documents", write)
        shoal.publish(PEOPLE.head(16), POLICY, output=tmp_path / "release", pdf=False)
        return done

    monkeypatch.setattr(module, "_write_documents", late)
    with pytest.raises(shoal.InputError, match="is there already"):
        shoal.publish(PEOPLE, POLICY, output=tmp_path / "release", pdf=False)
    assert read_findings(tmp_path / "release")["data"]["released"] == 16
    assert sorted(path.name for path in tmp_path.iterdir()) == ["release", "release.private"]


def test_an_output_in_a_folder_of_inputs_is_refused(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    PEOPLE.write_csv(tmp_path / "in" / "people.csv")
    for source in (tmp_path / "in", str(tmp_path / "in" / "**" / "*.csv")):
        with pytest.raises(shoal.InputError, match="read"):
            shoal.publish(source, POLICY, output=tmp_path / "in" / "release")


# what a manifest covers


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda folder: (folder / "report.html").write_text("forged"), "report.html was changed"),
        (lambda folder: (folder / "findings.json").write_text("{}"), "findings.json was changed"),
        (lambda folder: (folder / "data.dictionary.json").write_text("{}"), "data.dictionary.json was changed"),
        (lambda folder: (folder / "README.md").unlink(), "README.md is missing"),
        (lambda folder: (folder / "more.csv").write_text("a"), "more.csv was added"),
    ],
)
def test_verify_refuses_a_changed_missing_or_added_file(published: Path, spoil: Any, told: str) -> None:
    release = published / "release"
    assert shoal.verify(release).holds
    spoil(release)
    found = shoal.verify(release)
    assert not found.holds
    assert told in found.reasons()


def test_verify_refuses_data_that_lies_elsewhere(published: Path) -> None:
    data = published / "release" / "data.csv"
    shutil.move(data, published / "data.csv")
    data.symlink_to(published / "data.csv")
    assert "data.csv is not a file of this folder" in shoal.verify(published / "release").reasons()


def test_the_signature_covers_every_file(tmp_path: Path) -> None:
    key, public = shoal.make_signing_key(tmp_path / "owner.key")
    shoal.publish(PEOPLE, POLICY, output=tmp_path / "release", pdf=False, sign=key)
    assert shoal.verify(tmp_path / "release", signed_by=public).holds
    place = tmp_path / "release" / "data.manifest.json"
    manifest = json.loads(place.read_text())
    assert set(manifest["files"]) == {file.name for file in (tmp_path / "release").iterdir() if file.name != place.name}
    del manifest["files"]
    place.write_text(json.dumps(manifest))
    found = shoal.verify(tmp_path / "release", signed_by=public)
    assert {check.name for check in found.checks if not check.holds} >= {"signature", "files"}


@pytest.mark.parametrize("key", ["k", "classes", "uniques"])
def test_figures_of_a_manifest_that_can_be_measured_are_measured(published: Path, key: str) -> None:
    shutil.rmtree(published / "release.private")
    place = published / "release" / "data.manifest.json"
    manifest = json.loads(place.read_text())
    manifest["findings"][key] += 7
    place.write_text(json.dumps(manifest))
    assert f"figures: not as measured: {key}" in shoal.verify(published / "release").reasons()


@pytest.mark.parametrize("part", ["method", "parameters", "modified_rows", "information_loss", "notes", "created"])
def test_claims_of_a_manifest_are_held_by_the_findings(published: Path, part: str) -> None:
    """What cannot be measured again cannot be changed in the manifest alone; report and findings know its hash."""
    shutil.rmtree(published / "release.private")
    release, place = published / "release", published / "release" / "data.manifest.json"
    assert "claimed, not checked: method, parameters, " in str([check.detail for check in shoal.verify(release).checks])
    manifest = json.loads(place.read_text())
    other = {"method": "lattice", "parameters": {"k": 9}, "notes": ["good"], "created": "2001-01-01T00:00:00+00:00"}
    if part in other:
        manifest[part] = other[part]
    else:
        manifest["findings"][part] = 99
    place.write_text(json.dumps(manifest))
    assert "findings: the manifest is not the one that the findings are about" in shoal.verify(release).reasons()
    known = json.loads((release / "findings.json").read_text())["data"]["manifest_sha256"]
    assert known in (release / "report.html").read_text()


def test_the_worst_class_of_a_model_is_measured(published: Path) -> None:
    shutil.rmtree(published / "release.private")
    place = published / "release" / "data.manifest.json"
    manifest = json.loads(place.read_text())
    manifest["models"][0]["worst"]["size"] = 50
    place.write_text(json.dumps(manifest))
    assert "not as measured: k-anonymity" in shoal.verify(published / "release").reasons()


def test_no_cell_is_a_formula_where_that_is_asked_for(tmp_path: Path) -> None:
    frame = PEOPLE.with_columns(illness=pl.Series(["=1+1", "cold"] * 12))
    found = shoal.publish(frame, POLICY, output=tmp_path / "release", pdf=False, excel_safe=True)
    assert (found.verdict, shoal.verify(tmp_path / "release", original=frame).holds) == ("holds", True)
    assert ",=1+1" not in (tmp_path / "release" / "data.csv").read_text()


# refusals


def test_a_policy_that_no_method_keeps_is_refused_with_the_model_and_its_figure(tmp_path: Path) -> None:
    policy = {**POLICY, "models": [*POLICY["models"], {"model": "l-diversity", "l": 7, "sensitive": "illness"}]}
    result = shoal.publish(PEOPLE, policy, output=tmp_path / "release", keep_evidence=tmp_path / "evidence")
    assert result.verdict == "refused"
    assert "l-diversity" in (result.refusal or "")
    assert "worst class: 2 different values" in (result.refusal or "")
    found = read_findings(tmp_path / "evidence")
    assert found["refusal"]["step"] == "anonymise"
    assert result.steps[-1].verdict == "refused"
    page = report_html(found)
    assert "The release was refused" in page
    assert "released on" not in page
    assert ">Signature<" not in page


def test_what_attacks_leave_makes_a_draft_with_the_column_the_cure_and_its_cost(tmp_path: Path) -> None:
    draw = random.Random(1)
    people = [
        (20 + draw.randrange(40), draw.choice(("flu", "cold", "ache")), draw.randrange(50_000)) for _ in range(600)
    ]
    frame = pl.DataFrame(people, schema=["age", "illness", "charge"], orient="row")
    models = [{"model": "k-anonymity", "k": 20}]
    policy = {**POLICY, "columns": {**POLICY["columns"], "charge": "other"}, "models": models}
    del policy["attacks"]
    policy["threshold"] = 0.35
    result = shoal.publish(frame, policy, output=tmp_path / "release", pdf=False)
    assert result.verdict == "draft"
    said = result.summary()
    assert said.startswith("Draft, not a release: singling-out succeeds for ")
    assert "(limit 35.0%); charge does it." in said
    assert "The cheapest cure of " in said
    assert "`attacks: {singling_out: {limit: 0.35, accept: why}}`" in said
    names = {file.name for file in (tmp_path / "release").iterdir()}
    cures = [cure for cure in result.cures or [] if cure.enough]
    assert cures
    assert names == {"findings.json", "report.html", *(Path(cure.file or "").name for cure in cures)}
    assert not (tmp_path / "release.private").exists()
    page = (tmp_path / "release" / "report.html").read_text()
    assert "This is a draft, not a release" in page
    assert ">Signature<" not in page
    found = read_findings(tmp_path / "release")
    assert (found["data"]["released"], found["data"]["released_sha256"]) == (0, None)
    # every cure that is enough holds, with what was promised, and so does an acceptance, which stands above the
    # signature
    for number, cure in enumerate(cures):
        cured = shoal.publish(frame, cure.file, output=tmp_path / f"cured-{number}", pdf=False)
        assert cured.verdict == "holds", cure.words
        worst = max(one["excess"] or 0 for one in cured.findings["attacks"]["attacks"])
        assert worst <= cure.limit, cure.words
    assert shoal.publish(frame, policy, output=tmp_path / "release", pdf=False, force=True).verdict == "draft"
    reason = "they are invented, every one"
    accepted = {**policy, "attacks": {"singling_out": {"limit": "35%", "accept": reason}}}
    done = shoal.publish(frame, accepted, output=tmp_path / "accepted", pdf=False)
    page = (tmp_path / "accepted" / "report.html").read_text()
    assert (done.verdict, page.count(reason) >= 2) == ("holds", True)
    assert page.rindex(reason) < page.index("Valid until")
    # a draft in the place of a release takes the place of its owner's folder, too
    assert (tmp_path / "accepted.private").exists()
    assert shoal.publish(frame, policy, output=tmp_path / "accepted", pdf=False, force=True).verdict == "draft"
    assert not (tmp_path / "accepted.private").exists()
    # a bare number is a limit without an acceptance
    assert shoal.publish(frame, {**policy, "attacks": {"singling_out": 0.35}}).verdict == "draft"


def test_what_is_not_proven_is_said_and_is_no_draft() -> None:
    draw = random.Random(1)
    ages, ills = [draw.randrange(20, 24) for _ in range(60)], [draw.choice("abc") for _ in range(60)]
    policy = {**POLICY, "attacks": {"inference": 0.0}}
    result = shoal.publish(pl.DataFrame({"age": ages, "illness": ills}), policy)
    assert result.verdict == "holds"
    said = [warning for warning in result.warnings or [] if warning.startswith("inference by")]
    assert len(said) == 1
    assert said[0].endswith("not proven with 30 targets")


def test_evidence_is_replaced_by_evidence_and_by_nothing_else(tmp_path: Path) -> None:
    policy = {**POLICY, "models": [{"model": "k-anonymity", "k": 500}]}
    place = tmp_path / "evidence"
    settings: dict[str, Any] = {"output": tmp_path / "release", "keep_evidence": place}
    assert shoal.publish(PEOPLE, policy, **settings).verdict == "refused"
    with pytest.raises(shoal.InputError, match="replace it with `force`"):
        shoal.publish(PEOPLE, policy, **settings)
    assert shoal.publish(PEOPLE, policy, **settings, force=True).verdict == "refused"
    (place / "mine.txt").write_text("mine")
    with pytest.raises(shoal.InputError, match=r"mine\.txt"):
        shoal.publish(PEOPLE, policy, **settings, force=True)


def test_a_threshold_that_is_exceeded_is_said_aloud() -> None:
    found = shoal.publish(PEOPLE, {**POLICY, "threshold": 0.05})
    assert found.verdict == "holds"
    assert "above the policy's threshold of 0.05" in (found.warnings or [""])[0]
    assert {step.name: step.verdict for step in found.steps}["risk after"] == "above the threshold"


def test_an_assessment_that_has_expired_is_refused() -> None:
    with pytest.raises(shoal.InputError, match="in the past"):
        shoal.publish(PEOPLE, {**POLICY, "context": {"expires": "2001-01-01"}})


def test_a_policy_with_a_household_can_be_published() -> None:
    frame = pl.DataFrame({"age": [30, 34, 51, 52] * 6, "home": [i // 2 for i in range(24)], "weight": [10.0] * 24})
    policy = {
        "columns": {"age": "quasi-identifier", "home": "identifier", "weight": "other"},
        "household": "home",
        "weight": "weight",
        "models": POLICY["models"],
    }
    assert shoal.publish(frame, policy).verdict == "holds"


# findings that were edited


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["data", "records"], None), (["data", "records"], "x"), (["data", "records"], -5), (["change"], {}),
        (["risk"], None), (["risk", "after", "prosecutor"], None),
        (["risk", "after", "prosecutor", "highest"], float("nan")),
        (["attacks"], []), (["software"], []), (["context", "edition"], "official-certified"),
        (["verification", "verdict"], "certified"), (["schema_version"], True), (["created"], 5), (["limits"], "none"),
        (["utility", "columns", 0, "bars", 0, "before"], "a"), (["data", "records"], 10**400),
    ],
)  # fmt: skip
def test_edited_findings_are_refused_by_their_key(published: Path, path: list[Any], value: Any) -> None:
    place = published / "release.private" / "findings.json"
    found = json.loads(place.read_text())
    part = found
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = value
    place.write_text(json.dumps(found))
    with pytest.raises(shoal.InputError, match=str(path[0])):
        read_findings(place)


def test_the_public_report_is_the_one_that_was_published(published: Path) -> None:
    found = public_edition(read_findings(published / "release.private"))
    assert report_html(found).encode() == (published / "release" / "report.html").read_bytes()


# small counts by difference


def test_class_sizes_have_the_same_borders_wherever_they_are_told() -> None:
    before = [{"size": size, "classes": 1, "records": size} for size in (2, 3, 4, 5, 30)]
    after = [{"size": 22, "classes": 2, "records": 44}]
    attacker = {"highest": 0.5, "average": 0.1, "share_over_threshold": 9 / 44, "threshold": 0.2}
    found: dict[str, Any] = {
        "risk before": {"histogram": before, "prosecutor": attacker},
        "risk after": {"histogram": after, "prosecutor": {**attacker, "share_over_threshold": 0.0}},
    }
    shown = small_counts_hidden(found, {})
    lines = [(line["size"], line["to"], line["before"]) for line in shown["risk after"]["records_by_size"]]
    histogram = [(line["size"], line["to"], line["records"]) for line in shown["risk before"]["histogram"]]
    assert histogram == [line for line in lines if line[2]]
    assert shown["risk before"]["prosecutor"]["share_over_threshold"] is None  # 9 of 14 records are below size 5
    assert shown["risk after"]["prosecutor"]["share_over_threshold"] == 0.0


# the command


def run(*args: str, **how: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*SHOAL, *args], capture_output=True, text=True, **how)


def test_without_a_terminal_and_with_closed_input_the_questions_are_told(published: Path) -> None:
    command = " ".join([*SHOAL, "publish", "people.csv", "-o", "new", "<&-"])
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, cwd=published)
    assert done.returncode == 2, done.stderr
    assert "--answer" in done.stderr
    assert "recipient" in done.stderr


def test_the_line_of_answers_that_is_proposed_is_whole() -> None:
    unclear = PEOPLE.with_columns(pl.Series("code", [f"x{number % 7}" for number in range(24)]))
    with pytest.raises(shoal.InputError) as asked:
        shoal.publish(unclear, answers={"recipient": "contract"})
    assert "'recipient=contract,code=" in str(asked.value.cure)


@pytest.mark.parametrize(
    ("absent", "pdf", "said"),
    [
        ("jinja2", False, "A report needs Jinja2"),
        ("vl_convert", False, "vl-convert"),
        ("typst", True, "PDF needs typst"),
    ],
)
def test_a_report_that_cannot_be_written_is_refused_before_anything_is_read(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, absent: str, pdf: bool, said: str
) -> None:
    monkeypatch.setitem(sys.modules, absent, None)  # type: ignore[arg-type]
    with pytest.raises(shoal.InputError, match=said) as refused:
        shoal.publish(tmp_path / "nowhere.csv", POLICY, output=tmp_path / "release", pdf=pdf)
    assert "pip install 'shoal[report]'" in str(refused.value.cure)
    if absent == "typst":
        with pytest.raises(shoal.InputError, match="There is no file"):
            shoal.publish(tmp_path / "nowhere.csv", POLICY, output=tmp_path / "release", pdf=False)


def test_at_a_terminal_the_questions_are_asked(published: Path) -> None:
    """Somebody types; an answer that is none is asked again."""
    mine, theirs = pty.openpty()
    process = subprocess.Popen(
        [*SHOAL, "publish", "people.csv", "-o", "new", "--no-pdf"],
        cwd=published,
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=theirs,
    )
    os.close(theirs)
    seen: list[bytes] = []

    def listen() -> None:
        while True:
            try:
                seen.append(os.read(mine, 1024))
            except OSError:
                return

    threading.Thread(target=listen, daemon=True).start()
    for answer in ("whoever", "inside", *["" for _ in range(4)]):
        os.write(mine, f"{answer}\n".encode())
    process.wait(timeout=240)
    shown = b"".join(seen).decode()
    assert process.returncode == 0, shown
    assert "Who receives it?" in shown
    assert "Answer with one of public, contract, inside" in shown
    columns = json.loads((published / "new" / "data.dictionary.json").read_text())["columns"]
    assert {entry["decided_by"] for entry in columns} <= {"answer", "proposal"}


def test_a_run_that_is_ended_cleans_up_and_the_next_one_after_a_killed_one(tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": [i % 90 for i in range(30_000)], "illness": [f"i{i % 50}" for i in range(30_000)]})
    frame.write_csv(tmp_path / "people.csv")
    (tmp_path / "policy.yaml").write_text(json.dumps(POLICY))
    command = [*SHOAL, "publish", "people.csv", "--policy", "policy.yaml", "-o", "release", "--no-pdf"]

    def started() -> subprocess.Popen[bytes]:
        process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None and len(drafts()) < 2:
            time.sleep(0.05)
        return process

    def drafts() -> list[Path]:
        """The draft and its lock."""
        return sorted(path for path in tmp_path.iterdir() if path.name.startswith(".release"))

    process = started()
    assert [oct(path.stat().st_mode & 0o777) for path in drafts()] == ["0o700", "0o600"]
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=240) == 143
    assert drafts() == []
    process = started()
    process.kill()
    process.wait()
    assert len(drafts()) == 2
    found = shoal.publish(PEOPLE, POLICY, output=tmp_path / "release", pdf=False)
    assert "was killed was removed" in (found.warnings or [""])[0]
    assert drafts() == []


def test_two_reports_are_written_or_none(published: Path) -> None:
    done = run("report", "release", "-o", "z.html", "--pdf", "z.html", cwd=published)
    assert done.returncode == 2
    assert not (published / "z.html").exists()


def test_no_page_is_written_into_a_published_folder(published: Path) -> None:
    before = files(published)
    shutil.copytree(published / "release", published / "other")
    for args in (["report", "release"], ["compare", "release", "other"]):
        done = run(*args, "-o", "release/report.html", "--force", cwd=published)
        assert done.returncode == 2, done.stderr
        assert "published" in done.stderr
    shutil.rmtree(published / "other")
    assert files(published) == before


@pytest.mark.parametrize("value", [None, "x", {}, [], float("nan"), -5, 10**400, True])
def test_no_edit_of_findings_crashes_a_report(kept: Path, value: Any) -> None:
    """Every key, the first and last entry of every list: the report is set, or the findings are refused."""
    base = json.loads((kept / "release.private" / "findings.json").read_text())
    for path in list(paths_in(base)):
        found = json.loads(json.dumps(base))
        part = found
        for key in path[:-1]:
            part = part[key]
        part[path[-1]] = value
        with contextlib.suppress(shoal.InputError):
            document(checked_findings(found, "findings.json"))


def paths_in(part: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    keys: list[Any] = list(part) if isinstance(part, dict) else []
    if isinstance(part, list) and part:
        keys = sorted({0, len(part) - 1})
    for key in keys:
        yield (*path, key)
        yield from paths_in(part[key], (*path, key))


GRADES = pl.DataFrame(
    {"grade": [*["low", "mid", "high", "mid"] * 6, "zenith"], "illness": [*["flu", "cold"] * 12, "flu"]}
)
ORDER = {"type": "ordered", "order": ["low", "mid", "high", "zenith", "ultra"], "map": {"z": "zenith", "l": "low"}}
GRADED: dict[str, Any] = {
    "columns": {"grade": "quasi-identifier", "illness": "sensitive"},
    "types": {"grade": ORDER},
    "attacks": ACCEPTED,
}


def test_values_of_an_order_that_nobody_shows_stay_with_the_owner(tmp_path: Path) -> None:
    """One person alone is at the top: that record is suppressed, and nothing that leaves names what it was."""
    method = {"name": "lattice", "suppression": "10%"}
    policy = {**GRADED, "models": [{"model": "k-anonymity", "k": 4}], "method": method}
    GRADES.write_csv(tmp_path / "people.csv")
    found = shoal.publish(tmp_path / "people.csv", policy, output=tmp_path / "release", pdf=False)
    assert not [warning for warning in found.warnings or [] if "order" in warning]
    leaves = files(tmp_path / "release")
    assert b"mid" in leaves["data.manifest.json"]
    assert b'"mid"' in leaves["data.dictionary.json"]
    assert not [name for name, content in leaves.items() if b"ultra" in content or b"zenith" in content]
    kept = json.loads((tmp_path / "release.private" / "data.private.json").read_text())
    assert kept["types"]["grade"]["order"] == ORDER["order"]
    for given in (None, policy):
        judged = shoal.verify(tmp_path / "release", given, original=tmp_path / "people.csv")
        assert judged.holds, judged.reasons()
        assert "verified against the policy of the release" in [check.detail for check in judged.checks]
        assert "figures" in [check.name for check in judged.checks]
    assert shoal.attack(tmp_path / "release", original=tmp_path / "people.csv", twin=False).attacks
    shutil.rmtree(tmp_path / "release.private")
    assert shoal.verify(tmp_path / "release").holds
    assert shoal.verify(tmp_path / "release", policy).holds


def test_an_order_by_which_a_model_goes_stays_whole_and_is_warned_about() -> None:
    closeness = {"model": "t-closeness", "t": 0.9, "sensitive": "grade"}
    roles = {"illness": "quasi-identifier", "grade": "sensitive"}
    policy = {**GRADED, "columns": roles, "models": [{"model": "k-anonymity", "k": 3}, closeness]}
    found = shoal.publish(GRADES, policy)
    assert any("order that the policy declares for grade" in warning for warning in found.warnings or [])
    assert not any("ultra" in warning for warning in found.warnings or [])
