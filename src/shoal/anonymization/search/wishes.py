"""How to search: what is asked for, otherwise what the policy says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from shoal.anonymization.search.generalize import Wishes
from shoal.errors import InputError, check_choice
from shoal.policy import Policy, share_of
from shoal.vocabulary import Quality


def wishes_of(
    policy: Policy,
    suppression: float | str | None,
    quality: str | None,
    weights: Mapping[str, float] | None,
    levels: Mapping[str, tuple[int, int]] | None,
    local: bool,
    time_limit: float,
) -> Wishes:
    """How to search: what is given here, otherwise what the policy says."""
    try:
        share = policy.suppression if suppression is None else share_of(suppression)
    except ValueError as error:
        raise InputError(f"The suppression limit cannot be read: {error}.", "Use 5%, for example.") from None
    wanted = quality or policy.quality
    check_choice("quality", wanted, get_args(Quality))
    if not time_limit > 0:
        raise InputError(f"A time limit of {time_limit:g} s leaves no time.", "Use 60, for example.")
    return Wishes(share, wanted, weights or policy.weights, levels or policy.levels, time_limit, local)
