"""Errors: what they are in Python, and how the command line words them."""

from __future__ import annotations

import polars as pl
import pytest

import shoal
from shoal.cli.console import show_error
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


def test_settings_are_shown_as_options(capsys: pytest.CaptureFixture[str]) -> None:
    error = InputError(
        "No quasi_identifiers are named.",
        "Set null_rule='drop', or name some.",
        settings=["quasi_identifiers", "null_rule"],
    )
    assert show_error(error) == 2
    shown = capsys.readouterr().err
    assert "No --qi are named." in shown
    assert "Set --null-rule drop, or name some." in shown
    assert "No quasi_identifiers are named." in str(error)


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
