"""Names of months in five languages, whole and short: read by columns, notes, types and whatever moves dates."""

from __future__ import annotations

from functools import cache

# how a month's name may start, with any letters behind
MONTH_NAMES = (
    r"(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|gen|mag|giu|lug|ago|set|ott|dic|mai|okt|dez|m[aä]rz|janv|f[eé]v"
    r"|avr|juin|juil|ao[uû]t|d[eé]c|ene|abr|mrt|mei)\p{L}*"
)
# whole names and their short forms; a word that only starts like a month is not one
WHOLE_MONTH_NAMES = (
    r"(?:jan(?:uary|uar|vier)?|feb(?:ruary|ruar|braio|rero)?|f[eé]v(?:rier)?|mar(?:ch|zo|s)?|m[aä]rz|maart|apr(?:il|ile)?"
    r"|avril|abril|may|mayo|mai|mei|maggio|june?|juni|junio|juin|giugno|july?|juli|julio|juillet|luglio|aug(?:ust|ustus)?"
    r"|ao[uû]t|agosto|sept?(?:ember|embre|iembre)?|settembre|okt(?:ober)?|oct(?:ober|obre|ubre)?|ottobre"
    r"|nov(?:ember|embre|iembre)?|dec(?:ember)?|dez(?:ember)?|d[eé]cembre|dicembre|diciembre|gennaio|enero)"
)
# names as they are written; a name that several languages have (April) is taken in this order
MONTHS_BY_LANGUAGE = {
    "en": "January February March April May June July August September October November December",
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "it": "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
}
FULL_MONTHS = tuple(MONTHS_BY_LANGUAGE["en"].lower().split())
# the English names, whole or short (also `sept`)
ENGLISH_MONTH_NAMES = f"(?:{'|'.join(f'{name[:3]}(?:{name[3:]})?' for name in FULL_MONTHS)}|sept)"
SHORT_MONTHS_BY_LANGUAGE = {
    "en": "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec",
    "de": "Jan Feb Mär Apr Mai Jun Jul Aug Sep Okt Nov Dez",
    "fr": "janv févr mars avr mai juin juil août sept oct nov déc",
    "it": "gen feb mar apr mag giu lug ago set ott nov dic",
    "es": "ene feb mar abr may jun jul ago sep oct nov dic",
}
_ALSO = {"sept": ("en", 9), "jän": ("de", 1), "jänner": ("de", 1), "mrz": ("de", 3), "marz": ("de", 3)}


@cache
def month_words() -> dict[str, list[tuple[str, int, bool]]]:
    """Each month's name in small letters, accents kept and dropped: its languages, its number, whether it is whole."""
    found: dict[str, list[tuple[str, int, bool]]] = {}
    for whole, names in ((True, MONTHS_BY_LANGUAGE), (False, SHORT_MONTHS_BY_LANGUAGE)):
        for language, text in names.items():
            for number, word in enumerate(text.split(), 1):
                for spelled in {word.lower(), plain(word)}:
                    entries = found.setdefault(spelled, [])
                    if all((known, month) != (language, number) for known, month, _ in entries):
                        entries.append((language, number, whole))
    for word, (language, number) in _ALSO.items():
        found.setdefault(word, []).append((language, number, False))
    return found


def plain(text: str) -> str:
    """Small letters without accents.

    >>> plain("Février")
    'fevrier'
    """
    return text.lower().translate(_ACCENTS)


_ACCENTS = str.maketrans("äáàâãéèêëíìîïóòôöõúùûüñç", "aaaaaeeeeiiiiooooouuuunc")


def months_of(word: str) -> list[tuple[str, int, bool]]:
    """What a month's name can be: language, number, whether it is whole."""
    words = month_words()
    return words.get(word.lower()) or words[plain(word)]
