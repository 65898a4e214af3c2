"""What survey files say about their columns beside the values: labels, names of codes, codes that mean missing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class ColumnLabels:
    """The label of a column, the label of each code, and the codes that its file declares as missing.

    `missing` are pairs of the lowest and the highest code, which are the same for a single code.

    >>> ColumnLabels("Sex", {1: "male", 2: "female", 9: "refused"}, ((9, 9),)).declares_missing(9)
    True
    """

    label: str | None = None
    values: Mapping[float | str, str] = field(default_factory=dict)
    missing: tuple[tuple[float | str, float | str], ...] = ()

    def declares_missing(self, code: float | str) -> bool:
        """Whether a code means missing."""
        same = [pair for pair in self.missing if isinstance(pair[0], str) == isinstance(code, str)]
        return any(low <= code <= high for low, high in same)  # type: ignore[operator]


Labels: TypeAlias = Mapping[str, ColumnLabels]
