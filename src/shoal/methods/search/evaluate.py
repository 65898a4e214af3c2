"""One node of the lattice looked at: which classes break a model, and what that says about every finer node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from shoal.errors import InputError
from shoal.kernels import lattice_counts
from shoal.kernels.closeness import Closeness, judge_classes, most_kept
from shoal.methods.search.grid import LatticeGrid
from shoal.methods.search.sources import (
    DENSE_SPREAD,
    MOST_K,
    ClassSource,
    PackedLook,
    Sources,
    class_numbers,
    classes_by_rank,
    has_ranks,
    look_by_packing,
    rank_scratch,
)
from shoal.models import Evidence, KAnonymity, Model, Spread, TCloseness, Whole, XYAnonymity
from shoal.models.base import TOLERANCE, PeopleEstimate
from shoal.models.distances import DistanceTree, least_within
from shoal.models.evidence import spread_of_persons
from shoal.ranges.parsing import STAR
from shoal.storage import Array
from shoal.storage.classes import Coded, CountTable, class_of_each_person, class_of_each_row, pack
from shoal.vocabulary import RiskOver

# entries of a dense (class, sensitive code) table
_DENSE = 1 << 22
# values times the square of members up to which the fewest members are asked for that can be within t
_ASKED = 1 << 20


class ClosenessLoop:
    """Judges classes by k and t, and says how much of each a finer node can keep."""

    def __init__(self, k: int, model: TCloseness, tree: DistanceTree, members: int) -> None:
        self.name, self.k, self._labels = model.sensitive, k, tree.nodes.shape[1]
        self._most, self._leaves = members // k, int(tree.first[1])
        self._limits = (tree.for_loops(), k, model.t, TOLERANCE)
        self._make_room(1)

    def _make_room(self, classes: int) -> None:
        """Space for the values of so many classes."""
        self._room = classes
        values = (min(classes, self._most) + 1) * self._leaves
        self._own = Closeness(*self._limits, np.empty(classes, np.int32), np.empty(values, np.int32))

    @classmethod
    def of(cls, models: Sequence[Model], sensitive: Mapping[str, Any]) -> ClosenessLoop | None:
        """The loop, if these are its models: k-anonymity and one closeness with nothing missing and no order.

        Classes that are too small to be within t, whatever their values are, count as those below k: no finer node
        keeps them.
        """
        sizes = [model.k for model in models if isinstance(model, KAnonymity)]
        others = [model for model in models if isinstance(model, TCloseness)]
        if len(others) != 1 or len(sizes) + 1 != len(models):
            return None
        whole = sensitive[others[0].sensitive].whole
        way = others[0].way(whole)
        members = int(whole.counts.sum())
        # counted in 32 bits, so that tables of classes and values stay in the cache
        if way == "ordered" or whole.unknown_members or whole.members is not None or members >= 1 << 31:
            return None
        tree = DistanceTree(whole, way == "hierarchical")
        if not tree.height:
            return None
        least = least_within(others[0].t + TOLERANCE, tree, int((_ASKED / len(tree.shares)) ** 0.5))
        return cls(max([*sizes, least]), others[0], tree, members)

    def fits(self, classes: int) -> bool:
        """Whether a table of all classes and values is small enough."""
        return bool(classes * self._labels <= _DENSE)

    def judge(self, place: Array, sizes: Array, entries: Any, bad: Array) -> tuple[int, int]:
        """Mark the classes that are bad: how many members they have, and how many classes are good."""
        if len(sizes) > self._room:
            self._make_room(len(sizes))
        of_tuple, codes, counts = entries.narrow
        suppressed, good = judge_classes(self._own, place, sizes, of_tuple, codes, counts, bad)
        return suppressed, good

    def most_kept(self, sizes: Array, bad: Array) -> Array:
        """How many members of each of the classes that were judged last can be kept at most below."""
        most = np.empty(len(sizes), np.int64)
        most_kept(self._own, sizes, bad, most)
        return most


# possible keys that each have a cell: for each tuple, always, and at most
_CELLS, _LEAST_CELLS, _MOST_CELLS = 16, 1 << 18, 1 << 25
# possible keys that are counted to sum up classes, always
_LEAST_SIZES = 1 << 16


@dataclass(frozen=True)
class NodeOutcome:
    """What a node is worth.

    `suppressed` records must go; `feasible` says whether what is left keeps every model within the limit; `product` is
    its score as a product of factors. For all nodes below: at least `lost` records go, and they cost at least
    `below[j]` more in column j.
    """

    levels: tuple[int, ...]
    suppressed: int
    feasible: bool
    product: float
    lost: int
    below: Array | None


class NodeClasses(NamedTuple):
    """The classes of a node: which unit is in which, how many members they have, which are bad and go, and how many
    members of each every finer node loses at least."""

    place: Array
    sizes: Array
    bad: Array
    lost: Array
    suppressed: int
    feasible: bool


class ClassSums(NamedTuple):
    """Sums over the classes of a node that have k members and more: how many, the sum of their squares, and how many of
    k members they could be split into; and the members of all others."""

    enough: int
    squares: float
    parts: int
    small: int


class PersonEntries(NamedTuple):
    """A sensitive column beside persons: entry i says that persons of kind `kind.codes[i]` have the code `code[i]` in a
    record of tuple `of_tuple[i]`. `persons[q]` persons are of kind q, all with the history `history_of_kind[q]`."""

    kind: Coded
    of_tuple: Array
    code: Array
    history_of_kind: Array
    persons: Array
    whole: Whole

    def part(self, wanted: Array, number: Array) -> PersonEntries:
        """The same on some histories (a mask), which get new numbers."""
        kinds = wanted[self.history_of_kind]
        kept = kinds[self.kind.codes]
        kind = Coded((np.cumsum(kinds) - 1)[self.kind.codes[kept]], int(kinds.sum()))
        histories = number[self.history_of_kind[kinds]]
        return PersonEntries(kind, self.of_tuple[kept], self.code[kept], histories, self.persons[kinds], self.whole)


class PopulationTuples(NamedTuple):
    """A population table in the codes of the lattice's columns: distinct tuples with the people of each."""

    tuples: CountTable


class TupleHistories(NamedTuple):
    """Distinct histories of persons: record i is one of tuple `of_tuple[i]` in history `of_history.codes[i]`."""

    of_history: Coded
    of_tuple: Array
    persons: Array


@dataclass(frozen=True)
class SampledUnits:
    """The people of the population that each unit (a tuple or a history) is estimated to stand for, by what, how many
    people all units stand for, and whether limits on risk are about them; and the draws, as in `PeopleEstimate`."""

    people: Array
    by: str
    population: float
    over: RiskOver
    draws: Array | None = None

    def part(self, wanted: Array) -> SampledUnits:
        """The same on some units (a mask)."""
        draws = None if self.draws is None else self.draws[wanted]
        return replace(self, people=self.people[wanted], draws=draws)


class Evaluator:
    """Looks at nodes, with scratch space that is used again."""

    def __init__(
        self,
        grid: LatticeGrid,
        models: Sequence[Model],
        limit: int,
        sensitive: Mapping[str, Any] | None = None,
        populations: Mapping[str, PopulationTuples] | None = None,
        records: int | None = None,
        sample: SampledUnits | None = None,
        sources: Sources | None = None,
        packed: PackedLook | None = None,
    ) -> None:
        self.grid, self.models, self.limit, self.sample = grid, models, limit, sample
        # of the whole table, where the grid holds a part of it
        self.records = grid.records if records is None else records
        self.sensitive, self.populations = sensitive or {}, populations or {}
        self._given = (grid, models, limit, self.sensitive, self.populations, self.records, sample)
        tuples = len(grid.tuples)
        across = any(isinstance(model, XYAnonymity) for model in models)
        self.sources = sources or Sources(grid, self.sensitive, self._rolls_up(across))
        self._table = np.zeros(grid.starts[-1], np.int64)
        self._numbers = class_numbers(tuples)
        self._place = np.zeros(tuples, np.int32)
        self._cells = np.zeros(min(_MOST_CELLS, max(_LEAST_CELLS, _CELLS * tuples)), np.uint16)
        self._lost = np.zeros(grid.starts[-1])
        self._ranks = rank_scratch(0)
        only_k = [model.k for model in models if isinstance(model, KAnonymity)]
        self._only_k = max(only_k) if only_k and len(only_k) == len(models) else None
        self._columns = np.arange(len(grid.axes))
        self._twin_of = packed
        # what shrinks a class's evidence cheaply goes first: the rest is measured where these hold
        self._by_size = [
            model for model in models if not model.needs and not model.needs_population and not model.whole
        ]
        self._others = [model for model in models if not model.whole and model not in self._by_size]
        self._whole = [model for model in models if model.whole]
        self._across = any(isinstance(model, XYAnonymity) and model.x for model in models)
        self.closeness = None if sample else ClosenessLoop.of(models, self.sensitive)
        # the node that is written `*` at each level of a column, -1 where there is none
        self._stars = [
            [labels.index(STAR) if STAR in labels else -1 for labels in axis.fitted.labels] for axis in grid.axes
        ]

    @cached_property
    def _sizes(self) -> Array:
        """Space for the sizes of classes, or for a count of every possible key."""
        return np.zeros(max(len(self._place), _LEAST_SIZES), np.int64)

    @property
    def members(self) -> int:
        """Records that are counted in the classes."""
        return self.grid.records

    def _rolls_up(self, across: bool) -> bool:
        """Whether classes can stand for their tuples: not where models ask for more of these than their records."""
        return self.sample is None and not self.populations and not across

    def twin(self) -> Evaluator:
        """Another with scratch space of its own, to look beside it."""
        return Evaluator(*self._given, self.sources, None if self.packed is None else self.packed.twin())

    @cached_property
    def packed(self) -> PackedLook | None:
        """Looks by packed tables, where there are many tuples and only sizes of classes count."""
        if self._twin_of is not None:
            return self._twin_of
        if self._only_k is None or not self.sources.rolls_up:
            return None
        return look_by_packing(self.grid, self._only_k, self.limit)

    def classes(self, levels: Array) -> tuple[Array, Array]:
        """The class of each tuple at a node, and the records of each class."""
        return self._classes(levels, self.sources.bottom)

    def _classes(self, levels: Array, source: ClassSource) -> tuple[Array, Array]:
        grid = self.grid
        if grid.cells(levels) < 1 << 62:
            place, sizes = self._place[: len(source)], np.empty(len(source), np.int64)
            return place, sizes[: self.number_classes(levels, source, place, sizes)]
        columns = [
            Coded(axis.fitted.codes[level][self._values(axis.name, source)], int(grid.cards[j, level]))
            for j, (axis, level) in enumerate(zip(grid.axes, levels, strict=True))
        ]
        place, count = class_of_each_row(pack(columns))
        return place.astype(np.int32), np.bincount(place, source.counts, count).astype(np.int64)

    def number_classes(self, levels: Array, source: ClassSource, place: Array, sizes: Array) -> int:
        """Number the classes of a node as they are met, and how many there are: `place` becomes the class of each tuple
        of a source, `sizes` the records of each class."""
        total = self.grid.look_up(levels, self._table)
        given = (source.codes, self.grid.starts, self._table, total, source.counts)
        return int(lattice_counts.number_classes(self._numbers, *given, place, sizes))

    def _sorted_classes(self, levels: Array, source: ClassSource) -> tuple[Array, Array]:
        """The same, numbered in the order of their keys where these are few enough: near each other in memory."""
        keys = self.grid.cells(levels)
        if not has_ranks(keys, len(source)):
            return self._classes(levels, source)
        if len(self._ranks[0]) * 64 < keys:
            self._ranks = rank_scratch(keys)
        total = self.grid.look_up(levels, self._table)
        place, words = self._place[: len(source)], (total + 63) // 64
        marks, ranks = (part[:words] for part in self._ranks)
        sizes = classes_by_rank(source, self._table, place, marks, ranks)
        marks[:] = 0
        return place, sizes

    def _values(self, name: str, source: ClassSource) -> Array:
        """The code of a column in the tuple of each class of a source."""
        codes = self.grid.tuples.tuples[name].codes
        return codes if source.first is None else codes[source.first]

    def __call__(self, levels: Array) -> NodeOutcome:
        """Look at a node."""
        if self.packed is not None and not self.has_nothing(levels):
            lost, below = self.packed(levels)
            return self._outcome(levels, lost, below, None if below is None else below[self._columns, levels])
        many = self._only_k is not None and self.grid.records >= self._only_k
        if self.packed is not None and many and self.grid.cells(levels) == 1:
            # all rows are `*` everywhere, in one class that says nothing: it counts as suppressed, but finer nodes may
            # keep it
            return NodeOutcome(
                tuple(levels.tolist()), self.grid.records, False, np.inf, 0, np.zeros(self.grid.sums.shape)
            )
        return self._look(levels, self.sources.below(levels))

    def exactly(self, levels: Array) -> NodeOutcome:
        """Look at a node by its tuples themselves: the same, but for the last digits of sums."""
        return self._look(levels, self.sources.bottom)

    def _look(self, levels: Array, source: ClassSource) -> NodeOutcome:
        if self._only_k is not None and not self.has_nothing(levels):
            return self._by_k(levels, source, self._only_k)
        found = self._judge(levels, source)
        lost, below, gone = self.told(levels, source, found)
        product = np.inf
        if below is not None and found.feasible:
            product = self.grid.product(levels, self.grid.gains(gone, levels))
        return NodeOutcome(tuple(levels.tolist()), found.suppressed, found.feasible, product, lost, below)

    def told(self, levels: Array, source: ClassSource, found: NodeClasses) -> tuple[int, Array | None, Array]:
        """What the classes of a node tell about all finer ones (`NodeOutcome.lost` and `below`), and the records of
        each compound code that it loses itself."""
        lost = int(found.lost.sum())
        if lost > self.limit:
            return lost, None, self._lost
        gone, whole, part = self._lost_codes(found, source)
        below = np.zeros(self.grid.sums.shape)
        # of classes that go whole we know who goes
        self.grid.add_gains_below(below, whole, source.levels, levels)
        self.grid.add_gains_below(below, part, levels, levels)
        return lost, below, gone

    def judged(self, levels: Array) -> NodeClasses:
        """The classes of a node, and which of them are bad."""
        return self._judge(levels, self.sources.below(levels))

    def _judge(self, levels: Array, source: ClassSource) -> NodeClasses:
        place, sizes = self._classes(levels, source)
        nothing = self.has_nothing(levels)
        if self._only_k is not None and not nothing:
            bad = sizes < self._only_k
            lost = np.where(bad, sizes, 0)
        elif self.closeness is not None and self.closeness.fits(len(sizes)) and not nothing:
            bad = np.zeros(len(sizes), np.bool_)
            self.closeness.judge(place, sizes, source.sensitive[self.closeness.name], bad)
            lost = sizes - self.closeness.most_kept(sizes, bad)
        else:
            bad, shares = self.bad_classes(levels, place, sizes, source)
            lost = np.ceil(shares * sizes - 1e-9).astype(np.int64)
        suppressed = int(sizes[bad].sum())
        feasible = suppressed <= self.limit and not bad.all()
        if self._whole and feasible:
            evidence = self._sampled(Evidence(sizes[~bad]), place, len(sizes), ~bad)
            feasible = all(model.judge(evidence).holds for model in self._whole)
        return NodeClasses(place, sizes, bad, lost, suppressed, bool(feasible))

    def class_sums(self, levels: Array, k: int) -> ClassSums | None:
        """Sums over the classes of a node, where those below k are the ones that are suppressed; else none."""
        grid = self.grid
        if self._only_k != k or self.has_nothing(levels) or grid.cells(levels) >= 1 << 62:
            return None
        source = self.sources.below(levels)
        total = grid.look_up(levels, self._table)
        given = (source.codes, grid.starts, self._table, total, source.counts, k)
        return ClassSums(*lattice_counts.sums_of_classes(self._numbers, *given, self._place, self._sizes))

    def kept_sizes(self, levels: Array) -> Array:
        """The sizes of the classes that a node keeps."""
        place, sizes = self.classes(levels)
        bad, _ = self.bad_classes(levels, place, sizes)
        return np.asarray(sizes[~bad])

    def _by_k(self, levels: Array, source: ClassSource, k: int) -> NodeOutcome:
        """Without other models a class is lost below exactly if it is lost here."""
        grid = self.grid
        fits = min(len(self._cells), max(1 << 12, _CELLS * len(source)))
        if grid.cells(levels) <= fits and k <= MOST_K:
            total = grid.look_up(levels, self._table)
            tuples = (source.codes, grid.starts, self._table.astype(np.uint32), total, source.capped)
            scratch = (self._cells, self._place)
            suppressed = int(lattice_counts.small_classes(*tuples, k, self.limit, *scratch, self._lost))
        else:
            place, sizes = self._sorted_classes(levels, source)
            given = (place, source.counts, sizes, k, source.codes, grid.starts, self.limit, self._lost)
            suppressed = int(lattice_counts.small_numbered_classes(*given))
        below = gains = None
        if suppressed <= self.limit:
            below = np.zeros(grid.sums.shape)
            grid.add_gains_below(below, self._lost, source.levels, levels)
            gains = grid.gains(self._lost, levels)
        return self._outcome(levels, suppressed, below, gains)

    def _outcome(self, levels: Array, suppressed: int, below: Array | None, gains: Array | None) -> NodeOutcome:
        """Of a node whose classes are lost below exactly if they are lost here."""
        feasible = gains is not None and suppressed < self.grid.records
        product = self.grid.product(levels, gains) if gains is not None and feasible else np.inf
        return NodeOutcome(tuple(levels.tolist()), suppressed, feasible, product, suppressed, below)

    @cached_property
    def stars(self) -> Array:
        """Whether values can be `*` at each level of a column."""
        found = np.zeros(self.grid.sums.shape, np.bool_)
        for j, stars in enumerate(self._stars):
            found[j, : len(stars)] = np.array(stars) >= 0
        return found

    def has_nothing(self, levels: Array) -> bool:
        """Whether rows can be `*` everywhere: at the top all are, in uneven trees some are below it."""
        return all(stars[level] >= 0 for stars, level in zip(self._stars, levels.tolist(), strict=True))

    def _nothing(self, levels: Array, place: Array, source: ClassSource) -> Array:
        """The classes of rows that are `*` everywhere: they say nothing and count as suppressed."""
        if not self.has_nothing(levels):
            return np.zeros(0, np.int64)
        axes = zip(self.grid.axes, self._stars, levels.tolist(), strict=True)
        stars = [
            axis.fitted.codes[level][self._values(axis.name, source)] == of_level[level]
            for axis, of_level, level in axes
        ]
        return np.unique(place[self._units_within(np.logical_and.reduce(stars))])

    def _units_within(self, tuples: Array) -> Array:
        """Which units, here the tuples themselves, lie within some tuples (a mask)."""
        return tuples

    def bad_classes(
        self, levels: Array, place: Array, sizes: Array, source: ClassSource | None = None
    ) -> tuple[Array, Array]:
        """Which classes break a model, and the share of each that every finer node loses at least."""
        source = source or self.sources.bottom
        bad = np.zeros(len(sizes), bool)
        lost = np.zeros(len(sizes))
        evidence = self._sampled(Evidence(sizes, records=self.records), place, len(sizes))
        for model in self._by_size:
            _note(model, evidence, model.measure(evidence), np.arange(len(sizes)), bad, lost)
        first = lost
        nothing = self._nothing(levels, place, source)
        while self._others and not bad.all():
            # measured where nothing is bad yet: what is lost anyway needs no second reason
            wanted = np.flatnonzero(~bad)
            evidence = self._evidence(levels, place, sizes, wanted, source)
            for model in self._others:
                _note(model, evidence, model.measure(evidence), wanted, bad, first)
            bad[nothing] = True
            # a model that looks across classes must look again at what is left; what it finds then says nothing about
            # finer nodes, where other classes may be left
            if not self._across or not bad[wanted].any():
                break
            first = np.zeros(len(sizes))
        # finer nodes may still keep them: `lost` says nothing about it
        bad[nothing] = True
        return bad, lost

    def _evidence(self, levels: Array, place: Array, sizes: Array, wanted: Array, source: ClassSource) -> Evidence:
        number = np.full(len(sizes), -1, np.int64)
        number[wanted] = np.arange(len(wanted))
        needed = {name for model in self._others for name in model.needs}
        spreads = {name: self._spread(source.sensitive[name], levels, place, number, len(wanted)) for name in needed}
        across = [model for model in self._others if isinstance(model, XYAnonymity)]
        there = self.grid.tuples.tuples
        named = [name for model in across for name in model.x if name in there]
        keys = {name: self._keys_of(name, levels, place, wanted) for name in named}
        people = {
            model.needs_population: self._people(levels, place, wanted, self.populations[model.needs_population])
            for model in self._others
            if model.needs_population is not None
        }
        evidence = Evidence(sizes[wanted], None, self.records, spreads, people, keys)
        return self._sampled(evidence, place, len(sizes), wanted)

    def _sampled(self, evidence: Evidence, place: Array, classes: int, wanted: Array | None = None) -> Evidence:
        """The evidence of (some of the) classes with the people that they are estimated to stand for."""
        if self.sample is None:
            return evidence
        these = slice(None) if wanted is None else wanted
        people = np.bincount(place, self.sample.people, classes)[these]
        draws = None if self.sample.draws is None else np.bincount(place, self.sample.draws, classes)[these]
        estimate = PeopleEstimate(people, self.sample.by, self.sample.population, draws=draws)
        return replace(evidence, estimate=estimate, risk_over=self.sample.over, partial=True)

    def _spread(self, entries: Any, levels: Array, place: Array, number: Array, classes: int) -> Spread:
        """A sensitive column (`SensitiveEntries`) over the wanted classes, at their numbers."""
        labels = len(entries.whole.counts)
        if classes * labels <= DENSE_SPREAD:
            found = lattice_counts.spread_over_classes(
                place, number, entries.of_tuple, entries.code, entries.count, labels, classes
            )
            return Spread(found[0], found[1], found[2], entries.whole)
        of_class = number[place[entries.of_tuple]]
        kept = of_class >= 0
        pairs = {"class": Coded(of_class[kept], classes), "code": Coded(entries.code[kept], labels)}
        table = CountTable.of(pairs, entries.count[kept])
        columns = [table.tuples[name].codes.astype(np.int64) for name in ("class", "code")]
        return Spread(columns[0], columns[1], table.counts, entries.whole)

    def _nodes(self, name: str, levels: Array, codes: Array) -> Coded:
        j = next(j for j, axis in enumerate(self.grid.axes) if axis.name == name)
        return Coded(self.grid.axes[j].fitted.codes[levels[j]][codes], int(self.grid.cards[j, levels[j]]))

    def _keys_of(self, name: str, levels: Array, place: Array, wanted: Array) -> Array:
        of_tuple = self._nodes(name, levels, self.grid.tuples.tuples[name].codes).codes
        if len(of_tuple) != len(place):
            raise InputError("(X, Y)-anonymity on a part of the columns does not work by person.", "Leave out x.")
        found = np.zeros(int(place.max()) + 1, np.int64)
        found[place] = of_tuple
        return found[wanted]

    def _people(self, levels: Array, place: Array, wanted: Array, population: PopulationTuples) -> Array:
        """People of the population in the cells of the wanted classes."""
        if len(place) != len(self.grid.tuples):
            raise InputError("A population is not counted where a person has many rows.", "Use one row a person.")
        names = [axis.name for axis in self.grid.axes]
        own = [self._nodes(name, levels, self.grid.tuples.tuples[name].codes) for name in names]
        theirs = [self._nodes(name, levels, population.tuples.tuples[name].codes) for name in names]
        both = [
            Coded(np.concatenate([mine.codes, other.codes]), mine.cardinality)
            for mine, other in zip(own, theirs, strict=True)
        ]
        cell, cells = class_of_each_row(pack(both))
        people = np.bincount(cell[len(place) :], population.tuples.counts, minlength=cells)
        people_of_class = np.zeros(int(place.max()) + 1)
        people_of_class[place] = people[cell[: len(place)]]
        return np.asarray(people_of_class[wanted])

    def _lost_codes(self, found: NodeClasses, source: ClassSource) -> Sequence[Array]:
        """The records that are lost here, wholly and in part at finer nodes, by compound code."""
        starts, lost = self.grid.starts, found.lost / found.sizes
        given = (source.codes, starts, found.place, source.counts, found.bad, lost, int(starts[-1]))
        return tuple(lattice_counts.lost_records(*given))


class PersonEvaluator(Evaluator):
    """Looks at nodes where a person has many records: classes are of persons, and who is suppressed goes whole.

    Units are the distinct histories: `rows` are (history, tuple) pairs, one for each record of the history, `persons`
    how many persons have it.
    """

    def __init__(self, *given: Any, histories: TupleHistories, **more: Any) -> None:
        super().__init__(*given, **more)
        self._histories = histories
        self._only_k = None
        self.closeness = None

    @property
    def members(self) -> int:
        """Persons that are counted in the classes."""
        return int(self._histories.persons.sum())

    def _rolls_up(self, across: bool) -> bool:
        return False

    def twin(self) -> Evaluator:
        """Another with scratch space of its own, to look beside it."""
        return PersonEvaluator(*self._given, histories=self._histories)

    def _classes(self, levels: Array, source: ClassSource) -> tuple[Array, Array]:
        """The class of each history at a node, and the persons of each class."""
        place, sizes = super()._classes(levels, source)
        theirs = self._histories
        found, count = class_of_each_person(place[theirs.of_tuple], len(sizes), theirs.of_history)
        return found.astype(np.int32), np.bincount(found, theirs.persons, minlength=count).astype(np.int64)

    def _units_within(self, tuples: Array) -> Array:
        """Histories all of whose records lie within some tuples."""
        theirs = self._histories
        outside = np.bincount(theirs.of_history.codes, ~tuples[theirs.of_tuple], minlength=len(theirs.persons))
        return np.asarray(outside == 0)

    def _spread(self, entries: Any, levels: Array, place: Array, number: Array, classes: int) -> Spread:
        """A sensitive column (`PersonEntries`) over the cells of the wanted classes."""
        shown, sizes = super()._classes(levels, self.sources.bottom)
        of_record = number[place[entries.history_of_kind[entries.kind.codes]]]
        kept = np.flatnonzero(of_record >= 0)
        return spread_of_persons(
            of_record[kept],
            classes,
            Coded(shown[entries.of_tuple[kept]], len(sizes)),
            Coded(entries.kind.codes[kept], entries.kind.cardinality),
            entries.code[kept],
            entries.persons,
            entries.whole,
        )

    def _lost_codes(self, found: NodeClasses, source: ClassSource) -> Sequence[Array]:
        theirs, grid = self._histories, self.grid
        every = np.arange(len(grid.tuples), dtype=np.int32)
        ones, width = np.ones(len(grid.tuples)), int(grid.starts[-1])
        codes = []
        lost = found.lost / found.sizes
        for gone in (found.bad, lost >= 1, np.where(lost < 1, lost, 0.0)):
            share = gone[found.place[theirs.of_history.codes]] * theirs.persons[theirs.of_history.codes]
            records = np.bincount(theirs.of_tuple, share, minlength=len(grid.tuples))
            given = (grid.codes, grid.starts, every, records, records > 0, ones, width)
            codes.append(lattice_counts.lost_records(*given)[0])
        return codes


def _note(model: Model, evidence: Evidence, figures: Array, which: Array, bad: Array, lost: Array) -> None:
    """Mark the classes that break a model, and what finer nodes lose of them at least."""
    broken = ~model.good(figures)
    bad[which] |= broken
    if not broken.any():
        return
    merging = model.merging_with(evidence)
    if merging == "any":
        lost[which[broken]] = 1.0
    elif merging == "good":
        # if no part of it went, good parts would have made a good class: at least one record goes
        least = model.must_lose(figures, evidence)
        sizes = evidence.sizes[broken]
        share = 1 / sizes if least is None else np.maximum(least[broken], 1 / sizes)
        lost[which[broken]] = np.maximum(lost[which[broken]], share)
