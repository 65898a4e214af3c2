"""A message names settings by placeholders: in Python it reads as Python has them, at the command line as flags."""

from __future__ import annotations

import copy
import pickle
import re
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from flags import unknown_in
from shoal.cli import group
from shoal.cli.group import app, flags, load
from shoal.cli.render import printable, show_error
from shoal.errors import InputError, Message, Setting, joined

ANONYMIZE = ["anonymize", "FILE", "--qi", "age,sex", "-o", "OUT", "-k", "3"]
CASES = [
    ([*ANONYMIZE, "--method", "coarsen"], "--resolution"),
    ([*ANONYMIZE, "--method", "recode"], "--generalize"),
    ([*ANONYMIZE, "--method", "mondrian", "--suppression", "5"], None),
    ([*ANONYMIZE, "--method", "sorted-clusters"], None),
    ([*ANONYMIZE, "--method", "suppress", "--subset-size", "9"], None),
    (["anonymize", "FILE", "-o", "OUT", "-k", "3"], "--qi age,sex,zip"),
    (["anonymize", "FILE", "--qi", "age,sex", "-o", "OUT", "--l", "2"], "--sensitive"),
    (["anonymize", "FILE", "--qi", "age,sex", "-o", "OUT"], "-k"),
    (["anonymize", "FILE", "--qi", "age,sex", "-o", "FILE", "-k", "3"], None),
    ([*ANONYMIZE, "--effort", "quick"], "--effort is not known"),
    ([*ANONYMIZE, "--suppression", "200%"], "--suppression: a share lies"),
    ([*ANONYMIZE, "--minimize", "much", "--method", "lattice"], "--minimize is not known"),
    ([*ANONYMIZE, "--importance", "age=0", "--method", "lattice"], "--importance of column 'age' is not above 0"),
    (
        [*ANONYMIZE, "--importance", "age=inf", "--method", "lattice"],
        "--importance of column 'age' is not a finite number",
    ),
    ([*ANONYMIZE, "--importance", "age=x", "--method", "lattice"], "--importance of column 'age' is not a number"),
    ([*ANONYMIZE, "--importance", "zip=2"], "which --importance is about"),
    ([*ANONYMIZE, "--levels", "age=9..1"], "--levels of column 'age': the greatest level comes before the least"),
    ([*ANONYMIZE, "--levels", "age=x..1"], "--levels of column 'age' is not a whole number"),
    ([*ANONYMIZE, "--method", "best"], "--method 'best' is not known"),
    ([*ANONYMIZE, "--prefer", "best"], "--prefer 'best' is not known"),
    ([*ANONYMIZE, "--method", "suppress", "--effort", "fast"], "--reading, --importance, --subset-size."),
    ([*ANONYMIZE, "--effort", "fast", "--minimize", "loss"], "--effort, --minimize together"),
    ([*ANONYMIZE, "--effort", "best", "--cuts", "strict"], "mondrian: has no --effort with --cuts as published"),
    ([*ANONYMIZE, "--memory", "8"], "The setting --memory has no unit"),
    ([*ANONYMIZE, "--suppressed-as", "7"], "--suppressed-as must not be a number"),
    ([*ANONYMIZE[:4], "-o", "OUT.parquet", "-k", "2", "--output-delimiter", ";"], "has no --output-delimiter."),
    ([*ANONYMIZE, "--engine", "dask"], "(--engine)"),
    (["risk", "FILE", "--qi", "age", "--generalized", "perhaps"], "--generalized 'perhaps' is not known"),
    (["risk", "FILE", "--qi", "age", "--sampling", "0"], "--sampling is not above 0%"),
    (
        ["risk", "FILE", "--qi", "age", "--sampling", "5%", "--population-size", "9"],
        "--population-size and by --sampling",
    ),
    (["risk", "FILE", "--qi", "age", "--global-limit", "1%"], "Name the --weight column."),
    (["risk", "FILE", "--qi", "age,sx"], None),
    (["risk", "FILE"], "in --qi, in --knowledge, or in a policy"),
    (["risk", "FILE", "--qi", "age", "--null-rule", "never"], None),
    (["risk", "FILE", "--qi", "age", "--type", "zip=nominal"], "of which --type tells"),
    (["leak", "--persons", "100"], "Set --leaked to 4000"),
    (["leak", "--persons", "100", "--leaked", "many", "--class-size", "5"], "(--leaked)"),
    (["attack", "unicity", "FILE", "--person", "age", "--columns", "sex", "--points", "x"], "(--points)"),
    (["detect", "FILE", "--max-size", "0"], "--max-size is 0"),
    (["safe-harbor", "FILE", "-o", "FILE"], None),
    (["pseudonymize", "FILE", "--column", "age", "-o", "OUT"], None),
    (["pseudonymize", "FILE", "--column", "age", "-o", "OUT", "--method", "md5"], "--key-file key.bin"),
    (["perturb", "FILE", "-o", "OUT"], "--noise"),
    (["perturb", "FILE", "-o", "OUT", "--top-code", "age=x"], "--top-code 'x' is not a number"),
    (["publish", "FILE", "-o", "OUT"], "Give --answer, for example"),
    (["verify", "FILE"], None),
    (["attack", "all", "FILE"], None),
]


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    pl.DataFrame({"age": [20, 20, 31, 31, 42, 42] * 3, "sex": ["f", "m"] * 9}).write_csv(path)
    return path


@pytest.fixture(autouse=True)
def _nothing_called() -> Iterator[None]:
    group._called.clear()
    yield
    group._called.clear()


def shown(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(InputError) as refused:
        app(arguments, standalone_mode=False)
    show_error(refused.value)
    return capsys.readouterr().err


@pytest.mark.parametrize(("arguments", "flag"), CASES)
def test_no_error_names_a_setting_that_the_command_has_an_option_for(
    arguments: list[str], flag: str | None, people: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(people.with_name("o"))
    files = {"FILE": str(people), "OUT": f"{out}.csv", "OUT.parquet": f"{out}.parquet"}
    said = shown([files.get(word, word) for word in arguments], capsys)
    for setting, option in flags().items():
        assert f"`{setting}`" not in said, option
        assert "_" not in setting or not re.search(rf"(?<!')\b{setting}\b", said), option
    assert "Input should" not in said
    assert flag is None or re.search(rf"(?<!\w){re.escape(flag)}(?!\w)", said)
    assert not unknown_in(said, *group._called)


# what a message is


def test_a_message_reads_as_python_has_settings_and_at_the_command_line_as_its_flags() -> None:
    message = Message("Name columns in {quasi_identifiers}, or set {null_rule='drop'}; not `{prefer}`.")
    assert message == "Name columns in quasi_identifiers, or set null_rule='drop'; not `prefer`."
    assert printable(message) == message
    group._called[:] = [load("risk")]
    assert printable(message) == "Name columns in --qi, or set --null-rule drop; not `prefer`."


def test_fields_are_never_taken_for_settings() -> None:
    group._called[:] = [load("anonymize")]
    message = Message("Column '{}' and `{}`: set `{k}`.", "{k}", "{method}")
    assert message == "Column '{k}' and `{method}`: set `k`."
    assert printable(message) == "Column '{k}' and `{method}`: set -k."
    assert printable("Set {k}, `k` or null_rule.") == "Set {k}, `k` or null_rule."
    within = Message("{} {}", message, joined([Setting("method"), "{k}"]))
    assert printable(within) == "Column '{k}' and `{method}`: set -k. --method, {k}"
    for again in (copy.deepcopy(within), pickle.loads(pickle.dumps(within))):
        assert again == within
        assert printable(again) == printable(within)


def test_columns_with_the_names_of_settings_stay(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "{k}.csv"
    path.write_text("{k},null_rule,`k`\n1,2,3\n")
    said = shown(["risk", str(path), "--qi", "{k},max_size,null_rule"], capsys)
    assert "{k}.csv has no column 'max_size'." in said
    assert "The columns are: {k}, null_rule, `k`." in said
    assert "--null-rule" not in said


def test_settings_in_a_policy_file_stay(people: Path, capsys: pytest.CaptureFixture[str]) -> None:
    policy = people.with_name("p.yaml")
    policy.write_text("columns: {age: quasi-identifier}\nnul_rule: drop\nmethod: {name: lattice, effort: best}\n")
    said = shown(["anonymize", str(people), "--policy", str(policy), "-o", str(people.with_name("o.csv"))], capsys)
    assert "unknown key `nul_rule`; did you mean `null_rule`?" in said
    assert "has no option `effort`" in said
