"""K-safety of documents: the fewest terms removed so that what is left fits at least K entities, whoever reads it.

Chakaravarthy, Gupta, Roy and Mohania, *Efficient techniques for document sanitization* (CIKM 2008). Each entity e has a
context C(e), a set of terms. A document D is K-safe if for every entity e

    |{e' : D ∩ C(e) ⊆ C(e')}| ≥ K,

which says that every set of terms in D that fits an entity fits at least K. Removing terms never breaks it. A smallest
set of terms whose support is below K must lose one of its terms; the fewest terms to remove are therefore a minimum
hitting set of all such sets, which are found as they are met.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import reduce
from typing import get_args

from shoal.errors import InputError, Message, Setting, check_choice
from shoal.vocabulary import SafetyMethod

# so many comparisons of the exact search for one document (some ten seconds), then it gives up and says so
MOST_WORK = 50_000_000


class Contexts:
    """Entities and their context terms: for each term the entities that have it, as the bits of a number."""

    def __init__(self, terms_of: Mapping[str, Iterable[str]]) -> None:
        self.entities = len(terms_of)
        self.all = (1 << self.entities) - 1
        self.having: dict[str, int] = {}
        for number, terms in enumerate(terms_of.values()):
            for term in set(terms):
                self.having[term] = self.having.get(term, 0) | (1 << number)

    def __repr__(self) -> str:
        return f"Contexts(entities={self.entities}, terms={len(self.having)})"

    def support(self, terms: Iterable[str]) -> int:
        """How many entities a set of terms fits.

        >>> Contexts({"flu": ["fever", "cough"], "cold": ["cough"]}).support(["cough"])
        2
        """
        return reduce(lambda found, term: found & self.having.get(term, 0), terms, self.all).bit_count()

    def violated(self, left: Collection[str], k: int) -> list[frozenset[str]]:
        """The sets D ∩ C(e) that fit fewer than K entities, each once, in the order of the entities."""
        per_entity: dict[int, list[str]] = {}
        for term in sorted(left):
            bits = self.having.get(term, 0)
            while bits:
                low = bits & -bits
                per_entity.setdefault(low.bit_length(), []).append(term)
                bits ^= low
        sets = dict.fromkeys(frozenset(terms) for _, terms in sorted(per_entity.items()))
        return [terms for terms in sets if self.support(terms) < k]

    def smallest(self, terms: frozenset[str], k: int) -> frozenset[str]:
        """A set within these terms whose support is below K, and from which no term can be left out."""
        kept = sorted(terms)
        for term in list(kept):
            rest = [other for other in kept if other != term]
            if self.support(rest) < k:
                kept = rest
        return frozenset(kept)


def terms_to_remove(
    document: Iterable[str], contexts: Contexts, k: int, method: SafetyMethod = "greedy"
) -> frozenset[str]:
    """The terms to remove from a document so that it is K-safe: few by the greedy method, the fewest by the exact one.

    >>> diseases = Contexts({"flu": ["fever", "cough"], "cold": ["cough"], "measles": ["fever", "rash"]})
    >>> sorted(terms_to_remove(["fever", "cough", "tired"], diseases, 2, "exact"))
    ['cough']
    """
    check_choice(Setting("method"), method, get_args(SafetyMethod))
    check_k(k, contexts)
    left = frozenset(term for term in document if term in contexts.having)
    return _greedy(left, contexts, k) if method == "greedy" else _exact(left, contexts, k)


def check_k(k: int, contexts: Contexts) -> None:
    """Refuse a K that no document can keep."""
    if isinstance(k, bool) or not isinstance(k, int) or k < 2:
        raise InputError(Message("{k} is not a whole number of at least 2."), "Use 5, for example.")
    if k > contexts.entities:
        raise InputError(
            f"The number of entities is {contexts.entities:,}, so no document fits {k:,} of them.", "Use a smaller k."
        )


def is_safe(document: Iterable[str], contexts: Contexts, k: int) -> bool:
    """Whether a document is K-safe."""
    return not contexts.violated(frozenset(document), k)


def _greedy(left: frozenset[str], contexts: Contexts, k: int) -> frozenset[str]:
    """Remove the term that is in most violated sets, the rarer one of two, until none is violated."""
    removed: set[str] = set()
    while sets := contexts.violated(left - removed, k):
        counts: dict[str, int] = {}
        for terms in sets:
            for term in contexts.smallest(terms, k):
                counts[term] = counts.get(term, 0) + 1
        removed.add(max(counts, key=lambda term: (counts[term], -contexts.support([term]), term)))
    for term in sorted(removed):  # a later choice may have made an earlier one needless
        if is_safe((left - removed) | {term}, contexts, k):
            removed.discard(term)
    return frozenset(removed)


def _exact(left: frozenset[str], contexts: Contexts, k: int) -> frozenset[str]:
    """A minimum hitting set of the violated sets: at each depth all ways to hit the first set that is open."""
    most = len(_greedy(left, contexts, k))
    work = 0
    layer = [frozenset[str]()]
    for _ in range(most + 1):
        following: dict[frozenset[str], None] = {}
        for removed in layer:
            sets = contexts.violated(left - removed, k)
            work += contexts.entities * len(left) + sum(len(terms) ** 2 for terms in sets)
            if work > MOST_WORK:
                raise InputError("The exact method takes too long on a document.", "Use the method greedy.")
            if not sets:
                return removed
            first = min((contexts.smallest(terms, k) for terms in sets), key=lambda terms: (len(terms), sorted(terms)))
            following.update(dict.fromkeys(removed | {term} for term in sorted(first)))
        layer = list(following)
    raise AssertionError("the greedy method found a set of this size")
