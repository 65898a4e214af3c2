"""Models about sets: whatever few items or events somebody knows of a person, k persons or more share them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from shoal.models.base import Evidence, Merging, Model
from shoal.storage import Array

if TYPE_CHECKING:
    from shoal.models.item_sets import ItemSets

Members = Annotated[int, Field(ge=2, le=2**53, strict=True)]
KnownSize = Annotated[int, Field(ge=1, le=10, strict=True)]
LimitOfShare = Annotated[float, Field(gt=0, le=1)]


class AboutSets(Model):
    """A model about sets: the figure of a class is the fewest of its persons who share what somebody may know.

    0 where a share of sensitive values is above its limit. Joined, good classes stay good: persons who share a set are
    those of both, and a share is a mean of two.
    """

    figure: ClassVar[str] = "support"
    bound: ClassVar[str] = "k"
    joins: ClassVar[Merging] = "good"
    of_sets: ClassVar[bool] = True
    # the sets of the evidence that it looks at, and why there may be none
    about: ClassVar[Literal["items", "public_items", "events"]] = "items"
    lacking: ClassVar[str] = "the policy gives no column the role items"

    @property
    def known(self) -> int:
        """How many items or events somebody may know."""
        raise NotImplementedError

    @property
    def persons(self) -> int:
        """How many persons must share them."""
        return int(self.limit)

    @property
    def most_share(self) -> float | None:
        """The greatest share of those who may have one sensitive value; None where nothing is asked of it."""
        return None

    @property
    def least_members(self) -> int | None:
        """k: who knows no item at all knows the class."""
        return self.persons

    def sets(self, evidence: Evidence) -> ItemSets | None:
        """The sets that it looks at."""
        found: ItemSets | None = getattr(evidence, self.about)
        return found

    def lacks(self, evidence: Evidence) -> str | None:
        """That there are no sets."""
        return self.lacking if self.sets(evidence) is None else None

    def measure(self, evidence: Evidence) -> Array:
        """The least support in each class; persons in no class, whom any class may hold, count for all."""
        sets = self.sets(evidence)
        if sets is None:
            return np.zeros(len(evidence.sizes), np.int64)
        least = sets.least_support(self.known)
        if self.most_share is not None:
            least = np.where(sets.highest_share(self.known) > self.most_share + 1e-12, 0, least)
        classes = len(evidence.sizes)
        return np.minimum(least[:classes], least[classes:].min()) if len(least) > classes else least


class KMAnonymity(AboutSets):
    """k^m-anonymity: any up to m items that a person has together, k persons have together (Terrovitis et al.).

    Within a class of quasi-identifiers, where there are some: (k, k^m)-anonymity. Cost: the subsets of m items.

    >>> from shoal.models.item_sets import ItemSets
    >>> sets = ItemSets.of(np.array([0, 0, 1, 1, 2]), np.array([0, 1, 0, 1, 0]), 3)
    >>> KMAnonymity(m=2, k=2).judge(Evidence(np.array([3]), items=sets)).worst
    {'support': 2, 'size': 3, 'failing_classes': 0}
    """

    model: Literal["km-anonymity"] = "km-anonymity"
    m: KnownSize
    k: Members

    @property
    def known(self) -> int:
        """m"""
        return self.m


class Coherence(AboutSets):
    """(h,k,p)-coherence: any up to p public items are shared by k persons, of whom at most a share h has one sensitive
    item (Xu et al.). The policy names the sensitive items: `{role: items, sensitive: [...]}`.

    >>> from shoal.models.item_sets import ItemSets
    >>> sets = ItemSets.of(np.array([0, 1]), np.array([0, 0]), 2)
    >>> Coherence(h=0.5, k=2, p=1).judge(Evidence(np.array([2]), public_items=sets)).holds
    True
    """

    about: ClassVar[Literal["items", "public_items", "events"]] = "public_items"
    lacking: ClassVar[str] = "the policy names no sensitive items of a column of items"

    model: Literal["coherence"] = "coherence"
    h: LimitOfShare
    k: Members
    p: KnownSize

    @property
    def known(self) -> int:
        """p"""
        return self.p

    @property
    def most_share(self) -> float:
        """h"""
        return self.h


class LKCPrivacy(AboutSets):
    """LKC-privacy: any up to L events (a place at a time) of a person are shared by K persons, of whom at most a share
    C has one value of a sensitive column (Mohammed et al.).

    >>> from shoal.models.item_sets import ItemSets
    >>> sets = ItemSets.of(np.array([0, 1]), np.array([0, 0]), 2)
    >>> LKCPrivacy(l=2, k=2, c=1).judge(Evidence(np.array([2]), events=sets)).worst["support"]
    2
    """

    about: ClassVar[Literal["items", "public_items", "events"]] = "events"
    lacking: ClassVar[str] = "the policy gives no column the role event-place or event-time"

    model: Literal["lkc-privacy"] = "lkc-privacy"
    l: KnownSize  # noqa: E741
    k: Members
    c: LimitOfShare

    @property
    def known(self) -> int:
        """L"""
        return self.l

    def lacks(self, evidence: Evidence) -> str | None:
        """That there are no events, or that a share of sensitive values is asked for and nothing is sensitive."""
        if self.c < 1 and evidence.events is not None and evidence.events.values is None:
            return "the policy gives no column the role sensitive, of whose values c is the share"
        return super().lacks(evidence)

    @property
    def most_share(self) -> float:
        """C"""
        return self.c
