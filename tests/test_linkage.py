"""Linkage: who fits which released record."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.attacks.linking.link import Linkage
from shoal.releases.readable import readable
from shoal.storage.reading import read

JOBS = ["clerk", "monk", "poet", "smith"]


def fits(cell: str | None, value: Any) -> bool:
    """What a released text means, read again by hand."""
    if cell == "*":
        return True
    if cell is None or value is None:
        return cell is value
    if cell.startswith("[") and ";" in cell:
        low, high = cell[1:-1].split(";")
        return int(low) <= int(value) <= int(high)
    if cell.startswith("["):
        return value in cell[1:-1].split(", ")
    return str(value).startswith(cell.rstrip("*")) if cell.endswith("*") else str(value) == cell


ages = st.one_of(
    st.integers(0, 9).map(str),
    st.tuples(st.integers(0, 9), st.integers(1, 5)).map(lambda ends: f"[{ends[0]};{ends[0] + ends[1]}]"),
    st.just("*"),
    st.none(),
)
jobs = st.one_of(
    st.sampled_from(JOBS),
    st.sets(st.sampled_from(JOBS), min_size=2).map(lambda chosen: "[" + ", ".join(sorted(chosen)) + "]"),
    st.just("*"),
)
zips = st.one_of(st.sampled_from(["0213*", "021**", "02139", "02141", "1****", "10001"]), st.just("*"))
people = st.tuples(
    st.one_of(st.integers(0, 14), st.none()), st.sampled_from(JOBS), st.sampled_from(["02139", "02141", "10001"])
)


@settings(max_examples=80)
@given(st.lists(st.tuples(ages, jobs, zips), min_size=1, max_size=40), st.lists(people, min_size=1, max_size=12))
def test_candidates_by_hand(released: list[tuple[Any, ...]], targets: list[tuple[Any, ...]]) -> None:
    """Every cell read again by its definition, every target against every record."""
    released = [*released, ("[0;20]", "[clerk, monk]", "021**")]  # so that each column is seen to be generalised
    schema = {"age": pl.String, "job": pl.String, "zip": pl.String}
    release = pl.DataFrame(released, schema=schema, orient="row")
    table = pl.DataFrame(targets, schema=schema | {"age": pl.Int64}, orient="row")
    found = Linkage.of(readable(release), read(table), {name: name for name in schema})
    expected = [
        sum(all(fits(cell, value) for cell, value in zip(row, target, strict=True)) for row in released)
        for target in targets
    ]
    assert found.records.tolist() == expected
    starts, boxes = found.pairs
    listed = [found.boxes.weight[boxes[starts[p] : starts[p + 1]]].sum() for p in found.point_of_row]
    assert listed == expected
    pairs = [(target, row) for target in range(len(targets)) for row in range(len(released))]
    rows, cells = np.array(pairs).T
    held = found.holds(rows, cells)
    assert np.bincount(rows[held], minlength=len(targets)).tolist() == expected


def random_people(rows: int, seed: int) -> pl.DataFrame:
    generator = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "age": generator.integers(18, 90, rows),
            "sex": generator.choice(["f", "m"], rows),
            "zip": generator.choice([f"{code:05}" for code in range(2100, 2140)], rows),
            "illness": generator.choice(["flu", "cold", "HIV"], rows),
        }
    )


NUMBERS, ALL = ["age"], ["age", "sex", "zip"]


@settings(max_examples=12)
@given(
    st.sampled_from([("mondrian", ALL), ("lattice", ALL), ("sorted-clusters", NUMBERS), ("mondrian", NUMBERS)]),
    st.integers(2, 9),
    st.integers(0, 1000),
)
def test_strict_classes_keep_the_expected_rate_below_one_in_k(method: tuple[str, list[str]], k: int, seed: int) -> None:
    table = random_people(120, seed)
    made = shoal.anonymize(table, quasi_identifiers=method[1], k=k, method=method[0])
    found = shoal.attack_link(made, identified=table, on=method[1])
    assert found.unmatched == 0
    assert found.expected_correct <= found.targets / k + 1e-9
    assert found.candidates.smallest is not None
    assert found.candidates.smallest >= k


@pytest.mark.parametrize("method", ["mondrian", "lattice", "suppress"])
@pytest.mark.parametrize("known", [["born", "zip"], ["weight", "job"], ["flag", "age"]])
def test_dates_missing_values_and_odd_texts_fit_their_own_record(method: str, known: list[str]) -> None:
    generator = np.random.default_rng(5)
    table = random_people(150, 5).with_columns(
        born=pl.date(1950, 1, 1) + pl.duration(days=pl.Series(generator.integers(0, 20_000, 150))),
        weight=pl.Series(generator.normal(70, 10, 150).round(1)),
        job=pl.Series(generator.choice(["a, b", "*", "[x]", "12X", "clerk", "\\y"], 150)),
        flag=pl.Series(generator.random(150) < 0.3),
    )
    absent = [pl.when(pl.Series(generator.random(150) < 0.1)).then(None).otherwise(pl.col(name)) for name in known]
    table = table.with_columns(gap.alias(name) for gap, name in zip(absent, known, strict=True))
    how: dict[str, Any] = {"suppression": 0.2} if method == "lattice" else {}
    made = shoal.anonymize(table, quasi_identifiers=known, k=3, method=method, **how)
    linked = Linkage.of(readable(made), read(table), {name: name for name in known})
    assert linked.holds(np.arange(150), np.arange(150)).all()


def test_means_are_linked_by_the_nearest_class_and_stay_below_one_in_k() -> None:
    table = random_people(300, 1)
    made = shoal.anonymize(table, quasi_identifiers=ALL, k=4, method="microaggregate")
    who = pl.Series("who", range(300))
    released, people = made.polars.with_columns(who), table.with_columns(who)
    source = readable(made)
    forms = {name: form for name, form in source.forms.items() if name in ALL}
    from dataclasses import replace

    source = replace(source, table=read(released), forms=forms)
    linked = Linkage.of(source, read(people), {name: name for name in ALL})
    own = np.arange(300)
    hit = linked.holds(own, own) / linked.records
    assert linked.by_distance
    assert linked.records.min() >= 4
    assert 0.05 < hit.mean() <= 0.25


def nearest_by_hand(release: pl.DataFrame, people: pl.DataFrame) -> list[int]:
    """Squared differences in units of the release's standard deviation, whether categories differ, ties counted."""
    spread = release["x"].std(ddof=0) or 1.0
    counts = []
    for x, job in people.rows():
        away = [((x - other) / spread) ** 2 + (job != theirs) for other, theirs in release.rows()]
        counts.append(sum(distance <= min(away) + 1e-9 for distance in away))
    return counts


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.integers(0, 6), st.sampled_from(JOBS)), min_size=2, max_size=60),
    st.lists(st.tuples(st.integers(0, 6), st.sampled_from(JOBS)), min_size=1, max_size=10),
)
def test_ties_of_the_nearest_records_are_shared(
    released: list[tuple[int, str]], targets: list[tuple[int, str]]
) -> None:
    from shoal.ranges.forms import ColumnForm
    from shoal.releases.readable import Readable

    schema = {"x": pl.Float64, "job": pl.String}
    release = pl.DataFrame(released, schema=schema, orient="row")
    people = pl.DataFrame(targets, schema=schema, orient="row")
    forms = {name: ColumnForm(kind="perturbed") for name in schema}
    linked = Linkage.of(Readable(read(release), None, forms, {}, None), read(people), {"x": "x", "job": "job"})
    assert linked.records.tolist() == nearest_by_hand(release, people)


@pytest.mark.parametrize("seed", range(3))
def test_on_raw_data_linkage_is_uniqueness(seed: int) -> None:
    table = random_people(400, seed)
    found = shoal.attack_link(table, identified=table, on=ALL)
    risk = shoal.risk(table, quasi_identifiers=ALL)
    assert found.unique_matches == risk.uniques
    assert found.expected_correct == pytest.approx(risk.classes)
    assert found.candidates.smallest == risk.k


def test_adult(data: Path) -> None:
    """SPEC: 30,162 records in nine columns form 19,502 classes, 15,512 of them of one record."""
    table = read(data / "adult" / "adult.csv")
    nine = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation",
            "salary-class"]  # fmt: skip
    found = shoal.attack_link(table, identified=table, on=nine)
    assert (found.targets, found.unique_matches) == (30_162, 15_512)
    assert found.expected_correct == pytest.approx(19_502)


def test_suppressed_cells_leave_fewer_candidates_than_k() -> None:
    """k-matching counts what a `*` may match; an attacker who knows all columns has fewer candidates."""
    table = random_people(400, 3)
    made = shoal.anonymize(table, quasi_identifiers=ALL, k=5, method="suppress")
    found = shoal.attack_link(made, identified=table, on=ALL)
    assert [model.name for model in made.models] == ["k-matching"]
    assert found.unmatched == 0
    assert found.candidates.smallest is not None
    assert found.candidates.smallest < 5
    assert found.expected_correct > found.targets / 5


def test_a_wildcard_matches_whatever_is_missing() -> None:
    release, people = {"a": [1, 2, None]}, {"a": [1, None]}
    assert Linkage.of(readable(release), read(people), {"a": "a"}).records.tolist() == [1, 1]
    assert Linkage.of(readable(release), read(people), {"a": "a"}, rule="wildcard").records.tolist() == [2, 3]


def test_truth_tells_right_from_wrong_matches() -> None:
    release = {"age": ["[20;29]", "31", "44"], "who": ["a", "b", "c"]}
    people = {"age": [25, 31, 44, 60], "who": ["a", "b", "x", "y"]}
    found = shoal.attack_link(release, identified=people, truth="who")
    assert (found.targets, found.unmatched, found.unique_matches, found.correct) == (4, 1, 3, 2)
    assert found.expected_correct == 2
    assert found.precision == pytest.approx(2 / 3)
    assert found.columns == ["age"]


def test_two_columns_that_are_one_range() -> None:
    table = random_people(60, 5)
    made = shoal.anonymize(table, quasi_identifiers=["age"], k=3, method="mondrian", interval="columns")
    found = shoal.attack_link(made, identified=table, on=["age"])
    assert found.unmatched == 0
    assert found.candidates.smallest is not None
    assert found.candidates.smallest >= 3


def test_rows_that_stand_for_many_records() -> None:
    policy = shoal.Policy(columns={"age": "quasi-identifier"}, count="n")
    found = shoal.attack_link({"age": [30, 40], "n": [7, 1]}, identified={"age": [30, 40]}, policy=policy)
    assert (found.candidates.median, found.candidates.smallest, found.unique_matches) == (4.0, 1, 1)


def test_columns_that_help_most_are_named() -> None:
    table = random_people(300, 7)
    notes = shoal.attack_link(table, identified=table, on=ALL).attacks[0].notes
    assert any("column age helps most" in note for note in notes)


def test_rows_are_written_for_their_owner_only(tmp_path: Path) -> None:
    out = tmp_path / "hit.csv"
    shoal.attack_link({"age": [30, 31, 31]}, identified={"age": [31, 30]}, targets_out=out)
    assert out.read_text() == "row\n1\n"
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    with pytest.raises(shoal.InputError, match="exists already"):
        shoal.attack_link({"age": [30]}, identified={"age": [30]}, targets_out=out)


@pytest.mark.parametrize(
    ("release", "other", "on", "words"),
    [
        ({"age": [1]}, {"alter": [1]}, None, "no column in common"),
        ({"age": [1]}, {"alter": [1]}, "age", "not one of each file"),
        ({"age": [1]}, {"alter": [1]}, "size=alter", "Neither file has a column 'size'"),
        ({"zip": ["02139"]}, {"zip": [2139]}, None, "text in the release and not in the other file"),
        ({"zip": ["02139"]}, {"zip": ["2139"]}, None, "leading zeros"),
        ({"age": ["50-55"]}, {"age": [50]}, None, "generalized='yes'"),
        ({"zip": ["61XXX"]}, {"zip": ["61802"]}, None, "generalized='yes'"),
        ({"sex": ["F"]}, {"sex": ["f"]}, None, "upper and lower case"),
        ({"sex": ["f "]}, {"sex": ["f"]}, None, "blanks"),
        ({"sex": ["f"]}, {"sex": ["1"]}, None, "same codes"),
        ({"age": [1]}, {"age": []}, None, "no rows"),
    ],
)
def test_what_cannot_be_linked_says_why(
    release: dict[str, Any], other: dict[str, Any], on: str | None, words: str, tmp_path: Path
) -> None:
    out = tmp_path / "hit.csv"
    with pytest.raises(shoal.InputError) as error:
        shoal.attack_link(release, identified=other, on=on, targets_out=out)
    assert words in str(error.value)
    assert not out.exists()


def test_names_that_differ_in_either_order() -> None:
    release, people = {"age_yrs": [30, 41]}, {"age": [30]}
    for on in ("age=age_yrs", "age_yrs=age", {"age_yrs": "age"}):
        assert shoal.attack_link(release, identified=people, on=on).unique_matches == 1


def test_a_record_that_is_suppressed_throughout_is_found_by_elimination() -> None:
    """Strict classes bound everybody else; who fits no class can only be one of the suppressed."""
    people = pl.DataFrame({"sex": ["f"] * 3 + ["m"] * 3 + ["x"], "town": ["A"] * 7})
    made = shoal.anonymize(people, quasi_identifiers=["sex", "town"], k=3, method="suppress", reading="strict")
    found = Linkage.of(readable(made), read(people), {"sex": "sex", "town": "town"})
    suppressed = (made.polars["sex"] == "*").to_numpy() & (made.polars["town"] == "*").to_numpy()
    assert (found.records[~suppressed] >= 3).all()
