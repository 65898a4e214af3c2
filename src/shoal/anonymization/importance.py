"""How much columns matter relative to each other, as numbers that a search can count with."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from shoal.errors import InputError

# past such a ratio the tolerance of the searches would decide about the least important column, not the data
_MOST_TIMES = 1e6
# weights in between are taken as they are: exp of their sum is finite, and what they weigh is far above rounding
_LARGEST, _MOST_TOGETHER = 64.0, 512.0


def relative_importance(importance: Mapping[str, float], names: Sequence[str]) -> dict[str, float]:
    """The importance of columns (1 where none is given): as given, or all times one power of two.

    Only ratios matter: the score is (product of (1 + x)^w)^(1 / sum w) - 1, or the mean with weights w / sum w. Where
    the largest w is not from 1/64 to 64, or all together are above 512, they are scaled to a sum above 32, at most 64.

    >>> relative_importance({"age": 3}, ["age", "sex"])
    {'age': 3.0, 'sex': 1.0}
    >>> relative_importance({"age": 3e300, "sex": 1.5e300}, ["age", "sex"])["sex"] < 64
    True
    """
    weights = {name: float(importance.get(name, 1.0)) for name in names}
    if not weights:
        return weights
    if wrong := [name for name, weight in weights.items() if not 0 < weight < math.inf]:
        raise InputError(f"The importance of column '{wrong[0]}' is not a number above 0.", "Use 1 for the usual one.")
    least, most = min(weights, key=weights.__getitem__), max(weights, key=weights.__getitem__)
    largest = weights[most]
    if largest / _MOST_TIMES > weights[least]:
        raise InputError(
            f"By `importance` column '{most}' matters more than a million times as much as column '{least}': "
            "rounding would decide about the latter, not the data.",
            "Use numbers that differ less (a column that is not named in `importance` has 1), or leave the column out "
            "of the quasi-identifiers.",
        )
    if 1 / _LARGEST <= largest <= _LARGEST and sum(weights.values()) <= _MOST_TOGETHER:
        return weights
    _, exponent = math.frexp(largest)
    together = sum(math.ldexp(weight, -exponent) for weight in weights.values())
    shift = math.floor(math.log2(_LARGEST / together)) - exponent
    return {name: math.ldexp(weight, shift) for name, weight in weights.items()}
