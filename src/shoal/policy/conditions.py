"""Conditions on rows: comparisons of a column with a value, joined by `and`, `or`, `not` and parentheses.

One language for the filters of the query desk (`parse_where`: text in quotes, columns and types known) and for the
conditions of attribute disclosure (`parse_condition`: one column, whose type is known later; text may stand without
quotes). The text is parsed by hand into a small tree (`condition_parser.py`); nothing is ever evaluated as a program.
A comparison looks at one row and cannot fail on any value, so that a filter neither raises the influence of a person
nor gives values away in an error.

Missing values (null, NaN): a comparison with one is neither true nor false, and neither is its `not` (as in SQL);
rows for which the whole condition stays undecided are not selected. `is null` selects missing values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from shoal.errors import InputError, Message
from shoal.policy.amounts import decimal_of, written
from shoal.policy.condition_parser import LONGEST, Parser, quoted_name

if TYPE_CHECKING:
    import polars as pl

    from shoal.storage import Array, Column

Value = str | bool | Decimal | date | datetime


@dataclass(frozen=True)
class Compare:
    """A column, an operator, a value of the column's type."""

    column: str
    operator: str
    value: Value

    def canonical(self) -> str:
        """The one way to write it."""
        return f"{quoted_name(self.column)} {self.operator} {_literal(self.value)}"

    def expression(self) -> pl.Expr:
        """What polars computes."""
        import polars as pl

        column, value = pl.col(self.column), literal(self.value)
        operators = {
            "=": column.eq, "!=": column.ne, "<": column.lt, "<=": column.le, ">": column.gt, ">=": column.ge,
        }  # fmt: skip
        return operators[self.operator](value)


@dataclass(frozen=True)
class IsNull:
    """Whether a column has no value."""

    column: str

    def canonical(self) -> str:
        """The one way to write it."""
        return f"{quoted_name(self.column)} is null"

    def expression(self) -> pl.Expr:
        """What polars computes."""
        import polars as pl

        return pl.col(self.column).is_null()


@dataclass(frozen=True)
class Not:
    """The opposite."""

    condition: Condition

    def canonical(self) -> str:
        """The one way to write it."""
        return f"not ({self.condition.canonical()})"

    def expression(self) -> pl.Expr:
        """What polars computes."""
        return ~self.condition.expression()


@dataclass(frozen=True)
class Joined:
    """Several conditions, joined by `and` or by `or`."""

    word: str
    conditions: tuple[Condition, ...]

    def canonical(self) -> str:
        """The one way to write it; order, repetition and needless parentheses do not matter."""
        texts = sorted(self._texts())
        return texts[0] if len(texts) == 1 else f" {self.word} ".join(f"({text})" for text in texts)

    def _texts(self) -> set[str]:
        texts: set[str] = set()
        for condition in self.conditions:
            same = isinstance(condition, Joined) and condition.word == self.word
            texts |= condition._texts() if same else {condition.canonical()}  # type: ignore[union-attr]
        return texts

    def expression(self) -> pl.Expr:
        """What polars computes."""
        import polars as pl

        expressions = [condition.expression() for condition in self.conditions]
        return pl.all_horizontal(expressions) if self.word == "and" else pl.any_horizontal(expressions)


Condition = Compare | IsNull | Not | Joined


class _ConditionBuilder:
    """Builds the conditions that the parser reads; values get the types of their columns, where those are known."""

    def __init__(self, types: Mapping[str, str] | None, bare: bool) -> None:
        self._types, self._bare = types, bare

    def compare(self, column: str, operator: str, value: str | Decimal | bool) -> Condition:
        if self._types is None:
            return Compare(column, operator, value)
        convert = typed_text if self._bare else typed
        return Compare(column, operator, convert(value, self._types[column], column))  # type: ignore[arg-type]

    def is_null(self, column: str) -> Condition:
        return IsNull(column)

    def negated(self, condition: Condition) -> Condition:
        return Not(condition)

    def joined(self, word: str, conditions: list[Condition]) -> Condition:
        return conditions[0] if len(conditions) == 1 else Joined(word, tuple(conditions))


def parse_where(text: str, types: Mapping[str, str], table: str = "The table") -> Condition:
    """A filter from text, checked against the columns and their types.

    >>> parse_where("65 <= age AND (sex == 'f')", {"age": "integer", "sex": "text"}).canonical()
    "(age >= 65) and (sex = 'f')"
    """
    if len(text) > LONGEST:
        raise InputError(Message("`{where}` is longer than {} characters.", f"{LONGEST:,}"), "Ask for less at once.")
    condition: Condition = Parser(text, _ConditionBuilder(types, bare=False), types, table=table).whole()
    return condition


@dataclass(frozen=True)
class ColumnCondition:
    """A condition on one column, as it was written."""

    text: str
    column: str

    def meets(self, column: Column) -> Array:
        """Which rows meet it; a null meets `is null` only."""
        import polars as pl

        values = column.values
        if isinstance(values.dtype, (pl.Categorical, pl.Enum)):
            values = values.cast(pl.String)
        declared = column.declared
        if declared is not None and declared.has_order:  # by its order, not by the alphabet
            values = declared.spell(values).cast(pl.Enum(declared.type.order or ()))
        types = {self.column: column_type(values.dtype)}
        condition = Parser(self.text, _ConditionBuilder(types, bare=True), types, bare=True).whole()
        frame = pl.DataFrame([values.rename(self.column).extend_constant(None, 1)])
        try:
            return frame.select(as_polars(condition)).to_series().to_numpy()[column.codes]
        except (pl.exceptions.InvalidOperationError, pl.exceptions.ComputeError):
            raise InputError(
                f"A condition compares column '{self.column}' with a value that is not in its order.",
                "Name one of the values of `order` in its type.",
            ) from None


def parse_condition(text: str) -> ColumnCondition:
    """A condition on one column from text: a comparison, a list, a range, or several of them.

    >>> parse_condition("charge > 100000").column, parse_condition("stage in II,III").column
    ('charge', 'stage')
    >>> parse_condition("age in [60;80] and not age = 70").column
    'age'
    """
    cure = "Write charge>100000, stage in II,III or age in [60;80]; names and texts with signs stand in quotes."
    try:
        if len(text) > LONGEST:
            raise InputError(f"It is longer than {LONGEST:,} characters.")
        columns = columns_of(Parser(text, _ConditionBuilder(None, bare=True), None, bare=True).whole())
    except InputError as error:
        raise InputError(f"'{text[:100]}' is not a condition. {error.what}", cure) from None
    if len(columns) > 1:
        raise InputError(f"Condition '{text}' is about more than one column.", cure)
    return ColumnCondition(text, columns.pop())


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


def typed(value: str | Decimal | bool, type_word: str, column: str) -> Value:
    """A typed value for a column of this type; text is read as a date or time where the column holds such.

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
        if type_word == "datetime" and isinstance(value, str):
            return datetime.fromisoformat(value).replace(tzinfo=None)
    except ValueError:
        pass
    raise InputError(
        f"Column '{column}' ({type_word}) is compared with something of another type.",
        "Compare numbers with numbers (age >= 65), text with text in quotes (sex = 'f'), dates with 2020-12-31, "
        "booleans with true or false.",
    )


def typed_text(text: str, type_word: str, column: str) -> Value:
    """The same for a text that stands without quotes: what it means is what the column holds.

    >>> typed_text("250.10", "text", "icd"), typed_text("250.10", "number", "charge")
    ('250.10', Decimal('250.1'))
    """
    if type_word in ("integer", "number"):
        try:
            return decimal_of(text, "A number")
        except InputError:
            return typed(text, type_word, column)
    if type_word == "boolean" and text.lower() in ("true", "false"):
        return text.lower() == "true"
    return typed(text, type_word, column)


def column_type(dtype: pl.DataType) -> str:
    """The type of a column as conditions know it.

    >>> import polars as pl
    >>> column_type(pl.Datetime("us")), column_type(pl.Enum(["a"]))
    ('datetime', 'text')
    """
    from shoal.storage.column_type import type_word

    word = type_word(dtype)
    return "text" if word == "empty" else word


def literal(value: Value) -> pl.Expr:
    """A value as polars takes it: whole numbers stay whole where 64 bits hold them."""
    import polars as pl

    if isinstance(value, Decimal):
        whole = value == value.to_integral_value() and abs(value) < 2**63
        return pl.lit(int(value), pl.Int64) if whole else pl.lit(float(value), pl.Float64)
    return pl.lit(value)


def as_polars(condition: Condition) -> pl.Expr:
    """The rows of a condition as an expression that is never null."""
    return condition.expression().fill_null(False)


def _literal(value: Value) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Decimal):
        return written(value)
    return "'" + str(value).replace("'", "''") + "'"
