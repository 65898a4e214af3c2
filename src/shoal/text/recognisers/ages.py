"""Ages over 89, and years of birth that tell one."""

from shoal.text.recognisers.pattern import Pattern, Patterns

_OLD = r"(?:9\d|1[01]\d)"
_UNITS = (
    r"(?:[\s-]{0,2}(?:years?|yrs?\.?)[\s-]{0,2}(?:of age|old)\b|[\s-]?y\.?/?\s?o\.?(?!\w)|[\s-]yrs?\b|[\s-]years?\b"
    r"|[\s-]?[Jj]ährige?[rnms]?\b|\s?[Jj]ahre(?: alt)?\b|\s?ans\b|\s?anni\b|\s?años\b)"
)
_AGED = r"(?:aged?|age:|age of|âgée? de|di anni|anni|im alter von|alter:?|edad de|edad:?|età:?|turned|turning)"
_BORN = r"(?:born|geboren|geb\.|née?|nato|nata|nacid[oa])\s(?:in|im jahr|en|nel)?\s?"

RECOGNISER = Patterns(
    "ages",
    Pattern(rf"(?<![\d./,-]){_OLD}{_UNITS}", 0.93, "age over 89", "age_over_89"),
    Pattern(rf"(?i)\b{_AGED}\s?(?P<id>{_OLD})(?!\d|[.,/]\d|%)", 0.9, "age over 89", "age_over_89"),
    Pattern(r"(?<![\d./,-])(?P<id>(?:9\d|10\d))(?:M|W|m|f|F(?! ?[.,;)]))(?!\w)", 0.7, "age and sex", "age_over_89"),
    Pattern(r"(?i)\bin (?:his|her|their) (?P<id>nineties|90['’]?s)", 0.8, "age over 89", "age_over_89"),
    Pattern(rf"(?i)\b{_BORN}(?P<id>19(?:[0-2]\d|3[0-5]))\b(?![-/.]\d)", 0.75, "year of an old birth", "age_over_89"),
    digits=False,
)
