"""`suppress`: few cells are suppressed, so that every record reaches k by one of two readings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import polars as pl
from pydantic import Field

from shoal.errors import InputError, Message
from shoal.methods.base import NEEDS_K, Importance, Method, closeness_told, k_of
from shoal.methods.boxes import with_members
from shoal.methods.findings import evidence_of_result, findings_of, judged
from shoal.methods.outcomes import ReadingFigures, SubsetFigures, SuppressionOutcome
from shoal.methods.results import Anonymized
from shoal.methods.suppression import Reading, Suppressed, suppress
from shoal.methods.units import Units, households_of, of_households, one_of_them, units_of, varies_within_persons
from shoal.models import KAnonymity, KMatching
from shoal.models.k_matching import readings_of
from shoal.policy import Policy
from shoal.ranges.boxed import Boxed, Side, numbers
from shoal.ranges.columns import ReleasedColumns, as_it_was, scale_of
from shoal.ranges.coverage import like_rows
from shoal.ranges.forms import ColumnForm, escape
from shoal.ranges.parsing import STAR
from shoal.storage import Array, Column, Table
from shoal.storage.classes import Coded, class_of_each_row, first_row_of_each_class, pack
from shoal.storage.column_type import type_word
from shoal.storage.texts import texts_of, with_null
from shoal.utility.loss import change_of, information_loss, loss_of_shares
from shoal.vocabulary import NullRule

if TYPE_CHECKING:
    from shoal.policy.conditions import ColumnCondition

# Suppressed cells as the columns of a file, as classes and as boxes.


def shown(found: Suppressed) -> tuple[dict[str, ReleasedColumns], tuple[Array, int]]:
    """The columns as they are written, the class of each row (-1: `*` throughout), and how many classes there are.

    >>> from shoal.storage.reading import read
    >>> from shoal.methods.suppression import suppress
    >>> found = suppress(read({"sex": ["f", "f", "m"]}).select(["sex"]), 2)
    >>> columns, (classes, count) = shown(found)
    >>> columns["sex"].series[0].to_list(), classes.tolist(), count
    (['f', 'f', '*'], [0, 0, -1], 1)
    """
    columns = {}
    for place, column in enumerate(found.columns):
        cells = found.cells(place)
        if not cells.any():
            columns[column.name] = as_it_was(column)
            continue
        is_text = column.values.dtype == pl.String
        own = escape(column.values) if is_text else texts_of(column.values)
        kind = type_word(column.dtype)
        form = ColumnForm(kind="suppressed-cells", type=kind, escaped=is_text, decimals=scale_of(column))
        texts = pl.concat([with_null(own, None), pl.Series("label", [STAR])])
        codes = np.where(cells, len(texts) - 1, column.codes)
        written = texts.gather(codes).alias(column.name)
        columns[column.name] = ReleasedColumns([written], "truthful", cells, form, Coded(codes, len(texts)))
    class_of_row, count = np.full(len(found.masks), -1, np.int64), 0
    kept = np.flatnonzero(~found.throughout)
    if len(kept):
        codes_shown = [Coded(column.codes[kept], column.cardinality) for column in _coded(found)]
        class_of_row[kept], count = class_of_each_row(pack(codes_shown))
    return columns, (class_of_row, count)


def boxes_of(found: Suppressed) -> Boxed | None:
    """The rows as boxes, a suppressed cell being the whole range; none where a column holds texts or nulls."""
    if any(column.nulls or not _has_distances(column.values) for column in found.columns):
        return None
    box_of_row, count = class_of_each_row(pack(_coded(found)))
    first = first_row_of_each_class(box_of_row, count)
    sides = {}
    for place, column in enumerate(found.columns):
        cells, codes = found.cells(place)[first], column.codes[first].astype(np.int64)
        last = len(column.values) - 1
        sides[column.name] = Side(numbers(column), np.where(cells, 0, codes), np.where(cells, last, codes))
    return Boxed(box_of_row, sides)


def _has_distances(values: pl.Series) -> bool:
    return values.dtype.is_numeric() or values.dtype.is_temporal()


def _coded(found: Suppressed) -> list[Coded]:
    """The columns with one more code for `*`."""
    return [
        Coded(np.where(found.cells(place), column.cardinality, column.codes), column.cardinality + 1)
        for place, column in enumerate(found.columns)
    ]


# Cells suppressed for whole households: what all members share is `*` for all of them or for none.


def suppressed_together(
    found: Suppressed, shared: Sequence[str], household: Coded, k: int, reading: Reading, null_rule: NullRule
) -> Suppressed:
    """The same with the `shared` columns suppressed in all rows of a household where they are in one.

    Whoever no longer reaches k then is suppressed throughout, until all others do.

    >>> from shoal.methods.suppression import suppress
    >>> from shoal.storage.reading import read
    >>> columns = read({"town": ["A", "A", "B", "A"], "sex": ["f", "f", "f", "m"]}).select(["town", "sex"])
    >>> found = replace(suppress(columns, 2), masks=np.array([1, 0, 1, 2]))
    >>> suppressed_together(found, ["town"], Coded(np.array([0, 0, 1, 1]), 2), 2, "wildcard", "value").masks.tolist()
    [1, 1, 1, 3]
    """
    common = sum(1 << place for place, column in enumerate(found.columns) if column.name in shared)
    everything = (1 << len(found.columns)) - 1
    masks = found.masks.copy()
    while True:
        masks |= _of_household(masks & common, household)
        alone = (_like(found, masks, reading, null_rule) < k) & (masks != everything)
        if not alone.any():
            return replace(found, masks=masks)
        masks[alone] = everything


def _of_household(masks: Array, household: Coded) -> Array:
    """What is suppressed in any row of each row's household."""
    order = np.argsort(household.codes, kind="stable")
    starts = np.flatnonzero(np.diff(household.codes[order].astype(np.int64), prepend=-1))
    any_of_them = np.zeros(household.cardinality, np.int64)
    any_of_them[household.codes[order[starts]]] = np.bitwise_or.reduceat(masks[order], starts)
    return any_of_them[household.codes]


def _like(found: Suppressed, masks: Array, reading: Reading, null_rule: NullRule) -> Array:
    """How many records are like each (strict), or match it; rows without any value cover nobody."""
    columns = found.columns
    hidden = masks.copy()
    if reading == "wildcard" and null_rule == "wildcard":
        for place, column in enumerate(columns):
            hidden |= column.is_null().astype(np.int64) << place
    like = np.zeros(len(masks), np.int64)
    rows = np.flatnonzero(hidden != (1 << len(columns)) - 1)
    if not len(rows):
        return like
    known = (hidden[rows, None] >> np.arange(len(columns)) & 1) == 0
    shown = [Coded(column.codes[rows], column.cardinality) for column in columns]
    like[rows] = like_rows(shown, known, matching=reading == "wildcard")
    return like


class Suppress(Method):
    """Local suppression: as few cells as needed become `*`.

    >>> Suppress(reading="strict").reading
    'strict'
    """

    name: ClassVar[str] = "suppress"
    does: ClassVar[str] = "few cells are suppressed, so that every record matches or looks like k others"
    source: ClassVar[str] = "[Local suppression](suppression.md)"

    reading: Reading | None = Field(
        default=None, description="A suppressed cell matches anything (with k), or is a value of its own (k-anonymity)."
    )
    importance: Importance = Field(
        default={}, description="What a cell of a column is worth; the policy's, otherwise 1."
    )
    subset_size: int | None = Field(
        default=None,
        ge=1,
        description="Protect every combination of so many quasi-identifiers, not all of them together.",
    )

    def allowed(self, table: Table, policy: Policy) -> str | None:
        """A k, by either reading."""
        matching = [model for model in policy.models if isinstance(model, KMatching)]
        if k_of(policy) is None and not matching:
            return NEEDS_K
        if policy.person is not None and (self.reading == "wildcard" or matching):
            return "reads `*` as a value where rows belong to persons (`person`): k-matching has no meaning for them"
        sizes = [self.subset_size, *(model.m for model in matching)]
        if policy.household is not None and any(size is not None for size in sizes):
            return Message(
                "protects combinations of columns (`{subset_size}`) of single records, not of households (`household`)"
            )
        return one_of_them(policy) or varies_within_persons(table, policy, policy.quasi_identifiers)

    def change(
        self, table: Table, policy: Policy, conditions: Sequence[ColumnCondition] = (), k_without_policy: bool = False
    ) -> Anonymized:
        """Suppress, and measure by both readings."""
        reading = "strict" if policy.person is not None else self.reading
        policy, k, kept, size = policy_to_keep(policy, k_without_policy, reading, self.subset_size)
        columns, units = table.select(policy.quasi_identifiers), units_of(table, policy)
        importance = self.relative_importance(policy)

        def few_cells(columns: Sequence[Column], people: Array | None = None) -> Suppressed:
            return suppress(columns, k, kept, importance, size, policy.null_rule, people)

        cells = few_cells(columns, units.people) if units.stratum is None else by_person(columns, units, k, few_cells)
        homes, weights = households_of(table, policy), units.weights_of_rows
        if homes is not None:
            shared = [column.name for column in of_households(columns, homes)]
            together = Coded(homes.of_row, homes.count)
            cells = suppressed_together(cells, shared, together, k, kept, policy.null_rule)
        released, classes = shown(cells)
        evidence = evidence_of_result(table, policy, released, classes[0], shown_values=True)
        models = judged(policy, evidence)
        close = closeness_told(policy)
        findings = findings_of(table, columns, None, released, classes, conditions, close, weights=weights)
        if not units.plain:
            findings = with_members(findings, evidence)
        readings = {name: ReadingFigures(**figures) for name, figures in readings_of(evidence).items()}
        if policy.person is not None:
            readings = {"strict": ReadingFigures(findings.k, findings.uniques)}
        boxed = boxes_of(cells)
        if boxed is not None:
            loss = information_loss(columns, boxed, weights)
            findings = replace(
                findings,
                information_loss=loss.total,
                information_loss_by_column=loss.by_column,
                change=change_of(columns, boxed),
            )
        # the fewest matches on any combination of so many columns
        subset = None if size is None else SubsetFigures(size, models[0].worst["matches"])
        findings = replace(
            findings,
            k=readings[kept].k,
            uniques=readings[kept].uniques,
            loss=_loss(cells, weights),
            suppression=SuppressionOutcome(kept, readings, cells.cells_by_column, cells.least_cells, subset),
        )
        parameters = {"k": k, "reading": kept, "importance": self.importance_by(policy), "subset_size": size}
        return Anonymized(self.name, models, findings, table, policy, parameters, released)


def by_person(
    columns: Sequence[Column], units: Units, k: int, few_cells: Callable[[Sequence[Column]], Suppressed]
) -> Suppressed:
    """Cells suppressed in all rows of a person; persons whom fewer than k share their number of rows, throughout."""
    own = units.columns(columns)
    masks, least = np.full(units.count, (1 << len(columns)) - 1, np.int64), 0
    for some in units.strata():
        rows = len(units.rows_of(some)[0])
        if len(some) < k:
            least += rows
            continue
        found = few_cells([column.take(some) for column in own])
        masks[some] = found.masks
        least += found.least_cells * (rows // len(some))
    return Suppressed(columns, masks[units.of_row], least)


def _loss(cells: Suppressed, weights: Array | None) -> float:
    """The loss of all columns: a suppressed cell stands for every value, the others for themselves."""
    counts = [column.cardinality for column in cells.columns]
    stars = [float(np.average(cells.cells(place), weights=weights)) for place in range(len(counts))]
    return loss_of_shares(counts, [1 + star * (count - 1) for star, count in zip(stars, counts, strict=True)])


def policy_to_keep(
    policy: Policy, k_without_policy: bool, reading: Reading | None, subset_size: int | None
) -> tuple[Policy, int, Reading, int | None]:
    """The policy with the model that suppression is to keep, its k, the reading, and the size of subsets.

    A policy that asks for k-anonymity means classes of equal records. A k without such a policy is read as survey
    statisticians do, where a suppressed cell matches anything; the model is then called so.

    >>> asked = Policy(models=[KAnonymity(k=3)])
    >>> policy_to_keep(asked, False, None, None)[2], policy_to_keep(asked, True, None, None)[2]
    ('strict', 'wildcard')
    """
    about_k = [model for model in policy.models if isinstance(model, (KAnonymity, KMatching))]
    if not about_k:  # another model implies a k, in classes of equal records
        about_k = [KAnonymity(k=k_of(policy) or 2)]
    k = max([*(model.k for model in about_k), k_of(policy) or 2])
    others = [model for model in policy.models if model not in about_k]
    asked = [model for model in about_k if isinstance(model, KMatching)]
    by_policy = "strict" if len(asked) < len(about_k) and not k_without_policy else "wildcard"
    if reading == "wildcard" and by_policy == "strict":
        raise InputError(
            "The policy names k-anonymity, which a suppressed cell that matches anything does not keep.",
            Message("Name k-matching in the policy, or leave out `{reading}`."),
        )
    if (reading or by_policy) == "strict":
        return policy.model_copy(update={"models": [KAnonymity(k=k), *asked, *others]}), k, "strict", subset_size
    size = subset_size if subset_size is not None or not asked else asked[0].m
    return policy.model_copy(update={"models": [KMatching(k=k, m=size), *others]}), k, "wildcard", size
