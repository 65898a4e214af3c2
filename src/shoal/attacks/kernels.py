"""Compiled loops of the attacks on long tables. Imported only where they run."""

from __future__ import annotations

import numpy as np

from shoal.compiled import Number, compiled
from shoal.table import Array


@compiled
def others_with_all(index: Array, starts: Array, persons: int, target: Array, known: Array, asked: Array) -> Array:
    """For each target and each number of points: whether somebody else has the first so many points too.

    `index` is sorted: point · persons + person for each person at a known point; `starts[i]` is where point i starts.
    `known[t]` are the points of target t, padded with -1. The list of the rarest point is walked, and each person
    on it is looked up in the lists of the others.
    """
    found = np.zeros((len(target), len(asked)), np.bool_)
    for t in range(len(target)):
        for a in range(len(asked)):
            count = 0
            while count < asked[a] and count < known.shape[1] and known[t, count] >= 0:
                count += 1
            rarest, fewest = 0, np.int64(-1)
            for i in range(count):
                length = starts[known[t, i] + 1] - starts[known[t, i]]
                if fewest < 0 or length < fewest:
                    rarest, fewest = i, length
            first = starts[known[t, rarest]]
            for place in range(first, first + fewest):
                person = index[place] - known[t, rarest] * persons
                if person != target[t] and _has_all(index, starts, persons, person, known[t], count, rarest):
                    found[t, a] = True
                    break
            if not found[t, a]:
                break  # who is alone at some points is alone at more
    return found


@compiled
def _has_all(
    index: Array, starts: Array, persons: int, person: Number, known: Array, count: int, skipped: int
) -> Number:
    for i in range(count):
        if i == skipped:
            continue
        wanted = known[i] * persons + person
        low, high = starts[known[i]], starts[known[i] + 1]
        end = high
        while low < high:
            middle = (low + high) // 2
            if index[middle] < wanted:
                low = middle + 1
            else:
                high = middle
        if low == end or index[low] != wanted:
            return False
    return True


@compiled
def add_scores(
    persons: Array,
    value_codes: Array,
    day_codes: Array,
    first: int,
    last: int,
    by_value: Array,
    by_day: Array,
    scores: Array,
) -> None:
    """Add to the score of every person who rated an item how well the rating fits; of several ratings the best counts.

    `persons[first:last]` are sorted; `by_value` and `by_day` hold the likeness of each value and of each day.
    """
    best, before = 0.0, np.int64(-1)
    for place in range(first, last):
        alike = by_value[value_codes[place]] + by_day[day_codes[place]]
        if persons[place] != before:
            best = 0.0
            before = persons[place]
        if alike > best:
            scores[persons[place]] += alike - best
            best = alike


# values whose records are summed up together, so that the median is found without a look at every value
_BITS = 10


@compiled
def believe(
    pairs: tuple[Array, Array],
    cells: tuple[Array, Array, Array],
    targets: tuple[Array, Array],
    truth: Array,
    shares: Array,
    first: int,
    last: int,
    found: Array,
) -> None:
    """What the candidates of the targets at the points `first` .. `last` - 1 say of a sensitive column.

    `pairs`: where the boxes of each point start, and the boxes; `cells`: where the values of each box start, the
    values, and how many records have each; `targets`: where those of each point start, and the targets. A row of
    `found` is of one target: records, different values, records with the target's own value, the probability that a
    value with the most records is it, and that the one most over-represented is; median, least and greatest value.
    """
    box_starts, boxes = pairs
    cell_starts, values, records = cells
    target_starts, members = targets
    seen, touched = np.zeros(len(shares), np.float64), np.zeros(len(shares), np.int64)
    sums = np.zeros((len(shares) >> _BITS) + 1, np.float64)
    for point in range(first, last):
        total, distinct = 0.0, 0
        for at in range(box_starts[point], box_starts[point + 1]):
            for cell in range(cell_starts[boxes[at]], cell_starts[boxes[at] + 1]):
                value = values[cell]
                if seen[value] == 0.0:
                    touched[distinct] = value
                    distinct += 1
                seen[value] += records[cell]
                sums[value >> _BITS] += records[cell]
                total += records[cell]
        if distinct == 0:
            continue
        divisor, most, lift = max(total, 1.0), -np.inf, -np.inf
        least, greatest = touched[0], touched[0]
        for number in range(distinct):
            value = touched[number]
            most, lift = max(most, seen[value]), max(lift, seen[value] / divisor - shares[value])
            least, greatest = min(least, value), max(greatest, value)
        ties, lifted = 0, 0
        for number in range(distinct):
            value = touched[number]
            ties += seen[value] >= most - 1e-12
            lifted += seen[value] / divisor - shares[value] >= lift - 1e-12
        part, before = 0, 0.0
        while (before + sums[part]) * 2 < total:
            before += sums[part]
            part += 1
        median = np.int64(part << _BITS)
        while (before + seen[median]) * 2 < total:
            before += seen[median]
            median += 1
        for at in range(target_starts[point], target_starts[point + 1]):
            target = members[at]
            own = truth[target]
            has = seen[own] if own >= 0 else 0.0
            found[target, 0], found[target, 1], found[target, 2] = total, distinct, has
            if has > 0.0:
                found[target, 3] = 1.0 / ties if has >= most - 1e-12 else 0.0
                found[target, 4] = 1.0 / lifted if has / divisor - shares[own] >= lift - 1e-12 else 0.0
            found[target, 5], found[target, 6], found[target, 7] = median, least, greatest
        for number in range(distinct):
            seen[touched[number]] = 0.0
            sums[touched[number] >> _BITS] = 0.0


@compiled
def met_by(
    boxes: tuple[Array, Array, Array, Array],
    points: Array,
    orders: Array,
    starts: tuple[Array, Array],
    owner: Array,
    limit: int,
    first: int,
    last: int,
    met: Array,
) -> None:
    """How many people lie in the boxes `first` .. `last` - 1; from `limit` on nobody is looked for.

    `orders[c]` are the rows of people in the order of column c, and `starts` say where each of its values starts there:
    of a box only those rows are looked at that lie in it by the column in which they are fewest. `owner[r]` is whose
    row r is: an owner of several counts once.
    """
    low, high, mask_at, masks = boxes
    offsets, firsts = starts
    counted = np.full(len(owner), -1, np.int64)
    for box in range(first, last):
        start, fewest, column = np.int64(0), np.int64(-1), 0
        for c in range(points.shape[1]):
            inside = np.int64(0)
            if low[box, c] <= high[box, c]:
                inside = firsts[offsets[c] + high[box, c] + 1] - firsts[offsets[c] + low[box, c]]
            if fewest < 0 or inside < fewest:
                start, fewest, column = firsts[offsets[c] + low[box, c]], inside, c
        found = 0
        for at in range(start, start + fewest):
            row = orders[column, at]
            if counted[owner[row]] != box and _lies_in(low, high, mask_at, masks, box, points[row]):
                counted[owner[row]] = box
                found += 1
                if found >= limit:
                    break
        met[box] = found


@compiled
def _lies_in(low: Array, high: Array, mask_at: Array, masks: Array, box: int, point: Array) -> bool:
    for c in range(len(point)):
        if point[c] < low[box, c] or point[c] > high[box, c]:
            return False
        if len(mask_at) and mask_at[box, c] >= 0 and masks[mask_at[box, c] + point[c]] == 0:
            return False
    return True
