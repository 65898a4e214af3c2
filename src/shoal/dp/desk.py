"""A desk that was opened: it is asked, and answers until its budget is spent."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from decimal import Decimal
from pathlib import Path
from typing import Any, Unpack

from shoal.dp import explain
from shoal.dp.answers import Outcome, answer, errors_by_rows
from shoal.dp.documents import read_limited
from shoal.dp.exact import share
from shoal.dp.ledger import BudgetRefused, Ledger
from shoal.dp.mechanisms import epsilon_of
from shoal.dp.places import default_key_file
from shoal.dp.plans import Plan, plan
from shoal.dp.queries import Query, QueryOptions, Question, make_query
from shoal.dp.results import Answer, Budget, Estimate, Refusal
from shoal.dp.store import read_columns
from shoal.dp.terms import LARGEST_TERMS, Price, Terms
from shoal.errors import InputError
from shoal.keys import Key, as_key

_NOTHING = Price(Decimal(0), Decimal(0))


class Desk:
    """A desk that was opened, ready to be asked.

    >>> import polars as pl, tempfile
    >>> from shoal.dp import open_desk
    >>> folder = tempfile.mkdtemp() + "/desk"
    >>> _ = open_desk(pl.DataFrame({"age": list(range(1000))}), folder=folder, epsilon="1", types={"age": "integer"})
    >>> desk = Desk(folder)
    >>> first = desk.query("count", where="age >= 500", epsilon="0.6")
    >>> abs(first.answer - 500) < 100, desk.query("count", where="age>=500", epsilon=0.6).repeated
    (True, True)
    >>> desk.query("sum", "age", bounds="0,1000", epsilon="0.5")
    Traceback (most recent call last):
    shoal.dp.ledger.BudgetRefused: Not enough budget: epsilon 0.5 requested, 0.4 remaining, 0.1 short. ...
    """

    def __init__(
        self, folder: str | Path, *, ledger_key: Key | str | Path | None = None, witness: str | Path | None = None
    ) -> None:
        self.folder = Path(folder)
        if not (self.folder / "desk.json").is_file():
            raise InputError(f"{self.folder} is not a desk.", "Open one first: shoal desk open, or shoal.open_desk.")
        self.terms = Terms.from_bytes(read_limited(self.folder / "desk.json", LARGEST_TERMS))
        if self.terms.witnessed and witness is None:
            raise InputError(
                "This desk was opened with a witness, which says how far its ledger goes.",
                "Name the file of the witness too (witness).",
            )
        key = as_key(default_key_file(self.folder) if ledger_key is None else ledger_key)
        self._witnessed = witness is not None
        self._ledger = Ledger(self.folder, self.terms, key, None if witness is None else Path(witness))

    def close(self) -> None:
        """Let go of the ledger."""
        self._ledger.close()

    def __enter__(self) -> Desk:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def query(self, kind: str, column: str | None = None, **options: Unpack[QueryOptions]) -> Answer:
        """Answer a query and pay for it; the same query asked again is free.

        Options: epsilon, and where needed delta, where, by, keys, bounds, q, bins, step, mechanism.
        """
        with _nothing_spent():
            query = make_query(self.terms, Question.of(kind, column, options))
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

    def preview(self, kind: str, column: str | None = None, **options: Unpack[QueryOptions]) -> Estimate:
        """What a query would cost and how far its answer may be off. The data is not looked at; nothing is spent."""
        with _nothing_spent():
            query = make_query(self.terms, Question.of(kind, column, options))
            made = plan(query, self.terms)
        expected = made.expected_error()
        known = self._ledger.find(query.key()) is not None
        price = _NOTHING if known else query.price(self.terms)
        return Estimate(
            error_95=expected,
            repeated=known,
            words=self._words(made, explain.error(made, expected) or explain.error_by_rows(made)),
            error_95_by_rows=errors_by_rows(made),
            affordable=price.within(self._ledger.remaining()),
            **self._common(query, made),
        )

    def budget(self) -> Budget:
        """What was spent and what is left; the whole ledger was verified."""
        remaining, terms = self._remaining(), self.terms
        return Budget(
            epsilon=float(terms.epsilon),
            delta=float(terms.delta),
            rho=None if terms.rho is None else float(terms.rho),
            spent=self._spent(self._ledger.spent),
            remaining=remaining,
            queries=self._ledger.queries,
            accounting=terms.accounting,
            person=terms.person,
            max_rows_per_person=terms.max_rows_per_person,
            columns=terms.types,
            source=terms.source,
            opened=terms.opened,
            head=self._ledger.head,
            witness=self._witnessed,
            history=self._ledger.history(),
            protected=explain.protected(terms),
        )

    def refusal(self, refused: BudgetRefused) -> Refusal:
        """A refusal as a result."""
        return Refusal(
            reason=str(refused),
            requested=amounts(refused.requested, self.terms),
            remaining=amounts(refused.remaining, self.terms),
            difference=amounts(refused.difference, self.terms),
        )

    def _words(self, made: Plan, error: str | None) -> list[str]:
        words = [error, explain.presence(made, self.terms), explain.protected(self.terms)]
        return [*(sentence for sentence in words if sentence), *explain.rules(made, self.terms)]

    def _common(self, query: Query, made: Plan) -> dict[str, Any]:
        return {
            "query": query.canonical(),
            "epsilon": float(query.epsilon),
            "delta": float(query.delta),
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
