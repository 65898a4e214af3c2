"""Reconstruction: too many answers that are too accurate give the table away (Dinur and Nissim, 2003).

Each answer counts those of a set of persons who have a trait. The table that fits the answers best is found by linear
programming: least Σ|A·x - answers|, 0 ≤ x ≤ 1, rounded. Differencing needs no program at all: two answers about sets
that differ by one person tell that person.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import polars as pl

from shoal.attacks.base import AttackOutcome, AttackVerdict, outcome_sections, verdicts_of
from shoal.errors import InputError, Message
from shoal.policy.conditions import as_polars, column_type, parse_where
from shoal.results import Figure, Figures, Headline, Result, Section
from shoal.storage import Array, Table
from shoal.storage.reading import Options, read
from shoal.storage.texts import texts_of
from shoal.verbs.attacking import AttackReconstructRequest
from shoal.verbs.base import takes
from shoal.wording import counted, percent

# Answers to counting questions as an attacker holds them: who was asked about, and how many of those it was.


MOST_PERSONS = 5_000


class Answers(NamedTuple):
    """`asked[q, i]`: whether person i is among those of question q; the counts; the truth, where it is known."""

    asked: Array
    counts: Array
    truth: Array | None


def read_answers(
    source: Any, answer: str, people: Any, person: str | None, truth: str | None, options: Options | None = None
) -> Answers:
    """Answers from a table with a row per question.

    Either it has a column per person with 1 for those whom the question is about; or a column `where` with conditions
    on the columns of `people`, which has a row per person. `truth` is the column of `people` that holds 0 or 1.

    >>> found = read_answers({"ann": [1, 1], "bob": [1, 0], "answer": [1, 0]}, "answer", None, None, None)
    >>> found.asked.astype(int).tolist(), found.counts.tolist()
    ([[1, 1], [1, 0]], [1.0, 0.0])
    """
    table = read(source, None, options)
    counts = _numbers(table, answer)
    public = None if people is None else read(people, None, options)
    if truth is not None and public is None:
        raise InputError("The truth is a column of the table of people, and there is none.", Message("Give {people}."))
    if "where" in table.columns:
        if public is None:
            raise InputError("Questions are conditions on people, and people are not given.", Message("Give {people}."))
        asked = _by_condition(table, public)
        order = np.arange(public.rows)
    else:
        names = [name for name in table.names if name != answer]
        asked = np.stack([_numbers(table, name) for name in names], axis=1) if names else np.zeros((0, 0))
        if not np.isin(asked, (0, 1)).all() or not asked.size:
            cure = "Give a column per person with 1 for those asked about and 0 for others; or a column `where`."
            raise InputError("The questions cannot be read.", cure)
        order = np.arange(len(names)) if public is None else _order(names, public, person)
    if asked.shape[1] > MOST_PERSONS:
        cure = "A table is reconstructed part by part: ask about fewer."
        raise InputError(f"{asked.shape[1]:,} persons are more than {MOST_PERSONS:,}.", cure)
    real = None if truth is None or public is None else _bits(public, truth)[order]
    return Answers(asked.astype(bool), counts, real)


def _numbers(table: Table, name: str) -> Array:
    column = table[name]
    if not column.values.dtype.is_numeric() or column.nulls:
        raise InputError(f"Column '{name}' does not hold a number in every row.", "Fill it with counts, or 0 and 1.")
    return np.asarray(column.values.cast(pl.Float64).to_numpy()[column.codes])


def _bits(table: Table, name: str) -> Array:
    values = table[name].decode()
    bits = values.cast(pl.Float64).to_numpy() if values.dtype.is_numeric() or values.dtype == pl.Boolean else None
    if bits is None or not np.isin(bits, (0, 1)).all():
        raise InputError(f"Column '{name}' holds other values than 0 and 1.", "Write 1 for persons who have the trait.")
    return np.asarray(bits)


def _by_condition(table: Table, people: Table) -> Array:
    """One line per question; conditions are computed by the engine, all of them in one pass over the people."""
    types = {name: column_type(column.values.dtype) for name, column in people.columns.items()}
    if table["where"].nulls:
        raise InputError("A question has no condition.", "Fill the column `where`.")
    texts = table["where"].values.cast(pl.String).to_list()
    wanted = [as_polars(parse_where(text, types)).alias(str(number)) for number, text in enumerate(texts)]
    found = people.to_polars().select(wanted).select(pl.all().fill_null(False)).to_numpy()
    return np.asarray(found.T[table["where"].codes])


def _order(names: list[str], people: Table, person: str | None) -> Array:
    """The row of each person who is named at the head of a column."""
    if person is None:
        raise InputError("Which column of the people names them is not said.", Message("Name it in {person}."))
    named = texts_of(people[person].values).gather(people[person].codes).to_list()
    row = {name: number for number, name in enumerate(named)}
    if len(row) < len(named) or not set(names) <= set(row):
        cure = f"Column '{person}' must hold the names of the columns of the answers, each once."
        raise InputError("The people of the answers are not those of the table of people.", cure)
    return np.array([row[name] for name in names])


_EXACT = 1e-6
_NOISY = "answers that are not whole numbers have noise: no value follows from them, by subtraction or together"
_CONTRADICT = "the answers contradict each other, as those with noise do: no value follows from them"


@dataclass(frozen=True, repr=False)
class Reconstruction(Result):
    """How much of a table its answers give away.

    `by_differencing`: persons told by two answers alone. `determined`: persons whose value follows from the answers
    together. Both only of exact answers: where they are not whole numbers, or contradict each other, there is noise in
    them, nobody is told by two, and `determined` is null. `fitted`: the mean distance of an answer
    from the table that fits best.
    """

    name: ClassVar[str] = "attack-reconstruct"

    attacks: list[AttackOutcome]
    verdict: dict[str, AttackVerdict]
    seed: int
    persons: int
    answers: int
    by_differencing: int
    determined: int | None
    fitted: float

    def summary(self) -> str:
        """How many persons are given away, or guessed right."""
        found = self.attacks[0]
        of = f"{counted(self.answers, 'answer')} about {counted(self.persons, 'person')}"
        if found.name == "reconstruction":
            return f"From {of} {percent(found.rate or 0.0)} are reconstructed; guessing gives {_share(found.baseline)}."
        known = 0 if self.determined is None else self.determined
        return f"{of} determine {known:,} of them; {self.by_differencing:,} by subtracting two answers."

    def sections(self) -> list[Section]:
        """The rate, then what follows without any program."""
        determined = "none: the answers have noise" if self.determined is None else f"{self.determined:,}"
        figures = [
            Figure("told by subtracting two answers", f"{self.by_differencing:,}"),
            Figure("determined by all answers together", determined),
            Figure("mean distance of an answer from the best table", f"{self.fitted:.3g}"),
        ]
        return [Headline(self.summary()), *outcome_sections(self.attacks, self.verdict), Figures(figures)]


def _share(value: float | None) -> str:
    return "" if value is None else percent(value)


@takes(AttackReconstructRequest)
def attack_reconstruct(source: Any, request: AttackReconstructRequest) -> Reconstruction:
    """Reconstruct who has a trait from answers to counting questions.

    `source` has a row per question with its `answer`: and either a column per person with 1 for those it is about, or a
    condition in `where` on the columns of `people`. With `truth`, a column of `people`, the guesses are judged;
    without, a person counts as hit whose value follows from the answers.

    >>> table = {"ann": [1, 1, 0], "bob": [1, 0, 1], "eve": [0, 1, 1], "answer": [1, 2, 1]}
    >>> found = attack_reconstruct(table)
    >>> found.determined, found.by_differencing
    (3, 0)
    """
    asked, counts, real = read_answers(
        source, request.answer, request.people, request.person, request.truth, request.options
    )
    guess, fitted = best_table(asked, counts)
    whole = bool((np.abs(counts - np.rint(counts)) < _EXACT).all())
    exact = whole and fitted < _EXACT
    nobody = np.zeros(asked.shape[1], bool)
    known = determined(asked, counts) if exact else nobody
    told = differencing(asked) if exact else nobody
    notes = [] if exact else [_NOISY if not whole else _CONTRADICT]
    if real is None:
        notes.append("judged without the truth: a hit is a person whose value follows from the answers")
        outcome = AttackOutcome.of("determined values", "inference", known.astype(float), notes=notes)
    else:
        unsure = np.abs(guess - 0.5) < _EXACT
        scores = np.where(unsure, 0.5, (guess > 0.5) == (real > 0.5))
        baseline = float(max(real.mean(), 1 - real.mean()))
        outcome = AttackOutcome.of("reconstruction", "inference", scores.astype(float), baseline=baseline, notes=notes)
    sizes = (asked.shape[1], len(counts), int(told.sum()))
    return Reconstruction(
        [outcome], verdicts_of([outcome]), 0, *sizes, int(known.sum()) if exact else None, float(fitted)
    )


def best_table(asked: Array, counts: Array) -> tuple[Array, float]:
    """The shares that fit the answers best, and how far an answer lies from them on average.

    >>> best_table(np.array([[True, True], [True, False]]), np.array([1.0, 0.0]))[0].round(6).tolist()
    [0.0, 1.0]
    """
    from scipy.optimize import linprog
    from scipy.sparse import bmat, csr_matrix, identity

    questions, persons = asked.shape
    matrix, one = csr_matrix(asked.astype(float)), identity(questions, format="csr")
    solved = linprog(
        np.concatenate([np.zeros(persons), np.ones(questions)]),
        A_ub=bmat([[matrix, -one], [-matrix, -one]], format="csr"),
        b_ub=np.concatenate([counts, -counts]),
        bounds=[(0, 1)] * persons + [(0, None)] * questions,
        method="highs",
    )
    if solved.status != 0:
        raise InputError("No table could be fitted to the answers.", "Check that the answers are finite numbers.")
    return solved.x[:persons], float(solved.fun) / questions


def differencing(asked: Array) -> Array:
    """Who is told by two answers: sets that differ by this person alone, or a set of this person alone.

    Each set is known by the sum of random 64-bit numbers of its persons, from which a person's own is subtracted.

    >>> differencing(np.array([[True, True, False], [True, False, False]])).tolist()
    [True, True, False]
    """
    numbers = np.random.default_rng(0).integers(1, 1 << 63, asked.shape[1], dtype=np.uint64)
    sums = np.where(asked, numbers, np.uint64(0)).sum(axis=1, dtype=np.uint64)
    there = np.append(np.unique(sums), np.uint64(0))  # the empty set is known to count nobody
    told = np.zeros(asked.shape[1], bool)
    for members, total in zip(asked, sums, strict=True):
        told[members] |= np.isin(total - numbers[members], there)
    return told


def determined(asked: Array, counts: Array) -> Array:
    """Whose value follows from exact answers: by elimination, and from sets that count nobody or everybody.

    A person follows by elimination where the unit vector lies in the span of the questions.

    >>> determined(np.array([[True, True, False]]), np.array([2.0])).tolist()
    [True, True, False]
    """
    known = np.zeros(asked.shape[1], bool)
    value = np.zeros(asked.shape[1])
    while True:
        rest = asked & ~known
        left = counts - asked @ (value * known)
        sizes = rest.sum(axis=1)
        found, solved = known.copy(), value.copy()
        for full in (0, 1):
            sure = rest[(np.abs(left - full * sizes) < _EXACT) & (sizes > 0)].any(axis=0)
            found |= sure
            solved = np.where(sure, full, solved)
        if not (found & ~known).any():
            spanned, values = _spanned(rest[:, ~known], left)
            found[np.flatnonzero(~known)[spanned]] = True
            solved[np.flatnonzero(~known)[spanned]] = values[spanned]
        if (found == known).all():
            return known
        known, value = found, solved


def _spanned(matrix: Array, counts: Array) -> tuple[Array, Array]:
    """Which unknowns a system of equations determines, and their values."""
    if not matrix.size or not matrix.any():
        return np.zeros(matrix.shape[1], bool), np.zeros(matrix.shape[1])
    left, sizes, right = np.linalg.svd(matrix.astype(float), full_matrices=False)
    kept = sizes > sizes[0] * 1e-10
    spanned = (right[kept] ** 2).sum(axis=0) > 1 - 1e-8
    values = right[kept].T @ ((left[:, kept].T @ counts) / sizes[kept])
    return spanned, np.rint(values)
