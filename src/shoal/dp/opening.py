"""Opening a desk: a private folder with a copy of the table, the terms and an empty ledger; whole or not at all."""

from __future__ import annotations

import re
import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from shoal.dp.ledger import Ledger, default_key_file, key_check
from shoal.dp.mechanisms import rho_within
from shoal.dp.results import Opened
from shoal.dp.store import blanked, kept_rows, write_columns
from shoal.dp.terms import ACCOUNTINGS, FORMAT, Terms, checked_delta, checked_epsilon, rows_of_a_person, share
from shoal.dp.types import declared_types, propose
from shoal.errors import InputError, Setting, check_choice
from shoal.keys import find_key
from shoal.policy.amounts import written
from shoal.storage import Table
from shoal.storage.reading import Options, read
from shoal.storage.rows import Rows
from shoal.storage.texts import check_have_texts
from shoal.storage.writing import digest_of_file, write_bytes
from shoal.systems.files import move, sync
from shoal.systems.locks import abandoned, lock_beside
from shoal.verbs.asking import DeskOpenRequest
from shoal.verbs.base import takes

# A desk is made in a draft folder beside its own. Who makes it holds a lock on the draft; a draft without one is
# dead.
#
# The lock ends with its process, however that ends. A draft is removed only by who got its lock.


_DRAFT = re.compile(r"^\..+\.[0-9a-f]{8}\.desk-draft$", re.DOTALL)


@contextmanager
def draft_of(folder: Path) -> Iterator[Path]:
    """A new private folder beside `folder`, locked; what is left of it in the end is removed."""
    draft = folder.parent / f".{folder.name}.{secrets.token_hex(4)}.desk-draft"
    with lock_beside(draft):
        draft.mkdir(mode=0o700)
        try:
            yield draft
        finally:
            shutil.rmtree(draft, ignore_errors=True)


def remove_dead_drafts(parent: Path) -> int:
    """Remove the drafts in a folder whose makers are gone; how many there were.

    >>> import tempfile
    >>> parent = Path(tempfile.mkdtemp())
    >>> (parent / ".desk.0123abcd.desk-draft").mkdir()
    >>> with draft_of(parent / "desk"):
    ...     remove_dead_drafts(parent)
    1
    """
    removed = 0
    for draft in abandoned(parent, _DRAFT):
        shutil.rmtree(draft, ignore_errors=True)
        removed += not draft.exists()
    return removed


Number = Decimal | str | float


@takes(DeskOpenRequest)
def open_desk(source: Any, asked: DeskOpenRequest) -> Opened:
    """Open a desk: a private folder with a copy of the table (rows capped per person), the terms and an empty ledger.

    `types` declares the type of each column: integer, number, text, date, datetime or boolean, or `proposed` for the
    type that the values suggest ("*" stands for all other columns). The ledger key is made if it is not there, by
    default beside the folder; it is needed for every question.

    >>> import polars as pl, tempfile
    >>> visits = pl.DataFrame({"patient": [1, 1, 1, 2], "age": ["70", "70", "71", "n/s"]})
    >>> desk = tempfile.mkdtemp() + "/desk"
    >>> opened = open_desk(
    ...     visits, folder=desk, epsilon="1", types={"age": "integer"}, person="patient", max_rows_per_person=2
    ... )
    >>> opened.records, opened.kept_rows, opened.persons, opened.unfit_values
    (4, 3, 2, {'age': 1})
    """
    folder, witness = asked.folder, asked.witness
    folder = Path(folder)
    check_choice(Setting("accounting"), asked.accounting, ACCOUNTINGS)
    limits = checked_epsilon(asked.epsilon), checked_delta(asked.delta)
    most = rows_of_a_person(asked.person, asked.max_rows_per_person)
    rho = _rho(asked.accounting, *limits)
    key_file, witness = checked_places(folder, asked.ledger_key, witness)
    wanted = (
        None
        if asked.columns is None
        else list(dict.fromkeys([*asked.columns, *([asked.person] if asked.person else [])]))
    )
    table = _read(source, wanted, asked.options or Options())
    declared = declared_types(asked.types, table.columns, asked.person)
    kept = _capped(table, asked.person, most)
    digest = digest_of_file(source)
    key_is_new = False
    opened = False
    try:
        removed = remove_dead_drafts(folder.absolute().parent)
        key, key_is_new = find_key(key_file)
        with draft_of(folder) as draft:
            stored, persons, unfit = write_columns(draft / "columns", kept, declared, asked.person)
            desk = secrets.token_hex(16)
            terms = Terms(
                format=FORMAT,
                desk=desk,
                opened=datetime.now(UTC).isoformat(timespec="seconds"),
                epsilon=written(limits[0]),
                delta=written(limits[1]),
                accounting=asked.accounting,
                rho=None if rho is None else written(rho),
                person=asked.person,
                max_rows_per_person=most,
                source=Path(table.name).name,
                source_sha256=digest,
                columns=stored,
                persons=persons,
                key_check=key_check(key, desk),
                witnessed=witness is not None,
            )
            write_bytes(draft / "desk.json", terms.to_bytes(), 0o600)
            Ledger.create(draft, terms, key, witness)
            sync(draft)
            move(draft, folder)
            opened = True
            sync(folder.absolute().parent)
    except OSError as error:
        raise InputError(f"{folder} could not be written: {error.strerror}.", "No desk was opened.") from None
    finally:
        if not opened:  # nothing is left of a desk that was not opened
            for made, path in ((key_is_new, key_file), (witness is not None, witness)):
                if made and path is not None:
                    path.unlink(missing_ok=True)
    people = None if asked.person is None else len(table[asked.person].values)
    return Opened(
        folder=str(folder),
        records=table.rows,
        kept_rows=kept.rows,
        persons=people,
        epsilon=float(limits[0]),
        delta=float(limits[1]),
        types=dict(declared),
        unfit_values=unfit,
        ledger_key=str(key_file),
        ledger_key_is_new=key_is_new,
        witness=None if witness is None else str(witness),
        removed_drafts=removed,
    )


def checked_places(folder: Path, ledger_key: str | Path | None, witness: str | Path | None) -> tuple[Path, Path | None]:
    """Where the key and the witness are to be: never inside the desk, never over something else."""
    _check_folder(folder)
    key_file = default_key_file(folder) if ledger_key is None else Path(ledger_key)
    witness = None if witness is None else Path(witness)
    inside = folder.resolve()
    for name, path in (("ledger_key", key_file), ("witness", witness)):
        if path is not None and inside in (path.resolve(), *path.resolve().parents):
            raise InputError(
                f"{name} lies inside the desk's folder: whoever puts an old copy of that back puts it back too.",
                "Name a file elsewhere, best on another machine or under another account.",
            )
        if path is not None and not path.absolute().parent.is_dir():
            raise InputError(f"There is no folder {path.parent}.", "Make it first.")
    if witness is not None and (witness.exists() or witness.resolve() == key_file.resolve()):
        raise InputError(
            f"{witness} exists already, or is the ledger key.", "A witness serves one desk: name a new file."
        )
    return key_file, witness


def _check_folder(folder: Path) -> None:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(
            f"{folder} exists already.",
            "Choose another folder: a desk is never replaced, because that would forget what was spent.",
        )
    if not folder.absolute().parent.is_dir():
        raise InputError(f"There is no folder {folder.parent}.", "Make it first.")


def proposed_types(source: Any, *, options: Options | None = None) -> dict[str, str]:
    """The type that the values of each column suggest: what the owner looks at before declaring `types`.

    >>> proposed_types({"age": ["30", "31"], "zip": ["00501", "02139"]})
    {'age': 'integer', 'zip': 'text'}
    """
    table = _read(source, None, options or Options())
    return {name: propose(column) for name, column in table.columns.items()}


def _read(source: Any, columns: list[str] | None, options: Options) -> Table:
    table = _without_missing_words(read(source, columns, replace(options, as_text=True)), options.missing)
    check_have_texts(table.columns.values())
    return table


def _rho(accounting: str, epsilon: Decimal, delta: Decimal) -> Decimal | None:
    if accounting == "basic":
        return None
    if delta == 0:
        raise InputError("zCDP accounting needs a delta.", "Give a delta such as 1e-7, or use basic accounting.")
    if epsilon > 100:
        raise InputError("zCDP accounting with an epsilon above 100 promises nothing.", "Take one below 10.")
    return rho_within(epsilon, share(delta, 2))


def _without_missing_words(table: Table, missing: Sequence[str]) -> Table:
    """Empty text and the words that mean missing are missing: a rule for each value by itself."""
    return replace(table, columns={name: blanked(column, ["", *missing]) for name, column in table.columns.items()})


def _capped(table: Table, person: str | None, most: int) -> Table:
    if person is None:
        return table
    persons = Rows.of(table, [person], person=person).person
    assert persons is not None
    kept = kept_rows(persons, most)
    return table if kept.all() else table.take(kept)
