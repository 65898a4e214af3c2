"""What a column seems to be: a proposed type with its reason, or the question that only its owner can answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import polars as pl

from shoal.detection.context import THINGS
from shoal.errors import InputError
from shoal.identifiers import DECIDED, Finding
from shoal.identifiers.base import NUMBERED
from shoal.identifiers.header import read_header, words
from shoal.identifiers.letters import squeeze
from shoal.storage import Array, Column
from shoal.storage.bands import parse_band
from shoal.storage.column_type import MOST_BANDS, ColumnType
from shoal.storage.declare import completed
from shoal.storage.months import FULL_MONTHS
from shoal.storage.numbers import plain_numbers
from shoal.storage.texts import MISSING_WORDS, few_texts

# Words that come in an order: answers of questionnaires, levels of education, sizes. Lowest first, variants with /,
# letters as `squeeze` leaves them.


_SCALES = (
    *tuple(
        [place.split("/") for place in scale.replace(" ", "").split(",")]
        for scale in (
            "very low, low, medium/middle/moderate/mid/average, high, very high",
            "none/no, mild/light/slight, moderate/medium, severe/strong, very severe/extreme, life threatening",
            "minor, moderate, major, extreme/critical",
            "never, rarely/seldom, sometimes/occasionally, often/frequently/usually, always",
            "very poor/very bad, poor/bad, fair/average, good, very good, excellent",
            "strongly disagree, disagree, neutral/neither agree nor disagree/undecided, agree, strongly agree",
            "very dissatisfied, dissatisfied, neutral/neither, satisfied, very satisfied",
            "very unlikely, unlikely, neutral/possible, likely, very likely",
            "not at all, a little/slightly/not really, somewhat/moderately, very/quite a bit, extremely/very much",
            "none/no schooling/no education/no degree, primary/primary education/elementary/primary school,"
            "lower secondary/middle school, secondary/secondary education/upper secondary/high school/hs,"
            "post secondary/some college/vocational, associate/associates/associate degree,"
            "bachelor/bachelors/bachelors degree/ba/bsc/tertiary/higher/tertiary education/university/college,"
            "master/masters/masters degree/ma/msc/postgraduate, doctorate/phd/doctoral degree/doctor",
            "preschool, 1st 4th, 5th 6th, 7th 8th, 9th, 10th, 11th, 12th, hs grad, some college, assoc voc, assoc acdm,"
            "bachelors, masters, prof school, doctorate",
            "xxs, xs, s, m, l, xl, xxl, xxxl",
            "small, medium, large, very large/extra large",
            "infant/baby/newborn, toddler, child/children, teenager/adolescent/teen, young adult, adult, middle aged,"
            "elderly/senior",
            "monday/mon, tuesday/tue, wednesday/wed, thursday/thu, friday/fri, saturday/sat, sunday/sun",
            "niedrig, mittel, hoch",
            "nie, selten, manchmal, oft/haufig, immer",
            "basso/bassa, medio/media, alto/alta",
            "mai, raramente, talvolta/qualche volta, spesso, sempre",
            "faible/bas, moyen/moyenne, eleve/haut/fort",
            "jamais, rarement, parfois, souvent, toujours",
            "bajo/baja, medio/media, alto/alta",
            "nunca, raramente/rara vez, a veces, a menudo/frecuentemente, siempre",
        )
    ),
    [[name, name[:3]] for name in FULL_MONTHS],
)
# two words may be alike by chance
_LEAST = 3


def order_of(texts: Iterable[str]) -> tuple[str, ...] | None:
    """Texts in the order of a scale that knows all of them; None where none does.

    >>> order_of(["High", "low", "medium"])
    ('low', 'medium', 'High')
    """
    words = {text: squeeze(text) for text in texts}
    if len(words) < _LEAST:
        return None
    for scale in _SCALES:
        place = {word: number for number, variants in enumerate(scale) for word in variants}
        found = {text: place.get(word) for text, word in words.items()}
        if None not in found.values() and len(set(found.values())) == len(found):
            return tuple(sorted(found, key=lambda text: found[text]))  # type: ignore[arg-type,return-value]
    return None


# codes of a survey or a register are few and small
_MOST_CODES, _LARGEST_CODE, _RECORDS_PER_CODE = 30, 99, 5
# texts that are looked at before all are
_PILOT = 500
_MOST_SPELLINGS = 60
# a date has a digit, and no other signs than these: seen before eight patterns are tried
_SIGNS_OF_DATES = r"^[\p{L}\s\d./,:+-]*\d[\p{L}\s\d./,:+-]*$"
_AMOUNTS = words(
    """age, ages, year, years, month, months, day, days, hour, hours, minutes, number, count, size, amount, total,
    income, salary, wage, wages, pay, paid, price, cost, costs, charge, charges, balance, turnover, revenue,
    expenditure, expenditures, spend, spent, savings, debt, loan, rent, tax, weight, height, length, width,
    distance, area, temperature, pressure, score, rate, ratio, percent, share, quantity, visits, children, kids,
    members, persons, people, siblings, rooms, grade points, bmi, dose, los, stay, stays, eta, anni, alter, jahre,
    anzahl, betrag, einkommen, gehalt, preis, kosten, reddito, importo, stipendio, revenu, salaire, montant, prix,
    edad, ingreso, ingresos, importe, precio, inkomen, bedrag, gain, loss, num, per week""",
    flags=True,
    measures=True,
)
# what was worked or waited is counted, also where the kind is one that has codes
_DURATIONS = frozenset(("hour", "hours", "hrs", "week", "weeks", "wks", "day", "days", "minutes"))
_CODES = words(
    """code, codes, type, category, cat, class, status, kind, group, flag, indicator, region, district, province,
    state, department, sector, race, ethnicity, roof, walls, water, toilet, electricity, relation, relationship,
    religion, occupation, marital, ward, ownership, fuel, material, language, cod, codice, tipo, typ, kategorie,
    klasse""",
    flags=True,
)
_PAIRS = tuple(
    frozenset(pair.split())
    for pair in (
        "yes no",
        "y n",
        "true false",
        "t f",
        "0 1",
        "ja nein",
        "j n",
        "si no",
        "s n",
        "sí no",
        "oui non",
        "ja nee",
    )
)
_SEXES = {
    "female": frozenset(
        ["f", "female", "woman", "girl", "w", "weiblich", "frau", "femmina", "donna", "femme", "mujer"]
    ),
    "male": frozenset(["m", "male", "man", "boy", "männlich", "mann", "maschio", "uomo", "homme", "hombre"]),
}
_SEX_WORDS = frozenset().union(*_SEXES.values())


class TypeProposal(NamedTuple):
    """A proposed type and why; without one, `reason` is what has to be decided, or there is nothing to say."""

    type: ColumnType | None
    reason: str
    asks: bool = False

    @property
    def measured(self) -> bool:
        """Whether it proposes values that lie on a line: that all of them differ says nothing then."""
        return self.type is not None and self.type.type in ("number", "date", "band", "ordered")


def propose_type(column: Column, counts: Array, records: int, kinds: Sequence[Finding]) -> TypeProposal:
    """The type of a column, from its header, its kind and all its distinct values.

    >>> import numpy as np
    >>> from shoal.storage.reading import read
    >>> column = read({"seen": ["03/14/2021", "12/01/2020"]})["seen"]
    >>> propose_type(column, np.array([1, 1]), 2, []).type.format
    ('%m/%d/%Y',)
    """
    if column.declared is not None:
        return TypeProposal(column.declared.type, "Declared.")
    values, kind = column.values, kinds[0].kind if kinds and kinds[0].confidence >= DECIDED else None
    if values.dtype == pl.Boolean:
        return _of("boolean", "It came as true and false.")
    if isinstance(values.dtype, (pl.Date, pl.Datetime)):
        return TypeProposal(ColumnType(type="date", format=("%Y-%m-%d",)), "")
    if values.dtype.is_numeric():
        return _of_numbers(column, counts, kind)
    if values.dtype != pl.String or not len(values):
        return TypeProposal(None, "")
    return propose_text_type(column, counts, kind)


def _of(word: str, reason: str, **settings: object) -> TypeProposal:
    return TypeProposal(ColumnType(type=word, **settings), reason)  # type: ignore[arg-type]


def _of_numbers(column: Column, counts: Array, kind: str | None) -> TypeProposal:
    values, header = column.values, read_header(column.name)
    if values.dtype.is_integer():
        if kind == "postal-code":
            digits = int(values.cast(pl.String).str.len_chars().max() or 1)  # type: ignore[arg-type]
            return _of("code", "Postal codes: their first digits mean the most.", digits=digits)
        if kind in NUMBERED and not _DURATIONS & set(header.tokens):
            return _of("nominal", f"Its numbers stand for {kind.replace('-', ' ')}: they have no order.")
        if len(values) == 2 and values.to_list() == [0, 1]:
            return _of("boolean", "Nothing but 0 and 1.")
        if kind is None and THINGS.heard(header)[0] and len(values) > _MOST_CODES:
            return _of("nominal", "By its header its numbers stand for things, and are no amounts.")
        said, code = _AMOUNTS.heard(header)[0], _CODES.heard(header)[1]
        small = len(values) <= _MOST_CODES and int(values[0]) >= 0 and int(values[-1]) <= _LARGEST_CODE
        many = int(counts.sum()) >= _RECORDS_PER_CODE * len(values)
        if small and many and kind is None and not said:
            why = f' and the header says "{code}"' if code else ""
            return _of(
                "nominal",
                f"{len(values)} different small whole numbers in {int(counts.sum()):,} records{why}: they look like "
                "codes, which have no order. If they are amounts, declare it a number.",
            )
    return _of("number", "", decimal=".")


def propose_text_type(column: Column, counts: Array, kind: str | None) -> TypeProposal:
    """The type of a column of texts, by its kind where that is decided: free text, postal codes and sexes matter."""
    few = few_texts(column.values)
    none_missing = few is not None and MISSING_WORDS.isdisjoint(few)
    texts = column.values if none_missing else column.values.filter(~column.values.is_in(list(MISSING_WORDS)))
    if not len(texts):
        return TypeProposal(None, "")
    if kind == "free-text":
        return _of("text", "Free text.")
    first = texts[0]
    # neither dates nor numbers are without a digit; other scripts have digits of their own
    no_digits = first.isascii() and not any(sign.isdigit() for sign in first)
    for look in (_bands,) if no_digits else (_dates, _numbers, _bands):
        if (found := look(column.name, texts)) is not None:
            return found
    if kind == "postal-code":
        lengths = texts.str.len_chars().unique()
        settings = {"digits": int(lengths[0])} if len(lengths) == 1 and texts.str.contains("^[0-9]+$").all() else {}
        return _of("code", "Postal codes: shortened from the right, they stand for larger areas.", **settings)
    if len(texts) <= _MOST_SPELLINGS:
        # `none` is an answer where the others are words
        missing = list(MISSING_WORDS - {"none", "None"})
        words_too = texts if none_missing else column.values.filter(~column.values.is_in(missing))
        return _categories(column, words_too, counts, kind)
    return _of("nominal", "Texts without an order.")


def kinds_that_join(column: Column) -> Sequence[str]:
    """The kinds that would join some spellings of a column of texts, were it of one: `sex`, or none."""
    few = column.values if len(column.values) <= _MOST_SPELLINGS + len(MISSING_WORDS) else column.values.head(0)
    return ("sex",) if any(text.strip().casefold() in _SEX_WORDS for text in few.to_list()) else ()


def _pilot(texts: pl.Series) -> pl.Series:
    step = len(texts) // _PILOT
    return texts.gather_every(step) if step > 1 else texts


def _dates(name: str, texts: pl.Series) -> TypeProposal | None:
    from shoal.storage.dates import whole_dates

    pilot = _pilot(texts)
    if not pilot.str.contains(_SIGNS_OF_DATES).all() or (whole_dates(pilot.str.strip_chars()).form < 0).any():
        return None
    try:
        found = completed(ColumnType(type="date"), texts, name)
    except InputError as error:
        return TypeProposal(None, f"Dates, but: {error.what} {error.cure}", asks=True)
    return TypeProposal(found, "All of its values are dates in one writing or several.")


def _numbers(name: str, texts: pl.Series) -> TypeProposal | None:
    pilot = _pilot(texts)
    shaped = pilot.str.contains(r"^\s*[+-]?[0-9]+(?:[.,' ’\u00a0\u202f][0-9]+)+\s*$|^\s*[+-]?(?:0|[1-9][0-9]*)\s*$")
    if not shaped.all() or not pilot.str.contains(r"[0-9][.,' ’\u00a0\u202f][0-9]").any():
        return None
    try:
        found = completed(ColumnType(type="number"), texts, name)
    except InputError as error:
        return (
            TypeProposal(None, f"Numbers, but: {error.what} {error.cure}", asks=True)
            if error.what.endswith("?")
            else None
        )
    plain = plain_numbers(texts, found.decimal or ".", found.thousands)
    if plain.n_unique() < len(texts):  # 250.1 and 250.10 are two diagnoses
        return None
    return TypeProposal(found, "All of its values are numbers with separators.")


def _bands(name: str, texts: pl.Series) -> TypeProposal | None:
    if len(texts) > MOST_BANDS or len(texts) < 2:
        return None
    wide = False
    for text in texts.to_list():
        if (band := parse_band(text)) is None:
            return None
        wide = wide or band.low != band.high
    if not wide:
        return None
    try:
        return TypeProposal(
            completed(ColumnType(type="band"), texts, name), "Bands on a number line, which can be joined."
        )
    except InputError as error:
        return _of("nominal", f"Bands that cannot be joined. {error.what}")


def _categories(column: Column, texts: pl.Series, counts: Array, kind: str | None) -> TypeProposal:
    labels = texts.to_list()
    folded = {label: label.strip().casefold() for label in labels}
    mapped = _spellings(column, folded, counts, kind)
    distinct = sorted({mapped.get(label, label) for label in labels})
    joined = {"map": mapped} if mapped else {}
    why = " Some are spelled in several ways: `map` joins them." if mapped else ""
    if len(distinct) == 2 and frozenset(label.strip().casefold() for label in distinct) in _PAIRS:
        missing = sorted(column.values.filter(~column.values.is_in(labels)).to_list())
        beside = {"missing": missing} if missing else {}
        return _of("boolean", f"Two answers.{why}", **joined, **beside)
    if (order := order_of(distinct)) is not None and not _has_signs(order):
        return _of("ordered", f"Words that come in an order.{why}", order=order, **joined)
    return _of("nominal", f"Categories without an order that is known.{why}", **joined)


def _has_signs(order: Sequence[str]) -> bool:
    return any(sign in label for label in order for sign in "[];*\\")


def _spellings(column: Column, folded: dict[str, str], counts: Array, kind: str | None) -> dict[str, str]:
    """What is spelled otherwise than most: capitals and blanks, and F beside female."""
    frequent = dict(zip(column.values.to_list(), counts.tolist(), strict=True))
    groups: dict[str, list[str]] = {}
    for label, word in folded.items():
        key = next((sex for sex, said in _SEXES.items() if word in said), word) if kind == "sex" else word
        groups.setdefault(key, []).append(label)
    found: dict[str, str] = {}
    for labels in groups.values():
        # a whole word before a letter, then the one that most have, without the blanks around it
        best = max(labels, key=lambda label: (len(squeeze(label)) > 1, frequent[label], label)).strip()
        if len(labels) > 1:
            found |= {label: best for label in labels if label != best}
    return found
