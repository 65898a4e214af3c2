"""A graphical model fitted to noisy marginals: exact inference on a junction tree, and records drawn from it.

Everything here is post-processing: it sees noisy marginals and the public domain, never a record.

The model is p(x) ∝ exp(sum of potentials), one array for each clique of a triangulated graph. Messages along a junction
tree give the exact marginal of every clique; mirror descent moves the potentials against the gradient of the weighted
squared distance to what was measured (McKenna, Sheldon and Miklau 2019, Algorithm 1), which gives the distribution of
largest entropy among those that fit.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shoal.storage import Array

Clique = tuple[int, ...]
_STEPS_OF_LINE_SEARCH = 25


@dataclass(frozen=True)
class Measurement:
    """A noisy marginal: counts over the columns of a clique, each with a weight (1 / variance of its noise)."""

    clique: Clique
    counts: Array
    weight: Array | float


@dataclass(frozen=True)
class JunctionTree:
    """Maximal cliques of a triangulated graph over the columns, the root first, each with its parent."""

    sizes: tuple[int, ...]
    cliques: tuple[Clique, ...]
    parents: tuple[int, ...]

    @classmethod
    def of(cls, sizes: Sequence[int], cliques: Iterable[Clique]) -> JunctionTree:
        """The tree of the graph in which each of `cliques` is connected.

        >>> JunctionTree.of([2, 2, 2, 2], [(0, 1), (1, 2), (0, 2), (2, 3)]).cliques
        ((2, 3), (0, 1, 2))
        """
        maximal = _triangulated(sizes, cliques)
        order, parents, left = [0], [-1], set(range(1, len(maximal)))
        while left:  # Prim: the widest separator next (of none, any place will do)
            best = max(
                ((len(set(maximal[child]) & set(maximal[parent])), -place, child, place)
                 for place, parent in enumerate(order) for child in left)
            )  # fmt: skip
            order.append(best[2])
            parents.append(best[3])
            left.remove(best[2])
        return cls(tuple(sizes), tuple(maximal[place] for place in order), tuple(parents))

    @property
    def cells(self) -> int:
        """How many numbers the model holds."""
        return sum(math.prod(self.sizes[axis] for axis in clique) for clique in self.cliques)

    def separator(self, place: int) -> Clique:
        """The columns that a clique shares with its parent."""
        parent = self.parents[place]
        return () if parent < 0 else tuple(sorted(set(self.cliques[place]) & set(self.cliques[parent])))

    def home(self, clique: Clique) -> int | None:
        """The smallest clique of the tree that holds all columns of another."""
        holding = [place for place, own in enumerate(self.cliques) if set(clique) <= set(own)]
        return min(holding, key=lambda place: math.prod(self.sizes[a] for a in self.cliques[place]), default=None)

    @cached_property
    def _links(self) -> list[tuple[int, int, tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[int, ...]]]:
        """For each clique but the root: itself, its parent, and for both the axes to sum and the shape to add in."""
        links = []
        for place, (clique, parent) in enumerate(zip(self.cliques, self.parents, strict=True)):
            if parent >= 0:
                shared, above = set(self.separator(place)), self.cliques[parent]
                links.append((place, parent, *_axes(clique, shared, self.sizes), *_axes(above, shared, self.sizes)))
        return links

    def marginals(self, potentials: Sequence[Array], total: float) -> list[Array]:
        """The marginal of each clique, by messages to the root and back; they agree wherever cliques overlap."""
        beliefs = [potential.copy() for potential in potentials]
        sent = {}
        for place, parent, out, _, _, above_shape in reversed(self._links):
            message = _log_sum(beliefs[place], out)
            beliefs[parent] += message.reshape(above_shape)
            sent[place] = message
        for place, parent, _, own_shape, above_out, _ in self._links:
            message = _log_sum(beliefs[parent], above_out) - sent[place]
            beliefs[place] += message.reshape(own_shape)
        found = []
        for belief in beliefs:
            weights = np.exp(belief - belief.max())
            found.append(weights * (total / weights.sum()))
        return found


def _axes(clique: Clique, shared: set[int], sizes: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    out = tuple(place for place, axis in enumerate(clique) if axis not in shared)
    return out, tuple(sizes[axis] if axis in shared else 1 for axis in clique)


def _log_sum(array: Array, axes: tuple[int, ...]) -> Array:
    """log of the sum of exp over some axes."""
    if not axes:
        return array
    highest = array.max(axis=axes, keepdims=True)
    return np.asarray(np.log(np.exp(array - highest).sum(axis=axes)) + highest.squeeze(axis=axes))


def _triangulated(sizes: Sequence[int], cliques: Iterable[Clique]) -> list[Clique]:
    """Maximal cliques after greedy elimination: the column next whose clique has the fewest cells."""
    near: list[set[int]] = [set() for _ in sizes]
    for clique in cliques:
        for one, other in itertools.combinations(clique, 2):
            near[one].add(other)
            near[other].add(one)
    left, made = set(range(len(sizes))), list[set[int]]()
    while left:
        column = min(left, key=lambda one: (sizes[one] * math.prod(sizes[other] for other in near[one]), one))
        clique_of = near[column] | {column}
        if not any(clique_of <= other for other in made):
            made.append(clique_of)
        for one in near[column]:
            near[one] |= near[column] - {one}
            near[one].discard(column)
        left.remove(column)
    return [tuple(sorted(one)) for one in made if not any(one < other for other in made)]


@dataclass
class MarginalModel:
    """A fitted model: a junction tree, its potentials, and the number of records."""

    tree: JunctionTree
    potentials: list[Array]
    total: float

    @classmethod
    def uniform(cls, sizes: Sequence[int], cliques: Iterable[Clique], total: float) -> MarginalModel:
        """All cells alike."""
        tree = JunctionTree.of(sizes, cliques)
        return cls(tree, [np.zeros([sizes[axis] for axis in clique]) for clique in tree.cliques], total)

    def grown(self, cliques: Iterable[Clique]) -> MarginalModel:
        """The same distribution on a tree with more cliques, from which fitting goes on."""
        made = MarginalModel.uniform(self.tree.sizes, [*self.tree.cliques, *cliques], self.total)
        for clique, potential in zip(self.tree.cliques, self.potentials, strict=True):
            place = made.tree.home(clique)
            assert place is not None
            made.potentials[place] += potential.reshape(
                _axes(made.tree.cliques[place], set(clique), made.tree.sizes)[1]
            )
        return made

    @cached_property
    def marginals(self) -> list[Array]:
        """The marginal of each clique, at the end of fitting."""
        return self.tree.marginals(self.potentials, self.total)

    def marginal(self, clique: Clique) -> Array | None:
        """The marginal of columns that one clique holds; None where none does."""
        place = self.tree.home(clique)
        if place is None:
            return None
        out = _axes(self.tree.cliques[place], set(clique), self.tree.sizes)[0]
        return np.asarray(self.marginals[place].sum(axis=out))

    def forbid(self, clique: Clique, cells: Array) -> None:
        """Structural zeros: cells of a clique that no record can be in."""
        place = self.tree.home(clique)
        assert place is not None
        shape = _axes(self.tree.cliques[place], set(clique), self.tree.sizes)[1]
        self.potentials[place] = self.potentials[place] + np.where(cells, -1e4, 0.0).reshape(shape)

    def fit(self, measured: Sequence[Measurement], iterations: int) -> None:
        """Mirror descent with a line search; stops early where a step gains next to nothing."""
        placed = []
        for one in measured:
            place = self.tree.home(one.clique)
            assert place is not None
            placed.append((place, one, *_axes(self.tree.cliques[place], set(one.clique), self.tree.sizes)))

        def loss_of(marginals: Sequence[Array]) -> tuple[float, list[Array]]:
            loss, gradients = 0.0, [np.zeros_like(array) for array in marginals]
            for place, one, out, shape in placed:
                error = marginals[place].sum(axis=out) - one.counts
                slope = error * one.weight
                loss += 0.5 * float((error * slope).sum())
                gradients[place] += slope.reshape(shape)
            return loss, gradients

        marginals = self.tree.marginals(self.potentials, self.total)
        loss, gradients = loss_of(marginals)
        step = 1.0 / max(max(float(np.abs(slope).max()) for slope in gradients), 1e-300)
        for _ in range(iterations):
            step *= 2
            for _ in range(_STEPS_OF_LINE_SEARCH):
                tried = [own - step * slope for own, slope in zip(self.potentials, gradients, strict=True)]
                at = self.tree.marginals(tried, self.total)
                reached, slopes = loss_of(at)
                moved = sum(float((g * (b - a)).sum()) for g, b, a in zip(gradients, marginals, at, strict=True))
                if loss - reached >= 0.5 * moved:
                    break
                step *= 0.5
            else:
                break
            gained = loss - reached
            self.potentials, marginals, loss, gradients = tried, at, reached, slopes
            if gained <= 1e-7 * max(loss, 1.0):
                break
        self.__dict__.pop("marginals", None)

    def records(self, count: int, randomness: np.random.Generator) -> Array:
        """Records of the model, one row of codes per column; counts are rounded at random, not drawn one by one.

        Clique by clique from the root: the records with one combination of the shared columns are dealt out to the new
        cells in proportion, whole parts first, what remains by systematic sampling.
        """
        found = np.zeros((len(self.tree.sizes), count), np.int32)
        known: set[int] = set()
        for place, clique in enumerate(self.tree.cliques):
            shared = tuple(axis for axis in clique if axis in known)
            new = tuple(axis for axis in clique if axis not in known)
            if not new:
                continue
            given = _packed(found, shared, self.tree.sizes)
            table = np.transpose(self.marginals[place], [clique.index(axis) for axis in (*shared, *new)])
            table = table.reshape(math.prod(self.tree.sizes[axis] for axis in shared), -1)
            cells = dealt(given, table, randomness)
            for axis in reversed(new):
                cells, found[axis] = np.divmod(cells, self.tree.sizes[axis])
            known |= set(new)
        return found


def _packed(codes: Array, axes: Sequence[int], sizes: Sequence[int]) -> Array:
    """One number for the codes of several columns."""
    packed = np.zeros(codes.shape[1], np.int64)
    for axis in axes:
        packed = packed * sizes[axis] + codes[axis]
    return packed


def dealt(given: Array, table: Array, randomness: np.random.Generator) -> Array:
    """For each record a column of `table`, in proportion to its row `given`; each row rounded at random."""
    rows, cells = table.shape
    held = np.bincount(given, minlength=rows)
    sums = table.sum(axis=1, keepdims=True)
    shares = np.where(sums > 0, table / np.where(sums > 0, sums, 1), 1 / cells)
    reached = np.cumsum(shares, axis=1)
    # the last cell that has a share reaches 1 exactly: none without a share gets what rounding left
    reached = np.floor(reached / reached[:, -1:] * held[:, None] + randomness.random((rows, 1)))
    counts = np.diff(np.minimum(reached, held[:, None]), axis=1, prepend=0).astype(np.int64)
    order = randomness.permutation(len(given))
    order = order[np.argsort(given[order], kind="stable")]
    made = np.empty(len(given), np.int64)
    made[order] = np.repeat(np.tile(np.arange(cells), rows), counts.ravel())
    return made
