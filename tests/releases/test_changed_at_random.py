"""Columns changed at random or by a secret, beside the original: perturbed ones are made again, shifts are alike for
each person. Where the forger has all but the seed, nothing false is accepted."""

from __future__ import annotations

import hashlib
import json
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.errors import InputError, ShoalError
from shoal.policy.manifest import Manifest, PrivateRecord, dictionary_path, manifest_path, private_path
from shoal.releases.documents import dictionary_of

ROWS = 60
PAY = [1000 + (row * 7919) % 89_000 for row in range(ROWS)]
PEOPLE = pl.DataFrame(
    {
        "pay": PAY,
        "weight": [50 + (row * 31 % 47) / 7 for row in range(ROWS)],
        "born": [date(1950, 1, 1) + timedelta(row * 371 % 9000) for row in range(ROWS)],
        "ward": [["a", "b", None][row % 3] for row in range(ROWS)],
    }
)
ASKED: list[dict[str, Any]] = [
    {"noise": {"pay": "0.1"}},
    {"noise": {("pay", "weight"): 0.07}},
    {"noise": {"weight": 1 / 3}, "round": {"weight": 0.1}},
    {"noise": {"born": 0.1}},
    {"swap": {"pay": "7%"}, "noise": {"weight": 0.3}},
    {"shuffle": {"pay": ["weight"]}},
    {"shuffle": ["pay"]},
    {"pram": {"ward": 0.7}},
    {"top_code": {"pay": "93%"}, "bottom_code": {"pay": 12_345}, "round": {"pay": 500}},
    {"top_code": {"weight": 53.123456789}},
]


def released(folder: Path, asked: dict[str, Any], ending: str = "csv") -> Path:
    result, path = shoal.perturb(PEOPLE, **asked), folder / f"safe.{ending}"
    others: Any = {name: "other" for name in PEOPLE.columns if name not in result.columns}
    shoal.release(result, path, no_guarantee=True, decide=others)
    return path


def verdict(path: Path, original: Any = PEOPLE) -> str:
    try:
        return shoal.verify(path, original=original).verdict
    except ShoalError:
        return "refused"


def forge(path: Path, frame: pl.DataFrame | None = None, seed: int | None = None, operators: Any = None) -> None:
    """New data, and all that is said of it made anew; the private record too."""
    if frame is not None:
        frame.write_csv(path)
    manifest = json.loads(manifest_path(path).read_text())
    private = json.loads(private_path(path).read_text())
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    manifest["data_sha256"] = private["data_sha256"] = digest
    if seed is not None:
        private["perturbation_seed"] = seed
    if operators is not None:
        manifest["parameters"]["operators"] = operators
    dictionary = json.dumps(dictionary_of(Manifest.model_validate(manifest)), ensure_ascii=False, indent=2)
    dictionary_path(path).write_text(dictionary)
    known = PrivateRecord.model_validate(private)
    parts = {"dictionary": hashlib.sha256(dictionary.encode()).hexdigest(), "private": known.digest()}
    manifest["parts"] |= parts
    manifest_path(path).write_text(json.dumps(manifest))
    private["manifest_sha256"] = Manifest.model_validate(manifest).digest()
    private_path(path).write_text(json.dumps(private))


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet", "xlsx"])
@pytest.mark.parametrize("asked", ASKED, ids=str)
def test_what_was_perturbed_is_made_again(asked: dict[str, Any], ending: str, tmp_path: Path) -> None:
    path = released(tmp_path, asked, ending)
    found = shoal.verify(path, original=PEOPLE)
    again = [check for check in found.checks if "its operators and the seed" in check.detail]
    assert (found.verdict, len(again)) == ("holds", len({name for names in asked.values() for name in _names(names)}))
    assert shoal.verify(path).verdict == "holds"
    private_path(path).unlink()
    assert verdict(path) == "refused"


def _names(given: Any) -> list[str]:
    return [name for key in given for name in ([key] if isinstance(key, str) else key)]


def test_false_values_are_refused_whatever_is_said(tmp_path: Path) -> None:
    for number, (seed, operators) in enumerate(
        [
            (None, None), (0, None), (7, None),
            (None, [{"column": "pay", "operator": "noise", "setting": "9"}]),
            (None, [{"column": "pay", "operator": "shuffle", "setting": "nothing"}]),
            (None, [{"column": "pay", "operator": "pram", "setting": "0"}]),
            (None, [{"column": "pay", "operator": "trust", "setting": "me"}]), (None, []), (None, "none"),
        ]
    ):  # fmt: skip
        folder = tmp_path / str(number)
        folder.mkdir()
        path = released(folder, {"noise": {"pay": 0.1}})
        frame = pl.read_csv(path, try_parse_dates=True)
        forge(path, frame.with_columns(pay=frame["pay"].gather([1, 0, *range(2, ROWS)])), seed, operators)
        assert verdict(path) == "refused", (seed, operators)


@pytest.mark.parametrize(("operator", "setting"), [("round", "500"), ("top-code", "50000"), ("bottom-code", "20000")])
def test_values_that_an_operator_cannot_leave_are_refused_without_the_original(
    operator: str, setting: str, tmp_path: Path
) -> None:
    path = released(tmp_path, {operator.replace("-", "_"): {"pay": setting}})
    assert verdict(path, None) == "holds"
    frame = pl.read_csv(path, try_parse_dates=True)
    value = {"round": 501, "top-code": 50_001, "bottom-code": 19_999}[operator]
    forge(path, frame.with_columns(pay=pl.Series([value, *frame["pay"][1:]])))
    assert verdict(path, None) == "refused"


VISITS = pl.DataFrame(
    {
        "person": [f"p{row % 9}" for row in range(ROWS)],
        "seen": [date(2015, 1, 1) + timedelta(row * 37 % 900) for row in range(ROWS)],
    }
)


@pytest.mark.parametrize("days", [[1, *[0] * (ROWS - 1)], [1000] * ROWS, None])
def test_dates_that_are_not_moved_alike_are_refused(days: list[int] | None, tmp_path: Path) -> None:
    """One visit a day off; all past the range; dates that were not moved at all."""
    path = tmp_path / "safe.csv"
    moved = shoal.shift_dates(VISITS, person="person", key=bytes(range(32)), columns=["seen"])
    shoal.release(moved, path, no_guarantee=True)
    assert verdict(path, VISITS) == "holds"
    frame = pl.read_csv(path, try_parse_dates=True)
    seen = VISITS["seen"] if days is None else frame["seen"] + pl.Series([timedelta(number) for number in days])
    forge(path, frame.with_columns(seen=seen.alias("seen")))
    assert verdict(path, VISITS) == "refused"


@pytest.mark.parametrize("asked", [{"noise": {"pay": 0.1}}, {"swap": {"pay": "10%"}}, {"top_code": {"pay": "90%"}}])
def test_numbers_whose_squares_are_none_are_one_error(asked: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="past 1e150"):
        shoal.perturb({"pay": [1e300, -1e308, 5.5, 0.5] * 5}, **asked)


def test_numbers_whose_squares_are_none_are_generalised_without_a_warning(recwarn: pytest.WarningsRecorder) -> None:
    numbers = {"age": [20 + row % 7 for row in range(60)], "size": [1e300, -1e308, 5.5, 0.5, -1.7e308, 3.0] * 10}
    result = shoal.anonymize(numbers, quasi_identifiers=["age", "size"], k=3, method="lattice")
    assert result.findings.information_loss is not None
    assert result.findings.information_loss > 0
    assert not list(recwarn)
