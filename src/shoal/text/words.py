"""What is known of a word: its shape, whether it is a name and how frequent, a dictionary word, a term that stays."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

from shoal.kinds.header import plain
from shoal.kinds.name_lists import GIVEN_NAMES, SURNAMES
from shoal.text import terms

# letters, with apostrophes, hyphens inside; what follows is another word
SPLIT = re.compile(r"[^\W\d_]+(?:['’\-][^\W\d_]+)*")

# shape
CAPITAL, UPPER, LOWER, INITIAL = 1, 2, 4, 8
# lists: given names and surnames by how many bear them, words of a dictionary
GIVEN, GIVEN_RARE, SURNAME, SURNAME_RARE, WORD = 16, 32, 64, 128, 256
# words that are both: a name only by what stands around it
EITHER = 512
# vocabulary
STAYS, TITLE, PARTICLE, CONTEXT, ACTS, PLACE, REGION, MONTH, ORGANISATION, STREET, UNIT = (2**n for n in range(10, 21))
NAME_LIKE = GIVEN | GIVEN_RARE | SURNAME | SURNAME_RARE
_ENDINGS = ("s", "es", "n", "en", "e", "er", "em", "ed", "ing", "ly", "d")
_FREQUENT_GIVEN, _FREQUENT_SURNAME = 3, 3


@cache
def load(name: str) -> list[str]:
    """The lines of a list that ships."""
    import gzip

    raw = files("shoal.text").joinpath("lists", f"{name}.txt.gz").read_bytes()
    return gzip.decompress(raw).decode().split("\n")


@cache
def dictionary() -> frozenset[str]:
    """Lower-case words of five languages."""
    return frozenset(word for language in ("en", "de", "fr", "it", "es") for word in load(f"words_{language}"))


@cache
def strata(name: str) -> dict[str, int]:
    """Names of the US Census 2020 with the power of ten of the people who bear them."""
    return {line[:-1]: int(line[-1]) for line in load(name)}


def is_word(word: str) -> bool:
    """Whether a lower-case word, or its stem, is in the dictionary.

    >>> is_word("walking"), is_word("okonkwo")
    (True, False)
    """
    book = dictionary()
    if word in book or word in terms.WORDS:
        return True
    return any(word.endswith(end) and len(word) - len(end) > 2 and word[: -len(end)] in book for end in _ENDINGS)


class Lexicon(dict[str, int]):
    """The bits of each word form, made when the word is first seen."""

    def __missing__(self, word: str) -> int:
        bits = _shape(word) | _lists(word)
        if len(self) < 2_000_000:
            self[word] = bits
        return bits

    def language(self, words: Iterable[str], languages: tuple[str, ...]) -> str:
        """The language whose small words are most frequent.

        >>> lexicon().language("der Patient klagt über Schmerzen".split(), ("en", "de"))
        'de'
        """
        counts = dict.fromkeys(languages, 0)
        small = terms.SMALL_WORDS
        for word in words:
            for language in small.get(word, ()):
                if language in counts:
                    counts[language] += 1
        return max(counts, key=lambda language: counts[language])


def _shape(word: str) -> int:
    if word.islower():
        return LOWER
    if len(word) == 1:
        return INITIAL | CAPITAL
    if word.isupper():
        return UPPER
    return CAPITAL if word[0].isupper() else LOWER


def _lists(word: str) -> int:
    lower = word.lower()
    base = re.sub(r"['’]s$", "", lower)
    bits = terms.bits(lower) | terms.bits(base)
    parts = [plain(part).replace(" ", "") for part in re.split(r"['’\-]", base) if len(part) > 1] or [base]
    given, surname = strata("given_names"), strata("surnames")
    whole = plain(base).replace(" ", "").replace("'", "").replace("-", "")
    for part in {whole, *parts}:
        power = 4 if part in GIVEN_NAMES else given.get(part, 0)
        bits |= (GIVEN if power >= _FREQUENT_GIVEN else GIVEN_RARE) if power else 0
        power = 4 if part in SURNAMES else surname.get(part, 0)
        bits |= (SURNAME if power >= _FREQUENT_SURNAME else SURNAME_RARE) if power else 0
    if is_word(base) or (len(parts) > 1 and all(is_word(part) for part in parts)):
        bits |= WORD
    return bits | (EITHER if bits & WORD and bits & NAME_LIKE else 0)


@cache
def lexicon() -> Lexicon:
    """The one lexicon of this process."""
    return Lexicon()
