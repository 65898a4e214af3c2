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
    ([*ANONYMIZE, "--effort", "quick"], "--effort is not known"),
    ([*ANONYMIZE, "--suppression", "200%"], "--suppression: a share lies"),
    ([*ANONYMIZE, "--minimize", "much", "--method", "lattice"], "--minimize is not known"),
    ([*ANONYMIZE, "--importance", "age=0", "--method", "lattice"], "--importance of column 'age' is not above 0"),
    (
        [*ANONYMIZE, "--importance", "age=inf", "--method", "lattice"],
        "--importance of column 'age' is not a finite number",
    ),
    ([*ANONYMIZE, "--importance", "age=x", "--method", "lattice"], "--importance of column 'age' is not a number"),
    ([*ANONYMIZE, "--levels", "age=9..1"], "--levels of column 'age': the greatest level comes before the least"),
    ([*ANONYMIZE, "--levels", "age=x..1"], "--levels of column 'age' is not a whole number"),
    ([*ANONYMIZE, "--method", "best"], "--method 'best' is not known"),
    ([*ANONYMIZE, "--prefer", "best"], "--prefer 'best' is not known"),
    ([*ANONYMIZE, "--method", "suppress", "--effort", "fast"], "--reading, --importance, --subset-size."),
    ([*ANONYMIZE, "--effort", "fast", "--minimize", "loss"], "--effort, --minimize together"),
    (["risk", "FILE", "--qi", "age", "--generalized", "perhaps"], "--generalized 'perhaps' is not known"),
    (["risk", "FILE", "--qi", "age", "--sampling", "0"], "--sampling is not above 0%"),
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
    assert "Input should" not in said
    assert flag is None or re.search(rf"(?<!\w){re.escape(flag)}(?!\w)", said)


def test_settings_in_a_policy_file_stay(people: Path, capsys: pytest.CaptureFixture[str]) -> None:
    policy = people.with_name("p.yaml")
    policy.write_text("columns: {age: quasi-identifier}\nnul_rule: drop\nmethod: {name: lattice, effort: best}\n")
    with pytest.raises(InputError) as refused:
        app(
            ["anonymize", str(people), "--policy", str(policy), "-o", str(people.with_name("o.csv"))],
            standalone_mode=False,
        )
    show_error(refused.value)
    said = capsys.readouterr().err
    assert "unknown key `nul_rule`; did you mean `null_rule`?" in said
    assert "has no option `effort`" in said


def test_settings_in_a_policy_or_a_type_and_names_from_the_data_stay() -> None:
    given = {"weight": "--weight", "missing": "--missing", "suppression": "--suppression", "null_rule": "--null-rule"}
    for stays in (
        "Leave `weight` out of the policy.",
        "Set `suppression` in the policy.",
        "Name them as `missing` or `map` in its type.",
        "The column 'null_rule' is empty.",
        "See docs/null_rule.md.",
        "Set `quasi_identifiers`.",
        "No missing is not known.",
        "Column 'weight' is not above 0.",
        "weight.csv is not known.",
        "weight is empty.",
        "Did you mean 'a'? The columns are: null_rule, a, null_rule.",
        "weight is not written in utf-8.",
        "missing, line 2: 3 fields where the header has 2.",
        "A share of suppression is not above 0.",
    ):
        assert with_flags(stays, given) == stays
    assert with_flags("Give null_rule or `weight`.", given) == "Give --null-rule or --weight."
    assert with_flags("weight 'a is not known' is not known.", given) == "--weight 'a is not known' is not known."
    assert with_flags("missing is -1.", given) == "--missing is -1."
    assert with_flags("It has `weight`, null_rule.", given) == "It has --weight, --null-rule."
    assert OPTIONS["quasi_identifiers"] == "--qi"
