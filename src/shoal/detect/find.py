"""From a table to what identifies people in it."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

import numpy as np

from shoal.classes import Coded, CountTable
from shoal.detect.contributions import contributions
from shoal.detect.dependencies import determined_by
from shoal.detect.partitions import Tuples
from shoal.detect.results import Bound, Detection, FoundSet
from shoal.detect.search import NEAR, Columns, Search
from shoal.errors import InputError, as_names, check_choice
from shoal.policy import NullRule, Policy, as_policy
from shoal.read import Options, read
from shoal.rows import Rows

# All sizes up to so many columns, else sets of few: larger ones are no knowledge that an attacker has.
ALL_SIZES = 16
FEW = 5
TIME_LIMIT = 30.0
CONFIDENCE = 0.95


def detect(
    source: Any,
    columns: Sequence[str] | None = None,
    *,
    null_rule: NullRule | None = None,
    count: str | None = None,
    max_size: int | None = None,
    time_limit: float = TIME_LIMIT,
    sample: int | None = None,
    seed: int = 0,
    policy: Policy | str | Path | None = None,
    options: Options | None = None,
) -> Detection:
    """Find which sets of columns identify people (Pastore et al.).

    Identifiers are the minimal sets whose values are all distinct. The best quasi-identifier is the set with most
    uniques that contains no identifier, ties to the fewest columns, then to the order of the columns.

    >>> import polars as pl
    >>> people = pl.DataFrame({"id": [1, 2, 3, 4], "age": [30, 30, 41, 41], "sex": ["f", "m", "f", "f"]})
    >>> found = detect(people)
    >>> found.identifiers, found.best.columns, found.best.uniques, found.exact
    ([['id']], ['age', 'sex'], 2, True)
    """
    given = as_policy(policy)
    rule: NullRule = null_rule or given.null_rule
    count = count or given.count
    columns = None if columns is None else as_names(columns)
    check_choice("null_rule", rule, get_args(NullRule))
    if rule == "wildcard":
        raise InputError(
            "Sets of columns are compared by equal values: the null rule 'wildcard' does not apply.",
            "Use value or drop.",
        )
    if max_size is not None and max_size < 1:
        raise InputError(f"Sets of {max_size} columns are no sets.", "Use --max-size 1 or more.")
    if time_limit <= 0:
        raise InputError("The time limit must be above zero seconds.", "Use --time-limit 30, for example.")
    if columns is not None and not columns:
        raise InputError("There is no column to search.", "Name at least one with --columns.")
    table = read(source, None if columns is None else [*columns, *([count] if count else [])], options)
    names = [name for name in (columns or table.names) if name != count]
    if not names:
        raise InputError("There is no column to search.", "Name at least one with --columns.")
    if count is not None and count not in table.columns:
        raise InputError.missing_columns([count], table.names, table.name)
    rows, removed = Rows.of(table, list(dict.fromkeys(names)), count).without_nulls(rule)
    counts = CountTable.of({column.name: column for column in rows.columns}, rows.weights)
    searched = counts if sample is None else _sampled(counts, sample, seed)
    search = Search(
        Tuples.of(searched),
        max_size or (len(names) if len(names) <= ALL_SIZES else FEW),
        time.monotonic() + time_limit,
    )
    search.run()
    return _detection(counts, searched, search, rule, removed, sample, [*table.notes, *given.remarks(table)])


def _sampled(table: CountTable, size: int, seed: int) -> CountTable:
    """As many records, drawn without replacement."""
    if size < 2:
        raise InputError(f"A sample of {size} records tells nothing.", "Use --sample 10000, for example.")
    if size >= table.records:
        return table
    drawn = np.random.default_rng(seed).multivariate_hypergeometric(table.counts, size, method="marginals")
    kept = drawn > 0
    tuples = {name: Coded(codes[kept], cardinality) for name, (codes, cardinality) in table.tuples.items()}
    return CountTable(tuples, drawn[kept])


def _detection(
    counts: CountTable,
    searched: CountTable,
    search: Search,
    rule: NullRule,
    removed: int,
    sample: int | None,
    notes: list[str],
) -> Detection:
    names = list(counts.tuples)
    sampled = searched is not counts

    def found(columns: Columns) -> FoundSet:
        return describe(counts, [names[column] for column in columns])

    identifiers = search.minimal_identifiers()
    by_size = [found(columns) for _, (_, columns) in sorted(search.best.items())]
    best_columns, bound, exact = _best(search)
    best = None if best_columns is None else found(best_columns)
    shares = contributions(searched, [names[column] for column in search.columns])
    return Detection(
        records=counts.records,
        removed_rows=removed,
        null_rule=rule,
        columns=names,
        identifiers=[_named(columns, names) for columns in identifiers],
        near_identifiers=_near(counts, search, identifiers, names),
        best=best,
        by_size=by_size,
        exact=exact and not sampled,
        proven_size=0 if sampled else search.proven,
        bound=_sample_bound(bound, search, counts.records) if sampled else Bound(bound, bound / counts.records, 1.0),
        sets_examined=search.examined,
        contributions=shares.shares,
        contributions_exact=shares.exact and not sampled,
        contributions_error=shares.error,
        determined_by=determined_by(searched),
        sample=searched.records if sampled else None,
        notes=notes,
    )


def describe(table: CountTable, columns: Sequence[str]) -> FoundSet:
    """The figures of one set of columns, from a count table.

    separation = 1 - sum of c (c - 1) over the classes / (n (n - 1)), c records in a class, n in all
    """
    sizes = table.roll_up(columns).counts.astype(np.float64)
    records = table.records
    uniques = int(np.count_nonzero(sizes == 1))
    alike = float((sizes * (sizes - 1)).sum())
    separation = 1 - alike / (records * (records - 1.0)) if records > 1 else 1.0
    return FoundSet(list(columns), uniques, uniques / records, len(sizes), len(sizes) / records, separation)


def _named(columns: Columns, names: Sequence[str]) -> list[str]:
    return [names[column] for column in columns]


def _best(search: Search) -> tuple[Columns | None, int, bool]:
    """The best set, what bounds the uniques of any set without an identifier, and whether it is proven best."""
    records = search.tuples.records
    if not search.best:
        return None, 0, True
    everything = search.uniques_of(search.columns)
    # a set that is no identifier leaves at least two records alike
    limit = everything if everything < records else max(records - 2, 0)
    uniques, negative_size, columns = max(
        ((uniques, -size, columns) for size, (uniques, columns) in search.best.items()), key=lambda entry: entry[:2]
    )
    if search.proven == len(search.columns):
        return columns, uniques, True
    essential = _essential(search, everything)
    if everything < records and essential is not None:
        return essential, everything, True
    return columns, limit, uniques == limit and -negative_size <= search.proven


def _essential(search: Search, everything: int) -> Columns | None:
    """The columns whose loss costs uniques, if they alone reach all uniques: then they are the only optimum."""
    needed = []
    for column in search.columns:
        if time.monotonic() > search.deadline + 5:
            return None
        rest = [other for other in search.columns if other != column]
        if search.uniques_of(rest) < everything:
            needed.append(column)
    return tuple(needed) if needed and search.uniques_of(needed) == everything else None


def _near(table: CountTable, search: Search, identifiers: Sequence[Columns], names: Sequence[str]) -> list[list[str]]:
    """Minimal sets of few columns that tell 99 % of the records apart, but not all."""
    found: list[Columns] = []
    for columns in sorted(search.near, key=lambda columns: (len(columns), columns)):
        if any(set(smaller) <= set(columns) for smaller in found):
            continue
        ratio = describe(table, _named(columns, names)).distinct_ratio
        if NEAR <= ratio < 1:
            found.append(columns)
    return [_named(columns, names) for columns in found]


def _sample_bound(uniques: int, search: Search, records: int) -> Bound:
    """A record unique in the table is unique in the sample, so the sample bounds the table (Hoeffding, all sets).

    uniqueness <= uniqueness in the sample + sqrt(ln(sets / (1 - confidence)) / (2 n))
    """
    drawn, columns = search.tuples.records, len(search.columns)
    sets = sum(math.comb(columns, size) for size in range(1, search.max_size + 1))
    share = min(1.0, uniques / drawn + math.sqrt(math.log(sets / (1 - CONFIDENCE)) / (2 * drawn)))
    return Bound(math.floor(share * records), share, CONFIDENCE)
