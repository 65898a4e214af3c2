"""`--where`: comparisons of a column with a value, joined by `and`, `or`, `not` and parentheses.

The text is parsed by hand into a small tree; nothing is ever evaluated as a program. A comparison looks at one row
and cannot fail on any value, so that a filter neither raises the influence of a person nor gives values away in an
error.

    condition  = all { "or" all }
    all        = one { "and" one }
    one        = "not" one | "(" condition ")" | comparison
    comparison = column ( = | == | != | <> | < | <= | > | >= ) value | value operator column
               | column [ "not" ] "in" "(" value { "," value } ")" | column "is" [ "not" ] "null"

Missing values (null, NaN): a comparison with one is neither true nor false, and neither is its `not` (as in SQL);
rows for which the whole condition stays undecided are not selected. `is null` selects missing values.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from shoal.dp.exact import decimal_of, written
from shoal.errors import InputError

if TYPE_CHECKING:
    import polars as pl

LONGEST = 10_000
DEEPEST = 50
_CURE = "Write comparisons such as age >= 65 and sex = 'f', joined by and, or, not; text stands in quotes."
_TOKEN = re.compile(
    r"""\s*(?:
      (?P<date>\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?)?(?![\w.]))
    | (?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.]))
    | (?P<text>'(?:[^']|'')*'|"(?:[^"]|"")*")
    | (?P<name>`[^`]+`)
    | (?P<operator><=|>=|==|!=|<>|=|<|>)
    | (?P<sign>[(),])
    | (?P<word>[^\W\d][\w.]*)
    )""",
    re.VERBOSE,
)
_SAME = {"==": "=", "<>": "!="}
_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "!=": "!="}
_WORDS = {"and", "or", "not", "in", "is", "null", "true", "false"}

Value = str | bool | Decimal | date | datetime


@dataclass(frozen=True, slots=True)
class Compare:
    """A column, an operator, a value of the column's type."""

    column: str
    operator: str
    value: Value

    def canonical(self) -> str:
        """The one way to write it."""
        return f"{_name(self.column)} {self.operator} {_literal(self.value)}"

    def expression(self) -> pl.Expr:
        """What polars computes."""
        import polars as pl

        column, value = pl.col(self.column), literal(self.value)
        operators = {
            "=": column.eq, "!=": column.ne, "<": column.lt, "<=": column.le, ">": column.gt, ">=": column.ge,
        }  # fmt: skip
        return operators[self.operator](value)


@dataclass(frozen=True, slots=True)
class IsNull:
    """Whether a column has no value."""

    column: str

    def canonical(self) -> str:
        """The one way to write it."""
        return f"{_name(self.column)} is null"

    def expression(self) -> pl.Expr:
        """What polars computes."""
        import polars as pl

        return pl.col(self.column).is_null()


@dataclass(frozen=True, slots=True)
class Not:
    """The opposite."""

    condition: Condition

    def canonical(self) -> str:
        """The one way to write it."""
        return f"not ({self.condition.canonical()})"

    def expression(self) -> pl.Expr:
        """What polars computes."""
        return ~self.condition.expression()


@dataclass(frozen=True, slots=True)
class Joined:
    """Several conditions, joined by `and` or by `or`."""

    word: str
    conditions: tuple[Condition, ...]

    def canonical(self) -> str:
        """The one way to write it; order, repetition and needless parentheses do not matter."""
        texts = sorted(self._texts())
        return texts[0] if len(texts) == 1 else f" {self.word} ".join(f"({text})" for text in texts)

    def _texts(self) -> set[str]:
        found: set[str] = set()
        for condition in self.conditions:
            same = isinstance(condition, Joined) and condition.word == self.word
            found |= condition._texts() if same else {condition.canonical()}  # type: ignore[union-attr]
        return found

    def expression(self) -> pl.Expr:
        """What polars computes."""
        import polars as pl

        expressions = [condition.expression() for condition in self.conditions]
        return pl.all_horizontal(expressions) if self.word == "and" else pl.any_horizontal(expressions)


Condition = Compare | IsNull | Not | Joined


def columns_of(condition: Condition) -> set[str]:
    """The columns that a condition looks at.

    >>> sorted(columns_of(parse_where("age >= 65 or not sex = 'f'", {"age": "integer", "sex": "text"})))
    ['age', 'sex']
    """
    if isinstance(condition, Not):
        return columns_of(condition.condition)
    if isinstance(condition, Joined):
        return set().union(*map(columns_of, condition.conditions))
    return {condition.column}


def parse_where(text: str, types: Mapping[str, str]) -> Condition:
    """A condition from text, checked against the columns and their types.

    >>> parse_where("65 <= age AND (sex == 'f')", {"age": "integer", "sex": "text"}).canonical()
    "(age >= 65) and (sex = 'f')"
    """
    if len(text) > LONGEST:
        raise InputError(f"--where is longer than {LONGEST:,} characters.", "Ask for less at once.")
    return _Parser(text, types).whole()


def typed(value: str | Decimal | bool, type_word: str, column: str) -> Value:
    """A typed value for a column of this type; text is read as a date or moment where the column holds such.

    >>> typed("2020-12-31", "date", "admitted")
    datetime.date(2020, 12, 31)
    """
    try:
        if type_word in ("integer", "number") and isinstance(value, Decimal):
            return value
        if (type_word == "boolean" and isinstance(value, bool)) or (type_word == "text" and isinstance(value, str)):
            return value
        if type_word == "date" and isinstance(value, str):
            return date.fromisoformat(value)
        if type_word == "moment" and isinstance(value, str):
            return datetime.fromisoformat(value).replace(tzinfo=None)
    except ValueError:
        pass
    raise InputError(
        f"Column '{column}' ({type_word}) is compared with something of another type.",
        "Compare numbers with numbers (age >= 65), text with text in quotes (sex = 'f'), dates with 2020-12-31, "
        "booleans with true or false.",
    )


def literal(value: Value) -> pl.Expr:
    """A value as polars takes it: whole numbers stay whole where 64 bits hold them."""
    import polars as pl

    if isinstance(value, Decimal):
        whole = value == value.to_integral_value() and abs(value) < 2**63
        return pl.lit(int(value), pl.Int64) if whole else pl.lit(float(value), pl.Float64)
    return pl.lit(value)


def _name(column: str) -> str:
    return column if re.fullmatch(r"[^\W\d][\w.]*", column) and column.lower() not in _WORDS else f"`{column}`"


def _literal(value: Value) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Decimal):
        return written(value)
    return "'" + str(value).replace("'", "''") + "'"


class _Parser:
    """Reads the tokens one by one; never deeper than DEEPEST."""

    def __init__(self, text: str, types: Mapping[str, str]) -> None:
        self._types = types
        self._tokens = self._tokenize(text)
        self._at = 0
        self._depth = 0

    @staticmethod
    def _tokenize(text: str) -> list[tuple[str, str]]:
        tokens, position, end = [], 0, len(text.rstrip())
        while position < end:
            found = _TOKEN.match(text, position)
            if found is None or found.lastgroup is None:
                raise InputError(f"--where cannot be read from character {position + 1} on.", _CURE)
            tokens.append((found.lastgroup, found.group(found.lastgroup)))
            position = found.end()
        return tokens

    def whole(self) -> Condition:
        condition = self._joined("or")
        if self._at < len(self._tokens):
            raise self._unexpected("the end")
        return condition

    def _joined(self, word: str) -> Condition:
        part = self._one if word == "and" else lambda: self._joined("and")
        conditions = [part()]
        while self._word(word):
            conditions.append(part())
        return conditions[0] if len(conditions) == 1 else Joined(word, tuple(conditions))

    def _one(self) -> Condition:
        self._depth += 1
        if self._depth > DEEPEST:
            raise InputError(f"--where is nested deeper than {DEEPEST} levels.", "Ask for less at once.")
        try:
            if self._word("not"):
                return Not(self._one())
            if self._sign("("):
                inner = self._joined("or")
                self._expect(")")
                return inner
            return self._comparison()
        finally:
            self._depth -= 1

    def _comparison(self) -> Condition:
        if self._peek()[0] in ("number", "date") or self._is_word("true", "false"):
            value = self._value()
            operator = self._operator()
            return self._compare(self._column(), _FLIPPED[operator], value)
        column = self._column()
        if self._word("is"):
            negated = self._word("not")
            if not self._word("null"):
                raise self._unexpected("null")
            return Not(IsNull(column)) if negated else IsNull(column)
        negated = self._word("not")
        if negated or self._is_word("in"):
            inside = self._in(column)
            return Not(inside) if negated else inside
        return self._compare(column, self._operator(), self._value())

    def _in(self, column: str) -> Condition:
        if not self._word("in"):
            raise self._unexpected("in")
        self._expect("(")
        values = [self._value()]
        while self._sign(","):
            values.append(self._value())
        self._expect(")")
        compared = tuple(self._compare(column, "=", value) for value in values)
        return compared[0] if len(compared) == 1 else Joined("or", compared)

    def _compare(self, column: str, operator: str, value: str | Decimal | bool) -> Compare:
        return Compare(column, operator, typed(value, self._types[column], column))

    def _column(self) -> str:
        kind, token = self._peek()
        if kind not in ("word", "name") or (kind == "word" and token.lower() in _WORDS):
            raise self._unexpected("a column")
        self._at += 1
        column = token.strip("`")
        if column not in self._types:
            raise InputError.missing_columns([column], self._types, "The desk")
        return column

    def _operator(self) -> str:
        kind, token = self._peek()
        if kind != "operator":
            raise self._unexpected("a comparison")
        self._at += 1
        return _SAME.get(token, token)

    def _value(self) -> str | Decimal | bool:
        kind, token = self._peek()
        self._at += 1
        if kind == "number":
            return decimal_of(token, "A number in --where")
        if kind == "date":
            return token
        if kind == "text":
            return token[1:-1].replace(token[0] * 2, token[0])
        if kind == "word" and token.lower() in ("true", "false"):
            return token.lower() == "true"
        self._at -= 1
        raise self._unexpected("a value (a number, or text in quotes)")

    def _peek(self) -> tuple[str, str]:
        return self._tokens[self._at] if self._at < len(self._tokens) else ("end", "the end")

    def _is_word(self, *words: str) -> bool:
        kind, token = self._peek()
        return kind == "word" and token.lower() in words

    def _word(self, word: str) -> bool:
        found = self._is_word(word)
        self._at += found
        return found

    def _sign(self, sign: str) -> bool:
        found = self._peek() == ("sign", sign)
        self._at += found
        return found

    def _expect(self, sign: str) -> None:
        if not self._sign(sign):
            raise self._unexpected(f"'{sign}'")

    def _unexpected(self, wanted: str) -> InputError:
        return InputError(f"--where: {wanted} was expected at '{self._peek()[1]}'.", _CURE)


def as_polars(condition: Condition) -> pl.Expr:
    """The rows of a condition as an expression that is never null."""
    return condition.expression().fill_null(False)
