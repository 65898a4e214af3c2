"""Makers of values for the labelled columns: each takes a random source and gives one value.

The lists here are the set's own; the recognisers' word lists were not copied into them, so names and places that the
recognisers do not know occur as they do in life.
"""

import hashlib
import random
import uuid
from collections.abc import Callable
from datetime import date, datetime, timedelta

Maker = Callable[[random.Random], object]


def _list(text: str) -> list[str]:
    """Values set apart by commas."""
    return text.split(", ")


GIVEN = {
    "en": _list(
        "Oliver, Grace, Tyrone, Keisha, Maureen, Nigel, Priscilla, Desmond, Harriet, Logan, Chloe, Rosemary, "
        "Wendell, Ingrid, James, Mary, Linda, Kevin, Brenda, Sarah, Emily, Ryan, Joshua, Megan, Hunter, "
        "Summer, Dakota, Faith"
    ),
    "it": _list(
        "Giuseppe, Ludovica, Gennaro, Ornella, Fabrizio, Marisa, Elia, Nicoletta, Raffaele, Serena, Marco, "
        "Giulia, Pasquale, Luca, Chiara, Ettore, Rosalia, Tommaso, Ivana, Calogero, Federica"
    ),
    "de": _list(
        "Jürgen, Heike, Thorsten, Annika, Ulrich, Gudrun, Friedhelm, Svenja, Malte, Hannelore, Peter, Sabine, "
        "Lukas, Elke, Wolfgang, Mareike, Dietmar, Lena, Joachim, Britta"
    ),
    "fr": _list(
        "Jean, Amélie, Thibault, Solène, Bénédicte, Gérard, Odile, Yannick, Corentin, Marie, Pierre, Camille, "
        "Fabien, Élodie, Guy, Mireille, Baptiste, Noémie, Luc, Delphine"
    ),
    "es": _list(
        "José, María, Encarnación, Gonzalo, Nuria, Íñigo, Amparo, Javier, Lucía, Fermín, Macarena, Carlos, "
        "Itziar, Joaquín, Consuelo, Andrés, Rosa, Emilio, Montserrat"
    ),
}
SURNAME = {
    "en": _list(
        "Smith, Okafor, Pemberton, Ashworth, Johnson, Kaczmarek, Villanueva, Thornton, Wilson, Hargreaves, "
        "O'Connor, Gill, Brown, McAllister, Patel, Whitfield, Nguyen, Dunn, Carter, Boyle, King, Stone"
    ),
    "it": _list(
        "Rossi, Scognamiglio, Bianchi, Dell'Orto, Pavan, Locatelli, Zanetti, Cuomo, Esposito, Brambilla, "
        "Ferrari, D'Angelo, Tagliabue, Pisano, Fumagalli, Basile, Russo, Deiana"
    ),
    "de": _list(
        "Müller, Schröder, Oberländer, Yıldız, Kowalczyk, Schmidt, Brandt, Pfeiffer, Hübner, Weber, "
        "Lindemann, Nowotny, Fischer, Reinhardt, Thiel, Engelhardt, Kuhn, Ziegler"
    ),
    "fr": _list(
        "Martin, Lefèbvre, Benali, Charpentier, Dupont, Le, Goff, Bernard, Marchand, Traoré, Poirier, "
        "Delacroix, Renaud, Petit, Haddad, Guillot, Jacquet, Moulin, Barbier"
    ),
    "es": _list(
        "García, Etxeberria, Sánchez, Pujol, López, Quintana, Martínez, Ibáñez, Carrasco, Fernández, "
        "Bermúdez, Salas, Rojas, Arroyo, Torres, Benítez, Soler, Aguirre"
    ),
}
CITY = {
    "en": _list(
        "Springfield, Reading, Dayton, Leeds, Norwich, Akron, Boise, Truro, Fresno, Tulsa, Swindon, Chester, "
        "Bath, Austin, Boston"
    ),
    "it": _list(
        "Aosta, Ivrea, Cuneo, Matera, Forlì, Lecco, Gorizia, Saint-Vincent, Courmayeur, Bari, Sanremo, "
        "L'Aquila, Cortona"
    ),
    "de": _list(
        "Ulm, Fürth, Görlitz, Bremen, Hamm, Köln, Zwickau, Bad Homburg, Passau, Siegen, Husum, Erfurt, Celle, Aalen"
    ),
    "fr": _list(
        "Lyon, Vannes, Pau, Colmar, Nîmes, Sète, Aix-en-Provence, Roubaix, Brive-la-Gaillarde, Annecy, Quimper, Dax"
    ),
    "es": _list(
        "Madrid, Getafe, Lugo, Huelva, Jaén, Móstoles, Alcalá de Henares, Vigo, Terrassa, Reus, Cádiz, Ávila, Soria"
    ),
}
SYLLABLES = _list("lo, ra, ti, mes, dan, vor, ka, ne, shi, pul, gro, ben, tal, wis, mar, co, fer, hol")


def digits(n: int) -> Maker:
    """A string of n random digits."""
    return lambda r: "".join(r.choices("0123456789", k=n))


def whole(low: int, high: int) -> Maker:
    """A whole number from low to high."""
    return lambda r: r.randint(low, high)


def normal(mean: float, deviation: float, decimals: int = 0) -> Maker:
    """A normal figure with so many decimals."""
    return lambda r: round(r.gauss(mean, deviation), decimals) if decimals else int(r.gauss(mean, deviation))


def skewed(median: float, decimals: int = 2) -> Maker:
    """An amount of money."""
    return lambda r: round(median * r.lognormvariate(0, 0.8), decimals)


def one_of(text: str) -> Maker:
    """One of the values, set apart by bars."""
    values = text.split("|")
    return lambda r: r.choice(values)


def pattern(form: str) -> Maker:
    """A stands for a capital, a for a small letter, 9 for a digit, h for a hexadecimal digit; all else is itself."""
    pools = {
        "A": "ABCDEFGHJKLMNPRSTVWXYZ",
        "a": "abcdefghijklmnopqrstuvwxyz",
        "9": "0123456789",
        "h": "0123456789abcdef",
    }
    return lambda r: "".join(r.choice(pools[c]) if c in pools else c for c in form)


def given(language: str) -> Maker:
    """A given name."""
    return lambda r: r.choice(GIVEN[language])


def surname(language: str) -> Maker:
    """A surname, at times a double one."""
    return lambda r: "-".join(r.sample(SURNAME[language], 2 if r.random() < 0.08 else 1))


def full_name(language: str, form: str = "{g} {s}") -> Maker:
    """A whole name."""
    return lambda r: form.format(g=given(language)(r), s=surname(language)(r), i=r.choice("ABCDEFGHJKLMNPRST"))


def city(language: str) -> Maker:
    """A municipality."""
    return lambda r: r.choice(CITY[language])


def day(first: int, last: int, form: str | None = None) -> Maker:
    """A date between two years, as text where a form is given."""

    def make(r: random.Random) -> object:
        made = date(first, 1, 1) + timedelta(days=r.randrange((last - first + 1) * 365))
        return made.strftime(form) if form else made

    return make


def moment(first: int, last: int, form: str | None = None) -> Maker:
    """A point in time."""

    def make(r: random.Random) -> object:
        made = datetime(first, 1, 1) + timedelta(seconds=r.randrange((last - first + 1) * 365 * 86_400))
        return made.strftime(form) if form else made

    return make


def word(r: random.Random) -> str:
    """A made-up word."""
    return "".join(r.choices(SYLLABLES, k=r.randint(1, 3)))


def prose(least: int, most: int, vocabulary: str = "") -> Maker:
    """A text of so many words."""
    known = vocabulary.split()

    def make(r: random.Random) -> str:
        words = [r.choice(known) if known and r.random() < 0.7 else word(r) for _ in range(r.randint(least, most))]
        return " ".join(words).capitalize() + "."

    return make


def email(domains: str = "example.com example.org mail.test.it posta.example.de") -> Maker:
    """An e-mail address."""
    return lambda r: f"{word(r)}{r.choice(['.', '_', ''])}{word(r)}{r.randint(0, 99)}@{r.choice(domains.split())}"


def digest(name: str) -> Maker:
    """The hexadecimal digest of random bytes."""
    return lambda r: hashlib.new(name, r.randbytes(8)).hexdigest()


def make_uuid(r: random.Random) -> str:
    """A random UUID."""
    return str(uuid.UUID(bytes=r.randbytes(16), version=4))


def luhn(prefixes: str, length: int) -> Maker:
    """Digits under a prefix with a Luhn check digit at the end."""

    def make(r: random.Random) -> str:
        body = r.choice(prefixes.split())
        body += digits(length - 1 - len(body))(r)
        total = sum(sum(divmod(int(d) * (2 - i % 2), 10)) for i, d in enumerate(reversed(body)))
        return body + str(-total % 10)

    return make


def modulo_11(weights: tuple[int, ...], last: int) -> Maker:
    """Digits whose weighted sum with the last digit (times `last`) is a multiple of eleven."""

    def make(r: random.Random) -> str:
        while True:
            body = [r.randint(1, 9), *(r.randint(0, 9) for _ in weights[1:])]
            total = sum(w * d for w, d in zip(weights, body, strict=True))
            check = (-total * last) % 11
            if check < 10:
                return "".join(map(str, [*body, check]))

    return make


nhs_number = modulo_11((10, 9, 8, 7, 6, 5, 4, 3, 2), 1)
bsn = modulo_11((9, 8, 7, 6, 5, 4, 3, 2), -1)


def codice_fiscale(r: random.Random) -> str:
    """A codice fiscale with its check letter (D.M. 23/12/1976)."""
    body = pattern("AAAAAA99")(r) + r.choice("ABCDEHLMPRST") + f"{r.randint(1, 28) + r.choice([0, 40]):02d}"
    body += r.choice(["H501", "F205", "L219", "A326", "D969"])
    odd = dict(zip("0123456789", (1, 0, 5, 7, 9, 13, 15, 17, 19, 21), strict=True))
    values = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23)
    odd |= dict(zip("ABCDEFGHIJKLMNOPQRSTUVWXYZ", values, strict=True))
    even = {c: int(c) if c.isdecimal() else ord(c) - 65 for c in odd}
    total = sum(odd[c] if i % 2 == 0 else even[c] for i, c in enumerate(body))
    return body + chr(65 + total % 26)


def dni(r: random.Random) -> str:
    """A Spanish DNI with its letter."""
    number = r.randint(10_000_000, 79_999_999)
    return f"{number}{'TRWAGMYFPDXBNJZSQVHLCKE'[number % 23]}"


def nir(r: random.Random) -> str:
    """A French social security number with its key."""
    body = f"{r.choice('12')}{r.randint(30, 99)}{r.randint(1, 12):02d}{r.randint(1, 19):02d}"
    body += f"{r.randint(1, 600):03d}{r.randint(1, 400):03d}"
    return f"{body}{97 - int(body) % 97:02d}"


def ssn(form: str = "{a:03d}-{g:02d}-{s:04d}") -> Maker:
    """A US social security number outside the forbidden ranges."""

    def make(r: random.Random) -> str:
        area = r.choice([a for a in range(1, 900) if a != 666])
        return form.format(a=area, g=r.randint(1, 99), s=r.randint(1, 9999))

    return make


def steuer_id(r: random.Random) -> str:
    """A German tax number: ten digits of which exactly one comes twice, and an ISO 7064 check digit."""
    pool = r.sample("0123456789", 9)
    body = [*pool, r.choice(pool)]
    r.shuffle(body)
    if body[0] == "0":
        return steuer_id(r)
    product = 10
    for digit in body:
        total = (int(digit) + product) % 10 or 10
        product = total * 2 % 11
    return "".join(body) + str((11 - product) % 10)


def pesel(r: random.Random) -> str:
    """A PESEL of somebody born in the last century."""
    body = f"{r.randint(30, 99)}{r.randint(1, 12):02d}{r.randint(1, 28):02d}{digits(4)(r)}"
    total = sum(w * int(d) for w, d in zip((1, 3, 7, 9, 1, 3, 7, 9, 1, 3), body, strict=True))
    return body + str(-total % 10)


def iban(country: str, length: int, lead: str = "") -> Maker:
    """An IBAN of digits with its check digits modulo 97."""

    def make(r: random.Random) -> str:
        body = lead + digits(length - 4 - len(lead))(r)
        moved = "".join(str(int(c, 36)) for c in body + country) + "00"
        return f"{country}{98 - int(moved) % 97:02d}{body}"

    return make


def vin(r: random.Random) -> str:
    """A North American vehicle number with its check digit."""
    body = pattern("1AA9AA99")(r), pattern("A9999999")(r)
    signs = body[0] + "0" + body[1]
    letters = dict(zip("ABCDEFGHJKLMNPRSTUVWXYZ", map(int, "12345678123457923456789"), strict=True))
    weights = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)
    total = sum(w * (int(c) if c.isdecimal() else letters[c]) for w, c in zip(weights, signs, strict=True))
    return body[0] + "0123456789X"[total % 11] + body[1]


def grouped(maker: Maker, *sizes: int, by: str = " ") -> Maker:
    """A value written in groups."""

    def make(r: random.Random) -> str:
        value, parts = str(maker(r)), []
        for size in sizes:
            parts.append(value[:size])
            value = value[size:]
        return by.join([*parts, value] if value else parts)

    return make


def street(language: str) -> Maker:
    """A street with a house number."""
    forms = {
        "en": "{n} {w} {k}|Street,Ave,Rd,Lane,Drive",
        "it": "{k} {w} {n}|Via,Viale,Piazza,Corso",
        "de": "{w}{k} {n}|straße,weg,platz,str.",
        "fr": "{n} {k} {w}|rue,avenue,boulevard,place",
        "es": "{k} {w}, {n}|Calle,Avenida,Plaza,Paseo",
    }
    form, kinds = forms[language].split("|")
    return lambda r: form.format(n=r.randint(1, 180), w=word(r).capitalize(), k=r.choice(kinds.split(",")))
