"""Which released column is which column of another file."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from shoal.attacks.linking.columns import NEAREST, UNLINKABLE, cells_of
from shoal.errors import InputError, Message
from shoal.releases.readable import Readable
from shoal.storage import Array, Column, Table
from shoal.storage.writing import check_apart, check_target, failure, write_bytes
from shoal.utility.decoding import Ends
from shoal.wording import in_words

On = Mapping[str, str] | Sequence[str] | str | None


def released_columns(released: Readable) -> list[str]:
    """The columns of a release by the names that they had in the original, those that tell something of it."""
    ends = {end for pair in released.pairs.values() for end in pair}
    names = [*released.pairs, *(name for name in released.table.names if name not in ends)]
    kinds = {name: released.forms[name].kind if name in released.forms else "as-it-was" for name in names}
    return [name for name in names if kinds[name] not in UNLINKABLE]


def columns_in_common(released: Readable, other: Table, on: On = None) -> dict[str, str]:
    """The columns to link on: each released one with its name in the other file.

    `on` names them, `age=age_yrs` where the names differ: the other file's name first, then the release's, or the
    other way round where only that is possible. Without it all names that both have.

    >>> from shoal.storage.reading import read
    >>> from shoal.releases.readable import readable
    >>> columns_in_common(readable({"age_yrs": [1]}), read({"age": [1]}), "age=age_yrs")
    {'age_yrs': 'age'}
    """
    ours, theirs = released_columns(released), list(other.names)
    if on is None:
        found = {name: name for name in ours if name in theirs}
        if not found:
            raise InputError(
                "The release and the other file have no column in common.",
                "Say which belong together, such as age=age_yrs.",
            )
        return found
    return dict(_pair(left.strip(), right.strip(), ours, theirs) for left, right in _pairs(on))


def _pairs(on: Mapping[str, str] | Sequence[str] | str) -> Iterable[tuple[str, str]]:
    if isinstance(on, Mapping):
        return list(on.items())
    names = on.split(",") if isinstance(on, str) else list(on)
    if not names:
        raise InputError("No column to link on is named.", Message("Name one, or leave the setting `{on}` out."))
    parts = [name.partition("=") for name in names]
    return [(left, right if equals else left) for left, equals, right in parts]


def _pair(left: str, right: str, ours: list[str], theirs: list[str]) -> tuple[str, str]:
    if left in theirs and right in ours:
        return right, left
    if left in ours and right in theirs:
        return left, right
    for name in dict.fromkeys((left, right)):
        if name not in ours and name not in theirs:
            raise InputError(
                f"Neither file has a column '{name}'.",
                f"The release has {in_words(ours)}; the other file has {in_words(theirs)}.",
            )
    where = "the other file" if left in ours and right in ours else "the release"
    raise InputError(
        f"Columns '{left}' and '{right}' are not one of each file.", f"Name the column that {where} has: NAME=OTHER."
    )


# Whether a column of a release and that of another file are written the same way, and if not, what differs.


# what two spellings of a text may differ in, and the pattern without which they are alike
_RESPELLINGS = {
    "upper and lower case": r"^$",
    "blanks around the values": r"^\s+|\s+$",
    "leading zeros": r"^0+",
    "punctuation": r"[^\p{L}\p{N}]",
}


def check_writing(released: Readable, people: Table, columns: Mapping[str, str]) -> None:
    """Refuse columns that are written so differently that nobody can fit, with the likely reason."""
    for name, theirs in columns.items():
        if not _may_fit(released, name, people[theirs]):
            cure = differ_in_writing(released.table[name], people[theirs])
            if released.table[name].values.dtype == pl.String and name not in released.forms:
                cure = Message("{} Texts such as 50-55 or 61XXX are ranges under {generalized='yes'}.", cure)
            raise InputError(f"No value of column '{theirs}' fits column '{name}' of the release.", cure)


def check_texts(released: Readable, people: Table, names: Iterable[str], where: str) -> None:
    """The same for columns that both call by one name, as far as they are texts: numbers of others may all differ."""
    there = released_columns(released)
    for name in names:
        if name not in there or name in released.pairs or name not in people.columns:
            continue
        column, theirs = released.table[name], people[name]
        if pl.String in (column.values.dtype, theirs.values.dtype) and not _may_fit(released, name, theirs):
            raise InputError(
                f"No value of column '{name}' of {where} fits the release.", differ_in_writing(column, theirs)
            )


def _may_fit(released: Readable, name: str, column: Column) -> bool:
    """Whether some value lies in a cell other than `*`, which holds anything; or nothing can be said of it."""
    form = released.forms.get(name)
    if name in released.pairs or (form is not None and form.kind in NEAREST):
        return True
    raw = form is not None and form.kind in ("as-it-was", "recoded")
    shown = released.table[name]
    if form is not None and not raw and isinstance(released.meaning(name), Ends):
        cells_of(released, name, column, "value")  # refuses texts beside ranges of numbers
        return True
    if not len(shown.values) or not len(column.values):
        return True
    cells = cells_of(released, name, column, "value")
    said = np.ones(len(shown.values), bool) if cells.star is None else ~cells.star[: len(shown.values)]
    fits = cells.low[: len(said)] <= cells.high[: len(said)]
    return bool(fits[said].any()) or not said.any()


def differ_in_writing(released: Column, other: Column) -> str:
    """Why no value of one column may fit the other, as far as their types and writing tell."""
    ours, theirs = released.values.dtype, other.values.dtype
    if (ours == pl.String) != (theirs == pl.String):
        text, number = ("the release", "the other file") if ours == pl.String else ("the other file", "the release")
        return f"It is text in {text} and not in {number}: write it the same way, leading zeros included."
    if ours == pl.String:
        for cure, pattern in _RESPELLINGS.items():
            ours_folded, folded = (
                one.values.str.to_lowercase().str.replace_all(pattern, "") for one in (released, other)
            )
            if ours_folded.is_in(folded.implode()).any():
                return f"They differ in {cure}: write them the same way."
        return "Use the same codes in both files."
    if ours.is_temporal() != theirs.is_temporal():
        return "It is a date in one file and a number in the other: write it the same way."
    return "Are both in the same unit?"


# Which rows were hit, for the owner of the data: row numbers only, in a file that nobody else may read.


_ENDINGS = (".csv", ".txt")


def check_rows_out(path: str | Path | None, force: bool, **sources: Any) -> None:
    """Refuse a file for row numbers before any work is done: one that exists, or that is an input."""
    if path is not None:
        check_apart(output=path, **sources)
        check_target(Path(path), force, _ENDINGS)


def write_rows(path: str | Path | None, rows: Array) -> None:
    """Row numbers, counted from 0, one per line, mode 0600; nothing where no file is named."""
    if path is None:
        return
    text = "row\n" + "".join(f"{row}\n" for row in rows.tolist())
    try:
        write_bytes(Path(path), text.encode(), 0o600)
    except OSError as error:
        raise InputError(f"{path} could not be written: {failure(error)}.", "Nothing was written.") from None


# How sure a rate is, and how far it lies above that of people who are not in the data.


# two-sided 95% of a normal distribution
_Z = 1.959963984540054
_SMALLEST, _LARGEST = 1e-12, 1e12
# misses of a control that are none but for rounding
_NOTHING = 1e-9


def wilson(successes: float, targets: int) -> tuple[float, float]:
    """The 95% interval of a rate (Wilson 1927): it is never wider than 0 to 1, and right for few targets too.

    >>> [round(end, 4) for end in wilson(0, 30)], [round(end, 4) for end in wilson(15, 30)]
    ([0.0, 0.1135], [0.3315, 0.6685])
    """
    rate, square = successes / targets, _Z * _Z / targets
    middle = (rate + square / 2) / (1 + square)
    half = _Z * math.sqrt(max(rate * (1 - rate), 0.0) / targets + square / (4 * targets)) / (1 + square)
    return max(0.0, middle - half), min(1.0, middle + half)


def koopman(first: float, first_of: int, second: float, second_of: int) -> tuple[float, float]:
    """The 95% score interval of the ratio of two rates (Koopman 1984), `first`/`first_of` over `second`/`second_of`.

    It holds the ratios that a score test does not reject. The high end is infinite where `second` is 0.

    >>> [round(end, 2) for end in koopman(36, 40, 16, 80)]
    [2.94, 7.15]
    """

    def score(ratio: float) -> float:
        whole, both = (first_of + second_of) * ratio, first + second
        linear = first_of * ratio + first + second_of + second * ratio
        lower = (linear - math.sqrt(max(linear * linear - 4 * whole * both, 0.0))) / (2 * whole)
        upper = min(ratio * lower, 1.0)
        variance = upper * (1 - upper) / first_of + ratio * ratio * lower * (1 - lower) / second_of
        distance = first / first_of - ratio * second / second_of
        return math.copysign(math.inf, distance) if variance <= 0 and distance else distance / math.sqrt(variance or 1)

    low = _where(lambda ratio: score(ratio) <= _Z) if first else 0.0
    high = _where(lambda ratio: score(ratio) <= -_Z) if second else math.inf
    return low, high


def _where(passed: Callable[[float], bool]) -> float:
    """The smallest ratio from which on a condition holds, by halving its logarithm."""
    low, high = math.log(_SMALLEST), math.log(_LARGEST)
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (low, middle) if passed(math.exp(middle)) else (middle, high)
    return math.exp(high)


def rate_interval(scores: Array) -> tuple[float, float]:
    """The 95% interval of a mean score: Wilson's on the sum of the scores.

    A target whose candidates cannot be told apart scores a share. Scores between 0 and 1 vary at most as much as hits
    and misses with the same mean, m(1 - m), so that the interval covers for shares too; a bootstrap does not where they
    are rare.

    >>> import numpy as np
    >>> [round(end, 4) for end in rate_interval(np.repeat([0.5, 0.0], 30))]
    [0.1578, 0.3723]
    """
    return wilson(float(scores.sum()), len(scores))


def excess_of(scores: Array, control: Array) -> tuple[float, float, float] | None:
    """What the data adds to the success of an attack: 1 - (1 - attack) / (1 - control), with its 95% interval.

    By Koopman's score interval on the sums of the scores. None where the control always succeeds: nothing is left to
    be added. Below -1, twice as many misses as among the control, values are cut off.

    >>> import numpy as np
    >>> [round(end, 2) for end in excess_of(np.ones(100), np.repeat([0, 1], 50))]
    [1.0, 0.93, 1.0]
    """
    missed, beside = len(scores) - float(scores.sum()), len(control) - float(control.sum())
    if beside <= _NOTHING:
        return None
    low, high = koopman(max(missed, 0.0), len(scores), beside, len(control))
    return cut(1 - (missed / len(scores)) / (beside / len(control))), cut(1 - high), cut(1 - low)


def excess_over(scores: Array, chance: float) -> tuple[float, float, float] | None:
    """The same over a chance that is known, with Wilson's ends of the rate.

    >>> import numpy as np
    >>> [round(end, 4) for end in excess_over(np.zeros(30), 0.01)]
    [-0.0101, -0.0101, 0.1046]
    """
    if chance >= 1 - _NOTHING:
        return None
    rate, (low, high) = float(scores.mean()), rate_interval(scores)
    return tuple(cut(1 - (1 - share) / (1 - chance)) for share in (rate, low, high))  # type: ignore[return-value]


def cut(excess: float) -> float:
    """Between -1 and 1."""
    return min(max(excess, -1.0), 1.0)
