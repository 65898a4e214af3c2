"""Pastore, Pellegrino and Scarano: detection, the strategies of Table 1, the best of them, on any licence table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import polars as pl

from shoal import progress
from shoal.detection import detect
from shoal.errors import InputError
from shoal.methods.anonymize import anonymize
from shoal.methods.recode import (
    Chunks,
    ColumnRecoding,
    Constant,
    Mapped,
    NeighbourRuns,
    RecodingFigures,
    Strategy,
    elect,
    every_combination,
    recode,
)
from shoal.reproduction.pastore_exhibits import exhibits
from shoal.reproduction.results import Reproduction
from shoal.reproduction.sample import sample_data
from shoal.storage import Table
from shoal.storage.classes import class_sizes
from shoal.storage.reading import Options, read
from shoal.storage.rows import Rows

TITLE = "Detecting and generalizing quasi-identifiers by affecting singletons"
SOURCE = "Pastore, Pellegrino, Scarano: detection, Table 1, the claims of the text, the election of the best"
COUNT = "n"
KS = (2, 3, 5, 10, 20)


@dataclass(frozen=True)
class LicenceColumns:
    """The columns of a licence table; `count` None: the column n if there is one, else every row is a record."""

    year: str = "anno_nascita"
    municipality: str = "comune_residenza"
    province: str = "provincia_residenza"
    sex: str = "sesso"
    count: str | None = None

    @property
    def quasi_identifiers(self) -> list[str]:
        return [self.year, self.municipality, self.sex]


def pastore(
    source: Any = None, names: LicenceColumns | None = None, *, seed: int = 0, options: Options | None = None
) -> Reproduction:
    """All of the paper on a table of counts or rows; on generated licences if none is given.

    >>> import polars as pl
    >>> people = pl.DataFrame({"anno_nascita": [1970, 1970, 1971], "comune_residenza": ["A", "A", "B"],
    ...                        "provincia_residenza": ["P", "P", "P"], "sesso": ["F", "F", "M"]})
    >>> [row["uniques"] for row in pastore(people).found["strategies"]][:4]
    [1, 1, 1, 1]
    """
    names = names or LicenceColumns()
    table = read(sample_data("licences", seed=seed) if source is None else source, options=options)
    found = measure(table, names)
    found["generated"] = source is None
    found["seed"] = seed
    whose = "synthetic licences" if source is None else "the table that was passed"
    text = (
        f"Measured on {whose}: {found['records']:,} records, {found['removed_rows']:,} more set aside for a "
        "missing value in "
        "one of the three columns. S: sex to one constant; M: municipality to its province; Y_ran: runs of four "
        "distinct years; Y_avg: "
        "four equal chunks of records; loc: only in records that are unique."
    )
    return Reproduction.of("pastore", TITLE, SOURCE, text, found, exhibits(found))


def measure(table: Table, names: LicenceColumns) -> dict[str, Any]:
    """All figures as plain JSON."""
    count = names.count or (COUNT if COUNT in table.names else None)
    wanted = [*names.quasi_identifiers, names.province, *([count] if count else [])]
    if missing := [name for name in wanted if name not in table.names]:
        raise InputError.missing_columns(missing, table.names, table.name)
    rows, removed = Rows.of(table, names.quasi_identifiers, count).without_nulls("drop")
    recodings = _recodings(names, _provinces(table, names))
    progress.report("strategies", 0)
    election = elect(rows, _strategies(recodings), removed_rows=removed)
    named = {_name(name): figures for name, figures in election.figures.items()}
    progress.report("detection", 0)
    searched = [names.year, names.municipality, names.province, names.sex]
    detected = detect(table, columns=searched, null_rule="drop", count=count)
    return {
        "records": rows.records,
        "removed_rows": removed,
        "columns": asdict(names) | {"count": count},
        "detection": {
            "best": None if detected.best is None else asdict(detected.best),
            "identifiers": detected.identifiers,
            "by_size": [asdict(entry) for entry in detected.by_size],
            "determined_by": detected.determined_by,
        },
        "strategies": [{"strategy": name, **_as_json(figures)} for name, figures in named.items()],
        "best": _name(election.best),
        "anonymize_k_2": _plain(rows, names),
        "k_anonymity": [_to_k(rows, recodings, named, k) for k in KS],
    }


def _plain(rows: Rows, names: LicenceColumns) -> dict[str, Any]:
    """What `anonymize` does on its own, asked for classes of two: on the records, each a row."""
    progress.report("anonymize -k 2", 0)
    frame = pl.DataFrame({column.name: column.decode() for column in rows.columns})
    if rows.weights is not None:
        frame = frame.select(pl.all().repeat_by(pl.Series(rows.weights))).explode(frame.columns)
    if frame.height < 2:
        return {"uniques": frame.height, "uniqueness": 1.0, "modified_rows": 0, "classes": frame.height, "k": 1}
    found = anonymize(frame, quasi_identifiers=names.quasi_identifiers, k=2, method="mondrian").findings
    return {
        "uniques": found.uniques,
        "uniqueness": found.uniques / frame.height,
        "modified_rows": found.modified_rows,
        "classes": found.classes,
        "k": found.k,
    }


def _provinces(table: Table, names: LicenceColumns) -> Mapped:
    """Municipality to province, as the rows of the table have it."""
    town, province = table.select([names.municipality, names.province])
    pairs = np.unique(np.stack([town.codes, province.codes]).astype(np.int64), axis=1)
    known = (pairs[0] < len(town.values)) & (pairs[1] < len(province.values))
    pairs = pairs[:, known]
    if len(np.unique(pairs[0])) < len(pairs[0]):
        raise InputError(
            f"A value of '{names.municipality}' has several of '{names.province}'.",
            "A municipality lies in one province: make its name unambiguous first.",
        )
    texts = [column.values.cast(pl.String).to_list() for column in (town, province)]
    return Mapped({texts[0][one]: texts[1][other] for one, other in pairs.T.tolist()})


def _recodings(names: LicenceColumns, provinces: Mapped) -> dict[str, ColumnRecoding]:
    return {
        "S": ColumnRecoding(names.sex, Constant()),
        "M": ColumnRecoding(names.municipality, provinces),
        "Y_ran": ColumnRecoding(names.year, NeighbourRuns(4)),
        "Y_avg": ColumnRecoding(names.year, Chunks(4)),
    }


def _below(recoding: ColumnRecoding, k: int) -> ColumnRecoding:
    """The same, only in classes of fewer than k."""
    return ColumnRecoding(recoding.column, recoding.labelling, k)


def _strategies(recodings: Mapping[str, ColumnRecoding]) -> dict[str, Strategy]:
    """The 15 rows of Table 1."""
    local = {f"{name}_loc": _below(recodings[name], 2) for name in ("S", "M")}
    return {"original": Strategy(), **every_combination(local), **every_combination(recodings)}


def _name(strategy: str) -> str:
    """As Table 1 writes it: both local ones are S+M_loc."""
    return strategy.replace("S_loc+M_loc", "S+M_loc")


def _as_json(figures: RecodingFigures) -> dict[str, Any]:
    return {
        "uniques": figures.uniques,
        "uniqueness": figures.uniqueness,
        "modified_rows": figures.modified_rows,
        "classes": figures.classes,
        "k": figures.k,
    }


def _to_k(
    rows: Rows, recodings: Mapping[str, ColumnRecoding], measured: Mapping[str, RecodingFigures], k: int
) -> dict[str, Any]:
    """What k-anonymity asks: in classes under k (S, then M, then Y_ran; the rest removed), or in whole columns."""
    local = recode(rows, Strategy([_below(recodings[name], k) for name in ("S", "M", "Y_ran")]))
    sizes = class_sizes(list(local.columns), rows.weights)
    before = class_sizes(list(rows.columns), rows.weights)
    removed = int(sizes[sizes < k].sum())  # all of them were modified on the way: a class of k is never touched
    whole = {name: figures for name, figures in measured.items() if figures.k >= k and not name.endswith("_loc")}
    best = min(whole, key=lambda name: whole[name].modified_rows, default=None)
    return {
        "k": k,
        "records_under_k": int(before[before < k].sum()),
        "local_modified_rows": local.figures.modified_rows - removed,
        "local_removed_rows": removed,
        "local_classes": int(np.count_nonzero(sizes >= k)),
        "global_strategy": best,
        "global_modified_rows": None if best is None else whole[best].modified_rows,
        "global_classes": None if best is None else whole[best].classes,
    }
