"""The keys of a policy about samples: weight, household, population_size, sampling, risk_over."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from shoal.errors import InputError
from shoal.policy import Policy, PolicyError, as_policy, load_policy
from shoal.policy.survey import population_size
from shoal.storage.reading import read
from shoal.storage.rows import record_weights, weight_notes

SURVEY = """\
columns:
  age: quasi-identifier
weight: w
household: hid
sampling: 5%
risk_over: population
"""


def test_the_keys_are_read(tmp_path: Path) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text(SURVEY)
    policy = load_policy(path)
    assert (policy.weight, policy.household, policy.sampling, policy.risk_over) == ("w", "hid", 0.05, "population")
    assert Policy().risk_over == "sample"


def test_weight_and_household_have_roles() -> None:
    """A household's number is an identifier, a weight is released: neither is undecided."""
    assert as_policy({"weight": "w", "household": "hid"}).columns == {"hid": "identifier", "w": "other"}
    decided = as_policy({"columns": {"hid": "other", "w": "identifier"}, "weight": "w", "household": "hid"})
    assert decided.columns == {"hid": "other", "w": "identifier"}


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("population_size: 100\nsampling: 5%\n", 2, "exclude each other"),
        ("sampling: 120%\n", 1, "between 0% and 100%"),
        ("sampling: 0%\n", 1, "no records"),
        ("sampling: yes\n", 1, "not yes or no"),
        ("population_size: 0\n", 1, "greater than or equal to 1"),
        ("population_size: 10.5\n", 1, "valid integer"),
        ("risk_over: everybody\n", 1, "'sample' or 'population'"),
        ("columns:\n  w: quasi-identifier\nweight: w\n", 3, "decided as quasi-identifier"),
        ("columns:\n  h: sensitive\nhousehold: h\n", 3, "decided as sensitive"),
        ("count: n\nweight: w\n", 2, "count and weight exclude each other"),
        ("weight: w\nhousehold: w\n", 2, "name two columns"),
        ("person: p\nhousehold: p\n", 2, "name two columns"),
        ("weights: w\n", 1, "did you mean `weight`"),
        ("columns: [w]\nweight: w\n", 1, "columns"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, text: str, line: int, said: str) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text(text)
    with pytest.raises(PolicyError) as error:
        load_policy(path)
    assert [number for number, _ in error.value.problems] == [line]
    assert said in error.value.problems[0][1]


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ([1.0, None], "empty in 1 rows"),
        ([1.0, -2.0], "negative"),
        ([1.0, 0.0], "stands for nobody"),
        ([1.0, float("inf")], "not finite"),
        ([1.0, float("nan")], "empty in 1 rows"),
        (["a", "b"], "does not hold numbers"),
        ([0.4, 0.9], "sum to less than the 2 records"),
    ],
)
def test_what_is_not_a_weight_is_refused(weights: list[object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        record_weights(read({"w": weights})["w"])


def test_odd_weights_are_noted() -> None:
    table = read({"w": [0.5, 0.5, 4.0, 5.0, 5.0], "h": ["a", "a", "b", "b", "c"]})
    weights = record_weights(table["w"])
    notes = weight_notes("w", weights, table["h"])
    assert len(notes) == 2
    assert notes[0].startswith("2 weights of column 'w' are under 1")
    assert notes[1].startswith("the weights of column 'w' vary within 1 household:")
    assert weight_notes("w", np.ones(3)) == []


def test_the_size_of_the_population() -> None:
    assert population_size(50) is None
    for wrong, said in (
        ({"size": 49}, "no larger than its population"),
        ({"sampling": 1.2}, "up to 100%"),
        ({"sampling": 0.0}, "up to 100%"),
        ({"size": 100, "sampling": 0.5}, "given twice"),
    ):
        with pytest.raises(InputError, match=said):
            population_size(50, **wrong)  # type: ignore[arg-type]
