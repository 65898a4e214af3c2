"""Labels that do not hold their leaf: refused on every path, corrected by `--fix`, or declared to be names."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.errors import InputError
from shoal.policy import as_policy
from shoal.ranges.hierarchy import Hierarchy, check_hierarchies, read_hierarchy
from shoal.ranges.hierarchy.check import fixed
from shoal.ranges.hierarchy.outside import UntrueLabels, leaves_outside
from shoal.releases.write import Refused

ROWS = [["19", "15-19", "*"], ["20", "15-19", "*"], ["21", "20-24", "*"], ["24", "20-24", "*"], ["18", "15-19", "*"]]
PEOPLE = pl.DataFrame({"age": [19, 20, 21, 24, 18], "ill": ["a", "b", "a", "b", "b"]})
POLICY: dict[str, Any] = {
    "columns": {"age": "quasi-identifier", "ill": "sensitive"}, "models": [{"model": "k-anonymity", "k": 2}],
}  # fmt: skip


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def tree(*levels: list[str]) -> Hierarchy:
    return Hierarchy("age", tuple(pl.Series(level, dtype=pl.String) for level in [*levels, ["*"] * len(levels[0])]))


def test_it_is_refused_with_the_leaves_named() -> None:
    with pytest.raises(UntrueLabels, match=r"'age' puts 1 leaf .*: 20 \(row 2\)") as refusal:
        shoal.anonymize(PEOPLE, POLICY, method="lattice", hierarchies={"age": ROWS})
    assert refusal.value.exit_code == 1
    assert "labels_are_names" in str(refusal.value)


def test_the_policy_s_own_tree_and_a_plan_are_refused_too() -> None:
    with pytest.raises(UntrueLabels):
        shoal.anonymize(PEOPLE, {**POLICY, "hierarchies": {"age": ROWS}}, method="lattice")
    made = shoal.anonymize(PEOPLE, POLICY, method="lattice", hierarchies={"age": ROWS}, labels_are_names=True)
    shoal.release(made, "out.csv")
    plan = json.loads(Path("out.plan.json").read_text())
    plan["policy"]["labels_are_names"] = False
    Path("plan.json").write_text(json.dumps(plan))
    with pytest.raises(UntrueLabels):
        shoal.apply_plan(PEOPLE, plan="plan.json")


def test_the_default_choice_does_not_take_it() -> None:
    result = shoal.anonymize(PEOPLE, POLICY, hierarchies={"age": ROWS})
    assert "15-19" not in result.polars["age"].cast(pl.String).to_list()
    told = " ".join(str(section) for section in result.sections())
    assert "lattice was refused: The hierarchy of 'age' puts 1 leaf" in told
    assert "nothing was written" not in told  # by the release that was made
    PEOPLE.write_csv("in.csv")
    shoal.release(result, "out.csv")
    assert shoal.verify("out.csv", original="in.csv").verdict == "holds"


@pytest.mark.parametrize("method", ["mondrian", "microaggregate"])
def test_categories_laid_out_by_a_tree_are_refused_too(method: str) -> None:
    codes = pl.DataFrame({"zip": ["93701", "93702", "93801", "93802"]})
    rows = [[code, "937**", "*"] for code in codes["zip"]]
    rules = as_policy({"columns": {"zip": "quasi-identifier"}, "models": [{"model": "k-anonymity", "k": 2}]})
    with pytest.raises(UntrueLabels, match="93801"):
        shoal.anonymize(codes, rules, method=method, hierarchies={"zip": rows})


def test_a_map_of_labels_that_say_a_false_range_is_refused() -> None:
    Path("map.csv").write_text("age,band\n18,15-19\n19,15-19\n20,15-19\n21,20-24\n24,20-24\n")
    made = shoal.anonymize(PEOPLE, POLICY, method="recode", generalize={"age": "map.csv"})
    with pytest.raises(Refused, match="1 labels do not"):
        shoal.release(made, "out.csv")


def test_names_are_declared_in_policy_form_and_dictionary() -> None:
    made = shoal.anonymize(PEOPLE, POLICY, method="lattice", hierarchies={"age": ROWS}, labels_are_names=True)
    PEOPLE.write_csv("in.csv")
    shoal.release(made, "out.csv")
    manifest = json.loads(Path("out.manifest.json").read_text())
    entry = manifest["columns"][0]
    assert manifest["policy"]["labels_are_names"]
    assert (entry["nature"], entry["form"]["labels_are_names"]) == ("named", True)
    assert "labels are names" in Path("out.dictionary.json").read_text()
    assert shoal.verify("out.csv", original="in.csv").verdict == "holds"
    # a reader whose policy does not allow it is not overruled
    with_own = shoal.verify("out.csv", as_policy(POLICY))
    assert with_own.verdict == "refused"
    assert "labels of age are names" in with_own.reasons()


@pytest.mark.parametrize("what", ["form", "nature"])
def test_a_manifest_that_hides_it_is_refused(what: str) -> None:
    """Without the declaration its labels are held against the values; half of it gone is a contradiction."""
    made = shoal.anonymize(PEOPLE, POLICY, method="lattice", hierarchies={"age": ROWS}, labels_are_names=True)
    PEOPLE.write_csv("in.csv")
    shoal.release(made, "out.csv")
    Path("out.private.json").unlink()
    manifest = json.loads(Path("out.manifest.json").read_text())
    entry = manifest["columns"][0]
    entry["nature"] = "truthful"
    if what == "form":
        entry["form"]["labels_are_names"] = False
    Path("out.manifest.json").write_text(json.dumps(manifest))
    assert shoal.verify("out.csv", original="in.csv").verdict == "refused"


@pytest.mark.parametrize(
    ("leaf", "label", "true"),
    [
        ("20", "15-19", False), ("20", "[15;19]", False), ("20", "[20;20]", True), ("20", "young", True),
        ("93701", "937**", True), ("93801", "937**", False), ("93701", "937", True), ("20", "15", False),
        ("9007199254740993", "[9007199254740992;9007199254740992]", False),
        ("9007199254740993", "[9007199254740993;9007199254740994]", True),
        ("2020-01-31", "[2020-01-01;2020-01-30]", False), ("2020-01-31", "[2020-01-01;2020-01-31]", True),
    ],
)  # fmt: skip
def test_what_a_label_says(leaf: str, label: str, true: bool) -> None:
    assert leaves_outside(tree([leaf], [label])).tolist() == [not true]


def test_arx_s_age_tree(data: Path) -> None:
    """20 leaves of ARX's published tree lie outside; 100 has no label that holds it."""
    file = data / "adult" / "hierarchies" / "adult_hierarchy_age.csv"
    found = check_hierarchies([file], fix=True, output="age.csv")[0]
    assert (found.outside, found.moved, found.below_star) == (20, 20, 1)
    assert found.outside_rows == list(range(5, 101, 5))
    better = read_hierarchy("age.csv", "age")
    assert not leaves_outside(better).any()
    rows = {line.split(";")[0]: line for line in Path("age.csv").read_text().splitlines()}
    assert rows["20"] == "20;20-24;20-29;20-39;*"
    assert rows["100"] == "100;*;*;*;*"
    assert rows["21"] == "21;20-24;20-29;20-39;*"


def test_the_command_in_place_and_a_second_time() -> None:
    Path("age.csv").write_text("\n".join(";".join(row) for row in ROWS))

    def run(*more: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "shoal", "hierarchy", "check", "age.csv", *more]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    assert run().returncode == 1
    done = run("--fix")
    assert (done.returncode, "1 leaf moved" in done.stdout) == (0, True), done.stderr
    assert Path("age.csv.orig").read_text().splitlines()[1] == "20;15-19;*"
    assert Path("age.csv").read_text().splitlines()[1] == "20;20-24;*"
    assert run().returncode == 0
    shoal.release(shoal.anonymize(PEOPLE, POLICY, method="lattice", hierarchies={"age": "age.csv"}), "out.csv")


def test_a_node_takes_its_path_along() -> None:
    found = fixed(tree(["19", "20", "21"], ["15-19", "15-19", "20-24"], ["young", "young", "old"]))
    assert [level.to_list()[1] for level in found.tree.levels] == ["20", "20-24", "old", "*"]


def test_what_cannot_be_fixed_is_said() -> None:
    with pytest.raises(InputError, match="cannot be fixed"):
        fixed(tree(["21", "24", "25"], ["20-24", "20-24", "25-29"], ["20-22", "20-22", "23-29"]))


@given(st.lists(st.integers(0, 39), min_size=1, max_size=20, unique=True), st.integers(0, 3))
def test_fixed_trees_are_true(ages: list[int], shift: int) -> None:
    def label(age: int, width: int) -> str:
        low = (age + shift) // width * width
        return f"{low}-{low + width - 1}"

    texts = [str(age) for age in ages]
    made = tree(texts, [label(age, 5) for age in ages], [label(age, 20) for age in ages])
    assert not leaves_outside(fixed(made).tree).any()
    assert fixed(made).tree.levels[0].to_list() == texts


@pytest.mark.parametrize(
    ("low", "high"),
    [
        ("20–24", "25–29"), ("20 to 24", "25 to 29"), ("20..24", "25..29"), ("<25", ">=25"), ("under 25", "25+"),
        ("≤24", "≥25"), ("[20, 25)", "[25, 30)"), ("[20;25[", "[25;30["),
        ("{20, 21, 22, 23, 24}", "{25, 26, 27, 28, 29}"),
        ("[20, 21, 22, 23, 24]", "[25, 26, 27, 28, 29]"), ("up to 24", "25 and over"),
    ],
)  # fmt: skip
def test_ranges_in_any_writing_are_read(low: str, high: str) -> None:
    """Swapped labels were certified once in every writing but shoal's own."""
    leaves = [str(age) for age in range(20, 30)]
    right = [low] * 5 + [high] * 5
    assert not leaves_outside(Hierarchy("age", tuple(map(pl.Series, (leaves, right, ["*"] * 10))))).any()
    swapped = [high] * 5 + [low] * 5
    assert leaves_outside(Hierarchy("age", tuple(map(pl.Series, (leaves, swapped, ["*"] * 10))))).all()
