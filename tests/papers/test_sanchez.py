"""Sánchez et al. by one command: the golden values, the examples, the claims."""

from __future__ import annotations

from typing import Any

import pytest

from shoal.errors import InputError
from shoal.reproduction import Reproduction, reproduce
from shoal.reproduction.sanchez import examples
from shoal.reproduction.sanchez_printed import PAIRS, RACES, TABLE_S2, TABLE_S4, TABLE_S5


@pytest.fixture(scope="module", params=[1000, 100_000])
def both(request: pytest.FixtureRequest, golden: Any) -> tuple[Any, Any]:
    """What was found, and the golden values, for two sizes."""
    rows: int = request.param
    return reproduce("sanchez", rows=rows).found, golden["spd_like"][str(rows)]


def test_uniques_by_knowledge(both: tuple[Any, Any]) -> None:
    found, known = both
    assert found["eq1"] == known["eq1"]
    assert found["original"]["uniques"] == known["eq1"]["CST"]
    assert found["original"]["high_charges"] == known["charge_gt_100000"]
    assert found["original"]["no_charges"] == known["charge_eq_0"]
    assert found["original"]["attribute_disclosure"] == known["orig_adr_records"] / known["z"]
    assert found["correlations"] == pytest.approx(known["corr"], abs=1e-10)


def test_k_anonymity_and_closeness(both: tuple[Any, Any]) -> None:
    found, known = both
    for method in ("s2", "s4"):
        assert list(found[method]) == ["2", "3", "5", "10"]
        for k, expected in known[method].items():
            ours = found[method][k]
            assert (ours["classes"], ours["uniques"], ours["k"]) == (expected["classes"], 0, expected["min_class"])
            assert ours["information_loss"] == pytest.approx(expected["il"], rel=1e-9)
            assert ours["attribute_disclosure"] == pytest.approx(expected["adr"], abs=1e-12)
            if method == "s2":
                assert ours["random_reidentification"] == pytest.approx(expected["random_reid"])
            else:
                assert (ours["cluster_size"], ours["remainder"]) == (expected["K"], expected["rem"])
                assert ours["bound"] == pytest.approx(expected["t_bound"], rel=1e-12)
                for labels in ("ranks", "values"):
                    distance = ours[f"largest_distance_{labels}"]
                    assert distance == pytest.approx(expected[f"emd_max_{labels}"], rel=1e-9)


def test_coarsening_and_the_sweep(both: tuple[Any, Any]) -> None:
    found, known = both
    for name, expected in known["s3"].items():
        mode, resolution = name.split("_")
        ours = found["s3"][mode][resolution]
        assert (ours["uniques"], ours["classes"]) == (expected["uniques"], expected["classes"])
        assert ours["information_loss"] == pytest.approx(expected["il"], rel=1e-9)
        assert ours["attribute_disclosure"] == pytest.approx(expected["adr"], abs=1e-12)
    for mode in ("range", "labels"):
        assert found["sweep"][mode]["uniques"] == known[f"sweep_{mode}_uniques"]
        assert found["sweep"][mode]["information_loss"] == pytest.approx(known[f"sweep_{mode}_il"], rel=1e-9)


def test_2_anonymity_loses_less_than_coarsening_to_an_eighth(both: tuple[Any, Any]) -> None:
    """The paper's main result, on a table that is not tiny."""
    found, known = both
    if found["records"] == 100_000:
        for labels in ("range", "labels"):
            assert known["s2"]["2"]["il"] < known["s3"][f"{labels}_8"]["il"]
            assert found["s2"]["2"]["information_loss"] < found["s3"][labels]["8"]["information_loss"]
            assert found["s2"]["2"]["uniques"] == 0 < found["s3"][labels]["8"]["uniques"]


def test_our_own_method_keeps_k_and_loses_less(both: tuple[Any, Any]) -> None:
    found, _ = both
    for k, published in found["s2"].items():
        ours = found["least_loss"][k]
        assert ours["k"] >= int(k)
        assert ours["information_loss"] < published["information_loss"] / 1.9


def test_masking(both: tuple[Any, Any], golden: Any) -> None:
    found, known = both
    for figures in found["masking"].values():
        assert sum(figures["records_by_step"]) == found["records"]
    if found["records"] == 100_000:
        for name, key in (("seven", "demographics only/R1"), ("nine", "+hospital+los/R1")):
            expected, ours = golden["masking_100k"][key], found["masking"][name]
            assert ours["records_by_step"] == expected["levels"]
            assert (ours["uniques_on_counted"], ours["uniques"]) == (expected["eq1_same_attrs"], expected["eq1_all9"])
    assert known["n"] == found["records"]


def test_the_untouched_are_not_untouched() -> None:
    """Duplicates of a small table, counted by hand: S2 cuts wherever the count falls."""
    found = reproduce("sanchez", rows=30_000).found["s2"]["2"]
    assert 0 < found["changed_safe_records"] < found["safe_records"]


def test_printed_tables(golden: Any) -> None:
    case = golden["tableS6"]
    assert [list(row) for row in TABLE_S2] == case["X"]
    assert [list(group.values()) for group in examples(0)["table_s6"]["groups"]] == case["boxes"]
    assert list(TABLE_S4) == golden["corr_S4_S5"]["S4"]
    assert list(TABLE_S5) == golden["corr_S4_S5"]["S5"]
    assert {str(race): count for race, count in RACES.items()} == golden["s1_race"]["v"]
    assert len(PAIRS) == len(TABLE_S4) == 36


def test_examples_by_hand() -> None:
    found = examples(3)
    assert found["table_s7"]["2"] == [[0, 42], [43, 85]]
    assert found["table_s9"]["10"] == pytest.approx(0.05, abs=5e-7)
    assert found["s1"]["cells"] == 1_072_350
    assert (found["table_s6"]["disclosed"], found["table_s6"]["high_charges"]) == (3, 4)


def line(found: Reproduction, what: str) -> Any:
    return next(line for line in found.comparison if line.what.startswith(what))


@pytest.fixture(scope="module")
def small() -> Reproduction:
    return reproduce("sanchez", rows=3000)


def test_every_number_of_the_paper_has_its_exhibit(small: Reproduction) -> None:
    figures = {f"fig-{number}" for number in ("1", "2", "s1", "s2", "s3", "s4", "s5", "s6", "s7")}
    tables = {f"table-s{number}" for number in range(1, 11)}
    assert {exhibit.key for exhibit in small.exhibits} == figures | tables | {"claims", "closeness", "least-loss"}
    for exhibit in small.exhibits:
        number = exhibit.key.replace("fig-", "Fig ").replace("table-", "Table ").replace(" s", " S")
        assert exhibit.heading.startswith(f"{number}:") or exhibit.key not in figures | tables


def test_every_difference_has_its_reason(small: Reproduction) -> None:
    assert line(small, "cells as printed").verdict.startswith("a misprint")
    assert line(small, "uniques after k-anonymity").verdict == "holds"
    assert line(small, "t for k = 2").verdict == "match"
    for entry in small.comparison:
        assert entry.printed is None or entry.match or len(entry.reason) > 5
    printed = " ".join(entry.printed or "" for entry in small.comparison)
    assert "1,072,350" not in printed
    assert "26.91" not in printed


def test_the_main_claim_and_the_one_that_turns_round(small: Reproduction) -> None:
    """Both from the numbers themselves, beside what the page says."""
    found = small.found
    loss = found["s2"]["2"]["information_loss"]
    eighth = [found["s3"][mode]["8"] for mode in ("range", "labels")]
    holds = all(loss < one["information_loss"] and one["uniques"] > 0 for one in eighth)
    assert holds is line(small, "2-anonymity against coarsening to 1/8").match
    swept = {mode: found["sweep"][mode]["information_loss"] for mode in ("range", "labels")}
    assert swept["range"]["2,max"] > swept["range"]["max,2"]
    assert swept["labels"]["2,max"] < swept["labels"]["max,2"]
    turned = line(small, "loss with resolution 2 for hospital")
    assert turned.match is False
    assert "only with labels = range" in turned.reason
    assert "3,985,166" in turned.reason  # where it holds: test_full_size


def test_nothing_to_test_is_no_match() -> None:
    """A hundred records are all different: none was safe before, so none can have been changed."""
    found = reproduce("sanchez", rows=100)
    assert found.found["s2"]["10"]["safe_records"] == 0
    untouched = line(found, "records that S2 changes although")
    assert untouched.match is None
    assert untouched.verdict.startswith("not tested")
    assert "could not be tested" in found.summary()


def test_the_same_seed_gives_the_same_and_another_another() -> None:
    first, again, other = (reproduce("sanchez", rows=300, seed=seed).found for seed in (1, 1, 2))
    assert first == again
    assert first["s2"] != other["s2"]


def test_too_few_records_are_refused() -> None:
    with pytest.raises(InputError, match="too few"):
        reproduce("sanchez", rows=99)
    with pytest.raises(InputError, match="seed"):
        reproduce("sanchez", seed=-1)
    with pytest.raises(InputError, match="not known"):
        reproduce("sweeney")


@pytest.mark.slow
def test_full_size() -> None:
    """The figures that the specification states for 3,985,166 records."""
    found = reproduce("sanchez").found
    assert found["eq1"]["CST"] / found["records"] == pytest.approx(0.7484, abs=5e-5)
    assert found["largest_difference_from_table_s5"] <= 0.031
    assert [found["s2"][k]["information_loss"] for k in ("2", "5")] == pytest.approx([0.3186, 0.5280], abs=5e-5)
    assert found["s2"]["2"]["safe_records"] == 1_002_558
    assert found["s2"]["2"]["changed_safe_records"] == 338_358
    assert found["s4"]["2"]["largest_distance_values"] == pytest.approx(0.396, abs=5e-4)
    assert found["s4"]["2"]["largest_distance_ranks"] == pytest.approx(0.2498, abs=5e-5)
    assert [found["s3"][mode]["2"]["uniques"] for mode in ("range", "labels")] == [19, 33]
    assert found["least_loss"]["2"]["information_loss"] < 0.0071
    loss = {mode: found["sweep"][mode]["information_loss"] for mode in ("range", "labels")}
    census = {mode: [round(values[pair], 2) for pair in ("2,max", "max,2")] for mode, values in loss.items()}
    assert census == {"range": [3.37, 0.96], "labels": [2.49, 1.25]}  # docs/papers/sanchez.md
    ranks = {k: figures["largest_distance_ranks"] > figures["bound"] for k, figures in found["s4"].items()}
    assert ranks == {"2": False, "3": False, "5": False, "10": True}
