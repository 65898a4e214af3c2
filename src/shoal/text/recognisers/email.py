"""E-mail addresses, also written with (at) and (dot)."""

from shoal.text.recognisers.pattern import Pattern, Patterns, any_of, blank, one_of, sign

_LOCAL = r"(?<![\w.+%-])[\w.+%'-]{1,64}"
_PART = r"[\w-]{1,63}"
_AT = r"\s?[\[({<]\s?(?:at|@)\s?[\])}>]\s?"
_DOT = r"(?:\.|\s?[\[({]\s?(?:dot|punkt|point|punto)\s?[\])}]\s?)"
_TOP = r"(?:com|org|net|edu|gov|de|fr|it|es|uk|ch|at)"

_SIGN = r"[\[({<]\s?(?:at|AT|@)"

RECOGNISER = Patterns(
    "email",
    Pattern(rf"{_LOCAL}@{_PART}(?:\.{_PART}){{0,6}}", 0.99, "e-mail address", "email", parts=("@",)),
    Pattern(
        rf"(?i){_LOCAL}{_AT}{_PART}(?:{_DOT}{_PART}){{1,6}}",
        0.97,
        "e-mail address written with (at)",
        "email",
        r"[\[({<]\s?(?:[aA][tT]|@)\s?[\])}>]",
        asks=sign(None, "([{<", any_of(one_of("aA@"), blank)),
    ),
    Pattern(rf"(?i){_LOCAL} at {_PART} dot {_TOP}\b", 0.9, "e-mail address in words", "email", parts=(" dot ",)),
)
