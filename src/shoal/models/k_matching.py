"""k-matching: k-anonymity of a table with suppressed cells, where a suppressed cell matches anything."""

from __future__ import annotations

from itertools import combinations
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from shoal.errors import InputError
from shoal.models.base import Evidence, Model
from shoal.ranges.coverage import like_rows
from shoal.storage import Array
from shoal.storage.classes import Coded


class KMatching(Model):
    """Every record matches at least k records, itself among them: they agree wherever neither is suppressed.

    This is how statistical offices read k-anonymity after local suppression (Templ et al., sdcMicro). It promises less
    than `k-anonymity`: matching is not transitive, and who knows a suppressed value can rule matches out. With `m`,
    records must match k others on every combination of m quasi-identifiers. Rows that are `*` throughout match nobody
    and are counted apart. Cost: a join per pair of patterns of suppressed cells.

    >>> stars = {"a": np.array([False, False]), "b": np.array([False, True])}
    >>> keys = {"a": np.array([0, 0]), "b": np.array([0, 1])}
    >>> KMatching(k=3).judge(Evidence(np.array([1, 2]), keys=keys, stars=stars)).worst
    {'matches': 3, 'size': 1, 'failing_classes': 0}
    """

    figure: ClassVar[str] = "matches"
    bound: ClassVar[str] = "k"

    model: Literal["k-matching"] = "k-matching"
    k: Annotated[int, Field(ge=2, le=2**53, strict=True)]
    m: Annotated[int | None, Field(ge=1, strict=True)] = None

    @property
    def needs_keys(self) -> bool:
        """What is suppressed in which class."""
        return True

    def measure(self, evidence: Evidence) -> Array:
        """The records that match each class, on the worst combination of columns.

        Where it is not said which cells are suppressed, the members of the class: those match on any columns.
        """
        if evidence.histories is not None:
            raise InputError(
                "k-matching has no meaning for persons: matching is not transitive.",
                "Use k-anonymity, or leave out the person column.",
            )
        names = list(evidence.stars)
        if not names:
            return evidence.sizes
        if self.m is not None and self.m > len(names):
            raise InputError(
                f"k-matching asks for {self.m} columns at once; there are {len(names)}.", "Use a smaller m."
            )
        every = combinations(names, self.m) if self.m is not None else [tuple(names)]
        return np.asarray(np.minimum.reduce([_matches(evidence, chosen) for chosen in every]))


def readings_of(evidence: Evidence) -> dict[str, dict[str, int]]:
    """The smallest class and the uniques where `*` is a value of its own (strict) and where it matches anything.

    >>> stars = {"a": np.array([False, True])}
    >>> readings_of(Evidence(np.array([1, 2]), keys={"a": np.array([0, 1])}, stars=stars))
    {'strict': {'k': 1, 'uniques': 1}, 'wildcard': {'k': 3, 'uniques': 0}}
    """
    if not len(evidence.sizes) or evidence.histories is not None:
        return {name: {"k": 0, "uniques": 0} for name in ("strict", "wildcard")}
    found = {"strict": evidence.own, "wildcard": _matches(evidence, tuple(evidence.stars))}
    return {name: {"k": int(sizes.min()), "uniques": int((sizes == 1).sum())} for name, sizes in found.items()}


def _matches(evidence: Evidence, names: tuple[str, ...]) -> Array:
    """The records that match each class on some columns; counted once for all classes that look alike there."""
    codes = [evidence.keys[name].astype(np.int64) for name in names]
    known = np.stack([~evidence.stars[name] for name in names], axis=1)
    return like_rows([Coded(code, int(code.max()) + 1) for code in codes], known, evidence.own)
