"""The words by which a partition is asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from shoal.table import Array

# how much time is spent
Effort = Literal["fast", "default", "best"]
# how records are cut: by the loss that is left, or as Mondrian was published
Cuts = Literal["best", "strict", "relaxed"]
# which groups a policy does not allow, from the group of each row (-1: in none) and how many groups there are
FailsPolicy = Callable[[Array, int], Array]
