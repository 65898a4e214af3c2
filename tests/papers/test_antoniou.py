"""Antoniou et al. by one command: the golden values, the example, what does not hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.exposure.leakage import ClassSizes, equation_5, everything_leaked, recursion, several_persons
from shoal.reproduction import antoniou_printed as printed
from shoal.reproduction.antoniou import draw_sizes
from shoal.reproduction.antoniou_example import anonymised, exact_one_person, positives


@pytest.fixture(scope="module")
def known(data: Path) -> Any:
    return json.loads((data / "golden" / "antoniou.json").read_text())


def test_the_example_is_nine_fortieths(antoniou: Any) -> None:
    assert antoniou.found["example"]["fraction"] == "9/40"
    assert antoniou.found["example"]["probability"] == pytest.approx(9 / 40, rel=1e-14)


def test_figure_2(antoniou: Any, known: Any) -> None:
    ours = {(entry["k"], entry["leaked"]): entry["probability"] for entry in antoniou.found["fig_2"]}
    for case in known["fig2"]:
        assert ours[case["k"], case["L"]] == pytest.approx(case["P"], rel=1e-12)


@pytest.mark.parametrize(("figure", "cases"), [("fig_3a", "fig3a_risk_pmf"), ("fig_3b", "fig3b_risk_pmf")])
def test_figure_3(antoniou: Any, known: Any, figure: str, cases: str) -> None:
    for ours, case in zip(antoniou.found[figure], known[cases], strict=True):
        assert (ours["k"], ours["leaked"]) == (case["k"], case["L"])
        assert ours["mean"] == pytest.approx(case["mean"], rel=1e-12)
        assert ours["standard_deviation_of_mean"] == pytest.approx(case["sd_of_mean_over_leaks"], rel=1e-6, abs=1e-12)
        expected = {"0" if risk == "0/1" else risk: value for risk, value in case["pmf"].items()}
        for risk, value in expected.items():
            assert ours["probability_of_risk"][risk] == pytest.approx(value, rel=1e-9)


def test_figure_4(antoniou: Any, known: Any) -> None:
    ours = {(entry["k"], entry["targets"]): entry for entry in antoniou.found["fig_4a"]}
    for case in known["fig4a_L_eq_D"]:
        entry = ours[case["k"], case["n"]]
        assert entry["probability"] == pytest.approx(case["exact"], rel=1e-11)
        assert entry["recursion_class_weights"] == pytest.approx(case["recursion_class_weights"], rel=1e-10)
    by_leak = {(entry["targets"], entry["leaked"]): entry for entry in antoniou.found["fig_4b"]}
    for case in known["fig4b"]:
        entry = by_leak[case["n"], case["L"]]
        assert entry["probability"] == pytest.approx(case["exact_model"], rel=1e-11)
        assert entry["recursion"] == pytest.approx(case["recursion_patient_weights"], rel=1e-10)
        assert entry["recursion_class_weights"] == pytest.approx(case["recursion_class_weights"], rel=1e-10)


def test_figure_5(antoniou: Any, known: Any) -> None:
    figure = antoniou.found["fig_5"]
    for targets, value in known["fig5"]["homogeneous"].items():
        assert figure["equal"][int(targets) - 1] == pytest.approx(value, rel=1e-11)
    for draw in figure["drawn"]:
        classes = ClassSizes.of({int(size): count for size, count in draw["class_sizes"].items()})
        assert (classes.persons, classes.k) == (10_000, 5)
        assert draw["probability"][1] == pytest.approx(everything_leaked(classes, 2), rel=1e-12)
        assert all(law <= top for law, top in zip(draw["probability"], figure["equal"], strict=True))


def test_the_smallest_k(antoniou: Any) -> None:
    table = {row["leaked"]: [row["0.33"], row["0.09"], row["0.05"]] for row in antoniou.found["smallest_k"]}
    assert table[1000] == [1, 4, 17]
    assert table[4000] == [2, 12, 20]
    assert table[10_000] == [4, 12, 20]


def test_simulation_and_law_agree_and_the_recursion_does_not(antoniou: Any) -> None:
    agree = [line for line in antoniou.comparison if line.what.startswith("95%")]
    assert len(agree) == 4
    assert [line.match for line in agree] == [True, True, None, None]  # Figs 2 and 4a; 4b and 5 have no simulation
    assert all(float(line.ours.split("(")[1].rstrip("%)")) >= 85 for line in agree)
    counter = antoniou.found["counterexample"]
    assert counter["probability"] == pytest.approx(5 / 24, rel=1e-12)
    assert counter["recursion"] == pytest.approx(29 / 144, rel=1e-12)
    off = [entry["recursion"] / entry["probability"] - 1 for entry in antoniou.found["fig_4b"] if entry["targets"] > 1]
    assert 0.006 < max(off) < 0.0065


def test_the_tree_of_fig_1_is_the_recursion(antoniou: Any) -> None:
    """By hand: 10 patients in pairs, 5 leaked; one of a pair is found with (1 - C(8,5)/C(10,5)) / 2."""
    nodes = {node["node"]: node for node in antoniou.found["fig_1"]}
    assert list(nodes) == ["A_2", "B_2,1", "B_2,2", "C_1,2", "C_2,1", "C_2,2"]
    assert nodes["A_2"]["value"] == pytest.approx((1 - 56 / 252) / 2, rel=1e-12)
    assert nodes["A_2"]["state_after"] == [0, 1, 4]
    assert nodes["B_2,1"]["value"] == pytest.approx(1 / 9 * 4 / 9, rel=1e-12)  # the one left of A's pair, if leaked
    leaves = sum(node["probability"] for node in nodes.values() if node["depth"] == 2)
    assert leaves == pytest.approx(recursion(ClassSizes.of({2: 5}), 5, 3), rel=1e-12)


def test_tables_1_to_4_from_end_to_end(antoniou: Any) -> None:
    example = antoniou.found["example"]
    assert example["patients_by_class"] == example["patients_by_class_ours"] == {"OX12": 3, "OX13": 4, "OX14": 3}
    assert example["leaked_by_class"] == {"OX12": 2, "OX13": 1}
    assert example["john_doe"] == {"ours": pytest.approx(1 / 3), "table_3": pytest.approx(1 / 3)}
    assert len(example["release"]) == 14
    assert len(anonymised(printed.table(1), 2)[1]) >= 3


def test_positives_by_hand() -> None:
    """4 of 10 leak, pairs: somebody of a pair leaks with 1 - C(8,4)/C(10,4) = 2/3."""
    assert equation_5(10, 4, 2) == pytest.approx(1 / 3)
    for k in (1, 5, 20):
        found = positives(k, 4_000, seed=k)
        assert found["right"] + found["wrong"] + found["none"] == pytest.approx(1)
        assert found["right"] == pytest.approx((found["right"] + found["wrong"]) / k)
        for kind in ("right", "wrong", "none"):
            assert found["simulated"][kind] == pytest.approx(found[kind], abs=0.03)


def test_the_sign_of_step_5_is_computed(antoniou: Any) -> None:
    signs = antoniou.found["one_less_or_more"]
    assert signs["minus"] == pytest.approx(signs["law"], rel=1e-12)
    assert signs["law"] == pytest.approx(5 / 18)  # 1/2 for the first, then 1 of 9 surely or 8 of 9 by half
    assert signs["plus"] != pytest.approx(signs["law"], rel=1e-3)


def test_the_simulated_risk_is_near_the_law(antoniou: Any) -> None:
    for entry in (*antoniou.found["fig_3a"], *antoniou.found["fig_3b"]):
        assert sum(entry["simulated_risk"].values()) == pytest.approx(1, rel=1e-12)
        for risk, law in entry["probability_of_risk"].items():
            assert entry["simulated_risk"].get(risk, 0.0) == pytest.approx(law, abs=0.01)


def test_nine_fortieths_are_not_printed(antoniou: Any) -> None:
    assert all("9/40" not in (line.printed or "") for line in antoniou.comparison)
    misprints = [line for line in antoniou.comparison if line.match is False]
    assert sum("misprint" in line.reason for line in misprints) == 3


@given(st.dictionaries(st.integers(1, 5), st.integers(1, 3), min_size=1), st.integers(0, 20))
def test_the_fraction_is_the_law(sizes: dict[int, int], leaked: int) -> None:
    classes = ClassSizes.of(sizes)
    leaked = min(leaked, classes.persons)
    law = several_persons(classes, leaked, 1).probability
    assert float(exact_one_person(sizes, leaked)) == pytest.approx(law, rel=1e-12, abs=1e-15)


@given(st.integers(0, 1000))
def test_drawn_sizes_hold_everybody(seed: int) -> None:
    classes = draw_sizes(seed)
    assert (classes.persons, classes.k) == (10_000, 5)
