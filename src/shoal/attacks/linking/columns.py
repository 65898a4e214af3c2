"""One column: which values of the targets each released cell holds, or how far they are from it.

The distinct values of the targets, in their order, are *atoms*. A released cell holds a run of atoms, or several (a
set of categories). Cells that were replaced by a mean or changed at random hold nothing: there a distance counts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import polars as pl

from shoal.errors import InputError
from shoal.releases.readable import Readable
from shoal.storage import Array, Column
from shoal.storage.classes import class_of_each_row, first_row_of_each_class, pack
from shoal.utility.cost import in_days
from shoal.utility.decoding import Ends, Members
from shoal.vocabulary import NullRule

NEAREST = ("mean", "midpoint", "perturbed")
UNLINKABLE = ("pseudonym", "shifted", "removed")
_PREFIX = r"^([0-9A-Za-z]+)\*+$"
# of masks, a byte each
_MOST_MASKS = 400_000_000


@dataclass(frozen=True)
class ReleasedCells:
    """A released column beside the same column of the targets.

    Row r has the cell `codes[r]`. `fit`: cell c holds the atoms low[c] .. high[c] (none where low > high), but where
    `mask_of[c]` is not -1 only those of its mask. `near`, `same`: low[c] is where the cell lies, `places[a]` where
    atom a does; the distance is their difference in units of the column's spread, or whether they differ.
    """

    name: str
    kind: Literal["fit", "near", "same"]
    codes: Array
    low: Array
    high: Array
    atoms: int
    mask_of: Array | None = None
    masks: Array | None = None
    places: Array | None = None
    star: Array | None = None  # which cells are `*`

    @property
    def cardinality(self) -> int:
        return len(self.low)

    def holds(self, rows: Array, atoms: Array) -> Array:
        """Whether the cells of these released rows hold these atoms, pair by pair."""
        code = self.codes[rows]
        inside = (self.low[code] <= atoms) & (atoms <= self.high[code])
        if self.mask_of is None or self.masks is None:
            return np.asarray(inside)
        mask = self.mask_of[code]
        return np.asarray(np.where(mask >= 0, self.masks[mask, atoms] > 0, inside))


def cells_of(released: Readable, name: str, target: Column, rule: NullRule) -> ReleasedCells:
    """A released column beside the targets' one; a missing value is a value of its own, or under `wildcard` any.

    >>> from shoal.storage.reading import read
    >>> from shoal.releases.readable import readable
    >>> cells = cells_of(readable({"age": ["[20;29]", "31", "*"]}), "age", read({"age": [19, 25, 31]})["age"], "value")
    >>> cells.low[cells.codes].tolist(), cells.high[cells.codes].tolist()
    ([1, 2, 0], [1, 2, 2])
    """
    if name in released.pairs:
        return _of_pair(released, name, target, rule)
    column, form = released.table[name], released.forms.get(name)
    if form is not None and form.kind in NEAREST:
        return _nearest(column, target)
    raw = form is not None and form.kind in ("as-it-was", "recoded")
    if raw or column.values.dtype != pl.String:
        found = _equal(column, target)
    else:
        meaning = released.meaning(name)
        if isinstance(meaning, Ends):
            found = _between(name, column.codes, meaning.low, meaning.high, meaning.star, target, meaning.day)
        else:
            named = form is not None and form.kind in ("node", "label") and released.tree(name) is None
            found = _among(column, meaning, target, named)
    return _with_nulls(found, column.nulls > 0, len(column.values), target, rule)


def _equal(column: Column, target: Column) -> ReleasedCells:
    """Cells that are values: each holds the atom that equals it."""
    texts = column.values.dtype == pl.String or target.values.dtype == pl.String
    as_text = texts or column.values.dtype.is_temporal() != target.values.dtype.is_temporal()
    ours, theirs = (one.values.cast(pl.String) if as_text else one.values for one in (column, target))
    if not as_text and ours.dtype != theirs.dtype:
        ours, theirs = (one.to_physical().cast(pl.Float64) for one in (ours, theirs))
    atoms = pl.DataFrame({"value": theirs, "atom": np.arange(len(theirs))})
    place = pl.DataFrame({"value": ours}).join(atoms, on="value", how="left", maintain_order="left")["atom"]
    low = place.fill_null(1).to_numpy().astype(np.int64)
    high = place.fill_null(0).to_numpy().astype(np.int64)
    return ReleasedCells(column.name, "fit", column.codes, low, high, len(theirs))


def _between(
    name: str, codes: Array, low: Array, high: Array, star: Array, target: Column, day: bool | None = None
) -> ReleasedCells:
    """Cells that are ranges of numbers or dates."""
    values = as_places(target)
    values = _digits(target) if values is None and not day else values
    if (star | np.isnan(low)).all():  # nothing is said
        values, low, high = np.arange(len(target.values)), np.zeros(len(low)), np.zeros(len(low))
    elif values is None or (day is not None and day != target.values.dtype.is_temporal()):
        said = "dates" if day else "numbers"
        raise InputError(
            f"Column '{name}' is released as ranges of {said}, and the targets' column '{target.name}' is not.",
            f"Write it as {said} in the targets' file too.",
        )
    known = ~np.isnan(low)
    first = np.searchsorted(values, np.where(known, low, np.inf), side="left")
    last = np.searchsorted(values, np.where(known, high, -np.inf), side="right") - 1
    first, last = np.where(star, 0, first), np.where(star, len(values) - 1, last)
    return ReleasedCells(name, "fit", codes, first, last, len(values), star=star)


def as_places(column: Column) -> Array | None:
    """The distinct values of a column as numbers, dates as days; None where they are texts."""
    values = column.values
    if values.dtype.is_temporal():
        return in_days(values.to_physical().cast(pl.Float64).to_numpy(), values.dtype)
    if values.dtype.is_numeric() or values.dtype == pl.Boolean:
        return values.cast(pl.Float64).to_numpy()
    return None


def _digits(column: Column) -> Array | None:
    """Texts of digits, all equally long, as the numbers that they write: their order is the same."""
    values = column.values
    if (
        values.dtype != pl.String
        or not values.str.contains(r"^[0-9]{1,15}$").all()
        or values.str.len_chars().n_unique() > 1
    ):
        return None
    return values.cast(pl.Float64).to_numpy()


def _among(column: Column, meaning: Members, target: Column, named: bool) -> ReleasedCells:
    """Cells that are categories, sets of them, nodes of a tree or prefixes; `named`: nobody explains the nodes."""
    texts = target.values.cast(pl.String)
    atom = dict(zip(texts.to_list(), range(len(texts)), strict=True))
    place = np.array([atom.get(label, -1) for label in meaning.labels], np.int64)
    member = place[meaning.members] if len(meaning.members) else np.zeros(0, np.int64)
    code = meaning.codes[member >= 0].astype(np.int64)
    order = np.lexsort((member[member >= 0], code))
    code, member = code[order], member[member >= 0][order]
    low, high = np.ones(len(column.values), np.int64), np.zeros(len(column.values), np.int64)
    starts = np.flatnonzero(np.diff(code, prepend=-1))
    ends = np.append(starts[1:], len(code))[: len(starts)] - 1
    low[code[starts]], high[code[starts]] = member[starts], member[ends]
    holes = high - low + 1 != np.bincount(code, minlength=len(low))[: len(low)]
    holes &= high >= low
    star = meaning.star[: len(low)].copy()
    _read_prefixes(column, texts, low, high, holes)
    if named:
        star |= (high < low) & ~_seems_a_value(column)  # a name that nobody explains may be anything
    low[star], high[star] = 0, len(texts) - 1
    mask_of, masks = _masks(np.flatnonzero(holes & ~star), code, member, len(low), len(texts), column.name)
    return ReleasedCells(column.name, "fit", column.codes, low, high, len(texts), mask_of, masks, star=star)


def _read_prefixes(column: Column, texts: pl.Series, low: Array, high: Array, holes: Array) -> None:
    """`937**` holds the texts that start so: in their order they are one run."""
    stems = column.values.str.extract(_PREFIX, 1)
    there = np.flatnonzero(stems.is_not_null().to_numpy() & (high < low))
    if not len(there):
        return
    ordered = texts.to_numpy().astype(str)
    found = stems.gather(there).to_numpy().astype(str)
    low[there] = np.searchsorted(ordered, found, side="left")
    high[there] = np.searchsorted(ordered, np.char.add(found, "\U0010ffff"), side="right") - 1
    holes[there] = False


def _seems_a_value(column: Column) -> Array:
    """Which cells are written as values are: a raw text that looks released has a backslash before it."""
    return column.values.str.starts_with("\\").fill_null(False).to_numpy()


def _masks(
    codes: Array, code: Array, member: Array, cells: int, atoms: int, name: str
) -> tuple[Array | None, Array | None]:
    if not len(codes):
        return None, None
    if len(codes) * atoms > _MOST_MASKS:
        raise InputError(
            f"Column '{name}' has {len(codes):,} sets over {atoms:,} values: too many to link.",
            "Leave it out of the columns that are known.",
        )
    mask_of = np.full(cells, -1, np.int32)
    mask_of[codes] = np.arange(len(codes))
    masks = np.zeros((len(codes), atoms), np.uint8)
    own = mask_of[code] >= 0
    masks[mask_of[code[own]], member[own]] = 1
    return mask_of, masks


def _with_nulls(cells: ReleasedCells, nulls: bool, values: int, target: Column, rule: NullRule) -> ReleasedCells:
    """A missing value of the targets is one more atom, which `*` holds too; a missing cell holds it, or all."""
    low, high, mask_of, masks = cells.low[:values], cells.high[:values], cells.mask_of, cells.masks
    atoms = cells.atoms + (target.nulls > 0)
    if target.nulls and cells.star is not None:
        high = np.where(cells.star[:values], atoms - 1, high)
    if nulls:
        nobody = rule != "wildcard" and not target.nulls
        low = np.append(low, 0 if rule == "wildcard" else atoms - 1)
        high = np.append(high, -1 if nobody else atoms - 1)
        mask_of = None if mask_of is None else np.append(mask_of[:values], -1).astype(np.int32)
    if masks is not None and target.nulls:
        masks = np.column_stack([masks, np.zeros(len(masks), np.uint8)])
    return replace(cells, low=low, high=high, atoms=atoms, mask_of=mask_of, masks=masks)


def _of_pair(released: Readable, name: str, target: Column, rule: NullRule) -> ReleasedCells:
    """Two columns that are the ends of one range."""
    first, last = (released.table[end] for end in released.pairs[name])
    codes, count = class_of_each_row(pack([first, last]))
    row = first_row_of_each_class(codes, count)
    low, high = (released.meaning(end) for end in released.pairs[name])
    if not isinstance(low, Ends) or not isinstance(high, Ends):
        raise InputError(f"The ends of column '{name}' are not numbers or dates.", "Take the file that was released.")
    ends = low.low[first.codes[row]], high.high[last.codes[row]]
    missing = np.isnan(ends[0])
    found = _between(name, codes, *ends, np.zeros(count, bool), target, low.day)
    top = found.atoms + (target.nulls > 0) - 1
    if rule == "wildcard" or target.nulls:
        found.low[missing], found.high[missing] = 0 if rule == "wildcard" else top, top
    return replace(found, atoms=top + 1)


def _nearest(column: Column, target: Column) -> ReleasedCells:
    """Cells that were replaced by a mean or changed at random: how far a value lies from them."""
    places, theirs = as_places(column), as_places(target)
    if places is None or theirs is None:
        labels = pl.concat([column.values.cast(pl.String), target.values.cast(pl.String)])
        known = labels.unique().sort()
        ours = known.search_sorted(column.values.cast(pl.String)).to_numpy().astype(np.float64)
        there = known.search_sorted(target.values.cast(pl.String)).to_numpy().astype(np.float64)
        return _distant(column, target, "same", ours, there, 1.0)
    counts = np.bincount(column.codes, minlength=column.cardinality)[: len(places)]
    mean = np.average(places, weights=counts) if counts.sum() else 0.0
    spread = float(np.sqrt(np.average((places - mean) ** 2, weights=counts))) if counts.sum() else 0.0
    return _distant(column, target, "near", places, theirs, spread or 1.0)


def _distant(
    column: Column, target: Column, kind: Literal["near", "same"], places: Array, theirs: Array, unit: float
) -> ReleasedCells:
    """A missing value lies far from all others, and on each other one."""
    far = 1e6
    if column.nulls:
        places = np.append(places, far * unit)
    if target.nulls:
        theirs = np.append(theirs, far * unit)
    at = places / unit
    return ReleasedCells(column.name, kind, column.codes, at, at, len(theirs), places=theirs / unit)
