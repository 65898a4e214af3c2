"""What is asked for, as operators in the order in which they work."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from shoal.errors import InputError, as_names
from shoal.perturbation.code import BottomCode, TopCode
from shoal.perturbation.noise import CorrelatedNoise, Noise
from shoal.perturbation.operator import Operator
from shoal.perturbation.pram import Pram
from shoal.perturbation.round import Round
from shoal.perturbation.shuffle import Shuffle
from shoal.perturbation.swap import Swap
from shoal.policy import share_of
from shoal.policy.amounts import number_of

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
    found: list[Operator] = []
    found += [_noise(names, given) for names, given in (noise or {}).items()]
    found += [Swap((name,), _share("swap", given, zero=False)) for name, given in (swap or {}).items()]
    found += [Shuffle((name,), tuple(as_names(kept))) for name, kept in _shuffles(shuffle)]
    found += [Pram((name,), _share("pram", given)) for name, given in (pram or {}).items()]
    found += [TopCode((name,), *_limit("top_code", given)) for name, given in (top_code or {}).items()]
    found += [BottomCode((name,), *_limit("bottom_code", given)) for name, given in (bottom_code or {}).items()]
    found += [Round((name,), _positive("round", given)) for name, given in (round or {}).items()]
    if not found:
        raise InputError("Nothing is to be perturbed.", "Give noise={'income': 0.1}, for example.")
    _check_once(found)
    return found


def _noise(names: str | tuple[str, ...], given: float | str) -> Operator:
    """Noise for one column, or for several together."""
    if isinstance(names, str):
        return Noise((names,), _positive("noise", given))
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


def _number(option: str, given: Any) -> float:
    text = str(given).strip()
    try:
        number = number_of(text)
    except ValueError:
        what = "a finite number" if text.strip("+-").lower() in ("nan", "inf", "infinity") else "a number"
        raise InputError(f"{option} '{text}' is not {what}.", "Write a number such as 0.1.") from None
    if abs(number) >= _LARGEST:
        raise InputError(f"{option} '{text}' is not a finite number.", "Write a number such as 0.1.")
    return float(number)


def _positive(option: str, given: Any) -> float:
    number = _number(option, given)
    if not number > 0:
        raise InputError(f"{option} '{given}' is not above 0.", "Use a number above 0.")
    return number


def _share(option: str, given: Any, zero: bool = True) -> float:
    try:
        share = float(share_of(given))
    except ValueError as error:
        raise InputError(f"{option} '{given}': {error}.", "Write a share such as 5%.") from None
    if not 0 <= share <= 1 or (share == 0 and not zero):
        raise InputError(f"{option} '{given}' is not a share above 0.", "Write a share such as 5%.")
    return share


def _limit(option: str, given: Any) -> tuple[float, bool]:
    """A number, or with a percent sign a share of the records."""
    number, is_share = _number(option, given), str(given).strip().endswith("%")
    if is_share and not 0 < number < 1:
        raise InputError(f"{option} '{given}' is not a share between 0 and 100%.", "Write a share such as 99%.")
    return number, is_share
