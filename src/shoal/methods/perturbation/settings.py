"""What is asked for, as operators in the order in which they work."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl

from shoal.errors import InputError, Message, Setting, as_names
from shoal.methods.perturbation.operator import CorrelatedNoise, Noise, Operator, Pram, Round, Swap, as_numbers, like
from shoal.policy import share_of
from shoal.policy.amounts import number_of
from shoal.ranges.columns import Nature
from shoal.storage import Array

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

    def change(
        self, columns: Sequence[pl.Series], original: Sequence[pl.Series], random: np.random.Generator
    ) -> list[pl.Series]:
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


# Top and bottom coding: what lies beyond a limit is written as the limit.


@dataclass(frozen=True)
class _Code(Operator):
    """The limit is a number, or the smallest (largest) value that this share of the records does not exceed."""

    nature: ClassVar[Nature] = "representative"

    limit: float
    is_share: bool

    @property
    def setting(self) -> str:
        """The limit as it was given."""
        return f"{100 * self.limit:g}%" if self.is_share else f"{self.limit:g}"

    def check(self, columns: Sequence[pl.Series]) -> None:
        """Numbers only: a limit of dates is not read."""
        super().check(columns)
        if not columns[0].dtype.is_numeric():
            raise InputError(f"Column '{columns[0].name}' does not hold numbers.", "Code numbers only.")

    def _limit(self, original: pl.Series) -> float:
        """From the values as they came in, whatever was done to them since."""
        if not self.is_share:
            return self.limit
        values = as_numbers(original)
        return float(np.quantile(values[np.isfinite(values)], self.limit, method="inverted_cdf"))

    @abstractmethod
    def _coded(self, values: Array, limit: float) -> Array:
        """The values with the limit in place of what lies beyond it."""

    def change(
        self, columns: Sequence[pl.Series], original: Sequence[pl.Series], random: np.random.Generator
    ) -> list[pl.Series]:
        """One column without what lies beyond the limit."""
        limit = self._limit(original[0])
        if columns[0].dtype.is_integer() and limit != int(limit):
            raise InputError(
                f"Column '{columns[0].name}' holds whole numbers: the limit of {self.word} is not one.",
                "Give a whole one.",
            )
        return [like(columns[0], self._coded(as_numbers(columns[0]), limit))]


@dataclass(frozen=True)
class TopCode(_Code):
    """Values above the limit are written as the limit.

    >>> pay = pl.Series("pay", [1, 2, 3, 90])
    >>> TopCode(("pay",), 0.75, True).change([pay], [pay], np.random.default_rng(0))[0].to_list()
    [1, 2, 3, 3]
    """

    word: ClassVar[str] = "top-code"

    def _coded(self, values: Array, limit: float) -> Array:
        return np.minimum(values, limit)


@dataclass(frozen=True)
class BottomCode(_Code):
    """Values below the limit are written as the limit.

    >>> pay = pl.Series("pay", [-5, 2, 3, 4])
    >>> BottomCode(("pay",), 0.0, False).change([pay], [pay], np.random.default_rng(0))[0].to_list()
    [0, 2, 3, 4]
    """

    word: ClassVar[str] = "bottom-code"

    def _coded(self, values: Array, limit: float) -> Array:
        return np.maximum(values, limit)


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
    operators += [Shuffle((name,), tuple(as_names(kept))) for name, kept in _shuffles(shuffle)]
    operators += [Pram((name,), _share(Setting("pram"), given)) for name, given in (pram or {}).items()]
    operators += [TopCode((name,), *_limit(Setting("top_code"), given)) for name, given in (top_code or {}).items()]
    operators += [
        BottomCode((name,), *_limit(Setting("bottom_code"), given)) for name, given in (bottom_code or {}).items()
    ]
    operators += [Round((name,), _positive(Setting("round"), given)) for name, given in (round or {}).items()]
    if not operators:
        raise InputError("Nothing is to be perturbed.", Message("Give {noise} for a column, 0.1 for example."))
    _check_once(operators)
    return operators


def _noise(names: str | tuple[str, ...], given: float | str) -> Operator:
    """Noise for one column, or for several together."""
    if isinstance(names, str):
        return Noise((names,), _positive(Setting("noise"), given))
    share = _positive("correlated noise", given)
    if share >= 1:
        raise InputError("A share of correlated noise is not below 1.", "Use 0.1, for example.")
    return CorrelatedNoise(tuple(as_names(names)), share)


def _shuffles(given: Mapping[str, Sequence[str]] | Sequence[str] | str | None) -> Iterable[tuple[str, Sequence[str]]]:
    return given.items() if isinstance(given, Mapping) else ((name, ()) for name in as_names(given))


def _check_once(operators: Sequence[Operator]) -> None:
    """A column can have noise once, and what is shuffled cannot be kept by itself."""
    noisy = [
        name for operator in operators if isinstance(operator, (Noise, CorrelatedNoise)) for name in operator.columns
    ]
    if twice := sorted({name for name in noisy if noisy.count(name) > 1}):
        raise InputError(f"Column '{twice[0]}' is given noise twice.", "Name it once.")
    for operator in operators:
        if set(operator.given()) & set(operator.columns):
            raise InputError(f"Column '{operator.columns[0]}' is shuffled by itself.", "Name another column to keep.")


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
