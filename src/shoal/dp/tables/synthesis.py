"""Tables drawn from a model of noisy marginals (a tree of pairs, or pairs and triples chosen round by round), and noisy
means of groups.

The first two begin with every single column. Cells that hold too little to stand out of the noise are then joined (rare
values with each other, bins with their neighbours): what is measured on pairs and triples is measured on the joined
cells, and a record's own cell is drawn in the end by the noisy counts of its column.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

from shoal import progress
from shoal.dp.tables.account import MEAN_NOISE, Account
from shoal.dp.tables.counting import Records, system_randomness
from shoal.dp.tables.domains import Domain
from shoal.dp.tables.model import Clique, JunctionTree, MarginalModel, Measurement, dealt
from shoal.errors import InputError, Message
from shoal.storage import Array

# parts of rho: for single columns, and of what is spent on a pair or triple, for choosing it
_TREE_ONES, _ADAPTIVE_ONES, _CHOOSING = 0.25, 0.10, 0.10
# of the adaptive synthesizer: what the first rounds, one for each edge of a tree, get in all
_FIRST_ROUNDS = 0.40
# joined cells hold at least so many standard deviations of noise, bins also such a share of all records
_DEVIATIONS, _SHARE_OF_A_BIN = 3.0, 1 / 48
_FIT, _FIT_A_ROUND = 300, 60
# numbers that the adaptive model may hold, records by which it is compared with what is not in it, triples it looks at
_MOST_CELLS, _COMPARED, _MOST_TRIPLES = 150_000, 50_000, 400
_MOST_ZERO_CELLS = 1_000_000


@dataclass(frozen=True)
class Zero:
    """Cells that no record can be in: of each column of the clique those that are named, all together."""

    clique: Clique
    cells: tuple[tuple[int, ...], ...]

    def mask(self, groups: Sequence[Array]) -> Array:
        """True for each forbidden combination, in joined cells: none of them is joined with one that is allowed."""
        found = np.ones([], bool)
        for axis, cells in zip(self.clique, self.cells, strict=True):
            named = np.zeros(int(groups[axis].max()) + 1, bool)
            named[groups[axis][list(cells)]] = True
            found = np.logical_and.outer(found, named)
        return found


def structural_zeros(zeros: Sequence[dict[str, Any]], domains: Sequence[Domain]) -> list[Zero]:
    """The policy's combinations that cannot be, as cells; of columns that are released."""
    places = {domain.name: place for place, domain in enumerate(domains)}
    found = []
    for said in zeros:
        if not set(said) <= set(places):
            continue
        named = sorted((places[name], values) for name, values in said.items())
        cells = [tuple({cell for one in values for cell in domains[axis].place_of(one)}) for axis, values in named]
        if math.prod(domains[axis].size for axis, _ in named) > _MOST_ZERO_CELLS:
            raise InputError("A structural zero is about too many combinations of values.", "Give its columns bins.")
        if all(cells):
            found.append(Zero(tuple(axis for axis, _ in named), tuple(cells)))
    _check_something_is_left(found, [domain.size for domain in domains])
    return found


def _check_something_is_left(zeros: Sequence[Zero], sizes: Sequence[int]) -> None:
    """Zeros that forbid every combination of some columns are refused: a record would have to be in one of them."""
    for clique in {zero.clique for zero in zeros}:
        forbidden = np.zeros([sizes[axis] for axis in clique], bool)
        groups = [np.arange(size) for size in sizes]
        for zero in zeros:
            if set(zero.clique) <= set(clique):
                shape = [sizes[axis] if axis in zero.clique else 1 for axis in clique]
                forbidden |= zero.mask(groups).reshape(shape)
        if forbidden.all():
            raise InputError(
                "The structural zeros forbid every combination of some columns.", "Leave out those that can be."
            )


@dataclass
class Start:
    """The single columns: noisy counts of all cells, which cells are joined, and the records in joined cells."""

    ones: list[Array]
    groups: list[Array]
    records: Records
    measured: list[Measurement]
    total: float
    zeros: list[Zero]

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many joined cells each column has."""
        return self.records.sizes

    def model(self, cliques: Sequence[Clique]) -> MarginalModel:
        """A model without information, but for what cannot be."""
        made = MarginalModel.uniform(self.sizes, [*cliques, *(zero.clique for zero in self.zeros)], self.total)
        for zero in self.zeros:
            made.forbid(zero.clique, zero.mask(self.groups))
        return made

    def cells(self, model: MarginalModel, randomness: np.random.Generator) -> list[Array]:
        """Records of the model in the cells of the domains."""
        drawn = model.records(max(round(self.total), 1), randomness)
        found = []
        for own, group, counts in zip(drawn, self.groups, self.ones, strict=True):
            table = np.zeros((int(group.max()) + 1, len(group)))
            table[group, np.arange(len(group))] = np.maximum(counts, 0) + 1e-9
            found.append(dealt(own, table, randomness))
        return found


def total_of(ones: Sequence[Array], public: int | None) -> float:
    """The number of records: public, or what the noisy columns come to, those with fewer cells counting more."""
    if public is not None:
        return float(public)
    weights = [1 / len(counts) for counts in ones]
    found = sum(weight * float(counts.sum()) for weight, counts in zip(weights, ones, strict=True)) / sum(weights)
    return max(found, 1.0)


def start(
    records: Records,
    domains: Sequence[Domain],
    account: Account,
    fraction: float,
    zeros: list[Zero],
    public: int | None,
) -> Start:
    """Measure every single column, and join cells."""
    rho = account.part(fraction / len(domains))
    sigma = account.sigma(rho)
    ones = [
        account.counts("one column", (domain.name,), records.counts((place,)), rho).astype(float)
        for place, domain in enumerate(domains)
    ]
    total = total_of(ones, public)
    groups = [
        _joined(
            counts,
            domain,
            sigma,
            total,
            [zero.cells[zero.clique.index(place)] for zero in zeros if place in zero.clique],
        )
        for place, (counts, domain) in enumerate(zip(ones, domains, strict=True))
    ]
    measured = [
        Measurement((place,), np.bincount(group, counts), 1 / (sigma**2 * np.bincount(group)))
        for place, (group, counts) in enumerate(zip(groups, ones, strict=True))
    ]
    return Start(ones, groups, records.coarser(groups), measured, total, zeros)


def _joined(counts: Array, domain: Domain, sigma: float, total: float, apart: Sequence[tuple[int, ...]]) -> Array:
    """The group of each cell: bins with their neighbours until they hold enough, rare values together."""
    least = _DEVIATIONS * sigma
    groups = np.zeros(len(counts), np.int64)
    if domain.ordered:
        least = max(least, total * _SHARE_OF_A_BIN)
        group, held = 0, 0.0
        for cell in range(domain.cells):
            if counts[cell] >= least and held > 0:  # a heap, such as a round number, stays alone
                group, held = group + 1, 0.0
            groups[cell] = group
            held += max(float(counts[cell]), 0.0)
            if held >= least:
                group, held = group + 1, 0.0
        if 0 < held < least and group:
            groups[groups == group] = group - 1
        groups[domain.cells :] = group + 1
    else:
        enough = np.flatnonzero(counts >= least)
        enough = enough if len(enough) else np.array([int(counts.argmax())])
        groups[:] = len(enough)
        groups[enough] = np.arange(len(enough))
    for cells in apart:
        named = np.isin(np.arange(len(counts)), cells)
        groups = np.unique(groups * 2 + named, return_inverse=True)[1]
    return np.unique(groups, return_inverse=True)[1]


def _distance(exact: Array, expected: Array) -> int:
    """The L1 distance to expected counts in whole numbers: one record moves it by at most 1."""
    return int(np.abs(exact - np.rint(expected).astype(np.int64)).sum())


def tree(
    records: Records, domains: Sequence[Domain], account: Account, zeros: list[Zero], public: int | None
) -> tuple[Start, MarginalModel]:
    """Pairs along a tree: each chosen by how far it is from independence, beyond what noise would bring."""
    begun = start(records, domains, account, _TREE_ONES if len(domains) > 1 else 1.0, zeros, public)
    edges: list[Clique] = []
    if len(domains) > 1:
        whole = (1 - _TREE_ONES) / (len(domains) - 1)
        choosing, measuring = account.part(whole * _CHOOSING), account.part(whole * (1 - _CHOOSING))
        scores = _pair_scores(begun, account.sigma(measuring))
        component = list(range(len(domains)))
        for _ in range(len(domains) - 1):
            left = [pair for pair in scores if component[pair[0]] != component[pair[1]]]
            edges.append(left[account.highest("pair chosen", [scores[pair] for pair in left], choosing)])
            one, other = (component[axis] for axis in edges[-1])
            component = [one if place == other else place for place in component]
        for edge in edges:
            begun.measured.append(_measured(begun, account, domains, edge, measuring, "pair"))
    model = begun.model(edges)
    model.fit(begun.measured, _FIT)
    return begun, model


def _pair_scores(begun: Start, sigma: float) -> dict[Clique, int]:
    ones = [np.maximum(one.counts, 0.5) for one in begun.measured]
    shares = [one / one.sum() for one in ones]
    found: dict[Clique, int] = {}
    for pair in itertools.combinations(range(len(ones)), 2):
        expected = begun.total * np.outer(shares[pair[0]], shares[pair[1]])
        noise = round(MEAN_NOISE * sigma * expected.size)
        found[pair] = _distance(begun.records.counts(pair), expected) - noise
    return found


def _measured(
    begun: Start, account: Account, domains: Sequence[Domain], clique: Clique, rho: Decimal, step: str
) -> Measurement:
    names = tuple(domains[axis].name for axis in clique)
    noisy = account.counts(step, names, begun.records.counts(clique), rho).astype(float)
    return Measurement(clique, noisy, 1 / account.steps[-1].scale ** 2)


def adaptive(
    records: Records, domains: Sequence[Domain], account: Account, zeros: list[Zero], public: int | None
) -> tuple[Start, MarginalModel]:
    """Pairs and triples, round by round: the one that the model gets wrong most, beyond what noise would bring.

    As AIM (McKenna et al. 2022): where a measurement taught the model less than its noise, later ones get twice the
    budget. What is compared is the exact count and the model as it stands, so that one record moves a score by 1.
    """
    begun = start(records, domains, account, _ADAPTIVE_ONES if len(domains) > 1 else 1.0, zeros, public)
    randomness = system_randomness()
    model = begun.model([])
    model.fit(begun.measured, _FIT_A_ROUND)
    candidates = _candidates(len(domains), randomness)
    candidates = [one for one in candidates if math.prod(begun.sizes[axis] for axis in one) <= _MOST_CELLS]
    exact = {one: begun.records.counts(one) for one in candidates}
    each = account.part(_FIRST_ROUNDS / max(len(domains) - 1, 1))
    whole, smallest = account.left, account.part(1e-6)
    while account.left > smallest and candidates:
        each = account.left if account.left < 2 * each else each
        choosing = each * Decimal("0.1")
        measuring = each - choosing
        candidates = [one for one in candidates if _fits(model, one)]
        if not candidates:
            break
        expected = _expected(model, candidates, randomness)
        sigma = account.sigma(measuring)
        scores = [
            _distance(exact[one], expected[one]) - round(MEAN_NOISE * sigma * exact[one].size) for one in candidates
        ]
        chosen = candidates[account.highest("marginal chosen", scores, choosing)]
        measurement = _measured(begun, account, domains, chosen, measuring, "marginal")
        begun.measured.append(measurement)
        model = model if model.tree.home(chosen) is not None else model.grown([chosen])
        model.fit(begun.measured, _FIT_A_ROUND)
        now = model.marginal(chosen)
        assert now is not None
        if np.abs(now - expected[chosen]).sum() <= MEAN_NOISE * sigma * now.size:
            each = each * 2
        progress.report("measuring", float(1 - account.left / whole))
    model.fit(begun.measured, _FIT)
    return begun, model


def _fits(model: MarginalModel, clique: Clique) -> bool:
    """Whether a marginal is in the model already, or may be added to it."""
    if model.tree.home(clique) is not None:
        return True
    grown = JunctionTree.of(model.tree.sizes, [*model.tree.cliques, clique])
    return grown.cells <= max(_MOST_CELLS, model.tree.cells)


def _candidates(columns: int, randomness: np.random.Generator) -> list[Clique]:
    """All pairs, and all triples or as many as are looked at, drawn at random."""
    triples = list(itertools.combinations(range(columns), 3))
    if len(triples) > _MOST_TRIPLES:
        triples = [triples[place] for place in sorted(randomness.choice(len(triples), _MOST_TRIPLES, replace=False))]
    return [*itertools.combinations(range(columns), 2), *triples]


def _expected(
    model: MarginalModel, candidates: Sequence[Clique], randomness: np.random.Generator
) -> dict[Clique, Array]:
    """What the model has for each marginal: exactly where one clique holds it, else of records drawn from it."""
    count = min(max(round(model.total), 1), _COMPARED)
    drawn = Records(tuple(model.records(count, randomness)), model.tree.sizes)
    found = {}
    for one in candidates:
        inside = model.marginal(one)
        found[one] = drawn.counts(one) * (model.total / count) if inside is None else inside
    return found


# Microaggregation, then noise: means of k records are noised, not records (Soria-Comas et al. 2014).
#
# Records are ordered by their distance from the lower corner of the public domain, and k that follow each other are a
# group. The order looks at one record at a time, so that replacing one record replaces at most one record of each group
# (Lemma 1 of the paper: *insensitive* microaggregation). A group's sum changes by at most the range of the column, in
# each of n/k groups: in Euclidean distance by √(n/k) times the range, where noise for every record would need √n times.
#
# The number of records must be public here, and neighbours are tables in which one record is replaced by another.


def groups_of(rows: int, k: int) -> Array:
    """The group of each place in the order: k to a group, and the last has what is left.

    >>> groups_of(7, 3).tolist()
    [0, 0, 0, 1, 1, 1, 1]
    """
    return np.minimum(np.arange(rows) // k, max(rows // k, 1) - 1)


def distances(records: Records, domains: Sequence[Domain]) -> Array:
    """How far each record lies from the lower corner, each column from 0 to 1; codes decide where that is equal."""
    parts = [(own / max(domain.size - 1, 1)) ** 2 for own, domain in zip(records.codes, domains, strict=True)]
    return np.lexsort((*reversed(records.codes), np.sum(parts, axis=0)))


def microaggregate(records: Records, domains: Sequence[Domain], account: Account, k: int, public: int) -> list[Array]:
    """The cells of each record: the noisy mean of its group, of values without an order the noisily most frequent."""
    if records.rows != public:
        raise InputError(
            "The number of records is not the one that the policy says is public.",
            "Correct public_records: microaggregation counts its groups by it.",
        )
    if not 2 <= k <= records.rows:
        raise InputError(Message("{k} is a whole number from 2 to the number of records."), "Take √n, for example.")
    order, group = distances(records, domains), groups_of(records.rows, k)
    count = int(group[-1]) + 1
    members = np.bincount(group)
    rho = account.part(1 / len(domains))
    found = []
    for own, domain in zip(records.codes, domains, strict=True):
        cells = own[order].astype(np.int64)
        if domain.ordered:
            centre = _means(cells, domain, group, members, account, rho)
        else:
            table = np.bincount(group * domain.size + cells, minlength=count * domain.size).reshape(count, -1)
            centre = account.counts("frequencies", (domain.name,), table, rho, math.sqrt(2 * count)).argmax(axis=1)
        found.append(centre[group])
    return found


def _means(cells: Array, domain: Domain, group: Array, members: Array, account: Account, rho: Decimal) -> Array:
    """The noisy mean cell of each group; where nothing may be missing that is all, else most of a group decides."""
    gone, highest, count = cells >= domain.cells, domain.cells - 1, len(members)
    part = rho / 2 if domain.missing else rho
    # one record of each group is replaced: its sum moves by at most the last cell's number
    sums = np.bincount(group, np.where(gone, highest // 2, cells)).astype(np.int64)
    noisy = account.counts("mean", (domain.name,), sums, part, max(highest, 1) * math.sqrt(count))
    centre = np.clip(np.rint(noisy / members), 0, highest).astype(np.int64)
    if domain.missing:
        missing = np.bincount(group, gone).astype(np.int64)
        often = account.counts("missing", (domain.name,), missing, part, math.sqrt(count)) > members / 2
        centre = np.where(often, domain.cells, centre)
    return centre
