"""The text of a condition -> its tree, which a builder makes.

    condition  = all { "or" all }
    all        = one { "and" one }
    one        = "not" one | "(" condition ")" | comparison
    comparison = column ( = | == | != | <> | < | <= | > | >= ) value | value operator column
               | column [ "not" ] "in" list | column "is" [ "not" ] "null"
    list       = "(" value { "," value } ")" | value { "," value } | "[" value ";" value "]"

Names that are not one word stand in backquotes, text in quotes. Where `bare` is set both may stand as they are, up to
the next sign that ends them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Protocol, TypeVar

from shoal.errors import InputError
from shoal.policy.amounts import decimal_of

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
    | (?P<sign>[(),;\[\]])
    | (?P<word>[^\W\d][\w.]*)
    | (?P<other>\S)
    )""",
    re.VERBOSE,
)
_SAME = {"==": "=", "<>": "!="}
_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "!=": "!="}
_WORDS = {"and", "or", "not", "in", "is", "null", "true", "false"}

C = TypeVar("C")


class Builder(Protocol[C]):
    """Makes the parts of a tree."""

    def compare(self, column: str, operator: str, value: str | Decimal | bool) -> C:
        """A comparison."""

    def is_null(self, column: str) -> C:
        """Whether there is no value."""

    def negated(self, condition: C) -> C:
        """The opposite."""

    def joined(self, word: str, conditions: list[C]) -> C:
        """All (`and`) or any (`or`) of them."""


def quoted_name(column: str) -> str:
    """A column as conditions name it: in backquotes unless it is one word.

    >>> quoted_name("age"), quoted_name("Age (yrs)")
    ('age', '`Age (yrs)`')
    """
    return column if re.fullmatch(r"[^\W\d][\w.]*", column) and column.lower() not in _WORDS else f"`{column}`"


class Parser:
    """Reads the tokens one by one; never deeper than DEEPEST."""

    def __init__(
        self,
        text: str,
        tree: Builder[Any],
        columns: Mapping[str, str] | None,
        bare: bool = False,
        table: str = "The table",
    ) -> None:
        self._text, self._tree, self._columns, self._bare, self._table = text, tree, columns, bare, table
        self._tokens: list[tuple[str, str, int]] = []
        self._at = 0
        self._depth = 0

    def whole(self) -> Any:
        """The tree of the whole text."""
        try:
            self._tokens = self._tokenize()
            condition = self._joined("or")
            if self._at < len(self._tokens):
                raise self._unexpected("the end")
            return condition
        except InputError as error:
            if hint := self._backquotes():
                raise InputError(error.what, f"{hint} {error.cure or ''}".strip()) from None
            raise

    def _backquotes(self) -> str:
        """A hint, where a column that is not one word seems to be meant."""
        near = [
            name
            for name in self._columns or ()
            if quoted_name(name) != name and name.lower() in self._text.lower() and f"`{name}`" not in self._text
        ]
        if not near or self._bare:
            return ""
        return (
            f"Names with blanks or signs stand in backquotes: {quoted_name(max(near, key=len))} "
            "(in a shell, put the whole condition in single quotes)."
        )

    def _tokenize(self) -> list[tuple[str, str, int]]:
        text, tokens, position = self._text, [], 0
        end = len(text.rstrip())
        while position < end:
            match = _TOKEN.match(text, position)
            if match is None or match.lastgroup is None or (match.lastgroup == "other" and not self._bare):
                raise InputError(f"The condition cannot be read from character {position + 1} on.", _CURE)
            tokens.append((match.lastgroup, match.group(match.lastgroup), match.start(match.lastgroup)))
            position = match.end()
        return tokens

    def _joined(self, word: str) -> Any:
        part = self._one if word == "and" else lambda: self._joined("and")
        conditions = [part()]
        while self._word(word):
            conditions.append(part())
        return self._tree.joined(word, conditions)

    def _one(self) -> Any:
        self._depth += 1
        if self._depth > DEEPEST:
            raise InputError(f"The condition is nested deeper than {DEEPEST} levels.", "Ask for less at once.")
        try:
            if self._word("not"):
                return self._tree.negated(self._one())
            if self._sign("("):
                inner = self._joined("or")
                self._expect(")")
                return inner
            return self._comparison()
        finally:
            self._depth -= 1

    def _comparison(self) -> Any:
        if self._value_comes_first():
            value = self._take() if self._bare else self._value()
            operator = self._operator()
            return self._tree.compare(self._column(), _FLIPPED[operator], value)
        column = self._column()
        if self._word("is"):
            negated = self._word("not")
            if not self._word("null"):
                raise self._unexpected("null")
            missing = self._tree.is_null(column)
            return self._tree.negated(missing) if negated else missing
        negated = self._word("not")
        if negated or self._is_word("in"):
            inside = self._in(column)
            return self._tree.negated(inside) if negated else inside
        return self._tree.compare(column, self._operator(), self._value())

    def _value_comes_first(self) -> bool:
        starts = self._peek()[0] in ("number", "date") or self._is_word("true", "false")
        return starts and (not self._bare or self._peek(1)[0] == "operator")

    def _in(self, column: str) -> Any:
        if not self._word("in"):
            raise self._unexpected("in")
        if self._sign("["):
            low = self._value()
            self._expect(";")
            high = self._value()
            self._expect("]")
            return self._tree.joined("and", [self._tree.compare(column, *end) for end in ((">=", low), ("<=", high))])
        closed = self._sign("(")
        values = [self._value()]
        while self._sign(","):
            values.append(self._value())
        if closed:
            self._expect(")")
        return self._tree.joined("or", [self._tree.compare(column, "=", value) for value in values])

    def _column(self) -> str:
        kind, token, _ = self._peek()
        if self._bare and kind != "name":
            return self._until(lambda: self._peek()[0] == "operator" or self._is_word(*_WORDS), "a column")
        if kind not in ("word", "name") or (kind == "word" and token.lower() in _WORDS):
            raise self._unexpected("a column")
        self._at += 1
        column = token.strip("`")
        if self._columns is not None and column not in self._columns:
            raise InputError.missing_columns([column], self._columns, self._table)
        return column

    def _operator(self) -> str:
        kind, token, _ = self._peek()
        if kind != "operator":
            raise self._unexpected("a comparison")
        self._at += 1
        return _SAME.get(token, token)

    def _value(self) -> str | Decimal | bool:
        kind, token, _ = self._peek()
        if kind == "text":
            self._at += 1
            return token[1:-1].replace(token[0] * 2, token[0])
        if self._bare:
            return self._until(lambda: self._peek()[1] in (",", ")", ";", "]") or self._is_word("and", "or"), "a value")
        self._at += 1
        if kind == "number":
            return decimal_of(token, "A number")
        if kind == "date":
            return token
        if kind == "word" and token.lower() in ("true", "false"):
            return token.lower() == "true"
        self._at -= 1
        raise self._unexpected("a value (a number, or text in quotes)")

    def _take(self) -> str:
        """One token as it was written."""
        self._at += 1
        return self._tokens[self._at - 1][1]

    def _until(self, ends: Any, wanted: str) -> str:
        """What stands without quotes, as it was written, up to the token that ends it."""
        first = self._at
        while self._at < len(self._tokens) and not ends():
            self._at += 1
        if self._at == first:
            raise self._unexpected(wanted)
        _, last, start = self._tokens[self._at - 1]
        return self._text[self._tokens[first][2] : start + len(last)]

    def _peek(self, ahead: int = 0) -> tuple[str, str, int]:
        place = self._at + ahead
        return self._tokens[place] if place < len(self._tokens) else ("end", "the end", len(self._text))

    def _is_word(self, *words: str) -> bool:
        kind, token, _ = self._peek()
        return kind == "word" and token.lower() in words

    def _word(self, word: str) -> bool:
        there = self._is_word(word)
        self._at += there
        return there

    def _sign(self, sign: str) -> bool:
        there = self._peek()[:2] == ("sign", sign)
        self._at += there
        return there

    def _expect(self, sign: str) -> None:
        if not self._sign(sign):
            raise self._unexpected(f"'{sign}'")

    def _unexpected(self, wanted: str) -> InputError:
        return InputError(f"In the condition {wanted} was expected at '{self._peek()[1]}'.", _CURE)
