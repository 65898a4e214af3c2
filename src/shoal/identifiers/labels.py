"""Labels of variables, headers that are questions, and variables of published sources, by words of the field."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from shoal.identifiers.base import ROLE_OF_KIND, SENSITIVE, STRONG, ColumnView, Finding, confidence, finding
from shoal.identifiers.column import ColumnEvidence
from shoal.identifiers.letters import plain, squeeze
from shoal.wording import counted

# a header of so many words is a label
_WORDS_OF_A_LABEL = 4
# a word of a header is less than a label
_BY_HEADER, _TRAIT_BY_HEADER, _GUESSED = 0.65, 0.55, 0.45
# traits of which a word in a header is enough; others need their values or more words
_GUESSED_TRAITS = frozenset(("household", "geography"))
_TRAITS = _GUESSED_TRAITS | {
    "education", "ethnicity", "marital-status", "nationality", "occupation", "relationship"
}  # fmt: skip
# whoever treats people is no state of health: a column of this header alone holds names
_PROFESSIONS = frozenset(("nurse", "doctor", "doctors", "arzt", "arztin", "medecin", "medico", "medici"))
# headers with these words are about the number, date or price of a thing
_NOT_OF_PEOPLE = frozenset(
    (
        "number", "no", "nr", "num", "nummer", "numero", "id", "card", "name", "date", "datum", "data", "dat", "dt",
        "day", "time", "year", "address", "street", "email", "phone", "arm", "product", "item", "server", "system",
        "file", "version", "price", "rate", "count", "expense", "expenses", "ref", "reference", "key", "uid",
        "serial", "record", "identifier", "kennung", "aktenzeichen", "dossier", "senior", "vehicle", "satisfaction",
    )
)  # fmt: skip
_OF_A_MEASURE = frozenset(("rate", "day", "days", "time", "year"))
_MANY_MEANINGS = frozenset(
    ("height", "bmi", "heart", "heart rate", "satisfaction", "financial", "hospital", "should", "drink", "drinks",
     "state", "profit", "tax", "zip", "postcode", "postal code")
)  # fmt: skip
_MEASURED = frozenset(("income", "benefits", "health"))
# hba1c, covid19: digits are no end of a word
_WITH_DIGITS = re.compile(r"[\W_]+")
_FEW_VALUES, _OWN = 20, 0.9
# labels of codes are looked at where so many of the records have one
_LABELLED = 0.5
# an answer in words of one's own is free text, whatever the question was
_PROSE = r"\S+(\s+\S+){5,}"


def by_label(column: ColumnEvidence) -> Iterator[Finding]:
    """The kind that the label speaks of; of a header without one what is sensitive or a trait, and that less surely."""
    if column.filled == 0 or column.share(column.matches(_PROSE)) > 0.3:
        return
    if column.label:
        said, strength = kind_of_label(column.label), STRONG
    elif len(column.name.split()) >= _WORDS_OF_A_LABEL:
        said, strength = kind_of_label(column.name), STRONG
    else:
        said = _by_header(column.header.tokens) or _by_header(_WITH_DIGITS.split(column.name.lower()))
        strength = _TRAIT_BY_HEADER if said and said[0] in _TRAITS else _BY_HEADER
        strength = _GUESSED if said and (said[0] in _GUESSED_TRAITS or said[1] in _guesses()) else strength
    if said is None or (strength < STRONG and _numbers_records(column, said[0])):
        return
    kind, word = said
    share = fit(column, kind)
    found = finding(kind, "label", "could be of that kind", share=share, word=word, sure=share * strength)
    yield replace(found, reason=found.reason.replace("the header says", "its label says")) if column.label else found


def _numbers_records(column: ColumnEvidence, kind: str) -> bool:
    """Whether nearly every record has a value of its own that is not a sum or a measure: a code, whatever is said."""
    measured = kind in _MEASURED and column.numbers is not None
    return not measured and column.distinct > _FEW_VALUES and column.distinct_share >= _OWN


def _by_header(tokens: Sequence[str]) -> tuple[str, str] | None:
    """What the words of a header say where it is sensitive or a trait, and not the number, name or date of a thing."""
    said = kind_of_label(" ".join(tokens))
    if said is None or said[1] in _MANY_MEANINGS or (said[1] in _PROFESSIONS and len(tokens) == 1):
        return None
    measures = _OF_A_MEASURE.intersection(said[1].split())  # the rate of an interest rate is no price
    beside = [token for token in tokens if plain(token) not in measures]
    if any(token in _NOT_OF_PEOPLE or token.endswith(("nummer", "datum")) for token in beside):
        return None
    return said if said[0] in _TRAITS or ROLE_OF_KIND[said[0]] == SENSITIVE else None


def kind_of_label(label: str) -> tuple[str, str] | None:
    """The kind of which a label speaks, and the word by which it does; None where it has no word of the field.

    >>> kind_of_label("Have you ever been told you had diabetes?")
    ('health', 'diabetes')
    >>> kind_of_label("Staatsangehörigkeit"), kind_of_label("Highest level of education")
    (('nationality', 'staatsangehorigkeit'), ('education', 'education'))
    >>> kind_of_label("Colour of the box") is None
    True
    """
    text = " ".join(re.sub(r"[\W_]+", " ", plain(label[:400])).split())
    for kind, words, unless in _books():
        found = _first_in(words, text)
        if found is not None and not (unless and _first_in(unless, text)):
            return kind, found
    return None


def _first_in(phrases: str, text: str) -> str | None:
    """The first of the phrases in a text; they are compiled where letters of one of them are in it."""
    found = _pattern(phrases).search(text) if any(stem in text for stem in _stems(phrases)) else None
    return None if found is None else found.group()


@cache
def _books() -> tuple[tuple[str, str, str], ...]:
    """The kinds in the order in which they are looked for, with their words and those that speak against them."""
    lines = re.sub(r"\n\s+", " ", re.sub(r"(?m)^#.*\n", "", _text())).replace("?", "").splitlines()
    books = []
    for line in lines:
        kind, _, rest = line.partition(":")
        words, _, unless = rest.partition(" - ")
        books.append((kind, words, unless))
    return tuple(books)


@cache
def _text() -> str:
    return files("shoal.identifiers").joinpath("label_words.txt").read_text("utf-8")


@cache
def _guesses() -> frozenset[str]:
    """Words that mean other things in a header too: what they say is a guess, about which a person is asked."""
    return frozenset(re.findall(r"\?([^,\n*]+)", _text()))


@cache
def _stems(phrases: str) -> tuple[str, ...]:
    """Of each phrase letters without which it is not in a text: of those between `*` the most.

    >>> _stems("*gewicht*, survey  weight*")
    ('gewicht', 'survey weight')
    """
    cleaned = (" ".join(phrase.split()) for phrase in phrases.split(","))
    return tuple(max(phrase.split("*"), key=len) for phrase in cleaned if phrase)


@cache
def _pattern(phrases: str) -> re.Pattern[str]:
    """Any of the phrases, whole words, the longest first."""
    cleaned = sorted({" ".join(phrase.split()) for phrase in phrases.split(",")} - {""}, key=len, reverse=True)
    return re.compile(r"\b(?:" + "|".join(phrase.replace("*", r"\w*") for phrase in cleaned) + r")\b")


def with_labels(view: ColumnView) -> ColumnView | None:
    """The column with each code replaced by its label, without codes that have none; None where most have none.

    >>> import numpy as np
    >>> view = ColumnView("q2", pl.Series([1, 2]), np.array([3, 4]), 7, value_labels={"1": "male", "2": "female"})
    >>> with_labels(view).values.to_list()
    ['male', 'female']
    """
    values = view.values
    if values.dtype.is_float():
        whole = values.cast(pl.Int64, strict=False)
        values = whole if (whole == values).all() else values
    texts = values.cast(pl.String, strict=False).replace_strict(
        dict(view.value_labels), default=None, return_dtype=pl.String
    )
    there = texts.is_not_null().to_numpy()
    if not len(there) or view.counts[there].sum() < _LABELLED * max(view.counts.sum(), 1):
        return None
    counted = pl.DataFrame({"label": texts, "count": view.counts}).filter(pl.col("label").is_not_null())
    joined = counted.group_by("label", maintain_order=True).sum()
    return ColumnView(view.name, joined["label"], joined["count"].to_numpy(), view.records, None, view.label)


_MOST_SEXES = 12
_MOST_GROUPS = 150
# kinds of which there are few values: nearly as many as records are numbers of the records
_FEW_CODES = frozenset(("education", "household", "language", "marital-status", "relationship", "religion"))
_MOST_CODES = 100
# what a survey notes of itself has few values: many texts under such a header are something of people
_OF_THE_SURVEY = frozenset(("survey-design", "survey-process"))
# codes of a trait are whole numbers or words
_CODED_TRAITS = _FEW_CODES | {"ethnicity", "nationality", "occupation", "sex"}
# headers of weights of bodies, if numbers are such, and how far those go
_WEIGHED = re.compile(r"(body|birth)?(weight|wt|gewicht|peso|poids)(g|gr|gm|grams?|kg|lbs?|oz)?")
_HEAVIEST, _TIMES = 7_000.0, 3.0
# no code of a survey is longer
_CODE = r"^[^\n]{0,80}$"


def by_source(column: ColumnEvidence) -> Iterator[Finding]:
    """What the source says, as far as the values do not contradict it."""
    said = column.listed
    if said is None or column.filled == 0:
        return
    share = fit(column, said.kind)
    clause = f"fit the variable of this name in {said.title}"
    sure = confidence(share, 0.0, said.strength)
    # replicates of a weight and items of a list: names that differ by a number
    rule = "source-series" if said.by_pattern and column.name[-1:].isdigit() else "source"
    found = finding(said.kind, rule, clause, share=share, word=None, sure=sure)
    others = f"{counted(said.matched, 'column')} of this table {'is' if said.matched == 1 else 'are'} named as there"
    yield replace(found, reason=f"{found.reason.partition(';')[0]}; {others}.")


def fit(column: ColumnEvidence, kind: str) -> float:
    """The share of the records with a value that may be of this kind, where a code book says that it is."""
    if kind == "unique-code":
        return min(1.0, column.distinct_share / 0.02)
    if kind in _FEW_CODES and column.distinct > _MOST_CODES and column.distinct_share > _OWN:
        return 0.0
    if kind in _CODED_TRAITS and column.numbers is not None and not column.whole:
        return 0.0
    if kind in _OF_THE_SURVEY and column.numbers is None and column.distinct > _MOST_CODES:
        return 0.0
    if kind == "survey-weight":
        return 0.0 if column.numbers is None or is_weighed(column.name, column.numbers) else 1.0
    if kind == "sex" and column.distinct > _MOST_SEXES:
        return 0.0
    if kind == "age" and column.numbers is None:
        return 0.0 if column.distinct > _MOST_GROUPS else column.share(column.matches(r"\d"))
    return column.share(column.matches(_CODE))


def is_weighed(name: str, numbers: ArrayLike) -> bool:
    """Whether a column of weights holds those of bodies: nobody has many times the weight of others, in kilograms,
    pounds or, of babies and birds, in grams.

    >>> is_weighed("weight", [2100, 3300, 4900]), is_weighed("weight", [800, 1200, 9000])
    (True, False)
    """
    known = np.asarray(numbers, dtype=np.float64)
    known = known[~np.isnan(known)]
    return bool(
        _WEIGHED.fullmatch(squeeze(name)) and len(known) and known.max() <= min(_HEAVIEST, _TIMES * np.median(known))
    )
