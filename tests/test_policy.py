"""The policy file: what it says is used, what is wrong with it is said at once, with lines."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.errors import InputError
from shoal.models import KAnonymity
from shoal.policy import Policy, PolicyError, load_policy

PEOPLE = pl.DataFrame({"age": [30, 30, None, 41], "sex": list("ffmm"), "n": [1, 2, 1, 3], "who": [1, 2, 3, 4]})

GOOD = """\
# decided on 3 March
columns:
  age: quasi-identifier
  sex: quasi-identifier
  name: identifier
  charge: sensitive
knowledge:
  census: [age, sex]
null_rule: drop
count: n
threshold: ema
models:
  - model: k-anonymity
    k: 3
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "policy.yaml"
    path.write_text(text)
    return path


def problems(folder: Path, text: str) -> list[tuple[int | None, str]]:
    with pytest.raises(PolicyError) as error:
        load_policy(write(folder, text))
    return error.value.problems


def test_what_a_policy_says_is_used(tmp_path: Path) -> None:
    found = shoal.risk(PEOPLE, policy=write(tmp_path, GOOD))
    assert (found.quasi_identifiers, found.null_rule, found.records, found.removed_rows) == (
        ["age", "sex"],
        "drop",
        6,
        1,
    )
    assert (found.prosecutor.threshold, found.threshold_name) == (0.09, "ema")
    assert [(verdict.name, verdict.holds, verdict.worst["size"]) for verdict in found.models] == [
        ("k-anonymity", True, 3)
    ]
    assert [entry.groups for entry in found.knowledge or []] == [["census"]]


def test_what_is_given_overrides_the_policy(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD)
    found = shoal.risk(PEOPLE, quasi_identifiers=["sex"], null_rule="value", threshold=0.5, person="who", policy=path)
    assert (found.quasi_identifiers, found.null_rule, found.persons) == (["sex"], "value", 4)
    assert found.prosecutor.threshold == 0.5


def test_all_problems_at_once_each_with_its_line(tmp_path: Path) -> None:
    text = """\
columns:
  age: quasi
  age: sensitive
nul_rule: value
null_rule: maybe
threshold: eema
models:
  - model: k-anonymity
    k: 1
  - model: k-anonymity
  - model: m-anonymity
    k: 3
"""
    found = problems(tmp_path, text)
    lines = [line for line, _ in found]
    said = "\n".join(message for _, message in found)
    assert lines == sorted(line for line in lines if line is not None)
    assert {3, 4, 5, 6, 9, 10, 11} <= set(lines)
    assert "did you mean `null_rule`" in said
    assert "`age` is written twice" in said
    assert "Known names: ema" in said


def test_a_misspelt_column_is_said(tmp_path: Path) -> None:
    found = shoal.risk(PEOPLE, policy=write(tmp_path, GOOD))
    assert found.notes == ["the policy names columns that are not there: name, charge"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("columns: &a [*a]\n", "references"),
        ("a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n", "references"),
        ("threshold: true\n", "not yes or no"),
        ("count: n\nperson: p\nnul_rule: x\n", "exclude each other"),
        ("[" * 5000, "not YAML"),
    ],
)
def test_odd_files_are_problems_not_faults(tmp_path: Path, text: str, said: str) -> None:
    assert said in " ".join(message for _, message in problems(tmp_path, text))


def test_an_empty_section_is_empty(tmp_path: Path) -> None:
    assert load_policy(write(tmp_path, "columns:\nmodels:\n")).columns == {}


def test_a_policy_may_be_a_dict() -> None:
    assert shoal.risk(PEOPLE, quasi_identifiers=["sex"], policy={"threshold": "cms"}).threshold_name == "cms"  # type: ignore[arg-type]
    with pytest.raises(PolicyError):
        shoal.risk(PEOPLE, quasi_identifiers=["sex"], policy={"colour": "blue"})  # type: ignore[arg-type]


def test_count_and_person_exclude_each_other(tmp_path: Path) -> None:
    assert "exclude each other" in problems(tmp_path, "count: n\nperson: p\n")[0][1]


@pytest.mark.parametrize(
    "text", ["", "- a\n", "just words", "columns: [a\n", "columns: !!python/object:os.system {}\n"]
)
def test_what_is_no_policy(tmp_path: Path, text: str) -> None:
    assert problems(tmp_path, text)


def test_a_policy_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no policy file"):
        load_policy(tmp_path / "none.yaml")


def test_the_digest_is_of_what_it_says_not_of_its_layout(tmp_path: Path) -> None:
    one = load_policy(write(tmp_path, "count: n\nthreshold: 0.1\n"))
    two = load_policy(write(tmp_path, "# a comment\nthreshold:    0.1\ncount: 'n'\n"))
    three = load_policy(write(tmp_path, "count: n\nthreshold: 0.2\n"))
    assert one.digest() == two.digest() != three.digest()


def test_a_policy_can_be_made_in_python() -> None:
    policy = Policy(
        columns={"age": "quasi-identifier", "x": "sensitive"}, models=[KAnonymity(model="k-anonymity", k=2)]
    )
    assert (policy.quasi_identifiers, policy.sensitive) == (["age"], ["x"])
    assert not shoal.risk(PEOPLE, policy=policy).models[0].holds


def test_the_digest_tells_models_of_one_parameter_apart() -> None:
    digests = {Policy(models=[{"model": name, "k": 5}]).digest() for name in ("k-anonymity", "k-matching")}
    assert len(digests) == 2
