"""Hierarchies that people give: read, refused with rows, written and read again."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import InputError
from shoal.ranges.hierarchy import Hierarchy, HierarchyError, read_hierarchies, read_hierarchy
from shoal.ranges.hierarchy.tree import MOST_PROBLEMS


def lists(hierarchy: Hierarchy) -> list[list[str]]:
    return [level.to_list() for level in hierarchy.levels]


def written(folder: Path, text: str, name: str = "town.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def refused(path: Path) -> list[str]:
    with pytest.raises(HierarchyError) as caught:
        read_hierarchy(path)
    return [text for _, text in caught.value.problems]


def test_rows_are_leaves_and_columns_are_levels(tmp_path: Path) -> None:
    tree = read_hierarchy(written(tmp_path, "\ufeffLyon;FR;*\nRome;IT;*\n\nNice;FR;*\n"))
    assert tree.column == "town"
    assert lists(tree) == [["Lyon", "Rome", "Nice"], ["FR", "IT", "FR"], ["*", "*", "*"]]
    assert tree.source == "given"
    assert (tree.height, tree.leaves) == (3, 3)


def test_a_missing_top_is_added_and_a_quoted_cell_keeps_its_semicolon(tmp_path: Path) -> None:
    tree = read_hierarchy(written(tmp_path, '17;"[15;19]"\n21;"[20;24]"\n'), "age")
    assert lists(tree) == [["17", "21"], ["[15;19]", "[20;24]"], ["*", "*"]]
    assert lists(read_hierarchy(written(tmp_path, "a\nb\n"))) == [["a", "b"], ["*", "*"]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ["it is empty"]),
        ("\n\n", ["it is empty"]),
        ("a;x;*\nb;x;*\na;y;*\n", ["the leaf of row 3 is given in row 1 already"]),
        ("a;x;*\nb;x\na;y;*\n", ["row 2 has 2 cells, others 3", "the leaf of row 3 is given in row 1 already"]),
        ("a;x;p\nb;x;q\nc;y;q\n", ["levels 1 and 2 cross: a node of level 1 has two parents (rows 1 and 2)"]),
        ("a;x;p\nb;y;p\nc;x;q\n\nd;y;q\n", [
            "levels 1 and 2 cross: a node of level 1 has two parents (rows 1 and 3)",
            "levels 1 and 2 cross: a node of level 1 has two parents (rows 2 and 5)",
        ]),
        ("a;x;p\nb;x;q\nc;z;r\n", ["level 2 is finer than level 1 (rows 1 and 2): exchange them"]),
        ("a;*;x\nb;y;x\n", ["`*` of level 1 stands below another label (row 1)"]),
        ("a;;*\nb;y;*\n", ["row 1 has an empty label"]),
        ("a,x,*\nb,y,*\n", ["its cells are not separated by `;`"]),
        ('a;"x\nb;y\n', ["it cannot be read as CSV: a quote is not closed, or a cell is endless"]),
    ],
)  # fmt: skip
def test_what_is_no_tree_is_refused_by_row(tmp_path: Path, text: str, expected: list[str]) -> None:
    assert refused(written(tmp_path, text)) == expected


def test_all_problems_come_at_once_and_none_shows_a_label(tmp_path: Path) -> None:
    text = "".join(f"secret{i};x{i % 3};*\n" for i in range(30)) * 2 + "other;x0;p\n"
    with pytest.raises(HierarchyError) as caught:
        read_hierarchy(written(tmp_path, text))
    assert len(caught.value.problems) == 31
    assert "secret" not in str(caught.value)
    assert str(caught.value).count("town.csv") == MOST_PROBLEMS
    assert "and 11 more problems" in str(caught.value)


def test_a_folder_gives_each_column_its_file(tmp_path: Path) -> None:
    written(tmp_path, "a;*\n", "sex.csv")
    written(tmp_path, "1;*\n", "my_age.csv")
    written(tmp_path, "Europe: [Rome]\n", "town.yaml")
    found = read_hierarchies(tmp_path, ["age", "sex", "town", "none"])
    assert list(found) == ["age", "sex", "town"]
    assert lists(found["town"]) == [["Rome"], ["Europe"], ["*"]]


def test_two_files_for_a_column_and_broken_files_are_one_error(tmp_path: Path) -> None:
    written(tmp_path, "a;*\n", "sex.csv")
    written(tmp_path, "a;*\n", "x_sex.csv")
    written(tmp_path, "1;*\n1;*\n", "age.csv")
    with pytest.raises(HierarchyError) as caught:
        read_hierarchies(tmp_path, ["sex", "age"])
    assert "sex.csv and x_sex.csv could both be its hierarchy" in str(caught.value)
    assert "age.csv: the leaf of row 2 is given in row 1 already" in str(caught.value)


def test_files_that_are_not_there_or_no_text(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no hierarchy"):
        read_hierarchy(tmp_path / "town.csv")
    with pytest.raises(InputError, match="no folder"):
        read_hierarchies(tmp_path / "none", ["age"])
    with pytest.raises(InputError, match="is not a hierarchy"):
        read_hierarchy(written(tmp_path, "a", "town.txt"))
    (tmp_path / "town.csv").write_bytes(b"a;\xff\xfe\n")
    assert refused(tmp_path / "town.csv") == ["it is not UTF-8 text: save it as UTF-8"]


def test_nested_yaml_repeats_a_leaf_that_stands_higher(tmp_path: Path) -> None:
    text = "Europe: [Italy, France: [Paris, Nice]]\nAsia:\n  Japan: [Tokyo]\n  Macau:\n"
    tree = read_hierarchy(written(tmp_path, text, "place.yml"))
    assert lists(tree) == [
        ["Italy", "Paris", "Nice", "Tokyo", "Macau"],
        ["Italy", "France", "France", "Japan", "Macau"],
        ["Europe", "Europe", "Europe", "Asia", "Asia"],
        ["*"] * 5,
    ]


def test_yaml_words_stay_the_text_that_was_written(tmp_path: Path) -> None:
    tree = read_hierarchy(written(tmp_path, '"*": {Yes: [No, 017, 1.0], null: [2020-01-31]}\n', "x.yaml"))
    assert lists(tree)[:2] == [["No", "017", "1.0", "2020-01-31"], ["Yes", "Yes", "Yes", "null"]]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "it is empty"),
        ("a: [b", "line 1: this is not YAML"),
        ("a: &x [b]\nc: *x\n", r"line 2: write it out, references (*name) are not read"),
        ("a: [b,\n  c, b]\n", "the leaf of line 2 is given in line 1 already"),
        ("a: {x: [1]}\nb: {x: [2]}\n", "levels 1 and 2 cross: a node of level 1 has two parents (lines 1 and 2)"),
        ("a:\n-\n", "line 2 has an empty leaf"),
        ("? [a]\n: b\n", "line 1: a node is a text"),
        ("[" * 1100 + "]" * 1100, "this is not YAML"),
    ],
)
def test_yaml_that_is_no_tree(tmp_path: Path, text: str, problem: str) -> None:
    assert refused(written(tmp_path, text, "x.yaml")) == [problem]


labels = st.text(
    st.characters(codec="utf-8", exclude_characters="\0\ufeff") | st.sampled_from('";\r\n'), min_size=1, max_size=6
)


@st.composite
def trees(draw: st.DrawFn) -> Hierarchy:
    """Random trees: nodes of each level dealt to nodes of the next, labels told apart by level and number."""
    leaves = draw(st.lists(labels.filter(lambda text: text != "*"), min_size=1, max_size=12, unique=True))
    levels, nodes = [pl.Series(leaves)], list(leaves)
    for level in range(draw(st.integers(0, 3))):
        parent = {node: draw(st.integers(0, 3)) for node in dict.fromkeys(nodes)}
        lone = draw(st.booleans())  # a node without siblings may keep its name
        count = {p: sum(q == p for q in parent.values()) for p in parent.values()}
        nodes = [
            "*" if node == "*" else node if lone and count[parent[node]] == 1 else f"{level}:{parent[node]}"
            for node in nodes
        ]
        if draw(st.booleans()) and level:
            nodes = ["*" if node.endswith(":0") else node for node in nodes]
        levels.append(pl.Series(nodes))
    try:
        return Hierarchy("c", (*levels, pl.Series(["*"] * len(leaves))))
    except HierarchyError:
        return Hierarchy("c", (levels[0], pl.Series(["*"] * len(leaves))))


@given(trees(), st.sampled_from(["csv", "yaml"]))
def test_what_is_written_reads_as_the_same_tree(
    tmp_path_factory: pytest.TempPathFactory, tree: Hierarchy, to: str
) -> None:
    path = tmp_path_factory.mktemp("tree") / f"c.{to}"
    tree.to_csv(path) if to == "csv" else tree.to_yaml(path)
    again = read_hierarchy(path)
    # YAML keeps nodes together, so leaves may come in another order
    assert sorted(zip(*lists(again), strict=True)) == sorted(zip(*lists(tree), strict=True))
    if to == "csv":
        assert lists(again) == lists(tree)


@given(trees())
def test_every_node_is_one_range_of_leaves(tree: Hierarchy) -> None:
    place = {int(leaf): place for place, leaf in enumerate(tree.leaf_order)}
    assert sorted(place) == list(range(tree.leaves))
    for level in range(tree.height):
        codes, names = tree.node_codes(level), tree.labels(level)
        low, high = tree.leaf_ranges(level)
        assert [names[code] for code in codes] == tree.levels[level].to_list()
        for node, name in enumerate(names):
            places = sorted(place[leaf] for leaf in range(tree.leaves) if codes[leaf] == node)
            whole = level and name == "*"
            assert (low[node], high[node]) == ((0, tree.leaves - 1) if whole else (places[0], places[-1]))
            assert places == list(range(places[0], places[-1] + 1))
            expected = 1 if whole else len(places) / tree.leaves
            assert {float(share) for share, code in zip(tree.shares(level), codes, strict=True) if code == node} == {
                expected
            }
    assert tree.labels(tree.height - 1) == ["*"]


def test_a_tree_made_in_python_is_checked_too() -> None:
    with pytest.raises(HierarchyError, match="the last level is not"):
        Hierarchy("c", (pl.Series(["a"]), pl.Series(["x"])))
    with pytest.raises(HierarchyError, match="not texts for the same leaves"):
        Hierarchy("c", (pl.Series(["a", "b"]), pl.Series(["*"])))
    with pytest.raises(HierarchyError, match="row 2 is given in row 1"):
        Hierarchy("c", (pl.Series(["a", "a"]), pl.Series(["*", "*"])))
