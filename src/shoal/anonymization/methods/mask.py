"""`mask`: Sánchez et al., Table S3, by the steps that the policy names."""

from __future__ import annotations

from typing import Any, ClassVar

from shoal.anonymization.methods.base import needs_numbers, takes_records_only
from shoal.anonymization.methods.boxes import BoxesByColumn, MakeBoxes
from shoal.anonymization.transforms.mask import Step, mask
from shoal.errors import InputError
from shoal.policy import Policy
from shoal.table import Table


class Mask(BoxesByColumn):
    """The policy's `masking` steps, one after the other, only on records that are still unique.

    >>> Mask().interval
    'bracket'
    """

    name: ClassVar[str] = "mask"
    does: ClassVar[str] = "the policy's `masking` steps, one after the other, only on records that are still unique"
    source: ClassVar[str] = "Sánchez et al., Table S3"

    def allowed(self, table: Table, policy: Policy) -> str | None:
        """Numbers and dates, and steps in the policy."""
        if not policy.masking:
            return "needs masking steps: `masking` in the policy"
        return takes_records_only(policy) or needs_numbers(table, policy)

    def check_columns(self, table: Table, policy: Policy) -> None:
        """Every step is about a quasi-identifier."""
        super().check_columns(table, policy)
        names = policy.quasi_identifiers
        if unknown := [step.column for step in policy.masking if step.column not in names]:
            raise InputError.missing_columns(unknown, names, "The list of quasi-identifiers, which `masking` is about,")

    def boxes(self, table: Table, policy: Policy) -> tuple[MakeBoxes, dict[str, Any]]:
        """What the steps leave."""
        steps = [Step(step.column, step.groups, step.digits) for step in policy.masking]
        return lambda columns: mask(columns, steps).boxed, {"steps": len(steps)}
