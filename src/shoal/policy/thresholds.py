"""Named thresholds on the risk of one record, each with its precedent. Which one applies is the user's to confirm."""

from __future__ import annotations

from dataclasses import dataclass

from shoal.errors import InputError

DEFAULT = 0.2


@dataclass(frozen=True)
class Threshold:
    """The highest risk that is accepted; a record whose risk is above it is over the threshold."""

    value: float
    name: str | None = None
    precedent: str | None = None


NAMED = {
    threshold.name: threshold
    for threshold in (
        Threshold(0.09, "ema", "European Medicines Agency, Policy 0070 guidance: public release of clinical reports"),
        Threshold(0.09, "health-canada", "Health Canada, Public Release of Clinical Information guidance (2019)"),
        Threshold(0.05, "public", "public release, the stricter figure in use: classes of at least 20"),
        Threshold(0.33, "trusted", "release to a trusted recipient under an agreement: classes of at least 4"),
        Threshold(1 / 11, "cms", "US Centers for Medicare & Medicaid Services: no cell under 11"),
    )
}


def find_threshold(given: str | float | None) -> Threshold:
    """A threshold by number or by name.

    >>> find_threshold("ema").value, find_threshold("0.1").value, find_threshold(None).value
    (0.09, 0.1, 0.2)
    """
    if given is None:
        return Threshold(DEFAULT)
    if isinstance(given, str) and given in NAMED:
        return NAMED[str(given)]
    try:
        value = float(given)
    except (ValueError, TypeError):
        value = float("nan")
    if not 0 < value <= 1:
        raise InputError(
            f"Threshold '{given}' is neither a number above 0 and up to 1 nor a known name.",
            f"Known names: {', '.join(f'{name} ({t.value:.2g})' for name, t in NAMED.items())}.",
        )
    return Threshold(value)
