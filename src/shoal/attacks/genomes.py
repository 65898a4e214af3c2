"""Genomes and published frequencies: read, brought to the same markers, and checked to mean the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from shoal.attacks.common import columns_in_common
from shoal.attacks.linking.columns import cells_of
from shoal.errors import InputError
from shoal.releases.readable import Readable
from shoal.storage import Array, Table
from shoal.storage.classes import class_of_each_row, first_row_of_each_class, pack
from shoal.storage.reading import Options, read
from shoal.storage.reading.bytes import damage_as_error
from shoal.storage.reading.files import find_files, open_file
from shoal.storage.reading.frames import batches, column_names
from shoal.storage.texts import texts_of
from shoal.vocabulary import NullRule

# frequencies that go so clearly against each other count different alleles
_OPPOSITE = -0.5


class Frequencies(NamedTuple):
    """How frequent the allele is at each marker."""

    markers: list[str]
    shares: Array


def names_in(source: Any, options: Options | None = None) -> list[str]:
    """The names of a table's columns, without reading it.

    >>> names_in({"rs1": [0, 1], "rs2": [2, 0]})
    ['rs1', 'rs2']
    """
    if isinstance(source, Table):
        return source.names
    if isinstance(source, dict):
        return list(source)
    if isinstance(source, (str, Path)):
        return list(open_file(find_files(source)[0], options or Options()).names)
    return column_names(source)


def read_frequencies(source: Any, marker: str, frequency: str, options: Options | None = None) -> Frequencies:
    """A table with a row per marker.

    >>> read_frequencies({"marker": ["rs1"], "frequency": [0.25]}, "marker", "frequency").shares.tolist()
    [0.25]
    """
    table = read(source, [marker, frequency], options)
    if len(table[marker].values) < table.rows:
        raise InputError(f"Column '{marker}' names a marker twice, or none.", "Give one row per marker.")
    column = table[frequency]
    if not column.values.dtype.is_numeric() or column.nulls or float(column.values.min()) < 0:  # type: ignore[arg-type]
        raise InputError(f"Column '{frequency}' has values that are not frequencies.", "Write numbers from 0 to 1.")
    shares = column.values.cast(pl.Float64).to_numpy()[column.codes]
    if shares.max() > 1:
        cure = "They look like percentages: divide by 100." if shares.max() <= 100 else "Divide counts by the alleles."
        raise InputError(f"Column '{frequency}' has values above 1.", cure)
    return Frequencies(texts_of(table[marker].values).gather(table[marker].codes).to_list(), shares)


def read_genomes(source: Any, markers: Sequence[str], options: Options | None = None) -> Array:
    """Copies of the allele, a line per person and a column per marker; NaN where missing.

    A genome has thousands of columns of three values: they are read batch by batch as numbers, without dictionaries.

    >>> read_genomes({"rs1": [0, 1], "rs2": [2, None]}, ["rs2"]).tolist()
    [[2.0], [nan]]
    """
    missing = ["", *(options.missing if options else ())]
    parts = [_copies(batch, missing) for batch in _batches(source, list(markers), options or Options())]
    if not parts:
        raise InputError("A table of genomes has no rows.", "Give one row per person.")
    return np.concatenate(parts)


def _batches(source: Any, markers: list[str], options: Options) -> Iterator[pl.DataFrame]:
    if isinstance(source, Table):
        yield pl.DataFrame({column.name: column.decode() for column in source.select(markers)})
    elif isinstance(source, (str, Path)):
        for found in find_files(source):
            opened = open_file(found, options)
            with damage_as_error(found.path):
                yield from (batch for batch, _ in opened.batches(markers))
    else:
        yield from batches(pl.DataFrame(source) if isinstance(source, dict) else source, markers)


def _copies(batch: pl.DataFrame, missing: list[str]) -> Array:
    """A batch as numbers; what is neither 0, 1 or 2 nor missing is refused with the column that has it."""
    given, numbers = batch, batch.select(pl.all().cast(pl.Float32, strict=False))
    if (given.null_count() != numbers.null_count()).row(0).count(True):  # some are not numbers as they are written
        texts = [name for name, kind in batch.schema.items() if kind == pl.String]
        given = batch.with_columns(pl.col(texts).str.strip_chars().replace(dict.fromkeys(missing)))
        numbers = given.select(pl.all().cast(pl.Float32, strict=False))
    odd = numbers.select(~pl.all().is_in([0.0, 1.0, 2.0])).select(pl.all().any(ignore_nulls=True))
    lost = given.null_count() != numbers.null_count()
    for what, wrong in (("does not hold numbers", lost), ("holds other numbers than 0, 1 and 2", odd)):
        named = [name for name, is_wrong in zip(wrong.columns, wrong.row(0), strict=True) if is_wrong]
        if named:
            cure = "Write the copies of the allele, 0, 1 or 2; genotypes such as A/G or 0|1 must be counted first."
            raise InputError(f"Column '{named[0]}' {what}.", f"{cure} A missing genotype is an empty cell.")
    return np.asarray(numbers.fill_null(float("nan")).to_numpy(), np.float32)


def in_common(frequencies: Frequencies, *named: tuple[str, Sequence[str]]) -> list[str]:
    """The markers that all have, in the order of the frequencies.

    >>> in_common(Frequencies(["rs1", "rs2"], np.zeros(2)), ("candidates", ["rs2", "rs9"]))
    ['rs2']
    """
    markers = frequencies.markers
    for what, names in named:
        there = set(names)
        markers = [marker for marker in markers if marker in there]
        if not markers:
            lower = {name.strip().lower() for name in names}
            near = any(marker.strip().lower() in lower for marker in frequencies.markers)
            cure = "They differ in upper and lower case or in blanks: write them alike." if near else None
            cure = cure or "The table has one row per person and one column per marker, named as in the frequencies."
            raise InputError(f"The {what} and the frequencies have no marker in common.", cure)
    return markers


def check_same_allele(pool: Array, population: Array) -> None:
    """Refuse frequencies that count the other allele."""
    if len(pool) < 30 or np.ptp(pool) == 0 or np.ptp(population) == 0:
        return
    if float(np.corrcoef(pool, population)[0, 1]) < _OPPOSITE:
        raise InputError(
            "The frequencies run against those of the reference.",
            "They seem to count the other allele: use 1 - frequency, or 2 - copies.",
        )


# Presence in a release: whether somebody is in it, by the records that fit and the people who could be meant.
#
# Nergiz, Atzori and Clifton, *Hiding the presence of individuals from shared databases* (2007): of the people whom an
# attacker knows to lie in the box of a class, as many are in the release as the class has records.


MOST_PEOPLE = 2_000
# people times classes that are held against each other at once
_PAIRS = 1 << 24


def presence(
    released: Readable, candidates: Any, reference: Any, seed: int, options: Options | None = None
) -> tuple[tuple[Array, Array], list[str]]:
    """How likely each candidate and each person of the reference is in a release: records of the classes that hold the
    person, each divided by the people there; and the columns that are known.

    >>> from shoal.releases.readable import readable
    >>> release = readable({"age": ["[20;29]", "[20;29]", "[50;59]"]})
    >>> found, _ = presence(release, {"age": [25, 28]}, {"age": [51, 52, 53, 70]}, seed=0)
    >>> found[0].round(3).tolist(), found[1].round(3).tolist()
    ([1.0, 1.0], [0.333, 0.333, 0.333, 0.0])
    """
    people = [_drawn(read(table, None, options), seed + number) for number, table in enumerate((candidates, reference))]
    columns = columns_in_common(released, people[0])
    manifest = None if released.source is None else released.source.manifest_or_none
    if manifest is not None:
        columns = {name: theirs for name, theirs in columns.items() if name in manifest.policy.quasi_identifiers}
    if missing := [theirs for theirs in columns.values() if theirs not in people[1].columns]:
        raise InputError.missing_columns(missing, people[1].names, people[1].name)
    if not columns:
        raise InputError("The candidates have no quasi-identifier of the release.", "Give the columns of the policy.")
    rule: NullRule = "value" if manifest is None else manifest.policy.null_rule
    names, known = list(columns), list(columns.values())
    ends = [end for name in names for end in released.pairs.get(name, (name,))]
    classes, count = class_of_each_row(pack(released.table.select(ends)))
    first, members = first_row_of_each_class(classes, count), np.bincount(classes, minlength=count)
    inside = [_inside(released, names, first, table, known, rule) for table in people]
    there = np.concatenate([held.sum(axis=0)[None] for held in inside]).sum(axis=0)
    chance = members / np.maximum(there, 1)
    return (inside[0] @ chance, inside[1] @ chance), names


def _drawn(table: Table, seed: int) -> Table:
    """At most so many people of a table."""
    if table.rows <= MOST_PEOPLE:
        return table
    from shoal.storage.order import secret_order

    return table.take(secret_order(list(table.columns.values()), seed)[:MOST_PEOPLE])


def _inside(
    released: Readable, names: Sequence[str], first: Array, people: Table, known: Sequence[str], rule: NullRule
) -> Array:
    """Which person lies in the box of which class."""
    if people.rows * len(first) > _PAIRS * 16:
        raise InputError(
            f"The release has {len(first):,} classes, too many to hold people against.", "Use coarser ones."
        )
    held = np.ones((people.rows, len(first)), bool)
    for name, theirs in zip(names, known, strict=True):
        column = people[theirs]
        cells = cells_of(released, name, column, rule)
        if cells.kind != "fit":
            raise InputError(f"Column '{name}' was changed at random: nobody lies in its cells.", "Leave it out.")
        code = cells.codes[first]
        low, high = cells.low[code], cells.high[code]
        atom = column.codes.astype(np.int64)[:, None]
        fits = (low <= atom) & (atom <= high)
        if cells.mask_of is not None and cells.masks is not None:
            mask = cells.mask_of[code]
            some = np.flatnonzero(mask >= 0)
            fits[:, some] = cells.masks[mask[some]][:, column.codes].T > 0
        held &= fits
    return held
