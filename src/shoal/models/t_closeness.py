"""t-closeness: in every class, a sensitive attribute is distributed nearly as in the whole table."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from shoal.errors import InputError, Message
from shoal.models.base import AboutSensitive, Evidence, Merging
from shoal.models.spread import Spread, Whole
from shoal.storage import Array

Distance = Literal["auto", "equal", "ordered", "hierarchical"]


class TCloseness(AboutSensitive):
    """The distance of every class from the whole table is at most t (Li, Li, Venkatasubramanian).

    The earth mover's distance; what it costs to move a share from one value to another is 1 (`equal`), the number of
    values between (`ordered`) or the height of their common node (`hierarchical`). `auto`: by the hierarchy if there is
    one, ordered for numbers and dates, otherwise equal; the verdict names the one that was used. Cost: the sparse
    counts with prefix sums; for a hierarchy, classes times nodes.

    >>> import numpy as np
    >>> from shoal.models.evidence import evidence_of_rows
    >>> from shoal.storage.reading import read
    >>> rows = evidence_of_rows(np.array([0, 0, 1, 1]), read({"charge": [10, 40, 20, 30]}).columns)
    >>> verdict = TCloseness(t=0.2, sensitive="charge").judge(rows)
    >>> verdict.holds, round(verdict.worst["distance"], 4), verdict.parameters["distance"]
    (True, 0.1667, 'ordered')
    """

    figure: ClassVar[str] = "distance"
    at_most: ClassVar[bool] = True
    joins: ClassVar[Merging] = "good"
    bound: ClassVar[str] = "t"

    model: Literal["t-closeness"] = "t-closeness"
    t: Annotated[float, Field(gt=0, le=1)]
    distance: Distance = "auto"

    def parameters_on(self, evidence: Evidence) -> dict[str, Any]:
        """With the distance that is used, which `auto` does not tell."""
        return self.parameters() | {"distance": self.way(self.spread(evidence).whole)}

    def measure_cells(self, spread: Spread) -> Array:
        """The distance of each cell from the whole table."""
        from shoal.models.distances import distance_of_cells

        return distance_of_cells(spread, self.way(spread.whole))

    def merging_with(self, evidence: Evidence) -> Merging:
        """Known and missing values are averaged with different weights: where some are missing nothing is promised."""
        whole = self.spread(evidence).whole
        return "none" if whole.unknown_members else super().merging_with(evidence)

    def greatest(self, evidence: Evidence) -> float:
        """The distance of the farthest class that holds one value only: the distance is convex."""
        from shoal.models.distances import farthest_point

        whole = self.spread(evidence).whole
        way = self.way(whole)
        # the same for every class and node: the search asks for it thousands of times
        if way not in whole.cache:
            whole.cache[way] = farthest_point(whole, way)
        return whole.cache[way]

    def must_lose_known(self, figures: Array, evidence: Evidence) -> Array | None:
        """By the largest part that is within t; for ordered values by the farthest point."""
        spread = self.spread(evidence)
        way = self.way(spread.whole)
        if way == "ordered" or spread.first_cell is not None:
            return super().must_lose_known(figures, evidence)
        from shoal.models import distances

        tree = distances.DistanceTree(spread.whole, way == "hierarchical")
        return distances.must_lose(spread, tree, ~self.good(figures), self.t)

    def way(self, whole: Whole) -> Literal["equal", "ordered", "hierarchical"]:
        """The distance that is meant, on a sensitive column."""
        if self.distance == "hierarchical" and not whole.tree:
            raise InputError(
                f"The hierarchical distance needs a hierarchy of the column '{self.sensitive}'.",
                Message("Give one with `{hierarchies}` or in the policy, or choose the distance 'equal'."),
            )
        if self.distance != "auto":
            return self.distance
        return "hierarchical" if whole.tree else "ordered" if whole.ordered else "equal"
