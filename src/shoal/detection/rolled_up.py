"""Sets of columns of a table whose tuples are too many for one machine: each set is rolled up where the rows are.

All sets of one column are counted, then those of two, and so on, while there is time: a set that holds an identifier is
one itself and is not counted. Shares of columns (`contributions`) need every set and are told only where all were
counted.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from shoal import progress
from shoal.detection.contributions import TELLS_NOTHING, shares_of_all_sets
from shoal.detection.results import Bound, Detection, FoundSet
from shoal.detection.search import NEAR, NEAR_SIZE, Columns
from shoal.engine import Engine, SizeHistogram
from shoal.storage.reading.files import Options
from shoal.vocabulary import NullRule

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
        near_identifiers=_near(work),
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
                return size - 1, best
            progress.report(f"counting sets of {size} columns", number)
            if work.identifies(some) or work.measure(some).uniques == work.records:
                continue
            if size not in best or work.found[some].uniques > best[size].uniques:
                best[size] = work.found[some]
    return most, best


def _most_uniques(work: RollUps, columns: Columns, whole: FoundSet) -> int:
    """What bounds the uniques of any set without an identifier: one that is none leaves at least two alike."""
    everything = whole if len(columns) == len(work.names) or not columns else work.measure(columns)
    return everything.uniques if everything.uniques < work.records else max(work.records - 2, 0)


def _minimal(work: RollUps, proven: int) -> list[Columns]:
    """Identifiers of which no part is one: of sets up to the size of which all were counted."""
    found = [some for some, set_ in work.found.items() if set_.uniques == work.records and len(some) <= max(proven, 1)]
    minimal = [some for some in found if not any(set(other) < set(some) for other in found)]
    return sorted(minimal, key=lambda some: (len(some), some))


def _near(work: RollUps) -> list[list[str]]:
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
    """The figures of a set, from its class sizes; the formulas are those of `describe`."""
    sizes, classes = found.sizes.astype(np.float64), int(found.classes.sum())
    uniques = int(found.classes[found.sizes == 1].sum())
    alike = float((found.classes * sizes * (sizes - 1)).sum())
    separation = 1 - alike / (records * (records - 1.0)) if records > 1 else 1.0
    return FoundSet(names, uniques, uniques / records, classes, classes / records, separation)
