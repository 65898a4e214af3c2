"""Publications side by side, in the terminal, as JSON and as a page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import shoal
from shoal.cli.group import app
from shoal.reports.publication.compare import comparison_html
from shoal.results import Exhibit


@pytest.fixture(scope="module")
def folders(planted: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The publication, and one of the same table that lost more and is above its threshold."""
    other = tmp_path_factory.mktemp("other") / "other"
    other.mkdir()
    found = json.loads((planted / "release" / "findings.json").read_text())
    found["utility"]["loss"] += 0.25
    found["risk"]["after"]["prosecutor"]["highest"] = 0.5
    (other / "findings.json").write_text(json.dumps(found))
    return [planted / "release", other]


def test_the_one_that_lost_least_is_named(folders: list[Path]) -> None:
    result = shoal.compare_publications(folders)
    assert result.best == str(folders[0])
    assert result.differ == []
    first, second = result.publications
    assert second.loss == pytest.approx((first.loss or 0) + 0.25)
    assert first.k == second.k == 5
    assert set(first.excess_by_attack) == set(second.excess_by_attack) != set()


def test_losses_of_other_tables_are_not_ranked(folders: list[Path], tmp_path: Path) -> None:
    found = json.loads((folders[0] / "findings.json").read_text())
    found["data"]["records"] += 1
    found["policy"]["columns"]["age"] = "other"
    (tmp_path / "findings.json").write_text(json.dumps(found))
    result = shoal.compare_publications([folders[0], tmp_path])
    assert result.best is None
    assert result.differ == ["their quasi-identifiers", "their numbers of records"]


def test_the_command_writes_a_page(folders: list[Path], tmp_path: Path) -> None:
    names, page = [str(folder) for folder in folders], tmp_path / "compare.html"
    done = CliRunner().invoke(app, ["compare", *names, "-o", str(page), "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout) == json.loads(json.dumps(shoal.compare_publications(names).to_dict()))
    text = page.read_text()
    assert "(above 25.0%)" in text
    assert "(within 25.0%)" in text
    assert "<script" not in text
    assert text.count("<figure") == 2
    assert text == comparison_html(shoal.compare_publications(names))
    assert CliRunner().invoke(app, ["compare", *names, "-o", str(page)]).exit_code != 0  # it is there already


def test_what_cannot_be_compared_is_refused(folders: list[Path], tmp_path: Path) -> None:
    with pytest.raises(shoal.InputError, match="not 1"):
        shoal.compare_publications(folders[:1])
    with pytest.raises(shoal.InputError, match="no findings"):
        shoal.compare_publications([folders[0], tmp_path])
    mixed = CliRunner().invoke(app, ["compare", str(folders[0]), str(folders[0] / "data.csv")])
    assert isinstance(mixed.exception, shoal.InputError)
    wrong = CliRunner().invoke(app, ["compare", *map(str, folders), "-o", str(tmp_path / "page.txt")])
    assert isinstance(wrong.exception, shoal.InputError)
    assert list(tmp_path.iterdir()) == []


def test_an_excess_stands_with_its_interval(folders: list[Path]) -> None:
    result = shoal.compare_publications(folders)
    for one in result.publications:
        assert one.excess_interval_by_attack.keys() == one.excess_by_attack.keys()
        for name, excess in one.excess_by_attack.items():
            low, high = one.excess_interval_by_attack[name]
            assert low <= excess <= high
    table = next(
        part.table for part in result.sections() if isinstance(part, Exhibit) and part.chart.title == "Excess by attack"
    )
    assert all(" to " in str(cell) for row in table.rows for cell in row[1:])
