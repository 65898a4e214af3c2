"""From batches of values to codes: each batch is encoded as it comes, the dictionaries are united at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from shoal.errors import InputError
from shoal.storage import Array, Column, smallest_unsigned
from shoal.storage.numbers import NUMPY_INTEGERS, PLACES_PER_ROW, Integers, integer_series, physical_integers
from shoal.storage.table import on_disk, records_with
from shoal.storage.texts import typed_dictionary
from shoal.storage.unite import rank, unite

if TYPE_CHECKING:
    from shoal.storage.spill import Spill, SpilledFile


# rows looked up at once, so that what is between stays in the cache
_BLOCK = 1 << 15

# rows of each column that was encoded, while somebody counts: `counted_encodings`
_COUNTED: list[int] | None = None


@contextmanager
def counted_encodings() -> Iterator[list[int]]:
    """The rows of every column that is encoded meanwhile: encoding is what reading costs, and once is enough.

    >>> with counted_encodings() as rows:
    ...     column = encode(pl.Series("age", [51, 34]))
    >>> rows
    [2]
    """
    global _COUNTED
    before, _COUNTED = _COUNTED, []
    try:
        yield _COUNTED
    finally:
        _COUNTED = before


# Texts to codes: polars numbers them as categories; a text that came before is mostly found without asking it.
#
# polars takes 14 ns to cast a text to its category, and 2 to hash it. So a table leads from some bits of the hash to
# the code of one text that has them; whether a row has this very text is looked at, and the others are cast.


# batches of fewer rows are cast
_FROM_ROWS = 1 << 13
# at first so many rows must share a text, on average, and later on so many of a batch must have one that is known
_ALIKE, _MOST_OTHERS = 4, 0.5
_SLOT_BITS = 18
_SHIFT = np.uint64(64 - _SLOT_BITS)


class Texts:
    """A dictionary of texts that grows: each text keeps the code that it was given first.

    The widest code of its type is null.

    >>> cities = Texts()
    >>> cities.codes_of(pl.Series(["Rome", "Bern", None])).tolist(), cities.values_from(0).to_list()
    ([0, 1, 255], ['Rome', 'Bern'])
    >>> cities.codes_of(pl.Series(["Oslo", "Bern"])).tolist(), cities.values_from(2).to_list()
    ([2, 1], ['Oslo'])
    """

    def __init__(self) -> None:
        self.count = 0
        # polars forgets categories that no series refers to
        self._keeper: pl.Series | None = None
        self._known: _KnownTexts | None = None
        self._is_looked_up = True

    @cached_property
    def _dtype(self) -> pl.Categorical:
        return pl.Categorical(pl.Categories.random())

    def values_from(self, first: int) -> pl.Series:
        """The texts from a code on, in the order of their codes."""
        if first == self.count:
            return pl.Series([], dtype=pl.String)
        numbers = pl.int_range(first, self.count, dtype=pl.UInt32, eager=True)
        return numbers.cat.to(self._dtype).cast(pl.String)

    def codes_of(self, series: pl.Series) -> Array:
        """The codes of one more batch."""
        if self._is_looked_up and not self.count and len(series) >= _FROM_ROWS:
            self._start(series)
        looked_up = self._is_looked_up and self.count and len(series) >= _FROM_ROWS
        codes = self._looked_up(series) if looked_up else self.numbered(series)
        # one code is left over: the widest of the type, for null
        narrow = smallest_unsigned(self.count + 1)
        if series.null_count():
            codes = np.where(series.is_null().to_numpy(), np.iinfo(narrow).max, codes)
        return codes.astype(narrow)

    def numbered(self, series: pl.Series) -> Array:
        """The codes of texts in the order in which they come, as polars numbers categories; null has any code."""
        encoded = series.cast(self._dtype)
        self._keeper = encoded.clear()
        numbers = encoded.to_physical()
        # not by `to_series`, which goes through every text in Python
        highest = numbers.max()
        self.count = max(self.count, highest + 1 if isinstance(highest, int) else 0)
        return np.asarray(numbers.fill_null(0).to_numpy())

    def _start(self, series: pl.Series) -> None:
        """Give the texts of a first batch codes in their order: where no more come, these are those of the column."""
        distinct = series.unique()
        if len(distinct) * _ALIKE > len(series):
            self._is_looked_up = False
        else:
            self.numbered(distinct.sort())

    def _looked_up(self, series: pl.Series) -> Array:
        """The codes of texts most of which have come before; null has any code."""
        if self._known is None:
            self._known = _KnownTexts()
        if len(self._known.texts) < self.count:
            self._known.add(self.values_from(len(self._known.texts)))
        codes, is_other = self._known.look_up(series)
        if is_other.any():
            others = is_other.arg_true()
            codes[others.to_numpy()] = self.numbered(series[others])
            if len(others) > _MOST_OTHERS * len(series):  # ever new texts, or too many
                self._known, self._is_looked_up = None, False
        return codes


class _KnownTexts:
    """Texts by their hash: each slot has the code of one text that belongs there."""

    def __init__(self) -> None:
        self.texts = pl.Series([], dtype=pl.String)
        self._code_of_slot = np.zeros(1 << _SLOT_BITS, np.uint32)
        self._is_taken = np.zeros(1 << _SLOT_BITS, bool)
        # the same memory for every batch: the system takes longer to give new pages than the work on them
        self._codes, self._slots = np.empty(0, np.uint32), np.empty(_BLOCK, np.uint64)

    def add(self, texts: pl.Series) -> None:
        """More texts, behind those that are there."""
        slots = texts.hash().to_numpy() >> _SHIFT
        free = np.flatnonzero(~self._is_taken[slots])
        self._code_of_slot[slots[free]] = free + len(self.texts)
        self._is_taken[slots] = True
        self.texts = pl.concat([self.texts, texts], rechunk=True)

    def look_up(self, series: pl.Series) -> tuple[Array, pl.Series]:
        """The code that each row may have (until the next batch comes), and whether its text is another one."""
        hashes = series.hash().to_numpy()
        if len(hashes) > len(self._codes):
            self._codes = np.empty(len(hashes), np.uint32)
        codes = self._codes[: len(hashes)]
        for start in range(0, len(hashes), _BLOCK):
            block = hashes[start : start + _BLOCK]
            slots = np.right_shift(block, _SHIFT, out=self._slots[: len(block)])
            # numpy takes signed places without a copy
            self._code_of_slot.take(slots.view(np.int64), out=codes[start : start + _BLOCK], mode="clip")
        return codes, self.texts[pl.Series(codes)] != series


# Columns batch by batch, their dictionaries united at the end.


class EncodedRows(NamedTuple):
    """Consecutive rows: codes into `values` (distinct, any order); every code past them is null.

    `values` is None for text, whose dictionary grows over all batches, as that of `Integers` does.
    """

    codes: Array | PartOnDisk
    values: pl.Series | Integers | None


@dataclass(frozen=True)
class PartOnDisk:
    """Codes in a file: where they start, of what type, how many."""

    file: SpilledFile
    start: int
    dtype: np.dtype[Any]
    length: int

    def __len__(self) -> int:
        return self.length

    @property
    def nbytes(self) -> int:
        return self.length * self.dtype.itemsize


def _in_memory(codes: Array | PartOnDisk) -> Array:
    return codes.file.read(codes.start, codes.dtype, codes.length) if isinstance(codes, PartOnDisk) else codes


@dataclass
class ColumnEncoder:
    """Collects one column batch by batch and gives it out encoded.

    `from_text_file` marks columns that arrive as strings because the file knows no types: their type is found
    at the end from all distinct values, not guessed from the first rows.

    >>> encoder = ColumnEncoder("age")
    >>> encoder.add(pl.Series([51, None])); encoder.add(pl.Series([34]))
    >>> column = encoder.finish()
    >>> column.codes.tolist(), column.values.to_list()
    ([1, 2, 0], [34, 51])
    """

    name: str
    from_text_file: bool = False
    missing: frozenset[str] = frozenset()
    # those words for missing that it holds
    met: frozenset[str] = frozenset()
    parts: list[EncodedRows] = field(default_factory=list)
    dtypes: list[pl.DataType] = field(default_factory=list)
    _texts: Texts = field(default_factory=Texts)
    # the last type of categories that came, and of each of its numbers the text, or -1
    _category_type: pl.DataType | None = None
    _text_of_category: Array = field(default_factory=lambda: np.zeros(0, np.int64))
    rows: int = 0
    # the bytes of so many parts
    _bytes: int = 0
    _summed: int = 0
    _negative_zeros: list[Array] = field(default_factory=list)
    _integers: Integers | None = None
    _spill: Spill | None = None
    file: SpilledFile | None = None

    @property
    def nbytes(self) -> int:
        """The bytes of the codes so far, in memory or on disk."""
        self._bytes += sum(part.codes.nbytes for part in self.parts[self._summed :])
        self._summed = len(self.parts)
        return self._bytes

    def move_to(self, spill: Spill) -> None:
        """Keep codes on disk from now on, those that are there included."""
        self._spill, self.file = spill, spill.new_file("parts")
        parts, self.parts, self._bytes, self._summed = self.parts, [], 0, 0
        for part in parts:
            self._keep(part)

    def _keep(self, part: EncodedRows) -> None:
        if self.file is not None and not isinstance(part.codes, PartOnDisk):
            start = self.file.append(part.codes)
            part = EncodedRows(PartOnDisk(self.file, start, part.codes.dtype, len(part.codes)), part.values)
        self.parts.append(part)

    def add(self, series: pl.Series) -> None:
        """One more batch of the column."""
        dtype = series.dtype
        self.rows += len(series)
        if dtype.is_nested() or dtype == pl.Object:
            raise InputError(
                f"Column '{self.name}' holds lists or records, not single values.",
                "Leave it out, or spread it over columns of single values first.",
            )
        if dtype == pl.Null:
            self.rows -= len(series)
            self.add_nulls(len(series))
            return
        if dtype not in self.dtypes:
            self.dtypes.append(dtype)
        if dtype == pl.String:
            self._keep(EncodedRows(self._texts.codes_of(series), None))
        elif isinstance(dtype, (pl.Categorical, pl.Enum)):
            self._keep(self._encode_categories(series))
        elif dtype.is_float():
            self._keep(_encode_floats(series))
            negative = _negative_zeros(series)
            if len(negative):
                self._negative_zeros.append(negative + self.rows - len(series))
        elif physical_integers(series).dtype in NUMPY_INTEGERS:
            self._keep(self._encode_integers(series))
        else:  # decimals, 128-bit integers, binary: rare enough for the general way
            values, codes = rank(series)
            self._keep(EncodedRows(codes, values))

    def add_nulls(self, count: int) -> None:
        """Rows in which the column does not appear."""
        self.rows += count
        self._keep(EncodedRows(np.zeros(count, np.uint8), pl.Series([], dtype=pl.Null)))

    def _encode_integers(self, series: pl.Series) -> EncodedRows:
        """By the dictionary of the batches before, where it can take them."""
        if self._integers is None or self._integers.dtype != series.dtype:
            self._integers = Integers(series.dtype)
        codes = self._integers.codes_of(series)
        return _encode_wide_integers(series) if codes is None else EncodedRows(codes, self._integers)

    def _encode_categories(self, series: pl.Series) -> EncodedRows:
        """Categories by their numbers: the text of each is looked at when a row has it for the first time."""
        if self._category_type != series.dtype:
            self._category_type, self._text_of_category = series.dtype, np.zeros(0, np.int64)
        null = series.is_null().to_numpy() if series.null_count() else None
        numbers = series.to_physical().fill_null(0).to_numpy()
        highest = int(numbers.max(initial=0))
        known = self._text_of_category
        if highest >= len(known):  # grown by a half at least, so that the whole is linear
            known = np.concatenate([known, np.full(max(highest + 1 - len(known), len(known) // 2), -1)])
        new = known[numbers] < 0
        if null is not None:
            new &= ~null
        if new.any():
            rows, row_of = np.flatnonzero(new), np.full(len(known), -1)
            row_of[numbers[rows]] = rows
            distinct = np.flatnonzero(row_of >= 0)
            known[distinct] = self._texts.codes_of(series.gather(row_of[distinct]).cast(pl.String))
        self._text_of_category = known
        narrow = smallest_unsigned(self._texts.count + 1)
        codes = known.astype(narrow)[numbers]
        if null is not None:
            codes[null] = np.iinfo(narrow).max
        return EncodedRows(codes, None)

    def finish(self) -> Column:
        """The whole column, its dictionary sorted by value."""
        dictionaries = {id(part.values): part.values for part in self.parts}
        held = {key: self._dictionary(values) for key, values in dictionaries.items()}
        written, respelled = None, 0
        # the texts of a text file that a dictionary stands for; other values come from elsewhere
        texts = {key: one.cast(pl.String) for key, one in held.items() if one.dtype in (pl.String, pl.Int64)}
        if places := _places(texts if self.from_text_file else {}):
            raw = places.texts
            if self.missing:
                self.met = frozenset(raw.filter(raw.is_in(list(self.missing))))
            typed = typed_dictionary(raw, self.missing)
            respelled = respelled_texts(raw, typed)
            if respelled:
                written = self._as_written(places, len(raw)), raw.extend_constant(None, 1)
            # the only dictionary is as it was: not through `gather`, which loads `numpy.ma` (0.01 s)
            held |= {key: typed if len(places.of) == 1 else typed.gather(rows) for key, rows in places.of.items()}
        values, codes_of = unite(list(held.values()))
        starts = np.cumsum([0, *map(len, held.values())])
        found = {key: codes_of[start:end] for key, start, end in zip(held, starts[:-1], starts[1:], strict=True)}
        codes, nulls = self._united(len(values), found)
        self.parts.clear()
        if self.file is not None:
            self.file.remove()
        if _COUNTED is not None:
            _COUNTED.append(len(codes))

        narrow = smallest_unsigned(len(values))
        if not nulls and codes.dtype != narrow:
            codes = look_up(codes, np.arange(len(values), dtype=narrow), 0) if on_disk(codes) else codes.astype(narrow)
        dtype = self.dtypes[0] if len(self.dtypes) == 1 and not self.from_text_file else values.dtype
        if self._negative_zeros and values.dtype.is_float():
            written = self._with_signs(codes, values)
        return Column(self.name, codes, values.alias(self.name), nulls, dtype, written, respelled)

    def _dictionary(self, values: pl.Series | Integers | None) -> pl.Series:
        if isinstance(values, Integers):
            return values.values
        return self._texts.values_from(0) if values is None else values

    def _united(self, null: int, codes_of: Mapping[int, Array]) -> tuple[Array, int]:
        """The codes of all rows in the united dictionary, where `null` is null, and how many are null."""
        narrow = smallest_unsigned(null + 1)
        lookups = {key: codes.astype(narrow) for key, codes in codes_of.items()}
        as_they_are = {key for key, codes in codes_of.items() if np.array_equal(codes, np.arange(len(codes)))}
        nulls = 0

        def blocks() -> Iterator[Array]:
            nonlocal nulls
            for part in self.parts:
                key, codes = id(part.values), _in_memory(part.codes)
                lookup = lookups[key][: _widest(codes)]
                if key in as_they_are and codes.dtype == narrow and int(codes.max(initial=0)) < min(len(lookup), null):
                    yield codes
                    continue
                found = look_up(codes, lookup, null)
                nulls += int(np.count_nonzero(found == null))
                yield found

        return self._together(blocks(), narrow), nulls

    def _as_written(self, places: DictionaryPlaces, null: int) -> Array:
        """The code of each row among the texts as they came; null comes after them."""
        narrow = smallest_unsigned(null + 1)

        def blocks() -> Iterator[Array]:
            for part in self.parts:
                codes = _in_memory(part.codes)
                lookup = places.of.get(id(part.values), np.zeros(0, np.int64))[: _widest(codes)]
                yield look_up(codes, lookup.astype(narrow), null)

        return self._together(blocks(), narrow)

    def _together(self, blocks: Iterator[Array], dtype: np.dtype[Any]) -> Array:
        """Blocks of codes as one array: in memory, or on disk where the parts are."""
        if self._spill is not None:
            file = self._spill.new_file("codes")
            for block in blocks:
                file.append(block.astype(dtype, copy=False))
            return file.mapped(dtype)
        codes = np.empty(sum(len(part.codes) for part in self.parts), dtype)
        row = 0
        for block in blocks:
            if len(block) == len(codes) and block.dtype == dtype:
                return block
            codes[row : row + len(block)] = block
            row += len(block)
        return codes

    def _with_signs(self, codes: Array, values: pl.Series) -> tuple[Array, pl.Series] | None:
        """Codes and values in which 0.0 and -0.0, which are equal, stay apart."""
        negative = np.concatenate(self._negative_zeros)
        floats = values.to_numpy()
        zero = int(np.flatnonzero(floats == 0)[0])
        if records_with(codes, zero) == len(negative) and np.signbit(floats[zero]):
            return None
        apart = np.append(np.where(floats == 0, 0.0, floats), -0.0)
        wide = smallest_unsigned(len(apart) + 1) if on_disk(codes) else np.dtype(np.int64)
        row = 0

        def with_signs(block: Array) -> Array:
            nonlocal row
            first, last = np.searchsorted(negative, [row, row + len(block)])
            signed = block.astype(wide)
            signed[signed == len(floats)] = len(apart)
            signed[negative[first:last] - row] = len(floats)
            row += len(block)
            return signed

        found = _by_block(codes, with_signs, wide)
        return found, pl.Series(apart, dtype=values.dtype).extend_constant(None, 1)


def encode(series: pl.Series) -> Column:
    """One column that is there as a whole.

    >>> encode(pl.Series("sex", ["m", "f", "m"])).codes.tolist()
    [1, 0, 1]
    """
    encoder = ColumnEncoder(series.name)
    encoder.add(series)
    return encoder.finish()


class DictionaryPlaces(NamedTuple):
    """Distinct texts of several dictionaries, and the place among them of each entry of each."""

    texts: pl.Series
    of: dict[int, Array]


def _places(dictionaries: dict[int, pl.Series]) -> DictionaryPlaces | None:
    if not dictionaries:
        return None
    if len(dictionaries) == 1:
        ((key, texts),) = dictionaries.items()
        return DictionaryPlaces(texts, {key: np.arange(len(texts))})
    texts, places = rank(pl.concat(list(dictionaries.values())))
    starts = np.cumsum([0, *map(len, dictionaries.values())])
    return DictionaryPlaces(texts, {key: places[starts[n] : starts[n + 1]] for n, key in enumerate(dictionaries)})


def _widest(codes: Array) -> int:
    """The code that no value has: of a dictionary that has grown since, the widest of the type is still null."""
    return int(np.iinfo(codes.dtype).max)


def look_up(codes: Array, lookup: Array, null: int) -> Array:
    """Translate codes by a table; codes past the table's end are null. Codes on disk stay there.

    >>> look_up(np.array([1, 9, 0], np.uint8), np.array([40, 30]), -1).tolist()
    [30, -1, 40]
    """
    if on_disk(codes):
        return _by_block(codes, lambda block: look_up(block, lookup, null), lookup.dtype)
    if int(codes.max(initial=0)) >= len(lookup):
        lookup = np.append(lookup, lookup.dtype.type(null))
    found, places = np.empty(len(codes), lookup.dtype), np.empty(min(_BLOCK, len(codes)), np.intp)
    for start in range(0, len(codes), _BLOCK):
        block = codes[start : start + _BLOCK]
        places[: len(block)] = block
        lookup.take(places[: len(block)], out=found[start : start + _BLOCK], mode="clip")
    return found


def _by_block(codes: Array, change: Callable[[Array], Array], dtype: Any) -> Array:
    """What becomes of codes; those on disk block by block."""
    if not on_disk(codes):
        return change(codes)
    from shoal.storage.spill import in_blocks

    return in_blocks(codes, change, dtype)


def _encode_wide_integers(series: pl.Series) -> EncodedRows:
    """Integers that are too far apart for a table that grows: by a table of this batch's own, or by sorting."""
    physical = physical_integers(series)
    low, high = physical.min(), physical.max()
    assert isinstance(low, int)
    assert isinstance(high, int)
    array = physical.fill_null(low).to_numpy()
    if high - low < PLACES_PER_ROW * len(array) and high < 2**63:
        above = np.subtract(array, low, dtype=np.int64)
        present = np.zeros(high - low + 1, bool)
        present[above] = True
        distinct = np.flatnonzero(present)
        code_of = np.empty(len(present), smallest_unsigned(len(distinct) + 1))
        code_of[distinct] = np.arange(len(distinct))
        codes, distinct = code_of[above], distinct + low
    else:
        distinct, codes = np.unique(array, return_inverse=True)
        codes = codes.astype(smallest_unsigned(len(distinct) + 1))
    if physical.null_count():
        codes[physical.is_null().to_numpy()] = len(distinct)
    return EncodedRows(codes, integer_series(distinct).cast(physical.dtype).cast(series.dtype))


def respelled_texts(texts: pl.Series, values: pl.Series) -> int:
    """How many texts of a text file are not how their values are written again: `57800000` among fractions, `NA`.

    >>> respelled_texts(pl.Series(["1", "2.5"]), pl.Series([1.0, 2.5]))
    1
    """
    if values.dtype == pl.String or values.dtype == pl.Null:
        return 0
    missing = int(((texts != "") & values.is_null()).sum())
    known = values.is_not_null()
    if values.dtype.is_float() or values.dtype == pl.Datetime:
        lines = values.filter(known).alias("").to_frame().write_csv(include_header=False).split("\n")
        return missing + int((texts.filter(known) != pl.Series(lines[:-1], dtype=pl.String)).sum())
    return missing + int((texts.filter(known) != values.filter(known).cast(pl.String)).sum())


def _negative_zeros(series: pl.Series) -> Array:
    """The rows of a batch that hold -0.0."""
    zeros = (series == 0).fill_null(False)
    if not zeros.any():
        return np.zeros(0, np.int64)
    rows = zeros.arg_true().to_numpy()
    return np.asarray(rows[np.signbit(series.gather(rows).to_numpy())])


def _encode_floats(series: pl.Series) -> EncodedRows:
    """Floats; NaN is a missing value, as every data frame library writes it."""
    series = series.fill_nan(None)
    null = series.is_null().to_numpy()
    # -0.0 is the value 0.0
    distinct, found = np.unique(series.drop_nulls().to_numpy() + 0.0, return_inverse=True)
    codes = np.full(len(series), len(distinct), smallest_unsigned(len(distinct) + 1))
    codes[~null] = found
    return EncodedRows(codes, pl.Series(distinct, dtype=series.dtype))
