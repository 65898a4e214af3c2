"""What can be asked: a query, checked against the columns and types of the desk, before anything is read or spent."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from itertools import pairwise, product
from typing import Any, Required, TypedDict, cast, get_args

from shoal.dp.mechanisms import MECHANISMS
from shoal.dp.terms import Price, Terms, checked_delta, checked_epsilon
from shoal.errors import InputError, Message, Setting, as_names, check_choice
from shoal.policy.amounts import decimal_of, written
from shoal.policy.conditions import Condition, Value, columns_of, parse_where, typed
from shoal.vocabulary import Mechanism, QueryKind

KINDS: tuple[QueryKind, ...] = get_args(QueryKind)
NEEDS_BOUNDS = ("sum", "mean", "variance", "median", "quantile")
_NUMERIC = ("integer", "number")
_GROUPABLE = ("integer", "text", "date", "datetime", "boolean")
MOST_CELLS = 1_000_000
MOST_CANDIDATES = 100_001


@dataclass(frozen=True)
class Query:
    """A checked query. `epsilon`, `delta` are what the answer costs; all else says what is asked.

    `keys` are the public groups of `by` (or the categories of a histogram): one list per column, None if they are to be
    found privately. `bins` are the edges of a numeric histogram, `candidates` the possible answers of a quantile.
    """

    kind: QueryKind
    column: str | None
    type: str | None
    where: Condition | None
    by: tuple[str, ...]
    keys: tuple[tuple[Value, ...], ...] | None
    low: Decimal | None
    high: Decimal | None
    q: tuple[Decimal, ...]
    bins: tuple[Decimal, ...]
    step: Decimal | None
    mechanism: Mechanism
    epsilon: Decimal
    delta: Decimal

    @property
    def columns(self) -> list[str]:
        """The columns that must be read."""
        wanted = {*self.by, *([self.column] if self.column else []), *(columns_of(self.where) if self.where else [])}
        return sorted(wanted)

    @property
    def private_keys(self) -> bool:
        """Whether the groups themselves come from the data and must be found privately."""
        return bool(self.by) and self.keys is None

    @property
    def candidates(self) -> list[float]:
        """The possible answers of a quantile: a public grid within the bounds."""
        assert self.low is not None
        assert self.high is not None
        assert self.step is not None
        steps = int((self.high - self.low) / self.step)
        return [float(self.low + self.step * step) for step in range(steps)] + [float(self.high)]

    def canonical(self) -> dict[str, Any]:
        """The query in the one way to write it: equal queries have equal texts."""
        given: dict[str, Any] = {
            "kind": self.kind,
            "column": self.column,
            "where": None if self.where is None else self.where.canonical(),
            "by": list(self.by),
            "keys": None if self.keys is None else [[plain(key) for key in keys] for keys in self.keys],
            "bounds": None if self.low is None or self.high is None else [written(self.low), written(self.high)],
            "q": [written(q) for q in self.q],
            "bins": [written(edge) for edge in self.bins],
            "step": None if self.step is None else written(self.step),
            "mechanism": self.mechanism,
            "epsilon": written(self.epsilon),
            "delta": written(self.delta),
        }
        return {name: value for name, value in given.items() if value not in (None, [])}

    def text(self) -> str:
        """As stored in the ledger."""
        return json.dumps(self.canonical(), ensure_ascii=False, sort_keys=True)

    def key(self) -> str:
        """The hash by which the same query is known again."""
        return hashlib.sha256(self.text().encode()).hexdigest()

    def price(self, terms: Terms) -> Price:
        """What the answer costs at a desk."""
        return terms.price(self.epsilon, self.delta)


def plain(value: Value) -> Any:
    """A value as JSON has it.

    >>> plain(Decimal(3)), plain(Decimal("0.5")), plain(date(2020, 1, 31))
    (3, 0.5, '2020-01-31')
    """
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    return value.isoformat() if isinstance(value, (date, datetime)) else value


class QueryOptions(TypedDict, total=False):
    """What a query may say beside its kind and column."""

    epsilon: Required[Decimal | str | float]
    delta: Decimal | str | float | None
    where: str | None
    by: Sequence[str] | str | None
    keys: Sequence[Any] | None
    bounds: Sequence[Any] | str | None
    q: Sequence[Any] | str | float | Decimal | None
    bins: Sequence[Any] | str | int | None
    step: Decimal | str | float | None
    mechanism: str


@dataclass(frozen=True)
class RawQuery:
    """A query as it was given, not checked yet."""

    kind: str
    column: str | None
    epsilon: Decimal | str | float
    delta: Decimal | str | float | None = None
    where: str | None = None
    by: Sequence[str] | str | None = None
    keys: Sequence[Any] | None = None
    bounds: Sequence[Any] | str | None = None
    q: Sequence[Any] | str | float | Decimal | None = None
    bins: Sequence[Any] | str | int | None = None
    step: Decimal | str | float | None = None
    mechanism: str = "laplace"

    @classmethod
    def of(cls, kind: str, column: str | None, options: QueryOptions) -> RawQuery:
        """From its options; unknown ones are refused by name.

        >>> RawQuery.of("count", None, {"epsilon": "0.1", "where": "age >= 65"}).where
        'age >= 65'
        """
        known = QueryOptions.__annotations__
        if unknown := [name for name in options if name not in known]:
            raise InputError(f"A query has no option '{unknown[0]}'.", f"The options are: {', '.join(known)}.")
        if "epsilon" not in options:
            raise InputError("A query needs an epsilon: what its answer may cost.", "Give one, such as 0.1.")
        return cls(kind, column, **options)


def make_query(terms: Terms, question: RawQuery) -> Query:
    """Check everything that can be checked without the data; all that follows cannot fail on a value."""
    check_choice("The query", question.kind, KINDS)
    check_choice(Setting("mechanism"), question.mechanism, MECHANISMS)
    kind, mechanism = cast(QueryKind, question.kind), cast(Mechanism, question.mechanism)
    column, types = question.column, terms.types
    names = tuple(as_names(question.by))
    _check_columns(kind, column, names, types)
    type_word = None if column is None else types[column]
    low, high = _bounds(kind, type_word, question.bounds)
    edges = _edges(kind, low, high, question.bins)
    if kind == "histogram" and not edges:
        assert column is not None
        names = (column,)
    typed_keys = _keys(names, question.keys, types)
    if kind == "histogram" and not edges and typed_keys is None and type_word in _NUMERIC:
        raise InputError(
            f"A histogram of numbers ('{column}') needs bounds: they are never taken from the data.",
            "Give bounds and a number of bins, or the edges as bins (0,18,65,120), or the values as keys (1,2,3).",
        )
    private = bool(names) and typed_keys is None
    quantiles = _quantiles(kind, question.q)
    if mechanism == "gaussian" and (kind in ("median", "quantile")) and not private:
        raise InputError("A quantile is chosen, not made noisy: there is no Gaussian for it.", "Leave it out.")
    price = checked_epsilon(question.epsilon)
    if mechanism == "gaussian" and price > 100:
        raise InputError("Gaussian noise with an epsilon above 100 promises nothing.", "Take an epsilon below 10.")
    return Query(
        kind,
        column,
        type_word,
        None if question.where is None else parse_where(question.where, types, "The desk"),
        names,
        typed_keys,
        low,
        high,
        quantiles,
        edges,
        _step(kind, type_word, low, high, question.step),
        mechanism,
        price,
        _delta(terms, question.delta, private, mechanism == "gaussian" and terms.accounting == "basic"),
    )


def _check_columns(kind: QueryKind, column: str | None, by: tuple[str, ...], types: dict[str, str]) -> None:
    wanted = [name for name in (column, *by) if name is not None]
    if missing := [name for name in wanted if name not in types]:
        raise InputError.missing_columns(missing, types, "The desk")
    if kind in ("count", "persons"):
        if column is not None:
            raise InputError(f"A {kind} has no column.", "Name rows to count by a condition (where).")
    elif column is None:
        raise InputError(f"Of which column is the {kind} asked?", "Name the column.")
    elif types[column] not in _NUMERIC and kind != "histogram":
        raise InputError(f"Column '{column}' ({types[column]}) does not hold numbers.", f"A {kind} needs numbers.")
    if kind in ("histogram", "bounds") and by:
        raise InputError(f"A {kind} has no groups of its own.", "Ask for a count by groups instead.")
    if len(set(by)) < len(by):
        raise InputError("by names a column twice.", "Name each column once.")
    grouped = by if kind != "histogram" or column is None or types[column] in _NUMERIC else (column,)
    for name in grouped:
        if types[name] not in _GROUPABLE:
            raise InputError(
                f"Column '{name}' ({types[name]}) has no groups.", "Group by text, whole numbers, dates or booleans."
            )


def _numbers(given: Sequence[Any] | str | float | Decimal, name: str) -> list[Decimal]:
    if isinstance(given, str):
        given = given.split(",")
    items: Any = given if isinstance(given, (list, tuple)) else [given]
    return [decimal_of(item, name) for item in items]


def _bounds(kind: QueryKind, type_word: str | None, bounds: Any) -> tuple[Decimal | None, Decimal | None]:
    if bounds is None:
        if kind in NEEDS_BOUNDS:
            raise InputError(
                f"A {kind} needs bounds: they are never taken from the data.",
                "Give bounds from what you know, such as 0,500000, or pay for an estimate: the query `bounds`.",
            )
        return None, None
    if kind not in (*NEEDS_BOUNDS, "histogram") or (kind == "histogram" and type_word not in _NUMERIC):
        raise InputError(f"bounds mean nothing for this {kind}.", "Leave them out.")
    found = _numbers(bounds, "bounds")
    if len(found) != 2 or found[0] >= found[1]:
        raise InputError("bounds are two numbers, the lower first.", "Write 0,500000.")
    if max(map(abs, found)) > Decimal("1e25") or found[1] - found[0] < Decimal("1e-25"):
        raise InputError("bounds are too wide or too narrow to compute with.", "Stay between 1e-25 and 1e25.")
    return found[0], found[1]


def _edges(kind: QueryKind, low: Decimal | None, high: Decimal | None, bins: Any) -> tuple[Decimal, ...]:
    """The edges of a numeric histogram: given, or equal bins within the bounds."""
    if kind != "histogram":
        if bins is not None:
            raise InputError(f"bins mean nothing for a {kind}.", "Leave them out.")
        return ()
    given = [] if bins is None else _numbers(bins, "bins")
    if low is None or high is None:
        if len(given) == 1:
            raise InputError("A number of bins needs bounds.", "Give bounds, or the edges of the bins: 0,18,65.")
        if any(first >= second for first, second in pairwise(given)):
            raise InputError("The edges of bins must rise.", "Write 0,18,65,120.")
        return tuple(given)
    if len(given) > 1:
        raise InputError("Edges of bins and bounds say the same twice.", "Give one of them.")
    count = given[0] if given else Decimal(10)
    if count != count.to_integral_value() or not 1 <= count <= 10_000:
        raise InputError("bins is a whole number from 1 to 10,000.", "Write 10.")
    width = (high - low) / count
    return (*(low + width * step for step in range(int(count))), high)


def _keys(
    by: tuple[str, ...], keys: Sequence[Any] | None, types: dict[str, str]
) -> tuple[tuple[Value, ...], ...] | None:
    if keys is None:
        return None
    if not by:
        raise InputError(
            Message("keys say which groups there are, but there is no `{by}`."), "Give the column of the groups too."
        )
    lists = [list(keys)] if len(by) == 1 and not _is_list_of_lists(keys) else [list(given) for given in keys]
    if len(lists) != len(by):
        raise InputError(
            Message("keys are given once for each column of `{by}`."), "For sex,year give two lists: f,m and 1,2."
        )
    found = tuple(tuple(_key(key, types[name], name) for key in given) for name, given in zip(by, lists, strict=True))
    if any(not given or len(set(given)) < len(given) for given in found):
        raise InputError("A list of keys is empty or names a key twice.", "Name each key once.")
    if math.prod(map(len, found)) > MOST_CELLS:
        raise InputError(f"keys make more than {MOST_CELLS:,} groups.", "Ask for fewer.")
    return found


def _is_list_of_lists(keys: Sequence[Any]) -> bool:
    return bool(keys) and all(isinstance(given, (list, tuple)) for given in keys)


def _key(given: Any, type_word: str, column: str) -> Value:
    if type_word == "integer":
        number = decimal_of(given, "keys")
        if number != number.to_integral_value() or abs(number) >= 2**63:
            raise InputError(f"Column '{column}' holds whole numbers; a key is not one.", "Write keys such as 1,2,3.")
        return number
    text = plain(given).strip() if isinstance(plain(given), str) else given
    if type_word == "boolean" and str(text).lower() in ("true", "false"):
        return str(text).lower() == "true"
    return typed(text, type_word, column)


def _quantiles(kind: QueryKind, q: Any) -> tuple[Decimal, ...]:
    if kind == "median":
        if q is not None:
            raise InputError("A median is the quantile 0.5.", "Ask for a quantile with q.")
        return (Decimal("0.5"),)
    if kind != "quantile":
        if q is not None:
            raise InputError(f"q means nothing for a {kind}.", "Leave it out.")
        return ()
    if q is None:
        raise InputError("Which quantile?", "Give q, such as 0.9, or several: 0.25,0.5,0.75.")
    found = _numbers(q, "q")
    if not all(0 <= share <= 1 and -(cast(int, share.as_tuple().exponent)) <= 6 for share in found):
        raise InputError("q lies between 0 and 1, with at most six digits.", "Write 0.9.")
    if not found or len(set(found)) < len(found) or len(found) > 100:
        raise InputError("q names no quantile, one twice, or more than 100.", "Name each once, such as 0.25,0.5,0.75.")
    return tuple(found)


def _step(
    kind: QueryKind, type_word: str | None, low: Decimal | None, high: Decimal | None, step: Any
) -> Decimal | None:
    """How far apart the possible answers of a quantile lie."""
    if kind not in ("median", "quantile"):
        if step is not None:
            raise InputError(f"step means nothing for a {kind}.", "Leave it out.")
        return None
    assert low is not None
    assert high is not None
    width = high - low
    if step is not None:
        found = decimal_of(step, "step")
        if not 0 < found <= width or width / found > MOST_CANDIDATES - 1:
            raise InputError(
                f"step must be above 0 and give at most {MOST_CANDIDATES:,} possible answers within the bounds.",
                "Leave it out: then there are about a thousand.",
            )
        return found
    whole = low == low.to_integral_value() and high == high.to_integral_value()
    return Decimal(1) if type_word == "integer" and whole and width <= 10_000 else width / 1000


def _delta(terms: Terms, given: Any, private: bool, gaussian: bool) -> Decimal:
    if not (private or gaussian):
        if given is not None and checked_delta(given) > 0:
            raise InputError("This query needs no delta.", "Leave delta out: nothing of it would be used.")
        return Decimal(0)
    delta = terms.delta_of_a_query if given is None else checked_delta(given)
    if delta == 0:
        raise InputError(
            "Groups that are not known beforehand need a delta, and the desk has none."
            if private
            else "Gaussian noise needs a delta.",
            "Name the groups (keys), or open the desk with a delta such as 1e-7." if private else "Use Laplace noise.",
        )
    return delta


def cells_of(keys: tuple[tuple[Value, ...], ...]) -> list[Any]:
    """Every public group: one key, or a list of one key per column.

    >>> cells_of(((True, False), ("a",)))
    [[True, 'a'], [False, 'a']]
    """
    if len(keys) == 1:
        return [plain(key) for key in keys[0]]
    return [[plain(key) for key in combination] for combination in product(*keys)]
