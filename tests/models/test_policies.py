"""Every model in a policy file: read, written back, judged by verify; what is wrong is said with its line."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest
import yaml

import shoal
from models.makers import MAKERS, POPULATION
from shoal.models import MODELS, LDiversity
from shoal.policy import Policy, PolicyError, as_policy, load_policy
from shoal.releases.verify import verify
from shoal.reproduction.course_printed import handout

# those about items and events: tests/sets/test_models.py
NAMES = sorted(model.model_fields["model"].default for model in MODELS if not model.of_sets)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path(POPULATION).write_text("q0\n" + "x\n" * 40 + "y\n" * 40)


def table(good: bool) -> pl.DataFrame:
    """Two classes that are alike in everything, or one of them with a single value."""
    values = [0, 10, 20] * 4
    second = values if good else [0]
    return pl.DataFrame(
        {
            "q0": ["x"] * 12 + ["y"] * len(second),
            "s": [f"s{value}" for value in [*values, *second]],
            "v": [*values, *second],
            "who": [f"p{number}" for number in range(12 + len(second))],
        }
    )


TREE = {"s": [["s0", "low", "*"], ["s10", "low", "*"], ["s20", "high", "*"]]}
# a model by itself, so strict that the single record of the bad table breaks it
STRICT: dict[str, dict[str, Any]] = {
    "k-anonymity": {"k": 2},
    "k-matching": {"k": 2},
    "k-map": {"k": 30, "population_size": 300},
    "l-diversity": {"l": 3, "sensitive": "s"},
    "entropy-l-diversity": {"l": 2.9, "sensitive": "s"},
    "recursive-l-diversity": {"c": 2, "l": 3, "sensitive": "s"},
    "t-closeness": {"t": 0.2, "sensitive": "s"},
    "alpha-k-anonymity": {"alpha": 0.5, "k": 2, "sensitive": "s"},
    "delta-disclosure": {"delta": 0.5, "sensitive": "s"},
    "beta-likeness": {"beta": 0.5, "sensitive": "s"},
    "enhanced-beta-likeness": {"beta": 0.5, "sensitive": "s"},
    "delta-presence": {"low": 0.1, "high": 0.5, "population": POPULATION},
    "highest-risk": {"threshold": 0.2},
    "average-risk": {"threshold": 0.1},
    "xy-anonymity": {"k": 3, "y": "who", "x": ["q0"]},
}


@pytest.mark.parametrize("name", NAMES)
def test_from_a_file_to_a_verdict_and_back(name: str) -> None:
    roles = {"q0": "quasi-identifier", "s": "sensitive", "v": "sensitive", "who": "other"}
    content = {"columns": roles, "models": [{"model": name, **STRICT[name]}], "hierarchies": TREE}
    Path("policy.yaml").write_text(yaml.safe_dump(content))
    policy = load_policy("policy.yaml")
    assert policy.models[0].model == name
    # through JSON and through YAML
    assert as_policy(policy.model_dump(mode="json")) == policy
    Path("again.yaml").write_text(yaml.safe_dump(policy.model_dump(mode="json")))
    assert load_policy("again.yaml") == policy
    assert load_policy("again.yaml").digest() == policy.digest()
    table(True).write_csv("good.csv")
    table(False).write_csv("bad.csv")
    good, bad = verify("good.csv", "policy.yaml"), verify("bad.csv", "policy.yaml")
    assert good.verdict == "holds", good
    assert bad.verdict == "refused", bad
    found = bad.to_dict()["models"][0]
    assert found["name"] == name
    assert found["holds"] is False
    told = json.loads(json.dumps({key: as_found(value) for key, value in STRICT[name].items()}))
    assert {key: found["parameters"][key] for key in told} == told
    assert found["worst"]["columns"] == ["q0"]


def as_found(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def test_all_at_once() -> None:
    models = [{"model": name, **parameters} for name, parameters in STRICT.items()]
    policy = {"columns": {"q0": "quasi-identifier"}, "models": models, "hierarchies": TREE}
    found = verify(table(True), policy)  # type: ignore[arg-type]
    assert found.verdict == "holds"
    assert [verdict.name for verdict in found.models] == list(STRICT)
    assert sorted(STRICT) == NAMES


@pytest.mark.parametrize("name", MAKERS)
def test_models_are_equal_by_their_parameters(name: str) -> None:
    model = MAKERS[name](Random(3))
    assert type(model).model_validate(model.model_dump()) == model
    assert Policy(models=[model.model_dump()]).models == [model]  # type: ignore[list-item]
    with pytest.raises(ValueError):
        model.model = "other"


WRONG = [
    ("{model: k-anonymity}", "k"),
    ("{model: k-anonymity, k: 1}", "greater than or equal to 2"),
    ("{model: k-anonymity, k: 2.5}", "k"),
    ("{model: k-anonymity, k: yes}", "k"),
    ("{model: k-anonymity, k: 2, l: 3}", "unknown key"),
    ("{model: k-anonimity, k: 2}", "k-anonymity"),
    ("{k: 2}", "model"),
    ("{model: k-map, k: 5}", "population"),
    ("{model: k-map, k: 5, population: a.csv, population_size: 9}", "population"),
    ("{model: l-diversity, l: 2}", "sensitive"),
    ("{model: l-diversity, l: 0, sensitive: s}", "greater than or equal to 1"),
    ("{model: entropy-l-diversity, l: 0.5, sensitive: s}", "greater than or equal to 1"),
    ("{model: recursive-l-diversity, c: 0, l: 2, sensitive: s}", "greater than 0"),
    ("{model: t-closeness, t: 0, sensitive: s}", "greater than 0"),
    ("{model: t-closeness, t: 1.1, sensitive: s}", "less than or equal to 1"),
    ("{model: t-closeness, t: 0.1, sensitive: s, distance: far}", "distance"),
    ("{model: alpha-k-anonymity, alpha: 1, k: 2, sensitive: s}", "less than 1"),
    ("{model: delta-disclosure, delta: -1, sensitive: s}", "greater than 0"),
    ("{model: beta-likeness, beta: 0, sensitive: s}", "greater than 0"),
    ("{model: delta-presence, low: 0.5, high: 0.4, population: p.csv}", "low must be below high"),
    ("{model: highest-risk, threshold: 0}", "greater than 0"),
    ("{model: average-risk, threshold: 2}", "less than or equal to 1"),
    ("{model: xy-anonymity, k: 2}", "y"),
]


@pytest.mark.parametrize(("entry", "says"), WRONG, ids=[entry for entry, _ in WRONG])
def test_what_is_wrong_is_said_with_its_line(entry: str, says: str) -> None:
    Path("policy.yaml").write_text(f"columns: {{q0: quasi-identifier}}\nmodels:\n- {entry}\n")
    with pytest.raises(PolicyError) as error:
        load_policy("policy.yaml")
    assert says in str(error.value)
    assert "line 3" in str(error.value)
    assert len(error.value.problems) == 1


def test_a_sensitive_column_that_is_not_there() -> None:
    policy = Policy(columns={"q0": "quasi-identifier"}, models=[LDiversity(l=2, sensitive="nothing")])
    with pytest.raises(Exception, match="nothing") as error:
        verify(table(True), policy)
    assert getattr(error.value, "exit_code", None) == 2


# the course's worked examples, from its hand-outs, which tests/papers/test_print.py compares with the slides


def judged(frame: pl.DataFrame, models: list[dict[str, Any]]) -> list[bool]:
    names = [name for name in frame.columns if name != "diagnosis"]
    policy: Any = {"columns": dict.fromkeys(names, "quasi-identifier"), "models": models}
    return [verdict.holds for verdict in verify(frame, policy).models]


def test_five_records_are_not_two_anonymous_until_one_goes() -> None:
    two: list[dict[str, Any]] = [{"model": "k-anonymity", "k": 2}]
    assert judged(handout("five-records.csv"), two) == [False]
    assert judged(handout("four-records.csv"), two) == [True]


def test_four_cancers_and_a_broken_leg() -> None:
    models: list[dict[str, Any]] = [
        {"model": "k-anonymity", "k": 5},
        {"model": "k-anonymity", "k": 6},
        {"model": "l-diversity", "l": 2, "sensitive": "diagnosis"},
        {"model": "l-diversity", "l": 3, "sensitive": "diagnosis"},
        # entropy: exp(0.5004) = 1.6493
        {"model": "entropy-l-diversity", "l": 1.649, "sensitive": "diagnosis"},
        {"model": "entropy-l-diversity", "l": 1.65, "sensitive": "diagnosis"},
    ]
    assert judged(handout("two-diverse.csv"), models) == [True, False, True, False, True, False]


def test_nine_records() -> None:
    """2-anonymous and 1-diverse: both women of 40 to 49 have HIV."""
    models: list[dict[str, Any]] = [
        {"model": "k-anonymity", "k": 2},
        {"model": "k-anonymity", "k": 3},
        {"model": "l-diversity", "l": 1, "sensitive": "diagnosis"},
        {"model": "l-diversity", "l": 2, "sensitive": "diagnosis"},
        # the farthest class: 2 of 9 have HIV, so 7/9 must move
        {"model": "t-closeness", "t": 0.78, "sensitive": "diagnosis"},
        {"model": "t-closeness", "t": 0.77, "sensitive": "diagnosis"},
    ]
    assert judged(handout("nine-records.csv"), models) == [True, False, True, False, True, False]


def test_one_value_is_allowed_where_somebody_says_so() -> None:
    """As the course asks "for what k and l?": a class whose value is known is 1-diverse, and that may be said."""
    people = {"age": [30, 30, 40, 40], "illness": ["flu", "flu", "cold", "hiv"]}
    for l_diversity, verdict in ((1, "holds"), (2, "refused")):
        models = [{"model": "l-diversity", "l": l_diversity, "sensitive": "illness"}]
        columns = {"age": "quasi-identifier", "illness": "sensitive"}
        assert shoal.verify(people, {"columns": columns, "models": models}).verdict == verdict
    made = shoal.anonymize(people, quasi_identifiers=["age"], sensitive="illness", k=2, l=1)
    assert made.verdict == "holds"
    assert [model.parameters for model in made.models] == [{"k": 2}, {"l": 1, "sensitive": "illness"}]
