"""Addresses in the orders of five languages, postal codes, and where somebody lives or works, as a phrase says it."""

import re

import numpy as np

from shoal.identifiers.lists import REGIONS, STATE_CODES
from shoal.storage import Array
from shoal.text.base import Note
from shoal.text.block import Block
from shoal.text.recognisers.pattern import (
    ANY_LENGTH,
    CAPITAL,
    DIGIT,
    LOWER,
    Pattern,
    Patterns,
    any_of,
    blank,
    either,
    one_of,
    other_than,
    run,
)
from shoal.text.terms import alternation
from shoal.text.words import POST_WORD, STREET_DE, STREET_EN, STREET_ROMANCE, STREET_START, is_word_of

_NAME = r"[A-ZÀ-ÖØ-Þ][\w'’\-]{0,30}"
_ABBREVIATED = r"(?:St|Dr|Mt|Ft|Gen|N|S|E|W|NE|NW|SE|SW)\."
_NTH = r"\d{1,3}(?:st|nd|rd|th)"
_UNIT = (
    r"(?:,?\s(?:apt|apartment|suite|ste|unit|flat|floor|room|rm|bldg|building|lot|spc|trlr|#)\.?\s?#?\s?[\dA-Z][\w-]"
    r"{0,5})?"
)
_FLAT = (
    r"(?:(?i:(?:flat|apt|unit|apartment|suite|room|maisonette)\s\w{1,4}|(?:ground|first|second|third|top|lower|"
    r"upper)\s(?:floor|flat)(?:\sflat)?),\s)?"
)
# words in capitals that no street has in its name: `2019 VIA EMS FROM ST.`
_NOT_IN_STREET = r"(?!(?:VIA|FROM|TO|AT|WITH|FOR|BY|IN|ON|ADM|ADMITTED|PER|AND|UNITS?|MG|ML|MCG|IU|UI|IE)\s)"
_WORDS = rf"(?:{_NOT_IN_STREET}(?:{_NAME}|{_ABBREVIATED}|{_NTH})\s){{1,4}}"
_STREET = r"(?:Street|Avenue|Ave|Road|Boulevard|Blvd|Lane|Drive|Crescent|Parkway|Highway|Way|Terrace)"
_PLAIN = r"(?:street|avenue|road|boulevard|lane|drive)"
_STATES = "|".join(sorted(code.upper() for code in STATE_CODES))
_STATES_LONG = "|".join(sorted(region.title() for region in REGIONS if region.isascii()))
# a town after the street, where a comma, a state, a code or the end of the sentence follows
_BEFORE_CODE = rf"(?:{_STATES})\s\d{{5}}"
_TOWN = (
    rf"(?:,\s(?!(?i:apt|suite|flat)){_NAME}(?:\s(?!{_BEFORE_CODE}){_NAME}){{0,2}}"
    rf"(?=[,.;)\n]|\s\d{{5}}|\s{_BEFORE_CODE}|$|\s(?:and|with|but|since|on|at|to|by|in|for|from|where|who|is|was)\s))?"
)
_NUMBER = (
    r"\d{1,5}(?:\s?[-/]\s?(?:\d{1,4}|[A-Z](?!\w)))?(?:\s?(?:bis|ter|quater)|[A-Za-z]|\s[A-Zb-df-np-xz])?(?!\w|,\d{3}\b)"
)
_LOWER_STREET = (
    r"(?:rue|avenue|av\.|boulevard|bd|impasse|quai|chemin|calle|c/|avda\.?|avenida|plaza|paseo|viale|piazza|corso"
    r"|vicolo)"
)
_TAIL = (
    r"(?:,?\s(?i:s/n|snc|\d{1,2}\.?\s?[ºª°oa]\s?(?:[A-Za-z]{1,2}|izq?d?a?|dcha?|centro)?\.?(?!\w)|piso\s\d{1,2}"
    r"|int(?:erno)?\.?\s?\d{1,3}|scala\s\w|sc\.\s?\w|pal(?:azzina)?\.?\s\w{1,2}(?!\w)|piano\s\w{1,7}"
    r"|\d{1,2}°?\s?piano|esc(?:alera|\.)\s?\w{1,2}(?!\w)|(?:bajos?|bjs?|ático|entlo|entresuelo|principal|semisótano"
    r"|local)\.?"
    r"(?:\s[A-Z\d]{1,2}(?!\w))?|bloque\s\w{1,3}|bl(?:q|oq)?\.\s?\w{1,3}|portal\s\w{1,3}|pta\.\s?\w{1,3}|puerta\s\w{1,3}"
    r"|casa\s\d{1,3}|(?:apto|dpto|depto)\.?\s\w{1,4}|n\.\s?\d{1,4}(?:/[A-Z])?|km\.?\s\d{1,4}(?:[.,]\d)?)(?!\w)){0,4}"
)
_BUILDING = (
    r"(?:,?\s(?i:bât(?:iment)?|appt?|appartement|esc(?:alier)?|étage|porte|apt|rés(?:idence)?|hall|lot|chambre"
    r"|logt?)\.?\s?[\dA-Z]{1,4}(?!\w)|,\s(?i:\d{1,2}(?:er?|[eè]me)\s(?:étage|ét\.?)(?:\s(?:gauche|droite|face))?|rdc"
    r"|rez-de-chaussée)){0,3}"
)
_FLOOR = (
    r"(?:,?\s(?:\d{1,2}\.\s?(?:OG|Stock|Etage|Stg\.)|EG|DG|UG|Hinterhaus|Vorderhaus|HH|VH|Seitenflügel"
    r"|Gebäude\s\w{1,3}|Haus\s[\dA-Z](?!\w)|Aufgang\s\w{1,2}|(?:Whg|Wohnung|Wohnungsnr|App|Apartment|Zi"
    r"|Zimmer)\.?\s(?:Nr\.\s)?\d{1,4}|Top\s\d{1,3}|Stiege\s\d{1,2}|Tür\s\d{1,3})(?:\s(?:links|rechts|li\.?|re\.?"
    r"|Mitte))?(?!\w)){0,3}"
)
_LINK = rf"(?i:{alternation('street_links')}\s?)"
_MORE = rf"(?:\s{_LINK}{{0,2}}{_NAME}){{0,4}}"
_NO = r"(?:,?\s(?:n\.?\s?[ºo°]?\s?|núm\.\s?|número\s|numero\s)?" + _NUMBER + ")"
_BOX = r"(?:p\.?\s?o\.?\s?box|post office box|postfach|casella postale|boîte postale|b\.p\.|apartado(?: de correos)?)"
_RURAL = (
    r"(?:R\.?R\.?|[Rr]ural [Rr]oute|H\.?C\.?|[Ss]tar [Rr]oute|RD|Rt\.?|Route)\s?#?\d{1,3},?\s(?i:box|bx\.?)\s?"
    r"#?\d{1,5}[A-Za-z]?(?!\w)"
)
# what says that two streets meet
_CROSSING = (
    r"(?:corner of|intersection of|intersection at|junction of|crossing of|ecke|kreuzung(?: von)?|einmündung"
    r"|(?:à l['’])?angle (?:de|des|du)|croisement (?:de|des|du)|carrefour (?:de|des|du)|all['’]angolo (?:tra|di|fra"
    r"|con)|incrocio (?:tra|di|fra|con)|(?:esquina|cruce|confluencia) (?:de|del|entre|con)|esquina)"
)
_MILE = (
    r"(?:\s(?:north|south|east|west)bound)?"
    r"(?:,?\s(?:(?:at|near)\s)?(?:mile(?:\s(?:marker|post))?|mm|exit|km|junction)\s\d{1,4}(?:\.\d)?)?"
)
_OF_STREET = r"(?:(?i:the|la|le|les|l['’]|de la|de|du|des|del|el|los|las|rue|avenue|via|calle|corso)\s?){0,3}"
_AND = r"\s?(?:&|/|\s(?:and|und|et|e|y|con|mit)\s)\s?"
_CORNER = rf"{_OF_STREET}(?:{_NAME}|{_NTH})(?:\s(?:{_NAME}|{_NTH}|\d{{1,3}}(?!\w))){{0,3}}"
_CODE = r"(?:zip(?: code)?|postcode|postal code|plz|postleitzahl|code postal|cp|c\.p\.|cap|c\.a\.p\.|código postal)"
_PARTS_OF_CODE = ("zip", "postc", "postal", "plz", "postl", "cp", "cap", "c.p.", "c.a.p.")
_CODE_BEFORE = re.compile(rf"(?i)\b{_CODE}\W{{0,3}}[A-Z]{{0,2}}-?$")
_COURT = re.compile(
    r"(?i)\b(?:superior|district|supreme|circuit|municipal|family|juvenile|county|crown|high|probate)\scourt\b"
)
_GERMAN_NAME = r"[A-ZÄÖÜ][a-zäöüß]{1,30}(?:-[A-ZÄÖÜ][a-zäöüß]{1,30}){0,3}-?"
# places for something, not streets
_NOT_STREETS = (
    r"(?:Arbeits|Spiel|Park|Steh|Sitz|Schlaf|Ausbildungs|Kita|Therapie|Pflege|Heim|Studien|Einbahn|Land|Sack|Bundes"
    r"|Schnell|Betten|Stell|Sport|Praktikums|Betreuungs|Krippen|Schul|Wohn|Lager|Liege|Flug|Zelt|Fußball|Tennis|Marktp"
    r"|Camping|Frei|Reha|Behandlungs|Klinik|Krankenhaus|Kindergarten|Eltern|Kur|Fahr|Wasser|Um|Dialyse|Schutz)"
)
_GERMAN_WORD = r"(?i:straße|strasse|str\.|weg|platz|allee|gasse|ring|damm|ufer)"


# `via SMS`, `VIA EMS FROM`: not a street
_BY_WAY = (
    r"(?!(?i:via\s(?:sms|e-?mail|mail|pec|fax|chat|whatsapp|teams|zoom|skype|web|app|vpn|usb|telefono|posta|internet"
    r"|bluetooth))\b|VIA\s(?:IV|EV|OS)\b|VIA\s(?:\w{1,12}\s)?(?:EMS|AMBULANCE|TAXI|FROM|TO|THE|AND|FOR)\b)"
)


def _not_a_court(text: str) -> bool:
    return _COURT.search(text) is None


def _not_a_way(text: str) -> bool:
    return re.match(r"VIA (?:\w{1,12} )?(?:EMS|AMBULANCE|TAXI|FROM|TO|THE|AND|FOR)\b", text) is None


_LETTER = any_of(CAPITAL, LOWER, lambda characters: characters > 127)
_FURTHEST = 6


def _after_letters(block: Block) -> Array:
    """Notes with four or five digits before which letters stand, with signs but no digit between them."""
    lengths = block.run_ends - block.run_starts
    open_ = (lengths >= 4) & (lengths <= 5)
    found = np.zeros(len(lengths), bool)
    for offset in range(1, _FURTHEST + 1):
        characters = block.beside_runs(-offset)
        letter = _LETTER(characters)
        found |= open_ & letter
        open_ &= ~(letter | DIGIT(characters))
    return block.with_run(found)


def _as_code(note: Note) -> bool:
    """Whether a word for a postal code stands before four or five digits."""
    for start, end in note.digits:
        if 4 <= end - start <= 5:
            first = max(0, start - 24)
            before = note.lower[first:start]
            if any(part in before for part in _PARTS_OF_CODE) and _CODE_BEFORE.search(note.folded, first, start):
                return True
    return False


ADDRESSES = Patterns(
    "addresses",
    Pattern(
        rf"(?<![\w.,/-])(?:c/o\s)?{_FLAT}\d{{1,6}}[A-Za-z½¼]?(?:[-/]\d{{1,4}})?,?\s{_WORDS}(?i:"
        rf"{alternation('streets_en')})\b\.?(?:\s?(?:NE|NW|SE|SW|N|S|E|W)\b)?(?i:{_UNIT}){_TOWN}",
        0.93, "number and street", "address", check=_not_a_court, near=STREET_EN, reach=(70, 50), digits=True,
    ),
    Pattern(
        rf"(?<![\w.,/-])\d{{1,6}}\s(?:[a-z][\w'’-]{{1,20}}\s){{1,3}}{_PLAIN}\b",
        0.85, "number and street", "address", near=STREET_EN, reach=(70, 50), digits=True,
    ),
    Pattern(
        r"(?i)(?<![\w.,/-])\d{1,5}\s(?:[a-z]{2,20}\s|\d{1,3}(?:st|nd|rd|th)\s){1,3}(?:st|ave|rd|blvd|ln|dr|ct|cir|pl"
        r"|pkwy|ter)\b(?:(?=[.,;)\n]|$|\s(?:apt|unit|ste|#))|(?<=\s(?:rd|ln))(?=\s[a-z])|(?<=\s(?:ave))(?=\s[a-z])"
        r"|(?<=\sblvd)(?=\s[a-z]))(?:\s(?:apt|unit|ste)\s?\w{1,5})?",
        0.85, "number and street in lower case", "address", digits=True, at_digits=True,
        asks=run(1, 5, before=other_than(CAPITAL, LOWER, DIGIT, one_of("_.,/-")), behind=blank),
        gate=lambda note: note.in_lower_case,
    ),
    Pattern(
        rf"(?i)(?<=\s(?:{_STATES})\s)\d{{5}}(?![\w-]|[.,]\d)",
        0.85, "after a state in lower case", "postal_code", digits=True, at_digits=True,
        asks=run(5, 5), gate=lambda note: note.in_lower_case,
    ),
    Pattern(
        rf"(?<![\w.]){_WORDS}{_STREET}\b(?:\sand\s{_WORDS}{_STREET}\b)?",
        0.8, "name of a street", "address", check=_not_a_court, near=STREET_EN, reach=(70, 50),
    ),
    Pattern(
        rf"(?<!\w)(?:Unit|Flat|Apt\.?|Suite|Lot)\s#?\d{{1,4}}[A-Za-z]?,\s{_WORDS}{_STREET}\b{_TOWN}",
        0.9, "flat and street", "address", near=STREET_EN, reach=(70, 50), digits=True,
    ),
    Pattern(
        r"(?<![\w.,/-])\d{2,5}\s(?:NE|NW|SE|SW|N|S|E|W|North|South|East|West)\.?\s\d{1,3}(?:st|nd|rd|th)(?!\w)",
        0.85, "number and numbered street", "address", digits=True,
        asks=run(1, ANY_LENGTH, behind=one_of(" "), second_behind=one_of("NSEW")),
    ),
    Pattern(
        rf"(?i)\b{_BOX}\s?#?\d{{1,7}}(?:\s\d{{2,3}}(?!\w)){{0,2}}", 0.93, "post box", "address", near=POST_WORD,
        digits=True,
    ),
    Pattern(r"(?<!\w)BP\s\d{1,5}(?"
            r"![\w/])", 0.85, "post box", "address", languages=("fr",), digits=True, parts=("bp ",)),
    Pattern(rf"(?<!\w){_RURAL}", 0.93, "rural route", "address", near=POST_WORD, reach=(24, 16), digits=True),
    Pattern(
        rf"(?<!\w)(?i:{_CROSSING})\s{_CORNER}{_AND}{_CORNER}",
        0.87, "crossing", "address", near=POST_WORD, reach=(12, 100),
    ),
    Pattern(
        r"(?<![\w.,/-])(?:\d{1,6}\s)?(?:(?:County|COUNTY|State|STATE|Old|OLD|US|Interstate|INTERSTATE|Farm|FARM)\s)?"
        r"(?:Road|ROAD|Rd\.?|RD|Route|ROUTE|Highway|HIGHWAY|Hwy\.?|HWY|Rte\.?|RTE|CR|SR|FM|Interstate|INTERSTATE)[\s-]"
        rf"\d{{1,4}}[A-Z]?(?:\s(?:North|South|East|West|N|S|E|W)(?!\w))?{_MILE}(?:(?i:\slot\s)\d{{1,4}}(?!\w))?"
        rf"(?:\s(?:and|&|at)\s{_NAME}(?=[.,;)]|$))?",
        0.85, "numbered road", "address", near=STREET_EN, reach=(20, 24), digits=True,
    ),
    Pattern(
        rf"(?<![\w-])(?:I-\d{{1,3}}(?!\d)|[MA]\d{{1,3}}(?=\s(?:north|south|east|west|at|near|junction))){_MILE}",
        0.86, "road and mile", "address", digits=True,
        asks=either(run(1, 3, second_before=one_of("I"), before=one_of("-")), run(1, 3, before=one_of("MA"))),
    ),
    Pattern(
        rf"(?<![\w.,/-])\d{{1,5}}\s{_NAME}(?:\s{_NAME})?,\s(?i:suite|ste|apt|unit|floor|flat|room|#)\.?\s?#?\d{{1,5"
        rf"}}[A-Za-z]?(?!\w)",
        0.88, "number, street and suite", "address", near=POST_WORD, reach=(50, 14), digits=True,
    ),
    Pattern(
        r"(?<![\w.,/-])(?:[a-z]{3,15}\s){1,3}(?:apts|apartments|towers|villas|trailer park|mobile home park|estates"
        r")(?:\s(?:bldg|unit|apt|#|no)\.?\s?\w{1,4})?(?!\w)",
        0.8, "named building in lo"
             "wer case", "address", near=POST_WORD, reach=(50, 24),
        languages=("en",), gate=lambda note: note.in_lower_case,
    ),
    Pattern(
        rf"(?<!\w){_NAME}(?:\s{_NAME})?\s(?:car park|parking lot|parking garage|bus stop|corner|roundabout|gas station"
        rf"|petrol station|truck stop|train station|station|trailer park|off-ramp|underpass|bus depot)(?!\w)",
        0.8, "landmark", "address", languages=("en",),
        near=POST_WORD, reach=(60, 14),
    ),
    Pattern(
        rf"(?<!\w){_NAME}(?:\s{_NAME})?,\s(?:Terminal|Gate|"
        rf"Concourse|Platform)\s[A-Z]?\d{{1,3}}[A-Z]?(?!\w)", 0.8, "landmark", "address",
        parts=("terminal", "gate", "concourse", "platform"), digits=True,
    ),
    Pattern(
        r"(?<!\w)(?i:flat|unit|apt\.?|apartment|room|lot|suite|trailer|space|cabin|cottage|maisonette)\s#?\d{1,4}[A"
        r"-Za-z]?"
        rf"(?:,\s|(?<!oom\s\d)(?<!oom\s\d\d)\s|\s(?:at|of|in)\s(?:the\s)?){_NOT_IN_STREET}(?!(?:Mrs?|Ms|Dr|Miss)\b){_NAME}"
        rf"(?:\s{_NOT_IN_STREET}{_NAME}){{0,3}}",
        0.84, "flat of a named building", "address", languages=("en",), digits=True,
        near=POST_WORD, anchored=True,
    ),
    Pattern(
        rf"(?<!\w)(?:\d{{1,6}}\s)?{_NAME}(?:\s{_NAME})?\s(?:Cottage|House|Farm|Lodge|Manor|Towers|Villa|Barn|Rectory"
        rf"|Apartments|Flats),\s(?:\d{{1,5}}[A-Za-z]?,?\s)?{_WORDS}(?i:{alternation('streets_en')})\b",
        0.9, "named building on a street", "address", near=STREET_EN, reach=(90, 20),
    ),
    Pattern(
        rf"(?<!\w)(?i:lieu-dit|lieudit|hameau|edificio|edif\.|finca|cortijo|urbanización|urb\.|condominio|cascina"
        rf"|podere|frazione|residencial|résidence|lotissement|gehöft)\s{_LINK}{{0,2}}(?!(?i:de|du"
        rf"|la)\s?$){_NAME}(?:\s{_LINK}{{0,2}}{_NAME}){{0,2}}(?:,?\s(?:n\.?[º°o]?\s?)?\d{{1,4}}[A-Za-z]?(?!\w))?",
        0.8, "named building or place", "address", languages=("de", "fr", "it", "es"),
        parts=("lieu", "hameau", "edif", "finca", "cortijo", "urb", "condominio", "cascina", "podere", "frazione",
        "residencial", "résidence", "lotissement", "gehöft"),
    ),
    Pattern(
        r"(?<!\w)(?i:strada (?:provinciale|statale|regionale)|s\.?p\.?|s\.?s\.?|autovía|autopista|carretera|(?:rout"
        r"e )?(?:départementale|nationale)|bundesstraße|landstraße)"
        r"\s?(?:n\.?[º°]?\s?)?[A-Z]{0,2}-?\d{1,4}(?:,?\s(?i:km\.?|pk|p\.k\.)\s?\d{1,4}(?:[.,+]\d{1,3})?)?",
        0.86, "numbered road", "address", digits=True, near=STREET_ROMANCE | STREET_DE, reach=(12, 40),
        languages=("de", "fr", "it", "es"),
    ),
    Pattern(
        r"(?<!\w)Straße des \d{1,2}\. [A-Z][a-zä]+(?:\s\d{1,4}[a-z]?)?", 0.9, "street and number", "address",
        near=STREET_DE, anchored=True, digits=True,
    ),
    Pattern(
        r"(?<![\w.,/-])\d{1,4}(?:\s(?:bis|ter))?,\s(?:Grande|Petite|Vieille|Haute|Basse)\s(?:Rue|Place|Route)(?:\s("
        r"?:de|du|des|la|le)\s"
        rf"{_NAME})?", 0.9, "number and street", "address", near=STREET_ROMANCE, reach=(20, 20), digits=True,
    ),
    Pattern(
        r"(?i)\b(?:(?:apt|apartment|suite|ste)\.?\s#?\d{1,5}[a-z]?\b|(?:flat|unit)\s\d{1,4}[a-z]?(?=,\s\d))",
        0.8, "number of a flat", "address", near=POST_WORD, digits=True,
    ),
    Pattern(
        rf"(?!Ring\s0)[A-ZÄÖÜ][\w\-]{{0,40}}\.?\s{_NUMBER}(?:/\d{{1,3}}){{0,2}}{_FLOOR}",
        0.92, "street and number", "address", near=STREET_DE, anchored=True, digits=True,
    ),
    Pattern(
        rf"(?<![\w-])(?:{_NAME}\s){{1,2}}{_GERMAN_WORD}\s{_NUMBER}{_FLOOR}",
        0.92, "street and number", "address", near=STREET_DE, reach=(50, 20), digits=True,
    ),
    Pattern(
        rf"(?<![\w-]){alternation('street_starts_de')}\s(?:{_NAME}\s){{1,2}}{_NUMBER}{_FLOOR}",
        0.88, "street and number", "address", near=STREET_START, anchored=True, digits=True,
    ),
    Pattern(
        r"(?<![\w-])[a-zäöüß-]{2,30}(?:straße|strasse|str\.?|weg|platz|allee|gasse|ring|damm)\s\d{1,4}\s?[a-z]?(?!\w)",
        0.82, "street and number in lower case", "address", near=STREET_DE, anchored=True, digits=True,
        languages=("de",), gate=lambda note: note.in_lower_case,
    ),
    Pattern(
        rf"(?<![\w-])(?!{_NOT_STREETS}){_GERMAN_NAME}(?:straße|strasse|gasse|allee|platz)(?!\w)",
        0.75, "name of a street", "address", near=STREET_DE, anchored=True,
    ),
    Pattern(
        r"(?<![\w-])[A-ZÄÖÜ][a-zäöüß]{2,30}er\s(?:Straße|Strasse|Str\.|Platz|Weg|Allee|Gasse|Ring|Damm|Ufer)(?!\w)",
        0.82, "name of a street", "address", near=STREET_DE, reach=(36, 12),
    ),
    Pattern(
        r"(?<=[a-zß,:] )[A-ZÄÖÜ][\w\-]{2,40}\s\d{1,4}\s?[a-z]?(?=,\s(?:D-)?\d{5}\s[A-ZÄÖÜ])", 0.88,
        "street before a postal code", "address", asks=run(5, 5), digits=True,
    ),
    Pattern(
        rf"(?<![\w.,/])\d{{1,4}}(?i:\s?(?:bis|ter|quater|[a-d]))?,?\s(?i:{alternation('streets_fr')})\s{_LINK}{{0,3}}"
        rf"(?:{_NAME}|\d{{1,2}}){_MORE}{_BUILDING}",
        0.92, "number and street", "address", near=STREET_ROMANCE, reach=(16, 100), digits=True,
    ),
    Pattern(
        rf"(?<!\w)(?i:{alternation('streets_fr')})\s{_LINK}{{0,3}}{_NAME}{_MORE},?\s\d{{1,4}}\s?(?:bis|ter"
        rf"|[a-dA-D])?(?!\w|[.,]\d){_BUILDING}",
        0.8, "street", "address", near=STREET_ROMANCE, anchored=True, digits=True,
    ),
    Pattern(
        rf"(?<!\w)(?:\d{{1,4}}\s?(?:bis|ter)?,?\s)?(?i:ch\.|che\.|imp\."
        rf"|all\.)\s{_LINK}{{0,3}}{_NAME}{_MORE}(?:,?\s\d{{1,4}}(?!\w))?",
        0.84, "street", "address", parts=("ch. d", "che. d", "imp. ", "all. d"), languages=("fr",),
    ),
    Pattern(
        rf"(?<!\w)(?i:rue|avenue|boulevard|bd|impasse|quai|chemin|allée|ruelle|faubourg)\s{_LINK}{{0,3}}{_NAME}{_MORE}",
        0.82, "street", "address", near=STREET_ROMANCE, anchored=True, languages=("fr",),
    ),
    Pattern(
        rf"(?<!\w)(?i:place|square|cours|route|passage|cité|résidence|lotissement|quartier|hameau|lieu-dit)\s"
        rf"(?i:de la|de l'|des|du|de|les|la|le)\s?{_NAME}(?:\s{_LINK}{{0,2}}{_NAME}){{0,2}}"
        r"(?:,?\s(?i:bât(?:iment)?|appt?|esc(?:alier)?|étage|porte)\.?\s?[\dA-Z]{1,4}(?!\w)){0,3}",
        0.8, "street", "address", near=STREET_ROMANCE, anchored=True, languages=("fr",),
    ),
    Pattern(
        rf"(?i)(?<!\w){_LOWER_STREET}\s(?:[a-zà-ÿ'’]{{2,20}}\s){{1,4}}(?:n\.?[º°]?\s?)?\d{{1,4}}(?!\w|[.,/]\d|\s?%)",
        0.82, "street and number in lower case", "address", near=STREET_ROMANCE, anchored=True, digits=True,
        gate=lambda note: note.in_lower_case,
    ),
    Pattern(
        rf"(?i)(?<!\w){_LOWER_STREET}\s(?:(?:de|du|des|la|le|les|del|los|las|di|dei)\s){{0,2}}[a-zà-ÿ'’-]{{3,20}}"
        r"(?:\s[a-zà-ÿ'’-]{4,20})?(?=[.,;)]|$)",
        0.75, "street in lower case", "address", near=STREET_ROMANCE, anchored=True,
        languages=("fr", "es"), gate=lambda note: note.in_lower_case,
    ),
    Pattern(
        # `via` is a word of the other languages too; there a street needs its number
        rf"(?<!\w){_BY_WAY}(?i:{alternation('streets_it')})\s{_LINK}{{0,3}}(?:[IVX]{{1,5}}\s)?{_NAME}{_MORE}{_NO}?"
        rf"{_TAIL}", 0.9,
        "street", "address", near=STREET_ROMANCE, anchored=True, languages=("it",),
    ),
    Pattern(
        rf"(?<!\w)(?i:{alternation('streets_it')})\s{_LINK}{{0,3}}(?:[IVX]{{1,5}}\s)?{_NAME}{_MORE}{_NO}{_TAIL}", 0.9,
        "street and number", "address", near=STREET_ROMANCE, anchored=True, digits=True, check=_not_a_way,
    ),
    Pattern(
        rf"(?<!\w)(?i:{alternation('streets_es')})(?!\w)\s?{_LINK}{{0,3}}{_NAME}{_MORE}{_NO}?{_TAIL}",
        0.9, "street", "address", near=STREET_ROMANCE, anchored=True,
    ),
    Pattern(
        r"(?<![\w-])[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}(?!\w)",
        0.88, "UK postal code", "postal_code", asks=run(1, 9, behind=CAPITAL, second_behind=CAPITAL), digits=True,
    ),
    Pattern(
        r"(?<![\w-])[ABCEGHJ-NPR-TVXY]\d[A-Z] ?\d[A-Z]\d(?!\w)",
        0.88, "Canadian postal code", "postal_code", asks=run(1, 1, behind=CAPITAL), digits=True,
    ),
    Pattern(
        rf"(?:\b(?:{_STATES}),?|(?<=[a-z]),|\b(?:{_STATES_LONG}))\s(?P<id>\d{{5}}(?:-\d{{4}})?)(?![\d,.]\d|\d)", 0.9,
        "after a state", "postal_code", asks=run(5, 5), digits=True,
    ),
    Pattern(
        rf"(?i)\b{_CODE}\W{{0,3}}(?P<id>[A-Z]{{0,2}}-?\d{{4,5}}(?:-\d{{4}})?)\b",
        0.93, "after its word", "postal_code", asks=_after_letters, gate=_as_code, digits=True,
    ),
    Pattern(r"(?<![\w.,/-])\d{5}-\d{4}(?![\w-])", 0.85, "ZIP+4 code", "postal_code", asks=run(5, 5), digits=True),
)  # fmt: skip


# Where somebody lives, stays or works: `lives at The Old Manse`. No list has the farms, hostels and firms of the world.

_CAPITAL = r"[A-ZÀ-ÖØ-Þ][\w'’-]{1,30}"
# no capital of these starts a place: people, and the states of a note in capitals
_NOBODY = (
    r"(?!(?:the\s)?(?:Mr|Mrs|Ms|Miss|Dr|Prof|Sister|Nurse|Mum|Mom|Dad|Day|Week|Stage|Grade|Level|Home|ED|ER|ICU|ITU|"
    r"AMU|MRI|CT|GP|OT|PT|A&E|NHS|BP|Risk|Least|Night)(?!\w))"
)
_RUN = (
    rf"(?:\d{{1,5}}[A-Za-z]?(?:[/-]\d{{1,4}})?\s)?(?:[Tt]he\s)?{_CAPITAL}(?:(?:\s(?:of|on|upon|the|and|under|de|la|by))"
    rf"{{0,2}}\s{_CAPITAL}){{0,3}}(?:,?\s(?:(?:nr|near|off|by|in|on|just\soff)\.?\s)?{_CAPITAL}(?:\s(?:of\s)?{_CAPITAL})"
    r"{0,2}(?:,?\s[A-Z]{1,3}\d{0,2})?(?:\s\d{4,6})?(?=[.,;:)\n]|$|\s[a-z])){0,2}"
)
_GROUP = rf"(?:\d{{1,5}}[a-z]?\s)?{_CAPITAL}(?:\s(?:of\s|the\s|on\s)?{_CAPITAL}){{0,3}}"
# `Dayton, OH` is a place and a state, which stays
_NO_STATE = r"(?![A-Z]{2,3}(?!\w))"
_LAST = r"(?:,?\s(?:[A-Z]{2,3}|[A-Z]{1,2}\d{1,2}[A-Z]?))?(?:\s\d{4,6})?"
_ROADS = (
    r"(?:Quay|Close|Court|Gardens|Grove|Mews|Square|Hill|Row|Wharf|Walk|Rise|View|Terrace|Green|Bank|Dock|Heights|Gate|"
    r"Crescent|Cres|Place|Parade|Vale|Croft|Drove|Embankment|Esplanade|Causeway|Street|St|Road|Avenue|Ave|Rd|Ln|Blvd|Dr)"
)
# what is named after a place or a faith
_LANDMARK = (
    r"(?:\s(?:church|chapel|mosque|temple|synagogue|school|college|library|station|bridge|park|pub|hotel|hall|club|shop|"
    r"market|bakery|cafe|garage|surgery|clinic|hospital|cemetery|roundabout))?"
)
_HEADS = (
    r"(?:plant|factory|mill|depot|warehouse|works|yard|site|office|branch|store|shop|farm|mine|quarry|brewery|bakery|"
    r"refinery|shipyard|foundry|dairy|cannery|abattoir|salon|garage)"
)


def _is_name_of(text: str) -> bool:
    """Whether one of the words in capitals is no word of English: `Dell & Hartnoll`, not `Speech & Language`."""
    words = [word for word in text.replace("&", " ").split() if word[0].isupper()]
    return any(not is_word_of(word.lower(), "en") and not word.isupper() for word in words)


WHEREABOUTS = Patterns(
    "whereabouts",
    Pattern(
        r"(?<![\w-])(?i:lives?|living|lived|resid(?:es|ing|ed|ent)|stay(?:s|ing|ed)|sleep(?:s|ing)|slept|house|home|"
        r"bungalow|flat|caravan|boat|lodg(?:es|ing)|based|sheds|address|property|seen|visit(?:ed)?|attended|called|found|"
        rf"collected|dispatched)(?:\s(?:[\w'’]{{1,15}},?\s){{0,4}}(?:at|to)|\sis|:|\sas)\s(?P<id>{_NOBODY}{_RUN})"
        r"(?=[.,;:)\n]|$|\s(?:\(|and\s|with\s|but\s|since\s|on\s|at\s|for\s|who\s|where\s|is\s|has\s|when\s))",
        0.72, "after a word for living somewhere", "address", check=_is_name_of,
        parts=(
            "live", "living", "resid", "stay", "sleep", "slept", "house", "home", "bungalow", "flat", "caravan", "boat",
            "lodg", "based", "sheds", "address", "property", "seen", "visit", "attend", "called", "found", "collected",
            "dispatch",
        ),
    ),
    Pattern(
        rf"(?<![\w-])(?i:address|home|anschrift|adresse|domicilio|dirección|indirizzo|domicile|wohnort|residence)"
        rf"(?:\s(?i:confirmed|is|on file|given as))?[:\s]\s?(?P<id>(?:Flat\s\w+,\s)?{_GROUP}"
        rf"(?:,\s(?:Co\.\s)?{_GROUP}){{0,4}}{_LAST})"
        r"(?![\w'’])",
        0.74, "after a word for an address", "address",
        parts=("address", "home", "anschrift", "adresse", "domicil", "direcci", "indirizzo", "wohnort", "residence"),
        check=_is_name_of,
    ),
    Pattern(
        rf"(?<![\w-])(?:at|from|to|near|outside|in)\s(?P<id>{_NOBODY}(?:{_CAPITAL}\s\d{{1,4}}[a-z]?,\s)?{_GROUP}"
        rf"(?:,\s{_NO_STATE}{_GROUP}){{1,3}}{_LAST})(?=[.;:)\n]|$|\s[a-z(])",
        0.6, "places in a row", "address", parts=(", ",), check=_is_name_of,
    ),
    Pattern(
        rf"(?<![\w.,/-])\d{{1,4}}[a-z]?\s{_CAPITAL}(?:\s{_CAPITAL}){{1,2}},\s{_CAPITAL}(?=[.;)\n]|$|,\s[A-Z])",
        0.62, "number and names of places", "address", digits=True, at_digits=True, check=_is_name_of, parts=(", ",),
    ),
    Pattern(
        r"(?<![\w-])(?:owned|run|employed|hired|dismissed|fired|sacked|operated|managed|sponsored|contracted|left|"
        r"joined|quit|(?:resigned|retired|redundant)\sfrom|(?:at|from|rang)\swork,?)"
        rf"(?:\sby)?\s\(?(?:the\s)?(?P<id>{_NOBODY}{_CAPITAL}(?:\s(?:&\s)?{_CAPITAL}){{1,3}})(?!\w)",
        0.64, "after a word for work", "organisation", check=_is_name_of,
        parts=("owned ", "run ", "employed ", "hired ", "dismissed ", "fired ", "sacked ", "operated ", "managed ",
               "sponsored ", "contracted ", "left ", "joined ", "quit ", "resigned ", "retired ",
               "redundant ", " work"),
    ),
    Pattern(
        rf"(?<![\w-])(?:behind|opposite|outside|beside|under|beneath|above|near|past|off)\s(?P<id>{_NOBODY}the\s{_CAPITAL}"
        rf"(?:\s{_CAPITAL}){{0,2}}{_LANDMARK}(?:\s(?:on|in|at)\s(?:the\s)?{_CAPITAL}(?:\s{_CAPITAL}){{0,2}})?)(?=[.,;:)\n]|$|\s[a-z])",
        0.66, "landmark", "address", check=_is_name_of,
        parts=("behind ", "opposite ", "outside ", "beside ", "under ", "beneath ", "above ", "near ", "past ", "off "),
    ),
    Pattern(
        rf"(?<=\sthe\s)(?P<id>{_CAPITAL}(?:\s{_CAPITAL}){{0,2}}{_LANDMARK}\s(?:on|in|off)\s(?:the\s)?"
        rf"(?:{_CAPITAL}\s){{1,2}}{_ROADS})(?!\w)",
        0.87, "landmark on a street", "address", parts=(" on ", " in ", " off "),
    ),
    Pattern(
        rf"(?<=\sof\s)(?P<id>(?:{_CAPITAL}\s){{1,2}}(?:House|Cottage|Farm|Hall|Lodge|Manor|Barn|Grange|Rectory),\s{_GROUP})"
        r"(?!\w)",
        0.87, "named building of a town", "address", parts=(" of ",),
    ),
    Pattern(
        r"(?<=\sat\s)(?:no\.|number)\s\d{1,4}[A-Za-z]?(?=[.,;)]|$)",
        0.7, "number of a house", "address", digits=True, parts=(" at no", " at number"),
    ),
    Pattern(
        rf"(?<![\w-])(?:on|off|along|down)\s(?P<id>{_NOBODY}(?:{_CAPITAL}\s){{1,2}}{_ROADS})(?!\w)",
        0.78, "name of a street", "address", parts=("on ", "off ", "along ", "down "),
    ),
    Pattern(
        rf"(?:\b(?i:age[d:]?)\s\d{{1,3}}|,\s\d{{2,3}}|\(\d{{2,3}}\)),?\sof\s(?P<id>{_NOBODY}{_RUN})(?=[.,;:)\n]|$)",
        0.72, "after an age", "address", digits=True, parts=(" of ",),
    ),
    Pattern(
        rf"(?<!\w)(?i:block|tower|wing|stair|pitch|plot|berth|mooring|caravan|chalet|bay|villa)\s[A-Z\d]{{1,3}},?\s"
        rf"(?!(?:Bed|Ward)\b){_CAPITAL}(?:\s{_CAPITAL}){{1,2}}(?!\w)",
        0.8, "part of a named building", "address",
        parts=(
            "block ", "tower ", "wing ", "stair ", "pitch ", "plot ", "berth ", "mooring ", "caravan ", "chalet ",
            "bay ", "villa ",
        ),
    ),
    Pattern(
        r"(?<![\w-])(?i:(?:sub)?contractors?|employer|supplier|agency|courier|landlord|insurer|company|firm|solicitors|"
        rf"garage|caterer|vendor|retailer)(?:\sis|\swas|,|:)?\s(?P<id>{_NOBODY}{_CAPITAL}(?:\s(?:&\s)?{_CAPITAL}){{1,3}})"
        r"(?!\w)",
        0.72, "after a word for a company", "organisation",
        parts=("contractor", "employer", "supplier", "agency", "courier", "landlord", "insurer", "company", "firm",
               "solicitors", "garage", "caterer", "vendor", "retailer"),
    ),
    Pattern(
        rf"(?<![\w-])(?:the|at|for|from)\s(?P<id>(?!The\b){_CAPITAL}(?:\s{_CAPITAL}){{0,2}}\s{_HEADS})(?!\w)",
        0.66, "ends with a word for a company", "organisation",
        parts=(" plant", " factory", " mill", " depot", " warehouse", " yard", " brewery", " bakery", " refinery",
               " shipyard", " foundry", " dairy", " store", " garage", " branch"),
        languages=("en",), check=_is_name_of,
    ),
    Pattern(
        rf"(?<![\w-]){_CAPITAL}(?:,\s{_CAPITAL})?\s&\s{_CAPITAL}(?:\s{_CAPITAL})?(?!\w)",
        0.87, "names of a company", "organisation", parts=(" & ",), check=_is_name_of,
    ),
)  # fmt: skip
