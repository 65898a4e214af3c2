"""Sánchez, Martínez and Domingo-Ferrer: every table and figure on the generated discharge table."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from shoal.errors import InputError
from shoal.methods.coarsen import intervals
from shoal.methods.partition import Effort
from shoal.methods.regenerate import filled_cells
from shoal.methods.sorted_clusters import closeness_bound, sorted_clusters
from shoal.policy.judgement.shown_classes import attribute_disclosure
from shoal.reproduction import sanchez_beside as beside
from shoal.reproduction import sanchez_figures as figures
from shoal.reproduction import sanchez_masks as masks
from shoal.reproduction import sanchez_printed as printed
from shoal.reproduction import sanchez_sweeps as sweeps
from shoal.reproduction import sanchez_tables as tables
from shoal.reproduction.results import PaperPart, Reproduction, quoted
from shoal.reproduction.sample import sample_data
from shoal.reproduction.sample.discharges import QUASI_IDENTIFIERS
from shoal.reproduction.sanchez_methods import (
    HIGH_CHARGE,
    Discharges,
    closeness,
    correlations,
    k_anonymity,
    knowledge,
    least_loss,
    masking,
    original,
)
from shoal.reproduction.sanchez_sweeps import sweep
from shoal.storage.reading import Options, read
from shoal.utility.loss import compared

LEAST_ROWS = 100
TITLE = "How to avoid reidentification with proper anonymization"
SOURCE = "Sánchez, Martínez, Domingo-Ferrer, arXiv 1511.05957: the comment and its supplement"


def sanchez(
    rows: int | None = None,
    seed: int = 0,
    effort: Effort = "default",
    *,
    data: Any = None,
    options: Options | None = None,
) -> Reproduction:
    """All of the paper on so many generated discharges, or on a table that has their columns (`data`).

    >>> found = sanchez(rows=200).found
    >>> found["eq1"]["CST"], found["s2"]["2"]["uniques"]
    (200, 0)
    """
    if data is None:
        rows = printed.ROWS if rows is None else rows
        if rows < LEAST_ROWS:
            raise InputError(f"{rows} records are too few to show anything.", f"Set rows to {LEAST_ROWS} or more.")
        table = Discharges.generated(rows, seed)
    else:
        table = Discharges.read(data, options)
        if table.rows < LEAST_ROWS:
            raise InputError(f"{table.rows} records are too few to show anything.", f"Pass {LEAST_ROWS} or more.")
    found = {**measure(table, seed, effort), "generated": data is None, "attributes": attributes_of(data, options)}
    whose = (
        f"{table.rows:,} synthetic hospital discharges (seed {seed})"
        if data is None
        else (f"the {table.rows:,} hospital discharges that were passed")
    )
    text = (
        f"Measured on {whose}. The authors' table is not part of shoal: "
        f"by the paper it {quoted(printed.ON_REQUEST)}. The figures of the paper are pictures without numbers; ours "
        "are drawn from what was measured, and the numbers and sentences of the text stand beside. SPD is the paper's "
        "name for the table before masking, PD for the masked one. Released records are boxes; a record "
        "is unique by Eq 1."
    )
    made = Reproduction.of("sanchez", TITLE, SOURCE, text, found, exhibits(found))
    return replace(made, files=tables.writers(table))


def attributes_of(data: Any, options: Options | None) -> list[str]:
    """The attributes of Table S1 that a table has: the one that was passed, or a sample."""
    names = sample_data("discharges-with-diagnosis", 1).columns if data is None else read(data, options=options).names
    return [name for name in names if name in printed.ATTRIBUTES]


def exhibits(found: dict[str, Any]) -> list[PaperPart]:
    """In the order of the paper: its figures, then its supplement, then what is beside it."""
    parts = (
        figures.fig_1,
        figures.fig_2,
        tables.table_s1,
        tables.table_s2,
        tables.table_s3,
        masks.fig_s1,
        masks.fig_s2,
        masks.table_s4,
        masks.table_s5,
        figures.fig_s3,
        tables.table_s6,
        tables.table_s7,
        tables.table_s8,
        figures.fig_s4,
        sweeps.fig_s5,
        sweeps.fig_s6,
        tables.table_s9,
        sweeps.fig_s7,
        tables.table_s10,
        beside.claims,
        beside.distances,
        beside.least_loss,
    )
    return [part(found) for part in parts]


def measure(table: Discharges, seed: int, effort: Effort) -> dict[str, Any]:
    """All figures as plain JSON."""
    swept, coarsened = sweep(table)
    masked, chained = masking(table, seed)
    found = {
        "records": table.rows,
        "seed": seed,
        "eq1": knowledge(table),
        "original": original(table),
        "correlations": correlations(table),
        "s2": k_anonymity(table),
        "s3": coarsened,
        "s4": closeness(table),
        "sweep": swept,
        "masking": masked,
        "chain": chained,
        "least_loss": {"effort": effort, **least_loss(table, effort)},
        **examples(seed),
    }
    chained["correlation_of_tables"] = _alike(chained)
    ours = np.array(list(found["correlations"].values()))
    found["correlation_of_tables"] = compared(np.array(printed.TABLE_S4), np.array(printed.TABLE_S5))[1]
    found["largest_difference_from_table_s5"] = compared(ours, np.array(printed.TABLE_S5))[0]
    return found


def _alike(chained: dict[str, Any]) -> float | None:
    """The correlation of our Table S4 with our Table S5, over the pairs that both have."""
    both = zip(chained["correlations_unmasked"].values(), chained["correlations_filled"].values(), strict=True)
    pairs = [(one, other) for one, other in both if one is not None and other is not None]
    return compared(*np.array(pairs).reshape(-1, 2).T)[1]


def examples(seed: int) -> dict[str, Any]:
    """What needs no table: Tables S6 to S9, Algorithm S1 on the races."""
    records = pl.DataFrame(printed.TABLE_S2, schema=QUASI_IDENTIFIERS, orient="row")
    boxed = sorted_clusters(read(records).select(QUASI_IDENTIFIERS), 3)
    charges = np.array(printed.TABLE_S2_CHARGES)
    disclosed = attribute_disclosure(*boxed.class_of_each_row(), charges > HIGH_CHARGE)
    cancer = np.array(["Cancer" in diagnosis for diagnosis in printed.TABLE_S2_DIAGNOSES])
    with_cancer = attribute_disclosure(*boxed.class_of_each_row(), cancer)
    groups = {}
    for box in range(boxed.boxes):
        first = int(np.flatnonzero(boxed.box_of_row == box)[0])
        ends = {name: (side.scale[side.low[box]], side.scale[side.high[box]]) for name, side in boxed.sides.items()}
        groups[first] = {name: [int(low), int(high)] for name, (low, high) in ends.items()}
    filled = filled_cells(np.arange(printed.ROWS) < sum(printed.RACES.values()), printed.RACES, seed)
    races = np.bincount(filled[filled >= 0], minlength=max(printed.RACES) + 1)
    return {
        "table_s6": {
            "groups": [groups[first] for first in sorted(groups)],
            "disclosed": disclosed.disclosed,
            "high_charges": disclosed.records,
            "cancer_disclosed": with_cancer.disclosed,
            "cancer": with_cancer.records,
            "least_charges": [
                int(min(charges[boxed.box_of_row == boxed.box_of_row[first]])) for first in sorted(groups)
            ],
        },
        "table_s7": {str(r): np.stack(intervals(np.arange(86), r), axis=1).tolist() for r in (2, 4, 8, 16, 32)},
        "table_s9": {str(k): closeness_bound(printed.ROWS, k) for k in printed.KS},
        "s1": {"cells": int(races.sum()), "by_race": {str(race): int(races[race]) for race in printed.RACES}},
    }
