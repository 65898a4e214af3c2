"""The course: its page, its hand-outs, and its seven notebooks, every cell of which is run."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest

import shoal
from shoal.errors import InputError
from shoal.reproduction import Reproduction, reproduce
from shoal.reproduction.course import expected_uniqueness, laplace
from shoal.reproduction.course_printed import GROUPS, HANDOUTS, handout
from shoal.reproduction.page import contents
from shoal.reproduction.sample.written import write_sample

NOTEBOOKS = sorted((Path(__file__).parents[2] / "docs" / "course").glob("*.ipynb"))


@pytest.fixture(scope="module")
def course() -> Reproduction:
    return reproduce("course")


def test_every_block_of_the_slides_has_its_part(course: Reproduction) -> None:
    keys = {part.key for part in course.exhibits}
    assert keys >= {"gic", "aol", "netflix", "nine-records", "laplace", "budget", "identifiers", "hipaa", "homer"}
    assert {line.match for line in course.comparison if line.printed} == {True}
    assert all(
        "ommand" in part.text or part.key in ("disclosure", "t-closeness", "hipaa", "terms") for part in course.exhibits
    )


def test_what_could_not_be_another_has_no_verdict(course: Reproduction) -> None:
    """The ratio of two Laplace densities is e^ε by its formula; the clauses are those with a column of the hand-out."""
    lines = {line.what: line for line in course.comparison}
    assert lines["largest ratio of both densities over e^ε"].match is None
    treated = next(line for what, line in lines.items() if what.startswith("clauses of which"))
    assert (treated.ours, treated.match) == ("18", True)


def test_groups_by_hand() -> None:
    rows: dict[tuple[str, str], list[str]] = {}
    for sex, age, diagnosis in handout("nine-records.csv").iter_rows():
        rows.setdefault((sex, age), []).append(diagnosis)
    assert {key: (len(values), len(set(values))) for key, values in rows.items()} == GROUPS


def test_densities_by_hand() -> None:
    found = laplace(2.0)
    assert found["scale"] == 0.5
    place = found["answers"].index(100.0)
    assert found["densities"]["100"][place] == pytest.approx(1.0)  # 1 / (2 b)
    assert found["densities"]["101"][place] == pytest.approx(math.exp(-2))
    assert expected_uniqueness(2, cells=4) == pytest.approx(0.75)


def test_one_picture_is_shown_for_each_epsilon_without_a_script(course: Reproduction) -> None:
    files = contents(course)
    page = files["course.html"]
    assert isinstance(page, bytes)
    text = page.decode()
    assert "<script" not in text
    buttons = re.findall(r'<input type="radio" name="laplace" id="([^"]+)"( checked)?>', text)
    assert [name for name, _ in buttons] == [f"laplace-{number}" for number in range(1, 7)]
    assert sum(bool(checked) for _, checked in buttons) == 1
    for name, _ in buttons:
        assert f"#{name}:checked ~ .{name} {{ display: block; }}" in text
        assert f'class="{name} wide picture"' in text
        assert f"course-{name}.svg" in files


def test_the_hand_outs(tmp_path: Path) -> None:
    made = write_sample("course", output=tmp_path / "course")
    assert sorted(path.name for path in (tmp_path / "course").iterdir()) == sorted(HANDOUTS)
    assert made.records == sum(handout(name).height for name in HANDOUTS)
    with pytest.raises(InputError, match="exists already"):
        write_sample("course", output=tmp_path / "course")
    with pytest.raises(InputError, match="their own rows"):
        write_sample("course", output=tmp_path / "other", rows=5)
    assert not (tmp_path / "other").exists()
    with pytest.raises(InputError, match="the last is a folder"):
        shoal.sample_data("course")


def test_there_are_seven_notebooks_with_questions_and_hidden_answers() -> None:
    assert len(NOTEBOOKS) == 7
    for path in NOTEBOOKS:
        cells = json.loads(path.read_text())["cells"]
        asked = [cell for cell in cells if "".join(cell["source"]).startswith("**Question")]
        hidden = [cell for cell in cells if cell["metadata"].get("tags") == ["answer"]]
        folded = [cell for cell in cells if "<details>" in "".join(cell["source"])]
        assert len(asked) == len(hidden) == len(folded) >= 3, path.name
        assert all("assert" in "".join(cell["source"]) for cell in hidden), path.name
        assert all(not cell.get("outputs") for cell in cells), path.name


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run(path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    names: dict[str, Any] = {}
    for cell in json.loads(path.read_text())["cells"]:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), f"{path.name}:{cell['id']}", "exec"), names)  # noqa: S102
