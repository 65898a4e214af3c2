"""Which strategy is best: all are measured on the count table, the elected one is applied to the rows."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from shoal.anonymization.transforms.recode import Figures, Recoded, Recoding, Strategy, recode
from shoal.dataclasses import dataclass
from shoal.errors import InputError, as_names
from shoal.table.classes import CountTable
from shoal.table.rows import Rows


@dataclass(frozen=True)
class Election:
    """The name of the best strategy, the figures of all in the order given, and the rows recoded by the best."""

    best: str
    figures: Mapping[str, Figures]
    recoded: Recoded


def elect(
    rows: Rows,
    strategies: Mapping[str, Strategy],
    quasi_identifiers: Sequence[str] | None = None,
    removed_rows: int = 0,
) -> Election:
    """Measure all strategies and apply the best.

    >>> from shoal.reading import read
    >>> from shoal.anonymization.transforms.labels import Constant
    >>> rows = Rows.of(read({"year": [1970, 1970, 1970], "sex": ["f", "f", "m"]}), ["year", "sex"])
    >>> found = elect(rows, every_combination({"S": Recoding("sex", Constant()), "Y": Recoding("year", Constant())}))
    >>> found.best, {name: figures.uniques for name, figures in found.figures.items()}
    ('S', {'S': 0, 'Y': 1, 'S+Y': 0})
    """
    names = [column.name for column in rows.columns] if quasi_identifiers is None else as_names(quasi_identifiers)
    steps = [step for strategy in strategies.values() for step in strategy.steps]
    counted = _counted(rows, {*names, *(step.column for step in steps)})
    figures = {name: recode(counted, strategy, names, removed_rows).figures for name, strategy in strategies.items()}
    best = best_of(figures)
    return Election(best, figures, recode(rows, strategies[best], names, removed_rows))


def best_of(figures: Mapping[str, Figures]) -> str:
    """Fewest uniques, then fewest affected rows (modified or removed), then the first given.

    >>> best_of({"none": Figures(9, 4, 9, 1, 0), "some": Figures(9, 0, 2, 4, 6), "less": Figures(7, 0, 2, 3, 3, 2)})
    'less'
    """
    if not figures:
        raise InputError("There is no strategy to elect from.", "Name one at least.")
    return min(figures, key=lambda name: (figures[name].uniques, figures[name].affected_rows))


def every_combination(recodings: Mapping[str, Recoding], sequential: bool = True) -> dict[str, Strategy]:
    """All strategies of some named recodings, at most one for each column; names are joined by `+`.

    >>> from shoal.anonymization.transforms.labels import Chunks, Constant, Runs
    >>> year = {"Y_ran": Recoding("year", Runs(4)), "Y_avg": Recoding("year", Chunks(4))}
    >>> list(every_combination({"S": Recoding("sex", Constant()), **year}))
    ['S', 'Y_ran', 'Y_avg', 'S+Y_ran', 'S+Y_avg']
    """
    found: dict[str, Strategy] = {}
    for size in range(1, len({recoding.column for recoding in recodings.values()}) + 1):
        for names in combinations(recodings, size):
            steps = [recodings[name] for name in names]
            if len({step.column for step in steps}) == size:
                found["+".join(names)] = Strategy(steps, sequential)
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
