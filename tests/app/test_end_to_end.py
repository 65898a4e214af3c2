"""From a file to a release in a browser, as a data steward goes."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml

from accepted import ACCEPTED
from app.browsing import Visitor, chromium
from app.conftest import Running, running
from shoal import make_signing_key, sample_data, verify
from shoal.app.project import Settings

STEPS = ("data", "columns", "risk", "protect", "check", "release")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files that somebody might open."""
    folder = tmp_path_factory.mktemp("files")
    sample_data("discharges", rows=400).write_csv(folder / "small.csv")
    sample_data("licences", rows=300).write_csv(folder / "licences.csv")
    (folder / "broken.csv").write_text("age,zip\n34,02139\n51\n")
    (folder / "picture.csv").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)))
    return folder


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory, files: Path) -> Iterator[Running]:
    with running(Settings(project=tmp_path_factory.mktemp("project"), allow=(files,))) as started:
        yield started


@pytest.fixture(scope="module")
def first(browser: Any, app: Running) -> Visitor:
    """The visitor who came with the token, which is good once."""
    return Visitor.of(browser, app.base, app.settings.token)


@pytest.fixture
def visitor(first: Visitor) -> Iterator[Visitor]:
    """A tab of its own for each test; nothing in it may complain or leave this machine."""
    made = first.another()
    yield made
    assert made.complaints == []
    assert made.strayed() == []
    made.page.context.close()


def accept_attacks(visitor: Visitor) -> None:
    """Write into the policy that what attacks gain on these invented people is accepted, and load it."""
    page = visitor.page
    page.get_by_text("The policy: download it, or load one").click()
    kept = yaml.safe_load(page.get_by_role("region", name="Policy").inner_text())
    page.get_by_label("Load a policy").fill(yaml.safe_dump({**kept, "attacks": ACCEPTED}, sort_keys=False))
    visitor.click("Load it")
    visitor.settled()
    assert not page.locator("#policy-refused").count()


def go_to_a_release(visitor: Visitor) -> None:
    """The steps from an opened file on, by their buttons and links."""
    page = visitor.page
    page.get_by_role("link", name="Next: columns").click()
    visitor.settled()
    page.select_option("#role-0", "other")  # the hospital: no rule is sure of it
    page.locator("#saved").get_by_text("Saved").wait_for()
    visitor.step("columns")
    page.get_by_role("link", name="Next: risk").click()
    visitor.settled()
    page.get_by_role("link", name="Next: protect").click()
    visitor.settled()
    accept_attacks(visitor)
    visitor.click("Protect the table")
    visitor.settled()
    page.get_by_role("link", name="Next: attack and verify").click()
    page.get_by_text("What the report says about the receiver").click()
    page.get_by_label("Who receives it").fill("everybody, on the portal <of> the city")
    visitor.click("Release, verify and attack")
    visitor.settled()
    page.get_by_role("link", name="Next: release").click()


def test_from_a_small_file_to_a_release_that_verify_accepts(visitor: Visitor, files: Path, tmp_path: Path) -> None:
    page = visitor.page
    visitor.upload(files / "small.csv")
    assert "400" in page.locator(".stats").inner_text()
    go_to_a_release(visitor)
    _, public = make_signing_key(files / "owner.pem")
    page.get_by_label("Path of your private key").fill(str(files / "owner.pem"))
    visitor.click("Sign the release")
    page.get_by_text("Signed.", exact=True).wait_for()
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Download the release").click()
    waiting.value.save_as(tmp_path / "release.zip")
    with zipfile.ZipFile(tmp_path / "release.zip") as archive:
        names = archive.namelist()
        archive.extractall(tmp_path)
    assert all(name.startswith("release/") and ".private" not in name for name in names)
    found = verify(tmp_path / "release", signed_by=public)
    assert found.holds
    assert found.k >= 5
    # the report stands in a frame without rights
    frame = page.frame_locator("iframe.report")
    assert frame.locator("h1").inner_text()
    assert "on the portal <of> the city" in frame.locator("body").inner_text()
    # a reload, and every step keeps what was found
    for key in STEPS:
        visitor.step(key)
        page.reload()
        # attacks that succeed are told, errors there are none
        assert not page.locator(".notice.bad[role=alert]:not([data-attacks])").count()
        assert page.get_by_text("The same on the command line and in Python").count()
    assert "✓" in page.locator(".steps").inner_text()


def test_the_first_page_and_a_file_of_this_machine(visitor: Visitor) -> None:
    visitor.page.goto(visitor.base)
    assert "At most 4 GB" in visitor.page.locator("form[data-upload]").inner_text()
    visitor.pictures("start")
    assert visitor.faults("light", "dark") == []
    visitor.click("licences.csv")
    visitor.settled()
    assert "300" in visitor.page.locator(".stats").inner_text()
    assert "1972" in visitor.page.locator("#rows").inner_text()
    visitor.page.locator("#rows").get_by_role("link", name="Next").click()
    visitor.page.get_by_text("Records 51 to 100").wait_for()


def test_a_bad_file_says_what_is_wrong_and_breaks_nothing(visitor: Visitor, files: Path) -> None:
    for name in ("broken.csv", "picture.csv"):
        visitor.upload(files / name)
        told = visitor.page.locator(".notice.bad").first.inner_text()
        assert told.strip()
        assert str(files) not in told
        visitor.step("columns")
        visitor.step("risk")
        assert visitor.page.get_by_role("link", name="Go to Columns").count()
    visitor.step("data")
    visitor.pictures("refused")
    assert visitor.faults("light", "dark") == []


def test_cancel_ends_the_work_and_it_can_be_started_again(visitor: Visitor, files: Path, app: Running) -> None:
    page = visitor.page
    visitor.upload(files / "licences.csv")
    visitor.step("columns")
    visitor.click("Accept these roles")
    visitor.step("protect")
    visitor.click("Protect the table")
    visitor.click("Cancel")
    page.get_by_text("Cancelled: ").wait_for()
    workspace = app.project.workspace(visitor.workspace.rsplit("/", 1)[1])
    assert app.jobs.last(workspace, "protect").state == "cancelled"
    visitor.click("Start it again")
    page.locator(".job progress").wait_for()
    visitor.pictures("running")  # it may end meanwhile
    visitor.settled()
    assert app.jobs.last(workspace, "protect").state == "done"


@pytest.mark.slow
def test_two_tabs_with_two_files_keep_apart(visitor: Visitor, files: Path) -> None:
    other = visitor.another()
    visitor.upload(files / "small.csv")
    other.upload(files / "licences.csv")
    visitor.step("columns")
    other.step("columns")
    visitor.page.select_option("#role-0", "sensitive")
    visitor.page.locator("#saved").get_by_text("Saved").wait_for()
    other.page.reload()
    assert other.page.locator("#role-0").input_value() != "sensitive"
    visitor.page.reload()
    assert visitor.page.locator("#role-0").input_value() == "sensitive"
    assert "anno_nascita" in other.page.locator("table").first.inner_text()
    assert "oshpd_id" in visitor.page.locator("table").first.inner_text()
    other.page.context.close()


def test_points_and_switches_are_answered_and_a_policy_is_loaded(visitor: Visitor, files: Path, tmp_path: Path) -> None:
    page = visitor.page
    visitor.upload(files / "small.csv")
    visitor.step("columns")
    assert page.locator("#type-5").input_value() == "code"  # a ZIP code
    page.select_option("#type-7", "nominal")
    page.locator("#saved").get_by_text("Saved").wait_for()
    page.reload()
    assert page.locator("#type-7").input_value() == "nominal"
    points = page.locator("#frontier .chart a")
    assert points.first.get_attribute("aria-label").startswith("1 column: ")
    points.first.focus()
    page.keyboard.press("Enter")
    page.locator("#frontier").get_by_text("1 column singles out").wait_for()
    assert page.locator("#frontier li").count() == 1
    visitor.click("Keep these roles")
    visitor.step("risk")
    before = page.locator("#answer dd").first.inner_text()
    page.get_by_role("switch", name="patzip").uncheck()
    page.locator("#answer").get_by_text("race, patcnty").wait_for()
    assert "patzip" not in page.locator("#answer").inner_text()
    assert page.locator("#answer dd").first.inner_text() != before
    page.get_by_text("The policy: download it, or load one").click()
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Download the policy").click()
    waiting.value.save_as(tmp_path / "policy.yaml")
    text = (tmp_path / "policy.yaml").read_text()
    assert "age_yrs: quasi-identifier" in text
    page.get_by_label("Load a policy").fill(text.replace("age_yrs: quasi-identifier", "age_yrs: sensitive"))
    visitor.click("Load it")
    visitor.step("columns")
    assert page.locator("#role-1").input_value() == "sensitive"


HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(2)>',
    "x" * 300,
    "\u202eשם עברית",
    "{{ 7 * 7 }}",
    "a;b,c",
]


def test_hostile_names_and_cells_are_shown_as_they_are(visitor: Visitor, tmp_path: Path) -> None:
    path = tmp_path / "hostile.csv"
    values = [30 + number % 9 for number in range(60)]
    frame = pl.DataFrame(dict.fromkeys(HOSTILE, values) | {"cell": ["<img src=x onerror=alert(3)>"] * 60})
    frame.write_csv(path)
    visitor.upload(path)
    page = visitor.page
    assert page.locator("#rows td").last.inner_text() == "<img src=x onerror=alert(3)>"
    visitor.step("columns")
    for place, name in enumerate(HOSTILE):
        shown = name.strip().replace("\u202e", "\ufffd")  # it would turn the words behind it around
        assert page.locator("tbody tr").nth(place).locator("bdi").first.inner_text() == shown
        page.select_option(f"#role-{place}", "quasi-identifier")
    visitor.click("Accept these roles")
    for key in ("columns", "risk", "protect"):
        visitor.step(key)
        assert "49" not in page.locator("h1").inner_text()
        assert page.locator("img").count() == 0
        assert page.get_by_text("\u202e").count() == 0
        assert visitor.overflow() <= 0
    visitor.pictures("hostile")
    page.get_by_role("button", name="Show the hierarchies").click()
    visitor.settled()
    assert page.locator("#trees details").count() == len(HOSTILE)


@pytest.mark.slow
def test_from_the_example_to_a_release_by_a_standard(visitor: Visitor, tmp_path: Path) -> None:
    visitor.page.goto(visitor.base)
    visitor.click("Open the example")
    visitor.settled()
    visitor.step("data")
    go_to_a_release(visitor)
    visitor.step("protect")
    visitor.page.get_by_text("Classes of at least 11, for records").click()
    visitor.click("Protect again")
    visitor.settled()
    accept_attacks(visitor)  # a standard brings limits of its own
    visitor.step("check")
    assert visitor.page.get_by_text("The figures below are of earlier decisions").count()
    visitor.click("Release, verify and attack again")
    visitor.settled()
    for key in STEPS:
        visitor.step(key)
        visitor.pictures(key)
        assert visitor.faults("light", "dark") == []
    with visitor.page.expect_download() as waiting:
        visitor.page.get_by_role("link", name="Download the release").click()
    waiting.value.save_as(tmp_path / "release.zip")
    with zipfile.ZipFile(tmp_path / "release.zip") as archive:
        archive.extractall(tmp_path)
    found = verify(tmp_path / "release")
    assert found.holds
    assert found.k >= 11
