"""Fifteen columns, 10^12 nodes: what is found in a minute, how far it can be from the best, and Lightning's search.

ARX does not install beside us. Its search for large spaces is published (Prasser et al., Lightning: Utility-Driven
Anonymization of High-Dimensional Data, 2016); here it is written anew from that description and looks at nodes with our
loops, which are faster than ARX's. What it finds is more than ARX would in that time.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from heapq import heapify, heappop, heappush
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from common import discharges

SHARED = Path(os.environ.get("SHOAL_DATA", Path(__file__).parents[2] / "shared" / "data")) / "adult"
ROWS, SHARE, SECONDS = 20_000, 0.05, 60.0
# hierarchies are built by halving, down to narrow steps
HALVED: dict[str, Any] = {"factor": 2}
DISCHARGES: dict[str, dict[str, Any]] = {
    "oshpd_id": {"kind": "equal-width", "width": 500, **HALVED},
    "age_yrs": {"kind": "equal-width", "width": 2, **HALVED},
    "sex": {},
    "race": {"kind": "categories", **HALVED},
    "patzip": {"kind": "prefix"},
    "patcnty": {"kind": "categories", **HALVED},
    "los": {"kind": "equal-frequency", **HALVED},
    "charge": {"kind": "equal-frequency", "groups": 512, **HALVED},
}
ADULT: dict[str, dict[str, Any]] = {
    "age": {"kind": "equal-width", "width": 2, **HALVED},
    "race": {"kind": "categories", **HALVED},
    "marital-status": {"kind": "categories", **HALVED},
    "education": {"kind": "categories", **HALVED},
    "native-country": {"kind": "categories", **HALVED},
    "workclass": {"kind": "categories", **HALVED},
    "occupation": {"kind": "categories", **HALVED},
}


def joined_space() -> Any:
    """Eight columns of the first discharges beside seven of the first people in Adult, row by row."""
    ours = pl.read_parquet(discharges(rows=ROWS)).select(list(DISCHARGES))
    adult = pl.read_csv(SHARED / "adult.csv", separator=";", infer_schema_length=None)[:ROWS]
    theirs = adult.select(pl.col(list(ADULT)).name.prefix("adult-"))
    settings = {**DISCHARGES, **{f"adult-{name}": given for name, given in ADULT.items()}}
    return _space(pl.concat([ours, theirs], how="horizontal"), settings)


def normal_space() -> Any:
    """Fifteen independent columns of rounded normal numbers, 10^9 nodes: none tells anything about another."""
    random = np.random.default_rng(0)
    drawn = {f"c{j}": np.abs(random.normal(10, 4, ROWS)).astype(int) for j in range(15)}
    return _space(pl.DataFrame(drawn), {name: {} for name in drawn})


def _space(people: pl.DataFrame, settings: dict[str, dict[str, Any]]) -> Any:
    from shoal.methods.search.generalize import make_space
    from shoal.models import KAnonymity
    from shoal.ranges.hierarchy import build_hierarchy
    from shoal.storage.reading import read

    table = read(people)
    trees = {name: build_hierarchy(column, **settings[name]) for name, column in table.columns.items()}
    return make_space(table, table.names, trees, [KAnonymity(k=5)])


def ours(space: Any, seconds: float = SECONDS) -> Any:
    """What the search finds and proves in the time."""
    from shoal.methods.search.generalize import SearchOptions, generalize
    from shoal.models import KAnonymity

    generalize(space, [KAnonymity(k=5)], SearchOptions(suppression=SHARE, time_limit=1.0))
    found = generalize(space, [KAnonymity(k=5)], SearchOptions(suppression=SHARE, time_limit=seconds)).optimum
    print(
        f"  {found.nodes_total:.3g} nodes, {found.nodes_checked:,} looked at: score {found.score:.4f}, "
        f"no solution below {found.lower_bound:.4f}",
        file=sys.stderr,
    )
    return found


class Lightning:
    """Best-first search in one direction: nodes by their score, and a greedy dive in every `stepping`-th step."""

    def __init__(self, space: Any, up: bool, seconds: float) -> None:
        from shoal.methods.search.generalize import SearchOptions
        from shoal.models import KAnonymity

        self.grid, self.up = space.grid(SearchOptions()), up
        # nodes past the limit have a score too: with all small classes suppressed
        self.evaluate = space.evaluator(self.grid, [KAnonymity(k=5)], space.members)
        self.limit, self.deadline = int(SHARE * space.members), time.monotonic() + seconds
        self.best, self.looks = np.inf, 0
        self.queue: list[tuple[float, tuple[int, ...]]] = []
        self.seen: set[tuple[int, ...]] = set()

    def run(self) -> float:
        """The best score that it finds in the time."""
        self._look(tuple((self.grid.low if self.up else self.grid.high).tolist()))
        step, stepping = 0, len(self.grid.axes)
        while self.queue and time.monotonic() < self.deadline:
            _, levels = heappop(self.queue)
            step += 1
            at = self._expand(levels)
            while at is not None and step % stepping == 0 and time.monotonic() < self.deadline:
                self.queue.remove(at)
                heapify(self.queue)
                at = self._expand(at[1])
        return float(self.grid.score(self.best))

    def _expand(self, levels: tuple[int, ...]) -> tuple[float, tuple[int, ...]] | None:
        """Look at all neighbours that were not looked at; the one with the lowest score."""
        if not self._may_lead(levels):
            return None
        found = [self._look(other) for other in self._neighbours(levels) if other not in self.seen]
        return min((entry for entry in found if entry is not None), default=None)

    def _may_lead(self, levels: tuple[int, ...]) -> bool:
        """Coarser nodes cost what their levels cost at least; what is below was cut off when it was looked at."""
        return not self.up or float(self.grid.free_factors[range(len(levels)), levels].prod()) < self.best

    def _neighbours(self, levels: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        for j, axis in enumerate(self.grid.axes):
            moved = levels[j] + (1 if self.up else -1)
            if axis.low <= moved <= axis.high:
                yield (*levels[:j], moved, *levels[j + 1 :])

    def _look(self, levels: tuple[int, ...]) -> tuple[float, tuple[int, ...]] | None:
        self.seen.add(levels)
        self.looks += 1
        found = self.evaluate(np.array(levels))
        within = found.suppressed <= self.limit
        if within and found.feasible:
            self.best = min(self.best, found.product)
        is_top = levels == tuple(self.grid.high.tolist())
        if not self.up and not within and not is_top:
            # finer nodes lose more
            return None
        entry = (found.product, levels)
        heappush(self.queue, entry)
        return entry


def lightning(space: Any, seconds: float = SECONDS) -> float:
    """The better of its two directions, each for the whole time."""
    scores = []
    for up in (False, True):
        search = Lightning(space, up, seconds)
        scores.append(search.run())
        way = "up" if up else "down"
        print(f"  Lightning {way}: {search.looks:,} nodes looked at, score {scores[-1]:.4f}", file=sys.stderr)
    return min(scores)


def main(seconds: float = SECONDS) -> None:
    """Both tables."""
    for space in (joined_space(), normal_space()):
        ours(space, seconds)
        lightning(space, seconds)


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))
