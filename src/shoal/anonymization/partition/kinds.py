"""The words by which a partition is asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

from shoal.table import Array

# how much time is spent
Effort = Literal["fast", "default", "best"]
# how records are cut: by the loss that is left, or as Mondrian was published
Cuts = Literal["best", "strict", "relaxed"]
# which groups a policy does not allow, from the group of each row (-1: in none) and how many groups there are
FailsPolicy = Callable[[Array, int], Array]


class Pass(NamedTuple):
    """How thorough a pass of local search is.

    Groups that lose the share `begin` of all that is lost begin exchanges, those that lose `cycles` of it begin cycles
    of three too; the others only take part. Each looks at so many near groups, and so many times at most.
    """

    begin: float = 1.0
    cycles: float = 1.0
    near: int = 8
    sweeps: int = 1
