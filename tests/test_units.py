"""Persons with several rows and rows that stand for several people, in every method that groups or suppresses."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st

import shoal
from shoal.errors import InputError
from shoal.methods.partition.mondrian import counted
from shoal.methods.units import GroupCheck, units_of
from shoal.models.evidence import evidence_of_persons, evidence_of_rows
from shoal.policy import Policy
from shoal.storage.classes import Coded
from shoal.storage.reading import read

QI = ["age", "sex"]
BY_PERSON: list[dict[str, Any]] = [
    {"method": "mondrian"},
    {"method": "mondrian", "cuts": "strict"},
    {"method": "microaggregate", "interval": "bracket"},
    {"method": "suppress"},
    {"method": "lattice"},
    {},
]
BY_COUNT: list[dict[str, Any]] = [
    {"method": "mondrian"},
    {"method": "mondrian", "effort": "fast"},
    {"method": "microaggregate"},
    {"method": "suppress"},
    {"method": "lattice"},
    {},
]


def rules(k: int, models: list[dict[str, Any]] | None = None, **more: Any) -> Policy:
    columns = {"age": "quasi-identifier", "sex": "quasi-identifier", "who": "other", "n": "other", "ill": "other"}
    return Policy(columns=columns, models=[{"model": "k-anonymity", "k": k}, *(models or [])], **more)  # type: ignore[arg-type]


def released(frame: pl.DataFrame, policy: Policy, **how: Any) -> tuple[pl.DataFrame, Any]:
    """The written file, read back as texts, and what `verify` says of it."""
    try:
        result = shoal.anonymize(frame, policy, **how)
    except InputError as error:
        # one level for all rows may be too coarse; groups and cells never are
        assume(how.get("method") != "lattice" or "No generalisation keeps" not in error.what)
        raise
    assume(how.get("method") != "suppress" or result.findings.suppressed_rows < result.findings.records)
    assert result.verdict == "holds", how
    with TemporaryDirectory() as folder:
        path = shoal.release(result, Path(folder) / "out.csv").output
        return pl.read_csv(path, infer_schema=False), shoal.verify(path, original=frame)


def classes_of_persons(frame: pl.DataFrame) -> list[int]:
    """How many persons have the same rows, counted plainly; who is `*` throughout is in no class."""
    rows: dict[str, list[tuple[str | None, ...]]] = defaultdict(list)
    for row in frame.iter_rows(named=True):
        rows[row["who"]].append(tuple(row[name] for name in QI))
    shown = {who: tuple(sorted(own, key=str)) for who, own in rows.items() if any(set(row) != {"*"} for row in own)}
    return list(Counter(shown.values()).values())


PERSONS = st.lists(
    st.tuples(
        st.integers(20, 40),
        st.sampled_from("fm"),
        st.integers(1, 3),
        st.lists(st.sampled_from("abc"), min_size=3, max_size=3),
    ),
    min_size=8,
    max_size=40,
)


def stays_of(persons: list[Any]) -> pl.DataFrame:
    rows = [
        (f"p{p}", age, sex, ills[stay]) for p, (age, sex, stays, ills) in enumerate(persons) for stay in range(stays)
    ]
    rows = [rows[i] for i in np.random.default_rng(len(rows)).permutation(len(rows))]
    return pl.DataFrame(rows, schema=["who", *QI, "ill"], orient="row")


@pytest.mark.parametrize("how", BY_PERSON, ids=str)
@settings(max_examples=5, phases=[Phase.generate])
@given(PERSONS, st.integers(2, 4))
def test_a_release_has_k_persons_in_every_class(how: dict[str, Any], persons: list[Any], k: int) -> None:
    stays = stays_of(persons)
    rows = Counter(person[2] for person in persons)
    assume(sum(held for held in rows.values() if held >= k) >= 0.3 * len(persons))  # others cannot be hidden
    frame, verified = released(stays, rules(k, person="who", suppression=0.7), **how)
    sizes = classes_of_persons(frame)
    assert min(sizes) >= k
    assert verified.k == min(sizes)
    assert verified.verdict == "holds"


COUNTS = st.lists(st.tuples(st.integers(20, 40), st.sampled_from("fm"), st.integers(1, 6)), min_size=6, max_size=40)


@pytest.mark.parametrize("how", BY_COUNT, ids=str)
@settings(max_examples=5, phases=[Phase.generate])
@given(COUNTS, st.integers(2, 8))
def test_a_release_has_k_people_in_every_class(how: dict[str, Any], rows: list[Any], k: int) -> None:
    table = pl.DataFrame(rows, schema=[*QI, "n"], orient="row")
    assume(table["n"].sum() >= k)
    frame, verified = released(table, rules(k, count="n", suppression=0.5), **how)
    assert sum(map(int, frame["n"])) == table["n"].sum()
    sizes: Counter[Any] = Counter()
    for row in frame.iter_rows(named=True):
        sizes[tuple(row[name] for name in QI)] += int(row["n"])
    sizes.pop(("*", "*"), None)
    assert min(sizes.values()) >= k
    assert (verified.k, verified.verdict) == (min(sizes.values()), "holds")


def test_persons_by_hand() -> None:
    """Two persons of 30 with two stays, two of 50 with one; the one with three stays is suppressed."""
    stays = pl.DataFrame(
        {
            "who": ["a", "a", "b", "b", "c", "d", "e", "e", "e"],
            "age": [30, 30, 31, 31, 50, 52, 31, 31, 31],
            "sex": ["f", "f", "f", "f", "m", "m", "f", "f", "f"],
        }
    )
    found = shoal.anonymize(stays, rules(2, person="who", suppression="20%"), method="mondrian")
    ages = ["[30;31]"] * 4 + ["[50;52]"] * 2 + ["*"] * 3
    assert found.frame["age"].to_list() == ages
    assert (found.findings.k, found.findings.classes, found.findings.suppressed_rows) == (2, 2, 3)
    with pytest.raises(InputError, match=r"1 person \(20.0%\) cannot be hidden") as error:
        shoal.anonymize(stays, rules(2, person="who", suppression="19%"), method="mondrian")
    assert "suppression" in error.value.cure
    with pytest.raises(InputError, match="`interval` to bracket"):
        shoal.anonymize(stays, rules(2, person="who", suppression="20%"), method="microaggregate")
    means = shoal.anonymize(stays.head(6), rules(2, person="who"), method="microaggregate").frame
    assert means["age"].to_list() == [30.5] * 4 + [51.0] * 2


def test_counts_by_hand() -> None:
    """A row of five stands alone; its neighbours need each other. The mean is that of people, not of rows."""
    table = pl.DataFrame({"age": [30, 31, 33, 60, 64], "sex": list("fffff"), "n": [5, 1, 1, 1, 3]})
    found = shoal.anonymize(table, rules(2, count="n"), method="mondrian")
    assert found.frame["age"].to_list() == ["30", "[31;33]", "[31;33]", "[60;64]", "[60;64]"]
    assert (found.findings.records, found.findings.k) == (11, 2)
    means = shoal.anonymize(table, rules(2, count="n"), method="microaggregate").frame["age"].to_list()
    assert means == [30.0, 32.0, 32.0, 63.0, 63.0]
    strict = shoal.anonymize(table, rules(3, count="n"), method="suppress").frame["age"].to_list()
    # two rows of one and one of one: three people
    assert strict == ["30", "*", "*", "*", "64"]


def test_a_row_of_many_is_never_split_to_help() -> None:
    """The lone m needs two more of the same age; the rows of four can give the row of two, not half of one."""
    table = pl.DataFrame({"age": [30, 30, 30], "sex": ["f", "f", "m"], "n": [2, 4, 1]})
    found = shoal.anonymize(table, rules(3, count="n"), method="suppress")
    assert found.frame["sex"].to_list() == ["*", "f", "*"]
    table = pl.DataFrame({"age": [30, 30, 30], "sex": ["f", "f", "m"], "n": [3, 2, 1]})
    assert shoal.anonymize(table, rules(3, count="n"), method="suppress").frame["sex"].to_list() == ["f", "*", "*"]


def test_what_varies_within_persons_goes_to_the_lattice() -> None:
    stays = stays_of([(20 + p % 9, "fm"[p % 2], 2, "abc") for p in range(30)])
    varying = stays.with_columns(age=pl.int_range(pl.len()) % 7 + 20)
    policy = rules(2, person="who", suppression="90%")
    for method in ("mondrian", "microaggregate", "suppress"):
        with pytest.raises(InputError, match="column 'age' varies: use the lattice"):
            shoal.anonymize(varying, policy, method=method)
    found = shoal.anonymize(varying, policy)
    assert found.method == "lattice"
    assert "varies" in found.findings.choice.not_allowed["mondrian"]  # type: ignore[union-attr]
    assert shoal.anonymize(stays, policy).method == "mondrian"
    for method in ("mask", "recode"):
        with pytest.raises(InputError):
            shoal.anonymize(stays, policy, method=method)


MODELS: list[dict[str, Any]] = [
    {"model": "l-diversity", "l": 2, "sensitive": "ill"},
    {"model": "entropy-l-diversity", "l": 1.5, "sensitive": "ill"},
    {"model": "t-closeness", "t": 0.4, "sensitive": "ill"},
    {"model": "alpha-k-anonymity", "alpha": 0.8, "k": 2, "sensitive": "ill"},
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model["model"])
@settings(max_examples=10)
@given(PERSONS, st.integers(0, 99))
def test_groups_are_checked_as_classes_are_judged(model: dict[str, Any], persons: list[Any], seed: int) -> None:
    table, random = read(stays_of(persons)), np.random.default_rng(seed)
    for policy in (rules(2, [model], person="who"), rules(2, [model])):
        units = units_of(table, policy)
        check = GroupCheck.of(table, policy, units)
        assert check is not None
        group = random.integers(0, 3, units.count)
        group[:3] = [0, 1, 2]
        if policy.person is None:
            evidence = evidence_of_rows(group, {"ill": table["ill"]})
        else:
            of_row = Coded(units.of_row, units.count)
            evidence = evidence_of_persons(group, of_row, Coded(group[units.of_row], 3), {"ill": table["ill"]})
        judge = next(entry for entry in policy.models if entry.model == model["model"])
        expected = ~judge.good(judge.measure(evidence))
        assert (check(group, 3) == expected).all()
        some = np.flatnonzero(group == 1)
        assert check.within(some)(np.zeros(len(some), int), 1).tolist() == [expected[1]]


@settings(max_examples=25)
@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(1, 5)), min_size=5, max_size=60),
    st.integers(2, 9),
    st.booleans(),
)
def test_every_group_of_rows_has_k_people(rows: list[tuple[int, int, int]], k: int, squares: bool) -> None:
    points = np.array(rows, np.float32)[:, :2]
    people = np.array([row[2] for row in rows])
    if people.sum() < k:
        return
    for passes in (0, 3):
        group = counted(points.copy(), people, k, passes, None, squares)
        assert np.bincount(group, people).min() >= k
    halves = lambda group, count: np.bincount(group[group >= 0], minlength=count) < 2  # noqa: E731
    group = counted(points.copy(), people, k, 2, halves, squares)
    assert np.bincount(group, people).min() >= k
    assert np.bincount(group).min() >= 2


def test_counts_lose_what_their_people_would() -> None:
    """A table of counts loses about as much as the same people row by row."""
    random = np.random.default_rng(7)
    people = pl.DataFrame({"age": random.integers(4, 16, 1500) * 5, "sex": random.choice(["f", "m"], 1500)})
    people = people.with_columns(town=pl.Series(random.integers(0, 9, 1500)))
    names = ["age", "sex", "town"]
    table = people.group_by(names, maintain_order=True).len("n")
    columns = dict.fromkeys(names, "quasi-identifier")
    policy = Policy(columns=columns, count="n", models=[{"model": "k-anonymity", "k": 15}])  # type: ignore[arg-type]
    by_count = shoal.anonymize(table, policy, method="mondrian").findings
    by_row = shoal.anonymize(people, quasi_identifiers=names, k=15, method="mondrian").findings
    assert by_count.records == by_row.records == 1500
    assert by_count.loss is not None
    assert by_row.loss is not None
    assert by_count.loss < 1.2 * by_row.loss
