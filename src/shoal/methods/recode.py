"""`recode`: Pastore's recodings, as asked for or elected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Protocol, TypeAlias, get_args

import numpy as np
import polars as pl
from pydantic import Field

from shoal.errors import InputError, Message, as_names, check_at_least, check_choice, joined
from shoal.methods.base import Method, closeness_told, k_of, takes_records_only
from shoal.methods.outcomes import StrategyFigures
from shoal.methods.results import Anonymized, evidence_of_result, findings_of, judged
from shoal.policy import Policy
from shoal.ranges.columns import Nature, ReleasedColumns, as_it_was
from shoal.ranges.forms import ColumnForm, escape
from shoal.storage import Array, Column, Table, smallest_unsigned
from shoal.storage.classes import Codes, CountTable, class_of_each_row, class_sizes, pack
from shoal.storage.column_type import type_word
from shoal.storage.reading import read
from shoal.storage.reading.frames import batches, column_names, is_frame
from shoal.storage.rows import Rows
from shoal.storage.texts import texts_of, with_null
from shoal.storage.unite import unite

if TYPE_CHECKING:
    from shoal.policy.conditions import ColumnCondition


LabelKind: TypeAlias = Literal["interval", "mean", "median"]


class Labeller(Protocol):
    """A way to label the values of a column: one label per value, and one more for null (None: stays null)."""

    def labels(self, column: Column, records: Array) -> pl.Series:
        """The labels; `records[code]` tells how many records have a value, those with none need no label."""
        ...


class Constant(NamedTuple):
    """Every value, null too, becomes the same text.

    >>> from shoal.storage.reading import read
    >>> Constant("*").labels(read({"sex": ["f", "m"]})["sex"], np.array([1, 1])).to_list()
    ['*', '*', '*']
    """

    label: str = "*"

    def labels(self, column: Column, records: Array) -> pl.Series:
        return pl.Series([self.label] * (len(column.values) + 1), dtype=pl.String)


@dataclass(frozen=True)
class Mapped:
    """Values become what a given map says; values and keys are compared as text. Null stays null unless it is a key.

    >>> from shoal.storage.reading import read
    >>> town = read({"town": ["ALLEIN", "AOSTA"]})["town"]
    >>> Mapped({"ALLEIN": "AOSTA", "AOSTA": "AOSTA"}).labels(town, np.array([1, 1])).to_list()
    ['AOSTA', 'AOSTA', None]
    """

    label_of: Mapping[Any, Any] = field(repr=False)

    def labels(self, column: Column, records: Array) -> pl.Series:
        known = dict(zip(_given_texts(self.label_of), self.label_of.values(), strict=True))
        found = pl.Series([_text(known.get(value)) for value in texts_of(column.values)], dtype=pl.String)
        _refuse_missing(found.is_null().to_numpy(), records, column, "map", "label")
        return with_null(found, _text(known.get(None)))


@dataclass(frozen=True)
class NeighbourRuns:
    """Runs of `size` neighbouring distinct values become one label; the last run may be shorter.

    Mean and median are of the records in the run. Text needs its `order`: the values from first to last.

    >>> from shoal.storage.reading import read
    >>> year = read({"year": [1918, 1920, 1921]})["year"]
    >>> NeighbourRuns(2).labels(year, np.array([1, 1, 1])).to_list()
    ['[1918;1920]', '[1918;1920]', '[1921;1921]', None]
    """

    size: int
    label: LabelKind = "interval"
    order: Sequence[Any] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        check_at_least(1, self.size, "A run of distinct values")
        check_choice("label", self.label, get_args(LabelKind))

    def labels(self, column: Column, records: Array) -> pl.Series:
        present = _in_order(column, records, self.order)
        starts = np.arange(0, len(present.codes), self.size)
        lengths = np.add.reduceat(present.records, starts) if len(starts) else present.records
        return _group_labels(column, present, self.label, starts, present.first_rows[starts], lengths)


@dataclass(frozen=True)
class Chunks:
    """The records, sorted by value, are cut into `count` equal chunks; a value joins the first chunk that holds it.

    Chunk i holds the rows floor(i·n/count) .. floor((i+1)·n/count)-1. The median is the middle row of the chunk as it
    was cut, before values joined (Y_avg of Pastore et al.); interval and mean are of the values that joined.

    >>> from shoal.storage.reading import read
    >>> year = read({"year": [1950, 1960, 1970]})["year"]
    >>> Chunks(2).labels(year, np.array([1, 3, 4])).to_list()
    ['1960', '1960', '1970', None]
    """

    count: int
    label: LabelKind = "median"
    order: Sequence[Any] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        check_at_least(1, self.count, "The number of chunks")
        check_choice("label", self.label, get_args(LabelKind))

    def labels(self, column: Column, records: Array) -> pl.Series:
        present = _in_order(column, records, self.order)
        total = int(present.records.sum())
        count = min(self.count, max(total, 1))  # with a chunk for each row, more are empty
        bounds = np.arange(count + 1) * total // count
        chunks, starts = np.unique(np.searchsorted(bounds[1:], present.first_rows, side="right"), return_index=True)
        return _group_labels(column, present, self.label, starts, bounds[chunks], np.diff(bounds)[chunks])


def tree_levels(hierarchy: Any) -> list[Mapped]:
    """The levels of a tree, each as a map from leaves: from a frame (leaf, level1, …) or from maps level by level.

    >>> maps = [{"ALLEIN": "AOSTA", "TUFARA": "CAMPOBASSO"}, {"AOSTA": "VALLE D'AOSTA", "CAMPOBASSO": "MOLISE"}]
    >>> [level.label_of["TUFARA"] for level in tree_levels(maps)]
    ['CAMPOBASSO', 'MOLISE']
    """
    if is_frame(hierarchy):
        return _levels_of_frame(pl.concat(batches(hierarchy, column_names(hierarchy))))
    if not hierarchy:
        raise InputError("The hierarchy has no level.", "Give a map for each level.")
    levels = [dict(hierarchy[0])]
    for number, step in enumerate(hierarchy[1:], 2):
        missing = {label for label in levels[-1].values() if label not in step}
        if missing:
            raise InputError(
                f"Level {number} of the hierarchy misses {len(missing):,} labels of level {number - 1}.",
                "Give each label of a level its label of the next level.",
            )
        levels.append({leaf: step[label] for leaf, label in levels[-1].items()})
    return [Mapped(level) for level in levels]


def _given_texts(given: Iterable[Any]) -> list[str | None]:
    """Values that a caller wrote down, as the text that the same values of a column have."""
    try:
        return texts_of(pl.Series(list(given))).to_list()
    except (TypeError, pl.exceptions.PolarsError):  # a mix of types
        return [_text(value) for value in given]


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _refuse_missing(missing: Array, records: Array, column: Column, where: str, what: str) -> None:
    """Refuse what a given map or order leaves out; values that no row has may be left out."""
    present = records > 0
    if count := int(np.count_nonzero(missing & present)):
        raise InputError(
            f"The {where} for column '{column.name}' misses {count:,} of its {int(present.sum()):,} values.",
            f"Give every value a {what}.",
        )


def _levels_of_frame(frame: pl.DataFrame) -> list[Mapped]:
    if frame.width < 2:
        raise InputError("The hierarchy has no level.", "Give the values in the first column and a level in each next.")
    frame = frame.unique(maintain_order=True)
    leaves = frame.to_series(0)
    if twice := len(leaves) - leaves.n_unique():
        raise InputError(f"The hierarchy places {twice:,} values twice.", "Give each value one place in the tree.")
    keys = leaves.to_list()
    return [Mapped(dict(zip(keys, level.to_list(), strict=True))) for level in frame.get_columns()[1:]]


class _Present(NamedTuple):
    """The codes of the values that occur, in order of value, and the records of each."""

    codes: Array
    records: Array

    @property
    def first_rows(self) -> Array:
        """Where each value starts when all records are sorted by value."""
        return np.asarray(np.cumsum(self.records) - self.records)


def _in_order(column: Column, records: Array, order: Sequence[Any] | None) -> _Present:
    if order is None and isinstance(column.dtype, pl.Enum):
        order = column.dtype.categories.to_list()
    codes = np.flatnonzero(records)
    if order is not None:
        places = {text: place for place, text in enumerate(_given_texts(order))}
        place = np.array([places.get(text, -1) for text in texts_of(column.values)], np.int64)
        _refuse_missing(place < 0, records, column, "order", "place")
        codes = codes[np.argsort(place[codes], kind="stable")]
    elif column.values.dtype == pl.String:
        raise InputError(
            f"Column '{column.name}' holds text, which has no order of values.",
            "Give its values in their order, or recode it by a map.",
        )
    return _Present(codes, records[codes])


def _group_labels(
    column: Column, present: _Present, kind: LabelKind, starts: Array, first_rows: Array, lengths: Array
) -> pl.Series:
    """Labels of groups of neighbours; a group's values begin at `starts`, its median lies within `lengths` rows."""
    ends = np.append(starts, len(present.codes))[1:]
    if kind == "interval":
        texts = texts_of(column.values).gather(present.codes)
        of_group = "[" + texts.gather(starts) + ";" + texts.gather(ends - 1) + "]"
    elif kind == "mean":
        of_group = _means(column, present, starts)
    else:
        middle = np.searchsorted(np.cumsum(present.records), first_rows + _middle(lengths), side="right")
        of_group = texts_of(column.values).gather(present.codes[middle])
    group_of_code = np.full(len(column.values), -1, np.int64)
    group_of_code[present.codes] = np.repeat(np.arange(len(starts)), ends - starts)
    places = pl.Series(group_of_code)
    return with_null(of_group.gather(places.set(places < 0, None)), None)


def _middle(lengths: Array) -> Array:
    """The place of the median among so many rows, by the rule of Pastore's program.

    Of two middle rows the upper one where half the length is even, else the lower one.

    >>> _middle(np.array([1, 2, 3, 4, 6])).tolist()
    [0, 0, 1, 2, 2]
    """
    half = lengths // 2
    return np.asarray(half - ((lengths % 2 == 0) & (half % 2 == 1)))


def _means(column: Column, present: _Present, starts: Array) -> pl.Series:
    if not column.values.dtype.is_numeric():
        raise InputError(f"Column '{column.name}' does not hold numbers: there is no mean.", "Use interval or median.")
    if len(starts) == 0:
        return pl.Series([], dtype=pl.String)
    values = column.values.cast(pl.Float64).to_numpy()[present.codes]
    sums = np.add.reduceat(values * present.records, starts)
    return texts_of(pl.Series(sums / np.add.reduceat(present.records, starts)))


Where = Literal["all", "uniques", "below-k"]
# larger tables are not read again to measure the loss of all columns
_MEASURED = 200_000


class Recode(Method):
    """Values become labels, in all rows or only where records stand out; `search` tries all combinations.

    >>> Recode(generalize={"year": "runs:4"}).where
    'all'
    """

    name: ClassVar[str] = "recode"
    does: ClassVar[str] = (
        "values become labels: by a file (value, label, coarser label, …), `*`, `runs:4` (four distinct values each) "
        "or `chunks:4` (four equal parts of the rows, named after their median)"
    )
    source: ClassVar[str] = "Pastore et al."

    generalize: dict[str, str] = Field(
        default={}, description="Per column a file (value, label, …), *, runs:4 or chunks:4."
    )
    where: Where = Field(default="all", description="In all rows, or only in rows that are unique or below k.")
    search: bool = Field(
        default=False, description="Try all combinations; elect the one with fewest uniques, then fewest changed rows."
    )

    def lacks(self) -> str | None:
        """Something to recode."""
        if not self.generalize and not self.search:
            return Message("needs something to recode: `{generalize}` (what each column becomes) or `{search}`")
        return None

    def allowed(self, table: Table, policy: Policy) -> str | None:
        """Something to recode, and records."""
        return self.lacks() or takes_records_only(policy)

    def change(
        self, table: Table, policy: Policy, conditions: Sequence[ColumnCondition] = (), k_without_policy: bool = False
    ) -> Anonymized:
        """Recode, and measure what comes out."""
        columns = table.select(policy.quasi_identifiers)
        released, parameters, strategies = self.recoded(columns, k_of(policy) or 2)
        classes = class_of_each_row(pack([column.encoded[0] for column in released.values()]))
        findings = findings_of(table, columns, None, released, classes, conditions, closeness_told(policy))
        models = judged(policy, evidence_of_result(table, policy, released, classes[0]))
        findings = replace(findings, strategies=strategies)
        result = Anonymized(self.name, models, findings, table, policy, parameters, released)
        return with_losses(result)

    def recoded(
        self, columns: Sequence[Column], k: int
    ) -> tuple[dict[str, ReleasedColumns], dict[str, Any], list[StrategyFigures] | None]:
        """Recode columns as asked for; with `search`, try every combination and take the best.

        A search without `generalize` tries `*` on every column, and runs and chunks of 4 on those with an order.
        """
        below = {"all": None, "uniques": 2, "below-k": k}[self.where]
        asked = dict(self.generalize) or {column.name: "" for column in columns}
        steps = {
            f"{name}={text}": ColumnRecoding(name, labelling, below)
            for name, how in asked.items()
            for text, labelling in (_all_ways(columns, name) if how == "" else labellings(how))
        }
        rows = Rows(columns)
        parameters: dict[str, Any] = {"generalize": dict(self.generalize), "where": self.where}
        if not self.search:
            first = {step.column: step for step in reversed(steps.values())}
            strategy = Strategy([first[name] for name in asked])
            return _released(columns, recode(rows, strategy).columns, strategy), parameters, None
        strategies = {"original": Strategy([]), **every_combination(steps)}
        election = elect(rows, strategies)
        found = election.figures.items()
        figures = [StrategyFigures(name, one.uniques, one.modified_rows, one.classes, one.k) for name, one in found]
        parameters["elected"] = election.best
        return _released(columns, election.recoded.columns, strategies[election.best]), parameters, figures


def with_losses(result: Anonymized) -> Anonymized:
    """The result with its losses read from what would be written, where they are not known otherwise.

    Unknown stays unknown: where a label is not a range, a set or a node of a tree that holds its value.
    """
    from shoal.utility.quality import quality

    names = result.policy.quasi_identifiers
    if result.table.rows > _MEASURED or not set(names) <= set(result.quasi_identifiers):
        return result
    figures = quality(result.table, result.shown, names, analysis=False)
    known = result.findings.information_loss
    information = figures.information_loss if known is None else known
    return replace(result, findings=replace(result.findings, loss=figures.loss, information_loss=information))


def labellings(how: str) -> list[tuple[str, Labeller]]:
    """The ways to label a column that a text stands for, finest first; a file has one per level.

    >>> labellings("runs:4")[0][1].size
    4
    """
    kind, colon, number = how.partition(":")
    if how == "*":
        return [("*", Constant("*"))]
    if colon and kind in ("runs", "chunks") and number.isdigit() and int(number):
        return [(how, NeighbourRuns(int(number)) if kind == "runs" else Chunks(int(number)))]
    if not Path(how).is_file():
        raise InputError(
            f"'{how}' is not a way to generalise a column.",
            "Name a file (value, label, …), or write *, runs:4 or chunks:4.",
        )
    levels = tree_levels(read(how).to_polars().cast(pl.String))
    return [(f"level {number}", level) for number, level in enumerate(levels, 1)]


def _all_ways(columns: Sequence[Column], name: str) -> list[tuple[str, Labeller]]:
    column = next(column for column in columns if column.name == name)
    ways: list[tuple[str, Labeller]] = [("runs:4", NeighbourRuns(4)), ("chunks:4", Chunks(4)), ("*", Constant("*"))]
    return ways if column.dtype.is_numeric() or column.dtype.is_temporal() else ways[2:]


def _released(before: Sequence[Column], after: Sequence[Column], strategy: Strategy) -> dict[str, ReleasedColumns]:
    columns = {}
    labels: Mapping[str, Labeller] = {step.column: step.labelling for step in strategy.steps}
    for old, new in zip(before, after, strict=True):
        if new is old:
            columns[old.name] = as_it_was(old)
            continue
        own, shown = (column.decode().cast(pl.String) for column in (old, new))
        changed = own.ne_missing(shown)
        nature: Nature = "representative" if isinstance(labels.get(old.name), Chunks) else "truthful"
        form = ColumnForm(kind="label", type=type_word(old.dtype), escaped=old.values.dtype == pl.String)
        # values of the original that look like released texts are marked as what they are
        if old.values.dtype == pl.String and not escape(old.values).equals(old.values):
            shown = shown.zip_with(changed, escape(shown))
        columns[old.name] = ReleasedColumns([shown], nature, changed.to_numpy(), form, pack([old, new]))
    return columns


# Recoding: values become labels, in a whole column or only in the rows that stand out (Pastore et al.).
#
# A recoding is a map from the dictionary of a column to labels, so that rows are touched only to look codes up. Labels
# are always of the *original* value: a later step on the same column replaces what an earlier one wrote.


@dataclass(frozen=True)
class ColumnRecoding:
    """Labels for one column: in all rows, or only in those whose class has fewer than `below` records (2: uniques)."""

    column: str
    labelling: Labeller
    below: int | None = None

    def __post_init__(self) -> None:
        if self.below is not None:
            check_at_least(2, self.below, "The size under which a class is recoded")


class Strategy(NamedTuple):
    """Recodings one after the other: classes are counted anew before each, or, if not `sequential`, only once.

    Recodings of whole columns give the same either way.
    """

    steps: Sequence[ColumnRecoding] = ()
    sequential: bool = True


@dataclass(frozen=True)
class RecodingFigures:
    """What a strategy leaves and what it costs, in records; `modified_rows` differ as text in some column."""

    records: int
    uniques: int
    classes: int
    k: int
    modified_rows: int
    removed_rows: int = 0

    @property
    def uniqueness(self) -> float:
        return self.uniques / self.records if self.records else 0.0

    @property
    def affected_rows(self) -> int:
        return self.modified_rows + self.removed_rows


class Recoded(NamedTuple):
    """The columns after a strategy, and its figures; a column in which no value changed is the one that came in."""

    columns: Sequence[Column]
    figures: RecodingFigures


def recode(
    rows: Rows, strategy: Strategy, quasi_identifiers: Sequence[str] | None = None, removed_rows: int = 0
) -> Recoded:
    """Recode columns of rows and count the classes of the quasi-identifiers (all columns, if none are named).

    Labels are compared as text with the values that stay: a town recoded to the province AOSTA falls together with the
    town AOSTA. `removed_rows` are records that were set aside before, counted as affected.

    >>> from shoal.storage.reading import read
    >>> rows = Rows.of(read({"year": [1970, 1970, 1971], "sex": ["f", "f", "m"]}), ["year", "sex"])
    >>> from shoal.methods.recode import Constant
    >>> recoded = recode(rows, Strategy([ColumnRecoding("sex", Constant("*"), below=2)]))
    >>> recoded.columns[1].decode().to_list(), recoded.figures.uniques, recoded.figures.modified_rows
    (['f', 'f', '*'], 1, 1)
    """
    original = {column.name: column for column in rows.columns}
    names = list(original) if quasi_identifiers is None else as_names(quasi_identifiers)
    _check_asked(rows, strategy, names)
    changing = _changing_columns(rows, strategy.steps)
    turn: Counter[str] = Counter()
    for step in strategy.steps:
        now: Mapping[str, Codes] = {**original, **changing} if strategy.sequential else original
        turn[step.column] += 1
        where = None
        if step.below is not None:  # the rows in classes that are too small
            classes, count = class_of_each_row(pack([now[name] for name in names]))
            where = (np.bincount(classes, rows.weights, count) < step.below)[classes]
        changing[step.column].apply(turn[step.column], where)
    columns = [changing[name].finish() if name in changing else column for name, column in original.items()]
    sizes = class_sizes([column for column in columns if column.name in names], rows.weights)
    modified = np.zeros(rows.count, bool)
    for changed in changing.values():
        modified |= changed.changed()
    uniques, k = int(np.count_nonzero(sizes == 1)), int(sizes.min(initial=rows.records))
    figures = RecodingFigures(rows.records, uniques, len(sizes), k, rows.records_in(modified), removed_rows)
    return Recoded(columns, figures)


def _check_asked(rows: Rows, strategy: Strategy, names: Sequence[str]) -> None:
    present = [column.name for column in rows.columns]
    asked = [*names, *(step.column for step in strategy.steps)]
    if missing := [name for name in dict.fromkeys(asked) if name not in present]:
        raise InputError.missing_columns(missing, present, "The table to recode")
    if not names:
        raise InputError("There is no quasi-identifier to count by.", "Name one at least.")
    if rows.person is not None:
        raise InputError("Recoding counts records, not persons.", "Leave the person column out.")


@dataclass
class _ChangingColumn:
    """A column on its way: codes into all texts it may come to hold; `lookups[i]` is what step i makes of a code."""

    column: Column
    texts: pl.Series
    lookups: Sequence[Array]
    codes: Array

    @classmethod
    def of(cls, column: Column, labels: Sequence[pl.Series]) -> _ChangingColumn:
        texts, codes = unite([with_null(texts_of(column.values), None), *labels])
        narrow = codes.astype(smallest_unsigned(len(texts) + 1))
        lookups = np.split(narrow, len(labels) + 1)
        return cls(column, texts, lookups, lookups[0][column.codes])

    @property
    def cardinality(self) -> int:
        return len(self.texts) + 1

    def apply(self, step: int, where: Array | None) -> None:
        """Write the labels of a step into some rows, or into all."""
        labels = self.lookups[step][self.column.codes]
        self.codes = labels if where is None else np.where(where, labels, self.codes)

    def changed(self) -> Array:
        """Which rows differ as text from what came in."""
        return np.asarray(self.codes != self.lookups[0][self.column.codes])

    def finish(self) -> Column:
        """As a column of text that knows only the texts that are left; unchanged, as it came in."""
        if not self.changed().any():
            return self.column
        left = np.bincount(self.codes, minlength=self.cardinality) > 0
        places: Array = np.cumsum(left) - left
        values = self.texts.filter(left[:-1]).alias(self.column.name)
        nulls = int(np.count_nonzero(self.codes == len(self.texts)))
        narrow = smallest_unsigned(len(values) + (nulls > 0))
        return Column(self.column.name, places.astype(narrow)[self.codes], values, nulls, pl.String())


def _changing_columns(rows: Rows, steps: Sequence[ColumnRecoding]) -> dict[str, _ChangingColumn]:
    """The columns that a strategy recodes, with the labels of all its steps; the faults of all of them in one error."""
    by_name = {column.name: column for column in rows.columns}
    labels: dict[str, list[pl.Series]] = {step.column: [] for step in steps}
    faults: dict[str, str | None] = {}
    for step in steps:
        column = by_name[step.column]
        try:
            # how many records have each value, null left out
            records = np.bincount(column.codes, rows.weights, len(column.values) + 1)[: len(column.values)]
            labels[step.column].append(step.labelling.labels(column, records.astype(np.int64)))
        except InputError as fault:
            faults[fault.what] = fault.cure
    if faults:
        raise InputError(joined(faults, " "), joined(dict.fromkeys(filter(None, faults.values())), " "))
    return {name: _ChangingColumn.of(by_name[name], found) for name, found in labels.items()}


# Which strategy is best: all are measured on the count table, the elected one is applied to the rows.


class Election(NamedTuple):
    """The name of the best strategy, the figures of all in the order given, and the rows recoded by the best."""

    best: str
    figures: Mapping[str, RecodingFigures]
    recoded: Recoded


def elect(
    rows: Rows,
    strategies: Mapping[str, Strategy],
    quasi_identifiers: Sequence[str] | None = None,
    removed_rows: int = 0,
) -> Election:
    """Measure all strategies and apply the best.

    >>> from shoal.storage.reading import read
    >>> from shoal.methods.recode import Constant
    >>> rows = Rows.of(read({"year": [1970, 1970, 1970], "sex": ["f", "f", "m"]}), ["year", "sex"])
    >>> recodings = {"S": ColumnRecoding("sex", Constant()), "Y": ColumnRecoding("year", Constant())}
    >>> election = elect(rows, every_combination(recodings))
    >>> election.best, {name: figures.uniques for name, figures in election.figures.items()}
    ('S', {'S': 0, 'Y': 1, 'S+Y': 0})
    """
    names = [column.name for column in rows.columns] if quasi_identifiers is None else as_names(quasi_identifiers)
    steps = [step for strategy in strategies.values() for step in strategy.steps]
    counted = _counted(rows, {*names, *(step.column for step in steps)})
    figures = {name: recode(counted, strategy, names, removed_rows).figures for name, strategy in strategies.items()}
    best = best_of(figures)
    return Election(best, figures, recode(rows, strategies[best], names, removed_rows))


def best_of(figures: Mapping[str, RecodingFigures]) -> str:
    """Fewest uniques, then fewest affected rows (modified or removed), then the first given.

    >>> some, less = RecodingFigures(9, 0, 2, 4, 6), RecodingFigures(7, 0, 2, 3, 3, 2)
    >>> best_of({"none": RecodingFigures(9, 4, 9, 1, 0), "some": some, "less": less})
    'less'
    """
    if not figures:
        raise InputError("There is no strategy to elect from.", "Name one at least.")
    return min(figures, key=lambda name: (figures[name].uniques, figures[name].affected_rows))


def every_combination(recodings: Mapping[str, ColumnRecoding]) -> dict[str, Strategy]:
    """All strategies of some named recodings, at most one for each column; names are joined by `+`.

    >>> from shoal.methods.recode import Chunks, Constant, NeighbourRuns
    >>> year = {"Y_ran": ColumnRecoding("year", NeighbourRuns(4)), "Y_avg": ColumnRecoding("year", Chunks(4))}
    >>> list(every_combination({"S": ColumnRecoding("sex", Constant()), **year}))
    ['S', 'Y_ran', 'Y_avg', 'S+Y_ran', 'S+Y_avg']
    """
    found: dict[str, Strategy] = {}
    for size in range(1, len({recoding.column for recoding in recodings.values()}) + 1):
        for names in combinations(recodings, size):
            steps = [recodings[name] for name in names]
            if len({step.column for step in steps}) == size:
                found["+".join(names)] = Strategy(steps)
    return found


def _counted(rows: Rows, names: Container[str]) -> Rows:
    """The distinct tuples with their counts: what a recoding does to a row depends on nothing else."""
    used = [column for column in rows.columns if column.name in names] or rows.columns
    table = CountTable.of({column.name: column for column in used}, rows.weights)
    columns = []
    for column in used:
        codes = table.tuples[column.name].codes
        columns.append(replace(column, codes=codes, nulls=int(np.count_nonzero(codes == len(column.values)))))
    return replace(rows, columns=columns, weights=table.counts)
