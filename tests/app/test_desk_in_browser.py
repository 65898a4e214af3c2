"""The query desk in a browser, and two apps in one browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.browsing import Visitor, chromium
from app.conftest import Running, running
from shoal import sample_data
from shoal.app.project import Settings


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def stays(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("files") / "stays.csv"
    sample_data("discharges", rows=400).write_csv(path)
    return path


@pytest.fixture
def app(tmp_path: Path, stays: Path) -> Iterator[Running]:
    with running(Settings(project=tmp_path / "project", allow=(stays.parent,))) as started:
        yield started


def test_the_desk_from_its_budget_to_a_refusal(browser: Any, app: Running, stays: Path) -> None:
    visitor = Visitor.of(browser, app.base, app.settings.token)
    page = visitor.page
    visitor.upload(stays)
    page.get_by_role("link", name="Query desk").click()
    visitor.settled()
    visitor.pictures("desk-open")
    assert visitor.faults("light", "dark") == []
    page.get_by_label("Budget (epsilon)").fill("1")
    visitor.click("Open the desk")
    visitor.settled()
    assert "epsilon 0 spent, 1 left" in page.locator("#main").inner_text()
    # fields follow the kind, and the error is answered without spending
    assert not page.get_by_label("Lowest value").is_visible()
    page.select_option("#kind", "mean")
    assert page.get_by_label("Lowest value").is_visible()
    page.locator("#estimate").get_by_text("Of which column is the mean asked?").wait_for()
    page.get_by_label("Of which column").select_option(label="age_yrs (integer)")
    page.get_by_label("Lowest value").fill("0")
    page.get_by_label("Highest value").fill("120")
    page.get_by_label("What it may cost (epsilon)").fill("0.6")
    page.get_by_label("Condition 1: column").select_option(label="sex")
    page.get_by_label("Condition 1: comparison").select_option(label="is not missing")
    page.locator("#estimate").get_by_text("The error depends on how many rows are selected").wait_for()
    page.locator("#estimate").get_by_text("it would cost epsilon 0.6").wait_for()
    page.reload()
    assert page.get_by_label("Highest value").input_value() == "120"
    assert "0 answers given" in page.locator("#main").inner_text()
    visitor.click("Ask and pay")
    visitor.settled()
    assert "The mean of age_yrs: " in page.locator("#main").inner_text()
    assert page.get_by_role("img", name="1 answer given; epsilon 0.6 spent, 0.4 left.").count() == 1
    visitor.pictures("desk-answer")
    assert visitor.faults("light", "dark") == []
    page.select_option("#kind", "histogram")
    page.get_by_label("Bins", exact=True).fill("6")
    page.get_by_label("What it may cost (epsilon)").fill("0.4")
    page.locator("#estimate").get_by_text("it would cost epsilon 0.4").wait_for()
    visitor.click("Ask and pay")
    visitor.settled()
    assert "by group: 6 numbers" in page.locator("#main").inner_text()
    visitor.pictures("desk-groups")
    # nothing is left: the library refuses
    page.get_by_label("Bins", exact=True).fill("5")
    page.locator("#estimate").get_by_text("which is not enough").wait_for()
    visitor.click("Ask and pay")
    visitor.settled()
    assert "Not enough budget: epsilon 0.4 requested, 0 remaining" in page.locator("#main").inner_text()
    visitor.pictures("desk-refused")
    assert visitor.faults("light", "dark") == []
    assert visitor.complaints == []
    assert visitor.strayed() == []
    page.context.close()


def test_two_apps_in_one_browser_keep_their_cookies_apart(browser: Any, app: Running, tmp_path: Path) -> None:
    """Cookies do not tell ports apart: the second app must not log the first one out."""
    with running(Settings(project=tmp_path / "other")) as other:
        page = browser.new_context().new_page()
        for one in (app, other):
            page.goto(f"{one.base}/?token={one.settings.token}")
        for one in (app, other, app):
            assert page.goto(one.base).status == 200
            assert "Open a table" in page.title()
        cookies = page.context.cookies()
        assert len({cookie["name"] for cookie in cookies}) == len(cookies) == 2
        page.context.close()
