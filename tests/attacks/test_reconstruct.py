"""Reconstruction: exact answers give the table away, a desk with a budget does not."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.attacks.reconstruct import attack_reconstruct, best_table, determined, differencing


def random_questions(seed: int, persons: int, questions: int) -> tuple[Any, Any]:
    draw = np.random.default_rng(seed)
    return draw.random((questions, persons)) < 0.5, (draw.random(persons) < 0.4).astype(float)


@pytest.mark.parametrize("seed", range(3))
def test_exact_answers_give_more_than_95_percent_away(seed: int) -> None:
    asked, real = random_questions(seed, 80, 160)
    guess, fitted = best_table(asked, asked @ real)
    assert ((guess > 0.5) == real).mean() > 0.95
    assert fitted == pytest.approx(0, abs=1e-9)


def test_small_noise_does_not_help_and_large_noise_does() -> None:
    """Dinur and Nissim: noise well below √persons is of no use."""
    asked, real = random_questions(1, 60, 240)
    draw = np.random.default_rng(2)
    right = []
    for scale in (0.5, 30):
        guess, _ = best_table(asked, asked @ real + draw.normal(0, scale, len(asked)))
        right.append(((guess > 0.5) == real).mean())
    assert right[0] > 0.95
    assert right[1] < 0.8


@settings(deadline=None, max_examples=60)
@given(st.integers(2, 5), st.integers(1, 6), st.integers(0, 10**6))
def test_what_is_determined_against_all_tables(persons: int, questions: int, seed: int) -> None:
    """Who is called determined has one value in every table that gives the answers; elimination is not all of logic, so
    that some who have may not be found."""
    asked, real = random_questions(seed, persons, questions)
    counts = asked @ real
    tables = [np.array(bits) for bits in product((0, 1), repeat=persons) if (asked @ np.array(bits) == counts).all()]
    sure = np.stack(tables).std(axis=0) == 0
    found = determined(asked, counts)
    assert not (found & ~sure).any()
    told = differencing(asked)
    assert not (told & ~sure).any()
    assert not (told & ~found).any()


def test_differencing() -> None:
    asked = np.array([[1, 1, 1, 0], [1, 1, 0, 0], [0, 0, 0, 1]], bool)
    assert differencing(asked).tolist() == [False, False, True, True]


@pytest.mark.parametrize("answers", [[0.3, 0.7], [1.4, 0.2]])
def test_answers_with_noise_tell_nobody_by_subtraction(answers: list[float]) -> None:
    """Some table of shares fits them, yet they are not counts: what is subtracted is noise."""
    found = shoal.attack_reconstruct({"ann": [1, 1], "bob": [1, 0], "answer": answers})
    assert (found.by_differencing, found.determined, found.attacks[0].successes) == (0, None, 0)
    assert "noise" in found.attacks[0].notes[0]
    assert shoal.attack_reconstruct({"ann": [1, 1], "bob": [1, 0], "answer": [1, 0]}).by_differencing == 2


def people(count: int = 60, seed: int = 0) -> pl.DataFrame:
    draw = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "id": np.arange(count),
            "age": draw.integers(20, 80, count),
            "sex": draw.choice(["f", "m"], count),
            "ill": (draw.random(count) < 0.35).astype(int),
        }
    )


def conditions(count: int, persons: int, seed: int) -> list[str]:
    draw = np.random.default_rng(seed)
    chosen = [np.flatnonzero(draw.random(persons) < 0.5) for _ in range(count)]
    return [f"id in ({', '.join(map(str, one.tolist()))})" for one in chosen]


def exact(table: pl.DataFrame, where: list[str]) -> list[int]:
    sql = pl.SQLContext(t=table)
    return [sql.execute(f"select sum(ill) as n from t where {one}", eager=True)["n"][0] for one in where]


def test_conditions_on_people() -> None:
    table = people()
    where = conditions(120, 60, 1)
    answers = pl.DataFrame({"where": where, "answer": exact(table, where)})
    found = attack_reconstruct(answers, people=table, truth="ill")
    assert found.attacks[0].rate is not None
    assert found.attacks[0].rate > 0.95
    assert found.attacks[0].baseline == pytest.approx(max(table["ill"].mean(), 1 - table["ill"].mean()))  # type: ignore[operator, type-var]
    assert found.determined == 60
    shuffled = attack_reconstruct(
        answers.sample(fraction=1, shuffle=True, seed=1),
        people=table.sample(fraction=1, shuffle=True, seed=2),
        truth="ill",
    )
    assert shuffled.attacks[0].rate == found.attacks[0].rate
    assert attack_reconstruct(answers, people=table.drop("ill")).attacks[0].name == "determined values"


def test_a_column_per_person() -> None:
    answers = pl.DataFrame({"ann": [1, 1, 0], "bob": [1, 0, 1], "eve": [0, 1, 1], "answer": [1, 2, 1]})
    truth = pl.DataFrame({"who": ["eve", "ann", "bob"], "ill": [1, 1, 0]})
    found = attack_reconstruct(answers, people=truth, person="who", truth="ill")
    assert found.attacks[0].rate == 1.0
    assert any("fewer than 30" in note for note in found.attacks[0].notes)


def attacked_desk(folder: Path, persons: int, questions: int, seed: int) -> Any:
    """All of the budget of 1 is spent on as many questions as the attacker wants."""
    table = people(persons, seed)
    types = {"id": "integer", "age": "integer", "sex": "text", "ill": "integer"}
    shoal.open_desk(table, folder=folder / "desk", epsilon="1", types=types)
    desk = shoal.Desk(folder / "desk")
    where, each = conditions(questions, persons, seed), str(round(1 / questions, 6))
    asked = [desk.query("count", where=f"ill = 1 and {one}", epsilon=each).answer for one in where]
    return attack_reconstruct(pl.DataFrame({"where": where, "answer": asked}), people=table, truth="ill")


def test_a_desk_survives(tmp_path: Path) -> None:
    found = attacked_desk(tmp_path, 60, 40, 7)
    one = found.attacks[0]
    assert one.low is not None
    assert one.baseline is not None
    assert one.low <= one.baseline
    assert found.determined is None


@pytest.mark.slow
@pytest.mark.parametrize("questions", [10, 100, 400])
@pytest.mark.parametrize("seed", range(5))
def test_a_desk_survives_many_questions(tmp_path: Path, questions: int, seed: int) -> None:
    one = attacked_desk(tmp_path, 100, questions, seed).attacks[0]
    assert one.low is not None
    assert one.baseline is not None
    assert one.low <= one.baseline


@pytest.mark.parametrize(
    ("answers", "how", "said"),
    [
        ({"a": [1], "n": [1]}, {}, "has no column 'answer'"),
        ({"a": [7], "answer": [1]}, {}, "cannot be read"),
        ({"answer": [1]}, {}, "cannot be read"),
        ({"a": ["Zqx"], "answer": [1]}, {}, "does not hold a number"),
        ({"where": ["age > 3"], "answer": [1]}, {}, "people are not given"),
        ({"a": [1], "answer": [1]}, {"truth": "ill"}, "there is none"),
        ({"a": [1], "answer": [1]}, {"people": {"who": ["Zqx"], "ill": [1]}, "truth": "ill"}, "is not said"),
        ({"a": [1], "answer": [1]}, {"people": {"who": ["Zqx"], "ill": [1]}, "person": "who"}, "not those"),
        ({"a": [1], "answer": [1]}, {"people": {"who": ["a"], "ill": [7]}, "person": "who", "truth": "ill"}, "0 and 1"),
        ({"where": ["age > 3", None], "answer": [1, 2]}, {"people": {"age": [1]}}, "no condition"),
    ],
)
def test_bad_input_is_refused(answers: dict[str, Any], how: dict[str, Any], said: str) -> None:
    with pytest.raises(shoal.InputError, match=said) as refused:
        attack_reconstruct(answers, **how)
    assert "Zqx" not in str(refused.value)
