"""Columns that are no quasi-identifiers and leave otherwise than they came: amounts as means, ids as pseudonyms.

A policy says so column by column (`treat`), beside whatever method changes its quasi-identifiers. The table is treated
first, so that models judge what is released; the form of each column stands in the manifest and is verified.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from shoal.errors import InputError
from shoal.methods.microaggregate import groups_of_points
from shoal.policy import Policy
from shoal.policy.manifest import ColumnEntry
from shoal.policy.sections import TreatSection
from shoal.ranges.columns import decimals_of
from shoal.ranges.forms import ColumnForm
from shoal.storage import Array, Column, Table
from shoal.storage.column_type import type_word
from shoal.storage.declare import moved_by
from shoal.storage.encode import encode
from shoal.wording import percent


@dataclass(frozen=True)
class TreatedColumn:
    """How a treated column is written, by which treatment, and what that cost: in words, and as how far its values
    moved, as a share of their mean, or how many cells are others."""

    form: ColumnForm
    nature: str
    treatment: str
    cost: str
    moved: float
    # the column as it came, whose means are taken again where records are not released
    before: Column | None = None

    def entry(self, found: ColumnEntry) -> ColumnEntry:
        """The column in a manifest."""
        return found.model_copy(update={"form": self.form, "nature": self.nature, "technique": self.treatment})


def treated(table: Table, policy: Policy, seed: int) -> tuple[Table, Policy, dict[str, TreatedColumn]]:
    """The table with the columns treated that a policy names, and the policy with the types that they have then.

    >>> from shoal.storage.reading import read
    >>> rules = Policy.model_validate({"treat": {"pay": {"method": "microaggregate", "k": 2}}})
    >>> found, _, costs = treated(read({"pay": [10, 12, 90, 94]}), rules, seed=1)
    >>> found["pay"].decode().to_list(), costs["pay"].cost
    ([11, 11, 92, 92], 'pay: means of at least 2 near records; a value moves by 2.9% of the mean, on average')
    """
    columns, costs, types = dict(table.columns), {}, dict(policy.types)
    household = table.columns.get(policy.household or "")
    groups: dict[tuple[str, int | None], Array] = {}
    for name, section in policy.treat.items():
        if name not in columns:
            continue
        before, together = columns[name], None
        if section.group is not None:
            key = (section.group, section.k)
            if key not in groups:
                same = [other for other, said in policy.treat.items() if (said.group, said.k) == key]
                groups[key] = _groups_of([table[other] for other in same if other in columns], section.k or 0)
            together = groups[key]
        if section.method == "microaggregate":
            after, form, nature = _microaggregated(before, section.k or 0, together)
        elif section.method == "pseudonym":
            after, form, nature = _pseudonyms(before, seed)
            types.pop(name, None)
        else:
            after, form, nature = _perturbed(before, section, seed, household)
        columns[name] = after
        moved = moved_by(before, after)
        cost = "" if moved is None else f"; a value moves by {percent(moved)} of the mean, on average"
        if after.values.dtype == pl.String and before.values.dtype != pl.String:
            moved = 0.0  # a pseudonym takes nothing from an analysis
        elif moved is None:  # how many cells change
            moved = float(before.decode().ne_missing(after.decode()).to_numpy().mean())
        costs[name] = TreatedColumn(form, nature, section.method, f"{name}: {section.in_words}{cost}", moved, before)
    return replace(table, columns=columns), policy.model_copy(update={"types": types}), costs


def means_again(table: Table, policy: Policy, costs: Mapping[str, TreatedColumn], kept: Array) -> Table:
    """The table with the means of treated columns over the rows that are kept alone; other rows stay as they are."""
    treat = {name: said for name, said in policy.treat.items() if said.method == "microaggregate" and name in costs}
    rows = {name: _only_rows(before, kept) for name in treat if (before := costs[name].before) is not None}
    alone = replace(table, columns=rows, rows=int(kept.sum()))
    again = treated(alone, policy.model_copy(update={"treat": treat, "household": None}), 0)[0]
    place, shown = np.maximum(np.cumsum(kept) - 1, 0), pl.Series(kept)
    means = {name: again[name].decode()[place].zip_with(shown, table[name].decode()) for name in treat}
    return replace(table, columns={**table.columns, **{n: _as_column(table[n], one) for n, one in means.items()}})


def _only_rows(column: Column, kept: Array) -> Column:
    codes = column.codes[kept]
    return replace(column, codes=codes, nulls=int((codes == len(column.values)).sum()), written=None)


def _as_column(before: Column, series: pl.Series) -> Column:
    """New values in the place of a column, written as that was declared."""
    return replace(encode(series.alias(before.name)), declared=before.declared)


def _numbers(column: Column, k: int) -> tuple[Array, Array]:
    """Which rows have a number, and the numbers; refused where there are none to make means of."""
    if not column.values.dtype.is_numeric():
        raise InputError(f"Column '{column.name}' holds no numbers: it has no means.", "Treat it by pram.")
    values = column.decode()
    known = values.is_not_null().to_numpy()
    if known.sum() < k:
        raise InputError(f"Column '{column.name}' has fewer than k = {k} values.", "Leave it out, or take a smaller k.")
    numbers = values.cast(pl.Float64).to_numpy()[known]
    if not np.isfinite(numbers).all():
        raise InputError(f"Column '{column.name}' holds numbers that are not finite.", "Leave them out first.")
    return known, numbers


def _groups_of(columns: Sequence[Column], k: int) -> Array:
    """Groups of at least k records that are near in all of some columns of numbers, each by its spread."""
    if gaps := [column.name for column in columns if column.nulls]:
        raise InputError(f"Column '{gaps[0]}' has missing values: it is in no group with others.", "Treat it alone.")
    numbers = [_numbers(column, k)[1] for column in columns]
    points = np.stack([(one - one.mean()) / (one.std() or 1.0) for one in numbers], axis=1)
    return groups_of_points(points, k, "fast")


def _microaggregated(before: Column, k: int, group: Array | None) -> tuple[Column, ColumnForm, str]:
    """Means of groups: those that are given, else of k to 2k - 1 records, so cut that means are nearest to values."""
    known, numbers = _numbers(before, k)
    if group is None:
        group = groups_of_points(numbers[:, None], k, "fast")
    means = np.bincount(group, numbers) / np.maximum(np.bincount(group), 1)
    digits = decimals_of(before)
    shown = np.full(len(known), np.nan)
    shown[known] = (means if digits is None else np.round(means, digits))[group]
    whole = before.values.dtype.is_integer()
    series = pl.Series(shown).fill_nan(None)
    form = ColumnForm(kind="mean", type=type_word(before.dtype), decimals=digits)
    return _as_column(before, series.cast(pl.Int64) if whole else series), form, "representative"


def _pseudonyms(before: Column, seed: int) -> tuple[Column, ColumnForm, str]:
    """Each value a number in a random order: the same within this release, and nowhere else."""
    count = len(before.values)
    places = np.random.default_rng([seed, len(before.name), *before.name.encode()]).permutation(count) + 1
    words = pl.Series([f"p{place:0{len(str(count))}d}" for place in places.tolist()], dtype=pl.String)
    codes = before.codes.astype(np.int64)
    null = before.is_null()
    series = words.gather(np.where(null, 0, codes)) if count else pl.Series([None] * len(codes), dtype=pl.String)
    series = series.set(pl.Series(null), None) if null.any() and count else series
    return encode(series.alias(before.name)), ColumnForm(kind="pseudonym", type="text"), "pseudonym"


def _perturbed(
    before: Column, section: TreatSection, seed: int, household: Column | None
) -> tuple[Column, ColumnForm, str]:
    """By the operator of `perturb`."""
    from shoal.methods.perturbation.operator import changed_by, operators_of

    setting: Any = section.setting
    asked: Mapping[str, Any] = {section.method.replace("-", "_"): {before.name: () if setting is None else setting}}
    operator = operators_of(**asked)[0]
    values = before.decode()
    operator.check([values])
    series = changed_by(operator, [values], [values], seed, household)[0]
    form = ColumnForm(kind="perturbed", type=type_word(before.dtype))
    return _as_column(before, series), form, operator.nature
