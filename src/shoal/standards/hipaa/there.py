"""Safe harbor where the rows stay with their engine: each column by its different values, births by years together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from shoal.dataclasses import dataclass
from shoal.engine import Engine, Recoding
from shoal.reading import Options
from shoal.standards.hipaa.ages import top_coded
from shoal.standards.hipaa.clauses import Treatment
from shoal.standards.hipaa.treat import Births, Years, old_rows
from shoal.table import Array, Column, Table


@dataclass(frozen=True)
class There:
    """The rows of a table that stay with their engine: what is needed of them is asked column by column."""

    engine: Engine
    source: Any
    table: Table
    options: Options | None

    def births(self, treatments: Sequence[Treatment], years: Years) -> tuple[Births | None, dict[str, Recoding]]:
        """Dates of birth beside ages and events, counted by year; and how each of these columns is coded for that."""
        actions = {entry.column: entry.action for entry in treatments}
        born = [name for name, action in actions.items() if action == "date-of-birth"]
        if not born:
            return None, {}
        dates = [name for name, action in actions.items() if action == "date"]
        ages = [name for name, action in actions.items() if action == "age"]
        taken = {*self.table.source_names}
        helpers = {name: _free(f"{name} in years", taken) for name in (*born, *dates, *ages)}
        coded = {
            name: Recoding([name], {helper: _coded(self.table[name], years.of_column.get(name))})
            for name, helper in helpers.items()
        }
        rows = self.engine.recode(self.source, list(coded.values()), list(helpers.values()), self.options)
        counted = self.engine.count(rows, list(helpers.values()))
        column = {name: counted.columns[helper] for name, helper in helpers.items()}
        year_of = {name: column[name].values.to_numpy() >> 1 for name in (*born, *dates)}
        year = {name: np.append(year_of[name], -1)[column[name].codes] for name in year_of}
        told = [np.append(column[name].values.to_numpy() > 0, False)[column[name].codes] for name in ages]
        old = old_rows([year[name] for name in born], [year[name] for name in dates], told, years.year_of_data)
        shown = {name: _as_written(name, column[name], counted.counts) for name in born}
        return Births(shown, {name: year_of[name] for name in born}, old), coded

    def changed(self, series: Mapping[str, pl.Series], births: Births | None, coded: Mapping[str, Recoding]) -> Table:
        """The table whose rows hold what each value became, of the columns that are left in their order."""
        born = () if births is None else tuple(births.columns)
        steps = []
        for name in self.table.source_names:
            becomes = dict(coded[name].becomes) if name in coded else {}
            if name in series and name not in born and not series[name].equals(self.table[name].decode()):
                becomes[name] = series[name]
            if becomes:
                steps.append(Recoding([name], becomes))
        if born:
            helpers = [helper for recoding in coded.values() for helper in recoding.becomes]
            steps.append(Recoding(helpers, {name: series[name] for name in born}))
        names = [name for name in self.table.source_names if name in series]
        return replace(self.table, native=self.engine.recode(self.source, steps, names, self.options))


def _free(name: str, taken: set[str]) -> str:
    """A name that no column has."""
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def _coded(column: Column, years: Array | None) -> pl.Series:
    """Of a date twice its year, and one more where it is written as a year; of an age whether it is over 89."""
    if years is None:
        codes = top_coded(column.values, column.name)[1].astype(np.int64)
    else:
        known = np.maximum(years, 0).astype(np.int64)
        written = column.values.cast(pl.String) == pl.Series(known).cast(pl.String)
        codes = 2 * known + written.fill_null(False).to_numpy()
    return pl.Series(codes).extend_constant(None, 1).gather(column.codes)


def _as_written(name: str, coded: Column, records: Array) -> Column:
    """A coded date of birth with texts for its values: the year where it was written as one, else no text of a year."""
    codes = coded.values.to_numpy()
    texts = pl.Series(codes >> 1).cast(pl.String).zip_with(pl.Series(codes % 2 == 1), _date_of(len(codes)))
    shown = replace(coded, name=name, values=texts, dtype=pl.String())
    return shown.counting(np.arange(len(shown.codes)), records)


def _date_of(count: int) -> pl.Series:
    return pl.Series(["a date"]).new_from_index(0, count)
