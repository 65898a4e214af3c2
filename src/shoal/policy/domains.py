"""Public domains: which values a column may have, known before anybody looked at the data."""

from __future__ import annotations

import math
from datetime import date
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictBool, StrictFloat, StrictInt, model_validator

Calendar = Literal["day", "week", "month", "quarter", "year"]
MOST_CELLS = 100_000


class DomainSection(BaseModel):
    """The values that a column may have, or the bounds of its numbers or dates, from public knowledge.

    `[F, M]`; `{min: 0, max: 120, width: 5}` (whole numbers, as min, max and width are written without a point);
    `{min: 2020-01-01, max: 2024-12-31, width: month}`. Without a width, bins are chosen by a part of the budget where
    the range is long. A missing value is a value of its own; with `missing: false` records without one do not count.

    >>> DomainSection(min=0, max=120, width=5).whole, DomainSection(values=["F", "M"]).values
    (True, ('F', 'M'))
    """

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    values: Annotated[tuple[StrictBool | StrictInt | StrictFloat | date | str, ...] | None, Field(min_length=1)] = None
    min: StrictInt | StrictFloat | date | None = None
    max: StrictInt | StrictFloat | date | None = None
    width: StrictInt | StrictFloat | Calendar | None = None
    missing: bool = True

    @model_validator(mode="after")
    def _one_kind(self) -> DomainSection:
        if self.values is not None:
            if self.min is not None or self.max is not None or self.width is not None:
                raise ValueError("a domain has values, or min and max, not both")
            if len({str(value) for value in self.values}) < len(self.values):
                raise ValueError("a value of the domain is given twice")
            return self
        if self.min is None or self.max is None:
            raise ValueError("write values, or min and max: {min: 0, max: 120, width: 5}")
        dates = isinstance(self.min, date)
        if dates != isinstance(self.max, date) or not self.min < self.max:  # type: ignore[operator]
            raise ValueError("min lies below max, both numbers or both dates")
        if not dates and not all(map(math.isfinite, (self.min, self.max))):  # type: ignore[arg-type]
            raise ValueError("min and max are finite")
        if isinstance(self.width, str) != dates and self.width is not None:
            raise ValueError("the width of dates is day, week, month, quarter or year; that of numbers is a number")
        if isinstance(self.width, (int, float)) and not (
            0 < self.width < math.inf and (self.max - self.min) / self.width <= MOST_CELLS  # type: ignore[operator]
        ):
            raise ValueError(f"the width is a number above 0 that makes at most {MOST_CELLS:,} bins")
        return self

    @property
    def whole(self) -> bool:
        """Whether its numbers are whole."""
        return all(isinstance(one, int) for one in (self.min, self.max, 1 if self.width is None else self.width))


def _section(value: Any) -> Any:
    return {"values": value} if isinstance(value, (list, tuple)) else value


Domains = dict[str, Annotated[DomainSection, BeforeValidator(_section)]]
# combinations that cannot be: in each entry, the values of all columns together
Zeros = list[dict[str, list[StrictBool | StrictInt | StrictFloat | date | str]]]
