"""Released text as ranges: `[20;29]`, `937**`, `[White, Black]` and `*` are sets of values, a plain text is one value.

Each distinct text becomes a range of *atoms*. Atoms cut the column's domain where any range starts or ends: an end
itself is an atom, and so is the gap between two ends if a value can lie there. Within an atom every range is either
all there or not at all, so that what holds for atoms holds for all values, observed or not.

Ranges serve coverage, loss and containment only. Classes are by equality of text: `5` and `[5;5]` cover each other and
are two classes. Numbers are compared exactly, never as floats. A text with a `\\` before it is a value of the original,
whatever it looks like.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import polars as pl

from shoal.storage import Array, Column
from shoal.storage.texts import few_texts
from shoal.vocabulary import Domain, Generalized

STAR = "*"


class Spacing(Enum):
    """What lies between two neighbouring ends: other whole numbers, other real numbers, or nothing."""

    WHOLE = "whole"
    REAL = "real"
    LEAVES = "leaves"


_INTERVAL = r"^\[\s*([^;\[\]\"]+?)\s*;\s*([^;\[\]\"]+?)\s*\]$"
_BRACKET_DASH = r"^\[\s*([0-9.]+)\s*-\s*([0-9.]+)\s*\]$"
# written by others, read as ranges where we are told to: 50-55, [40, 49], 61XXX
_DASH = r"^([0-9.]+)\s*-\s*([0-9.]+)$"
_COMMA = r"^\[\s*([0-9.]+)\s*,\s*([0-9.]+)\s*\]$"
_PREFIX = r"^([0-9A-Za-z]*)(\*+)$"
_PREFIX_X = r"^([0-9]+)([Xx]+)$"
# members with commas between; one that holds a sign of ours stands in quotes, a quote in it twice
_MEMBER = r"(?:\s*\"(?:[^\"]|\"\")*\"\s*|[^;,\"]*)"
_SET = rf"^[\[{{]{_MEMBER}(?:,{_MEMBER})+[\]}}]$"
# a text without any of these is one value
_SIGNS = r"[\[{*\\]"
# with which a text that reads as generalised ends
LAST_SIGNS = "]}*Xx"
_NEEDS_QUOTES = r'^$|^\s|\s$|[,;"\[\]{}]'
_NUMBER = r"^-?[0-9]+(\.[0-9]+)?$"
_ISO_DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
# that a 128-bit integer holds
_MOST_DIGITS = 36
# sort before and behind every text that continues a prefix
_BEFORE_ALL, _AFTER_ALL = "\x01", "\U0010ffff"


@dataclass(frozen=True)
class RangeColumn:
    """A column of ranges: `codes[row]` names a range; range r covers the atoms low[r] .. high[r].

    A set that is not one range has more pieces: `pieces[r]` lists them. Equal texts have equal codes, and only those.
    """

    name: str
    codes: Array
    low: Array
    high: Array
    atoms: int
    pieces: dict[int, list[tuple[int, int]]]
    star: Array  # per row: the whole domain, written as `*` (or a null read as a wildcard)
    forms: tuple[str, ...]  # what was read as a range: "interval", "prefix", "set", "star"

    @property
    def cardinality(self) -> int:
        return len(self.low)


class _Parsed(NamedTuple):
    """Ends of each distinct text as texts; `members` for sets; star where the text is `*`."""

    low: pl.Series
    high: pl.Series
    star: Array
    members: dict[int, list[str]]
    prefix: Array
    forms: tuple[str, ...]


def forms_in(column: Column, mode: Generalized) -> tuple[str, ...]:
    """Which forms of generalised text a column holds; empty if none or if it is to be read raw.

    >>> from shoal.storage.reading import read
    >>> forms_in(read({"zip": ["937**", "93701", "*"]})["zip"], "auto")
    ('prefix', 'star')
    """
    if mode == "no" or column.values.dtype != pl.String:
        return ()
    return _parse(_read_by(column.values, mode)).forms


def looks_generalized(texts: pl.Series) -> pl.Series:
    """Which texts read as a range, a prefix, a set or `*`.

    >>> looks_generalized(pl.Series(["*", "12X", "[1;2]", "937**", "[a, b]", "20-29", "clerk"])).to_list()
    [True, True, True, True, True, False, False]
    """
    return texts.str.contains(
        "|".join(f"(?:{shape})" for shape in (_INTERVAL, _BRACKET_DASH, _PREFIX, _PREFIX_X, _SET))
    )


def in_our_writing(texts: pl.Series, commas: bool = True) -> pl.Series:
    """Ranges as others write them, in our writing; with `commas`, two numbers in brackets are the ends of a range.

    >>> in_our_writing(pl.Series(["50-55", "[40, 49]", "61XXX", "[a, b]", "clerk"])).to_list()
    ['[50;55]', '[40;49]', '61***', '[a, b]', 'clerk']
    """
    for shape in (_DASH, *([_COMMA] if commas else [])):
        low, high = texts.str.extract(shape, 1), texts.str.extract(shape, 2)
        hit = low.is_not_null() & _in_order(low, high)
        texts = texts.zip_with(~hit, "[" + low.fill_null("") + ";" + high.fill_null("") + "]")
    stem, masked = texts.str.extract(_PREFIX_X, 1), texts.str.extract(_PREFIX_X, 2)
    return texts.zip_with(stem.is_null(), stem.fill_null("") + masked.fill_null("").str.replace_all(".", "*"))


def unescape(texts: pl.Series) -> pl.Series:
    r"""Texts of the original again: without the `\` that stands before a look-alike of a released text.

    >>> unescape(pl.Series([r"\*", r"\\x", "clerk"])).to_list()
    ['*', '\\x', 'clerk']
    """
    return texts.str.strip_prefix("\\")


def sets_among(texts: pl.Series) -> Array:
    """Which texts are sets `[a, b]`."""
    return texts.str.contains(_SET).fill_null(False).to_numpy()


def _read_by(texts: pl.Series, mode: Generalized) -> pl.Series:
    return in_our_writing(texts) if mode == "yes" else texts


def _parse(texts: pl.Series) -> _Parsed:
    if not texts.str.contains(_SIGNS).any():
        nowhere = np.zeros(len(texts), bool)
        return _Parsed(texts, texts, nowhere, {}, nowhere, ())
    escaped = texts.str.starts_with("\\").fill_null(False)
    if escaped.any():
        return _with_escaped(texts, escaped)
    star = (texts == STAR).to_numpy()
    low, high, interval = texts, texts, np.zeros(len(texts), bool)
    for shape in (_INTERVAL, _BRACKET_DASH):
        ends = texts.str.extract(shape, 1), texts.str.extract(shape, 2)
        hit = ends[0].is_not_null() & _in_order(*ends)
        low, high = low.zip_with(~hit, ends[0].fill_null("")), high.zip_with(~hit, ends[1].fill_null(""))
        interval |= hit.to_numpy()
    stem, masked = texts.str.extract(_PREFIX, 1), texts.str.extract(_PREFIX, 2)
    hit = stem.is_not_null() & (texts != STAR)
    digits = stem.str.contains(r"^[0-9]+$").fill_null(False)
    zeros, nines = masked.str.replace_all(r".", "0"), masked.str.replace_all(r".", "9")
    first, final = (stem + zeros).zip_with(digits, texts), (stem + nines).zip_with(digits, texts)
    low, high = low.zip_with(~hit, first.fill_null("")), high.zip_with(~hit, final.fill_null(""))
    prefix = hit.to_numpy()
    sets = texts.str.contains(_SET).fill_null(False).to_numpy() & ~interval
    members = {int(index): set_members(texts[int(index)]) for index in np.flatnonzero(sets)}
    found = {"interval": interval.any(), "prefix": prefix.any(), "set": bool(members), "star": star.any()}
    return _Parsed(low, high, star, members, prefix, tuple(form for form, there in found.items() if there))


def _with_escaped(texts: pl.Series, escaped: pl.Series) -> _Parsed:
    """As `_parse`; escaped texts are plain values."""
    hidden = texts.set(escaped, "")
    found, own, plain = _parse(hidden), unescape(texts), ~escaped
    return _Parsed(
        found.low.zip_with(plain, own), found.high.zip_with(plain, own), found.star, found.members, found.prefix,
        found.forms,
    )  # fmt: skip


def set_labels(labels: pl.Series) -> pl.Series:
    """Labels as they stand in a set: in quotes where they would not be read again.

    >>> set_labels(pl.Series(["clerk", "smith, retired"])).to_list()
    ['clerk', '"smith, retired"']
    """
    quoted = '"' + labels.str.replace_all('"', '""', literal=True) + '"'
    return labels.zip_with(~labels.str.contains(_NEEDS_QUOTES), quoted)


def set_members(text: str) -> list[str]:
    """The members of a set.

    >>> set_members('[clerk, "smith, retired"]')
    ['clerk', 'smith, retired']
    """
    if '"' not in text:
        return [member.strip() for member in text[1:-1].split(",")]
    found = re.findall(r'\s*"((?:[^"]|"")*)"\s*(?:,|$)|([^,"]*)(?:,|$)', text[1:-1])
    members = [quoted.replace('""', '"') if quoted else plain.strip() for quoted, plain in found]
    return members[:-1] if members[-1] == "" and not text[1:-1].rstrip().endswith(",") else members


def sets_in(column: Column) -> pl.DataFrame:
    """The members of each value of a column that is a set: the value's code (`set`) and a `label` per member.

    >>> from shoal.storage.reading import read
    >>> sets_in(read({"race": ["[a, b]", "c"]})["race"])["label"].to_list()
    ['a', 'b']
    """
    if (few := few_texts(column.values)) is not None:
        bracketed = any(text is not None and text.startswith(("[", "{")) for text in few)
    else:
        bracketed = bool(column.values.str.contains(r"^[\[{]").any())
    members = _parse(column.values).members if bracketed else {}
    codes = np.repeat(np.fromiter(members, np.int64, len(members)), [len(labels) for labels in members.values()])
    labels = [label for labels in members.values() for label in labels]
    return pl.DataFrame({"set": codes.astype(column.codes.dtype), "label": pl.Series(labels, dtype=pl.String)})


def _in_order(low: pl.Series, high: pl.Series) -> pl.Series:
    """Whether two ends make a range: numbers by value, else as texts."""
    numbers = low.str.contains(_NUMBER) & high.str.contains(_NUMBER)
    order = low <= high
    if numbers.any():
        first, last = low.filter(numbers.fill_null(False)), high.filter(numbers.fill_null(False))
        ranks = _exact_ranks(pl.concat([first, last]))
        order = order.scatter(
            numbers.fill_null(False).arg_true(), pl.Series(ranks[: len(first)] <= ranks[len(first) :])
        )
    return order.fill_null(False)


def ends_of(column: Column) -> tuple[Array, Array]:
    """Low and high end of each value of a released column as numbers (dates as days); `*` holds all, null nothing.

    >>> from shoal.storage.reading import read
    >>> low, high = ends_of(read({"age": ["[20;29]", "31"]})["age"])
    >>> low.tolist(), high.tolist()
    ([31.0, 20.0], [31.0, 29.0])
    """
    values = column.values
    if values.dtype != pl.String:
        low = high = as_numbers(values)
    else:
        parsed = _parse(in_our_writing(values, commas=False))
        low, high = _texts_as_numbers(parsed.low), _texts_as_numbers(parsed.high)
        low, high = np.where(parsed.star, -np.inf, low), np.where(parsed.star, np.inf, high)
    if column.nulls:
        low, high = np.append(low, np.nan), np.append(high, np.nan)
    return low, high


def as_numbers(values: pl.Series) -> Array:
    """Values as numbers: dates as days, moments as microseconds.

    >>> as_numbers(pl.Series([1.5, None])).tolist()
    [1.5, nan]
    """
    if isinstance(values.dtype, pl.Datetime):
        values = values.cast(pl.Datetime("us"))
    return values.to_physical().cast(pl.Float64, strict=False).fill_null(float("nan")).to_numpy()


def _texts_as_numbers(texts: pl.Series) -> Array:
    """Numbers, days since 1970, microseconds, or nanoseconds since midnight: whichever a text is."""
    days = texts.str.to_date("%Y-%m-%d", strict=False).to_physical().cast(pl.Float64)
    moments = texts.str.to_datetime("%Y-%m-%d %H:%M:%S%.f", strict=False, time_unit="us").to_physical().cast(pl.Float64)
    times = texts.str.to_time("%H:%M:%S%.f", strict=False).to_physical().cast(pl.Float64)
    numbers = texts.cast(pl.Float64, strict=False)
    return days.fill_null(moments).fill_null(times).fill_null(numbers).fill_null(float("nan")).to_numpy()


def as_texts(column: Column, raw: bool, null_is_star: bool) -> RangeColumn:
    """A column by its texts alone, each a point of its own; `*` stands apart unless the column is `raw`.

    >>> from shoal.storage.reading import read
    >>> as_texts(read({"age": ["5", "[5;5]", "*"]})["age"], False, False).star.tolist()
    [False, False, True]
    """
    star = np.zeros(column.cardinality, bool)
    if column.values.dtype == pl.String and not raw:
        star[: len(column.values)] = (column.values == STAR).to_numpy()
    if column.nulls:
        star[-1] = null_is_star
    places = np.arange(column.cardinality)
    return _by_text(column, places, places, max(column.cardinality, 1), {}, star, ())


def as_ranges(column: Column, mode: Generalized, null_is_star: bool, domain: Domain = "range") -> RangeColumn:
    """A column as ranges of atoms; columns without generalised text are points.

    >>> from shoal.storage.reading import read
    >>> ranges = as_ranges(read({"age": ["[20;29]", "25", "*"]})["age"], "auto", False)
    >>> ranges.low[ranges.codes].tolist(), ranges.high[ranges.codes].tolist(), ranges.atoms
    ([0, 2, 0], [4, 2, 4], 5)
    """
    texts = _read_by(column.values, mode) if column.values.dtype == pl.String else column.values
    parsed = None if mode == "no" or column.values.dtype != pl.String else _parse(texts)
    forms = parsed.forms if parsed is not None else ()
    if parsed is not None and forms:
        low, high, atoms, pieces = _atoms_of(unescape(texts), parsed, domain)
        star = parsed.star
    else:
        low = _value_atoms(column.values, domain)
        high, atoms, pieces = low.copy(), int(low[-1]) + 1 if len(low) else 0, {}
        star = np.zeros(len(low), bool)
    if column.nulls:
        # as a value, null is one more atom, which `*` covers; as a wildcard it is `*`
        atoms = max(atoms, 1) if null_is_star else atoms + 1
        high[star] = atoms - 1
        low = np.append(low, 0 if null_is_star else atoms - 1)
        high = np.append(high, atoms - 1)
        star = np.append(star, null_is_star)
    return _by_text(column, low, high, max(atoms, 1), pieces, star, forms)


def _by_text(
    column: Column,
    low: Array,
    high: Array,
    atoms: int,
    pieces: dict[int, list[tuple[int, int]]],
    star: Array,
    forms: tuple[str, ...],
) -> RangeColumn:
    """Texts that differ keep different codes, whatever they may mean; a null that is a wildcard is one with `*`."""
    codes = column.codes
    texts = int(np.count_nonzero(star[: len(column.values)]))
    if column.nulls and star[-1] and texts:
        codes = np.where(codes == len(column.values), np.flatnonzero(star)[0], codes).astype(codes.dtype)
    return RangeColumn(column.name, codes, low, high, atoms, pieces, star[column.codes], forms)


def _atoms_of(
    texts: pl.Series, parsed: _Parsed, domain: Domain
) -> tuple[Array, Array, int, dict[int, list[tuple[int, int]]]]:
    """Atoms of each text's range, or of each member of a set."""
    named = ~parsed.star
    named[list(parsed.members)] = False
    members = pl.Series([member for members in parsed.members.values() for member in members], dtype=pl.String)
    low, high = pl.concat([parsed.low.filter(named), members]), pl.concat([parsed.high.filter(named), members])
    prefix = np.concatenate([parsed.prefix[named], np.zeros(len(members), bool)])
    source = pl.concat([texts.filter(named), members])
    if len(source) == 0:  # nothing but `*`
        return np.zeros(len(texts), np.int64), np.zeros(len(texts), np.int64), 1, {}
    low_atom, high_atom, atoms = _placed(source, low, high, prefix, domain)

    out_low, out_high = np.zeros(len(texts), np.int64), np.full(len(texts), atoms - 1, np.int64)
    count = int(np.count_nonzero(named))
    out_low[named], out_high[named] = low_atom[:count], high_atom[:count]
    pieces: dict[int, list[tuple[int, int]]] = {}
    at = count
    for index, names in parsed.members.items():
        parts = runs(sorted({int(value) for value in low_atom[at : at + len(names)]}))
        at += len(names)
        out_low[index], out_high[index] = parts[0][0], parts[-1][1]
        if len(parts) > 1:
            pieces[index] = parts
    return out_low, out_high, atoms, pieces


def runs(values: list[int]) -> list[tuple[int, int]]:
    """Sorted numbers as runs of neighbours.

    >>> runs([1, 2, 5])
    [(1, 2), (5, 5)]
    """
    found = [(values[0], values[0])]
    for value in values[1:]:
        if value == found[-1][1] + 1:
            found[-1] = (found[-1][0], value)
        else:
            found.append((value, value))
    return found


def _placed(
    texts: pl.Series, low: pl.Series, high: pl.Series, prefix: Array, domain: Domain
) -> tuple[Array, Array, int]:
    """The first and last atom of each text, and how many atoms there are.

    Numbers, ISO dates and all other texts are three domains, one behind the other: `90+` among ages lies neither
    below nor above them.
    """
    numbers = (low.str.contains(_NUMBER) & high.str.contains(_NUMBER)).to_numpy()
    ends = pl.concat([low.filter(numbers), high.filter(numbers)])
    # `05` and `5`, `0937*` and `937*` are codes: as numbers they would merge, which is the unsafe side
    if len(ends) and int(_exact_ranks(ends).max()) + 1 != ends.n_unique():
        numbers[:] = False
    days = [_as_days(side) for side in (low, high)]
    dates = ~numbers & (days[0] <= days[1]).fill_null(False).to_numpy()
    first, last = np.zeros(len(texts), np.int64), np.zeros(len(texts), np.int64)
    atoms = 0
    for which, kind in ((numbers, "number"), (dates, "date"), (~numbers & ~dates, "text")):
        if not which.any():
            continue
        if kind == "text":
            places, gaps = _leaves(texts.filter(which), prefix[which]), None
        else:
            sides = days if kind == "date" else [low, high]
            places, gaps = _exact_places([side.filter(which) for side in sides])
        count = int(max(side.max() for side in places)) + 1
        if gaps is None or domain != "range":
            gaps = np.zeros(count - 1, bool)
        atom = atoms + np.arange(count) + np.concatenate([[0], np.cumsum(gaps)])
        first[which], last[which] = (atom[side] for side in places)
        atoms = int(atom[-1]) + 1
    return first, last, atoms


def _as_days(texts: pl.Series) -> pl.Series:
    """Dates, where they are written as ISO dates are."""
    return texts.set(~texts.str.contains(_ISO_DATE), None).str.to_date("%Y-%m-%d", strict=False)


def _exact_places(sides: list[pl.Series]) -> tuple[list[Array], Array]:
    """The place of each end among all distinct ends, and between which of them other values can lie."""
    both = pl.concat(sides)
    size = len(sides[0])
    if both.dtype == pl.String and both.str.contains(r"\.").any():
        ranks = _exact_ranks(both)
        return [ranks[:size], ranks[size:]], np.ones(int(ranks.max()), bool)
    whole = both.cast(pl.Int128) if both.dtype == pl.String else both.to_physical().cast(pl.Int128)
    ranks = whole.rank("dense").to_numpy().astype(np.int64) - 1
    return [ranks[:size], ranks[size:]], (whole.unique().sort().diff().drop_nulls() > 1).to_numpy()


def _exact_ranks(texts: pl.Series) -> Array:
    """Numbers written as texts, ranked by their exact values: equal ones have one rank, the smallest 0."""
    whole, part = texts.str.split_exact(".", 1).struct.unnest().get_columns()
    digits = part.str.len_chars().max() or 0
    longest = whole.str.len_chars().max() or 0
    assert isinstance(digits, int)
    assert isinstance(longest, int)
    if digits + longest <= _MOST_DIGITS:
        scaled = (whole + part.fill_null("").str.pad_end(digits, "0")).cast(pl.Int128)
        return np.asarray(scaled.rank("dense").to_numpy().astype(np.int64) - 1)
    values = [Fraction(text) for text in texts.to_list()]
    place = {value: number for number, value in enumerate(sorted(set(values)))}
    return np.array([place[value] for value in values], np.int64)


def _leaves(texts: pl.Series, prefix: Array) -> list[Array]:
    """Places of texts that have no order of values.

    They are sorted by length, then by letters, so that all texts of a length that start alike are one range: that is
    what a prefix covers. Ends of other ranges have no order that we know: such a range covers itself only.
    """
    # only what stands for digits or letters goes: the X of `AX*` is a letter of the stem
    stem = texts.str.extract(r"^(.*?)\*+$", 1).fill_null("")
    length = texts.str.len_chars()
    lower = (stem + _BEFORE_ALL).zip_with(pl.Series(prefix), texts)
    upper = (stem + _AFTER_ALL).zip_with(pl.Series(prefix), texts)
    both = pl.DataFrame({"length": pl.concat([length, length]), "text": pl.concat([lower, upper])})
    places = both.select(pl.struct("length", "text").rank("dense")).to_series().to_numpy().astype(np.int64) - 1
    return [places[: len(texts)], places[len(texts) :]]


def _value_atoms(values: pl.Series, domain: Domain) -> Array:
    """The atoms of sorted distinct values."""
    spacing = Spacing.LEAVES
    if values.dtype.is_integer() or values.dtype == pl.Date:
        spacing = Spacing.WHOLE
    elif values.dtype.is_float():
        # pandas stores whole numbers with missing ones among them as floats
        spacing = Spacing.WHOLE if bool((values == values.floor()).all()) else Spacing.REAL
    return spaced(values, spacing, domain)


def spaced(ends: pl.Series, spacing: Spacing, domain: Domain) -> Array:
    """The atom of each end (sorted, distinct), with one atom between for each gap in which a value can lie.

    >>> spaced(pl.Series([2**53, 2**53 + 1, 2**53 + 3]), Spacing.WHOLE, "range").tolist()
    [0, 1, 3]
    """
    if len(ends) == 0:
        return np.zeros(0, np.int64)
    gaps = np.zeros(len(ends) - 1, bool)
    if domain == "range" and spacing is Spacing.WHOLE:
        from shoal.storage.numbers import exact_series

        gaps = (exact_series(ends).diff().drop_nulls() > 1).to_numpy()
    elif domain == "range" and spacing is Spacing.REAL:
        gaps[:] = True
    return np.asarray(np.arange(len(ends)) + np.concatenate([[0], np.cumsum(gaps)]))
