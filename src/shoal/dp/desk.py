"""A desk that was opened: it is asked, and answers until its budget is spent."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from shoal.dp import explain
from shoal.dp.answers import Outcome, answer, errors_by_rows
from shoal.dp.exact import share
from shoal.dp.ledger import BudgetRefused, Ledger
from shoal.dp.mechanisms import epsilon_of
from shoal.dp.plans import Plan, plan
from shoal.dp.queries import Query, make_query
from shoal.dp.store import read_columns
from shoal.dp.terms import Price, Terms
from shoal.errors import InputError

_NOTHING = Price(Decimal(0), Decimal(0))


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


class Desk:
    """A desk that was opened, ready to be asked.

    >>> import polars as pl, tempfile
    >>> from shoal.dp import open_desk
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
        with _nothing_spent():
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
        with _nothing_spent():
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


@contextmanager
def _nothing_spent() -> Iterator[None]:
    """A query that cannot be asked says that it cost nothing, unless the error itself says what became of the price."""
    try:
        yield
    except InputError as error:
        if any(words in str(error) for words in ("paid for", "was spent", "answered")):
            raise
        raise InputError(error.what, f"{error.cure or ''} Nothing was spent.".strip()) from None


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
