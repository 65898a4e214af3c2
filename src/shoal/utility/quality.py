"""What is left of a table after a change, in every figure of the field: the same for any method's output."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from shoal.errors import InputError
from shoal.policy.judgement.population import labels_hold
from shoal.ranges.boxed import exponent_of, in_unit
from shoal.ranges.hierarchy import Hierarchy
from shoal.ranges.hierarchy.given import given_hierarchies, trees_in_values
from shoal.ranges.parsing import STAR, as_numbers, as_ranges, ends_of
from shoal.results import Bar, Figure, Figures, Grid, Headline, Result, Section, where_known
from shoal.storage import Array, Column, Table
from shoal.storage.classes import Coded, CountTable, class_of_each_row, pack
from shoal.storage.reading import read
from shoal.storage.rows import record_weights
from shoal.storage.texts import texts_of
from shoal.utility.analysis import (
    Accuracy,
    Analysis,
    Design,
    Features,
    WeightedEstimate,
    accuracy_of,
    analysed,
    analysis_sections,
    features_of_all,
    weighted_estimates,
    weighted_grid,
)
from shoal.utility.cost import average_class_size, discernibility
from shoal.wording import figure, percent


@dataclass(frozen=True, repr=False)
class QualityFigures(Result):
    """Costs between 0 (nothing lost) and 1 (nothing left), but for the papers' information loss, which is in spreads.

    `loss` and `entropy` only where every cell holds its value (no means, nothing perturbed), `precision` only where
    every changed column has a hierarchy, `information_loss` only where all columns are numbers or dates as ranges.
    """

    name: ClassVar[str] = "quality"

    loss: float | None
    precision: float | None
    entropy: float | None
    discernibility: float
    average_class_size: float
    information_loss: float | None
    accuracy: Accuracy | None
    by_column: dict[str, float | None]
    analysis: Analysis | None = None
    weighted: list[WeightedEstimate] | None = where_known()

    def summary(self) -> str:
        """How much was lost, and how well the target can still be predicted."""
        if self.loss is None:
            words = "The loss is not known: a released cell does not hold the value that it stands for."
        else:
            words = f"Loss {self.loss:.4f}, from 0 (nothing lost) to 1 (nothing left)."
        if self.accuracy is None:
            return words
        before, after = percent(self.accuracy.original), percent(self.accuracy.released)
        if self.accuracy.measure == "r2":
            before, after = f"{self.accuracy.original:.3f}", f"{self.accuracy.released:.3f}"
            return f"{words} A regression explains {after} of the variance of {self.accuracy.target}, {before} before."
        learnt = f"A learner trained on the release predicts {self.accuracy.target} rightly for {after} of the records"
        return f"{words} {learnt}, one trained on the original for {before}."

    def sections(self) -> list[Section]:
        """Every figure, then the loss of each column."""
        figures = ("loss", "precision", "entropy", "discernibility", "average_class_size", "information_loss")
        rows = [Figure(name.replace("_", " "), figure(getattr(self, name))) for name in figures]
        if self.accuracy is not None:
            word = "accuracy" if self.accuracy.measure == "accuracy" else "variance explained"
            rows += [
                Figure(f"{word}, {name}", f"{getattr(self.accuracy, name):.3f}")
                for name in ("original", "released", "baseline")
            ]
        columns = [
            (name, figure(loss), Bar(min(loss, 1.0)) if loss is not None else "")
            for name, loss in self.by_column.items()
        ]
        shown: list[Section] = [Headline(self.summary()), Figures(rows), Grid(("column", "loss", ""), columns)]
        if self.analysis is not None:
            shown += analysis_sections(self.analysis)
        return shown if self.weighted is None else [*shown, weighted_grid(self.weighted)]


def quality(
    original: Any,
    released: Any,
    quasi_identifiers: Sequence[str],
    *,
    hierarchies: Any = None,
    target: str | None = None,
    analysis: bool = True,
    weight: str | None = None,
    household: str | None = None,
) -> QualityFigures:
    """Compare a released table with its original, row by row in the same order.

    A released cell stands for a set of values. `loss`: their share of all values (of the hierarchy's leaves where there
    is one), x = (mean share - 1/h) / (1 - 1/h) per column, together the product of (1 + x), root, minus 1. `entropy`:
    the bits that are missing to tell the value from the others it may be, over all bits. `precision`: the height in the
    hierarchy. `discernibility`: the mean share of the table that a record cannot be told from. `average_class_size`:
    records per class, over records. `analysis`: what means, shares, correlations and, with a `target`, a regression
    and a learner come out as, where a range is its middle and a set shares over its members. With a `weight` column (of
    the original; of the release too, where it is there) also weighted means, totals and quantiles with their standard
    errors, by `household` where one is named.

    >>> import polars as pl
    >>> old = pl.DataFrame({"age": [30, 34, 51, 52]})
    >>> new = pl.DataFrame({"age": ["[30;34]", "[30;34]", "51", "52"]})
    >>> found = quality(old, new, ["age"])
    >>> round(found.loss, 4), round(found.entropy, 4), found.discernibility
    (0.1667, 0.25, 0.375)
    """
    beside = [name for name in (target, weight, household) if name is not None]
    wanted = list(dict.fromkeys([*quasi_identifiers, *beside]))
    before, after = read(original, wanted), read(released, list(dict.fromkeys(quasi_identifiers)))
    if before.rows != after.rows:
        raise InputError(
            f"The tables have {before.rows:,} and {after.rows:,} rows: they are compared row by row.",
            "Give the same rows in the same order.",
        )
    names = list(quasi_identifiers)
    trees = trees_in_values(given_hierarchies(hierarchies, names), before.columns.values())
    cells = [_cells(old, new, trees.get(old.name)) for old, new in _pairs(before, after, names)]
    parts = [cell.loss for cell in cells if cell.loss is not None]
    bits = [cell.entropy for cell in cells if cell.entropy is not None]
    heights = [cell.height for cell in cells if cell.height is not None]
    sizes, suppressed = _classes(after, names)
    features: list[Features] = []
    if analysis or target is not None or weight is not None:
        features = features_of_all(_pairs(before, after, names), trees)
    aim = None if target is None else before.select([target])[0]
    return QualityFigures(
        float(np.prod(np.array(parts) + 1) ** (1 / len(parts)) - 1) if len(parts) == len(cells) else None,
        float(np.mean(heights)) if len(heights) == len(cells) else None,
        float(np.mean(bits)) if len(bits) == len(cells) else None,
        discernibility(float((sizes.astype(float) ** 2).sum()), suppressed, before.rows),
        average_class_size(len(sizes), suppressed, before.rows) if before.rows else 0.0,
        information_loss_of_labels(before, after, names),
        None if aim is None else accuracy_of(features, aim),
        {name: cell.loss for name, cell in zip(names, cells, strict=True)},
        analysed(features, aim) if analysis and before.rows else None,
        None if weight is None else _weighted(features, before, released, weight, household),
    )


def _weighted(
    features: Sequence[Features], before: Table, released: Any, weight: str, household: str | None
) -> list[WeightedEstimate]:
    """By the weights of the original, and those of the release where it has them."""
    units = None if household is None else before[household]
    old = Design(record_weights(before[weight]), units)
    theirs = read(released)
    return weighted_estimates(
        features, old, Design(record_weights(theirs[weight]), units) if weight in theirs.columns else old
    )


def _pairs(before: Table, after: Table, names: Sequence[str]) -> list[tuple[Column, Column]]:
    return list(zip(before.select(names), after.select(names), strict=True))


class _ColumnCost(NamedTuple):
    """One column: the part x of the loss, the share of bits that are missing, the mean height."""

    loss: float | None
    entropy: float | None
    height: float | None


def _cells(old: Column, new: Column, tree: Hierarchy | None) -> _ColumnCost:
    pairs = CountTable.of({"was": old, "shown": new})
    was, shown, counts = pairs.tuples["was"].codes, pairs.tuples["shown"].codes, pairs.counts
    records = np.bincount(old.codes, minlength=old.cardinality)
    total = int(records.sum())
    covered = _covered(old, new, records, tree, shown, was)
    height = None
    if tree is not None:
        values, levels = _in_tree(old, new, tree)
        leaves = float(tree.leaves)
        height = float((levels[shown, was] * counts).sum() / total)
    elif (texts_of(old.values).to_list() == texts_of(new.values).to_list()) and (old.codes == new.codes).all():
        height = 0.0
    if covered is None:
        return _ColumnCost(None, None, height)
    if tree is None:
        values, leaves = covered[0], float(old.cardinality)
    share = float((values[shown] * counts).sum() / total) / leaves
    missing = float((np.log2(np.maximum(covered[1][shown] / records[was], 1.0)) * counts).sum())
    everything = float((np.log2(total / records[was]) * counts).sum())
    loss = (share - 1 / leaves) / (1 - 1 / leaves) if leaves > 1 else 0.0
    return _ColumnCost(max(loss, 0.0), missing / everything if everything else 0.0, height)


def _covered(
    old: Column, new: Column, records: Array, tree: Hierarchy | None, shown: Array, was: Array
) -> tuple[Array, Array] | None:
    """How many of the original values, and how many records that have them, each released label may stand for.

    None where a label does not hold the value that it was given for: a mean, a swapped value, a word without its tree.
    """
    if tree is None and (old.dtype.is_numeric() or old.dtype.is_temporal()) and not old.nulls and not new.nulls:
        low, high = (np.asarray(end, float) for end in ends_of(new))
        scale = as_numbers(old.values)
        first, last = np.searchsorted(scale, low), np.searchsorted(scale, high, side="right")
        if not ((first[shown] <= was) & (was < last[shown])).all():
            return None
        running = np.concatenate([[0], np.cumsum(records)])
        return (last - first).astype(float), (running[last] - running[first]).astype(float)
    holds = labels_hold(new, old, tree)
    if not holds[shown, was].all():
        return None
    return holds.sum(axis=1).astype(float), holds @ records.astype(float)


def _in_tree(old: Column, new: Column, tree: Hierarchy) -> tuple[Array, Array]:
    """Leaves under each released label; and by label and original value the share of the height."""
    labels = [*texts_of(new.values).to_list(), *([None] if new.nulls else [])]
    own = [*texts_of(old.values).to_list(), *([None] if old.nulls else [])]
    leaves = np.ones(len(labels))
    paths = {row[0]: row for row in zip(*(level.to_list() for level in tree.levels), strict=True)}
    top = tree.height - 1
    for place, label in enumerate(labels):
        under = np.zeros(tree.leaves, bool)
        for level in tree.levels[1:] if label is not None else ():
            under |= (level == label).to_numpy()
        if under.any():
            leaves[place] = under.sum()
    heights = np.zeros((len(labels), len(own)))
    for at, text in enumerate(own):
        path = paths.get(text, (text, *([STAR] * top)))
        for place, label in enumerate(labels):
            heights[place, at] = (path.index(label) if label in path else top) / top
    return leaves, heights


def _classes(after: Table, names: Sequence[str]) -> tuple[Array, int]:
    ranges = [as_ranges(column, "yes", False) for column in after.select(names)]
    stars = np.logical_and.reduce([column.star for column in ranges])
    kept = [Coded(column.codes[~stars], column.cardinality) for column in ranges]
    if stars.all():
        return np.zeros(0, np.int64), int(stars.sum())
    classes, count = class_of_each_row(pack(kept))
    return np.bincount(classes, minlength=count), int(stars.sum())


def information_loss_of_labels(before: Table, after: Table, names: Sequence[str]) -> float | None:
    """Sánchez et al., Eqs 3-4, from the ends that were written; `*` is the whole range. None where a label has none.

    >>> old, new = read({"age": [30, 34]}), read({"age": ["[30;34]", "[30;34]"]})
    >>> round(information_loss_of_labels(old, new, ["age"]), 6)
    1.414214
    """
    pairs = _pairs(before, after, names)
    squares = np.zeros(before.rows)
    for old, new in pairs:
        if old.nulls or new.nulls or not (old.dtype.is_numeric() or old.dtype.is_temporal()):
            return None
        scale = as_numbers(old.values)
        star = (texts_of(new.values) == STAR).to_numpy()
        low, high = (np.asarray(end, float) for end in ends_of(new))
        low, high = np.where(star, scale[0], low), np.where(star, scale[-1], high)
        if np.isnan(low).any():
            return None
        unit = exponent_of(scale)  # squares of very large numbers are no numbers
        low, high, values = (in_unit(numbers, unit) for numbers in (low, high, scale[old.codes]))
        spread = float(values.std(ddof=1)) if len(values) > 1 else 0.0
        if spread:
            farthest = np.maximum(high[new.codes] - values, values - low[new.codes]) / spread
            squares += farthest**2
    return float(np.sqrt(squares).sum() / (len(squares) * len(pairs)))
