"""Recoding: Table 1 of Pastore et al., tables checked by hand, a slow version beside the fast one, laws."""

from __future__ import annotations

import datetime
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import InputError
from shoal.methods.recode import (
    Chunks,
    ColumnRecoding,
    Constant,
    Election,
    Labeller,
    Mapped,
    NeighbourRuns,
    Recoded,
    RecodingFigures,
    Strategy,
    best_of,
    elect,
    every_combination,
    recode,
    tree_levels,
)
from shoal.storage.reading import read
from shoal.storage.rows import Rows


def rows_of(data: dict[str, list[Any]], count: str | None = None) -> Rows:
    return Rows.of(read(data), [name for name in data if name != count], count)


def labels_of(values: list[Any], labelling: Labeller, dtype: Any = None) -> list[str | None]:
    """A column after its recoding, row by row."""
    rows = Rows.of(read(pl.DataFrame({"x": pl.Series(values, dtype=dtype)})), ["x"])
    return texts(recode(rows, Strategy([ColumnRecoding("x", labelling)])))["x"]


def texts(recoded: Recoded) -> dict[str, list[Any]]:
    return {column.name: column.decode().to_list() for column in recoded.columns}


# Table 1 of Pastore et al.

YEAR, TOWN, SEX = QUASI_IDENTIFIERS = ["anno_nascita", "comune_residenza", "sesso"]


@pytest.fixture(scope="module")
def aosta(data: Path) -> tuple[Rows, int]:
    table = read(data / "italy" / "valle_aosta_qid_counts.parquet")
    return Rows.of(table, QUASI_IDENTIFIERS, "n").without_nulls("drop")


@pytest.fixture(scope="module")
def provinces(data: Path) -> Mapped:
    return tree_levels(pl.read_csv(data / "italy" / "provinces.csv"))[0]


@pytest.fixture(scope="module")
def table_1(aosta: tuple[Rows, int], provinces: Mapped) -> Election:
    sex, town = Constant(" "), provinces
    whole = {
        "S": ColumnRecoding(SEX, sex),
        "M": ColumnRecoding(TOWN, town),
        "Y_ran": ColumnRecoding(YEAR, NeighbourRuns(4)),
        "Y_avg": ColumnRecoding(YEAR, Chunks(4)),
    }
    local = {"S_loc": ColumnRecoding(SEX, sex, below=2), "M_loc": ColumnRecoding(TOWN, town, below=2)}
    strategies = {"original": Strategy(), **every_combination(local), **every_combination(whole)}
    return elect(aosta[0], strategies, removed_rows=aosta[1])


def test_every_cell_of_table_1_for_valle_d_aosta(data: Path, table_1: Election) -> None:
    cells = json.loads((data / "golden" / "pastore_valle_aosta.json").read_text())["cells"]
    checked: Counter[str] = Counter()
    for cell in cells:
        name = cell["strategy"].replace("S,M_loc", "S_loc,M_loc").replace(",", "+")
        figures = table_1.figures[name]
        ours = {
            "size": figures.records,
            "#S": figures.uniques,
            "MR": figures.modified_rows,
            "DV": figures.classes,
            "%S": 100 * figures.uniqueness,
            "original_size(repo)": figures.records + figures.removed_rows,
            "removed(repo)": figures.removed_rows,
        }[cell["metric"]]
        digits = 2 if name in {"original", "S"} else 4
        assert round(ours, digits) == cell["ours"], (name, cell["metric"])
        checked[name] += 1
    assert set(checked) == set(table_1.figures)
    assert (len(checked), checked.total()) == (15, 62)


def test_the_original_is_not_modified(table_1: Election) -> None:
    assert table_1.figures["original"] == RecodingFigures(87_464, 1684, 9174, 1, 0, 178)


def test_the_best_of_table_1(table_1: Election) -> None:
    """Four strategies leave no unique; of these M with Y_avg changes fewest rows."""
    assert table_1.best == "M+Y_avg"
    assert table_1.recoded.figures == table_1.figures["M+Y_avg"]
    year = table_1.recoded.columns[0]
    assert year.values.to_list() == ["1946", "1962", "1973", "1988"]


def test_runs_of_years_of_valle_d_aosta(aosta: tuple[Rows, int]) -> None:
    year = recode(aosta[0], Strategy([ColumnRecoding(YEAR, NeighbourRuns(4))])).columns[0].values.to_list()
    assert (len(year), year[0], year[-1]) == (22, "[1918;1922]", "[2003;2003]")


def test_orders_and_kinds_of_combination(aosta: tuple[Rows, int], provinces: Mapped) -> None:
    """The specification's figures for what the table does not print: both at once, and town before sex."""
    sex, town = ColumnRecoding(SEX, Constant(" "), below=2), ColumnRecoding(TOWN, provinces, below=2)
    at_once = recode(aosta[0], Strategy([sex, town], sequential=False)).figures
    assert (at_once.uniques, at_once.modified_rows, at_once.classes) == (1, 1684, 7575)
    assert recode(aosta[0], Strategy([town, sex])).figures.uniques == 4


def test_counts_of_valle_d_aosta_equal_repeated_rows(
    aosta: tuple[Rows, int], provinces: Mapped, table_1: Election
) -> None:
    counts = aosta[0]
    assert counts.weights is not None
    repeated = Rows(counts.take(np.repeat(np.arange(counts.count), counts.weights)).columns)
    sex, town = ColumnRecoding(SEX, Constant(" "), below=2), ColumnRecoding(TOWN, provinces, below=2)
    assert recode(repeated, Strategy([sex, town]), removed_rows=178).figures == table_1.figures["S_loc+M_loc"]
    averaged = recode(repeated, Strategy([ColumnRecoding(YEAR, Chunks(4))]), removed_rows=178)
    assert averaged.figures == table_1.figures["Y_avg"]


# labels, checked by hand


def test_runs_skip_gaps_and_end_short() -> None:
    assert labels_of([5, 1, 2, 9, 5], NeighbourRuns(2)) == ["[5;9]", "[1;2]", "[1;2]", "[5;9]", "[5;9]"]
    assert labels_of([1, 2, 9], NeighbourRuns(2)) == ["[1;2]", "[1;2]", "[9;9]"]
    assert labels_of([1, 2, 9], NeighbourRuns(5)) == ["[1;9]"] * 3


def test_mean_and_median_of_a_run_are_of_its_records() -> None:
    """Records 1 1 1 5 | 6 9: means 2 and 7.5; medians the rows 1 1 [1] 5 and [6] 9."""
    values = [1, 1, 1, 5, 6, 9]
    assert labels_of(values, NeighbourRuns(2, "mean")) == ["2"] * 4 + ["7.5"] * 2
    assert labels_of(values, NeighbourRuns(2, "median")) == ["1"] * 4 + ["6"] * 2


def test_a_value_joins_the_first_chunk_that_holds_it() -> None:
    """Chunks 1 2 2 2 | 2 2 3 4: all 2s join the first; the second's middle row is still the third of its four."""
    values = [1, 2, 2, 2, 2, 2, 3, 4]
    assert labels_of(values, Chunks(2, "interval")) == ["[1;2]"] * 6 + ["[3;4]"] * 2
    assert labels_of(values, Chunks(2, "median")) == ["2"] * 6 + ["3"] * 2
    assert labels_of(values, Chunks(2, "mean")) == [str(11 / 6)] * 6 + ["3.5"] * 2


def test_chunks_where_the_rows_do_not_divide() -> None:
    """floor(i*5/2): two rows, then three."""
    assert labels_of([1, 2, 3, 4, 5], Chunks(2, "interval")) == ["[1;2]"] * 2 + ["[3;5]"] * 3
    assert labels_of([1, 2, 3], Chunks(9, "interval")) == ["[1;1]", "[2;2]", "[3;3]"]
    assert labels_of([7, 7, 7, 7], Chunks(4, "interval")) == ["[7;7]"] * 4


def test_dates_fractions_and_whole_floats() -> None:
    days = [datetime.date(2020, 1, 1), datetime.date(2020, 2, 1)]
    assert labels_of(days, NeighbourRuns(2)) == ["[2020-01-01;2020-02-01]"] * 2
    assert labels_of(days, NeighbourRuns(2, "median"))[0] == "2020-01-01"
    assert labels_of([0.5, 1.25], NeighbourRuns(2)) == ["[0.5;1.25]"] * 2
    assert labels_of([1918.0, 1920.0, None], NeighbourRuns(2)) == ["[1918;1920]", "[1918;1920]", None]


def test_text_by_its_order() -> None:
    sizes = ["small", "large", "medium", "small"]
    order = ["small", "medium", "large"]
    assert labels_of(sizes, NeighbourRuns(2, order=order)) == [
        "[small;medium]",
        "[large;large]",
        "[small;medium]",
        "[small;medium]",
    ]
    assert labels_of(sizes, NeighbourRuns(2), pl.Enum(order))[0] == "[small;medium]"
    assert labels_of(sizes, Chunks(2, order=order)) == ["small", "medium", "medium", "small"]


def test_null_stays_null_but_in_a_constant_or_a_map_that_names_it() -> None:
    assert labels_of([1, None, 2], NeighbourRuns(2)) == ["[1;2]", None, "[1;2]"]
    assert labels_of([1, None, 2], Chunks(1)) == ["1", None, "1"]
    assert labels_of(["a", None], Mapped({"a": "A"})) == ["A", None]
    assert labels_of(["a", None], Mapped({"a": "A", None: "unknown"})) == ["A", "unknown"]
    assert labels_of(["a", None], Constant()) == ["*", "*"]
    assert labels_of([None, None], NeighbourRuns(2), pl.Int64) == [None, None]


def test_keys_of_a_map_are_compared_as_text() -> None:
    assert labels_of([1, 2], Mapped({"1": 10, "2": 20})) == ["10", "20"]
    assert labels_of(["1", "2"], Mapped({1: "x", 2: "y"})) == ["x", "y"]
    assert labels_of([1.0, 2.0], Mapped({1: "x", "2": "y"})) == ["x", "y"]
    assert labels_of([True, False], Mapped({True: "x", False: "y"})) == ["x", "y"]


@pytest.mark.parametrize("kind", [pl.DataFrame, pd.DataFrame])
def test_trees_from_frames_and_from_maps(kind: Any) -> None:
    frame = kind({"leaf": ["a", "b", "c"], "level1": ["x", "x", "y"], "level2": ["*", "*", "*"]})
    maps = [{"a": "x", "b": "x", "c": "y"}, {"x": "*", "y": "*"}]
    assert tree_levels(frame) == tree_levels(maps)
    assert [labels_of(["a", "b", "c"], level) for level in tree_levels(frame)] == [["x", "x", "y"], ["*"] * 3]


# strategies, checked by hand


def test_local_recoding_falls_together_with_what_stays() -> None:
    """ALLEIN is alone; as AOSTA it joins the town of that name, whose rows are not modified."""
    rows = rows_of({"town": ["AOSTA", "AOSTA", "ALLEIN"], "age": [40, 40, 40]})
    province = Mapped({"AOSTA": "AOSTA", "ALLEIN": "AOSTA"})
    for below in (None, 2):
        recoded = recode(rows, Strategy([ColumnRecoding("town", province, below)]))
        assert recoded.figures == RecodingFigures(records=3, uniques=0, classes=1, k=3, modified_rows=1)
        assert texts(recoded)["town"] == ["AOSTA"] * 3
        assert recoded.columns[1] is rows.columns[1]


def test_classes_under_k() -> None:
    """Classes a x1, b x2, c x3: under three are a and b."""
    rows = rows_of({"x": ["a", "b", "b", "c", "c", "c"]})
    recoded = recode(rows, Strategy([ColumnRecoding("x", Constant(), below=3)]))
    assert texts(recoded)["x"] == ["*", "*", "*", "c", "c", "c"]
    assert recoded.figures == RecodingFigures(6, 0, 2, 3, 3)


def test_sequential_counts_anew_before_each_step() -> None:
    """Without sex the first two are alike, so only the third still loses its town; at once all three do."""
    rows = rows_of({"town": ["A", "A", "B"], "sex": ["f", "m", "f"]})
    steps = [ColumnRecoding("sex", Constant(), below=2), ColumnRecoding("town", Constant("?"), below=2)]
    assert texts(recode(rows, Strategy(steps)))["town"] == ["A", "A", "?"]
    at_once = recode(rows, Strategy(steps, sequential=False))
    assert texts(at_once)["town"] == ["?", "?", "?"]
    assert at_once.figures.k == 3


def test_a_tree_climbed_only_as_far_as_needed() -> None:
    """a and b meet at level 1 as x; c is alone there as y and climbs on."""
    rows = rows_of({"x": ["a", "b", "c", "d", "d"]})
    levels = tree_levels(pl.DataFrame({"leaf": list("abcd"), "level1": list("xxyy"), "level2": ["*"] * 4}))
    climb = Strategy([ColumnRecoding("x", level, below=2) for level in levels])
    assert texts(recode(rows, climb))["x"] == ["x", "x", "*", "d", "d"]


def test_quasi_identifiers_are_what_is_counted_not_what_is_recoded() -> None:
    rows = rows_of({"age": [1, 1, 2], "note": ["p", "q", "r"]})
    recoded = recode(rows, Strategy([ColumnRecoding("note", Constant(), below=2)]), ["age"])
    assert texts(recoded)["note"] == ["p", "q", "*"]
    assert (recoded.figures.classes, recoded.figures.modified_rows) == (2, 1)


def test_only_values_that_occur_need_a_label_and_are_left() -> None:
    rows = rows_of({"x": ["a", "b", "c"]}).take(np.array([0, 1]))
    recoded = recode(rows, Strategy([ColumnRecoding("x", Mapped({"a": "A", "b": "b"}))]))
    assert recoded.columns[0].values.to_list() == ["A", "b"]
    years = rows_of({"x": [1, 2, 3]}).take(np.array([0, 2]))
    assert texts(recode(years, Strategy([ColumnRecoding("x", NeighbourRuns(2))])))["x"] == ["[1;3]", "[1;3]"]


def test_a_column_that_keeps_its_values_keeps_its_type() -> None:
    rows = rows_of({"x": [1, 1, 2, 2]})
    assert recode(rows, Strategy([ColumnRecoding("x", Constant(), below=2)])).columns[0] is rows.columns[0]
    assert recode(rows, Strategy([ColumnRecoding("x", Mapped({1: 1, 2: 2}))])).columns[0].dtype == pl.Int64


def test_election_uniques_then_affected_rows_then_order() -> None:
    measured = {
        "many": RecodingFigures(10, 5, 10, 1, 0),
        "removed": RecodingFigures(8, 0, 3, 2, 3, 2),
        "modified": RecodingFigures(10, 0, 3, 2, 4),
        "later": RecodingFigures(10, 0, 3, 2, 4),
    }
    assert best_of(measured) == "modified"


def test_election_ignores_columns_that_nobody_asked_for() -> None:
    rows = rows_of({"x": ["a", "b", "b"], "row": [1, 2, 3]})
    found = elect(rows, {"nothing": Strategy(), "star": Strategy([ColumnRecoding("x", Constant())])}, ["x"])
    assert found.best == "star"
    assert found.recoded.columns[1] is rows.columns[1]


# bad input


def test_all_missing_values_are_counted_and_none_is_shown() -> None:
    rows = rows_of({"town": ["SECRET1", "SECRET2", "ok"], "size": ["SECRET3", "s", "m"]})
    steps = [ColumnRecoding("town", Mapped({"ok": "fine"})), ColumnRecoding("size", NeighbourRuns(2, order=["s", "m"]))]
    with pytest.raises(InputError) as caught:
        recode(rows, Strategy(steps))
    message = str(caught.value)
    assert "column 'town' misses 2 of its 3 values" in message
    assert "column 'size' misses 1 of its 3 values" in message
    assert "SECRET" not in message + repr(steps)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: NeighbourRuns(0), "Use 1 or more"),
        (lambda: Chunks(0), "Use 1 or more"),
        (lambda: NeighbourRuns(2, "mode"), "Use one of interval, mean, median"),  # type: ignore[arg-type]
        (lambda: ColumnRecoding("x", Constant(), below=1), "Use 2 or more"),
        (lambda: labels_of(["a"], NeighbourRuns(2)), "holds text"),
        (lambda: labels_of(["a"], NeighbourRuns(2, "mean", ["a"])), "no mean"),
        (lambda: labels_of(["a"], Mapped({"a": None})), "misses 1 of its 1 values"),
        (lambda: labels_of(["a"], Mapped({})), "misses 1 of its 1 values"),
        (lambda: tree_levels([]), "no level"),
        (lambda: tree_levels(pl.DataFrame({"leaf": ["a"]})), "no level"),
        (lambda: tree_levels(pl.DataFrame({"leaf": ["a", "a"], "level1": ["x", "y"]})), "places 1 values twice"),
        (lambda: tree_levels([{"a": "x", "b": "y"}, {"x": "z"}]), "Level 2 of the hierarchy misses 1 labels"),
        (lambda: recode(rows_of({"x": [1]}), Strategy([ColumnRecoding("xx", Constant())])), "no column 'xx'"),
        (lambda: recode(rows_of({"x": [1]}), Strategy(), ["y"]), "no column 'y'"),
        (lambda: recode(rows_of({"x": [1]}), Strategy(), []), "no quasi-identifier"),
        (lambda: elect(rows_of({"x": [1]}), {}), "no strategy"),
        (lambda: recode(Rows.of(read({"x": [1], "who": [1]}), ["x"], person="who"), Strategy()), "not persons"),
    ],
)
def test_what_cannot_be_done_is_refused(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()


# laws, and a slow version

VALUES = {"x": [*"abcd", None], "y": [1, 2, 3, 5, 8, None]}
LABELLINGS: dict[str, list[Labeller]] = {
    "x": [Constant(), Mapped(dict(zip("abcd", "aabb", strict=True))), NeighbourRuns(2, order="dcba")],
    "y": [
        Constant("5"),
        NeighbourRuns(2),
        NeighbourRuns(3, "mean"),
        NeighbourRuns(2, "median"),
        Chunks(3),
        Chunks(2, "interval"),
    ],
}

tables = st.lists(st.tuples(st.sampled_from(VALUES["x"]), st.sampled_from(VALUES["y"])), min_size=1, max_size=25)
recodings = st.sampled_from("xy").flatmap(
    lambda name: st.builds(
        ColumnRecoding, st.just(name), st.sampled_from(LABELLINGS[name]), st.sampled_from([None, 2, 2, 3, 4])
    )
)
strategies = st.builds(Strategy, st.lists(recodings, max_size=3), st.booleans())


def rows_of_tuples(tuples: list[tuple[Any, Any]]) -> Rows:
    schema = {"x": pl.String, "y": pl.Int64}
    return Rows.of(read(pl.DataFrame(tuples, schema=schema, orient="row")), ["x", "y"])


def as_text(value: Any) -> str | None:
    return None if value is None else str(value)


def slow_recode(tuples: list[tuple[Any, Any]], strategy: Strategy) -> list[tuple[str | None, ...]]:
    """Row by row, from the labels of each value."""
    rows = rows_of_tuples(tuples)
    original = [tuple(as_text(value) for value in row) for row in tuples]
    now = list(original)
    for step in strategy.steps:
        place = ["x", "y"].index(step.column)
        column = rows.columns[place]
        held = [row[place] for row in tuples]
        found = step.labelling.labels(column, np.array([held.count(value) for value in column.values], np.int64))
        label = dict(zip([*column.values.to_list(), None], found.to_list(), strict=True))
        sizes = Counter(now if strategy.sequential else original)
        counted = list(now if strategy.sequential else original)
        for index, row in enumerate(now):
            if step.below is None or sizes[counted[index]] < step.below:
                new = list(row)
                new[place] = label[held[index]]
                now[index] = tuple(new)
    return now


def released(recoded: Recoded) -> list[tuple[str | None, ...]]:
    columns = [[as_text(value) for value in column.decode()] for column in recoded.columns]
    return list(zip(*columns, strict=True))


@given(st.lists(st.integers(0, 12), min_size=1, max_size=40), st.integers(1, 6))
def test_runs_and_chunks_as_the_specification_tells_them(values: list[int], number: int) -> None:
    distinct = sorted(set(values))
    runs = [distinct[start : start + number] for start in range(0, len(distinct), number)]
    interval = {value: f"[{run[0]};{run[-1]}]" for run in runs for value in run}
    assert labels_of(values, NeighbourRuns(number)) == [interval[value] for value in values]

    ordered, size = sorted(values), len(values)
    median: dict[int, str] = {}
    for index in range(number):
        chunk = ordered[index * size // number : (index + 1) * size // number]
        half = len(chunk) / 2
        for value in chunk:
            median.setdefault(value, str(chunk[int(half - 0.5)] if half % 2 != 0 else chunk[int(half)]))
    # a column whose values all stay keeps its numbers
    assert [str(label) for label in labels_of(values, Chunks(number))] == [median[value] for value in values]


@given(tables, strategies)
def test_the_same_as_row_by_row(tuples: list[tuple[Any, Any]], strategy: Strategy) -> None:
    recoded = recode(rows_of_tuples(tuples), strategy)
    expected = slow_recode(tuples, strategy)
    assert released(recoded) == expected
    sizes = Counter(expected).values()
    original = [tuple(as_text(value) for value in row) for row in tuples]
    assert recoded.figures == RecodingFigures(
        records=len(tuples),
        uniques=sum(size == 1 for size in sizes),
        classes=len(sizes),
        k=min(sizes),
        modified_rows=sum(new != old for new, old in zip(expected, original, strict=True)),
    )


@given(tables, strategies)
def test_recoding_never_lowers_k_nor_raises_uniques(tuples: list[tuple[Any, Any]], strategy: Strategy) -> None:
    """Rows that are equal are recoded alike, so that classes can only merge."""
    rows = rows_of_tuples(tuples)
    before, after = recode(rows, Strategy()).figures, recode(rows, strategy).figures
    assert after.k >= before.k
    assert after.uniques <= before.uniques
    assert after.classes <= before.classes


@given(tables, recodings)
def test_local_recoding_touches_only_the_chosen_rows(tuples: list[tuple[Any, Any]], step: ColumnRecoding) -> None:
    sizes = Counter(tuples)
    recoded = released(recode(rows_of_tuples(tuples), Strategy([step])))
    other = 1 - ["x", "y"].index(step.column)
    for row, new in zip(tuples, recoded, strict=True):
        assert new[other] == as_text(row[other])
        if step.below is not None and sizes[row] >= step.below:
            assert new == tuple(as_text(value) for value in row)


@given(tables, strategies, st.randoms())
def test_the_order_of_rows_changes_nothing(tuples: list[tuple[Any, Any]], strategy: Strategy, random: Any) -> None:
    order = list(range(len(tuples)))
    random.shuffle(order)
    straight = recode(rows_of_tuples(tuples), strategy)
    shuffled = recode(rows_of_tuples([tuples[place] for place in order]), strategy)
    assert shuffled.figures == straight.figures
    assert released(shuffled) == [released(straight)[place] for place in order]


@given(tables, strategies, st.lists(st.integers(1, 4), min_size=25, max_size=25))
def test_counts_equal_repeated_rows(tuples: list[tuple[Any, Any]], strategy: Strategy, counts: list[int]) -> None:
    once = rows_of_tuples(tuples)
    weights = np.array(counts[: len(tuples)])
    repeated = once.take(np.repeat(np.arange(len(tuples)), weights))
    by_counts, by_rows = recode(Rows(once.columns, weights), strategy), recode(repeated, strategy)
    assert by_counts.figures == by_rows.figures
    assert np.repeat(np.array(released(by_counts), object), weights, axis=0).tolist() == list(
        map(list, released(by_rows))
    )


@given(tables, st.lists(strategies, min_size=1, max_size=4))
def test_an_election_measures_what_recoding_gives(tuples: list[tuple[Any, Any]], chosen: list[Strategy]) -> None:
    rows = rows_of_tuples(tuples)
    named = {str(number): strategy for number, strategy in enumerate(chosen)}
    found = elect(rows, named)
    assert found.figures == {name: recode(rows, strategy).figures for name, strategy in named.items()}
    assert found.recoded.figures == found.figures[found.best]
    cost = {name: (figures.uniques, figures.affected_rows, int(name)) for name, figures in found.figures.items()}
    assert found.best == min(cost, key=lambda name: cost[name])
