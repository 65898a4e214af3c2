"""`coarsen`: Sánchez et al., Algorithm S3."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field

from shoal.anonymization.methods.base import needs_numbers
from shoal.anonymization.methods.boxes import BoxesOnDisk, MakeBoxes
from shoal.anonymization.transforms.coarsen import CutOver, coarsen, coarsen_on_disk
from shoal.policy import Policy
from shoal.ranges.on_disk import BoxedByColumn
from shoal.table import Table
from shoal.table.spill import Spill


class Coarsen(BoxesOnDisk):
    """Every quasi-identifier cut into the same number of intervals.

    >>> Coarsen(resolution=16).resolution
    16
    """

    name: ClassVar[str] = "coarsen"
    does: ClassVar[str] = "each quasi-identifier cut into the same number of intervals, whatever k comes out"
    source: ClassVar[str] = "Sánchez et al., Algorithm S3"

    resolution: int | None = Field(default=None, ge=1, description="Into how many intervals; it must be given.")
    cut_over: CutOver = Field(default="range", description="Cut the whole range, or the values (labels) that occur.")

    def lacks(self) -> str | None:
        """A resolution."""
        return "needs a resolution: set `resolution` to 16, for example" if self.resolution is None else None

    def allowed(self, table: Table, policy: Policy) -> str | None:
        """Numbers and dates."""
        return self.lacks() or needs_numbers(table, policy)

    def by_tuple(self, policy: Policy) -> int | None:
        """Equal records lie in the same intervals."""
        return 0

    def boxes(self, table: Table, policy: Policy) -> tuple[MakeBoxes, dict[str, Any]]:
        """Intervals of every column."""
        return lambda columns: coarsen(columns, self.resolution or 1, self.cut_over), self.parameters_of(policy)

    def parameters_of(self, policy: Policy) -> dict[str, Any]:
        """Resolution, and what is cut."""
        return {"resolution": self.resolution, "cut_over": self.cut_over}

    def boxed_on_disk(self, table: Table, policy: Policy, spill: Spill) -> BoxedByColumn:
        """The interval of each value, looked up for every row."""
        return coarsen_on_disk(table.select(policy.quasi_identifiers), self.resolution or 1, self.cut_over)
