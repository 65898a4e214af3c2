"""What is refused is refused before the work, in one clear sentence."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner

import shoal
from shoal.cli.group import app
from shoal.errors import InputError
from shoal.methods import Mondrian


def run(*words: str) -> Any:
    return CliRunner().invoke(app, list(words))


@pytest.fixture
def people(tmp_path: Path) -> str:
    frame = pl.DataFrame({"age": [30, 31, 50, 51], "mail": ["a@b.org", "c@d.org", "e@f.org", "g@h.org"]})
    frame.write_csv(tmp_path / "people.csv")
    return str(tmp_path / "people.csv")


def test_undecided_columns_stop_before_the_method_runs(
    people: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: Any, **__: Any) -> None:
        raise AssertionError("the method ran")

    words = ["anonymize", people, "-o", str(tmp_path / "safe.csv"), "--qi", "age", "-k", "2", "--method", "mondrian"]
    with monkeypatch.context() as patch:
        patch.setattr(Mondrian, "run", never)
        answer = run(*words)
    assert isinstance(answer.exception, shoal.Refused)
    assert "mail" in str(answer.exception)
    assert not (tmp_path / "safe.csv").exists()
    assert run(*words, "--decide", "mail=identifier").exit_code == 0


def test_a_lattice_without_a_solution_is_exit_code_one(people: str) -> None:
    words = ["lattice", people, "--qi", "age", "--model", "average-risk threshold=0.01"]
    assert run(*words).exit_code == 1
    assert run(*words, "--json").exit_code == 1
    assert run("lattice", people, "--qi", "age", "-k", "2").exit_code == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("k-anonimity k=5", "there is no model `k-anonimity`; did you mean `k-anonymity`?"),
        ("l-diversity l=2", "sensitive is missing."),
        ("k-anonymity", "k is missing."),
        ("", "there is no model"),
    ],
)
def test_a_misspelt_model_is_one_sentence(people: str, text: str, message: str) -> None:
    answer = run("lattice", people, "--qi", "age", "--model", text)
    assert isinstance(answer.exception, InputError)
    assert message in answer.exception.what
    assert "tag" not in answer.exception.what


@pytest.mark.parametrize("column", ["stay", "raw"])
@pytest.mark.parametrize("verb", ["pseudonymize", "shift_dates", "cells", "desk"])
def test_spans_of_time_and_bytes_are_one_error(verb: str, column: str, tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "stay": [timedelta(hours=hour) for hour in range(30)],
            "raw": [bytes([200, number]) for number in range(30)],
            "sex": ["f", "m"] * 15,
            "when": [date(2020, 1, 1)] * 30,
            "n": [20] * 30,
        }
    ).select([column, "sex", "when", "n"])
    key = tmp_path / "key.bin"
    asked: dict[str, Any] = {
        "pseudonymize": lambda: shoal.pseudonymize(frame, column=column, key=key),
        "shift_dates": lambda: shoal.shift_dates(frame, person=column, columns=["when"], key=key),
        "cells": lambda: shoal.cells(frame, by=[column, "sex"], count="n"),
        "desk": lambda: shoal.open_desk(frame, folder=tmp_path / "desk", epsilon="1", types={"sex": "text"}),
    }
    with pytest.raises(InputError, match=f"'{column}' holds spans of time or bytes"):
        asked[verb]()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("method", ["mondrian", "lattice", "suppress", "microaggregate"])
def test_anonymize_and_verify_name_the_same_worst_class(method: str, tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "age": [20 + number % 37 for number in range(200)],
            "job": ["clerk", "monk", "poet", "smith", "cook"] * 40,
            "ill": ["flu", "gout", "flu", "asthma"] * 50,
        }
    )
    policy = {
        "columns": {"age": "quasi-identifier", "job": "quasi-identifier", "ill": "sensitive"},
        "models": [{"model": "k-anonymity", "k": 3}, {"model": "l-diversity", "l": 2, "sensitive": "ill"}],
        "suppression": "5%",
    }
    made = shoal.anonymize(frame, policy, method=method)
    if made.verdict != "holds":  # suppress keeps k alone
        return
    shoal.release(made, tmp_path / "safe.csv")
    found = shoal.verify(tmp_path / "safe.csv")
    assert [verdict.to_dict() for verdict in made.models] == [verdict.to_dict() for verdict in found.models]
    assert (made.findings.k, made.findings.suppressed_rows) == (found.k, found.suppressed_rows)
