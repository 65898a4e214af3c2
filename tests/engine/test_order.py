"""The secret order: by content, the same however the rows came in."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from shoal.methods.chooser import sample_of
from shoal.policy import Policy
from shoal.storage.classes import Coded
from shoal.storage.order import key_of, row_hashes, sample_rows, secret_order, shuffled_order, siphash
from shoal.storage.reading import read

ROWS = st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 3)), min_size=1, max_size=40)


def table_of(rows: list[tuple[str, int]]) -> list[Coded]:
    table = read(pl.DataFrame(rows, schema=["letter", "number"], orient="row"))
    return [Coded(column.codes, column.cardinality) for column in table.columns.values()]


@given(ROWS, st.randoms(use_true_random=False), st.integers(0, 2**128))
def test_rows_in_another_order_come_out_in_the_same(rows: list[tuple[str, int]], random: object, seed: int) -> None:
    mixed = list(rows)
    random.shuffle(mixed)  # type: ignore[attr-defined]
    one, other = ([which[i] for i in secret_order(table_of(which), seed)] for which in (rows, mixed))
    assert one == other
    drawn, again = (sorted(which[i] for i in sample_rows(table_of(which), 7, seed)) for which in (rows, mixed))
    assert drawn == again


@given(ROWS, st.integers(0, 9))
def test_every_row_comes_once(rows: list[tuple[str, int]], seed: int) -> None:
    assert sorted(secret_order(table_of(rows), seed).tolist()) == list(range(len(rows)))


def test_rows_are_sorted_by_their_whole_hash_where_heads_tie() -> None:
    codes = Coded(np.arange(5), 5)
    hashes = row_hashes([codes], 3)
    assert secret_order([codes], 3).tolist() == np.argsort(hashes).tolist()


def test_equal_rows_are_not_drawn_together() -> None:
    """Half of 20,000 rows of 10 values, 2,000 each: about half of every value is drawn, never all or none."""
    codes = np.repeat(np.arange(10), 2000)
    drawn = np.bincount(codes[sample_rows([Coded(codes, 10)], 10_000, 5)], minlength=10)
    # hypergeometric: mean 1,000, standard deviation 21
    assert np.abs(drawn - 1000).max() < 5 * 21.3
    assert drawn.sum() == 10_000


def test_two_seeds_give_unrelated_orders() -> None:
    codes = Coded(np.arange(50_000), 50_000)
    one, other = (np.argsort(secret_order([codes], seed)) for seed in (1, 2))
    assert abs(np.corrcoef(one, other)[0, 1]) < 5 / np.sqrt(50_000)
    assert abs(np.corrcoef(one, np.arange(50_000))[0, 1]) < 5 / np.sqrt(50_000)


# by a plain reading of the paper; the doctest of `siphash` has the vector of the reference implementation
def reference(word: int, k0: int, k1: int) -> int:
    mask = (1 << 64) - 1

    def rotate(x: int, by: int) -> int:
        return (x << by | x >> (64 - by)) & mask

    v = [k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D, k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573]

    def rounds(times: int) -> None:
        for _ in range(times):
            v[0] = (v[0] + v[1]) & mask
            v[1] = rotate(v[1], 13) ^ v[0]
            v[0] = rotate(v[0], 32)
            v[2] = (v[2] + v[3]) & mask
            v[3] = rotate(v[3], 16) ^ v[2]
            v[0] = (v[0] + v[3]) & mask
            v[3] = rotate(v[3], 21) ^ v[0]
            v[2] = (v[2] + v[1]) & mask
            v[1] = rotate(v[1], 17) ^ v[2]
            v[2] = rotate(v[2], 32)

    for block in (word, 8 << 56):
        v[3] ^= block
        rounds(2)
        v[0] ^= block
    v[2] ^= 0xFF
    rounds(4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


@given(hnp.arrays(np.uint64, st.integers(1, 5)), st.integers(0, 2**64))
def test_the_hash_is_siphash(words: np.ndarray, seed: int) -> None:
    key = key_of(seed)
    assert siphash(words, key).tolist() == [reference(int(word), *key) for word in words]


@given(st.integers(0, 200), st.integers(0, 2**128 - 1))
def test_the_order_of_a_release_has_every_position_once(rows: int, seed: int) -> None:
    order = shuffled_order(rows, seed)
    assert sorted(order.tolist()) == list(range(rows))
    hashes = siphash(np.arange(rows, dtype=np.uint64), key_of(seed))
    assert order.tolist() == np.argsort(hashes, kind="stable").tolist()


def test_all_orders_are_equally_likely() -> None:
    """24 orders of 4 rows under 12,000 seeds: chi-squared with 23 degrees of freedom, 99.99% below 57."""
    found: dict[tuple[int, ...], int] = {}
    for seed in range(12_000):
        order = tuple(shuffled_order(4, seed).tolist())
        found[order] = found.get(order, 0) + 1
    assert len(found) == 24
    assert sum((count - 500) ** 2 / 500 for count in found.values()) < 57


def test_the_sample_of_a_sorted_table_is_that_of_a_mixed_one() -> None:
    draw = np.random.default_rng(4)
    frame = pl.DataFrame({"age": draw.integers(18, 90, 5_000), "sex": draw.choice(["f", "m"], 5_000)})
    policy = Policy.model_validate({"columns": {"age": "quasi-identifier", "sex": "quasi-identifier"}})
    parts = [
        sample_of(read(one), policy, 500).to_polars().sort("age", "sex")
        for one in (frame.sort("age", "sex"), frame.sample(fraction=1, shuffle=True, seed=1))
    ]
    assert parts[0].equals(parts[1])
    assert len(parts[0]) == 500
    ages = parts[0]["age"].to_numpy()
    # 500 of 5,000 without replacement: the mean's standard error is 20.8 / sqrt(500) * sqrt(0.9)
    assert abs(ages.mean() - frame["age"].to_numpy().mean()) < 5 * 20.8 / np.sqrt(500)


@pytest.mark.parametrize(("rows", "size"), [(9, 4), (5, 5), (5, 0), (5, 9), (300_000, 2_000)])
def test_a_sample_is_the_first_rows_of_the_secret_order(rows: int, size: int) -> None:
    chance = np.random.default_rng(rows)
    columns = [Coded(chance.integers(0, 3, rows), 3), Coded(chance.integers(0, rows, rows), rows)]
    assert sample_rows(columns, size, 7).tolist() == sorted(secret_order(columns, 7)[:size].tolist())
