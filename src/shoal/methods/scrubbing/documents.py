"""Documents made K-safe: terms are removed until what is left fits at least K entities, whoever reads it.

Chakaravarthy, Gupta, Roy and Mohania, *Efficient techniques for document sanitization* (CIKM 2008). Each entity e has a
context C(e), a set of terms. A document D is K-safe if for every entity e

    |{e' : D ∩ C(e) ⊆ C(e')}| ≥ K,

which says that every set of terms in D that fits an entity fits at least K. Removing terms never breaks it. A smallest
set of terms whose support is below K must lose one of its terms; the fewest terms to remove are therefore a minimum
hitting set of all such sets, which are found as they are met.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from pathlib import Path
from typing import Any, ClassVar, get_args

import polars as pl

from shoal import progress
from shoal.errors import InputError, Message, Setting, check_choice
from shoal.methods.scrubbing.columns import check_texts
from shoal.results import Figure, Figures, Files, Headline, Notes, Result, Section, left_out
from shoal.storage import Column, Table
from shoal.storage.reading import Options, read
from shoal.storage.reading.frames import to_native
from shoal.storage.texts import texts_of
from shoal.storage.writing import check_apart, check_target, write_frame
from shoal.text.known_values import TOKEN, folded_words
from shoal.text.tags import MASK
from shoal.verbs.base import takes
from shoal.verbs.changing import KSafetyRequest
from shoal.vocabulary import SafetyMethod
from shoal.wording import counted, in_words

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


ENTITY, TERM = "entity", "term"
_Terms = dict[str, list[tuple[str, ...]]]


@dataclass(frozen=True, repr=False)
class KSafety(Result):
    """Documents that are K-safe: `removed` counts the terms that were taken out, over all documents.

    `frame` is the table with its documents; which terms were taken out stands in `removed_terms`, per document.
    `dropped` are the columns that are not in it: it holds the documents and their `id`, nothing else.
    """

    name: ClassVar[str] = "k-safety"

    documents: int
    changed: int
    terms: int
    removed: int
    entities: int
    k: int
    method: str
    dropped: list[str] = field(default_factory=list)
    output: str | None = None
    removed_terms: list[list[str]] = left_out(default_factory=list)
    polars: pl.DataFrame = left_out(default=None)
    native: Any = left_out(default=None)

    @property
    def frame(self) -> Any:
        """The documents as the kind of frame that came in."""
        return to_native(self.polars, self.native, set(self.polars.columns))

    def summary(self) -> str:
        """How many terms were taken out of how many documents."""
        return (
            f"{self.removed:,} of {counted(self.terms, 'term')} removed from {counted(self.changed, 'document')}: "
            f"every set of terms left fits at least {self.k:,} of {self.entities:,} entities."
        )

    def sections(self) -> list[Section]:
        """The sentence, the figures, and what it does not promise."""
        how = "the fewest that can be" if self.method == "exact" else "few, not always the fewest"
        found: list[Section] = [
            Headline(self.summary(), "good"),
            Figures([Figure("method", f"{self.method}: {how}"), Figure("documents", f"{self.documents:,}")]),
            Notes(self._remarks()),
        ]
        return found if self.output is None else [*found, Files({"documents": self.output})]

    def _remarks(self) -> list[str]:
        notes = ["only terms of the contexts that were given are looked at: names and numbers are for shoal scrub"]
        if self.dropped:
            notes.append(f"not in the output, which holds the documents and their id: {in_words(self.dropped)}")
        if self.output is not None:
            notes.append("the file is not a release: it has no manifest, and verify cannot check it")
        return notes


@takes(KSafetyRequest)
def k_safety(source: Any, asked: KSafetyRequest) -> KSafety:
    """Take the terms out of documents by which a reader could tell which of fewer than K entities they are about.

    `entities`: a table with the columns `entity` and `term`, or a mapping from entities to their terms. Terms are found
    as whole words, whatever their case and accents; each becomes `***`. With `output` the documents are written. Of the
    table only the documents and a column `id` are in the output (`dropped` names the others).

    >>> diseases = {"flu": ["fever", "cough"], "cold": ["cough"], "measles": ["fever", "rash"]}
    >>> safe = k_safety({"text": ["Fever and a cough"]}, entities=diseases, k=2, method="exact")
    >>> safe.frame["text"].to_list(), safe.removed
    (['Fever and a ***'], 1)
    """
    check_apart(input=source, entities=asked.entities, output=asked.output)
    if asked.output is not None:
        check_target(Path(asked.output), asked.force)
    terms_of = _entities(asked.entities, asked.options)
    contexts = Contexts(terms_of)
    check_k(asked.k, contexts)
    table = read(source, None, asked.options)
    column = table.select([asked.text])[0]
    check_texts([column])
    texts = column.values.cast(pl.String).to_list()
    spelled = _spelled(contexts)
    made, removed, seen = [], [], []
    for number, document in enumerate(texts):
        progress.report("making documents safe", number, len(texts))
        safe, gone, there = _made_safe(document, spelled, contexts, asked.k, asked.method)
        made.append(safe)
        removed.append(sorted(gone))
        seen.append(len(there))
    result = _result(table, column, made, removed, seen, contexts, asked.k, asked.method)
    if asked.output is None:
        return result
    write_frame(result.polars, asked.output, asked.force)
    return replace(result, output=str(asked.output))


def _made_safe(
    document: str, spelled: _Terms, contexts: Contexts, k: int, method: SafetyMethod
) -> tuple[str, set[str], set[str]]:
    """A document without the terms that must go, those terms, and all that were there.

    What is left is searched again: words on either side of a mask may be a term, `yellow *** fever`.
    """
    gone: set[str] = set()
    there: set[str] = set()
    while True:
        places = _places(document, spelled)
        there.update(places)
        more = terms_to_remove(places, contexts, k, method)
        if not more:
            return document, gone, there
        gone.update(more)
        document = _without(document, [span for term in more for span in places[term]])


def _result(
    table: Table,
    column: Column,
    made: list[str],
    removed: list[list[str]],
    seen: list[int],
    contexts: Contexts,
    k: int,
    method: str,
) -> KSafety:
    codes = column.codes[~column.is_null()].tolist()
    series = pl.Series([*made, None], dtype=pl.String).gather(column.codes).alias(column.name)
    kept = [table["id"].decode()] if "id" in table.columns and column.name != "id" else []
    left = {column.name, *(series.name for series in kept)}
    return KSafety(
        documents=len(codes),
        changed=sum(bool(removed[code]) for code in codes),
        terms=sum(seen[code] for code in codes),
        removed=sum(len(removed[code]) for code in codes),
        entities=contexts.entities,
        k=k,
        method=method,
        dropped=[name for name in table.names if name not in left],
        removed_terms=[removed[code] for code in codes],
        polars=pl.DataFrame([*kept, series]),
        native=table.native,
    )


def _entities(given: Any, options: Options | None) -> dict[str, list[str]]:
    """Entities with their terms, folded as words are."""
    if isinstance(given, Mapping) and set(given) != {ENTITY, TERM}:
        pairs = [(str(entity), term) for entity, terms in given.items() for term in _terms(terms)]
    else:
        names = read(given, [ENTITY, TERM], options)
        columns = [texts_of(names[name].values).gather(_filled(names[name])).to_list() for name in (ENTITY, TERM)]
        pairs = list(zip(*columns, strict=True))
    found: dict[str, list[str]] = {}
    for entity, term in pairs:
        words = " ".join(folded_words(term))
        found.setdefault(entity, []).extend([words] if words else [])
    if not found:
        raise InputError("There are no entities.", "Give a table with the columns entity and term.")
    return found


def _terms(given: Any) -> list[str]:
    """The terms of one entity, which are texts in a list."""
    if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Iterable):
        raise InputError("An entity has terms that are not a list.", 'Write {"flu": ["fever", "cough"]}.')
    terms = list(given)
    if not all(isinstance(term, str) for term in terms):
        raise InputError("An entity has a term that is not text.", 'Write {"flu": ["fever", "cough"]}.')
    return terms


def _filled(column: Column) -> pl.Series:
    if column.nulls:
        raise InputError(f"Column '{column.name}' of the entities has empty cells.", "Fill them, or remove the rows.")
    return pl.Series(column.codes.astype("int64"))


def _spelled(contexts: Contexts) -> _Terms:
    """The terms of all contexts by their first word, the longest first."""
    found: _Terms = {}
    for term in sorted(contexts.having, key=lambda term: (-len(term), term)):
        words = tuple(term.split())
        found.setdefault(words[0], []).append(words)
    return found


def _places(document: str, spelled: _Terms) -> dict[str, list[tuple[int, int]]]:
    """Where each term stands in a document."""
    words = folded_words(document)
    pieces = [match.span() for match in TOKEN.finditer(document)]
    found: dict[str, list[tuple[int, int]]] = {}
    for place, word in enumerate(words):
        for term in spelled.get(word, ()):
            end = place + len(term)
            if tuple(words[place:end]) == term:
                found.setdefault(" ".join(term), []).append((pieces[place][0], pieces[end - 1][1]))
    return found


def _without(document: str, spans: list[tuple[int, int]]) -> str:
    """A document with stretches masked; those that overlap are one."""
    out, last = [], 0
    for start, end in sorted(spans):
        if start >= last:
            out += [document[last:start], MASK]
        last = max(last, end)
    return "".join(out) + document[last:]
