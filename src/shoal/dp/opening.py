"""Opening a desk: a private folder with a copy of the table, the terms and an empty ledger; whole or not at all."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

from shoal.dp.exact import share, written
from shoal.dp.ledger import Ledger
from shoal.dp.mechanisms import rho_within
from shoal.dp.store import kept_rows, write_columns
from shoal.dp.terms import ACCOUNTINGS, FORMAT, Accounting, Terms, checked_delta, checked_epsilon
from shoal.errors import InputError, check_choice
from shoal.reading import Options, read
from shoal.table import Table
from shoal.table.rows import Rows
from shoal.writing import sha256, sync, write_bytes

Number = Decimal | str | float


@dataclass(frozen=True)
class Opened:
    """What the owner of the table learns when a desk opens; the counts are exact and for the owner only."""

    folder: Path
    records: int
    kept_rows: int
    persons: int | None
    epsilon: str
    delta: str

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {**asdict(self), "folder": str(self.folder), "epsilon": float(self.epsilon), "delta": float(self.delta)}


def open_desk(
    source: Any,
    folder: str | Path,
    *,
    epsilon: Number,
    delta: Number = 0,
    person: str | None = None,
    max_rows_per_person: int | None = None,
    accounting: str = "basic",
    columns: Sequence[str] | None = None,
    options: Options | None = None,
) -> Opened:
    """Open a desk: a private folder with a copy of the table (rows capped per person), the terms and an empty ledger.

    >>> import polars as pl, tempfile
    >>> visits = pl.DataFrame({"patient": [1, 1, 1, 2], "age": [70, 70, 71, 40]})
    >>> folder = tempfile.mkdtemp() + "/desk"
    >>> opened = open_desk(visits, folder, epsilon="1", person="patient", max_rows_per_person=2)
    >>> opened.records, opened.kept_rows, opened.persons
    (4, 3, 2)
    """
    folder = Path(folder)
    check_choice("--accounting", accounting, ACCOUNTINGS)
    limits = checked_epsilon(epsilon), checked_delta(delta)
    most = _checked_cap(person, max_rows_per_person)
    rho = _rho(accounting, *limits)
    _check_folder(folder)
    wanted = None if columns is None else list(dict.fromkeys([*columns, *([person] if person else [])]))
    table = read(source, wanted, options)
    kept = _capped(table, person, most)
    digest = _source_digest(source)
    draft = folder.parent / f".{folder.name}.{secrets.token_hex(4)}"
    try:
        draft.mkdir(mode=0o700)
        stored, persons = write_columns(draft / "columns", kept, person)
        terms = Terms(
            format=FORMAT,
            desk=secrets.token_hex(16),
            opened=datetime.now(UTC).isoformat(timespec="seconds"),
            epsilon=written(limits[0]),
            delta=written(limits[1]),
            accounting=cast(Accounting, accounting),
            rho=None if rho is None else written(rho),
            person=person,
            max_rows_per_person=most,
            source=Path(table.name).name,
            source_sha256=digest,
            columns=stored,
            persons=persons,
        )
        write_bytes(draft / "desk.json", terms.to_bytes(), 0o600)
        Ledger.create(draft, terms)
        sync(draft)
        draft.rename(folder)
        sync(folder.parent)
    except OSError as error:
        raise InputError(f"{folder} could not be written: {error.strerror}.", "No desk was opened.") from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    people = None if person is None else len(table[person].values)
    return Opened(folder, table.rows, kept.rows, people, terms.epsilon, terms.delta)


def _checked_cap(person: str | None, most: int | None) -> int:
    if person is None:
        if most is not None:
            raise InputError("--max-rows-per-person says nothing without --person.", "Name the person column too.")
        return 1
    if most is None:
        raise InputError(
            "How many rows of one person may count? It is never taken from the data.",
            "Give --max-rows-per-person: more rows lose less, fewer rows need less noise.",
        )
    if not 1 <= most <= 1_000_000:
        raise InputError("--max-rows-per-person is a whole number from 1 to 1,000,000.", "Usual values are 1 to 20.")
    return most


def _rho(accounting: str, epsilon: Decimal, delta: Decimal) -> Decimal | None:
    if accounting == "basic":
        return None
    if delta == 0:
        raise InputError("zCDP accounting needs a delta.", "Give --delta 1e-7, or leave --accounting out.")
    if epsilon > 100:
        raise InputError("zCDP accounting with an epsilon above 100 promises nothing.", "Take one below 10.")
    return rho_within(epsilon, share(delta, 2))


def _check_folder(folder: Path) -> None:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(
            f"{folder} exists already.",
            "Choose another folder: a desk is never replaced, because that would forget what was spent.",
        )
    if not folder.absolute().parent.is_dir():
        raise InputError(f"There is no folder {folder.parent}.", "Make it first.")


def _capped(table: Table, person: str | None, most: int) -> Table:
    if person is None:
        return table
    persons = Rows.of(table, [person], person=person).person
    assert persons is not None
    kept = kept_rows(persons, most)
    return table if kept.all() else table.take(kept)


def _source_digest(source: Any) -> str | None:
    is_file = isinstance(source, (str, Path)) and Path(source).is_file()
    return sha256(Path(source)) if is_file else None
