"""A column made ready once for all recognisers: a fixed sample of its distinct values, as text and as numbers."""

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.identifiers.base import ColumnView
from shoal.identifiers.form import compiled
from shoal.identifiers.header import read_header
from shoal.storage.folding import fold
from shoal.storage.texts import WORDS_FOR_MISSING

if TYPE_CHECKING:
    from shoal.identifiers.dates import ColumnDates


Mask = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.float64]

# Shares are read off at most this many distinct values; the standard error stays near one per cent.
_SAMPLE = 2_000
# The most frequent values are always looked at: one of them may hold half of the records.
_HEAVY = 300
# Validators in pure Python, slower than patterns, see at most this many.
_FEW = 500
# A pattern that meets none of these many values matches less than a tenth of the column and is not run on the rest.
_PILOT = 64
# No kind but free text is longer; patterns see no more of a value than this.
_LONGEST = 300

_NUMBER = r"^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,2})?$"


class ColumnEvidence:
    """A column view with what several recognisers need, computed on first use."""

    def __init__(self, view: ColumnView) -> None:
        """Drop what stands for "missing" and choose the sample, the same for any order of the values."""
        self.header = read_header(view.name)
        self.name, self.listed, self.label = view.name, view.listed, view.label
        values, counts = _present(view.values, np.asarray(view.counts, dtype=np.float64))
        self.dtype = values.dtype
        self.distinct = len(values)
        self.filled = int(counts.sum())
        self.values, self.weights = _sample(values, counts)
        self._total = float(self.weights.sum())
        self._masks: dict[tuple[str, int], Mask] = {}

    @property
    def is_text(self) -> bool:
        """Whether the values came as text."""
        return self.dtype == pl.String

    @property
    def distinct_share(self) -> float:
        """Distinct values per record with a value: 1 where every record has its own."""
        return self.distinct / self.filled if self.filled else 0.0

    @cached_property
    def text(self) -> list[str]:
        """The sampled values as text folded, without outer blanks; whole floats without their decimals."""
        values = self.values
        if values.dtype.is_numeric() and not values.dtype.is_integer() and self.whole:
            values = values.cast(pl.Int64, strict=False)
        written = values.cast(pl.String, strict=False).fill_null("").str.slice(0, 2 * _LONGEST)
        return fold(written).str.strip_chars().str.slice(0, _LONGEST).to_list()

    @cached_property
    def plain(self) -> list[str]:
        """The text in lower case, without accents and signs, words set apart by one blank."""
        lowered = pl.Series(self.text, dtype=pl.String).str.to_lowercase().str.normalize("NFKD")
        bare = lowered.str.replace_all(r"\p{M}", "").str.replace_all("ß", "ss")
        return bare.str.replace_all(r"[^\p{L}\d+<>=]+", " ").str.strip_chars().to_list()

    @cached_property
    def numbers(self) -> Numbers | None:
        """The sampled values as numbers (NaN where one is none); None where this is no column of numbers."""
        if self.dtype.is_numeric():
            return self.values.cast(pl.Float64, strict=False).fill_null(float("nan")).to_numpy()
        if self.is_text and self.filled and self.share(self.matches(_NUMBER)) >= 0.9:
            parsed = pl.Series(self.text, dtype=pl.String).cast(pl.Float64, strict=False)
            return parsed.fill_null(float("nan")).to_numpy()
        return None

    @cached_property
    def whole(self) -> bool:
        """Whether nearly all numbers are whole."""
        if self.dtype.is_integer():
            return True
        if self.numbers is None:
            return False
        with np.errstate(invalid="ignore"):
            return self.share(np.mod(self.numbers, 1) == 0) >= 0.9

    @cached_property
    def dates(self) -> "ColumnDates | None":
        """The dates among the sampled values, or None."""
        from shoal.identifiers.dates import read_dates

        return read_dates(self)

    @cached_property
    def _pilot(self) -> npt.NDArray[np.intp]:
        """The heaviest values and as many spread over the rest."""
        count = len(self.weights)
        if count <= 2 * _PILOT:
            return np.arange(count)
        heaviest = np.argsort(-self.weights, kind="stable")[: _PILOT // 2]
        return np.concatenate([heaviest, np.arange(0, count, -(-count // _PILOT))])

    def share(self, mask: Mask) -> float:
        """The share of the records with a value whose value is in the mask."""
        if self._total == 0:
            return 0.0
        return min(1.0, float(self.weights[mask].sum()) / self._total)

    def padded(self, width: int) -> list[str]:
        """The text with the leading zeros that a number loses, up to two of them, put back."""
        if not width or not self.dtype.is_numeric():
            return self.text
        return [value.zfill(width) if width - 2 <= len(value) < width else value for value in self.text]

    def matches(self, pattern: str, width: int = 0) -> Mask:
        """Which sampled values match the pattern (anchored by its author)."""
        key = (pattern, width)
        if key not in self._masks:
            search, text = compiled(pattern).search, self.padded(width)
            if any(search(text[i]) for i in self._pilot):
                self._masks[key] = np.fromiter((search(value) is not None for value in text), bool, len(text))
            else:
                self._masks[key] = np.zeros(len(text), dtype=bool)
        return self._masks[key]

    def known(self, words: frozenset[str]) -> Mask:
        """Which sampled values are among the words."""
        return np.fromiter((value in words for value in self.plain), bool, len(self.plain))

    def passes(self, check: Callable[[str], bool], mask: Mask, width: int = 0, most: int = _FEW) -> tuple[float, int]:
        """The share of records among those in the mask that pass a check, and how many values it saw."""
        where = np.flatnonzero(mask)
        where = where[:: max(1, -(-len(where) // most))]
        if len(where) == 0:
            return 0.0, 0
        text = self.padded(width)
        good = np.fromiter((check(text[i]) for i in where), bool, len(where))
        weights = self.weights[where]
        return float(weights[good].sum() / weights.sum()), len(where)


def _present(values: pl.Series, counts: Numbers) -> tuple[pl.Series, Numbers]:
    """Without nulls, NaN and the words that stand for "missing"; lists, bytes and spans of time are not looked at."""
    if values.dtype.is_nested() or values.dtype in (pl.Object, pl.Binary, pl.Null, pl.Duration):
        return pl.Series([], dtype=pl.String), counts[:0]
    if isinstance(values.dtype, pl.Categorical | pl.Enum):
        values = values.cast(pl.String)
    keep = values.is_not_null()
    if values.dtype == pl.String:
        short = fold(values.str.slice(0, 20)).str.strip_chars().str.to_lowercase()
        keep &= ~short.is_in(WORDS_FOR_MISSING).fill_null(True)
    elif values.dtype.is_float():
        keep &= values.is_finite().fill_null(False)
    return values.filter(keep), counts[keep.to_numpy()]


def _sample(values: pl.Series, counts: Numbers) -> tuple[pl.Series, Numbers]:
    """Sorted sample: the most frequent values, and of the rest those of smallest keyed hash, weighted up."""
    if len(values) > _SAMPLE:
        # Strictly above the count of the 300th: fewer than 300 values, the same ones in any order of the column.
        heavy = np.flatnonzero(counts > np.partition(counts, -_HEAVY)[-_HEAVY])
        rest = np.delete(np.arange(len(counts)), heavy)
        hashes = values.hash(seed=20_240_607).to_numpy()[rest]
        drawn = rest[np.argpartition(hashes, _SAMPLE - _HEAVY)[: _SAMPLE - _HEAVY]]
        scale = counts[rest].sum() / counts[drawn].sum()
        values = pl.concat([values.gather(heavy), values.gather(drawn)])
        counts = np.concatenate([counts[heavy], counts[drawn] * scale])
    order = values.arg_sort().to_numpy()
    return values.gather(order), counts[order]
