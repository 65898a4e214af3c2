"""Labels that say a range, a number or a prefix that does not hold a leaf below them: a release by them would be false.

ARX's published age tree for Adult has `20` under `15-19`. Such a tree is refused, unless it is declared that its labels
are mere names of nodes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction

import numpy as np
import polars as pl

from shoal.errors import Message, ShoalError
from shoal.ranges.hierarchy.tree import Hierarchy
from shoal.ranges.parsing import STAR, ends_of
from shoal.storage import Array, Column

# leaves that a message names
_NAMED = 8
# whole numbers below are exact as floats
_EXACT = 2.0**53
_MASK = r"^([^*\s]+)(\*+)$"


class UntrueLabels(ShoalError):
    """Hierarchies with labels that do not hold their leaves; the leaves stand in the user's own file."""

    exit_code = 1

    def __init__(self, trees: Mapping[str, Hierarchy]) -> None:
        self.rows = {name: (np.flatnonzero(leaves_outside(tree)) + 1).tolist() for name, tree in trees.items()}
        self.what = Message(
            "{}\nFix the file with `shoal hierarchy check --fix`, or declare with "
            "`{labels_are_names}` that labels only name nodes, whatever range they seem to say.",
            " ".join(_in_words(tree, self.rows[name]) for name, tree in trees.items()),
        )
        super().__init__(Message("Refused, nothing was written. {}", self.what))


def check_labels(trees: Mapping[str, Hierarchy]) -> None:
    """Refuse trees with a label that does not hold a leaf of its own.

    >>> tree = Hierarchy("age", tuple(map(pl.Series, (["19", "20"], ["15-19", "15-19"], ["*", "*"]))))
    >>> check_labels({"age": tree})
    Traceback (most recent call last):
    shoal.ranges.hierarchy.outside.UntrueLabels: Refused, nothing was written. The hierarchy of 'age' puts 1 leaf ...
    """
    untrue = {name: tree for name, tree in trees.items() if tree.source == "given" and leaves_outside(tree).any()}
    if untrue:
        raise UntrueLabels(untrue)


def _in_words(tree: Hierarchy, rows: list[int]) -> str:
    named = ", ".join(f"{tree.levels[0][row - 1]} (row {row})" for row in rows[:_NAMED])
    more = f" and {len(rows) - _NAMED:,} more" if len(rows) > _NAMED else ""
    what = "1 leaf under a label that does not hold it" if len(rows) == 1 else f"{len(rows):,} leaves under labels"
    what += "" if len(rows) == 1 else " that do not hold them"
    return f"The hierarchy of '{tree.column}' puts {what}: {named}{more}."


def leaves_outside(hierarchy: Hierarchy) -> Array:
    """Which leaves lie outside a label of theirs that reads as a range: `20` under `15-19` is not the truth.

    >>> leaves_outside(Hierarchy("age", tuple(map(pl.Series, (["19", "20"], ["15-19", "15-19"], ["*", "*"]))))).tolist()
    [False, True]
    """
    outside = np.zeros(hierarchy.leaves, bool)
    for level in hierarchy.levels[1:-1]:
        outside |= ~held(hierarchy.levels[0], level)
    return outside


def held(leaves: pl.Series, labels: pl.Series, codes: bool = False) -> Array:
    """For each pair of a leaf and a label: whether the label, where it says a range at all, holds the leaf.

    A label that is a number and the beginning of its leaf is a prefix, as `937` of `93701`; of `codes` of several
    lengths so is `937*`, whatever follows it.

    >>> held(pl.Series(["20", "93701", "9372", "x"]), pl.Series(["[15;19]", "937", "938*", "17-19"])).tolist()
    [False, True, False, True]
    >>> held(pl.Series(["93701", "93701-2210"]), pl.Series(["93*", "93*"]), codes=True).tolist()
    [True, True]
    """
    value, same = _ends(leaves)
    low, high = _ends(labels)
    with np.errstate(invalid="ignore"):
        outside = (value == same) & ((value < low) | (value > high))
    large = (np.abs(value) >= _EXACT) & (value == same) & ~np.isnan(low)
    for place in np.flatnonzero(large).tolist():  # few, and floats would not tell them apart
        outside[place] = not _holds_exactly(labels[place], leaves[place])
    outside &= ~_begins(leaves, labels, r"^[0-9]+\*?$" if codes else r"^[0-9]+$")
    return np.asarray(~outside & ~_masked_otherwise(leaves, labels) & ~_said_otherwise(leaves, labels, value == same))


# other ways in which people write ranges: what is before a low end, between the ends, behind a high end
_NUMBER = r"[+-]?[0-9]+(?:\.[0-9]+)?"
_BETWEEN = re.compile(
    rf"\s*(?P<open>[\[(\]])?\s*({_NUMBER})\s*(?:–|—|to|\.\.+|,|;|-)\s*({_NUMBER})\s*(?P<close>[\])\[])?\s*"
)
_FROM = re.compile(
    rf"\s*(?P<sign>>=?|≥|from|over|above)\s*({_NUMBER})\s*|\s*({_NUMBER})\s*(?:\+|and (?:over|more|older))\s*"
)
_UNTIL = re.compile(rf"\s*(?P<sign><=?|≤|under|below|up to)\s*({_NUMBER})\s*")


def _said_otherwise(leaves: pl.Series, labels: pl.Series, numbers: Array) -> Array:
    """Where a label says a range or a set in another way of writing, and the number below it is not in it."""
    found = np.zeros(len(leaves), bool)
    holds: dict[str, Callable[[Fraction], bool] | None] = {}
    for place in np.flatnonzero(numbers).tolist():  # leaves of a hierarchy, not rows
        label = labels[place]
        if label not in holds:
            holds[label] = said_by(label)
        test = holds[label]
        try:
            found[place] = test is not None and not test(Fraction(leaves[place].strip()))
        except (ValueError, ZeroDivisionError):
            continue
    return found


def said_by(label: str) -> Callable[[Fraction], bool] | None:
    """Which numbers a label says to hold: a range or a set as people write them; None where it says neither.

    >>> [said_by(label)(Fraction(25)) for label in ("25–29", "under 25", ">=25", "[20;25[", "{24, 25}")]
    [True, False, True, False, True]
    """
    text = label.strip()
    members = [member.strip() for member in text[1:-1].split(",")]
    if text[:1] + text[-1:] in ("{}", "[]") and (len(members) > 2 or text[0] == "{"):
        try:
            values = {Fraction(member) for member in members}
        except (ValueError, ZeroDivisionError):
            return None
        return lambda value: value in values
    if between := _BETWEEN.fullmatch(label):
        low, high = Fraction(between[2]), Fraction(between[3])
        above, below = between["open"] in ("(", "]"), between["close"] in (")", "[")
        return lambda value: low <= value <= high and not (above and value == low) and not (below and value == high)
    if (start := _FROM.fullmatch(label)) is not None:
        least, without = Fraction(start[2] or start[3]), start["sign"] in (">", "over", "above")
        return lambda value: value >= least and not (without and value == least)
    if (end := _UNTIL.fullmatch(label)) is not None:
        most, with_it = Fraction(end[2]), end["sign"] in ("<=", "≤", "up to")
        return lambda value: value <= most and (with_it or value != most)
    return None


def _begins(leaves: pl.Series, labels: pl.Series, prefix: str) -> Array:
    both = pl.DataFrame({"leaf": leaves, "label": labels, "stem": labels.str.strip_chars_end(STAR)})
    found = both.select(pl.col("leaf").str.starts_with(pl.col("stem")) & pl.col("label").str.contains(prefix))
    return found.to_series().to_numpy()


def _masked_otherwise(leaves: pl.Series, labels: pl.Series) -> Array:
    """Where a label masks the end of codes as long as the leaf, and the leaf begins otherwise."""
    both = pl.DataFrame({"leaf": leaves, "label": labels, "stem": labels.str.extract(_MASK, 1)})
    same_length = pl.col("leaf").str.len_chars() == pl.col("label").str.len_chars()
    found = both.select((same_length & ~pl.col("leaf").str.starts_with(pl.col("stem"))).fill_null(False))
    return found.to_series().to_numpy()


def _holds_exactly(label: str, leaf: str) -> bool:
    texts = label.strip("[]").split(";") if ";" in label else label.strip("[]").split("-")
    try:
        ends = [Fraction(text.strip()) for text in (texts if len(texts) == 2 else [label])]
        return ends[0] <= Fraction(leaf.strip()) <= ends[-1]
    except (ValueError, ZeroDivisionError):
        return True


def _ends(labels: pl.Series) -> tuple[Array, Array]:
    """Each label's ends as numbers, not a number where it has none."""
    known = labels.unique(maintain_order=True)
    low, high = ends_of(Column("", np.zeros(0, np.uint8), known, 0, known.dtype))
    places = labels.cast(pl.Enum(known)).to_physical().to_numpy() if len(known) else np.zeros(0, np.int64)
    return low[places], high[places]
