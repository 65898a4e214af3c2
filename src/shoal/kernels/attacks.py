"""Loops of the attacks: who shares the points that are known of somebody, and which released boxes hold a person.

Released boxes are found by a tree: boxes are split at the middle of their widest column until few are left. A node
knows the least and the greatest low end and high end of its boxes in every column: a point outside the greatest span is
in none of them, a point inside the least span is in all.
"""

from __future__ import annotations

from typing import Any

import cython
import numpy as np

int64 = cython.typedef(cython.longlong)
int32 = cython.typedef(cython.int)
uint32 = cython.typedef(cython.uint)
uint8 = cython.typedef(cython.uchar)
float64 = cython.typedef(cython.double)

# a coordinate of a person of whom it is not known: every box holds it
UNKNOWN = -1_000_000_007
_UNKNOWN = cython.declare(cython.int, -1_000_000_007)
_NEVER = cython.declare(cython.double, float("inf"))
_LEAF = cython.declare(cython.longlong, 8)
_DEPTH = cython.declare(cython.longlong, 256)
_SAMPLE = cython.declare(cython.longlong, 33)


def others_with_all(
    index: cython.const[int64][::1], starts: cython.const[int64][::1], persons: int64, target: cython.const[int64][::1],
    known: cython.const[int64][:, ::1], asked: cython.const[int64][::1],
) -> Any:  # fmt: skip
    """For each target and each number of points: whether somebody else has the first so many points too.

    `index` is sorted: point · persons + person for each person at a known point; `starts[i]` is where point i starts.
    `known[t]` are the points of target t, padded with -1. The list of the rarest point is walked, and each person
    on it is looked up in the lists of the others.
    """
    cython.declare(t=int64, a=int64, i=int64, count=int64, rarest=int64, fewest=int64, length=int64)
    cython.declare(first=int64, place=int64, person=int64)
    shared = np.zeros((target.shape[0], asked.shape[0]), np.bool_)
    found: uint8[:, ::1] = shared
    with cython.nogil:
        for t in range(target.shape[0]):
            for a in range(asked.shape[0]):
                count = 0
                while count < asked[a] and count < known.shape[1] and known[t, count] >= 0:
                    count += 1
                rarest = 0
                fewest = -1
                for i in range(count):
                    length = starts[known[t, i] + 1] - starts[known[t, i]]
                    if fewest < 0 or length < fewest:
                        rarest = i
                        fewest = length
                if fewest < 0:
                    break  # nothing is known
                first = starts[known[t, rarest]]
                for place in range(first, first + fewest):
                    person = index[place] - known[t, rarest] * persons
                    if person != target[t] and _has_all(index, starts, persons, person, known, t, count, rarest):
                        found[t, a] = True
                        break
                if not found[t, a]:
                    break  # who is alone at some points is alone at more
    return shared


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _has_all(
    index: cython.const[int64][::1], starts: cython.const[int64][::1], persons: int64, person: int64,
    known: cython.const[int64][:, ::1], t: int64, count: int64, skipped: int64,
) -> cython.bint:  # fmt: skip
    cython.declare(i=int64, wanted=int64, low=int64, high=int64, end=int64, middle=int64)
    for i in range(count):
        if i == skipped:
            continue
        wanted = known[t, i] * persons + person
        low = starts[known[t, i]]
        high = end = starts[known[t, i] + 1]
        while low < high:
            middle = (low + high) // 2
            if index[middle] < wanted:
                low = middle + 1
            else:
                high = middle
        if low == end or index[low] != wanted:
            return False
    return True


def add_scores(
    persons: cython.const[uint32][::1], value_codes: cython.const[uint32][::1], day_codes: cython.const[uint32][::1],
    first: int64, last: int64, by_value: cython.const[float64][::1], by_day: cython.const[float64][::1],
    scores: float64[::1],
) -> None:  # fmt: skip
    """Add to the score of every person who rated an item how well the rating fits; of several ratings the best counts.

    `persons[first:last]` are sorted; `by_value` and `by_day` hold the likeness of each value and of each day.
    """
    cython.declare(place=int64, alike=float64)
    best: float64 = 0
    before: int64 = -1
    with cython.nogil:
        for place in range(first, last):
            alike = by_value[value_codes[place]] + by_day[day_codes[place]]
            if persons[place] != before:
                best = 0
                before = persons[place]
            if alike > best:
                scores[persons[place]] += alike - best
                best = alike


def believe(
    pairs: tuple, cells: tuple, targets: tuple, truth: cython.const[int64][::1], shares: cython.const[float64][::1],
    first: int64, last: int64, found: float64[:, ::1],
) -> None:  # fmt: skip
    """What the candidates of the targets at the points `first` .. `last` - 1 say of a sensitive column.

    `pairs`: where the boxes of each point start, and the boxes; `cells`: where the values of each box start, the
    values, and how many records have each; `targets`: where those of each point start, and the targets. A row of
    `found` is of one target: records, different values, records with the target's own value, the probability that a
    value with the most records is it, and that the one most over-represented is; median, least and greatest value.
    """
    cython.declare(point=int64, at=int64, cell=int64, value=int64, distinct=int64, number=int64, least=int64)
    cython.declare(greatest=int64, ties=int64, lifted=int64, part=int64, median=int64, target=int64, own=int64)
    cython.declare(total=float64, divisor=float64, most=float64, lift=float64, before=float64, has=float64)
    box_starts: cython.const[int64][::1] = pairs[0]
    boxes: cython.const[int64][::1] = pairs[1]
    cell_starts: cython.const[int64][::1] = cells[0]
    values: cython.const[int64][::1] = cells[1]
    records: cython.const[int64][::1] = cells[2]
    target_starts: cython.const[int64][::1] = targets[0]
    members: cython.const[int64][::1] = targets[1]
    seen: float64[::1] = np.zeros(shares.shape[0])
    touched: int64[::1] = np.zeros(shares.shape[0], np.int64)
    # sums over 1,024 values each, so that the median is found without a look at every value
    sums: float64[::1] = np.zeros((shares.shape[0] >> 10) + 1)
    with cython.nogil:
        for point in range(first, last):
            total = 0
            distinct = 0
            for at in range(box_starts[point], box_starts[point + 1]):
                for cell in range(cell_starts[boxes[at]], cell_starts[boxes[at] + 1]):
                    value = values[cell]
                    if seen[value] == 0:
                        touched[distinct] = value
                        distinct += 1
                    seen[value] += records[cell]
                    sums[value >> 10] += records[cell]
                    total += records[cell]
            if distinct == 0:
                continue
            divisor = max(total, 1.0)
            most = lift = -_NEVER
            least = greatest = touched[0]
            for number in range(distinct):
                value = touched[number]
                most = max(most, seen[value])
                lift = max(lift, seen[value] / divisor - shares[value])
                least = min(least, value)
                greatest = max(greatest, value)
            ties = lifted = 0
            for number in range(distinct):
                value = touched[number]
                ties += seen[value] >= most - 1e-12
                lifted += seen[value] / divisor - shares[value] >= lift - 1e-12
            part = 0
            before = 0
            while (before + sums[part]) * 2 < total:
                before += sums[part]
                part += 1
            median = part << 10
            while (before + seen[median]) * 2 < total:
                before += seen[median]
                median += 1
            for at in range(target_starts[point], target_starts[point + 1]):
                target = members[at]
                own = truth[target]
                has = seen[own] if own >= 0 else 0.0
                found[target, 0] = total
                found[target, 1] = distinct
                found[target, 2] = has
                if has > 0:
                    found[target, 3] = 1.0 / ties if has >= most - 1e-12 else 0.0
                    found[target, 4] = 1.0 / lifted if has / divisor - shares[own] >= lift - 1e-12 else 0.0
                found[target, 5] = median
                found[target, 6] = least
                found[target, 7] = greatest
            for number in range(distinct):
                seen[touched[number]] = 0
                sums[touched[number] >> 10] = 0


def met_by(
    boxes: tuple, points: cython.const[int32][:, ::1], orders: cython.const[int32][:, ::1], starts: tuple,
    owner: cython.const[int64][::1], limit: int64, first: int64, last: int64, met: int64[::1],
) -> None:  # fmt: skip
    """How many people lie in the boxes `first` .. `last` - 1; from `limit` on nobody is looked for.

    `orders[c]` are the rows of people in the order of column c, and `starts` say where each of its values starts there:
    of a box only those rows are looked at that lie in it by the column in which they are fewest. `owner[r]` is whose
    row r is: an owner of several counts once.
    """
    cython.declare(box=int64, start=int64, fewest=int64, column=int64, c=int64, inside=int64, number=int64)
    cython.declare(at=int64, row=int64)
    low: cython.const[int32][:, ::1] = boxes[0]
    high: cython.const[int32][:, ::1] = boxes[1]
    mask_at: cython.const[int64][:, ::1] = boxes[2]
    masks: cython.const[uint8][::1] = boxes[3]
    offsets: cython.const[int64][::1] = starts[0]
    firsts: cython.const[int64][::1] = starts[1]
    counted: int64[::1] = np.full(owner.shape[0], -1, np.int64)
    with cython.nogil:
        for box in range(first, last):
            start = 0
            fewest = -1
            column = 0
            for c in range(points.shape[1]):
                inside = 0
                if low[box, c] <= high[box, c]:
                    inside = firsts[offsets[c] + high[box, c] + 1] - firsts[offsets[c] + low[box, c]]
                if fewest < 0 or inside < fewest:
                    start = firsts[offsets[c] + low[box, c]]
                    fewest = inside
                    column = c
            number = 0
            for at in range(start, start + fewest):
                row = orders[column, at]
                if counted[owner[row]] != box and _holds(low, high, mask_at, masks, box, points, row):
                    counted[owner[row]] = box
                    number += 1
                    if number >= limit:
                        break
            met[box] = number


def build(
    low: cython.const[float64][:, ::1], high: cython.const[float64][:, ::1], weight: cython.const[float64][::1],
    order: int64[::1], roots: cython.const[int64][::1], capacity: int64,
) -> Any:  # fmt: skip
    """Trees over the boxes of each pattern: `order[roots[p]:roots[p+1]]` are its boxes, which are sorted in place.

    Gives the first node of each pattern and, node by node: first and last box, right child (0: a leaf; the left one
    follows the node), total weight, and the least and greatest ends per column.
    """
    cython.declare(pattern=int64, depth=int64, start=int64, end=int64, parent=int64, node=int64, column=int64)
    cython.declare(c=int64, box=int64, at=int64, taken=int64, number=int64, other=int64, cut=int64)
    cython.declare(widest=float64, a=float64, b=float64, e=float64, f=float64, least=float64, greatest=float64)
    cython.declare(start_of=float64, end_of=float64, middle=float64, whole=float64, spread=float64, summed=float64)
    columns: int64 = low.shape[1]
    nodes: int64 = 0
    spans = np.zeros((capacity, 2), np.int64)
    rights = np.zeros(capacity, np.int64)
    totals = np.zeros(capacity)
    ends = np.zeros((capacity, columns, 4))
    first_nodes = np.zeros(roots.shape[0], np.int64)
    span: int64[:, ::1] = spans
    right: int64[::1] = rights
    total: float64[::1] = totals
    bounds: float64[:, :, ::1] = ends
    first_node: int64[::1] = first_nodes
    stack: int64[:, ::1] = np.zeros((_DEPTH, 3), np.int64)
    sample: float64[::1] = np.zeros(_SAMPLE)
    with cython.nogil:
        for pattern in range(roots.shape[0] - 1):
            first_node[pattern] = nodes
            stack[0, 0] = roots[pattern]
            stack[0, 1] = roots[pattern + 1]
            stack[0, 2] = -1
            depth = 1
            while depth:
                depth -= 1
                start = stack[depth, 0]
                end = stack[depth, 1]
                parent = stack[depth, 2]
                node = nodes
                nodes += 1
                if parent >= 0:
                    right[parent] = node
                span[node, 0] = start
                span[node, 1] = end
                widest = 0
                column = -1
                for c in range(columns):
                    box = order[start]
                    a = b = low[box, c]
                    e = f = high[box, c]
                    least = greatest = a + e
                    for at in range(start + 1, end):
                        box = order[at]
                        start_of = low[box, c]
                        end_of = high[box, c]
                        a = min(a, start_of)
                        b = max(b, start_of)
                        e = min(e, end_of)
                        f = max(f, end_of)
                        middle = start_of + end_of
                        least = min(least, middle)
                        greatest = max(greatest, middle)
                    bounds[node, c, 0] = a
                    bounds[node, c, 1] = b
                    bounds[node, c, 2] = e
                    bounds[node, c, 3] = f
                    whole = bounds[first_node[pattern], c, 3] - bounds[first_node[pattern], c, 0]
                    spread = (greatest - least) / (whole + 1.0)
                    if greatest > least and spread > widest:
                        widest = spread
                        column = c
                summed = 0
                for at in range(start, end):
                    summed += weight[order[at]]
                total[node] = summed
                if column < 0 or end - start <= _LEAF or depth + 2 > _DEPTH:
                    continue
                taken = min(_SAMPLE, end - start)
                for number in range(taken):  # sorted as they come
                    box = order[start + number * (end - start) // taken]
                    middle = low[box, column] + high[box, column]
                    other = number
                    while other > 0 and sample[other - 1] > middle:
                        sample[other] = sample[other - 1]
                        other -= 1
                    sample[other] = middle
                cut = _partition(low, high, order, start, end, column, sample[taken // 2], False)
                if cut == end:
                    cut = _partition(low, high, order, start, end, column, sample[taken // 2], True)
                stack[depth, 0] = cut
                stack[depth, 1] = end
                stack[depth, 2] = node
                stack[depth + 1, 0] = start
                stack[depth + 1, 1] = cut
                stack[depth + 1, 2] = -1
                depth += 2
        first_node[roots.shape[0] - 1] = nodes
    return first_nodes, spans[:nodes], rights[:nodes], totals[:nodes], ends[:nodes]


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _partition(
    low: cython.const[float64][:, ::1], high: cython.const[float64][:, ::1], order: int64[::1], start: int64,
    end: int64, column: int64, pivot: float64, below: cython.bint,
) -> int64:  # fmt: skip
    """Boxes whose middle is at most (or below) the pivot come first; where the others start."""
    cython.declare(box=int64, middle=float64)
    left: int64 = start
    last: int64 = end - 1
    while left <= last:
        box = order[left]
        middle = low[box, column] + high[box, column]
        if middle < pivot or (middle == pivot and not below):
            left += 1
        else:
            order[left] = order[last]
            order[last] = box
            last -= 1
    return left


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _holds(
    low: cython.const[int32][:, ::1], high: cython.const[int32][:, ::1], mask_at: cython.const[int64][:, ::1],
    masks: cython.const[uint8][::1], box: int64, points: cython.const[int32][:, ::1], target: int64,
) -> cython.bint:  # fmt: skip
    """Whether a box holds a point: ends first, then the masks of its sets."""
    cython.declare(c=int64, x=int32)
    for c in range(points.shape[1]):
        x = points[target, c]
        if x != _UNKNOWN and (x < low[box, c] or x > high[box, c]):
            return False
    if mask_at.shape[0]:
        for c in range(points.shape[1]):
            x = points[target, c]
            if x != _UNKNOWN and mask_at[box, c] >= 0 and masks[mask_at[box, c] + x] == 0:
                return False
    return True


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _relation(
    bounds: cython.const[int32][:, :, ::1], node: int64, points: cython.const[int32][:, ::1], target: int64
) -> int64:
    """0: no box of the node holds the point; 2: all do, as far as ends tell; 1: some may."""
    cython.declare(c=int64, x=int32)
    relation: int64 = 2
    for c in range(points.shape[1]):
        x = points[target, c]
        if x == _UNKNOWN:
            continue
        if x < bounds[node, c, 0] or x > bounds[node, c, 3]:
            return 0
        if x < bounds[node, c, 1] or x > bounds[node, c, 2]:
            relation = 1
    return relation


def holding(
    points: cython.const[int32][:, ::1], boxes: tuple, tree: tuple, first: int64, last: int64, records: float64[::1],
    starts: int64[::1], out: int64[::1],
) -> None:  # fmt: skip
    """The `records` of all boxes that hold each of the points `first` .. `last` - 1, and how many boxes these are (into
    `starts`); or, where `out` has room, which: from `starts[point]` on."""
    cython.declare(target=int64, root=int64, depth=int64, node=int64, related=int64, at=int64, number=int64)
    cython.declare(sure=cython.bint, summed=float64)
    low: cython.const[int32][:, ::1] = boxes[0]
    high: cython.const[int32][:, ::1] = boxes[1]
    weight: cython.const[float64][::1] = boxes[2]
    mask_at: cython.const[int64][:, ::1] = boxes[3]
    masks: cython.const[uint8][::1] = boxes[4]
    order: cython.const[int64][::1] = boxes[5]
    roots: cython.const[int64][::1] = tree[0]
    span: cython.const[int64][:, ::1] = tree[1]
    right: cython.const[int64][::1] = tree[2]
    total: cython.const[float64][::1] = tree[3]
    bounds: cython.const[int32][:, :, ::1] = tree[4]
    masked: cython.const[uint8][::1] = tree[5]
    stack: int64[::1] = np.zeros(_DEPTH, np.int64)
    lists: cython.bint = out.shape[0] > 0
    with cython.nogil:
        for target in range(first, last):
            summed = 0
            number = 0
            for root in range(roots.shape[0] - 1):
                stack[0] = roots[root]
                depth = 1
                while depth:
                    depth -= 1
                    node = stack[depth]
                    related = _relation(bounds, node, points, target)
                    if related == 0:
                        continue
                    sure = related == 2 and not masked[node]
                    if sure and not lists:
                        summed += total[node]
                        number += span[node, 1] - span[node, 0]
                    elif right[node]:
                        stack[depth] = right[node]
                        stack[depth + 1] = node + 1
                        depth += 2
                    else:
                        for at in range(span[node, 0], span[node, 1]):
                            if sure or _holds(low, high, mask_at, masks, order[at], points, target):
                                if lists:
                                    out[starts[target] + number] = order[at]
                                else:
                                    summed += weight[order[at]]
                                number += 1
            if not lists:
                records[target] = summed
                starts[target] = number


def nearest(
    points: cython.const[float64][:, ::1], kinds: cython.const[int64][::1], boxes: tuple, tree: tuple, first: int64,
    last: int64, limit: int64,
) -> Any:  # fmt: skip
    """The boxes at the least distance from each point: how many records they have, and their numbers one by one.

    `kinds`: 0 a column that the box must hold, 1 one in which the squared difference counts, 2 one in which it counts
    whether they differ. Distances that differ by less than a billionth are equal. At most `limit` are listed.
    """
    cython.declare(target=int64, root=int64, depth=int64, node=int64, one=int64, other=int64, at=int64, box=int64)
    cython.declare(number=int64, best=float64, summed=float64, to_one=float64, to_other=float64, distance=float64)
    low: cython.const[float64][:, ::1] = boxes[0]
    high: cython.const[float64][:, ::1] = boxes[1]
    weight: cython.const[float64][::1] = boxes[2]
    mask_at: cython.const[int64][:, ::1] = boxes[3]
    masks: cython.const[uint8][::1] = boxes[4]
    order: cython.const[int64][::1] = boxes[5]
    roots: cython.const[int64][::1] = tree[0]
    span: cython.const[int64][:, ::1] = tree[1]
    right: cython.const[int64][::1] = tree[2]
    bounds: cython.const[float64][:, :, ::1] = tree[4]
    stack: int64[::1] = np.zeros(_DEPTH, np.int64)
    ahead: float64[::1] = np.zeros(_DEPTH)
    all_records = np.zeros(last - first)
    all_counts = np.zeros(last - first, np.int64)
    all_distances = np.full(last - first, np.inf)
    all_ties = np.zeros((last - first, limit), np.int64)
    records: float64[::1] = all_records
    counts: int64[::1] = all_counts
    distances: float64[::1] = all_distances
    ties: int64[:, ::1] = all_ties
    with cython.nogil:
        for target in range(first, last):
            best = _NEVER
            summed = 0
            number = 0
            for root in range(roots.shape[0] - 1):
                stack[0] = roots[root]
                ahead[0] = 0
                depth = 1
                while depth:
                    depth -= 1
                    node = stack[depth]
                    if ahead[depth] > best + 1e-9 * (1 + best):
                        continue
                    if _least(bounds, kinds, node, points, target) > best + 1e-9 * (1 + best):
                        continue
                    if right[node]:
                        one = node + 1
                        other = right[node]
                        to_one = _least(bounds, kinds, one, points, target)
                        to_other = _least(bounds, kinds, other, points, target)
                        if to_one < to_other:
                            stack[depth] = other
                            ahead[depth] = to_other
                            stack[depth + 1] = one
                            ahead[depth + 1] = to_one
                        else:
                            stack[depth] = one
                            ahead[depth] = to_one
                            stack[depth + 1] = other
                            ahead[depth + 1] = to_other
                        depth += 2
                        continue
                    for at in range(span[node, 0], span[node, 1]):
                        box = order[at]
                        distance = _distance(low, high, mask_at, masks, kinds, box, points, target)
                        if distance == _NEVER or distance > best + 1e-9 * (1 + best):
                            continue
                        if best == _NEVER or distance < best - 1e-9 * (1 + best):
                            best = distance
                            summed = 0
                            number = 0
                        summed += weight[box]
                        if number < limit:
                            ties[target - first, number] = box
                        number += 1
            records[target - first] = summed
            counts[target - first] = number
            distances[target - first] = best
    return all_records, all_counts, all_distances, all_ties


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _least(
    bounds: cython.const[float64][:, :, ::1], kinds: cython.const[int64][::1], node: int64,
    points: cython.const[float64][:, ::1], target: int64,
) -> float64:  # fmt: skip
    """No box of the node is nearer to the point than this."""
    cython.declare(c=int64, under=float64, over=float64, side=float64)
    distance: float64 = 0
    for c in range(points.shape[1]):
        if points[target, c] == _UNKNOWN:
            continue
        under = bounds[node, c, 0] - points[target, c]
        over = points[target, c] - bounds[node, c, 3]
        if under > 0 or over > 0:
            if kinds[c] == 0:
                return _NEVER
            side = max(under, over)
            distance += 1.0 if kinds[c] == 2 else side * side
    return distance


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _distance(
    low: cython.const[float64][:, ::1], high: cython.const[float64][:, ::1], mask_at: cython.const[int64][:, ::1],
    masks: cython.const[uint8][::1], kinds: cython.const[int64][::1], box: int64,
    points: cython.const[float64][:, ::1], target: int64,
) -> float64:  # fmt: skip
    cython.declare(c=int64, x=float64, side=float64)
    distance: float64 = 0
    for c in range(points.shape[1]):
        x = points[target, c]
        if x == _UNKNOWN:
            continue
        if kinds[c] == 0:
            if x < low[box, c] or x > high[box, c]:
                return _NEVER
            if mask_at.shape[0] and mask_at[box, c] >= 0 and masks[mask_at[box, c] + cython.cast(int64, x)] == 0:
                return _NEVER
        elif kinds[c] == 1:
            side = low[box, c] - x
            distance += side * side
        elif low[box, c] != x:
            distance += 1.0
    return distance
