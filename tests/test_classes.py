"""The kernel against plain counting."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import brute
from shoal.storage import classes as kernel
from shoal.storage.classes import (
    MANY,
    Coded,
    CountTable,
    class_of_each_person,
    class_of_each_row,
    class_sizes,
    order_of_words,
    pack,
    sensitive_counts,
)


@st.composite
def coded_columns(draw: st.DrawFn, most_rows: int = 40) -> list[Coded]:
    """Columns of any cardinality, small and past every word size."""
    rows = draw(st.integers(1, most_rows))
    columns = []
    for _ in range(draw(st.integers(1, 8))):
        cardinality = draw(st.sampled_from([1, 2, 3, 7, 256, 257, 70_000, 2**31, 2**40]))
        few = draw(st.lists(st.integers(0, cardinality - 1), min_size=1, max_size=4))
        codes = draw(st.lists(st.sampled_from(few), min_size=rows, max_size=rows))
        dtype = draw(st.sampled_from([np.min_scalar_type(cardinality - 1), np.dtype(np.int64), np.dtype(np.uint64)]))
        columns.append(Coded(np.array(codes, dtype), cardinality))
    return columns


def rows_of(columns: list[Coded]) -> list[tuple[int, ...]]:
    return list(zip(*(column.codes.tolist() for column in columns), strict=True))


@given(coded_columns())
def test_sizes_are_those_of_plain_counting(columns: list[Coded]) -> None:
    assert sorted(class_sizes(columns).tolist()) == brute.class_sizes(rows_of(columns))


@given(coded_columns(), st.data())
def test_weighted_sizes_are_those_of_plain_counting(columns: list[Coded], data: st.DataObject) -> None:
    rows = rows_of(columns)
    weights = data.draw(st.lists(st.integers(1, 2**40), min_size=len(rows), max_size=len(rows)))
    assert sorted(class_sizes(columns, np.array(weights)).tolist()) == brute.class_sizes(rows, weights)


@given(coded_columns())
def test_rows_of_one_class_are_equal_and_classes_are_numbered_without_gaps(columns: list[Coded]) -> None:
    classes, count = class_of_each_row(pack(columns))
    rows = rows_of(columns)
    assert sorted(set(classes.tolist())) == list(range(count))
    assert len(set(zip(classes.tolist(), rows, strict=True))) == count == len(set(rows))


@given(coded_columns(), st.data())
def test_roll_up_equals_counting_the_rows_again(columns: list[Coded], data: st.DataObject) -> None:
    named = {f"c{index}": column for index, column in enumerate(columns)}
    some = data.draw(st.lists(st.sampled_from(sorted(named)), min_size=1, unique=True))
    rolled, fresh = CountTable.of(named).roll_up(some), CountTable.of({name: named[name] for name in some})
    assert rolled.counts.tolist() == fresh.counts.tolist()
    assert all(rolled.tuples[name].codes.tolist() == fresh.tuples[name].codes.tolist() for name in some)
    assert fresh.records == len(columns[0].codes)


@given(coded_columns())
def test_a_count_table_holds_each_tuple_once(columns: list[Coded]) -> None:
    table = CountTable.of({f"c{index}": column for index, column in enumerate(columns)})
    tuples = list(zip(*(column.codes.tolist() for column in table.tuples.values()), strict=True))
    assert sorted(tuples) == sorted(set(rows_of(columns)))


@given(coded_columns(12), st.data())
def test_a_person_is_the_multiset_of_their_rows(columns: list[Coded], data: st.DataObject) -> None:
    rows = rows_of(columns)
    persons = data.draw(st.lists(st.integers(0, 4), min_size=len(rows), max_size=len(rows)))
    seen = sorted(set(persons))
    codes = Coded(np.array([seen.index(person) for person in persons]), len(seen))
    classes, count = class_of_each_person(*class_of_each_row(pack(columns)), codes)
    assert sorted(np.bincount(classes, minlength=count).tolist()) == brute.person_sizes(rows, persons)


def test_long_histories_differ_in_one_record() -> None:
    """Three persons with 1,000 records each, two of them alike; the order of the rows does not matter."""
    history = np.arange(1000)
    other = history.copy()
    other[500] = 501
    classes = np.concatenate([history, other, history[::-1]])
    persons = Coded(np.repeat([0, 1, 2], 1000), 3)
    found, count = class_of_each_person(classes, 1000, persons)
    assert count == 2
    assert found[0] == found[2] != found[1]


def test_sensitive_counts_are_sorted_by_class_and_code() -> None:
    found = sensitive_counts(np.array([1, 0, 1, 1]), 2, Coded(np.array([9, 3, 2, 9]), 10))
    assert list(zip(*(part.tolist() for part in found), strict=True)) == [(0, 3, 1), (1, 2, 1), (1, 9, 2)]


@pytest.mark.parametrize("columns", [65, 300])
def test_hundreds_of_columns(columns: int) -> None:
    rng = np.random.default_rng(0)
    base = rng.integers(0, 9, (50, columns))
    rows = base[rng.integers(0, 50, 2000)]
    coded = [Coded(rows[:, index].astype(np.uint8), 9) for index in range(columns)]
    assert sorted(class_sizes(coded).tolist()) == brute.class_sizes([tuple(row) for row in rows.tolist()])


def test_signed_codes_lose_no_digit_in_large_keys() -> None:
    """Past 2^53 a sum of unsigned and signed integers would go through floats."""
    high, low = Coded(np.array([2**40 - 1] * 3), 2**40), Coded(np.array([0, 1, 2]), 2**20)
    assert class_sizes([high, low]).tolist() == [1, 1, 1]


def test_one_row_and_a_constant_column() -> None:
    assert class_sizes([Coded(np.zeros(1, np.uint8), 1)]).tolist() == [1]
    assert class_sizes([Coded(np.zeros(5, np.uint8), 1), Coded(np.zeros(5, np.uint8), 1)]).tolist() == [5]


@given(
    st.lists(st.one_of(st.integers(0, 3), st.integers(2**63, 2**63 + 3), st.integers(0, 2**64 - 1)), max_size=60),
    st.booleans(),
)
def test_words_are_in_their_stable_order(keys: list[int], beside_others: bool) -> None:
    """Words that differ in their last bits only among few and among many that do not."""
    words = np.array(keys, np.uint64)
    if beside_others:
        words = np.append(words, np.random.default_rng(1).integers(0, 2**64, 1_200, dtype=np.uint64))
    assert order_of_words(words).tolist() == np.argsort(words, kind="stable").tolist()


@pytest.mark.parametrize("classes", [7, 300_000])
@pytest.mark.parametrize("bits", [32, 40, 64])
@pytest.mark.parametrize("kind", [np.uint64, np.int64, "read-only"])
def test_classes_of_many_rows_are_numbered_as_those_of_few(
    classes: int, bits: int, kind: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(bits)
    distinct = np.unique(random.integers(0, 1 << (bits - 1), classes, dtype=np.uint64))
    keys = random.choice(distinct, MANY)
    if bits == 32:
        keys = keys.astype(np.uint32)
    elif kind == "read-only":
        keys.flags.writeable = False
    else:
        keys = keys.astype(kind)
    found, count = class_of_each_row(Coded(keys, 1 << bits))
    there, numbers = np.unique(keys, return_inverse=True)
    assert count == len(there)
    assert found.dtype == np.int64
    assert np.array_equal(found, numbers)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=60), st.integers(1, 7))
def test_the_first_row_of_each_class_is_found_block_by_block(numbers: list[int], block: int) -> None:
    """Whether all classes are met in the first block or in the last."""
    _, dense = np.unique(numbers, return_inverse=True)
    classes = int(dense.max()) + 1
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel, "_BLOCK", block)
        found = kernel.first_row_of_each_class(dense, classes)
    assert found.tolist() == [dense.tolist().index(number) for number in range(classes)]


@given(st.integers(0, 2**32 - 1), st.lists(st.integers(1, 9), min_size=1, max_size=4), st.booleans())
def test_a_few_keys_are_counted_as_many_are(seed: int, radices: list[int], whole: bool) -> None:
    """A table of counts instead of sorted keys: the same tuples, of the same types, in the same order."""
    random = np.random.default_rng(seed)
    columns = {
        f"c{place}": Coded(random.integers(0, radix if whole else (radix + 1) // 2, 300).astype(np.uint8), radix)
        for place, radix in enumerate(radices)
    }
    by_sorting = CountTable.of(columns)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel, "MANY", 0)
        patch.setattr(kernel, "rows_counted_at_once", lambda _: 64)
        by_counting = CountTable.of(columns)
    assert by_counting.counts.tolist() == by_sorting.counts.tolist()
    assert by_counting.counts.dtype == by_sorting.counts.dtype
    for name in columns:
        assert by_counting.tuples[name].codes.tolist() == by_sorting.tuples[name].codes.tolist()
        assert by_counting.tuples[name].codes.dtype == by_sorting.tuples[name].codes.dtype


@pytest.mark.parametrize("left_out", [1, 7, 10])
def test_many_keys_that_differ_in_their_lowest_bits_alone(left_out: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys that do not stand beside their rows in one word: rows alike in what does are told apart by the rest."""
    random, bits = np.random.default_rng(left_out), 64 - (MANY - 1).bit_length() + left_out
    heads = random.integers(0, 1 << (bits - left_out), 200_000, dtype=np.uint64)
    keys = random.choice(heads, MANY) << np.uint64(left_out) | random.integers(0, 1 << left_out, MANY, dtype=np.uint64)
    found, count = class_of_each_row(Coded(keys, 1 << bits))
    there, numbers = np.unique(keys, return_inverse=True)
    assert (count, found.dtype) == (len(there), np.int64)
    assert np.array_equal(found, numbers)
