"""Organisations and roads by a label, a number or a shouted head: `Employer: …`, `Juzgado nº 3 de …`, `I-90`."""

from shoal.text.recognisers.pattern import CAPITAL, LOWER, Pattern, Patterns, blank, either, one_of, run
from shoal.text.terms import alternation, rule
from shoal.text.words import STREET_DE, trigger

_WORD = r"[A-ZÀ-ÖØ-Þ][\w'’-]{1,30}"
_RUN = rf"{_WORD}(?:\s(?:&|and|of|und|et|e|y|de|di|du|del|della|der|the)\s{_WORD}|\s&\s{_WORD}|\s{_WORD}){{0,5}}"
_NOTHING = r"(?!(?:None|Unknown|Retired|Unemployed|Self|Keine?|Aucun|Nessun|Ningun|Yes|No)\b)"


def _words_of(key: str) -> int:
    """The trigger of the first words of the phrases of a rule."""
    return trigger(phrase.split()[0].lower() for phrase in rule(key))


_FAMILY = trigger((
    "fils", "frères", "cie", "associés", "söhne", "sohn", "töchter", "partner", "figli", "fratelli", "soci",
    "associati",
    "hijos", "hermanos", "asociados", "sons", "daughters", "brothers", "co", "lli", "gebr", "gebrüder", "hnos", "viuda",
    "veuve", "éts", "ets", "eredi",
))  # fmt: skip

RECOGNISER = Patterns(
    "facilities",
    Pattern(
        rf"(?<!\w)(?i:{alternation('labels_of_organisations')})\s?:\s(?P<id>{_NOTHING}{_RUN})(?<!\.)",
        0.9, "after a label for an organisation", "organisation", parts=(":",),
        words=_words_of("labels_of_organisations"),
    ),
    Pattern(
        r"(?<!\w)(?i:juzgado|tribunal|sala|sección|fiscalía)(?:\s(?i:de|lo|[a-zéíóú]{3,15})){0,5}"
        rf"\s(?i:n\.?\s?[º°o]|núm\.?|número)\s?\d{{1,3}}(?:\s(?i:de)\s{_WORD}(?:\s{_WORD}){{0,2}})?(?<!\.)",
        0.9, "court with a number", "organisation", words=_words_of("numbered_courts"), digits=True,
    ),
    Pattern(
        rf"(?<!\w)(?!(?:The|This|That|Our|His|Her|State|Federal|US|A|An|In|At|By|See|Under)\s(?i:superior|district"
        rf"|supreme|circuit"
        r"|municipal|family|juvenile|crown|probate|county|magistrates['’]?)\s)"
        rf"(?:{_WORD}\s){{1,3}}(?i:superior|district|supreme|circuit|municipal|family|juvenile|crown|probate"
        r"|magistrates['’]?|county)\s(?i:court)(?!\w)",
        0.88, "court", "organisation", words=trigger(("court",)),
    ),
    Pattern(
        rf"(?<!\w){alternation('shouted_heads')}\s(?:(?:LES|LA|LE|LOS|LAS|EL|SAN|SANTA|SAINT)\s)?"
        r"(?!(?:DE|DEL|DI|DU|POR|PER|CON|AVEC|POUR)\s)[A-ZÀ-ÖØ-Þ][A-ZÀ-ÖØ-Þ'’-]{3,30}(?=[.,;)]|$|\s(?:DEPUIS|DAL"
        r"|DESDE|SEIT|LE|IL|EL|AM|DU|DEL|VOM|\d))",
        0.84, "shouted name of a facility", "organisation", words=_words_of("shouted_heads"),
    ),
    Pattern(
        rf"(?<!\w){_WORD}(?:[ -]{_WORD}){{0,2}}\s(?:&|et|und|e|y|and|u\.)\s(?:Fils|Frères|Cie|Associés|Söhne|Sohn"
        rf"|Töchter|Partner"
        r"|Figli|Fratelli|Soci|Associati|Hijos|Hermanos|Asociados|Sons|Daughters|Brothers|Co|FILS|FIGLI|HIJOS|SONS"
        r"|SÖHNE)(?!\w)",
        0.88, "company of a family", "organisation", words=_FAMILY,
    ),
    Pattern(
        rf"(?<!\w)(?:Fratelli|F\.lli|Gebr\.|Gebrüder|Hnos\.?|Hermanos|Viuda de|Hijos de|Veuve|Éts|Ets|Eredi"
        rf"|Figli di)\s{_WORD}"
        rf"(?:\s{_WORD}){{0,2}}(?<!\.)",
        0.84, "company of a family", "organisation", words=_FAMILY,
    ),
    Pattern(
        r"(?<!\w)(?:(?:[A-ZÄÖÜ][\w-]{2,30}\s)(?:BKK|IKK)(?:\s[A-ZÄÖÜ][\wäöüß-]{2,20})?|(?:AOK|BKK"
        r"|IKK)[ -][A-ZÄÖÜ][\wäöüß/-]{2,30})(?!\w)",
        0.86, "health insurer", "organisation", words=trigger(("aok", "bkk", "ikk")),
    ),
    Pattern(
        r"(?<![\w-])(?:I-|Interstate |US-|Route |Rte\.? |Highway |Hwy\.? )\d{1,3}(?!\w)"
        r"(?:\s(?:near|at|by|between|past)\s(?:[Ee]xit|mile(?:\smarker)?|MM|mm)\s\d{1,3}(?!\w))?",
        0.8, "road with a number", "address", digits=True,
        words=trigger(("i", "us", "route", "rte", "highway", "hwy", "interstate")),
    ),
    Pattern(
        rf"(?<!\w)(?:SARL|SAS|SCI|EURL|SNC|Ets|Établissements|Société|Fa\.|Gebr\.|Ditta)\s(?P<id>{_RUN})(?<!\.)",
        0.86, "form of a company", "organisation", words=trigger(rule("company_before")),
    ),
    Pattern(
        r"(?i)(?<!\w)(?:auf der|auf die|an der|sur l['’]|sur la|en la|por la|sulla|lungo la|on the|along the)\s?"
        r"(?-i:(?P<id>(?:AP|SS|SP|RN|A|B|N|D|M|E)[- ]?\d{1,4}))(?![\w%])",
        0.78, "road with a number", "address", digits=True,
        words=trigger(("ap", "ss", "sp", "rn", "a", "b", "n", "d", "m", "e")),
        asks=either(run(1, 9, before=CAPITAL), run(1, 9, second_before=CAPITAL, before=one_of("- "))),
        sign=r"\b(?:AP|SS|SP|RN|[ABNDME])[- ]?\d",
    ),
    Pattern(
        rf"(?m)^(?P<id>{_WORD}(?:[ -]{_WORD}){{0,2}}),\s(?:le|den|li|il|a|el|am)\s\d{{1,2}}\.?\s",
        0.85, "place and date of a letter", "place", digits=True,
        words=trigger(("le", "den", "li", "il", "a", "el", "am")),
        asks=run(1, 2, second_before=LOWER, before=blank), sign=r"(?m)^[^\n,]{2,60},\s(?:le|den|li|il|a|el|am)\s\d",
    ),
    Pattern(
        r"(?<![\w-])(?:A\s?\d{1,3}\s(?:Ausfahrt|Anschlussstelle|AS|Raststätte)\s[A-ZÄÖÜ][\w-]{2,30}"
        r"|(?:autoroute|autostrada|autovía|autopista|Autobahn)\s[A-Z]{1,2}-?\s?\d{1,3})(?!\w)",
        0.8, "motorway", "address", digits=True, words=trigger(
            ("ausfahrt", "anschlussstelle", "raststätte", "as", "autoroute", "autostrada", "autovía", "autopista",
             "autobahn")
        ),
    ),
    Pattern(
        r"(?<![\w-])(?:St\.|Sankt)-[A-ZÄÖÜ][\w-]{2,40}-(?i:krankenhaus|klinik|hospital|stift|schule|heim|haus"
        r"|apotheke)(?!\w)",
        0.9, "compound with a saint", "organisation", parts=("st.-", "sankt-"),
    ),
    Pattern(
        r"(?<!\w)[A-ZÄÖÜ][\wäöüß-]{2,30}(?=\s\./\.\s)|(?<=\s\./\.\s)[A-ZÄÖÜ][\wäöüß-]{2,30}",
        0.88, "party of a case", "name", parts=(" ./. ",),
    ),
    Pattern(
        r"(?<![\w-])[A-ZÄÖÜ][\w-]{2,40}\s?(?i:straße|strasse|str\.|weg|platz|allee|gasse)\s\d{1,4}[a-z]?,\s"
        r"(?P<id>[A-ZÄÖÜ][a-zäöüß-]{2,30})(?=[.,;)]|$)",
        0.85, "town after a street", "place", near=STREET_DE, reach=(60, 60), digits=True,
    ),
)  # fmt: skip
