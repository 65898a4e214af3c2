"""Patterns that are compiled only where they may fit find what they would find anyway."""

from __future__ import annotations

import random
import re

from shoal.identifiers import labels
from shoal.identifiers.labels import _books, _first_in, _pattern
from shoal.identifiers.sources import _short, _start, sources


def test_all_that_a_pattern_of_a_source_fits_begins_as_is_said() -> None:
    source = random.Random(2)
    every = [(text, kind) for entry in [*sources(), _short()] for text, kind in entry.patterns]
    names = {name for entry in [*sources(), _short()] for name in entry.names}
    # words that patterns are written of, so that many fit
    for text, _ in every:
        plain = re.sub(r"\[[^\]]*\]|\\d|\{[^}]*\}", "1", text)
        names.add(re.sub(r"[^a-z0-9_]", "", plain))
        names.add(re.sub(r"[a-z0-9_]\?|[^a-z0-9_]", "", plain))
    fitting = 0
    for text, _ in source.sample(every, 300):
        pattern, start = re.compile(text), _start(text)
        found = [name for name in names if pattern.fullmatch(name)]
        assert all(name.startswith(start) for name in found), text
        fitting += bool(found)
    assert fitting > 100


def test_a_label_is_searched_where_letters_of_a_phrase_are_in_it() -> None:
    source = random.Random(3)
    vocabulary = sorted(set(re.findall(r"[a-z]{2,}", " ".join(words for _, words, _ in _books()))))
    texts = [" ".join(source.choices(vocabulary, k=source.randrange(1, 5))) for _ in range(300)]
    for _, words, unless in _books():
        for phrases in filter(None, (words, unless)):
            for text in texts:
                found = _pattern(phrases).search(text)
                assert _first_in(phrases, text) == (found and found.group())


def test_no_phrase_of_a_label_is_a_pattern_but_for_its_stars() -> None:
    text = " ".join(phrases for _, words, unless in labels._books() for phrases in (words, unless))
    assert re.fullmatch(r"[a-z0-9 ,*]+", text)
