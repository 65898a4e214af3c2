"""What has one home is written nowhere else: vocabularies, months, words for missing, shares, compiled loops."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Literal, get_origin

import numpy as np
import polars as pl
import pytest

from shoal import vocabulary
from shoal.identifiers.base import ColumnView
from shoal.identifiers.column import ColumnEvidence
from shoal.storage.months import ENGLISH_MONTH_NAMES, MONTH_NAMES, WHOLE_MONTH_NAMES
from shoal.storage.texts import WORDS_FOR_MISSING

ROOT = Path(__file__).parents[1] / "src" / "shoal"
SOURCES = {str(path.relative_to(ROOT)): path.read_text() for path in sorted(ROOT.rglob("*.py"))}
COMMANDS = [name for name in SOURCES if name.startswith("cli/")]
VOCABULARIES = {
    name: vocabulary.words_of(value) for name, value in vars(vocabulary).items() if get_origin(value) is Literal
}


def texts_in(node: ast.AST) -> list[str]:
    """The string literals of a file, but for docstrings."""
    skipped = {
        id(part.body[0].value)
        for part in ast.walk(node)
        if isinstance(part, (ast.Module, ast.ClassDef, ast.FunctionDef))
        and part.body
        and isinstance(part.body[0], ast.Expr)
    }
    return [
        part.value
        for part in ast.walk(node)
        if isinstance(part, ast.Constant) and isinstance(part.value, str) and id(part) not in skipped
    ]


def lists_in(node: ast.AST) -> list[set[str]]:
    """What stands together in a tuple, list, set or Literal of texts."""
    return [
        {entry.value for entry in part.elts}  # type: ignore[attr-defined]
        for part in ast.walk(node)
        if isinstance(part, (ast.Tuple, ast.List, ast.Set))
        and len(part.elts) > 1
        and all(isinstance(entry, ast.Constant) and isinstance(entry.value, str) for entry in part.elts)
    ]


def test_the_vocabularies_are_found() -> None:
    assert len(VOCABULARIES) >= 16
    assert VOCABULARIES["NullRule"] == ("value", "wildcard", "drop")


def test_this_guard_finds_what_it_looks_for() -> None:
    tree = ast.parse(
        'one_of("--x", x, ("drop", "value", "wildcard"))\nY = Literal["range", "observed"]\nz = "dmy|mdy|ymd"'
    )
    assert {"drop", "value", "wildcard"} in lists_in(tree)
    assert {"range", "observed"} in lists_in(tree)
    assert "dmy|mdy|ymd" in texts_in(tree)


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_types_a_vocabulary_again(name: str) -> None:
    tree = ast.parse(SOURCES[name])
    lists, texts = lists_in(tree), texts_in(tree)
    for word, words in VOCABULARIES.items():
        assert set(words) not in lists, word
        assert not any("|".join(words) in text for text in texts), word


def test_no_vocabulary_is_defined_twice() -> None:
    for name, source in SOURCES.items():
        if name == "vocabulary.py":
            continue
        defined = [
            {entry.value for entry in node.slice.elts if isinstance(entry, ast.Constant)}
            for node in ast.walk(ast.parse(source))
            if isinstance(node, ast.Subscript)
            and isinstance(node.value, ast.Name)
            and node.value.id == "Literal"
            and isinstance(node.slice, ast.Tuple)
        ]
        for word, words in VOCABULARIES.items():
            assert set(words) not in defined, f"{name}: {word}"


def files_with(pattern: str) -> set[str]:
    return {
        name
        for name, source in SOURCES.items()
        if any(re.search(pattern, text) for text in texts_in(ast.parse(source)))
    }


def test_names_of_months_are_in_one_file() -> None:
    assert files_with(r"(?i)\bfeb\b|\bfeb\(|february") == {"storage/months.py"}


def test_words_for_missing_are_in_one_file() -> None:
    assert files_with(r"(?i)\bn/a\b") == {"storage/texts.py"}


def test_shares_are_read_in_one_file() -> None:
    reading = re.compile(r"""\b(?:removesuffix|rstrip|strip|replace)\(["']%["']""")
    assert {name for name, source in SOURCES.items() if reading.search(source)} == {"policy/amounts.py"}


MONTHS = [
    *("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november"),
    *("december", "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec"),
]


def test_every_english_month_is_known_by_every_pattern() -> None:
    for pattern in (ENGLISH_MONTH_NAMES, WHOLE_MONTH_NAMES, MONTH_NAMES):
        known = pl.Series(MONTHS).str.contains(f"^(?:{pattern})$")
        assert known.all(), pattern
    others = pl.Series(["sunday", "marketing", "junk", "septic", "janitor", "ma"])
    for pattern in (ENGLISH_MONTH_NAMES, WHOLE_MONTH_NAMES):
        assert not others.str.contains(f"^(?:{pattern})$").any(), pattern


def test_words_for_missing_are_left_out_of_a_column() -> None:
    assert "not available" in WORDS_FOR_MISSING
    assert "desconocido" in WORDS_FOR_MISSING
    values = pl.Series(["Not available", "desconocido", " N/A ", "--", "Oslo"])
    column = ColumnEvidence(ColumnView("town", values, np.ones(len(values)), len(values)))
    assert column.values.to_list() == ["Oslo"]
