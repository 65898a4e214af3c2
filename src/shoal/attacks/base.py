"""What every attack says of itself, and what it found: targets, successes and how sure the rate is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol

from shoal.releases.open import Release
from shoal.results import Figure, Figures, Headline, Notes, Result, Section
from shoal.wording import percent

Criterion = Literal["singling-out", "linkability", "inference", "membership"]
# two-sided 95% of a normal distribution
_Z = 1.959963984540054


@dataclass(frozen=True, repr=False)
class AttackOutcome(Result):
    """One attack: of so many targets, so many were hit; the rate with its 95% Wilson interval.

    `baseline` is what somebody guesses right who has not seen the release.
    """

    name: ClassVar[str] = "attack"

    attack: str
    criterion: Criterion
    targets: int
    successes: int
    rate: float | None
    low: float | None
    high: float | None
    baseline: float | None
    notes: list[str]

    def summary(self) -> str:
        """What the attack found, in a sentence."""
        if self.rate is None:
            return f"{self.attack}: there was nobody to attack."
        return f"{self.attack}: {self.successes:,} of {self.targets:,} targets were hit ({percent(self.rate)})."

    def sections(self) -> list[Section]:
        """The sentence, the interval and what it must be held against."""
        shown: list[Section] = [Headline(self.summary(), "bad" if self.successes else "good")]
        if self.low is not None and self.high is not None:
            figures = [Figure("95% interval", f"{percent(self.low)} to {percent(self.high)}")]
            if self.baseline is not None:
                figures.append(Figure("guessed right without the release", percent(self.baseline)))
            shown.append(Figures(figures))
        return [*shown, Notes(self.notes)]


class Attack(Protocol):
    """An attack on a release: its name, the WP29 criterion that it tests, and how it is run."""

    name: ClassVar[str]
    criterion: ClassVar[Criterion]

    def run(self, release: Release) -> AttackOutcome:
        """Attack a release."""
        ...


# every attack, in the order in which a battery runs them
ATTACKS: list[Attack] = []


def wilson(successes: float, targets: int) -> tuple[float, float]:
    """The 95% interval of a rate (Wilson 1927): it is never wider than 0 to 1, and right for few targets too.

    >>> [round(end, 4) for end in wilson(0, 30)], [round(end, 4) for end in wilson(15, 30)]
    ([0.0, 0.1135], [0.3315, 0.6685])
    """
    rate, square = successes / targets, _Z * _Z / targets
    middle = (rate + square / 2) / (1 + square)
    half = _Z * math.sqrt(rate * (1 - rate) / targets + square / (4 * targets)) / (1 + square)
    return max(0.0, middle - half), min(1.0, middle + half)
