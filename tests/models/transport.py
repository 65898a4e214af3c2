"""The earth mover's distance by its meaning: the cheapest way to carry one distribution to another, exactly."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise


def cheapest(have: Sequence[Fraction], want: Sequence[Fraction], cost: Sequence[Sequence[Fraction]]) -> Fraction:
    """Carry what there is to where it is wanted at least cost: along cheapest paths, as long as one is left."""
    places = len(have)
    carried = [[Fraction(0)] * places for _ in range(places)]
    left, open_ = list(have), list(want)
    while any(left):
        price: list[Fraction | None] = [Fraction(0) if amount > 0 else None for amount in left] + [None] * places
        before: list[int | None] = [None] * (2 * places)
        for _ in range(2 * places):  # Bellman and Ford: sources are 0 .., sinks are places ..
            for i in range(places):
                for j in range(places):
                    start, sink = price[i], price[places + j]
                    if start is not None and (sink is None or start + cost[i][j] < sink):
                        price[places + j], before[places + j] = start + cost[i][j], i
                    sink = price[places + j]
                    if carried[i][j] > 0 and sink is not None:
                        back = price[i]
                        if back is None or sink - cost[i][j] < back:
                            price[i], before[i] = sink - cost[i][j], places + j
        ends = [places + j for j in range(places) if open_[j] > 0]
        end = min(ends, key=lambda at: price[at] or Fraction(0))
        path = [end]
        while (previous := before[path[-1]]) is not None:
            path.append(previous)
        path.reverse()
        steps = list(pairwise(path))
        amount = min([left[path[0]], open_[end - places], *(carried[b][a - places] for a, b in steps if a >= places)])
        for a, b in steps:
            if a < places:
                carried[a][b - places] += amount
            else:
                carried[b][a - places] -= amount
        left[path[0]] -= amount
        open_[end - places] -= amount
    return sum((carried[i][j] * cost[i][j] for i in range(places) for j in range(places)), Fraction(0))
