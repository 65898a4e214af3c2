"""Build a hierarchy for a column that has none: by its type, by what kind of data it holds, or as asked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import get_args

import numpy as np
import polars as pl

from shoal.errors import InputError, check_at_least, check_choice
from shoal.hierarchy.categories import category_steps
from shoal.hierarchy.dates import date_steps
from shoal.hierarchy.numbers import check_numbers, frequency_steps, interval_steps
from shoal.hierarchy.prefixes import prefix_steps, shape_of
from shoal.hierarchy.shipped import is_shipped, place, recognised
from shoal.hierarchy.steps import Step, leaf_texts, stacked
from shoal.hierarchy.tree import Hierarchy
from shoal.kinds.roles import NUMBERED
from shoal.ranges.boxed import check_finite
from shoal.ranges.parsing import STAR
from shoal.table import Column
from shoal.vocabulary import HierarchyKind

_WORDS = {
    "equal-width": "intervals of equal width",
    "powers": "intervals of growing powers",
    "equal-frequency": "intervals of equal frequency",
    "dates": "day, month, quarter, year, decade",
    "prefix": "codes cut from the right",
    "categories": "categories, the rarest joined",
    "boolean": "yes or no",
}
# more than this share of the records in one interval of equal width: intervals of equal frequency tell more
_TOO_FULL = 0.5
# more categories than this are quartered from level to level, not halved
_MANY_CATEGORIES = 16
# fewer texts of one shape may be alike by chance
_CODES_THAT_TELL = 10


def build_hierarchy(
    column: Column,
    kind: HierarchyKind = "auto",
    *,
    width: float | None = None,
    factor: int | None = None,
    groups: int | None = None,
    cut: int | None = None,
) -> Hierarchy:
    """A hierarchy over the distinct values of a column; `source` says how it was built, and why.

    `width`: of the finest intervals. `factor`: how many neighbours each further level joins (2; 10 for powers).
    `groups`: how many intervals of equal frequency at first. `cut`: signs of a code that each level masks.

    >>> from shoal.reading import read
    >>> built = build_hierarchy(read({"age": [17, 18, 23, 31]})["age"])
    >>> built.source, [built.labels(level)[0] for level in range(built.height)]
    ('intervals of equal width', ['17', '[15;19]', '*'])
    """
    tree = _built(column, kind, width, factor, groups, cut)
    if column.declared is None:
        return tree
    # labels as they are read again: 370.00 is 370
    levels = tuple(column.declared.unspell(column.declared.spell(level)) for level in tree.levels)
    return Hierarchy(tree.column, levels, tree.source, in_values=True)


def _built(
    column: Column, kind: HierarchyKind, width: float | None, factor: int | None, groups: int | None, cut: int | None
) -> Hierarchy:
    check_choice("kind", kind, get_args(HierarchyKind))
    _check_options(kind, width, factor, groups, cut)
    if kind in ("auto", "equal-width", "powers", "equal-frequency"):
        check_finite(column)
    leaves, reason = leaf_texts(column), ""
    if kind == "auto":
        kind, reason = _choose(column, width, groups, cut)
    if is_shipped(kind):
        placed = place(column, kind)
        return stacked(column.name, leaves, placed.steps(), placed.words())
    steps: Iterable[Step] = ()
    if kind in ("equal-width", "powers"):
        check_numbers(column)
        step = factor or (10 if kind == "powers" else 2)
        steps = interval_steps(column.values, step if kind == "powers" and width is None else width, step)
    elif kind == "equal-frequency":
        if column.values.dtype == pl.String:
            raise InputError(
                f"Column '{column.name}' holds text, which has no order of values.",
                "Use kind categories.",
                settings="kind",
            )
        steps = frequency_steps(column, groups, factor or 2)
    elif kind == "dates":
        steps = date_steps(column)
    elif kind == "prefix":
        steps = prefix_steps(column, cut or 1)
    elif kind == "categories":
        steps = category_steps(column, factor or (2 if len(column.values) <= _MANY_CATEGORIES else 4))
    # [0;79] and [80;159] tell little more of an age than `*`
    least = 3 if kind == "equal-width" else 2
    return stacked(column.name, leaves, steps, _WORDS[kind] + reason, least)


def kind_of(column: Column) -> HierarchyKind:
    """The kind of hierarchy that is built for a column where none is named.

    >>> from shoal.reading import read
    >>> kind_of(read({"land": ["FR", "IT", "DE"]})["land"])
    'countries'
    """
    return _choose(column, None, None, None)[0]


def _check_options(
    kind: HierarchyKind, width: float | None, factor: int | None, groups: int | None, cut: int | None
) -> None:
    """Refuse an option that would change nothing, and numbers that make no sense."""
    given = {"width": width, "factor": factor, "groups": groups, "cut": cut}
    takes = {
        "auto": {"width", "factor", "groups", "cut"},
        "equal-width": {"width", "factor"},
        "powers": {"width", "factor"},
        "equal-frequency": {"groups", "factor"},
        "prefix": {"cut"},
        "categories": {"factor"},
    }.get(kind, set())
    for name, value in given.items():
        if value is not None and name not in takes:
            raise InputError(f"A hierarchy of kind {kind} takes no {name}.", "Leave it out, or name another kind.")
    if width is not None and not 0 < width < float("inf"):
        raise InputError(f"A width of {width} makes no intervals.", "Use a number above 0.")
    for name, least in (("factor", 2), ("groups", 2), ("cut", 1)):
        if (value := given[name]) is not None:
            check_at_least(least, int(value), f"The {name}")


def _choose(column: Column, width: float | None, groups: int | None, cut: int | None) -> tuple[HierarchyKind, str]:
    """The kind for a column, and why if its type alone does not say it; an option decides."""
    dtype = column.values.dtype
    if dtype == pl.Boolean or dtype == pl.Null:
        return "boolean", ""
    if width is not None:
        return "equal-width", ""
    if groups is not None:
        return "equal-frequency", ""
    if cut is not None:
        return "prefix", ""
    if isinstance(dtype, (pl.Date, pl.Datetime)):
        return "dates", ""
    if dtype.is_temporal():
        return "equal-frequency", ""
    return _by_content(column)


def _by_content(column: Column) -> tuple[HierarchyKind, str]:
    """The kind for numbers and text, by what they are declared as, else by what detection says of them."""
    if column.declared is not None and (said := _by_type(column, column.declared.word)) is not None:
        return said
    if (listed := recognised(column)) is not None:
        return listed.kind, ""
    kind, rule = _detected(column)
    values = column.values
    if rule.startswith("icd"):
        return ("icd-10", "") if place(column, "icd-10").known == 1 else ("prefix", ", for it looks like ICD codes")
    if kind == "postal-code":
        return "prefix", ", for it looks like postal codes"
    if values.dtype.is_numeric():
        if kind in NUMBERED:
            return "categories", f", for its numbers stand for {kind}"
        return ("equal-frequency", ", for most records lie close together") if _skewed(column) else ("equal-width", "")
    if len(values) >= _CODES_THAT_TELL and shape_of(values).n_unique() == 1:
        codes = values.str.contains(r"^[\p{Lu}0-9][\p{Lu}0-9./-]{2,}$") & values.str.contains("[0-9]")
        if codes.all():
            return "prefix", ", for it looks like codes"
    return "categories", ""


def _by_type(column: Column, word: str) -> tuple[HierarchyKind, str] | None:
    """The kind for a declared type; None where lists that ship may know the categories."""
    if word in ("ordered", "band"):
        return "equal-width", ", places in its order"
    if word == "number":
        return ("equal-frequency", ", for most records lie close together") if _skewed(column) else ("equal-width", "")
    if word == "code":
        return "prefix", ", declared as codes"
    if word in ("boolean", "text"):
        return "boolean", ""
    return None if recognised(column) is not None else ("categories", ", declared as nominal")


def _detected(column: Column) -> tuple[str, str]:
    """The kind of data and the rule that found it, where detection decided; codes that cannot be cut are none."""
    from shoal.kinds import DECIDED, ColumnView, find_kinds

    count, values = len(column.values), column.values
    masked = values.dtype == pl.String and values.str.contains(STAR, literal=True).any()
    if count == 0 or masked or values.dtype.is_float() or (values.dtype.is_integer() and bool((values < 0).any())):
        return "", ""
    records = column.frequencies()
    found = find_kinds(ColumnView(column.name, values, records, int(records.sum()) + column.nulls))
    return (found[0].kind, found[0].rule) if found and found[0].confidence >= DECIDED else ("", "")


def _skewed(column: Column) -> bool:
    """Whether equal width would put most records into one interval, and equal frequency fewer."""

    def fullest(steps: Iterable[Step]) -> float:
        codes, labels = next(iter(steps), (np.zeros(count, np.int64), pl.Series(["*"])))
        return float(np.bincount(codes, records, len(labels)).max(initial=0) / max(records.sum(), 1))

    count = len(column.values)
    records = column.frequencies()
    wide = fullest(interval_steps(column.values, None, 2))
    return wide > _TOO_FULL and count > 2 and fullest(frequency_steps(column, None, 2)) < wide
