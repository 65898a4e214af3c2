"""The written decision: which columns play which role, how nulls count, what must hold."""

from shoal.policy.schema import (
    LONGEST_POLICY,
    LeakLimit,
    Linked,
    MaskingStep,
    Policy,
    PolicyError,
    SafeHarborSection,
    SafeHarborWord,
    Share,
    as_policy,
    load_policy,
    share_of,
)

__all__ = [
    "LONGEST_POLICY",
    "LeakLimit",
    "Linked",
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
