"""Invented identifiers in five languages for training the tagger: names, addresses, dates, organisations, numbers.

Names come from the US Census 2020 that shoal ships and from the locales of Faker (MIT), and some are put together from
syllables, so that nothing can be learned by heart; streets, dates and organisations are put together by small grammars.
"""

from __future__ import annotations

import random
import string
from functools import cache
from typing import Any

from shoal.text.words import load, strata

LANGUAGES = ("en", "de", "fr", "it", "es")
_HOME = {
    "en": ("en_US", "en_GB", "en_IE", "en_NZ", "en_IN"),
    "de": ("de_DE", "de_AT", "de_CH"),
    "fr": ("fr_FR", "fr_CH", "fr_BE"),
    "it": ("it_IT",),
    "es": ("es_ES", "es_MX", "es_AR"),
}
_ABROAD = (
    "pl_PL",
    "nl_NL",
    "sv_SE",
    "no_NO",
    "da_DK",
    "fi_FI",
    "cs_CZ",
    "ro_RO",
    "hu_HU",
    "hr_HR",
    "tr_TR",
    "pt_BR",
    "pt_PT",
    "en_NG",
    "yo_NG",
    "id_ID",
    "sl_SI",
    "sk_SK",
    "et_EE",
    "lt_LT",
    "lv_LV",
    "vi_VN",
    "is_IS",
    "en_PK",
    "tw_GH",
    "uz_UZ",
)
_SYLLABLES = [
    "ba", "be", "bo", "bra", "ca", "che", "da", "del", "do", "du", "fa", "fi", "gar", "gra", "ha", "hel", "in",
    "ja", "ka", "kel", "ko", "la", "len", "li", "lo", "ma", "mar", "mi", "mon", "na", "nel", "no", "o", "pa",
    "per", "po", "qua", "ra", "ri", "ro", "sa", "sel", "shi", "so", "sta", "ta", "ter", "ti", "to", "tre", "u",
    "va", "ver", "vi", "wa", "wen", "ya", "zi", "zo", "schwer", "bach", "mann", "burg", "ski", "wicz", "sson",
    "ello", "etti", "oglu", "ian", "dze", "nen", "ova", "eau", "ard", "ez", "uez", "ham", "wood", "ford", "ley",
]  # fmt: skip
_PARTICLES = {
    "de": ("von", "van der", "zu"),
    "fr": ("de", "Le", "de la"),
    "it": ("De", "Di", "Della", "Lo"),
    "es": ("de la", "del", "de"),
    "en": ("van", "O'", "Mc", "de"),
}


def _words(value: Any) -> list[str]:
    return [str(name) for name in value]


@cache
def _people(locale: str) -> tuple[list[str], list[str]]:
    """Given names and surnames of a locale of Faker."""
    from importlib import import_module

    try:
        provider: Any = import_module(f"faker.providers.person.{locale}").Provider
    except ModuleNotFoundError:
        return [], []
    given = _words(getattr(provider, "first_names", ())) or [
        *_words(getattr(provider, "first_names_male", ())),
        *_words(getattr(provider, "first_names_female", ())),
    ]
    last = _words(getattr(provider, "last_names", ())) or [
        *_words(getattr(provider, "last_names_male", ())),
        *_words(getattr(provider, "last_names_female", ())),
    ]
    latin = lambda names: [n for n in names if n and n[0].isupper() and all(ord(s) < 0x250 for s in n)]  # noqa: E731
    return latin(given), latin(last)


@cache
def _cities(locale: str) -> list[str]:
    from importlib import import_module

    try:
        provider: Any = import_module(f"faker.providers.address.{locale}").Provider
    except ModuleNotFoundError:
        return []
    found = _words(getattr(provider, "cities", ())) or _words(getattr(provider, "city_names", ()))
    return [n for n in found if n and n[0].isupper() and all(ord(s) < 0x250 for s in n)]


@cache
def _census(name: str, least: int) -> list[str]:
    return [part for part, power in strata(name).items() if power >= least and len(part) > 2]


@cache
def _towns() -> list[str]:
    return [name.title() for name in load("towns")]


class Values:
    """Draws identifiers of one language; the same seed gives the same."""

    def __init__(self, draw: random.Random, language: str) -> None:
        self.draw = draw
        self.language = language

    def pick(self, *options: Any) -> Any:
        return self.draw.choice(options)

    def chance(self, share: float) -> bool:
        return self.draw.random() < share

    def number(self, low: int, high: int) -> int:
        return self.draw.randint(low, high)

    def digits(self, count: int) -> str:
        return "".join(self.draw.choices(string.digits, k=count))

    def invented(self) -> str:
        return "".join(self.draw.choices(_SYLLABLES, k=self.number(2, 3))).capitalize()

    def given(self) -> str:
        kind = self.draw.random()
        if kind < 0.45:
            names = _people(self.draw.choice(_HOME[self.language]))[0]
        elif kind < 0.65:
            names = _people(self.draw.choice(_ABROAD))[0]
        elif kind < 0.92:
            names = _census("given_names", self.pick(1, 2, 3, 4))
            return str(self.draw.choice(names)).capitalize()
        else:
            return self.invented()
        return str(self.draw.choice(names)) if names else self.invented()

    def surname(self) -> str:
        kind = self.draw.random()
        if kind < 0.35:
            names = _people(self.draw.choice(_HOME[self.language]))[1]
        elif kind < 0.6:
            names = _people(self.draw.choice(_ABROAD))[1]
        elif kind < 0.85:
            return str(self.draw.choice(_census("surnames", self.pick(1, 2, 3)))).capitalize()
        elif kind < 0.9:
            return str(self.draw.choice(load(f"words_{self.language}"))).capitalize()  # a word as a name
        else:
            return self.invented()
        name = str(self.draw.choice(names)) if names else self.invented()
        if self.chance(0.06):
            name = f"{name}-{self.surname().split(' ')[-1]}"
        if self.chance(0.06):
            particle = self.draw.choice(_PARTICLES[self.language])
            name = particle + ("" if particle in ("O'", "Mc") else " ") + name
        return name

    def name(self) -> str:
        """A whole name in one of the ways in which notes write it."""
        given, surname = self.given(), self.surname()
        kind = self.draw.random()
        if kind < 0.5:
            made = f"{given} {surname}"
        elif kind < 0.58:
            made = f"{given[0]}. {surname}"
        elif kind < 0.66:
            made = f"{surname}, {given}"
        elif kind < 0.72:
            made = f"{given} {self.pick(*string.ascii_uppercase)}. {surname}"
        elif kind < 0.78:
            made = f"{given} {self.given()} {surname}"
        elif kind < 0.84 and self.language == "es":
            made = f"{given} {surname} {self.surname()}"
        elif kind < 0.88:
            made = f"{surname} {given}"
        elif kind < 0.9:
            made = f"{surname}, {given[0]}."
        else:
            made = f"{given} {surname}"
        return made

    def place(self) -> str:
        kind = self.draw.random()
        if kind < 0.4:
            return str(self.draw.choice(_towns()))
        if kind < 0.75:
            cities = _cities(self.draw.choice(_HOME[self.language])) or _cities(self.draw.choice(_ABROAD))
            return str(self.draw.choice(cities)) if cities else self.invented()
        if kind < 0.85:
            cities = _cities(self.draw.choice(_ABROAD))
            return str(self.draw.choice(cities)) if cities else self.invented()
        ends = {
            "en": ("ville", "ton", " Falls", " Heath", "bury", " Creek", "-on-Sea", "ford", "ham", " Springs"),
            "de": ("hausen", "dorf", "ingen", "stedt", "heim", "bach", " am See", "rode", "walde"),
            "fr": ("-sur-Loire", "ville", "-les-Bains", "ac", "-en-Brie", "y", "court"),
            "it": ("ano", "ello", " di Sotto", " sul Monte", "ate", "ago"),
            "es": ("illo", " del Campo", " de la Sierra", "ares", "uelo", " de Abajo"),
        }[self.language]
        return self.invented() + self.draw.choice(ends)

    def street_name(self) -> str:
        return (
            self.surname()
            if self.chance(0.4)
            else self.given()
            if self.chance(0.2)
            else self.place()
            if self.chance(0.3)
            else self.nature()
        )

    def nature(self) -> str:
        words = {
            "en": "Oak Maple Mill River High Church Station Orchard Willow Harbour Meadow Quarry King's Old Bakery "
            "Sunset Cedar Ridge",
            "de": "Linden Garten Kirch Bahnhof Mühlen Wald Berg Wiesen Schul Haupt Eichen Rosen Markt Ufer Sonnen",
            "fr": "Moulin Église Gare Tilleuls Lilas Vignes République Liberté Marronniers Fontaine Écoles Acacias",
            "it": "Garibaldi Roma Mazzini Verdi Dante Mulino Repubblica Libertà Pini Stazione Cavour Gelsi",
            "es": "Mayor Constitución Sol Olivos Rosario Fuente Iglesia Molino Libertad Cervantes Pinos Carmen",
        }[self.language].split()
        return str(self.draw.choice(words))

    def address(self) -> str:
        return str(getattr(self, f"_address_{self.language}")())

    def _address_en(self) -> str:
        ends = [
            "Street", "St", "St.", "Avenue", "Ave", "Road", "Rd", "Lane", "Ln", "Drive", "Dr", "Court", "Ct",
            "Way", "Close", "Terrace", "Crescent", "Boulevard", "Blvd", "Place", "Row", "Hill", "Grove", "Gardens",
            "Parkway", "Mews", "Walk", "Circle", "Highway", "Pike",
        ]  # fmt: skip
        nth = self.pick(
            "1st", "2nd", "3rd", "14th", "42nd", "88th", "First", "Second", "Third", "Fifth", "Seventh", "Tenth"
        )
        number = self.pick(
            str(self.number(1, 99)),
            str(self.number(100, 9999)),
            f"{self.number(1, 99)}{self.pick('A', 'B', 'b')}",
            f"{self.number(1, 60)}-{self.number(61, 90)}",
        )
        compass = self.pick("", "", "", "N. ", "S ", "West ", "East ", "NE ", "North ")
        street = f"{compass}{self.pick(self.street_name(), self.street_name(), nth)} {self.draw.choice(ends)}"
        unit = self.pick(
            "",
            "",
            "",
            f", Apt {self.number(1, 40)}{self.pick('', 'B', 'C')}",
            f", Unit {self.number(1, 40)}",
            f" #{self.number(1, 400)}",
            f", Flat {self.number(1, 20)}",
            f", Suite {self.number(100, 900)}",
            f", Lot {self.number(1, 80)}",
            f" Apt. {self.number(1, 30)}",
        )
        town = self.pick("", "", f", {self.place()}")
        forms = [
            f"{number} {street}{unit}{town}",
            f"{number} {street}{unit}",
            f"{number} {street}",
            f"{number} {street}",
            f"Flat {self.number(1, 30)}, {number} {street}",
            f"{self.nature()} {self.pick('Cottage', 'House', 'Farm', 'Lodge', 'Court', 'Barn')}, {street}",
            f"{self.pick('RR', 'R.R.', 'Rural Route', 'HC')} {self.number(1, 9)}, {self.pick('Box', 'box')} "
            f"{self.number(1, 400)}",
            f"P.O. Box {self.number(10, 9999)}",
            f"PO Box {self.number(10, 9999)}",
            f"{self.street_name()} and {self.street_name()} {self.pick('Streets', 'Street', 'St', 'Ave', 'Road')}",
            f"the corner of {street} and {self.pick(nth, self.street_name())}",
            f"{self.pick('County Road', 'Highway', 'State Route', 'Hwy', 'Route', 'CR')} {self.number(1, 900)}",
            f"{number} {self.pick('County Road', 'Highway', 'State Route', 'Hwy', 'Route')} {self.number(1, 900)}",
            f"{number} {self.pick('W', 'E', 'N', 'S')} {nth}",
            f"{self.street_name()} "
            f"{self.pick('Towers', 'Apartments', 'Mobile Home Park', 'Estate', 'Manor', 'Heights')}, "
            f"{self.pick('unit', 'apt', '#', 'No.')} {self.number(1, 99)}",
            f"{self.pick('Room', 'Unit', 'Apt')} {self.number(1, 400)} at {number} {street}",
            street,
        ]
        return str(self.draw.choice(forms))

    def _address_de(self) -> str:
        end = self.pick(
            "straße", "strasse", "str.", "weg", "gasse", "platz", "allee", "ring", "damm", "ufer", "steig", "hof"
        )
        name = self.pick(
            f"{self.nature()}{end}",
            f"{self.surname()}{end}",
            f"{self.given()}-{self.surname()}-{end.capitalize()}",
            f"{self.place()}er {end.capitalize()}",
            f"{self.pick('Am', 'An der', 'Im', 'Zum', 'Zur', 'Hinter der', 'Auf dem', 'Unterm', 'Beim')} "
            f"{self.nature()}{self.pick('berg', 'tor', 'bach', 'hof', '')}",
            f"Straße des {self.pick('17. Juni', 'Friedens', '8. Mai')}",
            f"{self.pick('Alte', 'Neue', 'Lange', 'Kleine', 'Obere')} "
            f"{self.pick('Gasse', 'Landstraße', 'Mühle', 'Reihe', 'Poststraße')}",
        )
        number = self.pick(
            str(self.number(1, 250)),
            f"{self.number(1, 99)}{self.pick('a', 'b', ' c')}",
            f"{self.number(1, 80)}-{self.number(81, 99)}",
            f"{self.number(1, 60)}/{self.number(1, 30)}",
        )
        more = self.pick(
            "",
            "",
            "",
            f", {self.number(1, 5)}. {self.pick('OG', 'Stock', 'Etage')}",
            f", Whg. {self.number(1, 60)}",
            ", Hinterhaus",
            f", Haus {self.pick('A', 'B', '3')}",
            f", {self.number(1, 5)}. OG {self.pick('links', 'rechts')}",
        )
        forms = [
            f"{name} {number}{more}",
            f"{name} {number}",
            f"{name} {number}",
            f"Postfach {self.number(10, 9999)}",
            f"Postfach {self.number(10, 99)} {self.number(10, 99)} {self.number(10, 99)}",
            f"Ecke {self.nature()}straße/{self.nature()}weg",
            f"{self.nature()}straße Ecke {self.nature()}allee",
            name if end != "hof" else f"{name} {number}",
            f"{self.pick('Hof', 'Gut', 'Einöde')} {self.surname()} {self.number(1, 9)}",
            f"{self.pick('Block', 'Haus')} {self.number(1, 9)}, {name} {number}",
        ]
        return str(self.draw.choice(forms))

    def _address_fr(self) -> str:
        kind = self.pick(
            "rue",
            "avenue",
            "boulevard",
            "place",
            "chemin",
            "impasse",
            "allée",
            "quai",
            "route",
            "cours",
            "square",
            "av.",
            "bd",
            "passage",
            "ruelle",
            "montée",
            "villa",
            "sentier",
        )
        link = self.pick("", "", "de la ", "du ", "des ", "de ", "de l'")
        name = self.pick(
            f"{link}{self.nature()}",
            f"{self.given()} {self.surname()}",
            self.surname(),
            f"{link}{self.place()}",
            f"du {self.number(1, 28)} {self.pick('Septembre', 'Novembre', 'Mai', 'Août')}",
            f"{self.pick('Saint', 'Sainte')}-{self.given()}",
            f"du {self.pick('Général', 'Docteur', 'Maréchal')} {self.surname()}",
        )
        number = self.pick(
            str(self.number(1, 200)),
            f"{self.number(1, 90)} {self.pick('bis', 'ter')}",
            f"{self.number(1, 90)}{self.pick('A', 'bis')}",
            f"{self.number(1, 30)}-{self.number(31, 60)}",
        )
        comma = self.pick(" ", " ", ", ")
        more = self.pick(
            "",
            "",
            "",
            f", bât. {self.pick('A', 'B', 'C')}",
            f", appt {self.number(1, 99)}",
            f", {self.number(1, 7)}e étage",
            f", escalier {self.pick('A', '2')}",
            f", porte {self.number(1, 30)}",
        )
        named = self.pick(
            "Les Lilas",
            "Les Acacias",
            f"Le Clos {self.surname()}",
            f"Les {self.nature()}",
            f"Beau {self.pick('Site', 'Séjour', 'Soleil')}",
        )
        forms = [
            f"{number}{comma}{kind} {name}{more}",
            f"{number}{comma}{kind} {name}",
            f"{number} {kind} {name}",
            f"{kind} {name}",
            f"{kind.capitalize()} {name}",
            f"{self.pick('résidence', 'Résidence', 'lotissement')} {named}{more}",
            f"{self.pick('BP', 'B.P.', 'boîte postale')} {self.number(10, 9000)}",
            f"lieu-dit {named}",
            f"{self.pick('au lieu-dit', 'hameau de', 'ferme de', 'chalet')} {named}",
            f"à l'angle de la rue {self.nature()} et du boulevard {self.surname()}",
            f"bâtiment {self.pick('A', 'C3', 'Nord')}, {kind} {name}",
            f"{self.pick('appartement', 'appt', 'chambre')} {self.number(1, 400)}, {number} {kind} {name}",
        ]
        return str(self.draw.choice(forms))

    def _address_it(self) -> str:
        kind = self.pick(
            "via",
            "Via",
            "viale",
            "Viale",
            "piazza",
            "Piazza",
            "corso",
            "Corso",
            "vicolo",
            "largo",
            "Largo",
            "strada",
            "contrada",
            "c.da",
            "p.zza",
            "lungomare",
            "borgo",
            "località",
            "salita",
            "piazzale",
        )
        name = self.pick(
            self.nature(),
            f"{self.given()} {self.surname()}",
            self.surname(),
            f"{self.pick('della', 'dei', 'del', 'delle', 'San', 'Santa')} {self.nature()}",
            f"{self.pick('XX', 'IV', 'XXV')} {self.pick('Settembre', 'Novembre', 'Aprile')}",
            f"{self.place()}",
            f"G. {self.surname()}",
        )
        number = self.pick(
            str(self.number(1, 250)),
            f"{self.number(1, 99)}/{self.pick('A', 'B', 'bis')}",
            f"{self.number(1, 99)}{self.pick('A', 'b')}",
            f"n. {self.number(1, 99)}",
            f"n° {self.number(1, 99)}",
            "snc",
        )
        more = self.pick(
            "",
            "",
            "",
            f", int. {self.number(1, 30)}",
            f", scala {self.pick('A', 'B')}",
            f", piano {self.number(1, 8)}",
            f" interno {self.number(1, 20)}",
            f", {self.number(1, 6)}° piano",
            f", pal. {self.pick('A', 'C2')}",
        )
        comma = self.pick(" ", " ", ", ")
        forms = [
            f"{kind} {name}{comma}{number}{more}",
            f"{kind} {name}{comma}{number}",
            f"{kind} {name} {number}",
            f"{kind} {name}",
            f"casella postale {self.number(10, 999)}",
            f"{self.pick('cascina', 'podere', 'villa', 'condominio', 'palazzo')} {self.surname()}"
            f"{self.pick('', ', ' + kind + ' ' + name)}",
            f"frazione {self.place()} {self.number(1, 60)}",
            f"{self.pick('SP', 'SS', 'strada provinciale', 'strada statale')} {self.number(1, 400)}, km "
            f"{self.number(1, 90)}",
            f"all'angolo tra via {self.nature()} e via {self.surname()}",
        ]
        return str(self.draw.choice(forms))

    def _address_es(self) -> str:
        kind = self.pick(
            "calle",
            "Calle",
            "C/",
            "c/",
            "avenida",
            "Avda.",
            "Av.",
            "plaza",
            "Plaza",
            "Pza.",
            "paseo",
            "Paseo",
            "Pº",
            "camino",
            "ronda",
            "carretera",
            "Ctra.",
            "travesía",
            "callejón",
            "urbanización",
            "barrio",
            "glorieta",
        )
        name = self.pick(
            self.nature(),
            f"{self.given()} {self.surname()}",
            f"{self.pick('de la', 'del', 'de los', 'de')} {self.nature()}",
            f"{self.pick('San', 'Santa')} {self.given()}",
            self.surname(),
            f"{self.pick('Doctor', 'Maestro', 'Poeta')} {self.surname()}",
            f"{self.number(1, 28)} de {self.pick('Mayo', 'Octubre')}",
        )
        number = self.pick(
            str(self.number(1, 250)),
            f"nº {self.number(1, 99)}",
            f"n.º {self.number(1, 99)}",
            f"núm. {self.number(1, 99)}",
            "s/n",
            f"{self.number(1, 60)} bis",
        )
        more = self.pick(
            "",
            "",
            "",
            f", {self.number(1, 9)}º {self.pick('A', 'B', 'izda.', 'dcha.')}",
            f", {self.number(1, 9)}º",
            f", bajo {self.pick('A', 'B')}",
            f", piso {self.number(1, 9)}",
            f", portal {self.number(1, 9)}",
            f", esc. {self.pick('A', '2')}, {self.number(1, 9)}º{self.pick('C', 'D')}",
            ", ático",
            f", puerta {self.number(1, 20)}",
        )
        comma = self.pick(" ", ", ", ", ")
        forms = [
            f"{kind} {name}{comma}{number}{more}",
            f"{kind} {name}{comma}{number}",
            f"{kind} {name} {number}",
            f"{kind} {name}",
            f"apartado de correos {self.number(10, 9000)}",
            f"{self.pick('finca', 'cortijo', 'masía', 'edificio', 'bloque')} {self.surname()}"
            f"{self.pick('', ', ' + kind + ' ' + name)}",
            f"{self.pick('polígono', 'urbanización', 'partida')} {self.nature()}, "
            f"{self.pick('parcela', 'casa', 'nave')} {self.number(1, 90)}",
            f"esquina de {self.nature()} con {self.surname()}",
            f"{kind} {name}, km {self.number(1, 90)}",
        ]
        return str(self.draw.choice(forms))

    def date(self) -> str:
        months = {
            "en": "January February March April May June July August September October November December",
            "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
            "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
            "it": "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
            "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
        }[self.language].split()
        weekday = self.pick(
            *{
                "en": "Monday Tuesday Wednesday Thursday Friday Saturday Sunday",
                "de": "Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag",
                "fr": "lundi mardi mercredi jeudi vendredi samedi dimanche",
                "it": "lunedì martedì mercoledì giovedì venerdì sabato domenica",
                "es": "lunes martes miércoles jueves viernes sábado domingo",
            }[self.language].split()
        )
        day, month, number, year = self.number(1, 28), self.pick(*months), self.number(1, 12), self.number(1930, 2025)
        short = month[:3]
        numeric = [
            f"{day}/{number}/{year}",
            f"{number}/{day}/{year % 100:02d}",
            f"{day}.{number}.{year}",
            f"{day:02d}.{number:02d}.{year % 100:02d}",
            f"{year}-{number:02d}-{day:02d}",
            f"{day}/{number}",
            f"{day:02d}.{number:02d}.",
            f"{number}-{day}-{year % 100:02d}",
            f"{number}/{year}",
            f"{day}-{short}-{year}",
            f"{day}.{self.pick('I', 'II', 'III', 'IV', 'V', 'VI', 'VII', 'IX', 'X', 'XI', 'XII')}.{year}",
        ]
        if self.chance(0.35):
            return str(self.draw.choice(numeric))
        nth = f"{day}{'st' if day in (1, 21) else 'nd' if day in (2, 22) else 'rd' if day in (3, 23) else 'th'}"
        forms = {
            "en": [
                f"{month} {day}, {year}",
                f"{day} {month} {year}",
                f"{nth} of {month}",
                f"{month} {nth}",
                f"{weekday} the {nth}",
                f"{short} {day}",
                f"{day} {short} {year % 100:02d}",
                f"{month} {year}",
                f"{weekday}, {month} {day}",
                f"{weekday} {day} {month}",
                f"the {self.pick('first', 'second', 'third', 'last')} {weekday} {self.pick('in', 'of')} {month}",
                f"{month} {day} to {day + 2}",
                f"{month} {day} - {self.pick(*months)} {day}",
                f"{day}-{day + 2} {month}",
                f"the {self.pick('third', 'ninth', 'twelfth', 'twenty-first')} of {month}",
                month,
                f"Christmas {self.pick('Eve', 'Day')} {year}",
                f"mid-{month}",
                f"late {month} {year}",
            ],
            "de": [
                f"{day}. {month} {year}",
                f"{day}. {month}",
                f"{weekday}, {day}. {month}",
                f"{weekday}, dem {day}.",
                f"{month} {year}",
                f"{day}. {short}. {year}",
                f"{day}.-{day + 2}. {month}",
                f"{day}. {month} bis {day}. {self.pick(*months)}",
                f"{self.pick('ersten', 'zweiten', 'letzten')} {weekday} im {month}",
                f"Anfang {month}",
                f"Ende {month} {year}",
                f"{weekday} den {day}.{number}.",
                month,
            ],
            "fr": [
                f"{day} {month} {year}",
                f"{day} {month}",
                f"{weekday} {day} {month}",
                f"{weekday} {day}",
                f"{month} {year}",
                f"1er {month}",
                f"du {day} au {day + 2} {month}",
                f"premier {weekday} de {month}",
                f"fin {month} {year}",
                f"mi-{month}",
                month,
                f"{day} {short}. {year}",
            ],
            "it": [
                f"{day} {month} {year}",
                f"{day} {month}",
                f"{weekday} {day} {month}",
                f"{weekday} {day}",
                f"{month} {year}",
                f"1° {month}",
                f"dal {day} al {day + 2} {month}",
                f"primo {weekday} di {month}",
                f"fine {month}",
                f"metà {month} {year}",
                month,
            ],
            "es": [
                f"{day} de {month} de {year}",
                f"{day} de {month}",
                f"{weekday} {day} de {month}",
                f"{weekday} {day}",
                f"{month} de {year}",
                f"1 de {month}",
                f"del {day} al {day + 2} de {month}",
                f"primer {weekday} de {month}",
                f"finales de {month}",
                f"mediados de {month}",
                month,
                f"{day} {month} {year}",
            ],
        }
        return str(self.draw.choice(forms[self.language]))

    def organisation(self) -> str:
        own = self.pick(
            self.surname(),
            self.surname(),
            self.place(),
            self.invented(),
            self.nature(),
            f"{self.invented()} {self.nature()}",
            f"St. {self.given()}",
        )
        kinds = {
            "en": "Logistics|Hospital|Elementary School|Bakery|& Sons|Primary School|Medical Center|Ltd|Inc|Dental|"
            "Pharmacy|Community College|Farms|Plumbing|Auto Body|Foods|Consulting|Care Home|Clinic|University"
            "|Foundation|Insurance|Solicitors|Surgery|Trust|Warehouse|Diner|Nursery|Library|Bank|Airlines|Mot"
            "ors|Steel|High School|House|Partners|LLC|Health Centre|Church|Brewery|Housing Association|Builde"
            "rs",
            "de": "GmbH|AG|Klinik|-Klinik|Schule|-Grundschule|Bäckerei|& Söhne|Logistik|Apotheke|Seniorenheim|Werke"
            "|Bau|Versicherung|Autohaus|KG|Verlag|Krankenhaus|-Gymnasium|Praxis|Spedition|Stiftung|e. V.|Meta"
            "llbau|Pflegedienst|Kita",
            "fr": "SARL|& Fils|Transports|SA|Distribution|Bâtiment|Logistique|Conseil|Assurances|Frères|Industrie|SAS",
            "it": "S.r.l.|S.p.A.|& Figli|Costruzioni|Trasporti|Logistica|Assicurazioni|Group|Alimentari|snc",
            "es": "S.L.|S.A.|e Hijos|Construcciones|Transportes|Logística|Seguros|Hermanos|Consultores|SLU",
        }[self.language].split("|")
        before = {
            "en": "University of|Bank of|Friends of|The|Hotel|Café|Camp|Church of|St.|College of",
            "de": "Klinikum|Kita|Bäckerei|Haus|Gasthof|Grundschule|Amtsgericht|Praxis|Hotel|Seniorenresidenz|Stadtw"
            "erke|Autohaus|Firma|Universität|Apotheke|Kloster",
            "fr": "hôpital|clinique|lycée|collège|école|pharmacie|boulangerie|résidence|Transports|cabinet|mairie d"
            "e|CHU de|garage|EHPAD|hôtel|restaurant|foyer|Établissements|université de|tribunal de|société",
            "it": "ospedale|clinica|liceo|scuola|farmacia|panificio|residenza|istituto|Comune di|ASL di|officina|ri"
            "storante|hotel|casa di riposo|università di|tribunale di|ditta|trattoria|cooperativa",
            "es": "hospital|clínica|colegio|instituto|farmacia|panadería|residencia|Ayuntamiento de|centro de salud"
            "|taller|restaurante|hotel|universidad de|juzgado de|fundación|IES|CEIP|Bodegas|Transportes|bar",
        }[self.language].split("|")
        if self.language in ("fr", "it", "es"):
            if self.chance(0.7):
                head = self.draw.choice(before)
                return f"{head.capitalize() if self.chance(0.5) else head} {own}"
            return f"{own} {self.draw.choice(kinds)}"
        if self.chance(0.12):
            return f"{self.draw.choice(before)} {own}"
        if self.chance(0.2):
            return str(
                self.pick(
                    own,
                    self.invented(),
                    f"{self.invented()} {self.invented()}",
                    f"{self.surname()} & {self.surname()}",
                    self.invented().upper()[:4],
                )
            )
        if self.language == "de" and self.chance(0.4):
            return f"{self.draw.choice(before)} {own}"
        return f"{own} {self.draw.choice(kinds)}".replace(" -", "-")

    def record(self) -> str:
        letters = "".join(self.draw.choices(string.ascii_uppercase, k=self.number(1, 4)))
        forms = [
            self.digits(5),
            self.digits(6),
            self.digits(7),
            self.digits(8),
            f"{letters}-{self.digits(4)}",
            f"{letters}{self.digits(6)}",
            f"{letters}/{self.digits(4)}/{self.number(10, 25)}",
            f"{self.number(2015, 2025)}-{self.digits(5)}",
            f"{self.digits(2)}-{self.digits(4)}-{self.digits(2)}",
            f"{letters}-{self.number(2015, 2025)}-{self.digits(4)}",
            f"{self.digits(3)}-{self.digits(3)}-{self.digits(2)}",
            f"{self.digits(4)}/{self.number(10, 25)}",
            f"{letters.lower()}{self.digits(5)}",
            f"#{self.digits(5)}",
            f"{self.number(10, 25)}/{self.digits(5)}",
            f"{letters} {self.digits(4)} {self.digits(3)}",
            f"{self.digits(2)} {letters} {self.digits(3)}/{self.number(10, 25)}",
            f"{letters}.{self.digits(2)}.{self.digits(4)}",
            f"{self.digits(4)}-{letters[0]}",
            f"{letters[0]}{self.digits(3)}-{self.digits(4)}",
        ]
        return str(self.draw.choice(forms)).lstrip("#")
