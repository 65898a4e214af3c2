"""A plan never shows what it does not know; a name that is both leaf and node is read on the safe side."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

import shoal
from shoal.policy.judgement.population import people_in_classes
from shoal.ranges.hierarchy.given import given_hierarchies
from shoal.storage.reading import read


def test_unknown_values_are_suppressed_whatever_their_level() -> None:
    old = pl.DataFrame({"town": ["a", "a", "b", "b"]})
    plan = shoal.anonymize(old, quasi_identifiers=["town"], k=2, method="lattice").plan
    assert plan is not None
    new = pl.DataFrame({"town": ["a", "a", "secret", "secret"]})
    found = shoal.apply_plan(new, plan=plan, unseen="suppress")
    assert found.frame["town"].to_list() == ["a", "a", "*", "*"]
    assert found.findings.suppressed_rows == 2


def test_unknown_values_of_persons_take_the_whole_person() -> None:
    old = pl.DataFrame({"who": [1, 1, 2, 2], "town": ["a", "b", "a", "b"]})
    rules = shoal.Policy(columns={"town": "quasi-identifier"}, person="who", models=[{"model": "k-anonymity", "k": 2}])
    plan = shoal.anonymize(old, rules, method="lattice").plan
    assert plan is not None
    new = pl.DataFrame({"who": [1, 1, 2, 2, 3, 3], "town": ["a", "b", "a", "b", "a", "secret"]})
    assert shoal.apply_plan(new, plan=plan, unseen="suppress").frame["town"].to_list() == ["a", "b", "a", "b", "*", "*"]


def test_a_leaf_named_like_a_node_counts_the_fewest_people() -> None:
    rows = {"town": [["Milano", "Milano", "*"], ["Lodi", "Milano", "*"]]}
    tree = given_hierarchies(rows, ["town"])
    released = read({"town": ["Milano", "Milano"]}).select(["town"])
    people = read({"town": ["Milano"] + ["Lodi"] * 9})
    classes = np.zeros(2, int)
    assert people_in_classes(released, classes, people, tree).tolist() == [1]
    assert people_in_classes(released, classes, people, tree, levels={"town": 0}).tolist() == [1]
    assert people_in_classes(released, classes, people, tree, levels={"town": 1}).tolist() == [10]


def test_a_node_named_like_a_leaf_is_released_and_verified(tmp_path: Path) -> None:
    pl.DataFrame({"town": ["Milano", *["Lodi"] * 9]}).write_csv(tmp_path / "people.csv")
    rows = {"town": [["Milano", "Milano", "*"], ["Lodi", "Milano", "*"]]}
    rules = shoal.Policy(
        columns={"town": "quasi-identifier"},
        models=[{"model": "k-map", "k": 5, "population": str(tmp_path / "people.csv")}],
    )
    found = shoal.anonymize(pl.DataFrame({"town": ["Milano", "Lodi"]}), rules, method="lattice", hierarchies=rows)
    assert found.findings.to_dict()["levels"] == {"town": 1}
    shoal.release(found, tmp_path / "safe.csv")
    assert shoal.verify(tmp_path / "safe.csv", rules.model_copy(update={"hierarchies": rows})).verdict == "holds"


def test_numbers_of_a_population_match_by_value() -> None:
    tree = given_hierarchies({"age": [["17.0", "minor", "*"], ["18", "adult", "*"]]}, ["age"])
    released = read({"age": ["minor", "adult"]}).select(["age"])
    people = read({"age": [17, 17, 18]})
    assert people_in_classes(released, np.array([0, 1]), people, tree).tolist() == [2, 1]
