"""Cases of certification that have no other home: counts of zero, mixed numbers, releases that are anonymised again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.errors import InputError
from shoal.policy import as_policy


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def policy(**more: Any) -> Any:
    return as_policy({"columns": {"a": "quasi-identifier"}, "models": [{"model": "k-anonymity", "k": 2}], **more})


def test_a_count_of_zero_is_no_record() -> None:
    Path("n.csv").write_text("a,n\n1,2\n2,0\n3,3\n")
    assert shoal.verify("n.csv", policy(count="n")).verdict == "holds"
    Path("n.csv").write_text("a,n\n1,2\n2,0\n3,1\n")
    assert shoal.verify("n.csv", policy(count="n")).verdict == "refused"


@pytest.mark.parametrize(("counts", "verdict"), [((0, 1), "refused"), ((0, 2), "holds"), ((2, 0), "holds")])
def test_a_count_of_zero_among_suppressed_rows(counts: tuple[int, int], verdict: str) -> None:
    """One record that is suppressed alone is too few, whatever rows of none stand beside it."""
    Path("n.csv").write_text(f"a,n,s\nx,2,u\n*,{counts[0]},v\n*,{counts[1]},w\n")
    own = policy(count="n", columns={"a": "quasi-identifier", "s": "sensitive"})
    assert shoal.verify("n.csv", own).verdict == verdict


def test_whole_numbers_that_decimals_cannot_hold_are_refused() -> None:
    Path("x.jsonl").write_text('{"x": 9007199254740993}\n{"x": 9007199254740992}\n{"x": 1.5}\n')
    with pytest.raises(InputError, match="line 1: column 'x' has decimals") as refusal:
        shoal.read("x.jsonl")
    assert "9007199254740993" not in str(refusal.value)
    Path("y.jsonl").write_text('{"x": 9007199254740992}\n{"x": 1.5}\n')
    assert shoal.risk("y.jsonl", quasi_identifiers=["x"]).classes == 2


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_an_integer_file_beside_a_float_file(ending: str) -> None:
    whole = pl.DataFrame({"x": [2**53 + 1, 2**53]})
    parts = pl.DataFrame({"x": [1.5, 2.5]})
    for name, frame in (("i", whole), ("f", parts)):
        frame.write_csv(f"{name}.csv") if ending == "csv" else frame.write_parquet(f"{name}.parquet")
    assert shoal.risk([f"i.{ending}", f"f.{ending}"], quasi_identifiers=["x"]).classes == 4


def test_a_number_with_and_without_its_point_is_one_value() -> None:
    Path("x.csv").write_text("a,b\n1,u\n1.0,v\n2,u\n2.,v\n")
    found = shoal.risk("x.csv", quasi_identifiers=["a"])
    assert (found.classes, found.k) == (2, 2)
    result = shoal.anonymize("x.csv", policy(), method="mondrian")
    written = shoal.release(result, "out.csv")
    assert written.respelled_cells > 0
    assert "one spelling per value" in str(written.sections())
    assert shoal.verify("out.csv", original="x.csv").verdict == "holds"


def test_codes_with_a_longer_spelling_stay_apart() -> None:
    Path("x.csv").write_text("a\n250.1\n250.10\n250.10\n250.1\n")
    assert shoal.risk("x.csv", quasi_identifiers=["a"]).classes == 2


def test_empty_text_and_null_are_told_apart_in_the_file() -> None:
    frame = pl.DataFrame({"a": [1, 1, 2, 2], "t": ["", None, "x", ""]})
    shoal.release(shoal.anonymize(frame, policy(), method="mondrian"), "out.csv")
    assert Path("out.csv").read_text() == 'a,t\n1,""\n1,\n2,x\n2,""\n'
    assert shoal.verify("out.csv", original=frame).verdict == "holds"


@pytest.mark.parametrize("method", ["mondrian", "lattice", "microaggregate", "suppress", None])
def test_a_release_can_be_anonymised_again(method: str | None) -> None:
    people = pl.DataFrame({"a": [1, 2, 3, 4, 5, 6, 7, 8], "b": list("ffffmmmm")})
    rules = policy(columns={"a": "quasi-identifier", "b": "quasi-identifier"})
    shoal.release(shoal.anonymize(people, rules, method="mondrian"), "once.csv")
    more: dict[str, Any] = {} if method is None else {"method": method}
    again = shoal.anonymize("once.csv", rules, k=4, **more)
    assert shoal.release(again, "twice.csv").verdict == "holds"
    assert shoal.verify("twice.csv", original="once.csv").verdict == "holds"


def test_removed_rows_are_named_in_the_private_record_only() -> None:
    """Four alike and one apart: emptying what the one has shifts the whole, so that its row goes."""
    frame = pl.DataFrame({"a": ["x"] * 4 + ["y"], "s": ["u", "v", "u", "v", "u"]})
    rules = policy(
        columns={"a": "quasi-identifier", "s": "sensitive"},
        models=[
            {"model": "k-anonymity", "k": 2},
            {"model": "t-closeness", "t": 0.15, "sensitive": "s", "distance": "equal"},
        ],
    )
    tree = {"a": [["x", "*"], ["y", "*"]]}
    frame.write_csv("in.csv")
    result = shoal.anonymize("in.csv", rules, method="lattice", suppression=0.2, hierarchies=tree)
    written = shoal.release(result, "out.csv")
    assert (written.removed_rows, written.written, written.blanked_cells) == (1, 4, 0)
    manifest = json.loads(Path("out.manifest.json").read_text())
    assert manifest["removed_rows"] == 1
    assert json.loads(Path("out.private.json").read_text())["removed"] == [4]
    assert shoal.verify("out.csv", original="in.csv").verdict == "holds"
    frame.reverse().write_csv("other.csv")
    assert shoal.verify("out.csv", original="other.csv").verdict == "refused"
    Path("out.private.json").unlink()
    assert shoal.verify("out.csv", original="in.csv").verdict == "refused"
