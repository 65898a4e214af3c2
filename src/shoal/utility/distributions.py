"""Each column before and after, as shares of bins or categories: no bar is about fewer than 11 people.

Numbers and dates are binned between round edges within their middle 96%, so that no edge is somebody's value; the
first and the last bin are open. A few whole numbers are shown one by one. A released range is spread evenly over what
it covers, a set over its members. Frequent categories are named, all others are one bar. Shares are of the records
whose value is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np
import polars as pl

from shoal.ranges.boxed import has_order
from shoal.ranges.hierarchy import Hierarchy
from shoal.ranges.parsing import as_numbers, ends_of
from shoal.storage import Array, Column
from shoal.utility.analysis import Features, features_of, looked_at
from shoal.vocabulary import LEAST_SHOWN

_BINS = 9
_MONTHS = (1, 3, 6, 12, 24, 60, 120, 240, 600, 1200)


def edges_of(low: float, high: float, *, whole: bool, days: bool) -> Array:
    """About eight round edges from low to high; one at least.

    >>> edges_of(18, 93, whole=True, days=False).tolist()
    [20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0]
    >>> labels_of(edges_of(19000, 20100, whole=True, days=True), True, True)[:2]
    ['before 2022-07', '2022-07 to 2022-12']
    """
    if days:
        return _months(low, high)
    size, step = (high - low) / _BINS, 1.0
    if size > 0:  # the next larger of 1, 2, 5, 10, and so on
        power = 10.0 ** np.floor(np.log10(size))
        step = float(next(power * factor for factor in (1, 2, 5, 10) if power * factor >= size * (1 - 1e-9)))
    step = max(step, 1.0) if whole else step
    edges = np.arange(np.ceil(low / step), np.floor(high / step) + 1) * step
    edges = edges[edges > low] if (edges > low).any() else edges
    return edges if len(edges) else np.array([np.ceil(high / step) * step])


def _months(low: float, high: float) -> Array:
    first, last = (int(np.datetime64(int(day), "D").astype("datetime64[M]").astype(int)) for day in (low, high))
    step = next((size for size in _MONTHS if (last - first) / size <= _BINS), _MONTHS[-1])
    months = np.arange((first // step + 1) * step, last + 1, step)
    months = months if len(months) else np.array([last])
    edges: Array = months.astype("datetime64[M]").astype("datetime64[D]").astype(float)
    return edges


def labels_of(edges: Array, whole: bool, days: bool) -> Sequence[str]:
    """The names of the bins between edges: the first and the last are open.

    >>> labels_of(np.array([20.0, 30.0]), True, False), labels_of(np.array([0.5]), False, False)
    (['under 20', '20–29', '30 and more'], ['under 0.5', '0.5 and more'])
    """
    names = [_name(edge, days) for edge in edges]
    between = [_between(first, last, whole, days) for first, last in pairwise(edges)]
    if days:
        return [f"before {names[0]}", *between, f"from {names[-1]}"]
    return [f"under {names[0]}", *between, f"{names[-1]} and more"]


def number_name(numbers: Iterable[float]) -> list[str]:
    """Numbers as they are written: with commas from a hundred thousand, so that years and codes have none.

    >>> number_name([0.5, 1980, 250000])
    ['0.5', '1980', '250,000']
    """
    return [f"{number:,.10g}" if abs(number) >= 100_000 else f"{number:.10g}" for number in numbers]


def _name(edge: float, days: bool) -> str:
    return str(np.datetime64(int(edge), "D"))[:7] if days else number_name([edge])[0]


def _between(first: float, last: float, whole: bool, days: bool) -> str:
    if not whole:
        return f"{_name(first, days)} to under {_name(last, days)}"
    start, end = _name(first, days), _name(last - 1, days)
    if start == end:
        return start
    return f"{start} to {end}" if days else f"{start}–{end}"


_MOST_CATEGORIES = 9
_TAIL = 0.02
# so many whole numbers are shown one by one, if each is of enough people
_FEW_VALUES = 12
_DAY = 86_400e6


@dataclass(frozen=True)
class Share:
    """One bin or category: its name, and its share of the records before and after."""

    label: str
    before: float
    after: float


@dataclass(frozen=True)
class Distribution:
    """One column: `number`, `date` or `category`, its bars in order, and half the sum of all changes."""

    column: str
    kind: str
    bars: list[Share]
    total_variation: float


def distribution_of(
    old: Column, new: Column, tree: Hierarchy | None = None, persons: Array | None = None
) -> Distribution | None:
    """A column before and after; None where fewer than two bars are about enough people.

    `persons` says whose each record is, where somebody may have several.

    >>> from shoal.storage.reading import read
    >>> old, new = {"sex": ["f"] * 30 + ["m"] * 20 + ["x"]}, {"sex": ["f"] * 30 + ["*"] * 21}
    >>> [bar.label for bar in distribution_of(read(old)["sex"], read(new)["sex"]).bars]
    ['f', 'all others']
    """
    return _binned(old, new, persons) if has_order(old) else _categories(old, new, tree, persons)


def _people(groups: Array, persons: Array | None, count: int) -> Array:
    """How many people are in each group; records of group -1 are in none."""
    known = groups >= 0
    if persons is None:
        return np.bincount(groups[known], minlength=count)
    pairs = np.unique(persons[known].astype(np.int64) * count + groups[known])
    return np.bincount(pairs % count, minlength=count)


def _enough(counts: Array) -> Array:
    """Nobody, or 11 at least."""
    return (counts < 0.5) | (counts >= LEAST_SHOWN)


def _binned(old: Column, new: Column, persons: Array | None) -> Distribution | None:
    values, days = as_numbers(old.values), isinstance(old.values.dtype, (pl.Date, pl.Datetime))
    low, high = ends_of(new)
    if isinstance(old.values.dtype, pl.Datetime):
        values, low, high = values / _DAY, low / _DAY, high / _DAY
    records = np.bincount(old.codes, minlength=old.cardinality)[: len(values)]
    known = np.isfinite(values)
    if (records[known] > 0).sum() < 2:
        return None
    whole = days or bool((values[known] == np.floor(values[known])).all())
    few = whole and not days and int(known.sum()) <= _FEW_VALUES
    edges = (
        np.sort(values[known])[1:] if few else edges_of(*_middle(values[known], records[known]), whole=whole, days=days)
    )
    place = np.where(known, np.searchsorted(edges, values, side="right"), -1)
    place = np.append(place, -1) if old.nulls else place
    people = _people(place[old.codes], persons, len(edges) + 1)
    before = np.bincount(place[: len(values)][known], weights=records[known], minlength=len(edges) + 1)
    after = _spread(low, high, np.bincount(new.codes, minlength=new.cardinality), edges, 1.0 if whole else 0.0)
    kept, groups = _merged(people, after)
    if len(groups) < 2:
        return None
    before, after = np.add.reduceat(before, groups), np.add.reduceat(after, groups)
    labels = labels_of(edges[kept], whole, days)
    if few:  # a bar of one value is called by it
        alone = np.diff(np.append(groups, len(edges) + 1)) == 1
        names = number_name(np.sort(values[known])[groups])
        labels = [name if one else label for name, one, label in zip(names, alone, labels, strict=True)]
    return _distribution(old.name, "date" if days else "number", labels, before, after)


def _middle(values: Array, records: Array) -> tuple[float, float]:
    """The values between which all but the tails lie."""
    order = np.argsort(values)
    below = np.cumsum(records[order]) / records.sum()
    low, high = np.searchsorted(below, [_TAIL, 1 - _TAIL])
    return float(values[order][low]), float(values[order][min(high, len(values) - 1)])


def _spread(low: Array, high: Array, records: Array, edges: Array, unit: float) -> Array:
    """Records in each bin, a range evenly over what it covers; what is not known is left out."""
    known = np.isfinite(low) & np.isfinite(high)
    low, high, records = low[known], high[known] + unit, records[known]
    tiny = 1e-9 * max(1.0, float(np.abs(edges).max()))
    high = np.maximum(high, low + tiny)
    starts, ends = np.append(-np.inf, edges), np.append(edges, np.inf)
    # bin by bin: a table of all ranges and bins at once could be large
    found = []
    for start, end in zip(starts, ends, strict=True):
        inside = np.clip(np.minimum(high, end) - np.maximum(low, start), 0, None)
        found.append(float((inside / (high - low) * records).sum()))
    return np.array(found)


def _merged(people: Array, after: Array) -> tuple[Array, Array]:
    """Bins joined with their neighbours until each is about nobody or enough: the edges kept, the first bin of each."""
    starts: list[int] = []
    held = np.zeros(2)
    for place in range(len(people)):
        if not starts or _enough(held).all():
            starts.append(place)
            held = np.zeros(2)
        held += np.array([people[place], after[place]])
    while len(starts) > 1 and not _enough(held).all():
        starts.pop()
        held = np.array([people[starts[-1] :].sum(), after[starts[-1] :].sum()])
    return np.array(starts[1:], dtype=np.int64) - 1, np.array(starts, dtype=np.int64)


def _categories(old: Column, new: Column, tree: Hierarchy | None, persons: Array | None) -> Distribution | None:
    found = features_of(old, new, tree)
    if found.kept is None:
        return None
    count = len(old.values)
    people = _people(np.where(old.codes < count, old.codes, -1), persons, count)
    records = np.bincount(old.codes, minlength=old.cardinality)[:count].astype(float)
    shares = np.bincount(new.codes, minlength=len(found.after)) @ found.after
    known = float(np.bincount(new.codes, minlength=len(found.after))[: len(new.values)].sum())
    often = np.argsort(-records[found.kept], kind="stable")
    named = [place for place in often if people[found.kept[place]] >= LEAST_SHOWN and _enough(shares[place])]
    named = named[:_MOST_CATEGORIES]
    while named and not _enough(np.array(_others(named, found.kept, people, shares, known))).all():
        named.pop()
    if not named:
        return None
    texts = old.values.cast(pl.String)
    labels = [texts[int(found.kept[place])] for place in named]
    before, after = records[found.kept[named]], shares[named]
    rest = records.sum() - before.sum(), known - after.sum()
    if max(rest) >= 0.5:
        labels, before, after = [*labels, "all others"], np.append(before, rest[0]), np.append(after, rest[1])
    return _distribution(old.name, "category", labels, before, after) if len(labels) > 1 else None


def _others(named: Sequence[int], kept: Array, people: Array, shares: Array, known: float) -> tuple[float, float]:
    return float(people.sum() - people[kept[list(named)]].sum()), float(known - shares[list(named)].sum())


def _distribution(column: str, kind: str, labels: Sequence[str], before: Array, after: Array) -> Distribution:
    """Shares with three digits: more would count people."""
    old, new = before / max(before.sum(), 1e-300), after / max(after.sum(), 1e-300)
    bars = [Share(label, _rounded(was), _rounded(now)) for label, was, now in zip(labels, old, new, strict=True)]
    return Distribution(column, kind, bars, round(float(np.abs(old - new).sum() / 2), 4))


def _rounded(share: float) -> float:
    """A share with three digits; what is not zero does not become zero.

    >>> _rounded(0.4567), _rounded(0.0002), _rounded(0.0)
    (0.457, 0.0005, 0.0)
    """
    return max(round(float(share), 3), 0.0005) if share > 0 else 0.0


# How strongly each pair of columns goes together, before and after.
#
# Two numbers: Pearson's r. A number and a category: the correlation ratio η, the root of the share of the variance that
# lies between the categories. Two categories: Cramér's V = sqrt(χ² / n / (min(rows, columns) - 1)). A released range
# counts as its middle, a set as equal shares over its members, as in `analysis`.


# more columns than this are not read in a picture
_MOST_COLUMNS = 12


@dataclass(frozen=True)
class Association:
    """A pair of columns: the measure (`r`, `eta` or `V`) before and after; null where a column does not vary."""

    first: str
    second: str
    measure: str
    before: float | None
    after: float | None


def associations_of(features: Sequence[Features]) -> list[Association]:
    """Every pair of the first twelve columns, with three digits.

    >>> from shoal.storage.reading import read
    >>> from shoal.utility.analysis import features_of
    >>> table = read({"a": [1, 2, 3, 4], "b": [2, 4, 6, 8], "c": ["x", "x", "y", "y"]})
    >>> [(one.measure, one.before) for one in associations_of([features_of(table[n], table[n]) for n in "abc"])]
    [('r', 1.0), ('eta', 0.894), ('eta', 0.894)]
    """
    features = features[:_MOST_COLUMNS]
    if len(features) < 2:
        return []
    rows = looked_at(features, None)
    sides = [(one.before[one.old.codes[rows]], one.after[one.new.codes[rows]]) for one in features]
    found = []
    for (first, one), (second, other) in combinations(zip(features, sides, strict=True), 2):
        ordered = first.ordered + second.ordered
        measure = ("V", "eta", "r")[ordered]
        figures = [_strength(a, b, first.ordered, second.ordered) for a, b in zip(one, other, strict=True)]
        found.append(Association(first.old.name, second.old.name, measure, *figures))
    return found


def _strength(first: Array, second: Array, first_ordered: bool, second_ordered: bool) -> float | None:
    if first_ordered and second_ordered:
        vary = first[:, 0].std() and second[:, 0].std()
        figure = float(np.corrcoef(first[:, 0], second[:, 0])[0, 1]) if vary else None
    elif first_ordered or second_ordered:
        figure = _ratio(first[:, 0], second) if first_ordered else _ratio(second[:, 0], first)
    else:
        figure = _cramer(first, second)
    return None if figure is None or not np.isfinite(figure) else round(figure, 3)


def _ratio(numbers: Array, shares: Array) -> float | None:
    total, sizes = float(numbers.var() * len(numbers)), shares.sum(axis=0)
    if not total or (sizes > 0).sum() < 2:
        return None
    means = np.divide(shares.T @ numbers, sizes, out=np.full(len(sizes), numbers.mean()), where=sizes > 0)
    between = float((sizes * (means - numbers.mean()) ** 2).sum())
    return min(1.0, float(np.sqrt(between / total)))


def _cramer(first: Array, second: Array) -> float | None:
    table = first.T @ second
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    smaller = min(table.shape) - 1
    if smaller < 1:
        return None
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0, keepdims=True) / table.sum()
    return float(np.sqrt(((table - expected) ** 2 / expected).sum() / table.sum() / smaller))
