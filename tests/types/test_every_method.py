"""Every method on every type: a release holds its original, as it was written; what was changed is refused."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.errors import InputError

ROWS = 90
EDUCATION = ["none", "primary", "secondary", "bachelor", "master", "doctorate"]
BANDS = ["under 18", "18-29", "30-44", "45-64", "65-79", "80+"]
ENDS: dict[str, tuple[int, int]] = {
    "under 18": (0, 17), "18-29": (18, 29), "30-44": (30, 44), "45-64": (45, 64), "65-79": (65, 79), "80+": (80, 999),
}  # fmt: skip


def _us(days: int) -> str:
    return (date(2020, 1, 1) + timedelta(days)).strftime("%m/%d/%Y")


def _comma(cents: int) -> str:
    whole, part = divmod(cents, 100)
    return f"{whole:,}".replace(",", ".") + f",{part:02d}"


# by type: what is declared, a value at random, and whether two texts of a release lie around a value
CASES: dict[str, tuple[Any, Callable[[random.Random], Any]]] = {
    "date": ("date", lambda chance: _us(chance.randrange(400))),
    "number": ("number", lambda chance: _comma(37 * chance.randrange(1_000, 1_040))),
    "ordered": ({"type": "ordered", "order": EDUCATION}, lambda chance: chance.choice(EDUCATION)),
    "band": ("band", lambda chance: chance.choice(BANDS)),
    "nominal": ("nominal", lambda chance: chance.randrange(1, 10)),
    "map": (
        {"type": "nominal", "map": {"F": "female", "M": "male"}},
        lambda chance: chance.choice(["F", "M", "female", "male", "other"]),
    ),
    "code": ({"type": "code", "digits": 5}, lambda chance: f"{chance.randrange(500, 700):05d}"),
    "boolean": ("boolean", lambda chance: chance.choice(["yes", "no"])),
    "text": ("text", lambda chance: chance.choice("abcdefgh") + " x"),
}
METHODS: dict[str, dict[str, Any]] = {
    "lattice": {"suppression": "30%"},
    "mondrian": {},
    "sorted-clusters": {},
    "microaggregate": {},
    "suppress": {},
    "coarsen": {"resolution": 3, "cut_over": "labels"},
    "recode": {"search": True},
}
NEED_NUMBERS = ("sorted-clusters", "coarsen")
HAVE_NUMBERS = ("date", "number", "ordered", "band")


def table(kind: str, rows: int = ROWS) -> pl.DataFrame:
    chance = random.Random(f"{kind}")
    ill = [chance.choice(["flu", "cold", "none"]) for _ in range(rows)]
    return pl.DataFrame({"x": [CASES[kind][1](chance) for _ in range(rows)], "ill": ill})


def policy(kind: str, models: bool = True) -> dict[str, Any]:
    return {
        "columns": {"x": "quasi-identifier", "ill": "sensitive"},
        "types": {"x": CASES[kind][0]},
        "models": [{"model": "k-anonymity", "k": 3}] if models else [],
    }


def number_of(text: str) -> float:
    return float(text.replace(".", "").replace(",", "."))


def place_of(kind: str, text: str) -> Any:
    """A value of the original on its line."""
    if kind == "date":
        return datetime.strptime(text, "%m/%d/%Y")
    return number_of(text) if kind == "number" else EDUCATION.index(text)


def holds(kind: str, cell: str, value: Any) -> bool:
    """Whether a released text, read by its type alone, holds a value of the original."""
    if cell == "*":
        return True
    if kind == "band":
        return _in_band(cell, value)
    if kind in HAVE_NUMBERS:
        low, _, high = cell.strip("[]").partition(";")
        return bool(place_of(kind, low) <= place_of(kind, value) <= place_of(kind, high or low))
    if kind == "code":
        return len(cell) == 5 and value.startswith(cell.rstrip("*"))
    value = {"F": "female", "M": "male"}.get(value, value) if kind == "map" else str(value)
    return value in cell.strip("[]").split(", ")


def _in_band(cell: str, value: str) -> bool:
    if cell.startswith("["):
        return cell == f"[{BANDS[0]};{BANDS[-1]}]"
    low, high = ENDS[value]
    if cell.startswith("under "):
        return high < int(cell.removeprefix("under "))
    if cell.endswith("+"):
        return int(cell[:-1]) <= low
    first, _, last = cell.partition("-")
    return int(first) <= low and high <= int(last)


@pytest.mark.parametrize("kind", CASES)
@pytest.mark.parametrize("method", METHODS)
def test_every_method_respects_every_type(method: str, kind: str, tmp_path: Path) -> None:
    source, output = tmp_path / "in.csv", tmp_path / "out.csv"
    frame = table(kind)
    frame.write_csv(source)
    rules = policy(kind, models=method not in ("coarsen", "recode"))
    if method in NEED_NUMBERS and kind not in HAVE_NUMBERS:
        with pytest.raises(InputError, match=f"column 'x' is {'nominal' if kind == 'map' else kind}"):
            shoal.anonymize(source, rules, method=method, **METHODS[method])
        return
    result = shoal.anonymize(source, rules, method=method, **METHODS[method])
    shoal.release(result, output, no_guarantee=True)
    cells = pl.read_csv(output, infer_schema=False)["x"].to_list()
    assert len(cells) == ROWS
    if method != "microaggregate" and not (method == "recode" and "chunks" in str(result.parameters)):
        assert all(holds(kind, cell, value) for cell, value in zip(cells, frame["x"], strict=True))
    else:  # a value that stands for its group is written as the others are
        assert all(holds(kind, cell, cell) or kind == "number" for cell in cells if kind != "code")
    assert result.frame["x"].cast(pl.String).to_list() == cells
    assert [entry.column for entry in result.findings.cost] == ["x"]
    found = shoal.verify(output, original=source)
    assert found.verdict == "holds", [check for check in found.checks if not check.holds]
    assert shoal.verify(output, rules).verdict == "holds" or not rules["models"]
    if kind == "nominal":
        assert not any(";" in cell for cell in cells)  # never a range of codes


CHANGED = {
    "date": ("03/14/1999", "2020-03-14", "[03/14/2020;2020-05-01]", "3/14/2020"),
    "number": ("1234.5", "[1.000,00;1200.5]", "1.234,5", "7"),
    "ordered": ("3", "[1;2]", "[primary;primary]", "[secondary;primary]"),
    "band": ("3", "[1;2]", "18-25", "20+"),
}


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in CHANGED.items() for text in texts])
def test_a_cell_in_another_writing_is_refused(kind: str, text: str, tmp_path: Path) -> None:
    source, output = tmp_path / "in.csv", tmp_path / "out.csv"
    table(kind).write_csv(source)
    shoal.release(shoal.anonymize(source, policy(kind), method="sorted-clusters"), output)
    frame = pl.read_csv(output, infer_schema=False)
    frame.with_columns(pl.Series("x", [text, *frame["x"][1:]])).write_csv(output)
    found = shoal.verify(output, original=source)
    assert found.verdict == "refused"
    broken = {check.name for check in found.checks if not check.holds}
    assert "data hash" in broken
    assert broken & {"column x", "forms"}


def test_a_type_of_the_manifest_cannot_join_classes(tmp_path: Path) -> None:
    output = tmp_path / "out.csv"
    pl.DataFrame({"x": ["1,5", "1,50", "2,5", "2,5"]}).write_csv(output)
    rules = {
        "columns": {"x": "quasi-identifier"},
        "types": {"x": {"type": "number", "decimal": ",", "places": 1}},
        "models": [{"model": "k-anonymity", "k": 2}],
    }
    assert shoal.verify(output, rules).k == 1


def test_losses_are_those_of_the_same_values_in_another_writing() -> None:
    days = pl.Series("x", [date(2020, 1, 1) + timedelta(n * n % 97) for n in range(60)])
    plain = pl.DataFrame({"x": days})
    written = pl.DataFrame({"x": days.dt.strftime("%d.%m.%Y")})
    one = shoal.anonymize(plain, quasi_identifiers=["x"], k=4, method="mondrian")
    rules = {"columns": {"x": "quasi-identifier"}, "types": {"x": "date"}}
    other = shoal.anonymize(written, rules, k=4, method="mondrian")
    assert (one.findings.loss, one.findings.information_loss) == (other.findings.loss, other.findings.information_loss)
    assert one.findings.cost == other.findings.cost
    first, second = (shoal.decode(result)["x"].to_list() for result in (one, other))
    assert first == second


def test_trees_that_are_given_are_written_as_the_column_is(tmp_path: Path) -> None:
    source = pl.DataFrame({"seen": ["03/14/2021", "03/20/2021", "11/02/2021", "12/24/2021"]})
    rows = [[text, "first half" if text < "07" else "[07/01/2021;12/31/2021]", "*"] for text in source["seen"]]
    rules = {
        "columns": {"seen": "quasi-identifier"},
        "types": {"seen": "date"},
        "hierarchies": {"seen": rows},
        "models": [{"model": "k-anonymity", "k": 2}],
    }
    for method in ("lattice", "mondrian"):
        output = tmp_path / f"{method}.csv"
        result = shoal.anonymize(source, rules, method=method)
        assert result.frame["seen"].to_list() == ["first half"] * 2 + ["[07/01/2021;12/31/2021]"] * 2
        shoal.release(result, output)
        assert shoal.verify(output, original=source).verdict == "holds"


def test_a_plan_is_applied_to_new_dates_in_the_same_writing() -> None:
    old = pl.DataFrame({"seen": ["14.03.2021", "20.03.2021", "02.11.2021", "24.11.2021"]})
    rules = {"columns": {"seen": "quasi-identifier"}, "types": {"seen": "date"}}
    plan = shoal.anonymize(old, rules, k=2, method="lattice").plan
    new = pl.DataFrame({"seen": ["15.03.2021", "20.03.2021"]})
    assert shoal.apply_plan(new, plan=plan).frame["seen"].to_list() == ["[01.03.2021;31.03.2021]"] * 2


def test_columns_that_are_no_quasi_identifiers_leave_as_they_came(tmp_path: Path) -> None:
    source, output = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_text('age,seen,paid,sex\n30,3/14/2021,"1.234,5",F\n30,12/1/2020,7,M\n')
    types = {"seen": "date", "paid": {"type": "number", "decimal": ",", "thousands": "."}}
    types["sex"] = {"type": "nominal", "map": {"F": "female", "M": "male"}}
    rules = {
        "columns": {"age": "quasi-identifier", "seen": "other", "paid": "sensitive", "sex": "other"},
        "types": types,
    }
    shoal.release(shoal.anonymize(source, rules, k=2), output)
    assert output.read_text() == source.read_text().replace(",F\n", ",female\n").replace(",M\n", ",male\n")
    assert shoal.verify(output, original=source).verdict == "holds"
