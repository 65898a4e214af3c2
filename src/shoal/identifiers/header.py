"""Headers as words: `patientDOB`, `pat_zip` and `Data di nascita` each say what the column claims to hold."""

import re
import unicodedata
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import NamedTuple

from shoal.identifiers.base import STRONG, WEAK
from shoal.identifiers.letters import plain, squeeze

_BOUNDARIES = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])|[\W_]+")
_LONGEST_PHRASE = 5
# A whole header is looked at only so far: names of columns can be sentences.
_MOST_TOKENS = 24

# People that a column may be about, written in front of a word without a gap: patzip, userid, Kundenname.
_SUBJECTS = (
    "patienten", "patient", "paziente", "patnt", "pat", "customer", "cust", "kunden", "client", "cliente", "user",
    "employee", "emp", "mitarbeiter", "personen", "person", "member", "mitglieds", "versicherten", "student",
    "mother", "father", "spouse", "child", "home", "work", "mobile", "contact", "billing", "shipping", "subject",
)  # fmt: skip

# Words before which a header is split even where no gap stands: deathdate, zipcode, filename, prerace.
_LAST_PARTS = ("date", "datum", "time", "code", "number", "nummer", "name", "race", "gender", "ethnicity", "religion")

# Words that turn a header into a measure of the thing, and words that turn it into a flag or type of it.
_MEASURES = frozenset(
    (
        "count", "counts", "total", "avg", "average", "mean", "sum", "max", "min", "len", "length", "numberof", "noof",
        "numof", "n", "nb", "anzahl", "conteggio", "totale", "nombrede", "cantidad", "aantal", "diff", "delta", "ratio",
        "rate", "percent", "pct", "quantity", "qty", "amount", "cost", "price", "score", "satisfaction", "rating",
        "hours", "duration", "weight", "importo", "betrag", "montant", "importe", "dauer",
    )
)  # fmt: skip
_DESCRIBES = frozenset(
    (
        "flag", "type", "types", "status", "verified", "valid", "is", "has", "format", "version", "tipo", "typ",
        "method", "mode",
    )
)  # fmt: skip


class Header(NamedTuple):
    """The tokens of a header, and every run of them squeezed together."""

    tokens: tuple[str, ...]
    runs: frozenset[str]


def _variants(run: str) -> set[str]:
    """The run, without its plural s, without the person in front of it, and split before a last part."""
    found = {run}
    if len(run) > 3 and run.endswith("s"):
        found.add(run[:-1])
    for part in _LAST_PARTS:
        if run.endswith(part) and len(run) > len(part) + 2:
            found |= {run[: -len(part)], part}
    for subject in _SUBJECTS:
        if run.startswith(subject) and len(run) > len(subject) + 1:
            found.add(run[len(subject) :])
    return found


@lru_cache(maxsize=4096)
def read_header(name: str) -> Header:
    """Split a header into tokens at case changes, digits and signs.

    >>> read_header("patientDOB").tokens, read_header("E-Mail_2").tokens
    (('patient', 'dob'), ('e', 'mail', '2'))
    """
    accents_off = "".join(c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c))
    pieces = (plain(piece) for piece in _BOUNDARIES.split(accents_off[:400]))
    tokens = tuple(piece for piece in pieces if piece)[:_MOST_TOKENS]
    runs: set[str] = set()
    for start in range(len(tokens)):
        for stop in range(start + 1, min(len(tokens), start + _LONGEST_PHRASE) + 1):
            runs |= _variants("".join(tokens[start:stop]))
    return Header(tokens, frozenset(runs))


class HeaderWords(NamedTuple):
    """The header words of a kind: strong ones mean it, weak ones may, blocking ones rule it out."""

    strong: dict[str, str]
    weak: dict[str, str]
    cut: dict[str, str]
    block: frozenset[str]

    def heard(self, header: Header) -> tuple[float, str | None]:
        """The strength of the header's evidence and the word that gave it; a cut-off word is a weak one."""
        if not self.block.isdisjoint(header.runs):
            return 0.0, None
        for strength, book in ((STRONG, self.strong), (WEAK, self.weak), (WEAK, self.cut)):
            hits = sorted(book.keys() & header.runs, key=lambda hit: (-len(hit), hit))
            if hits:
                return strength, book[hits[0]]
        return 0.0, None


def _cut(book: dict[str, str]) -> dict[str, str]:
    """Single words without their end, half of the letters and five at least: geschl, naiss."""
    return {
        squeezed[:length]: word
        for squeezed, word in book.items()
        if " " not in word
        for length in range(max(5, len(squeezed) // 2 + 1), len(squeezed))
    }


def words(strong: str, weak: str = "", block: str = "", *, flags: bool = False, measures: bool = False) -> HeaderWords:
    """Word lists from text, phrases set apart by commas.

    Headers that name a flag or type of the thing are heard only with `flags`, measures of it only with `measures`.

    >>> words("date of birth, dob", "birth").heard(read_header("DateOfBirth"))
    (0.85, 'date of birth')
    """
    blocked = set(_book(block)) | (set() if flags else _DESCRIBES) | (set() if measures else _MEASURES)
    own = _book(strong)
    return HeaderWords(own, _book(weak), _cut(own), frozenset(blocked - own.keys()))


@cache
def sections_of(file: str) -> Mapping[str, Mapping[str, str]]:
    """The sections of a file that comes with shoal: `words.ini` by kinds of columns, `countries.ini` by identifiers."""
    from configparser import ConfigParser
    from importlib.resources import files

    book = ConfigParser(interpolation=None, delimiters=("=",), comment_prefixes=("#",))
    book.read_string(files("shoal.identifiers").joinpath(file).read_text("utf-8"))
    return book


def words_of(kind: str, *, flags: bool = False, measures: bool = False) -> HeaderWords:
    """The word lists of a section of `words.ini`, as `words` has them from text.

    >>> words_of("passport").heard(read_header("PassportNo"))
    (0.85, 'passport no')
    """
    own = sections_of("words.ini")[kind]
    return words(own["words"], own.get("weak", ""), own.get("block", ""), flags=flags, measures=measures)


def _book(text: str) -> dict[str, str]:
    """Squeezed phrase to phrase."""
    phrases = (" ".join(phrase.split()) for phrase in text.split(","))
    # Backwards, so that of two spellings the first is shown.
    return {squeeze(phrase): phrase for phrase in reversed(list(phrases)) if phrase}
