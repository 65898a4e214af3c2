"""Organisations: by words such as hospital, school, GmbH, after `works at`, after a label; and roads with a number."""

from __future__ import annotations

import re

from shoal.storage import Array
from shoal.text import terms
from shoal.text.base import Note, NoteByNote, Span, TextKind
from shoal.text.block import Block
from shoal.text.recognisers import pattern
from shoal.text.recognisers.pattern import Pattern, Patterns, blank, either, one_of, run, sign
from shoal.text.terms import alternation, rule
from shoal.text.words import (
    ACTS,
    CAPITAL,
    COMPANY,
    EITHER,
    INITIAL,
    LOWER,
    MAYBE_NAME,
    MONTH,
    ORG_END,
    ORG_START,
    PLACE,
    REGION,
    ROLE,
    SMALL,
    STAYS,
    STREET_DE,
    TITLE,
    UPPER,
    WORD,
    WRITTEN_AS_NAME,
    dictionary,
    trigger,
)

_INSIDE = frozenset(("of", "and", "&", "de", "St", "Saint", "y", "und", "et"))
_AT = frozenset(("at", "for", "by", "with", "from"))
_BEFORE = _AT | {"St", "Saint", "Sankt"}
_BEFORE_BIT = trigger(word.lower() for word in _BEFORE)
_FORMS = ("S.r.l.", "S.p.A.", "S.n.c.", "S.a.s.", "S.L.U.", "S.L.", "S.A.", "S.C.", "e.V.", "s.r.l.")
_AT_WORK = {
    "de": frozenset(("bei", "beim", "für")), "fr": frozenset(("chez", "pour")),
    "it": frozenset(("presso", "per", "da", "in", "alla", "al")), "es": frozenset(("en", "para")),
}  # fmt: skip
_ARTICLES = frozenset(
    ("der", "dem", "den", "la", "il", "lo", "el", "los", "las", "le", "les", "l'", "l’", "ditta", "firma")
)
_ADJECTIVES_MOST = 2
# heads of other languages that are English words too
_ENGLISH_TOO = terms.rule("english_heads")
_WORK = trigger(terms.rule("work_words"))
_SIGNS = ORG_END | COMPANY | ORG_START | _WORK | _BEFORE_BIT
_TAILS = re.compile(
    r"\s?(?:&|und|et|e|y|and)\s(?:(?i:partner|partners|associés|associées|figli|fratelli|soci|associati|asociados"
    r"|hijos|fils|söhne|co|cie|kollegen|sons)\b\.?|[A-ZÀ-ÖØ-Þ][\w'’-]{1,30})"
)
_STOPS = frozenset(
    ("à", "puis", "depuis", "hasta", "hacia", "con", "per", "por", "mit", "seit", "dal", "car", "pour", "avec")
)
_MANY = frozenset((
    "Parents", "Children", "Women", "Mothers", "Fathers", "Friends", "Carers", "Workers", "Students", "Seniors",
    "Nurses",
    "Families", "Boys", "Girls", "Neighbours", "Neighbors",
))  # fmt: skip
_COMPOUND = (
    "-schule", "-klinik", "-gymnasium", "-stiftung", "-krankenhaus", "-grundschule", "-realschule", "-gesamtschule",
    "-haus", "-heim", "-apotheke", "-klinikum", "-hospital", "-kita", "-universität",
)  # fmt: skip
_HYPHENATED = sign(None, "-", one_of("".join({end[1] + end[1].upper() for end in _COMPOUND})))


class OrganisationsRecogniser(NoteByNote):
    """Hospitals, schools, courts, companies, offices."""

    name = "organisations"
    kinds: tuple[TextKind, ...] = ("organisation",)

    def worth(self, block: Block) -> Array:
        """Notes with a word of an organisation, of work, or before one."""
        return block.marked(_SIGNS) | _HYPHENATED(block)

    def find(self, note: Note) -> list[Span]:
        """Organisations in the note."""
        found: list[Span] = []
        english = note.language == "en"
        for place in note.marked(ORG_END | COMPANY | ORG_START):
            word, bits = note.words[place], note.signs[place]
            if bits & ORG_END and bits & WRITTEN_AS_NAME and place and (english or word in ("Hotel", "Bar", "Studio")):
                found += _ends(note, place)
            if bits & COMPANY and bits & WRITTEN_AS_NAME and (bits & (UPPER | INITIAL) or len(word) > 2):
                found += _company(note, place)
            if bits & ORG_START and bits & UPPER and (shouted := _shouted(note, place)):
                found.append(shouted)
                continue
            if bits & ORG_START and bits & LOWER and note.in_lower_case and (lower := _lower(note, place)):
                found.append(lower)
            if bits & ORG_START and not (english and word.lower() in _ENGLISH_TOO):
                found += _starts(note, place, _phrases_from(word))
        if "-" in note.folded and any(end in note.lower for end in _COMPOUND):
            found += _compounds(note)
        if english:
            return found + _after_words(note)
        return found + _employers(note)


def _phrases_from(word: str) -> list[tuple[str, ...]]:
    """The phrases that start with a word; the genitive of one starts none."""
    return terms.first_words_of_organisations().get(word.lower(), [])


def _employers(note: Note) -> list[Span]:
    """German, French, Italian, Spanish: a word in capitals after a word for work and `bei`, `chez`, `presso`, `en`."""
    before = _AT_WORK.get(note.language)
    if before is None or not note.any_signs & _WORK:
        return []
    found = []
    for place in [number for number, word in enumerate(note.words[:-1]) if word in before]:
        works = any(word.lower() in terms.rule("work_words") for word in note.words[max(0, place - 4) : place])
        here = place + 1
        while (
            works and here + 1 < len(note.words) and note.words[here].lower() in _ARTICLES and note.gap(here + 1) == " "
        ):
            here += 1
        bits = note.signs[here]
        if not works or note.gap(here) != " " or not bits & WRITTEN_AS_NAME or bits & (TITLE | ROLE | MONTH | REGION):
            continue
        if note.language == "de" and (bits & WORD or (bits & EITHER and not bits & STAYS)) and here > place + 1:
            continue
        last = here
        while (
            last + 1 < len(note.words)
            and note.gap(last + 1) in (" ", " & ", "-")
            and note.signs[last + 1] & WRITTEN_AS_NAME
        ):
            last += 1
        found.append(Span(note.pieces[here][0], note.pieces[last][1], "organisation", 0.86, "after a word for work"))
    return found


def _compounds(note: Note) -> list[Span]:
    """`Astrid-Lindgren-Schule`."""
    return [
        Span(*note.pieces[place], "organisation", 0.85, "compound with a word for an organisation")
        for place, word in enumerate(note.words)
        if "-" in word and word.lower().endswith(_COMPOUND)
    ]


def _after_words(note: Note) -> list[Span]:
    """English: after `at` and words for work, and after `St.`"""
    found = []
    words = note.words
    for place in [number for number in note.marked(_BEFORE_BIT) if words[number] in _BEFORE]:
        word = words[place]
        here = place + 2 if note.words[place + 1 : place + 2] == ["the"] else place + 1  # for the Tidewater Group
        if word in _AT and here < len(note.words) and note.signs[here] & WRITTEN_AS_NAME:
            found += _at(note, here) if note.gap(place + 1) == " " == note.gap(here) else []
        elif word not in _AT:
            found += _saint(note, place)
    return found


def _ends(note: Note, place: int) -> list[Span]:
    """English: words in capitals before the head."""
    first, named = place, False
    for number in range(place - 1, max(-1, place - 7), -1):
        word, bits = note.words[number], note.signs[number]
        gap = note.gap(number + 1)
        if gap not in (" ", " & ", "-") and not (gap == ". " and word in ("St", "ST")):
            break
        if (
            bits & WRITTEN_AS_NAME
            and (not bits & (TITLE | MONTH | ROLE) or word in _MANY)
            and not (bits & SMALL and (note.starts(number) or word in ("FROM", "AT", "TO", "IN", "BY", "WITH", "VIA")))
        ):
            first = number
            named = named or (
                word.lower() not in terms.rule("generic_organisations") and not (bits & STAYS and bits & UPPER)
            )
        elif word not in _INSIDE or number == place - 1 or (number > 1 and note.signs[number - 2] & TITLE):
            break
    if (
        note.starts(first)
        and first < place - 1
        and note.signs[first] & WORD
        and note.words[first].lower() in terms.rule("generic_organisations")
    ):
        first += 1
    if not named or (first == place - 1 and note.starts(first) and note.signs[first] & WORD):
        return []
    return [
        Span(note.pieces[first][0], note.pieces[place][1], "organisation", 0.84, "ends with a word for an organisation")
    ]


def _company(note: Note, place: int) -> list[Span]:
    """Words in capitals before `Inc.`, `GmbH`, `S.r.l.`"""
    text, (start, end) = note.folded, note.pieces[place]
    if text[end : end + 1].isdigit():  # INC0093821
        return []
    if note.words[place] in ("SE", "EV") and note.language in ("fr", "it", "es"):
        return []
    if note.words[place] in ("S", "s", "E", "e"):
        form = next((form for form in _FORMS if text.startswith(form, start)), None)
        if form is None:
            return []
        end = start + len(form)
    first = place
    for number in range(place - 1, max(-1, place - 6), -1):
        bits = note.signs[number]
        gap = note.gap(number + 1)
        if gap not in (" ", " & ", ", ", "-") and not (gap == ". " and note.words[number] in ("Co", "St", "Dr")):
            break
        if bits & WRITTEN_AS_NAME and (
            not bits & (ROLE | TITLE) or note.words[number] in ("Sons", "Daughters", "Partners")
        ):
            first = number
        elif not bits & LOWER or note.words[number] not in ("y", "und", "et", "and", "di", "de"):
            break
    if first == place:
        return []
    return [Span(note.pieces[first][0], end, "organisation", 0.9, "form of a company")]


def _saint(note: Note, place: int) -> list[Span]:
    here = place + 1
    if (
        here < len(note.signs)
        and note.gap(here) in (" ", ". ")
        and note.signs[here] & CAPITAL
        and not note.signs[here] & (STAYS | WORD | SMALL)
    ):
        return [Span(note.pieces[place][0], note.pieces[here][1], "organisation", 0.8, "named after a saint")]
    return []


def _at(note: Note, place: int) -> list[Span]:
    """`at Mercy`, `works for Acme`: words in capitals after such a word."""
    bits, before = note.signs[place], note.words[place - 1]
    if before == "the":
        before = "the firm"
    works = any(word.lower() in terms.rule("works") for word in note.words[max(0, place - 5) : place - 1])
    works = works or bool(
        before in ("at", "for", "with") and place > 1 and note.signs[place - 2] & ROLE and note.gap(place - 1) == " "
    )
    if (
        not (before == "at" or works)
        or bits & (STAYS | TITLE | MONTH | ROLE | SMALL | REGION)
        or place in note.protected
    ):
        return []
    last = place
    while last + 1 < len(note.signs) and note.gap(last + 1) in (" ", " & ") and note.signs[last + 1] & CAPITAL:
        if note.signs[last + 1] & (TITLE | MONTH | SMALL):
            break
        last += 1
    if bits & UPPER and last == place:
        return []
    return [Span(note.pieces[place][0], note.pieces[last][1], "organisation", 0.62, "after `at` or a word for work")]


def _starts(note: Note, place: int, phrases: list[tuple[str, ...]]) -> list[Span]:
    """German, French, Italian, Spanish: the head, small words, and words in capitals."""
    words, signs = note.words, note.signs
    for phrase in phrases:
        if tuple(word.lower() for word in words[place : place + len(phrase)]) != phrase:
            continue
        here = place + len(phrase)
        kind_of = here
        while here < len(words) and here - kind_of < _ADJECTIVES_MOST and _says_which(note, here):
            here += 1
        while (
            here < len(words)
            and words[here].lower() in terms.rule("organisation_links")
            and note.gap(here) in (" ", "")
            and here - place < 6
        ):
            here += 1
        linked = here > place + len(phrase)
        if here >= len(words) or note.gap(here) not in (" ", "", ' "', " «", "-", "« ", " « ", " & "):
            return []
        bits = signs[here]
        german = note.language == "de"
        if _is_named_with_article(note, here):  # Ambulanz Die Brücke
            end = note.pieces[here + 1][1]
            return [Span(note.pieces[place][0], end, "organisation", 0.82, "starts with a word for an organisation")]
        if bits & TITLE and here + 1 < len(words) and note.gap(here + 1) in (". ", " "):  # Kanzlei Dr. Hügel
            here += 1
            bits = signs[here]
        if not bits & CAPITAL or bits & (TITLE | ROLE | MONTH | INITIAL) or (german and bits & STREET_DE):
            return []
        named = phrase[-1] in terms.rule("houses_with_names") and bits & WORD and not linked
        if (
            german
            and not named
            and not (
                bits & (MAYBE_NAME | PLACE | REGION)
                or (linked and bits & WORD and words[here - 1] in ("am", "an", "zum", "zur"))
                or (not linked and bits & WORD and words[here].lower() not in dictionary() and len(words[here]) > 7)
            )
        ):
            return []
        last = here
        while last + 1 < len(words) and note.gap(last + 1) in (" ", "-", " & ", ""):
            nearby = signs[last + 1]
            small = (
                words[last + 1].lower() in terms.rule("organisation_links")
                and last + 2 < len(words)
                and signs[last + 2] & CAPITAL
                and not (german and signs[last + 2] & (ROLE | WORD))
                and note.gap(last + 2) in (" ", "")
            )
            if (
                not (
                    nearby & CAPITAL
                    and not nearby & (TITLE | ROLE | MONTH)
                    and (not german or nearby & (MAYBE_NAME | EITHER))
                )
                and not small
            ):
                break
            last += 1
        end = note.pieces[last][1]
        tail = _TAILS.match(note.folded, end)
        end = tail.end() if tail is not None else end
        return [Span(note.pieces[place][0], end, "organisation", 0.84, "starts with a word for an organisation")]
    return []


def _is_named_with_article(note: Note, here: int) -> bool:
    named = note.words[here] in ("Die", "Der", "Das", "Zum", "Zur", "Am", "Im") and here + 1 < len(note.words)
    return named and bool(note.signs[here + 1] & CAPITAL) and note.gap(here + 1) == " "


def _shouted(note: Note, place: int) -> Span | None:
    """`EHPAD LES GLYCINES`, `MAIRIE DE THIONVILLE`: a head in capitals and up to four words in capitals behind it."""
    words, signs = note.words, note.signs
    phrases = _phrases_from(words[place])
    if len(words[place]) < 4 and words[place] not in ("CHU", "RSA", "JVA", "CRA", "CEIP", "IES", "FAM", "MAS"):
        return None
    size = next((len(p) for p in phrases if tuple(word.lower() for word in words[place : place + len(p)]) == p), 1)
    here, last = place + size, None
    while here < len(words) and here - place < size + 6 and note.gap(here) in (" ", "-", "", "'", "’", ' "'):
        bits, word = signs[here], words[here].lower()
        if not bits & UPPER or (last is not None and bits & (WORD | ROLE) and here - last == 1) or word in _STOPS:
            break
        if word not in terms.rule("organisation_links"):
            if bits & (SMALL | TITLE | ROLE | MONTH | ACTS | STAYS) and not bits & MAYBE_NAME:
                break
            if bits & SMALL or (last is not None and bits & WORD and here - last > 1):
                break
            last = here
        here += 1
    if last is None or (
        last == place + size
        and signs[last] & WORD
        and words[last - 1].lower() == words[place].lower()
        and place + size < len(words)
        and not _ends_phrase(note, last)
    ):
        return None
    return Span(note.pieces[place][0], note.pieces[last][1], "organisation", 0.8, "head in capitals of an organisation")


def _ends_phrase(note: Note, last: int) -> bool:
    """Whether a comma, a full stop, a bracket or a small word follows."""
    after = note.folded[note.pieces[last][1] : note.pieces[last][1] + 1]
    return after in ("", ".", ",", ";", ")", "\n") or bool(last + 1 < len(note.signs) and note.signs[last + 1] & SMALL)


def _lower(note: Note, place: int) -> Span | None:
    """`spedition hellmeister`: where all is in lower case, words behind the head that are none of a dictionary."""
    last = place
    while (
        last + 1 < len(note.words)
        and last - place < 3
        and note.gap(last + 1) == " "
        and note.signs[last + 1] & MAYBE_NAME
        and not note.signs[last + 1] & (SMALL | TITLE | ROLE | MONTH | STAYS | EITHER | CAPITAL)
        and len(note.words[last + 1]) > 3
    ):
        last += 1
    if last == place:
        return None
    return Span(note.pieces[place][0], note.pieces[last][1], "organisation", 0.8, "organisation in lower case")


def _says_which(note: Note, here: int) -> bool:
    """`école primaire Pasteur`, `centre d'imagerie Saint-Roch`: a word that says which kind of organisation."""
    word = note.words[here].lower()
    if word in ("d'", "d’", "di", "de", "d", "der", "für", "cc"):
        return here + 1 < len(note.words) and note.words[here + 1].lower() in terms.rule("kinds_of_organisations")
    return word in terms.rule("kinds_of_organisations") and note.gap(here) in (" ", "")


ORGANISATIONS = OrganisationsRecogniser()


# Organisations and roads by a label, a number or a shouted head: `Employer: …`, `Juzgado nº 3 de …`, `I-90`.

_NAME = r"[A-ZÀ-ÖØ-Þ][\w'’-]{1,30}"
_NAMES = rf"{_NAME}(?:\s(?:&|and|of|und|et|e|y|de|di|du|del|della|der|the)\s{_NAME}|\s&\s{_NAME}|\s{_NAME}){{0,5}}"
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

FACILITIES = Patterns(
    "facilities",
    Pattern(
        rf"(?<!\w)(?i:{alternation('labels_of_organisations')})\s?:\s(?P<id>{_NOTHING}{_NAMES})(?<!\.)",
        0.9, "after a label for an organisation", "organisation", parts=(":",),
        words=_words_of("labels_of_organisations"),
    ),
    Pattern(
        r"(?<!\w)(?i:juzgado|tribunal|sala|sección|fiscalía)(?:\s(?i:de|lo|[a-zéíóú]{3,15})){0,5}"
        rf"\s(?i:n\.?\s?[º°o]|núm\.?|número)\s?\d{{1,3}}(?:\s(?i:de)\s{_NAME}(?:\s{_NAME}){{0,2}})?(?<!\.)",
        0.9, "court with a number", "organisation", words=_words_of("numbered_courts"), digits=True,
    ),
    Pattern(
        rf"(?<!\w)(?!(?:The|This|That|Our|His|Her|State|Federal|US|A|An|In|At|By|See|Under)\s(?i:superior|district"
        rf"|supreme|circuit"
        r"|municipal|family|juvenile|crown|probate|county|magistrates['’]?)\s)"
        rf"(?:{_NAME}\s){{1,3}}(?i:superior|district|supreme|circuit|municipal|family|juvenile|crown|probate"
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
        rf"(?<!\w){_NAME}(?:[ -]{_NAME}){{0,2}}\s(?:&|et|und|e|y|and|u\.)\s(?:Fils|Frères|Cie|Associés|Söhne|Sohn"
        rf"|Töchter|Partner"
        r"|Figli|Fratelli|Soci|Associati|Hijos|Hermanos|Asociados|Sons|Daughters|Brothers|Co|FILS|FIGLI|HIJOS|SONS"
        r"|SÖHNE)(?!\w)",
        0.88, "company of a family", "organisation", words=_FAMILY,
    ),
    Pattern(
        rf"(?<!\w)(?:Fratelli|F\.lli|Gebr\.|Gebrüder|Hnos\.?|Hermanos|Viuda de|Hijos de|Veuve|Éts|Ets|Eredi"
        rf"|Figli di)\s{_NAME}(?:\s{_NAME}){{0,2}}(?<!\.)",
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
        rf"(?<!\w)(?:SARL|SAS|SCI|EURL|SNC|Ets|Établissements|Société|Fa\.|Gebr\.|Ditta)\s(?P<id>{_NAMES})(?<!\.)",
        0.86, "form of a company", "organisation", words=trigger(rule("company_before")),
    ),
    Pattern(
        r"(?i)(?<!\w)(?:auf der|auf die|an der|sur l['’]|sur la|en la|por la|sulla|lungo la|on the|along the)\s?"
        r"(?-i:(?P<id>(?:AP|SS|SP|RN|A|B|N|D|M|E)[- ]?\d{1,4}))(?![\w%])",
        0.78, "road with a number", "address", digits=True,
        words=trigger(("ap", "ss", "sp", "rn", "a", "b", "n", "d", "m", "e")),
        asks=either(run(1, 9, before=pattern.CAPITAL), run(1, 9, second_before=pattern.CAPITAL, before=one_of("- "))),
        sign=r"\b(?:AP|SS|SP|RN|[ABNDME])[- ]?\d",
    ),
    Pattern(
        rf"(?m)^(?P<id>{_NAME}(?:[ -]{_NAME}){{0,2}}),\s(?:le|den|li|il|a|el|am)\s\d{{1,2}}\.?\s",
        0.85, "place and date of a letter", "place", digits=True,
        words=trigger(("le", "den", "li", "il", "a", "el", "am")),
        asks=run(1, 2, second_before=pattern.LOWER, before=blank),
        sign=r"(?m)^[^\n,]{2,60},\s(?:le|den|li|il|a|el|am)\s\d",
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
