"""SQL as far as it is written and read here: quoted names, and whether a query is one that only reads."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import pairwise

from shoal.dataclasses import dataclass
from shoal.errors import InputError

# quoted texts and names, dollar quotes, comments, words, everything else sign by sign
_TOKEN = re.compile(
    r"""(?P<text>[eE]'(?:[^'\\]|''|\\.)*'|'(?:[^']|'')*')|(?P<name>"(?:[^"]|"")*"|`[^`]*`)"""
    r"""|(?P<dollar>\$(?P<tag>\w*)\$.*?\$(?P=tag)\$)"""
    r"""|(?P<comment>--[^\n]*|/\*.*?\*/)|(?P<word>[^\W\d][\w$]*)|(?P<number>\d[\w.]*)|(?P<blank>\s+)|(?P<sign>.)""",
    re.DOTALL,
)
_NAMES = ("word", "name", "text")
_READS = ("select", "with", "values", "table")


@dataclass(frozen=True)
class Query:
    """A query that only reads, its words (names and texts, unquoted), and whether it says in which order rows come."""

    text: str
    words: frozenset[str]
    ordered: bool


def quoted_name(name: str) -> str:
    """A name of a table or a column as SQL writes it, whatever is in it.

    >>> quoted_name('age"; drop table visits; --')
    '"age""; drop table visits; --"'
    """
    if "\0" in name or not name:
        raise InputError("A name of a table or a column is empty, or holds a NUL character.", "Rename it.")
    return '"' + name.replace('"', '""') + '"'


def read_query(text: str) -> Query:
    """A query, checked: one statement that only reads. The database is opened for reading only, whatever it says.

    >>> read_query("select age from visits order by id;").ordered
    True
    >>> read_query("select age from (select * from visits order by id) v").ordered
    False
    >>> read_query("select 1; drop table visits")
    Traceback (most recent call last):
    shoal.errors.InputError: The query holds more than one statement. ...
    """
    matches = [match for match in _TOKEN.finditer(text) if match.lastgroup not in ("comment", "blank")]
    while matches and matches[-1].group() == ";":
        text = text[: matches.pop().start()]
    top, words = _outermost(matches)
    first = next((match.group().lower() for match in matches if match.lastgroup == "word"), "")
    if first not in _READS:
        raise InputError("The query does not start with select.", "Give one select.", settings="query")
    ordered = any(pair == ("order", "by") for pair in pairwise(top))
    return Query(text, frozenset(words), ordered)


def _outermost(matches: list[re.Match[str]]) -> tuple[list[str], set[str]]:
    """The words outside of all parentheses in their order, and all words and names."""
    depth, top, words = 0, [], set()
    for match in matches:
        kind, token = match.lastgroup, match.group()
        if kind == "sign" and token in "()":
            depth += 1 if token == "(" else -1
        elif kind == "sign" and token == ";":
            raise InputError("The query holds more than one statement.", "Give one select.", settings="query")
        elif kind == "sign" and token in "'\"`":
            raise InputError("A quote of the query is not closed.", "Close it.", settings="query")
        elif kind in _NAMES:  # a name may stand in single quotes
            words.add(token.strip("\"`'").lower())
            top += [token.lower()] if depth == 0 and kind == "word" else []
        if depth < 0:
            break
    if depth:
        raise InputError("The parentheses of the query do not match.", "Check them.", settings="query")
    return top, words


def words_behind(words: Iterable[str], definitions: Mapping[str, str]) -> frozenset[str]:
    """The words of a query and of all views that it reads, by the definitions of the views.

    >>> sorted(words_behind(["v"], {"v": "create view v as select * from w", "w": "select a from t"}) & {"t", "u"})
    ['t']
    """
    found, new = frozenset[str](), frozenset(word.lower() for word in words)
    while new:
        found |= new
        texts = [definitions[word] for word in new if word in definitions]
        matches = [match for text in texts for match in _TOKEN.finditer(text) if match.lastgroup in _NAMES]
        new = frozenset(match.group().strip("\"`'").lower() for match in matches) - found
    return found
