"""The groups that lie near each other, and what they do: exchange records."""

from __future__ import annotations

import numpy as np

from shoal.compiled import compiled_once
from shoal.table import Array

# how many near groups each tries
NEAR = 8


@compiled_once
def nearest_groups(centres: Array) -> Array:
    """The nearest groups of each, by their centres."""
    groups = len(centres)
    count = min(NEAR, groups - 1)
    near, far = np.empty((groups, count), np.int64), np.empty(count, np.float32)
    for a in range(groups):
        held = 0
        for b in range(groups):
            if a == b:
                continue
            total = np.float32(0)
            for j in range(centres.shape[1]):
                side = np.float32(centres[a, j] - centres[b, j])
                total += side * side
            if held < count:
                at = held
                held += 1
            elif total < far[count - 1]:
                at = count - 1
            else:
                continue
            while at > 0 and far[at - 1] > total:
                far[at] = far[at - 1]
                near[a, at] = near[a, at - 1]
                at -= 1
            far[at] = total
            near[a, at] = b
    return near


@compiled_once
def trade(members: Array, sizes: Array, a: int, b: int, out_a: int, out_b: int) -> None:
    """Swap member out_a of group a for member out_b of group b; with -1 for one of them, move the other."""
    if out_a >= 0 and out_b >= 0:
        members[a, out_a], members[b, out_b] = members[b, out_b], members[a, out_a]
    elif out_a >= 0:
        members[b, sizes[b]] = members[a, out_a]
        sizes[b] += 1
        sizes[a] -= 1
        members[a, out_a] = members[a, sizes[a]]
    else:
        members[a, sizes[a]] = members[b, out_b]
        sizes[a] += 1
        sizes[b] -= 1
        members[b, out_b] = members[b, sizes[b]]
