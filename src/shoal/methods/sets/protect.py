"""The step that changes sets of items, or histories of events, so that the models about them hold."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import polars as pl

from shoal import progress
from shoal.errors import InputError, PolicyNotMet
from shoal.exposure.known_points import alone_shares
from shoal.methods.outcomes import KnownFew, SetsOutcome, SetsWay
from shoal.methods.results import Anonymized, Findings
from shoal.methods.sets.cuts import ItemCut, ItemTree, best_cut
from shoal.methods.sets.leaving_out import AskedOfSets, to_leave_out
from shoal.methods.treat import TreatedColumn
from shoal.models import AnyModel, Evidence, KAnonymity
from shoal.models.item_sets import ItemSets
from shoal.models.known_sets import AboutSets
from shoal.policy import Policy
from shoal.policy.judgement.evidence import evidence_of
from shoal.policy.judgement.sets import Occurrences, occurrences_of
from shoal.ranges.forms import ColumnForm
from shoal.ranges.hierarchy import Hierarchy
from shoal.ranges.hierarchy.build import build_hierarchy
from shoal.ranges.hierarchy.given import given_hierarchies, rows_of, stacked
from shoal.ranges.parsing import set_labels
from shoal.storage import Array, Table
from shoal.storage.encode import encode
from shoal.storage.texts import texts_of
from shoal.vocabulary import Prefer
from shoal.wording import percent

# what an occurrence is worth that has to go because one cut leaves it standing out: one often settles several breaches
_PRICES = (1.0, 0.6)
SUPPRESSION = "items left out"
# ICD-10, ATC and codes like them: a letter and two digits at the start
_CODES = r"^[A-Z][0-9]{2}[A-Z0-9.]*$"
# of so many items it is worked out which are near each other, and so many stand in one label at most
_MOST_ITEMS, _LARGEST_SET = 2_000, 8


class ShownSets(NamedTuple):
    """What each occurrence becomes, as the number of a label, what each loses, and which stay; a way that was tried."""

    way: str
    label: Array
    loss: Array
    keep: Array

    @property
    def total(self) -> float:
        return float(np.where(self.keep, self.loss, 1.0).mean()) if len(self.keep) else 0.0

    def tried(self) -> SetsWay:
        """As it is told."""
        return SetsWay(self.way, self.total, int((self.keep & (self.loss > 0)).sum()), int((~self.keep).sum()))


@dataclass(frozen=True, eq=False)
class SetsProblem:
    """The different occurrences of items, each with its person, who is looked for in a group, and what is asked."""

    person: Array
    item: Array
    row: Array
    group: Array
    models: Sequence[AboutSets]
    secret: Array
    values: ItemSets | None

    def asked(self, label: Array) -> list[AskedOfSets]:
        """What is asked where items have labels; a pair of a person and a label stands where it first does."""
        return [AskedOfSets(self._sets(label, model), model) for model in self.models]

    def _sets(self, label: Array, model: AboutSets) -> ItemSets:
        public = np.flatnonzero(~self.secret) if model.about == "public_items" else np.arange(len(self.item))
        sets = ItemSets.of(self.person[public], label[public], len(self.group), self.group)
        sets = replace(sets, source=public[sets.source])
        if self.values is None or model.most_share is None:
            return sets
        return replace(sets, values=self.values.values, sensitive=self.values.sensitive)

    def broken(self, label: Array) -> tuple[Array, Array]:
        """The different subsets of labels that break a model, and how many persons have each."""
        most = max(model.known for model in self.models)
        everything, rows = np.ones(len(self.item), bool), [np.zeros((0, most), np.int64)]
        persons: list[Array] = [np.zeros(0)]
        for one in self.asked(label):
            for size in range(1, one.model.known + 1):
                found = np.sort(label[one.breaches(everything, size)], axis=1)
                distinct, counts = np.unique(found, axis=0, return_counts=True)
                rows.append(np.pad(distinct, ((0, 0), (0, most - size)), constant_values=-1))
                persons.append(counts)
        return np.concatenate(rows), np.concatenate(persons)

    def least_loss(self, label: Array, loss: Array) -> float:
        """What is lost at least where items have labels: who has a subset that breaks a model loses an item of it."""
        everything, gone = np.ones(len(self.item), bool), [np.zeros(0, np.int64)]
        for one in self.asked(label):
            if one.model.most_share is None:
                sizes = range(1, one.model.known + 1)
                gone += [np.unique(self.person[one.breaches(everything, size)[:, 0]]) for size in sizes]
        persons = len(np.unique(np.concatenate(gone)))
        return float((loss.sum() + persons * (1 - loss.max(initial=0.0))) / max(len(loss), 1))

    def kept(self, label: Array) -> Array:
        """The occurrences that stay where what stands out is left out."""
        pair = self.person * (int(label.max(initial=0)) + 1) + label
        _, first, number = np.unique(pair, return_index=True, return_inverse=True)
        return np.asarray(to_leave_out(self.asked(label), len(label))[first[number.ravel()]])


# how many times k persons a class may have, so that fewer items must go in it; each is tried
_LARGER = (1, 4, 16, 64)


def protected_beside(
    table: Table, policy: Policy, prefer: Prefer | None, seconds: float, change: Callable[[Policy], Anonymized]
) -> Anonymized:
    """The table with quasi-identifiers changed, where there are some, and then its sets. In larger classes fewer items
    stand out: of some sizes of classes the one that loses least in all is taken."""
    others = [model for model in policy.models if not model.of_sets]
    if policy.person in policy.with_role("identifier"):
        raise InputError(
            f"Column '{policy.person}' says whose items are whose, and is an identifier, which leaves no trace.",
            "Take it out of the policy's columns: it becomes a pseudonym then.",
        )
    if not policy.quasi_identifiers:
        return protected(_unchanged(table, policy), policy, prefer, seconds)
    least = max(model.least_members or 2 for model in policy.models)
    best: tuple[float, Anonymized] | None = None
    for times in _LARGER:
        if best is not None and least * times * 4 > table.rows:
            break
        own = [model for model in others if not isinstance(model, KAnonymity)]
        made = change(policy.model_copy(update={"models": [KAnonymity(k=least * times), *own]}))
        if made.verdict == "refused":
            continue
        by_policy = [model.judge(_looked_at(made, policy, others)[2]) for model in others]
        made = protected(replace(made, policy=policy, models=by_policy), policy, prefer, seconds)
        assert made.findings.sets is not None
        lost = (made.findings.loss or 0.0) + made.findings.sets.loss
        if best is None or lost < best[0]:
            best = lost, made
    if best is None:
        raise PolicyNotMet("No method keeps the policy.", "Use a smaller k.")
    return best[1]


def _unchanged(table: Table, policy: Policy) -> Anonymized:
    """A table none of whose columns is a quasi-identifier."""
    persons = table.rows if policy.person is None else len(np.unique(table[policy.person].codes))
    findings = Findings(table.total, persons, 1, 0, 0, None, {}, 0, 0, 0, 0, [], None, [])
    return Anonymized("sets", [], findings, table, policy, {}, {}, verdict="holds")


def protected(made: Anonymized, policy: Policy, prefer: Prefer | None, seconds: float) -> Anonymized:
    """A result with its items or events changed, so that the policy's models about them hold within its classes."""
    started = time.perf_counter()
    progress.report("looking at items", 0)
    table, found, evidence = _looked_at(made, policy)
    models = [model for model in policy.models if isinstance(model, AboutSets)]
    if lacking := [why for model in models if (why := model.lacks(evidence))]:
        raise InputError(f"Sets cannot be judged: {lacking[0]}.", "Name it in the policy, or leave the model out.")
    before = evidence.events or evidence.items
    assert before is not None
    if len(found.present) < max(model.persons for model in models):
        raise InputError("There are fewer persons than the models ask for.", "Use a smaller k.")
    first = before.source
    secret = (
        found.labels.is_in(policy.sensitive_items).to_numpy()[found.item[first]] if policy.sensitive_items else None
    )
    problem = SetsProblem(
        found.person[first].astype(np.int64),
        found.item[first],
        found.row[first],
        before.group,
        models,
        np.zeros(len(first), bool) if secret is None else secret,
        evidence.events or evidence.public_items,
    )
    best = _events if policy.event_columns else _items
    shown, labels, told, trees = best(problem, table, found, policy, prefer, started + seconds)
    if not shown.keep.any():
        raise PolicyNotMet("Every item would have to be left out.", "Ask for less, or give a hierarchy of items.")
    # from different occurrences to all of them
    pair = found.person.astype(np.int64) * (int(found.item.max(initial=0)) + 1) + found.item
    own = np.searchsorted(np.sort(pair[first]), pair)
    own = np.argsort(pair[first], kind="stable")[own]
    return _with(made, policy, found, shown, own, labels, told, trees, before, started)


def _looked_at(
    made: Anonymized, policy: Policy, models: Sequence[AnyModel] | None = None
) -> tuple[Table, Occurrences, Evidence]:
    """The table with its quasi-identifiers as they are released, its items one by one, and who is in which class."""
    beside = {name: column for name, column in made.table.columns.items() if name not in made.columns}
    table = replace(made.table, columns={**beside, **made.shown.columns})
    starred = [name for column in made.columns.values() if column.nature != "unchanged" for name in column.names]
    asked = [model for model in policy.models if model.of_sets] if models is None else models
    evidence, _ = evidence_of(
        table,
        made.quasi_identifiers,
        policy.model_copy(update={"models": asked}),
        made.parameters.get("levels"),
        starred,
    )
    return table, occurrences_of(table, policy), evidence


_Way = tuple[ShownSets, pl.Series | list[pl.Series], dict[str, object], dict[str, Hierarchy]]


def _items(
    problem: SetsProblem, table: Table, found: Occurrences, policy: Policy, prefer: Prefer | None, stop: float
) -> _Way:
    """The way that loses least: one cut of the tree, cuts that leave a few items out, or leaving out alone."""
    column = policy.item_column or ""
    sets = ItemSets.of(problem.person, problem.item, len(problem.group))
    tree = tree_of_items(column, found.labels, sets, policy)
    ways: list[ShownSets] = []
    cut, by_tree = None, prefer in ("hierarchies", "few-suppressed")

    def try_way(name: str, label: Array, loss: Array) -> None:
        if not ways or problem.least_loss(label, loss) < min(way.total for way in ways):
            ways.append(ShownSets(name, label, loss, problem.kept(label)))

    if tree is not None:
        leaves = {text: place for place, text in enumerate(tree.levels[0].to_list())}
        at = tree.node_codes(0)[[leaves[text] for text in found.labels.to_list()]]
        by_leaf = np.empty(tree.leaves, np.int64)
        by_leaf[tree.node_codes(0)] = np.arange(tree.leaves)
        items = ItemTree(tree, by_leaf[at], np.bincount(problem.item, minlength=len(found.labels)))
        never = found.labels.is_in(policy.sensitive_items).to_numpy()

        def by_cut(price: float | None) -> ItemCut:
            progress.report("searching a cut of the items' tree", 0)
            seconds = max((stop - time.perf_counter()) / 3, 1.0)
            made = best_cut(items, lambda node: problem.broken(as_label(node)[problem.item]), seconds, price)
            node = as_label(made.node)
            try_way("a cut, and items left out", node[problem.item], items.loss(node)[problem.item])
            return made

        def as_label(node: Array) -> Array:
            return np.where(never, items.path[0], node)

        cut = by_cut(None)
        if ways[0].keep.all():
            ways[0] = ways[0]._replace(way="one cut")
        for price in () if by_tree else _PRICES:
            if time.perf_counter() < stop:
                by_cut(price)
    if tree is None or not by_tree:
        label = problem.item if tree is None else items.path[0][problem.item]
        try_way(SUPPRESSION, label, np.zeros(len(label)))
    best = min(ways, key=lambda way: way.total)
    labels = found.labels if tree is None else pl.Series(items.labels(np.arange(items.first[-1])), dtype=pl.String)
    told: dict[str, object] = {"tried": [way.tried() for way in ways], "tree": None if tree is None else tree.source}
    if cut is not None and ways[0].way == "one cut":
        told |= {"cut_loss": ways[0].total, "lower_bound": cut.lower_bound, "optimal": cut.optimal}
    return best, labels, told, {} if tree is None else {column: tree}


def _events(
    problem: SetsProblem, table: Table, found: Occurrences, policy: Policy, prefer: Prefer | None, stop: float
) -> _Way:
    """The levels of place and time, with what has to be left out there, that lose least."""
    columns = table.select(policy.event_columns)
    given = given_hierarchies(policy.hierarchies, policy.event_columns)
    trees = [given.get(column.name) or build_hierarchy(column) for column in columns]
    leaves = []
    for number, column in enumerate(columns):
        texts = texts_of(column.values)
        trees[number] = trees[number].with_leaves(texts.filter(~texts.is_in(trees[number].levels[0].implode())))
        place = {text: leaf for leaf, text in enumerate(trees[number].levels[0].to_list())}
        own = [*(place[text] for text in texts.to_list()), trees[number].leaves]  # the last: missing, and stays so
        leaves.append(np.array(own, np.int64)[column.codes[problem.row]])
    grid = np.stack(np.meshgrid(*[np.arange(tree.height) for tree in trees], indexing="ij"), axis=-1)
    grid = grid.reshape(-1, len(trees))
    points = []
    for levels in grid.tolist():
        at = list(zip(trees, levels, leaves, strict=True))
        codes = [np.append(tree.node_codes(level), tree.sizes[level])[leaf] for tree, level, leaf in at]
        shares = [_width(tree, level)[leaf] for tree, level, leaf in at]
        label = codes[0] if len(codes) == 1 else codes[0] * (int(codes[1].max(initial=0)) + 1) + codes[1]
        label = np.unique(label, return_inverse=True)[1].ravel()
        loss = np.mean(shares, axis=0)
        rare = np.zeros(len(label), bool)  # what is too rare by itself must go, whatever else does
        for one in problem.asked(label):
            persons = np.bincount(one.sets.items, minlength=len(one.sets.code))
            rare |= np.isin(label, label[one.sets.source[persons[one.sets.items] < one.model.persons]])
        points.append((float(np.where(rare, 1.0, loss).mean()), levels, label, loss))
    points.sort(key=lambda point: (point[0], point[1]))
    ways: list[tuple[ShownSets, list[int]]] = []
    for bound, levels, label, loss in points:
        if ways and (bound >= min(way.total for way, _ in ways) or time.perf_counter() > stop):
            break
        progress.report("searching levels of events", len(ways), len(points))
        names = ", ".join(f"{column.name} at level {level}" for column, level in zip(columns, levels, strict=True))
        ways.append((ShownSets(names, label, loss, problem.kept(label)), levels))
    best, levels = min(ways, key=lambda way: way[0].total)
    at = list(zip(trees, levels, leaves, strict=True))
    shown = [tree.levels[level].extend_constant(None, 1).gather(leaf) for tree, level, leaf in at]
    told: dict[str, object] = {
        "tried": [way.tried() for way, _ in ways],
        "tree": "; ".join(f"{tree.column}: {tree.source}" for tree in trees),
    }
    return best, shown, told, {tree.column: tree for tree in trees}


def _width(tree: Hierarchy, level: int) -> Array:
    """What each leaf loses at a level; and nothing, which a missing value does."""
    counts = np.bincount(tree.node_codes(level))
    return np.append((counts[tree.node_codes(level)] - 1) / max(tree.leaves - 1, 1), 0.0)


def _with(
    made: Anonymized,
    policy: Policy,
    found: Occurrences,
    shown: ShownSets,
    own: Array,
    labels: pl.Series | list[pl.Series],
    told: dict[str, object],
    trees: dict[str, Hierarchy],
    before: ItemSets,
    started: float,
) -> Anonymized:
    """The result with what occurrences became, the rows that go, and what all that cost."""
    keep, label = shown.keep[own], shown.label[own]
    names, table, rows_left_out = policy.set_columns, made.table, None
    pair = found.person.astype(np.int64) * (int(label.max(initial=0)) + 1) + label
    if policy.separator is None:
        first = np.unique(np.where(keep, pair, -1), return_index=True)[1]
        stays = np.zeros(len(pair), bool)
        stays[first] = True
        stays &= keep
        rows_left_out = np.zeros(table.rows, bool)
        rows_left_out[found.row[~stays]] = True
        texts = [labels.gather(label)] if isinstance(labels, pl.Series) else [one.gather(own) for one in labels]
        columns = {}
        for name, text in zip(names, texts, strict=True):
            cells = pl.Series([None], dtype=pl.String).new_from_index(0, table.rows)
            columns[name] = cells.scatter(found.row, text)
    else:
        assert isinstance(labels, pl.Series)
        columns = {names[0]: _cells(table.rows, found.row[keep], labels.gather(label[keep]), policy.separator)}
    changed = {name: encode(series.alias(name)) for name, series in columns.items()}
    used = {name: set(column.values.to_list()) for name, column in changed.items()}
    if policy.separator is not None:
        used = {names[0]: set(labels.gather(np.unique(label[keep])).to_list())}  # type: ignore[union-attr]
        if policy.separator and any(policy.separator in text for text in used[names[0]]):
            raise InputError("A label of the items' tree holds the separator.", "Use another separator, or label.")
    table = replace(table, columns={**table.columns, **changed})
    rows = {name: kept for name, tree in trees.items() if (kept := released_rows(tree, used[name]))}
    given = given_hierarchies(policy.hierarchies, [name for name in policy.columns if name not in trees])
    types = {name: kind for name, kind in policy.types.items() if name not in names}
    hierarchies = {**{name: rows_of(tree) for name, tree in given.items()}, **rows}
    policy = policy.model_copy(update={"hierarchies": hierarchies, "types": types})
    form = ColumnForm(kind="items", type="text", separator=policy.separator)
    costs = {name: TreatedColumn(form, "truthful", "sets", _cost(name, shown), shown.total) for name in names}
    result = replace(made, table=table, policy=policy, rows_left_out=rows_left_out, treated={**made.treated, **costs})
    _, _, after = _looked_at(result.without_rows_left_out(), policy)
    sets = after.events or after.items
    assert sets is not None
    models = [model for model in policy.models if isinstance(model, AboutSets)]
    verdicts = iter(made.models)
    judged = [model.judge(after) if isinstance(model, AboutSets) else next(verdicts) for model in policy.models]
    most, least = max(model.known for model in models), max(model.persons for model in models)
    out = int((~shown.keep).sum())
    outcome = SetsOutcome(
        names,
        told.pop("tree"),  # type: ignore[arg-type]
        shown.way,
        shown.total,
        len(shown.keep),
        shown.tried().generalized,
        out,
        len(shown.keep) - out - int(sets.lengths.sum()),
        told.pop("tried"),  # type: ignore[arg-type]
        _few_known(before, sets, most, least),
        **told,  # type: ignore[arg-type]
    )
    findings = replace(made.findings, sets=outcome)
    seconds = made.seconds + time.perf_counter() - started
    return replace(result, models=judged, findings=findings, seconds=seconds, verdict=None)  # type: ignore[arg-type]


def _few_known(before: ItemSets, after: ItemSets, most: int, least: int) -> list[KnownFew]:
    """What somebody who knows 1 to `most` items of a person finds, before and after; of up to 10,000 persons."""
    sizes = list(range(1, most + 1))
    alone = [alone_shares(sets, sizes) for sets in (before, after)]
    found = []
    for size in sizes:
        counts = before.supports(size)
        found.append(
            KnownFew(size, int(counts.sum()), int(counts[:least].sum()), alone[0][size - 1], alone[1][size - 1])
        )
    return found


def _cells(rows: int, row: Array, labels: pl.Series, separator: str) -> pl.Series:
    """Each row's items in one cell, each once and in the order of their texts, which says nothing."""
    frame = pl.DataFrame({"row": row, "label": labels}).unique().sort("row", "label")
    joined = frame.group_by("row", maintain_order=True).agg(pl.col("label").str.join(separator))
    cells = pl.Series([None], dtype=pl.String).new_from_index(0, rows)
    return cells.scatter(joined["row"], joined["label"])


def _cost(name: str, shown: ShownSets) -> str:
    tried = shown.tried()
    total = max(len(shown.keep), 1)
    return (
        f"{name}: {percent(tried.generalized / total)} of what persons have is shown as a coarser one, "
        f"{percent(tried.left_out / total)} left out ({shown.way})"
    )


# The tree over items: given, or built from codes that say their groups, or from which items are bought together.


def tree_of_items(column: str, labels: pl.Series, sets: ItemSets, policy: Policy) -> Hierarchy | None:
    """The tree of a column of items; None where there are too many or too few to build one.

    >>> sets = ItemSets.of(np.array([0, 0, 1, 1]), np.array([0, 1, 2, 3]), 2)
    >>> tree = tree_of_items("drug", pl.Series(["A01", "A02", "B01", "B02"]), sets, Policy())
    >>> tree.source, tree.levels[1].to_list()
    ('codes cut from the right', ['A0*', 'A0*', 'B0*', 'B0*'])
    >>> tree_of_items("drug", pl.Series(["p", "q", "r", "s"]), sets, Policy()).levels[1].to_list()
    ['[p, q]', '[p, q]', '[r, s]', '[r, s]']
    """
    given = given_hierarchies(policy.hierarchies, [column]).get(column)
    if given is not None:
        known = given.levels[0]
        return given.with_leaves(labels.filter(~labels.is_in(known.implode())).to_list())
    if len(labels) and labels.str.contains(_CODES).mean() >= 0.9:  # type: ignore[operator]
        return _by_prefix(column, labels)
    if policy.separator and policy.separator in "[, ]":
        return None  # a set would not be told from its items
    return _by_co_occurrence(column, labels, sets) if 3 < len(labels) <= _MOST_ITEMS else None


def _by_prefix(column: str, labels: pl.Series) -> Hierarchy:
    tree = build_hierarchy(encode(labels.alias(column)), "prefix")
    shorter = [tree.levels[0]]
    for number, level in enumerate(tree.levels[1:], 1):
        # masked to the length of each code elsewhere; among items a prefix is a prefix, and of one item the item
        alone = (np.bincount(tree.node_codes(number)) == 1)[tree.node_codes(number)] & (level != "*").to_numpy()
        shorter.append(tree.levels[0].zip_with(pl.Series(alone), level.str.replace(r"\*+$", "*")))
    return Hierarchy(column, tuple(shorter), tree.source)


def _by_co_occurrence(column: str, labels: pl.Series, sets: ItemSets) -> Hierarchy:
    """Items that occur with the same others stand beside each other, and are joined two by two, four by four, …"""
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.sparse import csr_array

    ones = np.ones(len(sets.items))
    persons = csr_array((ones, (sets.owner, sets.code[sets.items])), (sets.persons, len(labels)))
    together = (persons.T @ persons).toarray()
    near = together / np.maximum(np.sqrt((together**2).sum(axis=1, keepdims=True)), 1e-12)
    order = leaves_list(linkage(near, "average"))
    place = np.empty(len(labels), np.int64)
    place[order] = np.arange(len(labels))

    def step(size: int) -> tuple[Array, pl.Series]:
        group = place // size
        texts = labels.to_list()
        names = [sorted(texts[one] for one in order[first : first + size]) for first in range(0, len(order), size)]
        written = [set_labels(pl.Series(own)).to_list() for own in names]
        return group, pl.Series([own[0] if len(own) == 1 else "[" + ", ".join(own) + "]" for own in written])

    sizes = [2**power for power in range(1, 4) if 2**power <= _LARGEST_SET]
    return stacked(column, labels, map(step, sizes), "items that occur together")


def released_rows(tree: Hierarchy, shown: set[str]) -> list[list[str]]:
    """The rows of a tree below nodes that are shown: what a reader needs to know what they hold."""
    needed = np.zeros(tree.leaves, bool)
    for level in range(1, tree.height - 1):
        labels = tree.levels[level]
        needed |= (labels.is_in(list(shown)) & (labels != tree.levels[0])).to_numpy()
    rows = zip(*(level.filter(pl.Series(needed)).to_list() for level in tree.levels), strict=True)
    return [list(row) for row in rows]
