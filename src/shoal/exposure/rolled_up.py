"""Class sizes of a table whose tuples are too many for one machine: histograms from where its rows are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from shoal.engine import Engine, SizeHistogram, TooManyTuples
from shoal.errors import Message
from shoal.exposure.measure import ClassHistogram
from shoal.policy import Policy
from shoal.policy.default_policy import DefaultPolicy
from shoal.ranges.parsing import forms_in
from shoal.storage.reading import Options
from shoal.storage.rows import Rows
from shoal.vocabulary import Generalized, NullRule

NOTE = "the tuples are too many for one machine: classes were counted where the rows are, readings of nulls were not"


@dataclass(frozen=True)
class RolledUpClasses:
    """The classes of sets of columns, the first of them first, by their sizes alone: what `CountedClasses` tells of
    tuples that are here. No row is."""

    sizes: Mapping[tuple[str, ...], SizeHistogram]
    missing: Mapping[str, int]
    rows: Rows

    @classmethod
    def counted(
        cls,
        engine: Engine,
        source: Any,
        sets: Sequence[Sequence[str]],
        reading: tuple[NullRule, Generalized],
        count: str | None,
        options: Options | None,
    ) -> RolledUpClasses:
        """Counted in one pass by the engine; refuses generalised texts, which match more than their equals."""
        rule, generalized = reading
        missing = _missing_values(engine, source, sets[0], generalized, count, options)
        dropped = list(dict.fromkeys(name for columns in sets for name in columns)) if rule == "drop" else ()
        found = engine.sizes(source, sets, count=count, without_nulls=dropped, options=options)
        sizes = {tuple(columns): histogram for columns, histogram in zip(sets, found, strict=True)}
        return cls(sizes, {} if dropped else missing, Rows([]))

    @cached_property
    def _first(self) -> SizeHistogram:
        return next(iter(self.sizes.values()))

    @property
    def records(self) -> int:
        return int((self._first.sizes * self._first.classes).sum())

    @property
    def removed(self) -> int:
        return self._first.removed

    def of(self, columns: Sequence[str]) -> ClassHistogram:
        """The classes of some columns."""
        found = self.sizes[tuple(columns)]
        uniques = int(found.classes[found.sizes == 1].sum())
        return ClassHistogram(found.sizes, found.classes, found.sizes * found.classes, uniques)


def refuse_beyond_equality(
    error: TooManyTuples, policy: Policy | DefaultPolicy, rule: NullRule, *asked: object
) -> None:
    """Raise the error again where something was asked for that needs the tuples themselves."""
    about_tuples = any(model.needs_files or model.needs_keys for model in policy.models)
    if about_tuples or rule == "wildcard" or any(asked):
        raise error


def _missing_values(
    engine: Engine,
    source: Any,
    names: Sequence[str],
    generalized: Generalized,
    count: str | None,
    options: Options | None,
) -> dict[str, int]:
    """Records without a value, column by column; refuses generalised texts, which match more than their equals."""
    missing_by_column = {}
    for name in names:
        counted = engine.count(source, [name], count=count, options=options)
        if forms_in(counted.columns[name], generalized):
            raise TooManyTuples(
                f"Column '{name}' holds generalised texts, and the tuples are too many to be compared on one machine.",
                Message("Measure fewer columns, or set `{generalized}` to no to compare texts as they are."),
            )
        if missing := counted.rows.records_in(counted.columns[name].is_null()):
            missing_by_column[name] = missing
    return missing_by_column
