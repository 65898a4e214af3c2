"""User names after a word such as login, extensions of a phone without its number, and numbers after `n°`."""

from shoal.text.base import Note
from shoal.text.recognisers.pattern import Pattern, Patterns
from shoal.text.terms import alternation, rule

_IS = r"(?:\s(?:is|was|ist|lautet|est|è|es))?\s?[:=]?\s?[\"'“(]?"


def _has_login(note: Note) -> bool:
    return any(part in note.lower for part in rule("parts_of_logins"))


def _has_extension(note: Note) -> bool:
    return note.has_digits and any(part in note.lower for part in rule("parts_of_extensions"))


def _has_long_number(note: Note) -> bool:
    return any(end - start > 5 for start, end in note.digits)


def _is_handle(text: str) -> bool:
    """Not a plain word: `jsmythe42`, `m.brown`, `mbrown`, not `page` or `failed`."""
    from shoal.text.words import is_word

    return len(text) > 2 and (not text.isalpha() or not is_word(text.lower()))


RECOGNISER = Patterns(
    "handles",
    Pattern(
        rf"(?i)(?<!\w){alternation('logins')}{_IS}(?P<id>[a-z\d][\w.\\-]{{1,38}}\w)(?![\w@])",
        0.9, "after a word for a user name", "username", check=_is_handle, gate=_has_login,
    ),
    Pattern(
        rf"(?i)(?<!\w)(?:{alternation('extensions')}\.?:?\s?#?\s?|x)(?P<id>\d{{3,5}})(?![\w%/-]|[.,]\d)",
        0.88, "extension of a phone", "phone", gate=_has_extension,
    ),
    Pattern(
        r"(?i)(?<!\w)(?:n[°ºo]\.?|n\.[°ºo]|nr\.|núm\.|num\.)\s?(?P<id>\d{6,12})(?![\w%]|[.,]\d)",
        0.8, "number after n°", "other_number", gate=_has_long_number,
    ),
)  # fmt: skip
