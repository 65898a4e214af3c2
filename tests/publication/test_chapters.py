"""What chapters say: figures that agree with each other, attacks with who, what, control and limit, in plain words."""

from __future__ import annotations

import json
from typing import Any

import polars as pl
import pytest

import shoal
from accepted import ACCEPTED
from shoal.attacks import ATTACKS
from shoal.reports.chapters import Chapter, chapters_of
from shoal.reports.charts.pictures import ticks
from shoal.reports.findings import typed_findings
from shoal.reports.report import report_html
from shoal.results import Cell, Exhibit, Grid, Headline
from shoal.results.sections import LinePicture, LinePoint, RatePicture, RateRow


def copied(found: dict[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(json.dumps(found))
    return made


def chapter(found: dict[str, Any], key: str) -> Chapter:
    return next(one for one in chapters_of(typed_findings(found)) if one.key == key)


def headlines(found: dict[str, Any], key: str) -> list[str]:
    return [part.text for part in chapter(found, key).sections if isinstance(part, Headline)]


def exhibit(found: dict[str, Any], key: str) -> Exhibit:
    return next(part for part in chapter(found, key).sections if isinstance(part, Exhibit))


def grid(found: dict[str, Any], key: str, title: str) -> Grid:
    return next(part for part in chapter(found, key).sections if isinstance(part, Grid) and part.title == title)


def texts(row: Any) -> list[str]:
    return [cell.text if isinstance(cell, Cell) else str(cell) for cell in row]


def test_a_leak_of_one_person_is_told_apart_from_one_of_several() -> None:
    """With `targets: 3` the curve said of one person what is true of three at once: a hundredth of the risk."""
    policy = {
        "columns": {"age": "quasi-identifier"},
        "models": [{"model": "k-anonymity", "k": 2}],
        "attacks": ACCEPTED,
        "leak": {"leaked": "50%", "targets": 3, "threshold": 0.9},
    }
    table = {"age": [20, 20, 30, 30, 40, 40, 50, 50]}
    findings = shoal.publish(pl.DataFrame(table), policy).findings
    series = findings["leak"]
    one = shoal.leak(persons=8, leaked=4, class_size=2).probability
    three = shoal.leak(persons=8, leaked=4, class_size=2, targets=3).probability
    assert {answer["targets"] for answer in series["answers"][:-1]} == {1}
    assert (series["answers"][-1]["targets"], series["answers"][-1]["probability"]) == (3, pytest.approx(three))
    curve = exhibit(findings, "leak").chart.picture
    assert isinstance(curve, LinePicture)
    assert {point.x: point.y for point in curve.points}[0.5] == pytest.approx(one)
    assert len(curve.points) == len(series["answers"]) - 1
    (promised,) = headlines(findings, "leak")
    assert "3 people picked at random are all re-identified" in promised
    assert "within the limit of 90.0%" in promised


def test_the_summary_names_the_worst_attack_beside_its_control(plain_findings: dict[str, Any]) -> None:
    found = copied(plain_findings)
    one = found["attacks"]["attacks"][0]
    found["attacks"]["attacks"] = [
        {**one, "name": "likely-value", "criterion": "inference", "rate": 0.8, "low": 0.76, "high": 0.85,
         "control": None, "excess": None, "excess_low": None, "excess_high": None},
        {**one, "name": "likely-value (twin)", "criterion": "inference", "rate": 0.7, "low": 0.65, "high": 0.75,
         "control": 0.4, "excess": 0.5, "excess_low": 0.4, "excess_high": 0.6},
    ]  # fmt: skip
    found["attacks"]["verdict"] = {"inference": "measured"}
    told = next(text for text in headlines(found, "summary") if text.startswith("Worst attack: likely-value."))
    # two numbers; as the limit is judged: the release does better than its twin
    assert told.endswith("for 80.0% of the people in the data and for 40.0% of people who are not in it.")
    found["policy"]["attacks"] = {"inference": 0.55}
    found["attacks"]["verdict"] = {"inference": "fail"}
    assert any("Above the policy's limit: inference." in text for text in headlines(found, "summary"))
    # the twin's row and the release's are one: the release's rate, and the control of the twin
    shown = exhibit(found, "attacks")
    row = RateRow("likely-value", 0.8, 0.76, 0.85, one["baseline"], control=0.4, twin=0.7)
    assert shown.chart.picture == RatePicture((row,))
    assert texts(shown.table.rows[0])[-2:] == ["40.0%", "50.0% (40.0% to 60.0%)"]
    verdict = next(texts(row) for row in grid(found, "attacks", "Verdicts").rows)
    assert verdict[:3] == ["inference", "above the limit", "55.0%"]
    # the release does better than its twin: its own rate is held against the limit
    assert float(verdict[3].rstrip("%")) > 60


def test_no_attack_with_a_control_is_said_so(plain_findings: dict[str, Any]) -> None:
    found = copied(plain_findings)
    blank = dict.fromkeys(("control", "excess", "excess_low", "excess_high"))
    found["attacks"]["attacks"] = [
        {**one, **blank} for one in found["attacks"]["attacks"] if not one["name"].endswith("(twin)")
    ]
    found["attacks"]["verdict"] = dict.fromkeys(("singling-out", "inference", "membership"), "not tested")
    assert any("could be compared with people who are not in the data" in text for text in headlines(found, "summary"))
    words = {row[0]: texts(row)[1] for row in grid(found, "attacks", "Verdicts").rows}
    assert words == {
        "singling-out": "measured without a control: not judged",
        "inference": "measured without a control: not judged",
        "membership": "not tested",
    }


@pytest.mark.parametrize("one", ATTACKS, ids=lambda one: one.name)
def test_every_attack_says_who_attacks_and_what_success_is(one: Any) -> None:
    assert one.knows.endswith(".")
    assert one.success.endswith(".")


def test_every_attack_of_a_report_is_explained(plain_findings: dict[str, Any]) -> None:
    tried = [one["name"] for one in plain_findings["attacks"]["attacks"] if not one["name"].endswith("(twin)")]
    assert [row[0] for row in grid(plain_findings, "attacks", "Who attacks, with what").rows] == tried


def test_a_risk_over_the_population_is_held_against_the_threshold(plain_findings: dict[str, Any]) -> None:
    found = copied(plain_findings)
    risk = found["risk"]["after"]
    risk |= {"risk_over": "population", "k": 2, "journalist": {"highest": 0.0096, "average": 0.001, "threshold": 0.02}}
    risk["prosecutor"] |= {"highest": 0.5, "threshold": 0.02}
    for by, words in (("table", "counted in"), ("weights", "estimated for")):
        risk["journalist_by"] = by
        told = headlines(found, "summary")
        assert any(f"{words} the population, 1.0%, is within the threshold of 2.0%" in text for text in told)
    assert any("with at least 1 other." in text for text in told)
    assert "is above" not in report_html(found)


def test_a_trial_on_part_of_the_records_is_not_mixed_with_the_release(plain_findings: dict[str, Any]) -> None:
    found = copied(plain_findings)
    point = {"information_loss": None, "found_for": 5}
    found["change"] |= {
        "records": 50_000, "k": 12, "loss": 0.0565,
        "candidates": [{"method": "mondrian", "verdict": "holds", "loss": loss, "rows": rows}
                       for loss, rows in ((0.0813, 20_000), (0.0565, 50_000))],
        "frontier": [{**point, "k": k, "highest_risk": 1 / k, "loss": loss} for k, loss in ((11, 0.0813), (20, 0.12))],
    }  # fmt: skip
    assert [texts(row)[2] for row in grid(found, "change", "Methods that were tried").rows] == ["20,000", "50,000"]
    shown = exhibit(found, "change")
    assert isinstance(shown.chart.picture, LinePicture)
    assert shown.chart.picture.own == LinePoint(1 / 11, 0.0813), "the diamond is on its line"
    assert "trial with 20,000 of the 50,000 records; the loss of the whole release is 0.0565" in shown.meaning


def test_released_columns_are_counted_and_techniques_are_words(plain_findings: dict[str, Any]) -> None:
    assert "6 columns; released on" in chapter(plain_findings, "summary").about
    assert chapter(plain_findings, "summary").about.endswith("400 records in 5 columns.")
    table = next(part for part in chapter(plain_findings, "data").sections if isinstance(part, Grid))
    words = {row[0]: texts(row)[2] for row in table.rows}
    method = plain_findings["change"]["method"]
    assert words["age"] == f"generalised to ranges by {method}"
    assert words["name"] == "removed"


def test_small_charts_share_one_formula(plain_findings: dict[str, Any]) -> None:
    page = report_html(plain_findings)
    assert page.count("Shares of the records whose value is known.") == 1
    assert "made safe" not in page


def test_no_axis_of_shares_goes_beyond_all() -> None:
    assert ticks(1.0)[-1] == 1.0
    assert all(ticks(most / 100)[-1] <= 1 for most in range(1, 101))
    assert all(3 <= len(ticks(most / 100)) <= 6 for most in range(1, 101))
