"""Errors: what they are in Python, and how the command line words them."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.cli.render import show_error
from shoal.errors import InputError, MissingColumns


def test_bad_input_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="null_rule"):
        shoal.risk(pl.DataFrame({"age": [1, 2]}), quasi_identifiers=["age"], null_rule="other")  # type: ignore[arg-type]


def test_a_missing_column_is_also_a_key_error_with_its_message_as_it_is() -> None:
    with pytest.raises(KeyError) as caught:
        shoal.risk(pl.DataFrame({"age": [1, 2]}), quasi_identifiers=["agee"])
    error = caught.value
    assert isinstance(error, MissingColumns)
    assert isinstance(error, InputError)
    assert isinstance(error, ValueError)
    assert error.columns == ["agee"]
    assert str(error).startswith("The frame has no column 'agee'.")


def test_a_bug_is_called_one_and_shows_no_value(capsys: pytest.CaptureFixture[str]) -> None:
    assert show_error(RuntimeError("SECRET")) == 70
    shown = capsys.readouterr().err
    assert "this is a bug in shoal" in shown
    assert "SECRET" not in shown


def test_two_references_in_a_policy_are_named_by_their_lines(tmp_path: pytest.TempPathFactory) -> None:
    path = tmp_path / "policy.yaml"  # type: ignore[operator]
    path.write_text("columns: &all\n  age: other\nknowledge: *all\n")
    with pytest.raises(InputError, match="line 3: write it out"):
        shoal.load_policy(path)


@pytest.mark.parametrize(
    "address", ["mysql://clerk:secret@host/db", "jdbc:oracle:thin:@host", "mssql+pyodbc://host/db"]
)
def test_a_database_of_another_system_is_named_as_such(address: str) -> None:
    with pytest.raises(shoal.InputError, match="a system that is not read") as caught:
        shoal.risk(address, quasi_identifiers=["age"])
    assert "PostgreSQL" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_place_that_cannot_hold_a_release_is_named_as_such(tmp_path: Path) -> None:
    from shoal.releases.folder import check_free
    from shoal.storage.writing import check_target

    with pytest.raises(shoal.InputError, match="can be read, but not written"):
        check_target(tmp_path / "safe.sas7bdat", force=False)
    with pytest.raises(shoal.InputError, match="not a database"):
        check_free(Path("sqlite:///a.db"), force=False)


def test_a_series_is_not_a_table() -> None:
    pandas = pytest.importorskip("pandas")
    with pytest.raises(shoal.InputError, match="A series is a column"):
        shoal.risk(pandas.Series([1, 2], name="age"), quasi_identifiers=["age"])


def test_the_program_of_the_hook_says_what_it_is_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from shoal.cli.committed import main

    monkeypatch.setattr("sys.argv", ["shoal-committed", "--help"])
    main()
    assert "FILE" in capsys.readouterr().out
