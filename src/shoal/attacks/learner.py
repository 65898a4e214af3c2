"""Inference by a learner: trained on the release, asked about people in the data and about others.

What it knows about others it knows from the population; only what it knows better about people in the data is a leak.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from shoal.attacks.base import Attack, AttackOutcome, Criterion
from shoal.attacks.inference import guessed_without, is_number, near, own_codes, sensitive_of
from shoal.attacks.linking.columns import as_places
from shoal.attacks.subject import Subject
from shoal.storage import Array, Column, Table
from shoal.utility.analysis import Logistic, linear_weights, logistic_regression
from shoal.utility.decoding import Ends
from shoal.wording import percent

# records that the learner sees, categories of a column that become features, and classes that it tells apart
_MOST_RECORDS, _MOST_LABELS, _MOST_CLASSES = 20_000, 100, 50


class Learner(Attack):
    """The attacker trains a regression on the release and predicts the sensitive columns of people.

    Categories by logistic regression, numbers by ridge regression, right within 5%.
    """

    name: ClassVar[str] = "learner"
    criterion: ClassVar[Criterion] = "inference"
    knows: ClassVar[str] = (
        "Trains a regression on the released table, and knows the exact quasi-identifiers of the person."
    )
    success: ClassVar[str] = "The sensitive value that the regression predicts is right (a number: within 5%)."

    def skips(self, subject: Subject) -> str | None:
        """Without people, knowledge or a sensitive column there is nothing to predict."""
        if subject.original is None or not subject.on:
            return "there is no original"
        return None if learnable(subject) else "the release has no sensitive column that can be learnt"

    def run(self, subject: Subject) -> AttackOutcome:
        """Train on the release, predict for both."""
        ours, theirs = subject.people
        columns = learnable(subject)
        train, (inside, outside) = features(subject, ours, theirs)
        rates, scores, control = {}, np.zeros(ours.rows), np.zeros(0 if theirs is None else theirs.rows)
        for name in columns:
            model = _ColumnLearner.of(subject.table[name], train, subject.seed)
            hits = model.hits(inside, ours[name])
            rates[name] = float(hits.mean()) if len(hits) else 0.0
            scores += hits / len(columns)
            if theirs is not None:
                control += model.hits(outside, theirs[name]) / len(columns)
        worst = max(rates, key=lambda name: rates[name])
        return AttackOutcome.of(
            self.name,
            self.criterion,
            scores,
            None if theirs is None else control,
            baseline=guessed_without(subject, ours, columns),
            notes=[f"column {worst} is predicted most often: {percent(rates[worst])}"],
            rows=subject.sampled[0],
        )


def learnable(subject: Subject) -> list[str]:
    """Sensitive columns of numbers, or of few enough categories."""
    return [
        name
        for name in sensitive_of(subject)
        if is_number(subject.table[name]) or 1 < len(subject.table[name].values) <= _MOST_CLASSES
    ]


class _ColumnLearner:
    """A learner of one column."""

    def __init__(self, column: Column, learnt: Array | Logistic) -> None:
        self.column, self.learnt = column, learnt

    @classmethod
    def of(cls, column: Column, train: ReleasedFeatures, seed: int) -> _ColumnLearner:
        known = np.flatnonzero(~column.is_null())
        if len(known) > _MOST_RECORDS:
            known = np.random.default_rng(seed).choice(known, _MOST_RECORDS, replace=False)
        if is_number(column):
            wanted = column.values.cast(pl.Float64).to_numpy()[column.codes[known]]
            return cls(column, linear_weights(train.at(known), wanted))
        return cls(
            column, logistic_regression(train.at(known), column.codes[known].astype(np.int64), len(column.values))
        )

    def hits(self, asked: Array, own: Column) -> Array:
        """Whether each prediction is right."""
        if isinstance(self.learnt, Logistic):
            return np.asarray(self.learnt.predicted(asked) == own_codes(own, self.column), np.float64)
        truth = own.decode().cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()
        return near(asked @ self.learnt[:-1] + self.learnt[-1], truth)


@dataclass(frozen=True)
class ReleasedFeatures:
    """The features of released records: for each column its features by code, and the code of each record."""

    columns: list[tuple[Array, Array]]

    def at(self, rows: Array) -> Array:
        """The features of some records."""
        if not self.columns:
            return np.zeros((len(rows), 1))
        return np.concatenate([by_code[codes[rows]] for by_code, codes in self.columns], axis=1)


def features(subject: Subject, ours: Table, theirs: Table | None) -> tuple[ReleasedFeatures, tuple[Array, Array]]:
    """What is known as numbers: of released records and of people. Numbers in units of their spread, categories as
    shares of the members of a cell."""
    train: list[tuple[Array, Array]] = []
    asked: tuple[list[Array], list[Array]] = ([], [])
    for name in subject.on:
        people = [table[name] if table is not None else None for table in (ours, theirs)]
        found = _pair(subject, name) if name in subject.released.pairs else _column(subject, name, people)
        if found is None:
            continue
        by_code, codes, labels = found
        records = np.bincount(codes, minlength=len(by_code))[:, None] * np.isfinite(by_code)
        if not records.any():
            continue
        total, values = np.maximum(records.sum(axis=0), 1), np.nan_to_num(by_code)
        middle = (records * values).sum(axis=0) / total
        spread = np.sqrt((records * (values - middle) ** 2).sum(axis=0) / total)
        scale = np.where(spread > 0, spread, 1.0)
        train.append((np.nan_to_num((by_code - middle) / scale), codes))
        for place, column in enumerate(people):
            if column is not None:
                asked[place].append(np.nan_to_num((_asked(column, labels) - middle) / scale))
    rows = [ours.rows, 0 if theirs is None else theirs.rows]
    matrices = [
        np.concatenate(parts, axis=1) if parts else np.zeros((count, 1))
        for parts, count in zip(asked, rows, strict=True)
    ]
    return ReleasedFeatures(train), (matrices[0], matrices[1])


def _pair(subject: Subject, name: str) -> tuple[Array, Array, list[str] | None] | None:
    low, high = (subject.table[end] for end in subject.released.pairs[name])
    ends = [np.append(places, np.nan)[one.codes] for one in (low, high) if (places := as_places(one)) is not None]
    if len(ends) < 2:
        return None
    return ((ends[0] + ends[1]) / 2)[:, None], np.arange(subject.table.rows), None


def _column(subject: Subject, name: str, people: list[Column | None]) -> tuple[Array, Array, list[str] | None] | None:
    """The features of a released column by code, the code of each record, and the labels that the features stand for
    (None: a number)."""
    column = subject.table[name]
    records = np.bincount(column.codes, minlength=column.cardinality)
    meaning = subject.released.meaning(name)
    if isinstance(meaning, Ends):
        if any(one is not None and as_places(one) is None for one in people):
            return None
        return meaning.middles(records)[:, None], column.codes, None
    if not 1 < len(meaning.labels) <= _MOST_LABELS:
        return None
    return meaning.matrix(records, by_frequency=False), column.codes, meaning.labels


def _asked(column: Column, labels: list[str] | None) -> Array:
    """The same features of people."""
    if labels is None:
        places = as_places(column)
        assert places is not None
        return np.append(places, np.nan)[column.codes.astype(np.int64)][:, None]
    texts = column.values.cast(pl.String).to_list()
    found = np.zeros((len(texts) + 1, len(labels)))
    place = {label: number for number, label in enumerate(labels)}
    for code, text in enumerate(texts):
        if text in place:
            found[code, place[text]] = 1.0
    return found[column.codes.astype(np.int64)]
