"""Organisations and roads by a label, a number or a shouted head: `Employer: …`, `Juzgado nº 3 de …`, `I-90`."""

from collections.abc import Callable

from shoal.text.base import Note
from shoal.text.recognisers.pattern import Pattern, Patterns
from shoal.text.terms import alternation, rule

_WORD = r"[A-ZÀ-ÖØ-Þ][\w'’-]{1,30}"
_RUN = rf"{_WORD}(?:\s(?:&|and|of|und|et|e|y|de|di|du|del|della|der|the)\s{_WORD}|\s&\s{_WORD}|\s{_WORD}){{0,5}}"
_NOTHING = r"(?!(?:None|Unknown|Retired|Unemployed|Self|Keine?|Aucun|Nessun|Ningun|Yes|No)\b)"


def _has(key: str) -> Callable[[Note], bool]:
    def gate(note: Note) -> bool:
        return any(part in note.lower for part in rule(key))

    return gate


RECOGNISER = Patterns(
    "facilities",
    Pattern(
        rf"(?<!\w)(?i:{alternation('labels_of_organisations')})\s?:\s(?P<id>{_NOTHING}{_RUN})(?<!\.)",
        0.9, "after a label for an organisation", "organisation", gate=_has("labels_of_organisations"),
    ),
    Pattern(
        r"(?<!\w)(?i:juzgado|tribunal|sala|sección|fiscalía)(?:\s(?:de|lo|[A-Z]?[a-zéíóú]{3,15})){0,5}"
        rf"\s(?:n\.?[º°o]|núm\.?|número)\s?\d{{1,3}}(?:\sde\s{_WORD}(?:\s{_WORD}){{0,2}})?(?<!\.)",
        0.9, "court with a number", "organisation", gate=_has("numbered_courts"),
    ),
    Pattern(
        rf"(?<!\w)(?!(?:The|This|That|Our|His|Her|State|Federal|US|A|An|In|At|By|See|Under)\s(?i:superior|district|supreme|circuit"
        r"|municipal|family|juvenile|crown|probate|county|magistrates['’]?)\s)"
        rf"(?:{_WORD}\s){{1,3}}(?i:superior|district|supreme|circuit|municipal|family|juvenile|crown|probate"
        r"|magistrates['’]?|county)\s(?i:court)(?!\w)",
        0.88, "court", "organisation", sign=r"(?i)\scourt\b",
    ),
    Pattern(
        rf"(?<!\w){alternation('shouted_heads')}\s(?:(?:LES|LA|LE|LOS|LAS|EL|SAN|SANTA|SAINT)\s)?"
        r"(?!(?:DE|DEL|DI|DU|POR|PER|CON|AVEC|POUR)\s)[A-ZÀ-ÖØ-Þ][A-ZÀ-ÖØ-Þ'’-]{3,30}(?=[.,;)]|$|\s(?:DEPUIS|DAL|DESDE|SEIT|LE|IL|EL|AM|DU|DEL|VOM|\d))",
        0.84, "shouted name of a facility", "organisation", gate=_has("parts_of_shouted_heads"),
    ),
    Pattern(
        r"(?<![\w-])(?:I-|Interstate |US-|Route |Rte\.? |Highway |Hwy\.? )\d{1,3}(?!\w)"
        r"(?:\s(?:near|at|by|between|past)\s(?:[Ee]xit|mile(?:\smarker)?|MM|mm)\s\d{1,3}(?!\w))?",
        0.8, "road with a number", "address", gate=lambda note: note.has_digits,
        sign=r"(?:I-|US-|[Rr]oute |Rte|[Hh]ighway |Hwy|Interstate )",
    ),
    Pattern(
        rf"(?<!\w)(?:SARL|SAS|SCI|EURL|SNC|Ets|Établissements|Société|Fa\.|Gebr\.|Ditta)\s(?P<id>{_RUN})(?<!\.)",
        0.86, "form of a company", "organisation", sign=r"(?:SARL|SAS|SCI|EURL|SNC|Ets|Soci|Fa\.|Gebr\.|Ditta)\s",
    ),
    Pattern(
        r"(?i)(?<!\w)(?:auf der|auf die|an der|sur l['’]|sur la|en la|por la|sulla|lungo la|on the|along the)\s?"
        r"(?-i:(?P<id>(?:AP|SS|SP|RN|A|B|N|D|M|E)[- ]?\d{1,4}))(?![\w%])",
        0.78, "road with a number", "address", sign=r"\b(?:AP|SS|SP|RN|A|B|N|D|M|E)[- ]?\d", digits=True,
    ),
    Pattern(
        rf"(?m)^(?P<id>{_WORD}(?:[ -]{_WORD}){{0,2}}),\s(?:le|den|li|il|a|el|am)\s\d{{1,2}}\.?\s",
        0.85, "place and date of a letter", "place", digits=True,
        sign=r"(?m)^[^\n,]{2,60},\s(?:le|den|li|il|a|el|am)\s\d",
    ),
    Pattern(
        r"(?<![\w-])(?:A\s?\d{1,3}\s(?:Ausfahrt|Anschlussstelle|AS|Raststätte)\s[A-ZÄÖÜ][\w-]{2,30}"
        r"|(?:autoroute|autostrada|autovía|autopista|Autobahn)\s[A-Z]{1,2}-?\s?\d{1,3})(?!\w)",
        0.8, "motorway", "address", sign=r"(?:Ausfahrt|Anschluss|Raststätte| AS |auto|Autobahn)",
    ),
    Pattern(
        r"(?<![\w-])(?:St\.|Sankt)-[A-ZÄÖÜ][\w-]{2,40}-(?i:krankenhaus|klinik|hospital|stift|schule|heim|haus|apotheke)(?!\w)",
        0.9, "compound with a saint", "organisation", sign=r"(?:St\.|Sankt)-",
    ),
    Pattern(
        r"(?<!\w)[A-ZÄÖÜ][\wäöüß-]{2,30}(?=\s\./\.\s)|(?<=\s\./\.\s)[A-ZÄÖÜ][\wäöüß-]{2,30}",
        0.88, "party of a case", "name", sign=r"\s\./\.\s",
    ),
    Pattern(
        r"(?<![\w-])[A-ZÄÖÜ][\w-]{2,40}\s?(?i:straße|strasse|str\.|weg|platz|allee|gasse)\s\d{1,4}[a-z]?,\s"
        r"(?P<id>[A-ZÄÖÜ][a-zäöüß-]{2,30})(?=[.,;)]|$)",
        0.85, "town after a street", "place", sign=r"(?i)(?:str\.|straße|strasse|weg|platz|allee|gasse)\s\d",
    ),
)  # fmt: skip
