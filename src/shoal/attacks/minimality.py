"""Minimality: a class that was not cut further could not be. Who knows that learns where its sensitive values are.

Wong, Fu, Wang and Pei, *Minimality attack in privacy preserving data publishing* (2007). The attacker knows everybody's
quasi-identifiers, and so into which halves a class could have been cut. It was not: so one of the halves would have
failed the policy. Among all ways to give the sensitive values of the class to its members, only those remain in which
every cut fails.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from shoal.attacks.base import Attack, AttackOutcome, Criterion
from shoal.attacks.linking.columns import as_places
from shoal.attacks.subject import Subject
from shoal.models import KAnonymity
from shoal.models.l_diversity import LDiversity
from shoal.policy.judgement.shown_classes import shown_in
from shoal.storage import Array
from shoal.storage.rows import Rows
from shoal.wording import counted

# how often the values of a class are dealt anew, and how many of these must remain to say anything
_DEALT, _LEFT = 4_000, 20
# members of a class up to which its cuts are worked out; larger ones tell little of each member
_LARGEST = 400
# by how much a value is clearly likelier: what chance among the deals does not do
_CLEARLY = 0.1


class Minimality(Attack):
    """The attacker knows the method, the policy, and everybody's quasi-identifiers; the values of a class are released.

    A target is hit where the likeliest value of its half is right. The baseline guesses the most frequent value of the
    class, as somebody does who does not know the method.
    """

    name: ClassVar[str] = "minimality"
    criterion: ClassVar[Criterion] = "inference"
    knows: ClassVar[str] = (
        "Knows the method, the policy and everybody's quasi-identifiers, and asks why a class was not split further."
    )
    success: ClassVar[str] = "The sensitive value that this makes likeliest is right."

    def skips(self, subject: Subject) -> str | None:
        """Only a method that looks at sensitive values before it cuts says something about them by not cutting."""
        if subject.manifest is None or subject.manifest.method != "mondrian":
            return "the method does not cut by what is sensitive"
        if _model(subject) is None:
            return "no class was kept whole for l-diversity"
        if subject.original is None or subject.place is None:
            return "whose row is whose is not known"
        return None if _places(subject) else "no quasi-identifier is a number or a date"

    def run(self, subject: Subject) -> AttackOutcome:
        """Guess the sensitive value of every target, with and without the knowledge that its class was not cut."""
        model = _model(subject)
        assert model is not None
        k = max((one.k for one in subject.policy.models if isinstance(one, KAnonymity)), default=model.l)
        shown = shown_in(Rows.of(subject.table, subject.released_quasi_identifiers), subject.policy.null_rule)
        places, value = _places(subject), subject.table[model.sensitive].codes.astype(np.int64)
        order = np.argsort(shown.class_of_row, kind="stable")
        starts = np.flatnonzero(np.diff(shown.class_of_row[order], prepend=-2))
        scores, plain = np.zeros(len(value)), np.zeros(len(value))
        narrowed = beyond = 0
        rows = _targets(subject, shown.class_of_row)
        attacked = np.isin(shown.class_of_row, shown.class_of_row[rows])
        for members in np.split(order, starts[1:]):
            if shown.class_of_row[members[0]] < 0 or not attacked[members[0]]:
                continue
            plain[members] = scores[members] = _most_frequent(value[members])
            if not 2 * k <= len(members) <= _LARGEST:
                continue
            halves = [half for place in places if (half := median_half(place[members], k)) is not None]
            found = likeliest(value[members], halves, model.l, subject.seed)
            if found is not None:
                scores[members], chance = found
                narrowed += len(members)
                beyond += int((chance > _share(value[members]) + _CLEARLY).sum())
        said = f"of {beyond:,} a value is clearly likelier than the most frequent one of the class"
        notes = [f"{counted(narrowed, 'record')} in classes that could have been cut; {said}"]
        baseline = float(plain[rows].mean()) if len(rows) else None
        return AttackOutcome.of(self.name, self.criterion, np.sort(scores[rows]), baseline=baseline, notes=notes)


def _model(subject: Subject) -> LDiversity | None:
    there = subject.table.columns
    found = [one for one in subject.policy.models if isinstance(one, LDiversity) and one.sensitive in there]
    return found[0] if found else None


def _places(subject: Subject) -> list[Array]:
    """The quasi-identifiers that are numbers or dates, by released row; NaN where it is not known whose it is."""
    assert subject.original is not None
    assert subject.place is not None
    found = []
    for name in subject.on:
        column = subject.original[name]
        numbers = as_places(column)
        if numbers is None or column.nulls:
            continue
        place = np.full(subject.table.rows, np.nan)
        there = subject.place >= 0
        place[subject.place[there]] = numbers[column.codes[there]]
        found.append(place)
    return found


def _targets(subject: Subject, classes: Array) -> Array:
    """The released rows that are attacked."""
    assert subject.place is not None
    rows = subject.place[subject.sampled[0]]
    rows = rows[rows >= 0]
    return np.asarray(rows[classes[rows] >= 0])


def _most_frequent(values: Array) -> Array:
    """1 for those who have the most frequent value; shared where several are."""
    found, counts = np.unique(values, return_counts=True)
    best = found[counts == counts.max()]
    return np.isin(values, best) / len(best)


def _share(values: Array) -> float:
    """The share of the most frequent value."""
    return float(np.unique(values, return_counts=True)[1].max() / len(values))


def median_half(place: Array, k: int) -> Array | None:
    """Who is below the cut that lies nearest to the median and leaves k on both sides; None where there is none.

    >>> median_half(np.array([1.0, 2.0, 8.0, 9.0]), 2).tolist()
    [True, True, False, False]
    """
    if np.isnan(place).any():
        return None
    size, median = len(place), np.partition(place, len(place) // 2)[len(place) // 2]
    sides = [place < median, place <= median]
    legal = [half for half in sides if k <= int(half.sum()) <= size - k]
    return min(legal, key=lambda half: abs(2 * int(half.sum()) - size)) if legal else None


def likeliest(values: Array, halves: Sequence[Array], l: int, seed: int) -> tuple[Array, Array] | None:  # noqa: E741
    """How right the likeliest value of each member is, and how likely it is; None where nothing can be said.

    The values are dealt to the members again and again; only deals in which each cut leaves a half with fewer than l
    values remain. Members on the same sides of all cuts are alike, and share what is known of them.

    >>> half = np.array([True, True, True, True, False, False])
    >>> right, chance = likeliest(np.array([7, 7, 7, 7, 8, 9]), [half], 2, seed=0)
    >>> right.tolist()
    [1.0, 1.0, 1.0, 1.0, 0.0, 0.0]
    """
    if not halves:
        return None
    sides = np.stack(halves, axis=1)
    order = np.lexsort((values, *sides.T))  # what is dealt does not depend on the order of rows
    different, code = np.unique(values[order], return_inverse=True)
    group, groups = np.unique(sides[order], axis=0, return_inverse=True)[1].ravel(), len(np.unique(sides, axis=0))
    draw = np.random.default_rng([seed, len(values)])
    dealt = draw.permuted(np.broadcast_to(code, (_DEALT, len(code))), axis=1)
    counts = np.zeros((_DEALT, groups, len(different)), np.int64)
    np.add.at(counts, (np.arange(_DEALT)[:, None], group[None, :], dealt), 1)
    member_sides = np.stack([sides[order][group == number][0] for number in range(groups)])
    remain = np.ones(_DEALT, bool)
    for cut in range(sides.shape[1]):
        lower = counts[:, member_sides[:, cut]].sum(axis=1)
        upper = counts[:, ~member_sides[:, cut]].sum(axis=1)
        remain &= ((lower > 0).sum(axis=1) < l) | ((upper > 0).sum(axis=1) < l)
    if remain.sum() < _LEFT:
        return None
    share = counts[remain].mean(axis=0)
    share = share / share.sum(axis=1, keepdims=True)
    best = share.argmax(axis=1)
    right, chance = np.empty(len(values)), np.empty(len(values))
    right[order], chance[order] = best[group] == code, share.max(axis=1)[group]
    return right, chance
