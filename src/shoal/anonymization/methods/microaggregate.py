"""`microaggregate`: means of groups of k near records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from pydantic import Field, field_validator

from shoal.anonymization.methods.base import (
    Importance,
    k_of,
    needs_k,
    t_closeness_of,
    takes_records_only,
)
from shoal.anonymization.methods.boxes import BoxMethod, MakeBoxes, fits_groups, groups_that_fail
from shoal.anonymization.microaggregation import microaggregate, sum_of_squares
from shoal.anonymization.partition.kinds import Effort
from shoal.errors import InputError, as_names
from shoal.policy import Policy
from shoal.ranges.boxed import Boxed
from shoal.ranges.columns import Form
from shoal.table import Column, Table


class Microaggregate(BoxMethod):
    """Groups of k near records, each value replaced by its group's mean (or, with `interval`, its range).

    >>> Microaggregate(strata="region").strata
    ['region']
    """

    name: ClassVar[str] = "microaggregate"
    does: ClassVar[str] = "means of groups of k near records ([more](least-loss.md))"
    source: ClassVar[str] = "Domingo-Ferrer and Mateo-Sanz, improved"

    interval: Form = Field(
        default="mean",
        description="How groups are written: the records' mean, [20;29], 20-29, two columns, or the middle.",
    )
    effort: Effort = Field(default="default", description="How much time is spent to lose less.")
    mdav: bool = Field(default=False, description="The published algorithm MDAV, exactly.")
    strata: list[str] = Field(default=[], description="Groups never cross these columns.")
    importance: Importance = Field(default={}, description="How much a column matters; the policy's, otherwise 1.")

    @field_validator("strata", mode="before")
    @classmethod
    def _names(cls, value: Any) -> Any:
        return as_names(value)

    def allowed(self, table: Table, policy: Policy) -> str | None:
        """A k, and models that are judged group by group."""
        return takes_records_only(policy) or needs_k(policy) or fits_groups(policy)

    def check_columns(self, table: Table, policy: Policy) -> None:
        """Strata are columns of the table that stay as they are."""
        super().check_columns(table, policy)
        table.select(self.strata)
        both = [name for name in self.strata if name in policy.quasi_identifiers]
        if both:
            raise InputError(f"Column '{both[0]}' is a quasi-identifier and in `strata`.", "Decide on one of them.")

    def boxes(self, table: Table, policy: Policy) -> tuple[MakeBoxes, dict[str, Any]]:
        """The boxes of the groups."""
        k, close, fails_policy = k_of(policy) or 0, t_closeness_of(policy), groups_that_fail(table, policy)
        importance, strata = dict(self.importance or policy.importance), table.select(self.strata)
        parameters = {
            "k": k,
            "effort": self.effort,
            "mdav": self.mdav,
            "strata": list(self.strata),
            "importance": importance,
            **({"t": close.t} if close else {}),
        }
        confidential = table[close.sensitive] if close and not self.strata and not self.mdav else None

        def make(columns: Sequence[Column]) -> Boxed:
            return microaggregate(
                columns,
                k,
                self.effort,
                mdav=self.mdav,
                strata=strata,
                confidential=confidential,
                t=close.t if close else None,
                importance=importance,
                fails_policy=fails_policy,
            )

        return make, parameters

    def more_findings(self, columns: Sequence[Column], boxed: Boxed) -> dict[str, Any]:
        """SSE / SST of the groups, each column in units of its spread; none where nothing varies."""
        from shoal.anonymization.partition.coordinates import coordinates_apart

        within, whole = sum_of_squares(coordinates_apart(columns), boxed.box_of_row)
        return {"sse_ratio": within / whole if whole else None}
