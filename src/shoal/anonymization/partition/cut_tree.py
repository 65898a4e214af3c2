"""Cut records into blocks of neighbours: each cut is the one that leaves the least spread on its two sides.

Records lie in rows of a matrix and are moved in place, so that a block ends up in one piece of memory. A cut sends what
is `<= x` to one side: identical records are never separated.
"""

from __future__ import annotations

import numpy as np

from shoal.anonymization.partition.sorting import sort_values
from shoal.compiled import compiled, compiled_once, compiled_part
from shoal.table import Array

BINS = 32
# larger nodes are judged by a sample: the cut is as good and costs nothing
_SAMPLED = 4096
_SAMPLE = 1024


@compiled_once
def swap_rows(rows: Array, order: Array, a: int, b: int) -> None:
    """Exchange two records and their numbers."""
    for j in range(rows.shape[1]):
        rows[a, j], rows[b, j] = rows[b, j], rows[a, j]
    order[a], order[b] = order[b], order[a]


@compiled_part
def partition_rows(rows: Array, order: Array, start: int, stop: int, column: int, value: float) -> int:
    """Move records with `<= value` to the front; where the others start."""
    left, right = start, stop - 1
    while True:
        while left <= right and rows[left, column] <= value:
            left += 1
        while left <= right and rows[right, column] > value:
            right -= 1
        if left >= right:
            return left
        swap_rows(rows, order, left, right)
        left += 1
        right -= 1


@compiled_once
def _random(state: Array) -> float:
    """A number in [0, 1): splitmix64, the same on every machine."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return float(z >> np.uint64(11)) / 9007199254740992.0


@compiled_part
def _best_binned(
    rows: Array, start: int, stop: int, least: int, tried: Array, jitter: float, state: Array, bins: Array
) -> tuple[int, float]:
    """The column and value of the cut with the largest gain, from histograms; column -1 where there is none.

    gain = n_left n_right / n (mean_left - mean_right)^2, the fall of the sum of squares.
    """
    size = stop - start
    step = 1 if size <= _SAMPLED else size // _SAMPLE
    taken = (size + step - 1) // step
    # a sample must leave some on either side, so that the whole leaves enough
    need = float(least) if step == 1 else max(2.0, 1.5 * least / step + 1)
    columns = rows.shape[1]
    best, best_column, best_value = 0.0, -1, 0.0
    for j in range(columns):
        if tried[j]:
            continue
        low = high = rows[start, j]
        for i in range(start, stop, step):
            x = rows[i, j]
            if x < low:
                low = x
            if x > high:
                high = x
        factor = 1.0 + jitter * _random(state) if jitter > 0 else 1.0
        if not low < high:
            continue
        for b in range(BINS):
            bins[b, 0] = bins[b, 1] = bins[b, 2] = 0.0
        scale = np.float32(BINS / (high - low) * 0.99999)
        total = 0.0
        for i in range(start, stop, step):
            x = rows[i, j]
            b = int((x - low) * scale)
            bins[b, 0] += 1.0
            bins[b, 1] += x
            if bins[b, 0] == 1.0 or x > bins[b, 2]:
                bins[b, 2] = x
            total += x
        count = 0.0
        summed = 0.0
        for b in range(BINS - 1):
            if bins[b, 0] == 0:
                continue
            count += bins[b, 0]
            summed += bins[b, 1]
            rest = taken - count
            if count < need:
                continue
            if rest < need:
                break
            apart = summed / count - (total - summed) / rest
            gain = count * rest / taken * apart * apart * factor
            if gain > best:
                best, best_column, best_value = gain, j, bins[b, 2]
    return best_column, best_value


@compiled_part
def _best_exact(rows: Array, start: int, stop: int, least: int, tried: Array) -> tuple[int, float]:
    """The same over every cut between two values that leaves at least `least` on either side; -1 where none does."""
    size = stop - start
    best, best_column, best_value = 0.0, -1, 0.0
    values = np.empty(size, np.float32)
    for j in range(rows.shape[1]):
        if tried[j]:
            continue
        for i in range(size):
            values[i] = rows[start + i, j]
        sort_values(values)
        total = 0.0
        for i in range(size):
            total += values[i]
        summed = 0.0
        for i in range(size - least):
            summed += values[i]
            if i + 1 < least or values[i] == values[i + 1]:
                continue
            count = i + 1
            apart = summed / count - (total - summed) / (size - count)
            gain = float(count) * (size - count) / size * apart * apart
            if gain > best or best_column < 0:
                best, best_column, best_value = gain, j, values[i]
    return best_column, best_value


@compiled_part
def _leaves(rows: Array, start: int, stop: int, column: int, value: float, least: int) -> bool:
    """Whether a cut leaves enough on both sides."""
    count = 0
    for i in range(start, stop):
        if rows[i, column] <= value:
            count += 1
    return least <= count <= stop - start - least


@compiled_part
def best_cut(rows: Array, start: int, stop: int, least: int, tried: Array) -> tuple[int, float]:
    """The column and value of the best cut that leaves `least` on either side, but not in columns that were tried."""
    state, bins = np.zeros(1, np.uint64), np.empty((BINS, 3), np.float64)
    column, value = _best_binned(rows, start, stop, least, tried, 0.0, state, bins)
    if column >= 0 and _leaves(rows, start, stop, column, value, least):
        return column, value
    return _best_exact(rows, start, stop, least, tried)


@compiled
def cut(
    rows: Array, order: Array, start: int, stop: int, most: int, least: int, jitter: float, seed: int, first: Array
) -> int:
    """Cut the records start .. stop into blocks of at most `most` and at least `least`; mark where blocks start.

    Records that no cut can tell apart stay in one block, whatever its size. How many blocks there are.
    """
    state = np.empty(1, np.uint64)
    state[0] = np.uint64(seed) * np.uint64(0xD1342543DE82EF95) + np.uint64(start)
    bins = np.empty((BINS, 3), np.float64)
    tried = np.empty(rows.shape[1], np.bool_)
    tried[:] = False
    stack = np.empty((256, 2), np.int64)
    stack[0, 0], stack[0, 1] = start, stop
    depth = 1
    blocks = 0
    while depth > 0:
        depth -= 1
        a, b = stack[depth, 0], stack[depth, 1]
        if b - a > most and b - a >= 2 * least:
            column, value = _best_binned(rows, a, b, least, tried, jitter, state, bins)
            middle = a
            if column >= 0:
                middle = partition_rows(rows, order, a, b, column, value)
            if middle - a < least or b - middle < least:
                column, value = _best_exact(rows, a, b, least, tried)
                if column < 0:
                    middle = a
                else:
                    middle = partition_rows(rows, order, a, b, column, value)
            if middle > a:
                # the larger side first onto the stack: it never grows past the logarithm of the records
                if middle - a > b - middle:
                    stack[depth, 0], stack[depth, 1] = a, middle
                    stack[depth + 1, 0], stack[depth + 1, 1] = middle, b
                else:
                    stack[depth, 0], stack[depth, 1] = middle, b
                    stack[depth + 1, 0], stack[depth + 1, 1] = a, middle
                depth += 2
                continue
        first[a] = True
        blocks += 1
    return blocks
