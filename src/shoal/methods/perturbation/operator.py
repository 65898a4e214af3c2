"""What every operator is: columns that it changes, and how, from a stream of random numbers of its own."""

from __future__ import annotations

import zlib
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
import polars as pl

from shoal.errors import InputError, Message, Setting, as_names
from shoal.kernels.rows import swap_partners
from shoal.policy import share_of
from shoal.policy.amounts import number_of
from shoal.ranges.columns import Nature
from shoal.storage import Array
from shoal.storage.classes import Coded, Codes, class_of_each_row, first_row_of_each_class, pack
from shoal.storage.encode import encode

Columns = Sequence[pl.Series]
Random = np.random.Generator
# the squares of larger numbers, and sums of these, are no numbers
_LARGEST_PERTURBED = 1e150


@dataclass(frozen=True)
class Operator(ABC):
    """One change of one column (or of several at once): `change` gets and gives whole columns, nulls kept.

    `word` is its name on the command line and in the manifest.
    """

    word: ClassVar[str]
    nature: ClassVar[Nature] = "perturbed"
    # types that it works on, in words; text has no ranks and no sums
    for_text: ClassVar[bool] = False

    columns: tuple[str, ...]

    @property
    def setting(self) -> str:
        """What was asked, for the manifest: settings, never values of the data; most operators have one number."""
        return as_setting(getattr(self, fields(self)[-1].name))

    @abstractmethod
    def change(self, columns: Columns, original: Columns, random: Random) -> list[pl.Series]:
        """The columns after the change; `original` are they as they came in."""

    def given(self) -> tuple[str, ...]:
        """Other columns that it looks at."""
        return ()

    def check(self, columns: Columns) -> None:
        """Refuse columns that it cannot change."""
        for series in columns:
            if not self.for_text and not (series.dtype.is_numeric() or series.dtype.is_temporal()):
                raise InputError(
                    f"Column '{series.name}' holds text: {self.word} needs numbers or dates.",
                    "Use pram for categories.",
                )
            if series.dtype.is_float() and bool((series.abs() > _LARGEST_PERTURBED).any()):
                raise InputError(
                    f"Column '{series.name}' holds numbers past 1e150, of which no deviation can be told.",
                    "Leave it out, or give it in a larger unit.",
                )
            if series.null_count() == len(series):
                raise InputError(f"Column '{series.name}' has no values.", "Leave it out.")


def as_setting(number: float) -> str:
    """A number as it is read again, to its last digit.

    >>> as_setting(10.0), as_setting(0.1)
    ('10', '0.1')
    """
    return repr(number).removesuffix(".0")


def changed_by(
    operator: Operator,
    current: Sequence[pl.Series],
    original: Sequence[pl.Series],
    seed: int,
    household: Codes | None = None,
) -> list[pl.Series]:
    """The columns of an operator after it; what all members of each household share is changed once for all of them.

    >>> from shoal.storage.encode import encode
    >>> pay, home = pl.Series("pay", [100.0, 100.0, 300.0, 300.0]), encode(pl.Series([7, 7, 8, 8]))
    >>> [after] = changed_by(Noise(("pay",), 0.1), [pay], [pay], 1, home)
    >>> after[0] == after[1], after[2] == after[3], after[0] == 100
    (True, True, False)
    """
    random = random_for(seed, operator)
    if household is None:
        return operator.change(current, original, random)
    homes, count = class_of_each_row(Coded(household.codes, household.cardinality))
    each = [encode(series) for series in original]
    if class_of_each_row(pack([Coded(homes, count), *each]))[1] > count:
        return operator.change(current, original, random)
    first = first_row_of_each_class(homes, count)
    after = operator.change([one.gather(first) for one in current], [one.gather(first) for one in original], random)
    return [series.gather(homes) for series in after]


def random_for(seed: int, operator: Operator) -> Random:
    """A stream of its own for each operator and column, so that the order of the options changes nothing.

    >>> a, b = (random_for(7, Round((name,), 10.0)).random() for name in ("age", "income"))
    >>> a != b
    True
    """
    name = zlib.crc32("\0".join([operator.word, *operator.columns]).encode())
    return np.random.default_rng(np.random.SeedSequence([seed, name]))


def as_numbers(series: pl.Series) -> Array:
    """A column as numbers, null as NaN; dates as days or microseconds.

    >>> as_numbers(pl.Series([1, None])).tolist()
    [1.0, nan]
    """
    physical = series if series.dtype.is_numeric() else series.to_physical()
    return physical.cast(pl.Float64).fill_null(float("nan")).to_numpy()


def like(series: pl.Series, numbers: Array) -> pl.Series:
    """Numbers in the type of a column: whole numbers and dates are rounded; NaN is null.

    >>> like(pl.Series("age", [30, 40]), np.array([30.4, float("nan")])).to_list()
    [30, None]
    """
    found = pl.Series(series.name, numbers).fill_nan(None)
    if series.dtype.is_float():
        return found.cast(series.dtype)
    if series.dtype.is_integer() or series.dtype.is_temporal():
        whole = found.round(0).cast(pl.Int64)
        # noise can leave a narrow or unsigned type
        if series.dtype.is_integer() and whole.cast(series.dtype, strict=False).null_count() > whole.null_count():
            return whole
        return whole.cast(series.to_physical().dtype).cast(series.dtype)
    return found


@dataclass(frozen=True)
class Noise(Operator):
    """value + share · s · ε, where s is the sample standard deviation of the column and ε is standard normal.

    Means are kept on average; the variance grows to (1 + share²) of what it was. Of numbers of which none is negative
    none becomes so: what falls below nought is mirrored there, which raises the mean of columns with many small values.

    >>> ages = pl.Series("age", [20.0, 30.0, 40.0])
    >>> [after] = Noise(("age",), 0.5).change([ages], [ages], np.random.default_rng(1))
    >>> after.round(2).to_list()
    [21.73, 34.11, 41.65]
    """

    word: ClassVar[str] = "noise"

    share: float  # of the standard deviation

    def change(self, columns: Columns, original: Columns, random: Random) -> list[pl.Series]:
        """One column with noise."""
        values = as_numbers(columns[0])
        spread = float(np.nanstd(as_numbers(original[0]), ddof=1)) if np.isfinite(values).sum() > 1 else 0.0
        _must_vary(columns[0].name, spread)
        after = values + self.share * spread * random.standard_normal(len(values))
        return [like(columns[0], np.abs(after) if _none_negative(columns[0]) else after)]


def _none_negative(series: pl.Series) -> bool:
    """Whether a column holds amounts: numbers, none of them below nought."""
    return series.dtype.is_numeric() and not bool((series < 0).any())


@dataclass(frozen=True)
class CorrelatedNoise(Operator):
    """mean + √(1 − share²) · (value − mean) + share · e, where e is normal with the covariance of the columns.

    Means and covariances, and so correlations, stay what they were on average (after Kim 1986; Tendick 1991). The
    covariance is that of the rows in which none of the columns is missing. Columns without negative numbers get none.
    """

    word: ClassVar[str] = "correlated-noise"

    share: float

    @property
    def setting(self) -> str:
        """The share, and the columns that it keeps together."""
        return f"{as_setting(self.share)} with {', '.join(self.columns)}"

    def change(self, columns: Columns, original: Columns, random: Random) -> list[pl.Series]:
        """All columns with noise."""
        values = np.stack([as_numbers(series) for series in columns], axis=1)
        whole = values[np.isfinite(values).all(axis=1)]
        if len(whole) < 2:
            raise InputError(
                "The columns of correlated noise are never there together.", "Leave out the one that is missing most."
            )
        mean, covariance = whole.mean(axis=0), np.atleast_2d(np.cov(whole, rowvar=False))
        for series, variance in zip(columns, np.diag(covariance), strict=True):
            _must_vary(series.name, float(variance))
        noise = random.standard_normal(values.shape) @ _root(covariance).T
        after = mean + np.sqrt(1 - self.share**2) * (values - mean) + self.share * noise
        found = [np.abs(one) if _none_negative(series) else one for series, one in zip(columns, after.T, strict=True)]
        return [like(series, one) for series, one in zip(columns, found, strict=True)]


def _root(covariance: Array) -> Array:
    """A matrix whose square is the covariance, also where columns depend on each other."""
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(vectors * np.sqrt(np.clip(values, 0, None)))


def _must_vary(name: str, spread: float) -> None:
    if not spread > 0:
        raise InputError(f"Column '{name}' does not vary: noise has no measure.", "Leave it out.")


@dataclass(frozen=True)
class Round(Operator):
    """The nearest multiple of a base, halves upwards.

    >>> pay = pl.Series("pay", [149, 150, -150])
    >>> Round(("pay",), 100.0).change([pay], [pay], np.random.default_rng(0))[0].to_list()
    [100, 200, -100]
    """

    word: ClassVar[str] = "round"
    nature: ClassVar[Nature] = "representative"

    base: float

    def check(self, columns: Columns) -> None:
        """Numbers only, and whole ones to a whole base."""
        super().check(columns)
        if not columns[0].dtype.is_numeric():
            raise InputError(f"Column '{columns[0].name}' does not hold numbers.", "Round numbers only.")
        if columns[0].dtype.is_integer() and self.base != int(self.base):
            raise InputError(
                f"Column '{columns[0].name}' holds whole numbers: they are not rounded to parts.", "Use a whole base."
            )

    def change(self, columns: Columns, original: Columns, random: Random) -> list[pl.Series]:
        """One column, rounded."""
        return [like(columns[0], np.floor(as_numbers(columns[0]) / self.base + 0.5) * self.base)]


@dataclass(frozen=True)
class Swap(Operator):
    """Each value changes places with one at most `share` of the ranks away (Moore 1996).

    The values of the column stay exactly those that were there. Equal values have ranks in random order. Nothing else
    is done to the column: no rare value is averaged away.
    """

    word: ClassVar[str] = "swap"

    share: float

    @property
    def setting(self) -> str:
        """The share of ranks."""
        return f"{100 * self.share:.15g}%"

    def change(self, columns: Columns, original: Columns, random: Random) -> list[pl.Series]:
        """One column with its values in other rows."""
        series = columns[0]
        there = np.flatnonzero(series.is_not_null().to_numpy())
        window = int(self.share * len(there) + 1e-9)
        if window < 1:
            raise InputError(
                f"{self.setting} of the {len(there):,} values of '{series.name}' is less than one rank.",
                "Use a larger share.",
            )
        order = there[np.lexsort((random.random(len(there)), as_numbers(series)[there]))]
        partner = swap_partners(window, random.random(len(order)))
        rows = np.arange(len(series))
        rows[order] = order[partner]
        return [series.gather(rows)]


@dataclass(frozen=True)
class Pram(Operator):
    """A value is kept with probability `keep`, otherwise drawn anew from the column's own distribution.

    The matrix of transitions is keep · I + (1 − keep) · 1πᵗ with the frequencies π of the column, and
    π(keep · I + (1 − keep) · 1πᵗ) = π: the post-randomisation is invariant (Gouweleeuw et al. 1998), expected
    frequencies stay what they are. Missing values stay missing.
    """

    word: ClassVar[str] = "pram"
    for_text: ClassVar[bool] = True

    keep: float  # the probability to keep a value

    def change(self, columns: Columns, original: Columns, random: Random) -> list[pl.Series]:
        """One column with some values drawn anew."""
        series = columns[0]
        there = np.flatnonzero(series.is_not_null().to_numpy())
        drawn = there[random.random(len(there)) >= self.keep]
        rows = np.arange(len(series))
        rows[drawn] = there[random.integers(0, len(there), len(drawn))]
        return [series.gather(rows)]


# Data shuffling: the values of a column go to other rows, in the order of a draw that knows other columns.
#
# After Muralidhar and Sarathy (2006), with a normal copula: columns become normal scores, the column is drawn anew from
# its distribution given the others, and its own values are dealt out by the ranks of that draw.


@dataclass(frozen=True)
class Shuffle(Operator):
    """The column's own values in other rows; rank correlations with the columns `kept` stay what they were on average.

    Without `kept` the values are dealt out at random, and every correlation is lost. `change` gets the column first,
    then those that are kept.
    """

    word: ClassVar[str] = "shuffle"

    kept: tuple[str, ...] = ()

    @property
    def setting(self) -> str:
        """The columns whose correlation is kept."""
        return "+".join(self.kept) if self.kept else "at random"

    def given(self) -> tuple[str, ...]:
        """The columns whose correlation is kept."""
        return self.kept

    def change(self, columns: Columns, original: Columns, random: Random) -> list[pl.Series]:
        """One column with its values in other rows."""
        series, others = columns[0], list(columns[1:])
        for other in others:
            if other.null_count():
                raise InputError(
                    f"Column '{other.name}' has missing values: a shuffle cannot keep its correlation.",
                    "Leave it out, or fill them first.",
                )
        there = np.flatnonzero(series.is_not_null().to_numpy())
        values = as_numbers(series)[there]
        draw = random.standard_normal(len(there))
        if others:
            scores = [normal_scores(as_numbers(other)[there]) for other in others]
            draw = _given_others(normal_scores(values), np.stack(scores, axis=1), draw)
        source = there[np.lexsort((random.random(len(there)), values))]
        rows = np.arange(len(series))
        rows[there[np.argsort(draw, kind="stable")]] = source
        return [series.gather(rows)]


def normal_scores(values: Array) -> Array:
    """The normal quantile of each value's rank; equal values share the mean of theirs.

    >>> normal_scores(np.array([1.0, 9.0])).round(3).tolist()
    [-0.431, 0.431]
    """
    order = np.argsort(values, kind="stable")
    scores = _quantiles((np.arange(len(values)) + 1) / (len(values) + 1))
    starts = np.flatnonzero(np.append(True, values[order][1:] != values[order][:-1]))
    means = np.add.reduceat(scores, starts) / np.diff(starts, append=len(values))
    found = np.empty(len(values))
    found[order] = np.repeat(means, np.diff(starts, append=len(values)))
    return found


def _quantiles(shares: Array) -> Array:
    """Normal quantiles of evenly spaced shares, from the integral of the density.

    scipy's `ndtri` differs in the eighth digit, which would deal a few values of a large table to other rows: a release
    with the same seed would not be the same.
    """
    from statistics import NormalDist

    grid = np.linspace(-9, 9, 20_001)
    density = np.exp(-(grid**2) / 2)
    below = np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) / 2)])
    quantiles = np.interp(shares, below / below[-1], grid)
    # the ends carry the most weight: take them exactly
    ends = np.flatnonzero((shares < 1e-4) | (shares > 1 - 1e-4))
    exact = NormalDist()
    quantiles[ends] = [exact.inv_cdf(share) for share in shares[ends].tolist()]
    return np.asarray(quantiles)


def _given_others(own: Array, others: Array, noise: Array) -> Array:
    """A draw of the column's scores given the others': the regression on them, and normal noise of what it leaves."""
    scale = others.std(axis=0)
    if not (scale > 0).all() or own.std() == 0:
        raise InputError("A column of shuffle does not vary.", "Leave it out.")
    others, own = others / scale, own / own.std()
    slope, *_ = np.linalg.lstsq(others, own, rcond=None)
    fitted = others @ slope
    return np.asarray(fitted + np.sqrt(max(1 - fitted.var(), 0.0)) * noise)


@dataclass(frozen=True)
class _Code(Operator):
    """The limit is a number, or the smallest (largest) value that this share of the records does not exceed."""

    nature: ClassVar[Nature] = "representative"

    limit: float
    is_share: bool

    @property
    def setting(self) -> str:
        """The limit as it was given."""
        return f"{100 * self.limit:.15g}%" if self.is_share else as_setting(self.limit)

    def check(self, columns: Columns) -> None:
        """Numbers only: a limit of dates is not read."""
        super().check(columns)
        if not columns[0].dtype.is_numeric():
            raise InputError(f"Column '{columns[0].name}' does not hold numbers.", "Code numbers only.")

    # the values with the limit in place of what lies beyond it
    coded: ClassVar[np.ufunc]

    def change(self, columns: Columns, original: Columns, random: Random) -> list[pl.Series]:
        """One column without what lies beyond the limit."""
        limit = self.limit
        if self.is_share:  # of the values as they came in, whatever was done to them since
            values = as_numbers(original[0])
            limit = float(np.quantile(values[np.isfinite(values)], limit, method="inverted_cdf"))
        if columns[0].dtype.is_integer() and limit != int(limit):
            raise InputError(
                f"Column '{columns[0].name}' holds whole numbers: the limit of {self.word} is not one.",
                "Give a whole one.",
            )
        return [like(columns[0], self.coded(as_numbers(columns[0]), limit))]


@dataclass(frozen=True)
class TopCode(_Code):
    """Values above the limit are written as the limit.

    >>> pay = pl.Series("pay", [1, 2, 3, 90])
    >>> TopCode(("pay",), 0.75, True).change([pay], [pay], np.random.default_rng(0))[0].to_list()
    [1, 2, 3, 3]
    """

    word: ClassVar[str] = "top-code"
    coded = np.minimum


@dataclass(frozen=True)
class BottomCode(_Code):
    """Values below the limit are written as the limit.

    >>> pay = pl.Series("pay", [-5, 2, 3, 4])
    >>> BottomCode(("pay",), 0.0, False).change([pay], [pay], np.random.default_rng(0))[0].to_list()
    [0, 2, 3, 4]
    """

    word: ClassVar[str] = "bottom-code"
    coded = np.maximum


Settings = Mapping[str, float | str]
NoiseSettings = Mapping[str | tuple[str, ...], float | str]


def operators_of(
    noise: NoiseSettings | None = None,
    swap: Settings | None = None,
    shuffle: Mapping[str, Sequence[str]] | Sequence[str] | str | None = None,
    pram: Settings | None = None,
    top_code: Settings | None = None,
    bottom_code: Settings | None = None,
    round: Settings | None = None,
) -> list[Operator]:
    """Operators, in the order: noise, swapping, shuffling, PRAM, coding, rounding, whatever the order of the options.

    What limits the shown values comes last, so that noise does not lead beyond a limit again.

    >>> [operator.word for operator in operators_of(top_code={"pay": "99%"}, noise={"pay": 0.1})]
    ['noise', 'top-code']
    """
    operators: list[Operator] = []
    operators += [_noise(names, given) for names, given in (noise or {}).items()]
    operators += [Swap((name,), _share(Setting("swap"), given, zero=False)) for name, given in (swap or {}).items()]
    shuffles = shuffle if isinstance(shuffle, Mapping) else dict.fromkeys(as_names(shuffle), ())
    operators += [Shuffle((name,), tuple(as_names(kept))) for name, kept in shuffles.items()]
    operators += [Pram((name,), _share(Setting("pram"), given)) for name, given in (pram or {}).items()]
    operators += [TopCode((name,), *_limit(Setting("top_code"), given)) for name, given in (top_code or {}).items()]
    operators += [
        BottomCode((name,), *_limit(Setting("bottom_code"), given)) for name, given in (bottom_code or {}).items()
    ]
    operators += [Round((name,), _positive(Setting("round"), given)) for name, given in (round or {}).items()]
    if not operators:
        raise InputError("Nothing is to be perturbed.", Message("Give {noise} for a column, 0.1 for example."))
    noisy = [name for one in operators if isinstance(one, (Noise, CorrelatedNoise)) for name in one.columns]
    if twice := sorted({name for name in noisy if noisy.count(name) > 1}):
        raise InputError(f"Column '{twice[0]}' is given noise twice.", "Name it once.")
    for operator in operators:
        if set(operator.given()) & set(operator.columns):
            raise InputError(f"Column '{operator.columns[0]}' is shuffled by itself.", "Name another column to keep.")
    return operators


def asked_again(entries: Sequence[Mapping[str, str]]) -> list[Operator]:
    """The operators that a manifest tells, one entry for each column of each.

    >>> [again] = asked_again([{"column": "pay", "operator": "top-code", "setting": "99%"}])
    >>> again.setting
    '99%'
    """
    given: dict[str, dict[Any, Any]] = {}
    together: dict[str, list[str]] = {}
    for entry in entries:
        name, word, setting = entry["column"], entry["operator"], entry["setting"]
        if word == "correlated-noise":
            together.setdefault(setting, []).append(name)
        elif word == "shuffle":
            given.setdefault(word, {})[name] = [] if setting == "at random" else setting.split("+")
        else:
            given.setdefault(word.replace("-", "_"), {})[name] = setting
    for setting, names in together.items():
        given.setdefault("noise", {})[tuple(names)] = setting.split(" with ")[0]
    return operators_of(**given)


def _noise(names: str | tuple[str, ...], given: float | str) -> Operator:
    """Noise for one column, or for several together."""
    if isinstance(names, str):
        return Noise((names,), _positive(Setting("noise"), given))
    share = _positive("correlated noise", given)
    if share >= 1:
        raise InputError("A share of correlated noise is not below 1.", "Use 0.1, for example.")
    return CorrelatedNoise(tuple(as_names(names)), share)


_LARGEST = 10**300


def _number(option: Setting | str, given: Any) -> float:
    text = str(given).strip()
    try:
        number = number_of(text)
    except ValueError:
        what = "a finite number" if text.strip("+-").lower() in ("nan", "inf", "infinity") else "a number"
        raise InputError(Message("{} '{}' is not {}.", option, text, what), "Write a number such as 0.1.") from None
    if abs(number) >= _LARGEST:
        raise InputError(Message("{} '{}' is too large a number.", option, text), "Write a number below 1e300.")
    return float(number)


def _positive(option: Setting | str, given: Any) -> float:
    number = _number(option, given)
    if not number > 0:
        raise InputError(Message("{} '{}' is not above 0.", option, given), "Use a number above 0.")
    return number


def _share(option: Setting | str, given: Any, zero: bool = True) -> float:
    try:
        share = float(share_of(given))
    except ValueError as error:
        raise InputError(Message("{} '{}': {}.", option, given, error), "Write a share such as 5%.") from None
    if not 0 <= share <= 1 or (share == 0 and not zero):
        raise InputError(Message("{} '{}' is not a share above 0.", option, given), "Write a share such as 5%.")
    return share


def _limit(option: Setting | str, given: Any) -> tuple[float, bool]:
    """A number, or with a percent sign a share of the records."""
    number, is_share = _number(option, given), str(given).strip().endswith("%")
    if is_share and not 0 < number < 1:
        raise InputError(
            Message("{} '{}' is not a share between 0 and 100%.", option, given), "Write a share such as 99%."
        )
    return number, is_share
