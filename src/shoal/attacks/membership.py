"""Membership: whether somebody is in the pool, from nothing but the frequencies that were published of it.

Homer et al. (2008) compare a genome with the frequencies of the pool and of a reference; the likelihood ratio
(Sankararaman et al. 2009) does so best: Σ x·ln(f/p) + (a - x)·ln((1-f)/(1-p)) for x of a alleles that are the allele,
with a frequency f in the pool and p outside.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from filecmp import cmp
from pathlib import Path
from statistics import NormalDist
from typing import Any, ClassVar, NamedTuple

import numpy as np
import polars as pl

from shoal.attacks.base import AttackOutcome, AttackVerdict, outcome_sections, verdicts_of
from shoal.attacks.common import columns_in_common
from shoal.attacks.linking.columns import cells_of
from shoal.errors import InputError, Message, Setting, check_at_least
from shoal.policy import as_policy
from shoal.policy.manifest import PRIVATE_TABLE
from shoal.policy.sections import AttackLimits
from shoal.releases.open import Release
from shoal.releases.readable import Readable, readable
from shoal.results import Cell, Grid, Headline, Result, Section
from shoal.storage import Array, Table
from shoal.storage.classes import class_of_each_row, first_row_of_each_class, pack
from shoal.storage.reading import Options, read
from shoal.storage.reading.bytes import damage_as_error
from shoal.storage.reading.files import find_files, open_file
from shoal.storage.reading.frames import batches, column_names
from shoal.storage.texts import texts_of
from shoal.verbs.attacking import AttackMembershipRequest
from shoal.verbs.base import takes
from shoal.vocabulary import NullRule
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
        budget = budget or _own_budget(release)
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


def _own_budget(release: Readable) -> PublishedBudget | None:
    """The budget of a table under differential privacy, by its manifest."""
    manifest = None if release.source is None else release.source.manifest_or_none
    if manifest is None or manifest.method != PRIVATE_TABLE:
        return None
    said: Any = manifest.sections.get("differential_privacy") or {}
    return PublishedBudget(float(said["epsilon"]), float(said["delta"]))


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


# Genomes and published frequencies: read, brought to the same markers, and checked to mean the same.


# frequencies that go so clearly against each other count different alleles
_OPPOSITE = -0.5


class Frequencies(NamedTuple):
    """How frequent the allele is at each marker."""

    markers: list[str]
    shares: Array


def names_in(source: Any, options: Options | None = None) -> list[str]:
    """The names of a table's columns, without reading it.

    >>> names_in({"rs1": [0, 1], "rs2": [2, 0]})
    ['rs1', 'rs2']
    """
    if isinstance(source, Table):
        return source.names
    if isinstance(source, dict):
        return list(source)
    if isinstance(source, (str, Path)):
        return list(open_file(find_files(source)[0], options or Options()).names)
    return column_names(source)


def read_frequencies(source: Any, marker: str, frequency: str, options: Options | None = None) -> Frequencies:
    """A table with a row per marker.

    >>> read_frequencies({"marker": ["rs1"], "frequency": [0.25]}, "marker", "frequency").shares.tolist()
    [0.25]
    """
    table = read(source, [marker, frequency], options)
    if len(table[marker].values) < table.rows:
        raise InputError(f"Column '{marker}' names a marker twice, or none.", "Give one row per marker.")
    column = table[frequency]
    if not column.values.dtype.is_numeric() or column.nulls or float(column.values.min()) < 0:  # type: ignore[arg-type]
        raise InputError(f"Column '{frequency}' has values that are not frequencies.", "Write numbers from 0 to 1.")
    shares = column.values.cast(pl.Float64).to_numpy()[column.codes]
    if shares.max() > 1:
        cure = "They look like percentages: divide by 100." if shares.max() <= 100 else "Divide counts by the alleles."
        raise InputError(f"Column '{frequency}' has values above 1.", cure)
    return Frequencies(texts_of(table[marker].values).gather(table[marker].codes).to_list(), shares)


def read_genomes(source: Any, markers: Sequence[str], options: Options | None = None) -> Array:
    """Copies of the allele, a line per person and a column per marker; NaN where missing.

    A genome has thousands of columns of three values: they are read batch by batch as numbers, without dictionaries.

    >>> read_genomes({"rs1": [0, 1], "rs2": [2, None]}, ["rs2"]).tolist()
    [[2.0], [nan]]
    """
    missing = ["", *(options.missing if options else ())]
    parts = [_copies(batch, missing) for batch in _batches(source, list(markers), options or Options())]
    if not parts:
        raise InputError("A table of genomes has no rows.", "Give one row per person.")
    return np.concatenate(parts)


def _batches(source: Any, markers: list[str], options: Options) -> Iterator[pl.DataFrame]:
    if isinstance(source, Table):
        yield pl.DataFrame({column.name: column.decode() for column in source.select(markers)})
    elif isinstance(source, (str, Path)):
        for found in find_files(source):
            opened = open_file(found, options)
            with damage_as_error(found.path):
                yield from (batch for batch, _ in opened.batches(markers))
    else:
        yield from batches(pl.DataFrame(source) if isinstance(source, dict) else source, markers)


def _copies(batch: pl.DataFrame, missing: list[str]) -> Array:
    """A batch as numbers; what is neither 0, 1 or 2 nor missing is refused with the column that has it."""
    given, numbers = batch, batch.select(pl.all().cast(pl.Float32, strict=False))
    if (given.null_count() != numbers.null_count()).row(0).count(True):  # some are not numbers as they are written
        texts = [name for name, kind in batch.schema.items() if kind == pl.String]
        given = batch.with_columns(pl.col(texts).str.strip_chars().replace(dict.fromkeys(missing)))
        numbers = given.select(pl.all().cast(pl.Float32, strict=False))
    odd = numbers.select(~pl.all().is_in([0.0, 1.0, 2.0])).select(pl.all().any(ignore_nulls=True))
    lost = given.null_count() != numbers.null_count()
    for what, wrong in (("does not hold numbers", lost), ("holds other numbers than 0, 1 and 2", odd)):
        named = [name for name, is_wrong in zip(wrong.columns, wrong.row(0), strict=True) if is_wrong]
        if named:
            cure = "Write the copies of the allele, 0, 1 or 2; genotypes such as A/G or 0|1 must be counted first."
            raise InputError(f"Column '{named[0]}' {what}.", f"{cure} A missing genotype is an empty cell.")
    return np.asarray(numbers.fill_null(float("nan")).to_numpy(), np.float32)


def in_common(frequencies: Frequencies, *named: tuple[str, Sequence[str]]) -> list[str]:
    """The markers that all have, in the order of the frequencies.

    >>> in_common(Frequencies(["rs1", "rs2"], np.zeros(2)), ("candidates", ["rs2", "rs9"]))
    ['rs2']
    """
    markers = frequencies.markers
    for what, names in named:
        there = set(names)
        markers = [marker for marker in markers if marker in there]
        if not markers:
            lower = {name.strip().lower() for name in names}
            near = any(marker.strip().lower() in lower for marker in frequencies.markers)
            cure = "They differ in upper and lower case or in blanks: write them alike." if near else None
            cure = cure or "The table has one row per person and one column per marker, named as in the frequencies."
            raise InputError(f"The {what} and the frequencies have no marker in common.", cure)
    return markers


def check_same_allele(pool: Array, population: Array) -> None:
    """Refuse frequencies that count the other allele."""
    if len(pool) < 30 or np.ptp(pool) == 0 or np.ptp(population) == 0:
        return
    if float(np.corrcoef(pool, population)[0, 1]) < _OPPOSITE:
        raise InputError(
            "The frequencies run against those of the reference.",
            "They seem to count the other allele: use 1 - frequency, or 2 - copies.",
        )


# Presence in a release: whether somebody is in it, by the records that fit and the people who could be meant.
#
# Nergiz, Atzori and Clifton, *Hiding the presence of individuals from shared databases* (2007): of the people whom an
# attacker knows to lie in the box of a class, as many are in the release as the class has records.


MOST_PEOPLE = 2_000
# people times classes that are held against each other at once
_PAIRS = 1 << 24


def presence(
    released: Readable, candidates: Any, reference: Any, seed: int, options: Options | None = None
) -> tuple[tuple[Array, Array], list[str]]:
    """How likely each candidate and each person of the reference is in a release: records of the classes that hold the
    person, each divided by the people there; and the columns that are known.

    >>> from shoal.releases.readable import readable
    >>> release = readable({"age": ["[20;29]", "[20;29]", "[50;59]"]})
    >>> found, _ = presence(release, {"age": [25, 28]}, {"age": [51, 52, 53, 70]}, seed=0)
    >>> found[0].round(3).tolist(), found[1].round(3).tolist()
    ([1.0, 1.0], [0.333, 0.333, 0.333, 0.0])
    """
    people = [_drawn(read(table, None, options), seed + number) for number, table in enumerate((candidates, reference))]
    columns = columns_in_common(released, people[0])
    manifest = None if released.source is None else released.source.manifest_or_none
    if manifest is not None:
        columns = {name: theirs for name, theirs in columns.items() if name in manifest.policy.quasi_identifiers}
    if missing := [theirs for theirs in columns.values() if theirs not in people[1].columns]:
        raise InputError.missing_columns(missing, people[1].names, people[1].name)
    if not columns:
        raise InputError("The candidates have no quasi-identifier of the release.", "Give the columns of the policy.")
    rule: NullRule = "value" if manifest is None else manifest.policy.null_rule
    names, known = list(columns), list(columns.values())
    ends = [end for name in names for end in released.pairs.get(name, (name,))]
    classes, count = class_of_each_row(pack(released.table.select(ends)))
    first, members = first_row_of_each_class(classes, count), np.bincount(classes, minlength=count)
    inside = [_inside(released, names, first, table, known, rule) for table in people]
    there = np.concatenate([held.sum(axis=0)[None] for held in inside]).sum(axis=0)
    chance = members / np.maximum(there, 1)
    return (inside[0] @ chance, inside[1] @ chance), names


def _drawn(table: Table, seed: int) -> Table:
    """At most so many people of a table."""
    if table.rows <= MOST_PEOPLE:
        return table
    from shoal.storage.order import secret_order

    return table.take(secret_order(list(table.columns.values()), seed)[:MOST_PEOPLE])


def _inside(
    released: Readable, names: Sequence[str], first: Array, people: Table, known: Sequence[str], rule: NullRule
) -> Array:
    """Which person lies in the box of which class."""
    if people.rows * len(first) > _PAIRS * 16:
        raise InputError(
            f"The release has {len(first):,} classes, too many to hold people against.", "Use coarser ones."
        )
    held = np.ones((people.rows, len(first)), bool)
    for name, theirs in zip(names, known, strict=True):
        column = people[theirs]
        cells = cells_of(released, name, column, rule)
        if cells.kind != "fit":
            raise InputError(f"Column '{name}' was changed at random: nobody lies in its cells.", "Leave it out.")
        code = cells.codes[first]
        low, high = cells.low[code], cells.high[code]
        atom = column.codes.astype(np.int64)[:, None]
        fits = (low <= atom) & (atom <= high)
        if cells.mask_of is not None and cells.masks is not None:
            mask = cells.mask_of[code]
            some = np.flatnonzero(mask >= 0)
            fits[:, some] = cells.masks[mask[some]][:, column.codes].T > 0
        held &= fits
    return held
