"""A release as numbers for who computes with it: ranges to middles, sets and nodes to shares, or one draw of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
import polars as pl

from shoal.errors import InputError, as_names, check_choice
from shoal.ranges.forms import ColumnForm
from shoal.ranges.hierarchy import Hierarchy
from shoal.ranges.hierarchy.given import given_hierarchies, trees_in_values
from shoal.releases.readable import readable
from shoal.storage import Array, Column, Table
from shoal.storage.reading import Options
from shoal.storage.reading.frames import to_native
from shoal.utility.decoding import Ends, How, Members, decoded

Unknown = Literal["distribution", "null"]
# more columns than anyone computes with
_MOST_MEMBERS = 1_000


def decode(
    source: Any,
    *,
    how: How = "midpoint",
    columns: Sequence[str] | str | None = None,
    hierarchies: Any = None,
    unknown: Unknown = "distribution",
    seed: int = 0,
    options: Options | None = None,
) -> Any:
    """Turn a release into numbers; a pandas frame comes back as pandas, polars as polars, pyarrow as pyarrow.

    `source` is a released file (its manifest, where it lies beside it, says how each column is written), a `Release`,
    what `shoal.anonymize` returned, or any frame with texts such as `[20;29]`, `[a, b]` and `*`.

    `midpoint`: a range becomes its middle (dates as days since 1970), a category one column per category, named
    `education=HS-grad`, a set or a node of `hierarchies` equal shares over its members. `shares`: the same, the members
    weighted by how frequent they are in the release. `sample`: one column each, a value drawn from the range (evenly)
    or the members (by frequency) with the `seed`. `*` is the column's distribution: its mean, its shares, a value of
    another record; or null, if `unknown` says so. A missing value stays missing, as a category it has no share. All
    columns are decoded, or only `columns`; numbers are left as they are.

    >>> release = pl.DataFrame({"age": ["[20;29]", "31"], "job": ["[clerk, monk]", "monk"]})
    >>> decode(release).rows()
    [(24.5, 0.5, 0.5), (31.0, 0.0, 1.0)]
    >>> decode(release).columns
    ['age', 'job=clerk', 'job=monk']
    """
    check_choice("how", how, get_args(How))
    check_choice("unknown", unknown, get_args(Unknown))
    readable_release = readable(source, options)
    names = as_names(columns) or list(dict.fromkeys([*readable_release.pairs, *readable_release.table.names]))
    ends = {end for name, pair in readable_release.pairs.items() if name in names for end in pair}
    readable_release.table.select([name for name in names if name not in readable_release.pairs])
    trees = given_hierarchies(readable_release.trees if hierarchies is None else hierarchies, names)
    trees = trees_in_values(trees, readable_release.table.columns.values())
    generator = np.random.default_rng(seed)
    series: list[pl.Series] = []
    for name in readable_release.table.names:
        whole = next(
            (known for known, pair in readable_release.pairs.items() if known in names and pair[0] == name), None
        )
        if whole is not None:
            low, high = (decoded(readable_release.table[end]) for end in readable_release.pairs[whole])
            series += _of_pair(whole, readable_release.table, readable_release.pairs[whole], low, high, how, generator)
        elif name in names and name not in ends:
            series += _decoded(
                readable_release.table[name], readable_release.forms.get(name), trees.get(name), how, unknown, generator
            )
        elif name not in ends:
            series.append(readable_release.table[name].decode())
    out = pl.DataFrame(series)
    return to_native(out, readable_release.native, set(out.columns))


def _decoded(
    column: Column,
    form: ColumnForm | None,
    tree: Hierarchy | None,
    how: How,
    unknown: Unknown,
    generator: np.random.Generator,
) -> list[pl.Series]:
    dtype = column.values.dtype
    if dtype.is_numeric() or dtype == pl.Boolean or (dtype.is_temporal() and how == "sample"):
        return [column.decode()]
    meaning = decoded(column, form, tree)
    codes, records = column.codes, np.bincount(column.codes, minlength=column.cardinality)
    star = meaning.star[codes] if unknown == "null" else np.zeros(len(codes), bool)
    if isinstance(meaning, Ends):
        drawn = how == "sample"
        values = _draw(meaning, codes, generator) if drawn else meaning.middles(records)[codes]
        return [_numbers(column.name, np.where(star, np.nan, values), meaning, dated=drawn)]
    if how == "sample":
        return [_draw_members(column.name, meaning, codes, records, star, generator)]
    if len(meaning.labels) > _MOST_MEMBERS:
        raise InputError(
            f"Column '{column.name}' has {len(meaning.labels):,} categories: as shares they are as many columns.",
            "Leave it out of `columns`, or use how='sample'.",
        )
    shares = meaning.matrix(records, how == "shares")
    return [
        _shares(f"{column.name}={label}", shares[:, place][codes], star) for place, label in enumerate(meaning.labels)
    ]


def _of_pair(
    name: str,
    table: Table,
    pair: tuple[str, str],
    low: Ends | Members,
    high: Ends | Members,
    how: How,
    generator: np.random.Generator,
) -> list[pl.Series]:
    """Two columns that are the ends of one range."""
    if not isinstance(low, Ends) or not isinstance(high, Ends):
        raise InputError(f"The ends of column '{name}' are not numbers or dates.", "Take the file that was released.")
    first, last = low.low[table[pair[0]].codes], high.high[table[pair[1]].codes]
    both = Ends(first, last, np.zeros(len(first), bool), low.day, low.whole)
    rows = np.arange(len(first))
    values = _draw(both, rows, generator) if how == "sample" else (first + last) / 2
    return [_numbers(name, values, both, dated=how == "sample")]


def _draw(ends: Ends, codes: Array, generator: np.random.Generator) -> Array:
    """A value of each row's range, every one as likely; for `*` that of another row."""
    low, high, chance = ends.low[codes], ends.high[codes], generator.random(len(codes))
    values = low + np.floor(chance * (high - low + 1)) if ends.whole else low + chance * (high - low)
    known = values[~np.isnan(values)]
    star = ends.star[codes]
    if star.any() and len(known):
        values[star] = generator.choice(known, int(star.sum()))
    return np.asarray(values)


def _draw_members(
    name: str, meaning: Members, codes: Array, records: Array, null: Array, generator: np.random.Generator
) -> pl.Series:
    """A member of each row's set, in proportion to how frequent the members are."""
    if not meaning.labels:
        return pl.Series(name, [None] * len(codes), dtype=pl.String)
    column = meaning.distribution(records)
    ends = np.cumsum(meaning.within(column))
    entries = np.bincount(meaning.codes, minlength=len(meaning.star))
    first = np.concatenate([[0], np.cumsum(entries)])[:-1]
    before = np.concatenate([[0.0], ends])[first]
    chance = generator.random(len(codes))
    at = np.searchsorted(ends, before[codes] + chance, side="right")
    member = np.full(len(codes), -1, np.int64)
    known = entries[codes] > 0
    member[known] = meaning.members[np.clip(at, first[codes], first[codes] + entries[codes] - 1)[known]]
    star = meaning.star[codes] & ~null
    if star.any():
        member[star] = generator.choice(len(meaning.labels), int(star.sum()), p=column)
    labels = pl.Series(name, meaning.labels, dtype=pl.String)
    return labels.gather(np.maximum(member, 0)).set(pl.Series(member < 0), None)


def _numbers(name: str, values: Array, ends: Ends, dated: bool) -> pl.Series:
    series = pl.Series(name, values).fill_nan(None)
    if not dated:
        return series
    if ends.day:
        return series.cast(pl.Date) if ends.whole else (series * 86_400e6).cast(pl.Int64).cast(pl.Datetime("us"))
    return series.cast(pl.Int64) if ends.whole else series


def _shares(name: str, values: Array, null: Array) -> pl.Series:
    return pl.Series(name, values).set(pl.Series(null), None) if null.any() else pl.Series(name, values)
