"""At the command line an error names the option that cures it, as it is typed there."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest

from shoal.cli.app import app
from shoal.cli.console import show_error
from shoal.cli.group import flags
from shoal.cli.settings import OPTIONS, with_flags
from shoal.errors import InputError

ANONYMIZE = ["anonymize", "FILE", "--qi", "age,sex", "-o", "OUT", "-k", "3"]
CASES = [
    ([*ANONYMIZE, "--method", "coarsen"], "--resolution"),
    ([*ANONYMIZE, "--method", "recode"], "--generalize"),
    ([*ANONYMIZE, "--method", "mondrian", "--suppression", "5"], None),
    ([*ANONYMIZE, "--method", "sorted-clusters"], None),
    ([*ANONYMIZE, "--method", "suppress", "--subset-size", "9"], None),
    (["anonymize", "FILE", "-o", "OUT", "-k", "3"], "--qi"),
    (["anonymize", "FILE", "--qi", "age,sex", "-o", "OUT", "--l", "2"], "--sensitive"),
    (["anonymize", "FILE", "--qi", "age,sex", "-o", "OUT"], "-k"),
    (["risk", "FILE", "--qi", "age,sx"], None),
    (["risk", "FILE", "--qi", "age", "--null-rule", "never"], None),
    (["safe-harbor", "FILE", "-o", "FILE"], None),
    (["pseudonymize", "FILE", "--column", "age", "-o", "OUT"], None),
    (["perturb", "FILE", "-o", "OUT"], None),
    (["verify", "FILE"], None),
    (["attack", "all", "FILE"], None),
]


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    pl.DataFrame({"age": [20, 20, 31, 31, 42, 42] * 3, "sex": ["f", "m"] * 9}).write_csv(path)
    return path


@pytest.mark.parametrize(("arguments", "flag"), CASES)
def test_no_error_names_a_setting_that_the_command_has_an_option_for(
    arguments: list[str], flag: str | None, people: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {"FILE": str(people), "OUT": str(people.with_name("o.csv"))}
    with pytest.raises(InputError) as refused:
        app([files.get(word, word) for word in arguments], standalone_mode=False)
    show_error(refused.value)
    said = capsys.readouterr().err
    for setting, option in {**flags(), **OPTIONS}.items():
        assert f"`{setting}`" not in said, option
        assert "_" not in setting or not re.search(rf"(?<!')\b{setting}\b", said), option
    assert flag is None or re.search(rf"(?<!\w){flag}\b", said)


def test_settings_in_a_policy_or_a_type_and_names_from_the_data_stay() -> None:
    given = {"weight": "--weight", "missing": "--missing", "suppression": "--suppression", "null_rule": "--null-rule"}
    for stays in (
        "Leave `weight` out of the policy.",
        "Set `suppression` in the policy.",
        "Name them as `missing` or `map` in its type.",
        "The column 'null_rule' is empty.",
        "See docs/null_rule.md.",
        "Set `quasi_identifiers`.",
    ):
        assert with_flags(stays, given) == stays
    assert with_flags("Give null_rule or `weight`.", given) == "Give --null-rule or --weight."
    assert OPTIONS["quasi_identifiers"] == "--qi"
