"""Models where members are persons: SPEC 4b by hand, the definition as oracle, what joining classes does."""

from __future__ import annotations

from random import Random
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.makers import MAKERS
from models.naive import Case, keeps, keeps_whole
from shoal.errors import InputError
from shoal.models import EntropyLDiversity, Evidence, LDiversity
from shoal.policy import Policy
from shoal.policy.judgement.evidence import evidence_of
from shoal.releases.verify import verify
from shoal.storage.reading import read

# both persons have the same two records; what they have there differs from case to case
A, P = [1, 2, 1, 2], ["P1", "P1", "P2", "P2"]
SURELY = [
    ["flu", "cold", "flu", "cold"],  # at each a one illness
    ["flu", "cold", "cold", "flu"],  # at each a two illnesses, and yet both surely have flu
    ["flu", None, None, "flu"],
    ["flu", "cold", "flu", "measles"],  # flu at a = 1
]
STRICT: list[dict[str, Any]] = [
    {"model": "l-diversity", "l": 2},
    {"model": "entropy-l-diversity", "l": 1.1},
    {"model": "recursive-l-diversity", "c": 9, "l": 2},
    {"model": "alpha-k-anonymity", "alpha": 0.99, "k": 2},
]


def judged(columns: dict[str, list[Any]], models: list[dict[str, Any]], **more: Any) -> Any:
    names = [name for name in columns if name in ("a", "b", "c")]
    policy = {"columns": dict.fromkeys(names, "quasi-identifier"), "person": "p", "models": models, **more}
    return verify(pl.DataFrame(columns, strict=False), policy)  # type: ignore[arg-type]


@pytest.mark.parametrize("illness", SURELY)
@pytest.mark.parametrize("model", STRICT, ids=lambda model: str(model["model"]))
def test_what_every_person_of_a_class_has_is_disclosed(illness: list[str], model: dict[str, Any]) -> None:
    found = judged({"a": A, "p": P, "s": illness}, [{**model, "sensitive": "s"}])
    assert found.k == 2
    assert [verdict.holds for verdict in found.models] == [False]


def test_one_diverse_by_hand() -> None:
    for illness in SURELY:
        found = judged({"a": A, "p": P, "s": illness}, [{"model": "l-diversity", "l": 2, "sensitive": "s"}])
        assert found.models[0].worst["distinct"] == 1
        assert found.models[0].worst["size"] == 2


def test_shares_are_of_persons() -> None:
    """Three persons with two records each: flu has P1 and P2, cold P2 and P3, measles P1 and P3."""
    a, p = [1, 2] * 3, ["P1", "P1", "P2", "P2", "P3", "P3"]
    s = ["flu", "measles", "cold", "flu", "measles", "cold"]
    models: list[dict[str, Any]] = [
        {"model": "l-diversity", "l": 3},
        {"model": "entropy-l-diversity", "l": 3},
        {"model": "alpha-k-anonymity", "alpha": 0.67, "k": 3},
        {"model": "alpha-k-anonymity", "alpha": 0.66, "k": 3},
        # as in the whole table over the class, but at a = 1 a person has one value of three
        {"model": "t-closeness", "t": 0.01},
        {"model": "beta-likeness", "beta": 0.01},
        # ln(2/3 : 1/3) at each a
        {"model": "delta-disclosure", "delta": 0.7},
        {"model": "delta-disclosure", "delta": 0.69},
    ]
    found = judged({"a": a, "p": p, "s": s}, [{**model, "sensitive": "s"} for model in models])
    assert [verdict.holds for verdict in found.models] == [True, True, True, False, True, True, True, False]


def test_t_closeness_within_each_combination() -> None:
    """Pooled over their records the persons look alike; at each a they do not."""
    columns = {"a": A, "p": P, "s": ["flu", "cold", "flu", "cold"]}
    found = judged(columns, [{"model": "t-closeness", "t": 0.01, "sensitive": "s"}])
    assert found.models[0].holds is False
    assert found.models[0].worst["distance"] == 0.5


def test_xy_anonymity_looks_at_the_whole_history() -> None:
    model = {"model": "xy-anonymity", "k": 2, "y": "p", "x": "a"}
    found = judged({"a": [1, 2, 1], "p": ["P1", "P1", "P2"]}, [model])
    assert [verdict.holds for verdict in found.models] == [False]
    # a table in which every first record is alike, and one in which all histories are
    assert judged({"a": A, "p": P}, [model]).verdict == "holds"
    assert judged({"a": [1, 2, 1, 3], "p": P}, [model]).verdict == "refused"
    # the other way round: y is the same at a = 1, though the histories have two values of it
    other = {"model": "xy-anonymity", "k": 2, "y": "s", "x": "a"}
    assert judged({"a": A, "p": P, "s": ["u", "v", "u", "v"]}, [other]).verdict == "refused"
    assert judged({"a": A, "p": P, "s": ["u", "v", "w", "x"]}, [other]).verdict == "holds"


def test_a_star_is_not_the_only_value_in_sight() -> None:
    """a is `*` for one record and 5 for the other: two combinations, each with one person behind it."""
    frame = pl.DataFrame({"a": ["*", "5"], "b": ["1", "1"], "who": ["u", "v"]})
    policy: Any = {
        "columns": {"a": "quasi-identifier", "b": "quasi-identifier"},
        "models": [{"model": "xy-anonymity", "k": 2, "y": "who", "x": "a"}],
    }
    assert verify(frame, policy).verdict == "refused"
    by_person = {**policy, "person": "who"}
    assert verify(frame, by_person).verdict == "refused"


def test_k_matching_by_person_is_refused() -> None:
    with pytest.raises(InputError, match="no meaning for persons"):
        judged({"a": A, "p": P}, [{"model": "k-matching", "k": 2}])


@pytest.mark.parametrize("model", ["k-map", "delta-presence"])
def test_a_population_is_not_counted_for_persons(model: str, tmp_path: Any) -> None:
    path = tmp_path / "people.csv"
    path.write_text("a\n1\n2\n")
    amounts = {"k": 2} if model == "k-map" else {"high": 0.5}
    with pytest.raises(InputError, match="population"):
        judged({"a": A, "p": P}, [{"model": model, **amounts, "population": str(path)}])


# the definition as oracle


def drawn(rng: Random) -> dict[str, list[Any]]:
    rows, people, labels = rng.randint(1, 24), rng.randint(1, 7), rng.randint(1, 4)
    unknown = rng.choice([0, 0, 0.3])

    def sensitive(value: Any) -> Any:
        return None if rng.random() < unknown else value

    return {
        "a": [rng.choice(["1", "2", "*"][: rng.randint(1, 3)]) for _ in range(rows)],
        "b": [rng.choice([None, "x", "*"]) if rng.random() < 0.2 else "x" for _ in range(rows)],
        "p": [f"p{rng.randrange(people)}" for _ in range(rows)],
        "s": [sensitive(f"s{rng.randrange(labels)}") for _ in range(rows)],
        "v": [sensitive(rng.randrange(labels)) for _ in range(rows)],
        "who": [f"w{rng.randrange(4)}" for _ in range(rows)],
    }


TREE = [["s0", "x", "*"], ["s1", "x", "*"], ["s2", "y", "*"], ["s3", "y", "*"]]


def case_of(columns: dict[str, list[Any]]) -> Case:
    """Persons of equal history, those who are `*` throughout left out, by dictionaries."""
    shown = list(zip(columns["a"], columns["b"], strict=True))
    histories: dict[Any, list[int]] = {}
    for person in dict.fromkeys(columns["p"]):
        own = [row for row, whose in enumerate(columns["p"]) if whose == person]
        if any(shown[row] != ("*", "*") for row in own):
            histories.setdefault(tuple(sorted((shown[row] for row in own), key=repr)), []).extend(own)
    tree = {row[0]: row for row in TREE}
    return Case(histories, columns, None, len(shown), {"s": tree}, {}, ["a", "b"], columns["p"], shown)


PERSONAL = [name for name in MAKERS if not MAKERS[name](Random(0)).needs_population and "matching" not in name]
ONE_BY_ONE = [name for name in PERSONAL if name not in ("xy-anonymity x", "average-risk", "k-map estimated")]


def evidence(columns: dict[str, list[Any]], model: Any) -> Evidence:
    types = {"a": pl.String, "b": pl.String, "p": pl.String, "s": pl.String, "v": pl.Int64, "who": pl.String}
    policy = Policy(models=[model.model_dump()], person="p", hierarchies={"s": TREE})
    return evidence_of(read(pl.DataFrame(columns, schema=types)), ["a", "b"], policy)[0]


@pytest.mark.parametrize("name", ONE_BY_ONE)
@settings(max_examples=40)
@given(seed=st.integers(0, 10**9))
def test_against_the_definition(name: str, seed: int) -> None:
    rng = Random(seed)
    model, columns = MAKERS[name](rng), drawn(rng)
    case, found = case_of(columns), evidence(columns, model)
    assert sorted(found.sizes.tolist()) == sorted(case.size(rows) for rows in case.classes.values())
    if not case.classes:
        return
    if getattr(model, "distance", None) == "auto" and model.sensitive == "s":
        model = model.model_copy(update={"distance": "hierarchical"})
    figures = model.measure(found)
    wanted = [keeps(model, case, key) for key in case.classes]
    assert sorted(model.good(figures).tolist()) == sorted(wanted)
    assert model.judge(found).holds == all(wanted)


@settings(max_examples=40)
@given(seed=st.integers(0, 10**9))
def test_average_risk_of_persons(seed: int) -> None:
    rng = Random(seed)
    model, columns = MAKERS["average-risk"](rng), drawn(rng)
    case = case_of(columns)
    if case.classes:
        assert model.judge(evidence(columns, model)).holds == keeps_whole(model, case, list(case.classes))


def test_what_joining_combinations_promises_with_persons() -> None:
    """Without persons what the model promises; with persons only models whose figure for the class bounds that of each
    combination, and only where every person has a known value."""
    people: dict[str, list[Any]] = {"a": [1, 2, 1, 2], "p": ["P1", "P1", "P2", "P2"], "s": ["x", "y", "y", "x"]}
    unknown = {**people, "s": ["x", "y", None, None]}
    models = [LDiversity(l=2, sensitive="s"), EntropyLDiversity(l=1.5, sensitive="s")]

    def merging(columns: dict[str, list[Any]], person: str | None) -> list[str]:
        policy = Policy(columns={"a": "quasi-identifier"}, person=person, models=models)
        evidence, _ = evidence_of(read(pl.DataFrame(columns)), ["a"], policy)
        return [model.merging_with(evidence) for model in models]

    promised = [str(model.merging) for model in models]
    assert "none" not in promised
    assert merging(people, None) == promised
    assert merging(people, "p") == [promised[0], "none"]
    assert merging(unknown, "p") == ["none", "none"]
