"""From a table to what identifies people in it."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from shoal import progress
from shoal.detection.counted_sets import (
    TELLS_NOTHING,
    Tuples,
    bits_of,
    contributions,
    determined_by,
    shares_of_all_sets,
    without_determined,
)
from shoal.detection.results import Bound, Detection, FoundSet
from shoal.detection.search import NEAR, NEAR_SIZE, Columns, ColumnSetSearch
from shoal.engine import Engine, SizeHistogram, TooManyTuples, engine_of
from shoal.errors import InputError, Message, Setting, as_names, check_choice
from shoal.policy.default_policy import written
from shoal.storage import Array
from shoal.storage.classes import Coded, CountTable
from shoal.storage.reading.files import Options
from shoal.verbs.base import takes
from shoal.verbs.measuring import DetectRequest
from shoal.vocabulary import NullRule

if TYPE_CHECKING:
    pass

# The figures of sets of columns, from a count table: uniques, classes, separation.


class ColumnSetFigures:
    """Describes sets of columns, each once: a set has the figures of its columns that no other of them determines.

    >>> from shoal.storage.classes import Coded
    >>> codes = Coded(np.array([0, 0, 1]), 2)
    >>> figures = ColumnSetFigures(CountTable.of({"a": codes, "b": codes}))
    >>> figures.determined_by, figures.of(["a", "b"]).uniques
    ({'a': ['b'], 'b': ['a']}, 1)
    """

    def __init__(self, table: CountTable) -> None:
        self.table = table
        self.names = list(table.tuples)
        self.determined_by = determined_by(table)
        self._places = {name: place for place, name in enumerate(self.names)}
        # the same by places: for a column those that alone determine it, as a set
        self.determined = {self._places[name]: self._bits(by) for name, by in self.determined_by.items()}
        self._found: dict[int, tuple[int, int, float]] = {self._least(self.names): _figures(table.counts)}

    def of(self, columns: Sequence[str]) -> FoundSet:
        """The figures of one set of columns."""
        chosen = self._least(columns)
        if chosen not in self._found:
            kept = [name for name in self.names if chosen >> self._places[name] & 1]
            self._found[chosen] = _figures(self.table.roll_up(kept).counts)
        return _found_set(list(columns), *self._found[chosen], self.table.records)

    def constant(self) -> list[str]:
        """Columns with one value only."""
        tuples = self.table.tuples.items()
        return [name for name, (codes, _) in tuples if not len(codes) or bool((codes == codes[0]).all())]

    def _least(self, columns: Sequence[str]) -> int:
        return without_determined(self._bits(columns), self.determined)

    def _bits(self, columns: Sequence[str]) -> int:
        return bits_of(self._places[name] for name in columns)


def _found_set(columns: list[str], uniques: int, classes: int, alike: float, records: int) -> FoundSet:
    """A set by its uniques, its classes, and the ordered pairs of its records that are alike.

    separation = 1 - sum of c (c - 1) over the classes / (n (n - 1)), c records in a class, n in all
    """
    separation = 1 - alike / (records * (records - 1.0)) if records > 1 else 1.0
    return FoundSet(columns, uniques, uniques / records, classes, classes / records, separation)


def _figures(counts: Array) -> tuple[int, int, float]:
    """Uniques, classes, and ordered pairs of records that are alike, from the sizes of the classes."""
    sizes = counts.astype(np.float64)
    return int(np.count_nonzero(sizes == 1)), len(sizes), float((sizes * (sizes - 1)).sum())


# All sizes up to so many columns, else sets of few: larger ones are no knowledge that an attacker has.
ALL_SIZES = 16
FEW = 5
TIME_LIMIT = 30.0
CONFIDENCE = 0.95
# Candidates for near-identifiers that are measured, small sets first.
MOST_NEAR = 200


@takes(DetectRequest)
def detect(source: Any, asked: DetectRequest) -> Detection:
    """Find which sets of columns identify people (Pastore et al.).

    Identifiers are the minimal sets whose values are all distinct. The best quasi-identifier is the set with most
    uniques that contains no identifier, ties to the fewest columns, then to the order of the columns.

    >>> import polars as pl
    >>> people = pl.DataFrame({"id": [1, 2, 3, 4], "age": [30, 30, 41, 41], "sex": ["f", "m", "f", "f"]})
    >>> found = detect(people)
    >>> found.identifiers, found.best.columns, found.best.uniques, found.exact
    ([['id']], ['age', 'sex'], 2, True)
    """
    columns, count = asked.columns, asked.count
    given = written(asked.policy)
    rule: NullRule = asked.null_rule or given.null_rule
    count = count or given.count
    columns = None if columns is None else as_names(columns)
    check_choice(Setting("null_rule"), rule, get_args(NullRule))
    if rule == "wildcard":
        raise InputError(
            "Sets of columns are compared by equal values: the null rule 'wildcard' does not apply.",
            Message("Use {null_rule} value or drop."),
        )
    if given.person is not None:
        raise InputError("Sets of columns are counted by records, not by persons.", "Leave out the person column.")
    if isinstance(asked.max_size, int) and asked.max_size < 1:
        raise InputError(
            Message("{max_size} is {}: a set has at least one column.", asked.max_size),
            Message("Use {max_size} 1 or more."),
        )
    if asked.max_size is not None and not isinstance(asked.max_size, int):
        raise InputError(Message("{max_size} is not a whole number."), Message("Use {max_size} 3, for example."))
    if asked.seed < 0:
        raise InputError("The seed is negative.", Message("Use a {seed} of zero or more."))
    if not asked.time_limit > 0:
        raise InputError("The time limit is not above zero seconds.", Message("Use {time_limit} 30, for example."))
    if columns is not None and not columns:
        raise InputError("There is no column to search.", Message("Name at least one in {columns}."))
    remarks = []
    if columns is None and given.quasi_identifiers:
        columns = given.quasi_identifiers
        remarks.append("searched the quasi-identifiers of the policy; name others in columns")
    left_out = given.with_role("identifier") if columns is None else []
    engine = engine_of(source, asked.options)
    try:
        counted = engine.count(source, columns, without=left_out, count=count, options=asked.options)
    except TooManyTuples:
        if columns is None or asked.sample is not None:
            raise
        largest = asked.max_size or (len(columns) if len(columns) <= ALL_SIZES else FEW)
        work = RollUps(engine, source, list(dict.fromkeys(columns)), rule, count, asked.options)
        return rolled_up(work, largest, time.monotonic() + asked.time_limit, remarks)
    names = counted.names
    if not names:
        raise InputError("There is no column to search.", Message("Name at least one in {columns}."))
    rows, removed = counted.rows.without_nulls(rule)
    counts = CountTable({column.name: Coded(column.codes, column.cardinality) for column in rows.columns}, rows.ones)
    limit = asked.max_size or (len(names) if len(names) <= ALL_SIZES else FEW)
    figures = ColumnSetFigures(counts)
    deadline = time.monotonic() + asked.time_limit
    notes = [*counted.notes, *given.remarks(counted), *remarks]
    if asked.sample is not None and asked.sample < counts.records:
        return _by_sample(figures, _sampled(counts, asked.sample, asked.seed), limit, deadline, rule, removed, notes)
    search = ColumnSetSearch(Tuples.of(counts), limit, deadline, figures.determined)
    search.run()
    best, bound, exact = _best(search)
    return _detection(figures, search, best, Bound(bound, bound / counts.records, 1.0), exact, rule, removed, notes)


def _sampled(table: CountTable, size: int, seed: int) -> CountTable:
    """As many records, drawn without replacement."""
    if size < 2:
        raise InputError(f"A sample of {size} records tells nothing.", Message("Use {sample} 10000, for example."))
    drawn = np.random.default_rng(seed).multivariate_hypergeometric(table.counts, size, method="marginals")
    kept = drawn > 0
    tuples = {name: Coded(codes[kept], cardinality) for name, (codes, cardinality) in table.tuples.items()}
    return CountTable(tuples, drawn[kept])


def _by_sample(
    figures: ColumnSetFigures,
    drawn: CountTable,
    limit: int,
    deadline: float,
    rule: NullRule,
    removed: int,
    notes: list[str],
) -> Detection:
    """Search a sample; what is reported was measured on the whole table."""
    counts, names = figures.table, figures.names
    own = [name for name in names if figures.of([name]).classes == counts.records]
    left = [name for name in names if name not in own]
    if not left:
        search = ColumnSetSearch(Tuples.of(counts), 1, deadline)
        return _detection(figures, search, None, Bound(0, 0.0, 1.0), True, rule, removed, notes)
    searched = drawn.roll_up(left)
    search = ColumnSetSearch(Tuples.of(searched), limit, deadline, sets_identify=False)
    search.run()
    place = {column: names.index(name) for column, name in enumerate(left)}
    sets = {size: tuple(place[column] for column in columns) for size, (_, columns) in search.best.items()}
    measured = {size: figures.of([names[column] for column in columns]) for size, columns in sets.items()}
    allowed = {size: found for size, found in measured.items() if found.classes < counts.records}
    best = max(allowed, key=lambda size: (allowed[size].uniques, -size), default=None)
    most = max((uniques for uniques, _ in search.best.values()), default=0)
    bound = _sample_bound(most if search.proven >= search.max_size else drawn.records, search, counts)
    identifiers = [[name] for name in own]
    identifiers += [found.columns for size, found in measured.items() if size not in allowed]
    shares = contributions(searched, left, search.sets)
    return Detection(
        records=counts.records,
        removed_rows=removed,
        null_rule=rule,
        columns=names,
        identifiers=identifiers,
        near_identifiers=[],
        best=None if best is None else allowed[best],
        by_size=[allowed[size] for size in sorted(allowed)],
        all_columns=figures.of(names),
        exact=False,
        proven_size=0,
        max_size=search.max_size,
        bound=bound,
        sets_examined=search.examined,
        contributions=shares.shares,
        contributions_exact=False,
        contributions_error=shares.error,
        determined_by=figures.determined_by,
        constant_columns=figures.constant(),
        sample=drawn.records,
        notes=[*notes, "contributions are those within the sample; identifiers of several columns are not searched"],
    )


def _detection(
    figures: ColumnSetFigures,
    search: ColumnSetSearch,
    best: Columns | None,
    bound: Bound,
    exact: bool,
    rule: NullRule,
    removed: int,
    notes: list[str],
) -> Detection:
    counts, names = figures.table, figures.names
    identifiers = search.minimal_identifiers()
    shares = contributions(counts, _named(search.columns, names), search.sets)
    return Detection(
        records=counts.records,
        removed_rows=removed,
        null_rule=rule,
        columns=names,
        identifiers=[_named(columns, names) for columns in identifiers],
        near_identifiers=_near(figures, search),
        best=None if best is None else figures.of(_named(best, names)),
        by_size=[figures.of(_named(columns, names)) for _, (_, columns) in sorted(search.best.items())],
        all_columns=figures.of(names),
        exact=exact,
        proven_size=search.proven,
        max_size=search.max_size,
        bound=bound,
        sets_examined=search.examined,
        contributions=shares.shares,
        contributions_exact=shares.exact,
        contributions_error=shares.error,
        determined_by=figures.determined_by,
        constant_columns=figures.constant(),
        sample=None,
        notes=notes,
    )


def _named(columns: Sequence[int], names: Sequence[str]) -> list[str]:
    return [names[column] for column in columns]


def _best(search: ColumnSetSearch) -> tuple[Columns | None, int, bool]:
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
    if everything < records and essential is not None and len(essential) <= search.max_size:
        return essential, everything, True
    return columns, limit, uniques == limit and -negative_size <= search.proven


def _essential(search: ColumnSetSearch, everything: int) -> Columns | None:
    """The columns whose loss costs uniques, if they alone reach all uniques: then they are the only optimum."""
    needed = []
    for column in search.columns:
        if time.monotonic() > search.deadline:
            return None
        rest = [other for other in search.columns if other != column]
        if search.uniques_of(rest) < everything:
            needed.append(column)
    return tuple(needed) if needed and search.uniques_of(needed) == everything else None


def _near(figures: ColumnSetFigures, search: ColumnSetSearch) -> list[list[str]]:
    """Minimal sets of few columns that tell 99% of the records apart, but not all."""
    found: list[Columns] = []
    for columns in sorted(search.near, key=lambda columns: (len(columns), columns))[:MOST_NEAR]:
        if any(set(smaller) <= set(columns) for smaller in found):
            continue
        ratio = figures.of(_named(columns, figures.names)).distinct_ratio
        if NEAR <= ratio < 1:
            found.append(columns)
    return [_named(columns, figures.names) for columns in found]


def _sample_bound(uniques: int, search: ColumnSetSearch, table: CountTable) -> Bound:
    """A record unique in the table is unique in the sample, so the sample bounds the table (Hoeffding, all sets).

    uniqueness <= uniqueness in the sample + sqrt(ln(sets / (1 - confidence)) / (2 n))

    Nor can any set have more uniques than all columns together, which is counted on the table.
    """
    drawn, columns = search.tuples.records, len(search.columns)
    sets = sum(math.comb(columns, size) for size in range(1, search.max_size + 1))
    share = min(1.0, uniques / drawn + math.sqrt(math.log(sets / (1 - CONFIDENCE)) / (2 * drawn)))
    everything = int(np.count_nonzero(table.counts == 1))
    if everything <= share * table.records:
        return Bound(everything, everything / table.records, 1.0)
    return Bound(math.floor(share * table.records), share, CONFIDENCE)


# Sets of columns of a table whose tuples are too many for one machine: each set is rolled up where the rows are.
#
# All sets of one column are counted, then those of two, and so on, while there is time: a set that holds an identifier
# is one itself and is not counted. Shares of columns need every set and are told only where all were counted.

NOTE = "the tuples are too many for one machine: each set of columns was counted where the rows are"


@dataclass
class RollUps:
    """Sets of columns, counted one by one where the rows are."""

    engine: Engine
    source: Any
    names: Sequence[str]
    rule: NullRule
    count: str | None
    options: Options | None
    found: dict[Columns, FoundSet] = field(default_factory=dict)
    records: int = 0
    removed: int = 0

    def measure(self, columns: Columns) -> FoundSet:
        """The figures of a set."""
        if columns not in self.found:
            chosen = [self.names[column] for column in columns]
            dropped = self.names if self.rule == "drop" else ()
            (sizes,) = self.engine.sizes(
                self.source, [chosen], count=self.count, without_nulls=dropped, options=self.options
            )
            self.records, self.removed = int((sizes.sizes * sizes.classes).sum()), sizes.removed
            self.found[columns] = _described(chosen, sizes, self.records)
        return self.found[columns]

    def identifies(self, columns: Columns) -> bool:
        """Whether all records differ in a set, which was counted, or in a part of it."""
        known = (some for size in range(1, len(columns) + 1) for some in combinations(columns, size))
        return any(some in self.found and self.found[some].uniques == self.records for some in known)


def rolled_up(work: RollUps, max_size: int, deadline: float, notes: list[str]) -> Detection:
    """What `detect` finds, as far as the sets can be counted until the deadline; sets of one column always are."""
    every = tuple(range(len(work.names)))
    whole = work.measure(every)
    columns = [column for column in every if work.measure((column,)).uniques < work.records]
    most = min(max_size, len(columns))
    proven, best = _by_size(work, columns, most, deadline)
    limit = _most_uniques(work, tuple(columns), whole)
    chosen = max(best, key=lambda size: (best[size].uniques, -size), default=None)
    exact = chosen is None or proven == len(columns) or (best[chosen].uniques == limit and chosen <= proven)
    bound = 0 if chosen is None else best[chosen].uniques if exact else limit
    shares = shares_of_all_sets(_uniques(work, columns), [work.names[c] for c in columns]) if columns else {}
    return Detection(
        records=work.records,
        removed_rows=work.removed,
        null_rule=work.rule,
        columns=list(work.names),
        identifiers=[work.found[some].columns for some in _minimal(work, proven)],
        near_identifiers=_near_of_roll_ups(work),
        best=None if chosen is None else best[chosen],
        by_size=[best[size] for size in sorted(best)],
        all_columns=whole,
        exact=exact,
        proven_size=proven,
        max_size=most,
        bound=Bound(bound, bound / work.records, 1.0),
        sets_examined=len(work.found),
        contributions=shares or {},
        contributions_exact=shares is not None,
        contributions_error=0.0,
        determined_by=_determined_by(work),
        constant_columns=[work.names[c] for c in every if work.found[(c,)].classes == 1],
        sample=None,
        notes=[*notes, NOTE, *([] if shares is not None else ["not all sets were counted: no shares of columns"])],
    )


def _by_size(work: RollUps, columns: Sequence[int], most: int, deadline: float) -> tuple[int, dict[int, FoundSet]]:
    """The largest size of which all sets were counted, and the best set of each size."""
    best: dict[int, FoundSet] = {}
    for size in range(1, most + 1):
        for number, some in enumerate(combinations(columns, size)):
            if size > 1 and time.monotonic() > deadline:
                return size - 1, _settled(work, columns, best)
            progress.report(f"counting sets of {size} columns", number)
            if work.identifies(some) or work.measure(some).uniques == work.records:
                continue
            if size not in best or work.found[some].uniques > best[size].uniques:
                best[size] = work.found[some]
    return most, _settled(work, columns, best)


def _settled(work: RollUps, columns: Sequence[int], best: dict[int, FoundSet]) -> dict[int, FoundSet]:
    """Past the best set nothing is gained: it, and the first columns that it lacks, as the search has it."""
    most = max((found.uniques for found in best.values()), default=0)
    smallest = min((size for size, found in best.items() if found.uniques == most), default=0)
    core = [work.names.index(name) for name in best[smallest].columns] if smallest else []
    spare = [column for column in columns if column not in core]
    for size in [size for size in best if size > smallest and best[size].uniques == most]:
        padded = work.found.get(tuple(sorted((*core, *spare[: size - smallest]))))
        if padded is not None and padded.uniques == most:
            best[size] = padded
    return best


def _most_uniques(work: RollUps, columns: Columns, whole: FoundSet) -> int:
    """What bounds the uniques of any set without an identifier: one that is none leaves at least two alike."""
    everything = whole if len(columns) == len(work.names) or not columns else work.measure(columns)
    return everything.uniques if everything.uniques < work.records else max(work.records - 2, 0)


def _minimal(work: RollUps, proven: int) -> list[Columns]:
    """Identifiers of which no part is one: of sets up to the size of which all were counted."""
    found = [some for some, set_ in work.found.items() if set_.uniques == work.records and len(some) <= max(proven, 1)]
    minimal = [some for some in found if not any(set(other) < set(some) for other in found)]
    return sorted(minimal, key=lambda some: (len(some), some))


def _near_of_roll_ups(work: RollUps) -> list[list[str]]:
    """Minimal sets of few columns that tell 99% of the records apart, but not all."""
    close = [
        some
        for some, found in work.found.items()
        if len(some) <= NEAR_SIZE and NEAR <= found.distinct_ratio < 1 and not work.identifies(some)
    ]
    minimal = [some for some in close if not any(set(other) < set(some) for other in close)]
    return [work.found[some].columns for some in sorted(minimal, key=lambda some: (len(some), some))]


def _uniques(work: RollUps, columns: Sequence[int]) -> list[int] | None:
    """The uniques of every set of columns, by the bits of their places; None where some were not counted."""
    found = [0] * (1 << len(columns)) if len(columns) <= 16 else []
    for bits in range(1, len(found)):
        some = tuple(column for place, column in enumerate(columns) if bits >> place & 1)
        if some not in work.found and not work.identifies(some):
            return None
        found[bits] = work.found[some].uniques if some in work.found else work.records
    return found or None


def _determined_by(work: RollUps) -> dict[str, list[str]]:
    """A column determines another if both together have as many classes as it has alone; by the pairs counted."""
    found: dict[str, list[str]] = {}
    for target in range(len(work.names)):
        for other in range(len(work.names)):
            pair = (min(target, other), max(target, other))
            alone = work.found[(other,)].classes
            if target == other or pair not in work.found or alone >= TELLS_NOTHING * work.records:
                continue
            if work.found[pair].classes == alone:
                found.setdefault(work.names[target], []).append(work.names[other])
    return found


def _described(names: list[str], found: SizeHistogram, records: int) -> FoundSet:
    """The figures of a set, from its class sizes."""
    sizes, classes = found.sizes.astype(np.float64), int(found.classes.sum())
    uniques = int(found.classes[found.sizes == 1].sum())
    return _found_set(names, uniques, classes, float((found.classes * sizes * (sizes - 1)).sum()), records)
