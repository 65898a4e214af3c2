"""Membership: whether somebody is in the pool, from nothing but the frequencies that were published of it.

Homer et al. (2008) compare a genome with the frequencies of the pool and of a reference; the likelihood ratio
(Sankararaman et al. 2009) does so best: Σ x·ln(f/p) + (a - x)·ln((1-f)/(1-p)) for x of a alleles that are the allele,
with a frequency f in the pool and p outside.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from filecmp import cmp
from pathlib import Path
from statistics import NormalDist
from typing import Any, ClassVar

import numpy as np

from shoal.attacks.base import AttackOutcome, AttackVerdict, outcome_sections, verdicts_of
from shoal.attacks.genomes import check_same_allele, in_common, names_in, presence, read_frequencies, read_genomes
from shoal.errors import InputError, Message, Setting, check_at_least
from shoal.policy import as_policy
from shoal.policy.sections import AttackLimits
from shoal.releases.open import Release
from shoal.releases.readable import Readable, readable
from shoal.results import Cell, Grid, Headline, Result, Section
from shoal.storage import Array
from shoal.storage.reading import Options
from shoal.verbs.attacking import AttackMembershipRequest
from shoal.verbs.base import takes
from shoal.wording import counted, percent

# How well a statistic tells members from others: power at few false positives, never accuracy.
#
# Carlini et al., *Membership inference attacks from first principles* (2022): an attack that is sure about a few people
# is worse for them than one that is a little better than a coin about everybody.


FALSE_POSITIVES = (0.001, 0.01)


def flagged(members: Array, others: Array, false_positives: float) -> tuple[Array, Array, bool]:
    """How far each member and each other person is flagged (ties at the threshold are shared), and whether the
    threshold is that of a normal distribution.

    The threshold is a value of the others that a new one of them exceeds with at most this probability: the r-th
    largest of n, r = ⌊share · (n + 1)⌋. Where they are too few for that, a normal distribution is fitted to them.

    >>> flagged(np.array([3.0, 1.0]), np.arange(4.0), 0.2)[0].tolist()
    [1.0, 0.0]
    """
    rank = math.floor(false_positives * (len(others) + 1) + 1e-9)
    if rank < 1:
        spread = float(others[np.isfinite(others)].std(ddof=1)) if len(others) > 1 else 0.0
        threshold = float(others[np.isfinite(others)].mean()) + NormalDist().inv_cdf(1 - false_positives) * spread
        return (members > threshold).astype(float), (others > threshold).astype(float), True
    threshold = float(np.partition(others, -rank)[-rank])
    tied, above = int((others == threshold).sum()), int((others > threshold).sum())
    share = (rank - above) / tied
    ours, theirs = (np.where(one == threshold, share, (one > threshold) * 1.0) for one in (members, others))
    return ours, theirs, False


def area(members: Array, others: Array) -> float:
    """The area under the curve: how often a member scores above another person, ties as one half.

    >>> area(np.array([2.0, 1.0]), np.array([1.0, 0.0]))
    0.875
    """
    ordered = np.sort(others)
    below = np.searchsorted(ordered, members, side="left")
    upto = np.searchsorted(ordered, members, side="right")
    return float((below + upto).mean() / 2 / len(others))


def bound(epsilon: float, delta: float, false_positives: float) -> float:
    """The largest power that (ε, δ)-differential privacy allows: min(e^ε·FPR + δ, 1 - e^-ε·(1 - δ - FPR)).

    >>> round(bound(1.0, 0.0, 0.001), 6)
    0.002718
    """
    grown = math.exp(min(epsilon, 700.0)) * false_positives + delta
    return min(1.0, grown, 1 - math.exp(-epsilon) * (1 - delta - false_positives))


# genotypes that are held against the frequencies at once
_CELLS = 1 << 21
# markers at which hardly anybody has the genome of somebody else
_SURELY_ONE = 50
_OTHERS = "Give people who are like the candidates and not in the data."
# a member scores above another person so often at least, where members are not in the reference
_LEAST_AREA = 0.4


@dataclass(frozen=True)
class Power:
    """How many members a statistic finds at a share of false positives; `bound` is what ε and δ allow."""

    statistic: str
    false_positives: float
    power: float
    low: float
    high: float
    bound: float | None


@dataclass(frozen=True, repr=False)
class Membership(Result):
    """How well members of the data are told from people who are not in it. Accuracy is not reported: it hides them.

    `area` is that under the curve of each statistic: a member scores above another person so often.
    """

    name: ClassVar[str] = "attack-membership"

    attacks: list[AttackOutcome]
    verdict: dict[str, AttackVerdict]
    seed: int
    known: int
    members: int
    others: int
    power: list[Power]
    area: dict[str, float]
    within_bound: bool | None

    @property
    def holds(self) -> bool:
        """Whether no more is found than the privacy budget and the policy's limit on membership allow."""
        return self.within_bound is not False and "fail" not in self.verdict.values()

    def summary(self) -> str:
        """The best statistic at the fewest false positives."""
        best = max((one for one in self.power if one.false_positives == FALSE_POSITIVES[0]), key=lambda one: one.power)
        said = f"The {best.statistic} finds {percent(best.power)} of {counted(self.members, 'member')}"
        said = f"{said} at {best.false_positives:.1%} false positives."
        if self.within_bound is None:
            return said
        return f"{said} That is {'within' if self.within_bound else 'MORE than'} what the privacy budget allows."

    def sections(self) -> list[Section]:
        """Power at few false positives, statistic by statistic."""
        tone = "strong" if self.holds else "bad"
        heads = ("statistic", "false positives", "power", "95% interval", "most that is allowed", "area")
        rows = [
            (
                Cell(one.statistic),
                f"{one.false_positives:.1%}",
                percent(one.power),
                f"{percent(one.low)} to {percent(one.high)}",
                "" if one.bound is None else percent(one.bound),
                f"{self.area[one.statistic]:.3f}",
            )
            for one in self.power
        ]
        shown: list[Section] = [Headline(self.summary(), tone), Grid(heads, rows)]  # type: ignore[arg-type]
        return [*shown, *outcome_sections(self.attacks, self.verdict)]


@dataclass(frozen=True)
class PublishedBudget:
    """The privacy budget of what was published, where there is one: nobody can be told better than it allows."""

    epsilon: float
    delta: float = 0.0


@takes(AttackMembershipRequest)
def attack_membership(source: Any, asked: AttackMembershipRequest) -> Membership:
    """How many of the `candidates`, who are in the pool, are told from the `reference`, who are not.

    `source` has a row per marker (`marker`, `frequency` of the allele in the pool); the others have a row per person
    and a column per marker with 0, 1 or 2 copies. Each person of the reference is judged by the frequencies of the
    others. `epsilon` and `delta`: the frequencies were published with this privacy budget. The limit on membership in
    the section `attacks` of a `policy` is judged: that of the release's manifest, if none is given.

    Where `source` is a release with its manifest, the people are rows with its quasi-identifiers, and the statistic is
    how many of its records fit a person, by how many people could be meant.

    >>> others = {f"rs{i}": [i % 2 * (i % 5 > 0), i % 3 % 2] for i in range(50)}
    >>> member = {f"rs{i}": [i % 2] for i in range(50)}
    >>> pool = {"marker": list(member), "frequency": [float(copies[0]) for copies in member.values()]}
    >>> attack_membership(pool, candidates=member, reference=others).known
    50
    """
    check_at_least(0, asked.seed, Setting("seed"))
    budget = _budget(asked.epsilon, asked.delta)
    _check_apart(asked.candidates, asked.reference)
    release = _release(source, asked.options)
    limits = None if asked.policy is None else as_policy(asked.policy).attacks
    if release is not None:
        if asked.policy is None and release.source is not None:
            limits = release.source.policy.attacks
        chances, columns = presence(release, asked.candidates, asked.reference, asked.seed, asked.options)
        return judged({"presence in the release": chances}, len(columns), [], budget, asked.seed, limits)
    published = read_frequencies(source, asked.marker, asked.frequency, asked.options)
    names = [names_in(table, asked.options) for table in (asked.candidates, asked.reference)]
    markers = in_common(published, ("candidates", names[0]), ("reference", names[1]))
    place = {name: number for number, name in enumerate(published.markers)}
    pool = published.shares[[place[name] for name in markers]]
    ours, theirs = (read_genomes(table, markers, asked.options) for table in (asked.candidates, asked.reference))
    if len(theirs) < 2:
        raise InputError("The reference is a single person.", "Give people who are like the pool and not in it.")
    _check_others(ours, theirs)
    copies = 2 if max(np.nanmax(ours), np.nanmax(theirs)) > 1 else 1
    scores = statistics(pool, ours, theirs, copies)
    notes = [f"{counted(len(published.markers) - len(markers), 'marker')} left out: not in all tables"]
    said = notes if len(markers) < len(published.markers) else []
    return judged(scores, len(markers), said, budget, asked.seed, limits)


def _check_apart(candidates: Any, reference: Any) -> None:
    """Refuse a reference that is the file of the candidates, or equal to it."""
    if isinstance(candidates, (str, Path)) and isinstance(reference, (str, Path)):
        same = all(Path(one).is_file() for one in (candidates, reference)) and cmp(candidates, reference, shallow=False)
    elif type(candidates) is type(reference) and hasattr(candidates, "equals"):
        same = bool(candidates.equals(reference))
    else:
        same = candidates is reference
    if same:
        raise InputError("The reference is the same people as the candidates.", _OTHERS)


def _check_others(candidates: Array, reference: Array) -> None:
    """Refuse members in the reference: where all genomes differ, an equal one is the same person."""
    ours, theirs = ([row.tobytes() for row in np.ascontiguousarray(people)] for people in (candidates, reference))
    known = set(ours)
    if candidates.shape[1] < _SURELY_ONE or len(known) < len(ours) or len(set(theirs)) < len(theirs):
        return
    if found := len(known.intersection(theirs)):
        raise InputError(f"{counted(found, 'person')} of the reference are among the candidates.", _OTHERS)


def _release(source: Any, options: Options | None) -> Readable | None:
    """What is attacked, where it is a release and not a table of frequencies."""
    if not isinstance(source, (str, Path, Release)):
        return None
    release = source if isinstance(source, Release) else Release.open(source, options=options)
    return None if release.manifest_or_none is None else readable(release, options)


def _budget(epsilon: float | None, delta: float) -> PublishedBudget | None:
    if epsilon is None:
        if delta:
            raise InputError(Message("{delta} is given without {epsilon}."), "Give both, or neither.")
        return None
    if not epsilon > 0 or not 0 <= delta < 1:
        raise InputError("epsilon must be above 0 and delta from 0 to below 1.", "Use the desk's own numbers.")
    return PublishedBudget(epsilon, delta)


def statistics(pool: Array, members: Array, others: Array, copies: int) -> dict[str, tuple[Array, Array]]:
    """Both statistics of every member and of every other person, who is left out of the frequencies outside the pool.

    A frequency of 0 or 1 says that nobody, or everybody, has the allele, as far as it was rounded: it counts as half of
    the smallest that occurs.
    """
    counts, alleles = np.nansum(others, axis=0), copies * (~np.isnan(others)).sum(axis=0)
    check_same_allele(pool, counts / np.maximum(alleles, 1))
    ends = np.minimum(pool, 1 - pool)
    least = ends[ends > 0].min() / 2 if (ends > 0).any() else 1e-3
    inside = np.clip(pool, least, 1 - least)
    outside = (counts + 0.5) / (alleles + 1)
    members_found = _both(members, pool, inside, lambda _: outside, copies)

    def without(genomes: Array) -> Array:  # who is not in the pool must not count among those who tell so
        return np.asarray((counts - np.nan_to_num(genomes) + 0.5) / (alleles - copies * ~np.isnan(genomes) + 1))

    others_found = _both(others, pool, inside, without, copies)
    return {name: (members_found[name], others_found[name]) for name in members_found}


def _both(
    people: Array, pool: Array, inside: Array, outside_of: Callable[[Array], Array], copies: int
) -> dict[str, Array]:
    """Both statistics of people, some at a time."""
    parts: list[tuple[Array, Array]] = []
    step = max(1, _CELLS // max(len(pool), 1))
    for start in range(0, len(people), step):
        genomes = people[start : start + step].astype(np.float64)
        outside = outside_of(genomes)
        parts.append((_ratio(genomes, inside, outside, copies), _homer(genomes / copies, pool, outside)))
    ratio, homer = (np.concatenate(part) for part in zip(*parts, strict=True))
    return {"likelihood ratio": ratio, "Homer's statistic": homer}


def _ratio(genomes: Array, inside: Array, outside: Array, copies: int) -> Array:
    terms = genomes * np.log(inside / outside) + (copies - genomes) * np.log((1 - inside) / (1 - outside))
    return np.asarray(np.nansum(terms, axis=1))


def _homer(genomes: Array, pool: Array, outside: Array) -> Array:
    """mean(D) / (sd(D) / √markers), D = |x - p| - |x - f|; 0 where D is the same at every marker."""
    nearer = np.abs(genomes - outside) - np.abs(genomes - pool)
    count = (~np.isnan(nearer)).sum(axis=1)
    mean = np.nansum(nearer, axis=1) / np.maximum(count, 1)
    squares = np.nansum((nearer - mean[:, None]) ** 2, axis=1) / np.maximum(count - 1, 1)
    spread = np.sqrt(squares)
    return np.asarray(np.divide(mean * np.sqrt(count), spread, out=np.zeros(len(mean)), where=spread > 0))


def judged(
    scores: dict[str, tuple[Array, Array]],
    known: int,
    notes: Sequence[str],
    budget: PublishedBudget | None,
    seed: int,
    limits: AttackLimits | None = None,
) -> Membership:
    """The power of each statistic at few false positives, beside what a privacy budget allows."""
    attacks, power = [], []
    areas = {statistic: area(*pair) for statistic, pair in scores.items()}
    for statistic, (members, others) in scores.items():
        for share in FALSE_POSITIVES:
            ours, theirs, fitted = flagged(members, others, share)
            said = list(notes)
            if areas[statistic] < _LEAST_AREA:
                said.append("members score below others: are the reference people in the data, or of another kind?")
            if fitted:
                said.append(
                    f"a reference of {len(others):,} is too small: the threshold is that of a normal distribution"
                )
            name = f"{statistic} at {share:.1%}"
            one = AttackOutcome.of(name, "membership", ours, theirs, baseline=share, notes=said)
            attacks.append(one)
            most = None if budget is None else bound(budget.epsilon, budget.delta, share)
            power.append(Power(statistic, share, one.rate or 0.0, one.low or 0.0, one.high or 0.0, most))
    within = None if budget is None else all(one.low <= (one.bound or 0.0) for one in power)
    people = next(iter(scores.values()))
    verdict = verdicts_of(attacks, limits)
    return Membership(attacks, verdict, seed, known, len(people[0]), len(people[1]), power, areas, within)
