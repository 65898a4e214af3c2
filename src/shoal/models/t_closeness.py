"""t-closeness: in every class, a sensitive attribute is distributed nearly as in the whole table."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from shoal.errors import InputError
from shoal.models.base import Evidence, Model, Verdict


class TCloseness(Model):
    """The ordered distance of every class from the whole table is at most t (Li, Li, Venkatasubramanian).

    >>> from shoal.table import Table
    >>> charge = Table.of({"charge": [10, 40, 20, 30]})["charge"]
    >>> rows = Evidence(np.array([2]), np.array([2]), np.array([0, 0, 1, 1]), {"charge": charge})
    >>> verdict = TCloseness(t=0.2, sensitive="charge").judge(rows)
    >>> verdict.holds, round(verdict.worst["distance"], 4)
    (True, 0.1667)
    """

    needs_rows: ClassVar[bool] = True

    model: Literal["t-closeness"] = "t-closeness"
    t: Annotated[float, Field(gt=0, le=1)]
    sensitive: str

    def judge(self, evidence: Evidence) -> Verdict:
        """Hold the farthest class against t."""
        from shoal.risk.closeness import ordered_distance

        if evidence.class_of_row is None or self.sensitive not in evidence.sensitive:
            raise InputError(f"t-closeness needs the rows and the sensitive column '{self.sensitive}'.", "Name it.")
        rows = evidence.class_of_row
        kept = rows >= 0
        if not kept.any():
            return self._verdict(False, distance=None, size=0)
        # rows in no class still belong to the whole table: they count as one more class, which is not judged
        count = int(rows.max()) + 1
        classes = np.where(kept, rows, count)
        column = evidence.sensitive[self.sensitive]
        distances = ordered_distance(classes, count + 1, column)[:count]
        farthest = int(np.argmax(distances))
        size = int(np.count_nonzero(rows == farthest))
        return self._verdict(bool(distances[farthest] <= self.t), distance=float(distances[farthest]), size=size)
