"""A desk that was opened: it is asked, and answers until its budget is spent."""

from __future__ import annotations

import hashlib
import json
import math
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from decimal import Decimal
from pathlib import Path
from typing import Any, Unpack

from shoal.dp.answers import NoisyAnswer, answer, errors_by_rows
from shoal.dp.ledger import BudgetRefused, Ledger, default_key_file, read_limited
from shoal.dp.mechanisms import epsilon_of
from shoal.dp.plans import QueryPlan, plan
from shoal.dp.queries import Query, QueryOptions, RawQuery, make_query
from shoal.dp.results import Answer, Budget, QueryEstimate, Refusal, number
from shoal.dp.store import read_columns
from shoal.dp.terms import LARGEST_TERMS, Price, Terms, share
from shoal.errors import InputError, Message
from shoal.keys import SecretKey, as_key
from shoal.policy.amounts import written
from shoal.wording import counted, in_words

# A plan and its answer in plain words: whose rows, what they can change, how far off, what is missing.


def protected(terms: Terms) -> str:
    """Whose presence is hidden."""
    if terms.person is None:
        return "Each row is taken as one person: the desk has no person column."
    rows = counted(terms.max_rows_per_person, "row")
    return f"A person is a value of {terms.person}; at most {rows} of each counts, drawn when the desk opened."


def presence(plan: QueryPlan, terms: Terms) -> str:
    """What one person's presence can change."""
    query = plan.query
    epsilon = float(query.epsilon)
    factor = f"{math.exp(epsilon):.3g}" if epsilon < 50 else f"e^{epsilon:g}"
    words = f"One person's presence changes {_change(plan)}"
    if terms.accounting == "zcdp":
        price = written(query.price(terms).loss)
        words += f"; the answer costs rho {price}, as much as one with epsilon {written(query.epsilon)}"
    else:
        words += f", and the chance of any answer by a factor of at most {factor} (e^{written(query.epsilon)})"
    return words + (f", but for a chance of {written(query.delta)}." if query.delta else ".")


def _change(plan: QueryPlan) -> str:
    rows, query = plan.rows_per_person, plan.query
    groups = " over all groups together" if query.by or query.bins else ""
    if query.kind == "persons":
        return "the exact count by at most 1" + (f" in at most {counted(rows, 'group')}" if query.by else "")
    if query.kind == "sum" and plan.sums is not None:
        most = plan.sums.steps.reach * plan.sums.steps.size * rows
        return f"the exact sum by at most {number(most)}{groups}"
    if query.kind in ("count", "histogram"):
        return f"the exact count by at most {number(rows)}{groups}"
    return f"at most {counted(rows, 'row')} of those that the {query.kind} is computed from"


def error(plan: QueryPlan, off: float | None) -> str | None:
    """How far the answer may be off."""
    if off is None:
        return None
    if plan.choices:
        step = plan.query.step
        assert step is not None
        return (
            f"With 95% confidence at most {number(off)} rows lie between the answer and the true quantile; "
            f"answers lie {number(float(step))} apart. Trust it where far more rows were selected."
        )
    if plan.query.kind in ("mean", "variance") and plan.query.by:
        return f"Each true value is within its ± with 95% confidence, at most ±{number(off)}."
    each = "Each true value" if plan.query.by or plan.query.bins else "The true value"
    return f"{each} is within ±{number(off)} with 95% confidence."


def error_by_rows(plan: QueryPlan) -> str | None:
    """The error of a mean or variance before it is asked, for tables of several sizes."""
    found = errors_by_rows(plan)
    if not found:
        return None
    listed = ", ".join(f"±{number(off)} for {int(rows):,}" for rows, off in found.items())
    return f"The error depends on how many rows are selected, which is private: at most {listed} rows."


def rules(plan: QueryPlan, terms: Terms) -> list[str]:
    """Missing values, bounds, thresholds: what the true value is the true value of."""
    query = plan.query
    found = []
    needed = list(dict.fromkeys([*query.by, *([query.column] if query.column else [])]))
    if needed:
        found.append(f"Rows without a value in {in_words(needed)} are left out (null, NaN).")
    if query.where is not None:
        found.append("A comparison with a missing value is neither true nor false: it selects no row.")
    if query.low is not None and query.high is not None:
        low, high = written(query.low), written(query.high)
        found.append(f"Values below {low} or above {high} count as {low} or {high}; the error does not include that.")
    elif query.bins:
        found.append("Values beyond the first and the last edge are counted in the first and the last bin.")
    if terms.person is not None:
        found.append("True values are those of the capped rows; the error does not include what the cap left out.")
    if plan.keys is not None:
        who = "persons" if query.kind == "persons" else "rows"
        found.append(
            f"Groups are shown if their noisy count of {who} reaches {plan.keys.threshold:,}; "
            "name the groups (keys) to see all."
        )
    elif query.keys is not None:
        found.append("Rows of other groups than the keys given are left out.")
    return found


def warnings(plan: QueryPlan, outcome: NoisyAnswer) -> list[str]:
    """Where the noise drowns the signal."""
    found = []
    entries: list[dict[str, Any]] = (
        outcome.answer if isinstance(outcome.answer, list) else [{"key": None, "answer": outcome.answer}]
    )
    if outcome.error_95 is not None and not plan.choices:
        drowned = [
            entry for entry in entries if 2 * entry.get("error_95", outcome.error_95) > abs(entry["answer"] or 0)
        ]
        if drowned and len(entries) == 1:
            found.append("The noise drowns the signal: the error is more than half of the answer. Give more epsilon.")
        elif drowned:
            found.append(
                f"The noise drowns the signal in {len(drowned):,} of {len(entries):,} groups: the error is more than "
                "half of the answer. Give more epsilon, or ask for fewer, larger groups."
            )
    if isinstance(outcome.answer, list) and not entries:
        found.append("No group is large enough to be shown. Give more epsilon or delta, or name the groups (keys).")
    if plan.query.epsilon > 10:
        found.append("An epsilon above 10 promises next to nothing.")
    return found


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
        self, folder: str | Path, *, ledger_key: SecretKey | str | Path | None = None, witness: str | Path | None = None
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
            query = make_query(self.terms, RawQuery.of(kind, column, options))
            made = plan(query, self.terms)
            key, price = query.key(), query.price(self.terms)
            entry, repeated = self._ledger.find(key), True
            if entry is None:
                self._ledger.check(price)
                frame = read_columns(self.folder / "columns", self.terms, query.columns, query.kind == "persons")
                drawn = json.dumps(asdict(answer(made, frame)), ensure_ascii=False)
                # the price is on disk before anything of the answer is seen
                entry, repeated = self._ledger.spend(key, query.text(), price, drawn)
        outcome = NoisyAnswer(**json.loads(entry.answer))
        return Answer(
            answer=outcome.answer,
            error_95=outcome.error_95,
            spent=amounts(_NOTHING if repeated else price, self.terms),
            repeated=repeated,
            words=self._words(made, error(made, outcome.error_95)) + outcome.notes,
            warnings=warnings(made, outcome),
            entry=entry.number,
            **self._common(query, made),
        )

    def check_release(self, price: Price, person: str | None, source_sha256: str | None) -> None:
        """Refuse a release under differential privacy that the desk's budget cannot pay, or that is of others."""
        terms = self.terms
        if person != terms.person or (source_sha256 and terms.source_sha256 not in (None, source_sha256)):
            raise InputError(
                "The desk was opened on another table, or protects others than the release does.",
                "Share a budget only between what is about the same persons of the same table.",
            )
        self._ledger.check(price)

    def pay_release(self, price: Price, about: dict[str, Any]) -> int:
        """Write a release into the ledger, before anything of it is seen; the number of the entry."""
        # noise is drawn anew each time: no two releases are one
        query = json.dumps({"kind": "release", "drawn": secrets.token_hex(16), **about}, sort_keys=True)
        key = hashlib.sha256(query.encode()).hexdigest()
        return self._ledger.spend(key, query, price, "{}")[0].number

    def preview(self, kind: str, column: str | None = None, **options: Unpack[QueryOptions]) -> QueryEstimate:
        """What a query would cost and how far its answer may be off. The data is not looked at; nothing is spent."""
        with _nothing_spent():
            query = make_query(self.terms, RawQuery.of(kind, column, options))
            made = plan(query, self.terms)
        expected = made.expected_error()
        known = self._ledger.find(query.key()) is not None
        price = _NOTHING if known else query.price(self.terms)
        return QueryEstimate(
            error_95=expected,
            repeated=known,
            words=self._words(made, error(made, expected) or error_by_rows(made)),
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
            protected=protected(terms),
        )

    def refusal(self, refused: BudgetRefused) -> Refusal:
        """A refusal as a result."""
        return Refusal(
            reason=str(refused),
            requested=amounts(refused.requested, self.terms),
            remaining=amounts(refused.remaining, self.terms),
            difference=amounts(refused.difference, self.terms),
        )

    def _words(self, made: QueryPlan, error: str | None) -> list[str]:
        words = [error, presence(made, self.terms), protected(self.terms)]
        return [*(sentence for sentence in words if sentence), *rules(made, self.terms)]

    def _common(self, query: Query, made: QueryPlan) -> dict[str, Any]:
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
        cure = "Nothing was spent." if error.cure is None else Message("{} Nothing was spent.", error.cure)
        raise InputError(error.what, cure) from None


def _error_unit(made: QueryPlan) -> str:
    if made.query.kind == "persons":
        return "persons"
    return "rows" if made.choices or made.sums is None else "value"


def amounts(price: Price, terms: Terms) -> dict[str, float]:
    """A price in numbers; beside a rho stands the epsilon of the query that it pays for, √(2 rho)."""
    if terms.accounting == "basic":
        return {"epsilon": float(price.loss), "delta": float(price.delta)}
    return {"epsilon": math.sqrt(2 * float(price.loss)), "delta": float(price.delta), "rho": float(price.loss)}
