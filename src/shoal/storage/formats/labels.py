"""What survey files say about their columns beside the values: labels, names of codes, codes that mean missing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import polars as pl


@dataclass(frozen=True)
class ColumnLabels:
    """The label of a column, the label of each code, and the codes that its file declares as missing.

    `missing` are pairs of the lowest and the highest code, which are the same for a single code.

    >>> own = ColumnLabels("Sex", {1: "male", 2: "female", 9: "refused"}, ((9, 9),))
    >>> own.declares_missing(pl.Series([1, 9])).to_list()
    [False, True]
    """

    label: str | None = None
    values: Mapping[float | str, str] = field(default_factory=dict)
    missing: tuple[tuple[float | str, float | str], ...] = ()

    @property
    def has_tags(self) -> bool:
        """Whether some codes are extended missing values, `.a` to `.z`, which are not numbers."""
        return any(isinstance(low, str) and low.startswith(".") for low, _ in self.missing)

    def declares_missing(self, codes: pl.Series) -> pl.Series:
        """Which codes mean missing."""
        found = pl.repeat(False, len(codes), eager=True)
        for low, high in self.missing:
            if isinstance(low, str) == (codes.dtype == pl.String):
                found |= codes.is_between(low, high).fill_null(False)
        return found

    def kept(self, written: pl.Series) -> ColumnLabels:
        """What is left of them for a column as it is written: a label of a code that does not occur would tell of it.

        >>> own = ColumnLabels("Sex", {1: "male", 2: "female", 3: "other"}, ((9, 9),))
        >>> own.kept(pl.Series([1, 1, 2])).values, own.kept(pl.Series(["1", "*"])).values
        ({1: 'male', 2: 'female'}, {'1': 'male', '*': 'suppressed'})
        """
        if written.dtype == pl.String:
            return self._of_texts(written)
        if not written.dtype.is_numeric():
            return ColumnLabels(self.label)
        there = written.unique()
        codes = {code: label for code, label in self.values.items() if not isinstance(code, str)}
        found = set(there.filter(there.is_in(list(codes))).to_list()) if codes else set()
        pairs = [pair for pair in self.missing if not isinstance(pair[0], str)]
        missing = tuple(pair for pair in pairs if there.is_between(*pair).any())
        return ColumnLabels(self.label, {code: label for code, label in codes.items() if code in found}, missing)

    def _of_texts(self, written: pl.Series) -> ColumnLabels:
        codes = {text_of(code): label for code, label in self.values.items()}
        singles = [text_of(low) for low, high in self.missing if low == high]
        if codes:
            codes.setdefault("*", "suppressed")
        there = written.unique()
        found = set(there.filter(there.is_in([*codes, *singles])).to_list())
        kept: dict[float | str, str] = {code: label for code, label in codes.items() if code in found}
        return ColumnLabels(self.label, kept, tuple((code, code) for code in singles if code in found))


def text_of(code: float | str) -> str:
    """A code as a text column has it.

    >>> text_of(1.0), text_of(2.5), text_of(".a")
    ('1', '2.5', '.a')
    """
    return code if isinstance(code, str) else str(int(code)) if code == int(code) else str(code)


Labels: TypeAlias = Mapping[str, ColumnLabels]
