"""Which kinds of identifiers a column of free text holds, and in how many records."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl

from shoal.storage import Array, Column
from shoal.text.find import find_spans
from shoal.wording import counted, in_words

# so many distinct notes are searched; the counts are of the records that hold them
MOST_NOTES = 10_000
_LONGEST = 20_000


def kinds_inside(column: Column, counts: Array) -> tuple[dict[str, int], int]:
    """In how many records each kind was found, most first, and how many records were searched.

    >>> from shoal.storage.reading import read
    >>> note = read({"note": ["write a.b@c.org", "write a.b@c.org", "stable"]})["note"]
    >>> kinds_inside(note, np.array([1, 2]))
    ({'email': 2}, 3)
    """
    step = max(1, -(-len(column.values) // MOST_NOTES))
    texts = column.values.cast(pl.String).gather_every(step).str.slice(0, _LONGEST).to_list()
    weights = np.asarray(counts)[::step].tolist()
    found: Counter[str] = Counter()
    for spans, weight in zip(find_spans(texts), weights, strict=True):
        for kind in {span.kind for span in spans}:
            found[kind] += weight
    ordered = dict(sorted(found.items(), key=lambda entry: (-entry[1], entry[0])))
    return ordered, int(sum(weights))


def in_words_of(found: dict[str, int], searched: int, records: int) -> str:
    """One sentence on what was found.

    >>> in_words_of({"email": 2}, 3, 3)
    'Inside it rules found email in 2 records; decide it as text to have them replaced.'
    """
    share = "" if searched >= records else f" of {searched:,} searched"
    if not found:
        return f"Rules found no identifier inside it{share and f' in {searched:,} records'}."
    kinds = [f"{kind.replace('_', ' ')} in {counted(count, 'record')}" for kind, count in found.items()]
    return f"Inside it rules found {in_words(kinds, 30)}{share}; decide it as text to have them replaced."
