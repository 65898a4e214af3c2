"""beta-likeness: in no class is a sensitive value much more frequent than in the whole table."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from shoal.models.base import AboutSensitive, Evidence, Merging
from shoal.models.spread import Spread
from shoal.storage import Array


class RelativeGain(AboutSensitive):
    """A model of the gain of what is believed about a value."""

    figure: ClassVar[str] = "gain"
    at_most: ClassVar[bool] = True
    joins: ClassVar[Merging] = "good"
    joins_persons: ClassVar[bool] = True
    bound: ClassVar[str] = "beta"

    beta: Annotated[float, Field(gt=0)]


class BetaLikeness(RelativeGain):
    """The relative gain (q - p) / p of every value is at most beta (Cao and Karras).

    Cost: one look at the sparse counts. q is a value's share in the class, p in the whole table.

    >>> from shoal.models.evidence import evidence_of_rows
    >>> from shoal.storage.reading import read
    >>> table = read({"illness": ["cancer", "cancer", "flu", "flu"]})
    >>> BetaLikeness(beta=0.5, sensitive="illness").judge(evidence_of_rows(np.array([0, 0, 0, 1]), table.columns)).worst
    {'gain': 1, 'size': 1, 'failing_classes': 1}
    """

    model: Literal["beta-likeness"] = "beta-likeness"

    def measure_cells(self, spread: Spread) -> Array:
        """The largest relative gain of a value in each cell; -1 where none is known."""
        return spread.largest(_gains(spread))

    def greatest(self, evidence: Evidence) -> float:
        """The gain of the rarest value, alone in a class."""
        shares = self.spread(evidence).whole.prevalence
        return float(1 / shares[shares > 0].min() - 1) if shares.any() else 0.0


class EnhancedBetaLikeness(RelativeGain):
    """As beta-likeness, with the limit min(beta, -ln p) for a value of share p: frequent values are held closer.

    The figure is the gain over that limit times beta, so that beta is the limit for all.

    >>> from shoal.models.evidence import evidence_of_rows
    >>> from shoal.storage.reading import read
    >>> table = read({"illness": ["cancer", "cancer", "flu", "flu"]})
    >>> rows = evidence_of_rows(np.array([0, 0, 0, 1]), table.columns)
    >>> round(EnhancedBetaLikeness(beta=2, sensitive="illness").judge(rows).worst["gain"], 4)
    2.8854
    """

    model: Literal["enhanced-beta-likeness"] = "enhanced-beta-likeness"

    def measure_cells(self, spread: Spread) -> Array:
        """The largest gain of a value in each cell, in units of its own limit."""
        gain = _gains(spread)
        whole = np.where(spread.is_value, spread.whole.prevalence[spread.codes], 1.0)
        # a value that everybody has cannot gain
        limits = np.minimum(self.beta, -np.log(whole))
        return spread.largest(np.divide(gain, limits, out=np.zeros_like(gain), where=limits > 0) * self.beta)

    def greatest(self, evidence: Evidence) -> float:
        """Of classes that hold one value only."""
        shares = self.spread(evidence).whole.prevalence
        shares = shares[(shares > 0) & (shares < 1)]
        if not len(shares):
            return 0.0
        return float(((1 / shares - 1) / np.minimum(self.beta, -np.log(shares))).max() * self.beta)


def _gains(spread: Spread) -> Array:
    """(q - p) / p of each value, q and p the shares of members who have it in the cell and in the whole table."""
    whole = np.where(spread.is_value, spread.whole.prevalence[spread.codes], 1.0)
    return np.asarray((spread.prevalence - whole) / whole)
