"""Nodes whose keys are past 64 bits: their classes are numbered another way, and are the same classes."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl

from shoal.methods.search.generalize import SearchOptions, make_space
from shoal.models import KAnonymity
from shoal.ranges.hierarchy import build_hierarchy
from shoal.storage.reading import read


def test_a_node_of_more_keys_than_64_bits_is_looked_at() -> None:
    random = np.random.default_rng(3)
    few = random.integers(0, 40, (50, 13))
    drawn = few[random.integers(0, 50, 400)]
    frame = pl.DataFrame({f"c{j:02}": drawn[:, j] for j in range(13)})
    table = read(frame)
    trees = {name: build_hierarchy(column) for name, column in table.columns.items()}
    space = make_space(table, table.names, trees, [KAnonymity(k=5)])
    grid = space.grid(SearchOptions(suppression=1.0))
    look = space.evaluator(grid, [KAnonymity(k=5)], space.members)
    assert grid.cells(grid.low) >= 1 << 62
    sizes = Counter(frame.rows()).values()
    outcome = look.exactly(grid.low)
    assert outcome.suppressed == sum(size for size in sizes if size < 5) > 0
    assert look(grid.low).suppressed == outcome.suppressed
