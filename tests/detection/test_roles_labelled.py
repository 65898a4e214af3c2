"""Roles on whole labelled tables do not fall below what docs/coded.md says."""

import pytest
from labelled_tables import LabelledTable
from labelled_tables_apart import APART_SURVEYS
from labelled_tables_apart_records import APART_RECORDS
from labelled_tables_second import SECOND
from labelled_tables_tuned import TUNED
from role_scores import IDENTIFIER, QI, SENSITIVE, Score, proposed, score

APART = [*APART_SURVEYS, *APART_RECORDS]


def tables(*, known: bool) -> list[LabelledTable]:
    """The tables kept apart of sources that have a list or come with a code book, or the others."""
    return [table for table in APART if ("unlisted" not in table.group) == known]


@pytest.fixture(scope="module")
def scores() -> dict[str, Score]:
    return {
        "known": score(tables(known=True)),
        "unlisted": score(tables(known=False)),
        "second": score(SECOND),
        "tuned": score(TUNED),
    }


def test_there_are_enough_tables_and_half_are_kept_apart() -> None:
    assert len(APART) + len(TUNED) >= 40
    assert len(APART) >= 20
    assert sum(len(table.columns) for table in APART) >= 600


# share of columns right, recall of quasi-identifiers and of sensitive columns that must be reached
@pytest.mark.parametrize(
    ("group", "right", "quasi", "sensitive"),
    [
        ("known", 0.97, 0.97, 0.97),
        ("unlisted", 0.74, 0.71, 0.56),
        ("second", 0.70, 0.73, 0.50),
        ("tuned", 0.97, 0.97, 0.95),
    ],
)
def test_roles(scores: dict[str, Score], group: str, right: float, quasi: float, sensitive: float) -> None:
    found = scores[group]
    assert found.share_right >= right
    assert found.recall(QI) >= quasi
    assert found.recall(SENSITIVE) >= sensitive
    assert found.precision(QI) >= 0.96
    assert found.precision(SENSITIVE) >= 0.98


def test_no_identifier_is_called_other(scores: dict[str, Score]) -> None:
    for found in scores.values():
        assert found.identifiers_called_other() == []
        assert found.recall(IDENTIFIER) == 1


def test_few_quasi_identifiers_are_left_out_where_guesses_count() -> None:
    found = score([*tables(known=False), *SECOND], proposed)
    assert found.recall(QI) >= 0.93
    assert found.share_right >= 0.78
    assert found.precision(SENSITIVE) >= 0.98
    assert found.identifiers_called_other() == []
