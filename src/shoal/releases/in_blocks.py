"""The release of many rows in memory: they stay in codes, and become texts block by block as they are written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from shoal import progress
from shoal.errors import InputError
from shoal.methods.results import Anonymized
from shoal.policy.manifest import ColumnEntry
from shoal.ranges.columns import ReleasedColumns
from shoal.releases.coded import coded_result, write_groups
from shoal.releases.distinct import in_release_order, starred_rows, with_flag
from shoal.releases.treatment import Releasable, frame_of, gives_away, sensitive_columns
from shoal.storage import Array, Column, Table, smallest_unsigned
from shoal.storage.formats import plain
from shoal.storage.rows import occurrences
from shoal.storage.spill import Memory, Spill, Store
from shoal.storage.table import blocks_of
from shoal.storage.writing import filling_disk
from shoal.systems.files import sync

# from so many rows on; fewer are turned into texts at once
MANY_ROWS = 1 << 18


def many_rows(result: Releasable) -> Anonymized | None:
    """The result, if it has many rows, all of them in codes; texts that were scrubbed and treated columns are not."""
    if not isinstance(result, Anonymized) or result.table.rows <= MANY_ROWS or result.policy.with_role("text"):
        return None
    if result.treated or result.table.records is not None or not all(entry.held for entry in result.columns.values()):
        return None
    return result


# The release of rows that do not fit in memory: put in order on disk, and written block by block.


# rows that are decoded and written at once
_ROWS = 1 << 18


@dataclass(frozen=True)
class TreatedCodes:
    """One way to treat suppressed rows of a result in codes: cells that were emptied by column, and rows of the input
    that do not leave."""

    result: Anonymized
    blanked: dict[str, int] = field(default_factory=dict)
    removed: Array = field(default_factory=lambda: np.zeros(0, np.int64))

    @property
    def removed_records(self) -> int:
        """The records of the rows that do not leave: one each."""
        return len(self.removed)

    def in_order(self, seed: int | None, spill: Spill) -> Anonymized:
        """The result with the rows that leave, in the order in which they do; identifiers stay where they are."""
        result = self.result
        if seed is None and not len(self.removed):
            return result
        table, gone = result.table, set(result.policy.with_role("identifier"))
        names = [name for name in table.names if name not in gone]
        held = [column for entry in result.columns.values() for column in entry.encoded]
        # a quasi-identifier that was not changed is one array, not two
        own = {id(column): place for place, column in enumerate(table.select(names))}
        new = [column for column in held if id(column) not in own]
        moved = in_release_order([*table.select(names), *new], table.rows, seed, self.removed, spill)
        moved_columns = {id(old): moved[place] for place, old in enumerate([*table.select(names), *new])}
        columns: dict[str, ReleasedColumns] = {
            name: _moved(entry, [moved_columns[id(column)] for column in entry.encoded])
            for name, entry in result.columns.items()
        }
        # as many rows as the input has: what was removed is counted beside them
        ordered = replace(table, columns={**table.columns, **dict(zip(names, moved, strict=False))})
        return replace(result, table=ordered, columns=columns)


def _moved(entry: ReleasedColumns, held: Sequence[Column]) -> ReleasedColumns:
    unchanged = None if entry.unchanged is None else held[0]
    return ReleasedColumns.in_codes(held, entry.nature, entry.modified, entry.form, unchanged)


def treatments_in_codes(result: Anonymized, store: Store) -> list[TreatedCodes]:
    """What may be written, the best first: as `treatments` has it for a frame; what is made goes to `store`."""
    policy, shown = result.policy, [column for entry in result.columns.values() for column in entry.encoded]
    generalized = all(entry.form.generalizes for entry in result.columns.values())
    if not generalized or not shown or any(column.values.dtype != pl.String for column in shown):
        return [TreatedCodes(result)]
    lost = starred_rows(shown, store)
    removed = np.concatenate([np.flatnonzero(lost[block]) + block.start for block in blocks_of(len(lost))])
    if not len(removed):
        return [TreatedCodes(result)]
    gone, counted = policy.with_role("identifier"), (policy.person, policy.count, policy.weight)
    there = [name for name in result.table.columns if name not in gone]
    about = [name for name in sensitive_columns(policy) if name in there]
    needed = list(dict.fromkeys([*about, *(name for name in counted if name in there)]))
    if isinstance(store, Memory):
        rows, flags = replace(result.table, columns={name: result.table[name] for name in needed}), lost
    else:
        rows, flags = with_flag(result.table, lost, needed)
    if not gives_away(rows, policy, flags):
        return [TreatedCodes(result)]
    emptied = [_emptied(result.table[name], lost, store) for name in about]
    columns = {**result.table.columns, **{column.name: column for column, _ in emptied}}
    blanked = {column.name: cells for column, cells in emptied if cells}
    treatments = [TreatedCodes(replace(result, table=replace(result.table, columns=columns)), blanked)]
    return treatments if len(removed) == len(lost) else [*treatments, TreatedCodes(result, {}, removed)]


def _emptied(column: Column, lost: Array, store: Store) -> tuple[Column, int]:
    """A column without the cells of suppressed rows, and how many these were."""
    cells, missing = 0, len(column.values)
    file = store.new_file("emptied")
    for block in blocks_of(len(lost)):
        codes = column.codes[block]
        cells += int(np.count_nonzero(lost[block] & (codes != missing)))
        file.append(np.where(lost[block], missing, codes).astype(smallest_unsigned(missing + 1)))
    written = column.written
    if written is not None:  # the last of the texts is that of a missing value
        last = len(written[1]) - 1
        written = in_blocks_with(written[0], lost, last, store), written[1]
    codes = file.mapped(smallest_unsigned(missing + 1))
    return replace(column, codes=codes, nulls=column.nulls + cells, written=written), cells


def in_blocks_with(array: Array, lost: Array, code: int, store: Store) -> Array:
    """An array with another code where a mask says so."""
    file = store.new_file("written")
    for block in blocks_of(len(lost)):
        file.append(np.where(lost[block], code, array[block]).astype(array.dtype))
    return file.mapped(array.dtype)


def code_bytes(table: Table) -> int:
    """The bytes of the codes of a row."""
    return sum(column.codes.itemsize for column in table.columns.values())


def dictionary_frame(result: Anonymized, entry: ColumnEntry) -> pl.DataFrame:
    """The distinct values that are released of one column, by the rows that leave."""
    column, own = result.columns.get(entry.name), result.table[entry.name]
    shown = [own] if column is None else column.encoded
    values = []
    for one in shown:
        codes = np.flatnonzero(occurrences(one.codes, len(one.values) + 1)[: len(one.values)])
        held = replace(one, codes=codes, nulls=0, written=None)
        spelled = held.as_it_came() if own.declared is None or column is None else own.declared.spell(held.decode())
        values.append(spelled.alias(one.name))
    longest = max(len(series) for series in values)
    return pl.DataFrame([series.extend_constant(None, longest - len(series)) for series in values])


def is_streamed(target: Path) -> bool:
    """Whether a format is written block by block.

    >>> is_streamed(Path("safe.parquet")), is_streamed(Path("safe.xlsx"))
    (True, False)
    """
    return target.suffix.lower() in _SINKS


def check_streamed(target: Path) -> None:
    """Refuse a format that is written at once: the rows do not fit in memory.

    >>> check_streamed(Path("safe.xlsx"))
    Traceback (most recent call last):
    shoal.errors.InputError: A table that does not fit in memory is not written as .xlsx. ...
    """
    if not is_streamed(target):
        raise InputError(
            f"A table that does not fit in memory is not written as {target.suffix}.", f"Use {', '.join(_SINKS)}."
        )


def write_blocks(
    result: Anonymized, treated: TreatedCodes, draft: Path, target: Path, order: Array | None = None
) -> None:
    """Write a result of many rows in the format of its target, down to the disk; in an `order` of its rows, if any."""
    check_streamed(target)
    from polars.io.plugins import register_io_source

    rows = result.table.rows - len(treated.removed)
    failed: list[BaseException] = []

    def block(start: int, stop: int) -> pl.DataFrame:
        return frame_of(result.block(slice(start, stop) if order is None else order[start:stop]), target)

    def frames(*_: Any) -> Iterator[pl.DataFrame]:
        try:
            for start in range(0, rows, _ROWS):
                yield block(start, min(start + _ROWS, rows))
                progress.report("writing", min(start + _ROWS, rows), rows)
        except BaseException as error:  # on the way through another thread it would lose its name
            failed.append(error)
            raise

    def size() -> float:
        first = min(_ROWS, rows)
        return block(0, first).estimated_size() * rows / max(first, 1)

    coded = coded_result(result, rows, target)
    try:
        with filling_disk(draft, target, size):
            if coded is not None:
                write_groups(coded, draft, rows, order)
            else:
                schema = block(0, min(1, rows)).schema
                _SINKS[target.suffix.lower()](register_io_source(frames, schema=schema, is_pure=True), draft)
    except Exception:
        if failed:
            raise failed[0] from None
        raise
    sync(draft)


_SINKS = {
    ".parquet": lambda frame, path: frame.sink_parquet(path, row_group_size=plain.ROW_GROUP),
    ".csv": lambda frame, path: frame.with_columns(plain.zoned_as_texts()).sink_csv(path),
    ".tsv": lambda frame, path: frame.with_columns(plain.zoned_as_texts()).sink_csv(path, separator="\t"),
    ".arrow": lambda frame, path: frame.sink_ipc(path, record_batch_size=plain.ROW_GROUP),
    ".feather": lambda frame, path: frame.sink_ipc(path, record_batch_size=plain.ROW_GROUP),
    ".jsonl": lambda frame, path: frame.with_columns(plain.times_as_texts()).sink_ndjson(path),
    ".ndjson": lambda frame, path: frame.with_columns(plain.times_as_texts()).sink_ndjson(path),
}
