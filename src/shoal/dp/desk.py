"""The desk: opened once on a table with a budget, then asked; it answers until the budget is spent."""

from __future__ import annotations

import json
import math
import secrets
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

from shoal.dp import explain
from shoal.dp.answers import Outcome, answer, errors_by_rows
from shoal.dp.exact import share, written
from shoal.dp.ledger import BudgetRefused, Ledger
from shoal.dp.mechanisms import epsilon_of, rho_within
from shoal.dp.plans import Plan, plan
from shoal.dp.queries import Query, make_query
from shoal.dp.store import kept_rows, read_columns, write_columns
from shoal.dp.terms import ACCOUNTINGS, FORMAT, Accounting, Price, Terms, checked_delta, checked_epsilon
from shoal.errors import InputError, check_choice
from shoal.read import Options, read
from shoal.rows import Rows
from shoal.table import Table
from shoal.write import sync, write_bytes

Number = Decimal | str | float
_NOTHING = Price(Decimal(0), Decimal(0))


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


@dataclass(frozen=True)
class Answer:
    """An answer (or, in a preview, none), its price, its error and what it means. The same names as in JSON."""

    query: dict[str, Any]
    answer: Any
    epsilon: Decimal
    delta: Decimal
    error_95: float | None
    error_unit: str
    spent: dict[str, float]
    remaining: dict[str, float]
    repeated: bool
    protects: str
    words: list[str]
    warnings: list[str]
    scale: float
    error_95_by_rows: dict[str, float] = field(default_factory=dict)
    preview: bool = False
    affordable: bool = True
    entry: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        found = {name: getattr(self, name) for name in self.__dataclass_fields__}
        found |= {"epsilon": float(self.epsilon), "delta": float(self.delta)}
        if not self.preview:
            for name in ("error_95_by_rows", "affordable", "preview"):
                del found[name]
        return found


@dataclass(frozen=True)
class Budget:
    """The state of a desk's budget, and its terms."""

    terms: Terms
    spent: dict[str, float]
    remaining: dict[str, float]
    queries: int
    head: str
    history: list[dict[str, Any]]

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        terms = self.terms
        return {
            "epsilon": float(terms.epsilon),
            "delta": float(terms.delta),
            "spent": self.spent,
            "remaining": self.remaining,
            "queries": self.queries,
            "accounting": terms.accounting,
            "person": terms.person,
            "max_rows_per_person": terms.max_rows_per_person,
            "columns": terms.types,
            "source": terms.source,
            "opened": terms.opened,
            "head": self.head,
        }


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
    from shoal.verify import sha256

    is_file = isinstance(source, (str, Path)) and Path(source).is_file()
    return sha256(Path(source)) if is_file else None


class Desk:
    """A desk that was opened, ready to be asked.

    >>> import polars as pl, tempfile
    >>> folder = tempfile.mkdtemp() + "/desk"
    >>> _ = open_desk(pl.DataFrame({"age": list(range(1000))}), folder, epsilon="1")
    >>> desk = Desk(folder)
    >>> first = desk.query("count", where="age >= 500", epsilon="0.6")
    >>> abs(first.answer - 500) < 100, desk.query("count", where="age>=500", epsilon=0.6).repeated
    (True, True)
    >>> desk.query("sum", "age", bounds="0,1000", epsilon="0.5")
    Traceback (most recent call last):
    shoal.dp.ledger.BudgetRefused: The budget does not suffice: epsilon 0.5 requested, 0.4 remaining, 0.1 too much. ...
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        if not (self.folder / "desk.json").is_file():
            raise InputError(f"{self.folder} is no desk.", "Open one: shoal budget open FILE --epsilon 2 -o DESK.")
        self.terms = Terms.from_bytes((self.folder / "desk.json").read_bytes())
        self._ledger = Ledger(self.folder, self.terms)

    def close(self) -> None:
        """Let go of the ledger."""
        self._ledger.close()

    def __enter__(self) -> Desk:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def query(self, kind: str, column: str | None = None, **asked: Any) -> Answer:
        """Answer a query and pay for it; the same query asked again is free.

        `asked`: epsilon, and where needed delta, where, by, keys, bounds, q, bins, step, mechanism.
        """
        query = make_query(self.terms, kind, column, **asked)
        made = plan(query, self.terms)
        key, price = query.key(), query.price(self.terms)
        entry, repeated = self._ledger.find(key), True
        if entry is None:
            self._ledger.check(price)
            frame = read_columns(self.folder / "columns", self.terms, query.columns, query.kind == "persons")
            drawn = json.dumps(asdict(answer(made, frame)), ensure_ascii=False)
            # the price is on disk before anything of the answer is seen
            entry, repeated = self._ledger.spend(key, query.text(), price, drawn)
        outcome = Outcome(**json.loads(entry.answer))
        return Answer(
            answer=outcome.answer,
            error_95=outcome.error_95,
            spent=amounts(_NOTHING if repeated else price, self.terms),
            repeated=repeated,
            words=self._words(made, explain.error(made, outcome.error_95)) + outcome.notes,
            warnings=explain.warnings(made, outcome),
            entry=entry.number,
            **self._common(query, made),
        )

    def preview(self, kind: str, column: str | None = None, **asked: Any) -> Answer:
        """What a query would cost and how far its answer may be off. The data is not looked at; nothing is spent."""
        query = make_query(self.terms, kind, column, **asked)
        made = plan(query, self.terms)
        expected = made.expected_error()
        known = self._ledger.find(query.key()) is not None
        price = _NOTHING if known else query.price(self.terms)
        return Answer(
            answer=None,
            error_95=expected,
            spent=amounts(_NOTHING, self.terms),
            repeated=known,
            words=self._words(made, explain.error(made, expected) or explain.error_by_rows(made)),
            warnings=[],
            error_95_by_rows=errors_by_rows(made),
            preview=True,
            affordable=price.within(self._ledger.remaining()),
            **self._common(query, made),
        )

    def budget(self) -> Budget:
        """What was spent and what is left; the whole ledger was verified."""
        remaining = self._remaining()
        spent = self._ledger.spent
        return Budget(
            self.terms, self._spent(spent), remaining, self._ledger.queries, self._ledger.head, self._ledger.history()
        )

    def _words(self, made: Plan, error: str | None) -> list[str]:
        found = [error, explain.presence(made, self.terms), explain.protected(self.terms)]
        return [*(words for words in found if words), *explain.rules(made, self.terms)]

    def _common(self, query: Query, made: Plan) -> dict[str, Any]:
        return {
            "query": query.canonical(),
            "epsilon": query.epsilon,
            "delta": query.delta,
            "error_unit": _error_unit(made),
            "remaining": self._remaining(),
            "protects": "row" if self.terms.person is None else "person",
            "scale": made.scale,
        }

    def _remaining(self) -> dict[str, float]:
        """In zCDP the epsilon that remains is that of the largest single query which still fits."""
        return amounts(self._ledger.remaining(), self.terms)

    def _spent(self, price: Price) -> dict[str, float]:
        if self.terms.accounting == "basic":
            return {"epsilon": float(price.loss), "delta": float(price.delta)}
        conversion = share(Decimal(self.terms.delta), 2)
        return {
            "epsilon": epsilon_of(price.loss, conversion),
            "delta": float(price.delta),
            "rho": float(price.loss),
        }


def _error_unit(made: Plan) -> str:
    if made.query.kind == "persons":
        return "persons"
    return "rows" if made.choices or made.sums is None else "value"


def amounts(price: Price, terms: Terms) -> dict[str, float]:
    """A price in numbers; beside a rho stands the epsilon of the query that it pays for, √(2 rho)."""
    if terms.accounting == "basic":
        return {"epsilon": float(price.loss), "delta": float(price.delta)}
    return {"epsilon": math.sqrt(2 * float(price.loss)), "delta": float(price.delta), "rho": float(price.loss)}


def refused(refusal: BudgetRefused, terms: Terms) -> dict[str, Any]:
    """A refusal as JSON."""
    return {
        "answer": None,
        "refused": True,
        "reason": str(refusal),
        "requested": amounts(refusal.requested, terms),
        "remaining": amounts(refusal.remaining, terms),
        "difference": amounts(refusal.difference, terms),
    }
