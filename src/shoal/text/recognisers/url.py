"""Web addresses, user names after @ and folders of a named person."""

from shoal.text.recognisers.pattern import CAPITAL, DIGIT, LOWER, Pattern, Patterns, any_of, one_of, sign

_TOP = r"(?:com|org|net|edu|gov|info|mil|int|eu|de|fr|it|es|ch|at|uk|us|ca|nl|be|io|me|ly|co|health|care|app|dev)"

RECOGNISER = Patterns(
    "url",
    Pattern(r"(?i)\b(?:https?|ftp|sftp|hxxps?)://[^\s<>\"')\]]{1,2000}(?<![.,;:])", 0.99, "web address", "url", parts=("://",)),
    Pattern(r"(?i)\bwww\.[^\s<>\"')\]]{1,2000}(?<![.,;:])", 0.98, "web address", "url", parts=("www.",)),
    Pattern(
        rf"(?<![\w@.-])(?:[A-Za-z\d][A-Za-z\d-]{{0,62}}\.){{1,4}}{_TOP}(?:/[^\s<>\"')\]]{{0,500}}(?<![.,;:])|(?![\w-]))",
        0.85, "domain name", "url", rf"\.{_TOP}\b", asks=sign(any_of(LOWER, CAPITAL, DIGIT, one_of("-")), ".", LOWER),
    ),
    Pattern(r"(?<![\w@.])@[A-Za-z_][\w.]{2,29}(?<!\.)", 0.9, "user name after @", "username", parts=("@",)),
)  # fmt: skip
