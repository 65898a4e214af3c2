"""The written decision: which columns play which role, how nulls count, what must hold.

The language of conditions needs little and the policy needs much, so that each name is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shoal.policy.amounts import share_of
    from shoal.policy.loading import LONGEST_POLICY, PolicyError, as_policy, load_policy
    from shoal.policy.schema import Policy
    from shoal.policy.sections import LeakLimit, MaskingStep, SafeHarborSection, SafeHarborWord, Share

__all__ = [
    "LONGEST_POLICY",
    "LeakLimit",
    "MaskingStep",
    "Policy",
    "PolicyError",
    "SafeHarborSection",
    "SafeHarborWord",
    "Share",
    "as_policy",
    "load_policy",
    "share_of",
]
_ELSEWHERE = {
    "Policy": "schema",
    "share_of": "amounts",
    **dict.fromkeys(("LONGEST_POLICY", "PolicyError", "as_policy", "load_policy"), "loading"),
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'shoal.policy' has no attribute {name!r}")
    return getattr(import_module(f"shoal.policy.{_ELSEWHERE.get(name, 'sections')}"), name)
