"""Days that have a name of their own, such as New Year's Eve, and dates whose month is a Roman number."""

from shoal.text.recognisers.pattern import ANY_LENGTH, Pattern, Patterns, one_of, run
from shoal.text.terms import alternation, rule
from shoal.text.words import trigger

_YEAR = r"(?:,?\s(?:de\s|del\s)?(?:19|20)\d{2}\b)?"


_ROMAN_STARTS = frozenset(separator + sign for separator in "./- " for sign in "IVX")

RECOGNISER = Patterns(
    "calendar days",
    Pattern(
        rf"(?i)(?<![\w-]){alternation('named_days')}{_YEAR}(?![\w-])", 0.9, "day with a name", "date",
        near=trigger(rule("words_of_named_days")), anchored=True, words_before=4,
    ),
    Pattern(
        r"(?<![\w./-])(?:0?[1-9]|[12]\d|3[01])([./-]|\. ?| )"
        r"(?:XI{0,2}|IX|IV|VI{0,3}|I{1,3})(?:\1|\. ?)(?:19|20)\d{2}(?!\w)",
        0.93, "date with a Roman month", "date",
        asks=run(1, ANY_LENGTH, behind=one_of("./- "), second_behind=one_of("IVX")), digits=True,
    ),
)  # fmt: skip
