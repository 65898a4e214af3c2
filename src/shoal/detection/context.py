"""What stands around a column: the other headers of its table, its label, and the labels of its codes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

import polars as pl

from shoal.detection.numbers import RECORDS_THAT_TELL, are_measured
from shoal.errors import InputError, Message
from shoal.identifiers import DECIDED, ROLE_OF_KIND, ColumnView, Finding
from shoal.identifiers.header import read_header, words
from shoal.identifiers.letters import squeeze
from shoal.identifiers.sources import SourceMatch, listed
from shoal.storage import Array, Column, Table
from shoal.storage.formats.labels import ColumnLabels, Labels, text_of
from shoal.vocabulary import Role

# labels by the names of columns, from a code book or the table's own file
Codebook = Labels


@dataclass(frozen=True)
class Context:
    """The sources that a table looks like, by its headers, and what is written about its columns."""

    listed: Mapping[str, SourceMatch] = field(default_factory=dict)
    codebook: Codebook = field(default_factory=dict)

    def view(self, column: Column, counts: Array, records: int) -> ColumnView:
        """A column for the recognisers, with what is known around it.

        >>> from shoal.storage.reading import read
        >>> import numpy as np
        >>> table = read({"SERIALNO": ["a", "b"], "AGEP": [4, 5], "SCHL": [1, 2]})
        >>> context_of(table.names).view(table["SCHL"], np.array([1, 1]), 2).listed.kind
        'education'
        """
        return self.around(ColumnView(column.name, column.values, counts, records))

    def around(self, view: ColumnView) -> ColumnView:
        """A view with what is known around its column."""
        said = self.codebook.get(view.name, ColumnLabels())
        codes = {text_of(code): label for code, label in said.values.items()}
        return replace(view, listed=self.listed.get(view.name), label=said.label, value_labels=codes)


def context_of(names: Iterable[str], codebook: Codebook | None = None) -> Context:
    """The context of the columns of a table."""
    return Context(listed(names), codebook or {})


def context_of_table(table: Table, codebook: str | Path | Codebook | None = None) -> Context:
    """The context of a table's columns: all headers of its source, its own labels, and a code book before them."""
    if isinstance(codebook, (str, Path)):
        from shoal.detection.codebooks import read_codebook

        codebook = read_codebook(codebook)
    names = table.source_names or [*table.columns, *table.beside]
    if codebook and not set(codebook) & set(names):
        what = "The variable" if len(codebook) == 1 else f"None of the {len(codebook):,} variables"
        raise InputError(
            f"{what} of the code book is {'not ' if len(codebook) == 1 else ''}in the table.",
            Message(
                "Give the code book of this table ({codebook}), with its columns' names as they are written there."
            ),
        )
    return context_of(names, {**table.labels, **(codebook or {})})


# What the header of a column of numbers says: sums of money, sampling weights, households.


_SUMS = words(
    """amount, income, salary, wage, wages, price, cost, costs, charge, charges, balance, turnover, revenue,
    expenditure, expend, expenses, spending, savings, debt, loan, rent, tax, taxes, betrag, einkommen, gehalt,
    preis, kosten, umsatz, reddito, importo, stipendio, spesa, revenu, salaire, montant, prix, ingreso, ingresos,
    importe, precio, gasto, inkomen, bedrag, height, area, distance, odometer, mileage, odo,
    temperature, platelets""",
    block="number, no, nr, num, id, code, account, key, reference, ref, card, file, case, serial, invoice",
    measures=True,
)
_UNITS = frozenset(
    [
        "m",
        "km",
        "cm",
        "mm",
        "ft",
        "mi",
        "miles",
        "kg",
        "g",
        "mg",
        "lb",
        "lbs",
        "oz",
        "ml",
        "l",
        "s",
        "sec",
        "secs",
        "min",
        "mins",
        "h",
        "hrs",
        "ms",
        "mb",
        "gb",
        "kwh",
        "usd",
        "eur",
        "gbp",
        "pct",
    ]
)
_SUM_AT_END = re.compile(r"(?:tax|taxes|inc|income|val|amt|contrb|contrib|sal|wage|wages|earn)$")
# numbers without gaps are numbers of things
_WITHOUT_GAPS = 0.5
_WEIGHTS = words(
    """sampling weight, sampling weights, survey weight, survey weights, sample weight, household weight, household
    weights, hh weight, person weight, design weight, final weight, fnlwgt, finalwt, perwt, hhwt, pweight, wgt,
    hhweight, expansion factor, factor de expansion, fexp, hochrechnungsfaktor, poids de sondage, peso campionario,
    weights""",
    weak="weight, wt, poids, peso, gewicht",
    block="birth, body, baby, patient, newborn, kg, lb, lbs, grams, gross, net, vehicle, tare, parcel, nascita, geburt",
    measures=True,
)
_HOUSEHOLDS = words(
    """hid, hhid, hh id, household, household id, household number, household no, hhno, hh number, home id, haushalt,
    menage, ménage, famiglia, hogar"""
)
# what is sold, kept and given: its codes stand for nobody
THINGS = words("product, product id, item, item id, article, sku, upc, ean, gtin, film, movie, store, store id")
# more than a person weighs in kilograms or pounds
_HEAVIEST_PERSON = 700.0
# weights with a lower mean are scaled to 1, up to their rounding
_LEAST_MEAN = 1.05


def is_sum(name: str) -> bool:
    """Whether a header says that a column holds sums of money or measurements, not numbers of things.

    >>> is_sum("household_income"), is_sum("account_balance_no"), is_sum("roof")
    (True, False, False)
    """
    header = read_header(name)
    return _SUMS.heard(header)[0] > 0 or (len(header.tokens) > 1 and header.tokens[-1] in _UNITS)


def is_amounts(column: Column) -> bool:
    """Whether exact numbers are sums by their header: one that says so, or one in which the word is run together with
    others (FEDTAX, PTOTVAL) beside numbers that are neither of one length nor without gaps, as numbers of things are.

    >>> from shoal.storage.reading import read
    >>> [is_amounts(read({name: [7, 812, 15_300, 41_007]})[name]) for name in ("FEDTAX", "ward")]
    [True, False]
    """
    values = column.values
    if not (values.dtype.is_integer() or values.dtype.is_decimal()) or not len(values):
        return False
    if is_sum(column.name):
        return True
    if not _SUM_AT_END.search(squeeze(column.name)):
        return False
    lengths = values.cast(pl.String).str.strip_prefix("-").str.len_chars().n_unique()
    span = int(values.max()) - int(values.min()) + 1  # type: ignore[arg-type]
    return lengths > 1 and len(values) < _WITHOUT_GAPS * span


def is_household(name: str) -> bool:
    """Whether a header says that a column numbers households.

    >>> is_household("ori_hid"), is_household("patient_no")
    (True, False)
    """
    return _HOUSEHOLDS.heard(read_header(name))[0] > 0


# headers of a number of whoever the rows are about
_WHO = "person|subject|subj|respondent|resp|individual|indiv|pupil|child|kid|student|worker|member|patient|woman|man"
_A_NUMBER = re.compile(f"({_WHO}|p|u|user|case)?id(code|num|no|nr)?|({_WHO}|p|case)(nr|num|number|no)|nr|{_WHO}")


def numbers_somebody(name: str) -> bool:
    """Whether a header says no more than that a column numbers those whom the rows are about.

    It is never an amount, and its rows are one person's until somebody decides otherwise.

    >>> numbers_somebody("pidnum"), numbers_somebody("nr"), numbers_somebody("number")
    (True, True, False)
    """
    return _A_NUMBER.fullmatch("".join(read_header(name).tokens)) is not None


def looks_like_weights(column: Column) -> str | None:
    """Why a column seems to say how many people each record stands for; None where it does not."""
    strength, word = _WEIGHTS.heard(read_header(column.name))
    if not strength and squeeze(column.name).endswith("fnlwgt"):  # AFNLWGT, of the Current Population Survey
        strength, word = 1.0, "fnlwgt"
    values = column.values
    if not strength or not values.dtype.is_numeric() or not len(values):
        return None
    low, high = float(values.min()), float(values.max())  # type: ignore[arg-type]
    from shoal.identifiers.labels import is_weighed

    strong = word not in ("weight", "wt", "poids", "peso", "gewicht")
    if low < 0.0 or high < 1.0 or is_weighed(column.name, values.cast(pl.Float64)):
        return None
    if not strong and (high < _HEAVIEST_PERSON or low < 1.0):
        return None
    return f'The header says "{word}", and its numbers are those of sampling weights.'


def trouble_with_weights(column: Column, counts: Array) -> str | None:
    """Why a policy cannot name a column of weights as it is; None where it can.

    >>> from shoal.storage.reading import read
    >>> import numpy as np
    >>> trouble_with_weights(read({"wt": [0.7, 1.3]})["wt"], np.array([1, 1]))
    'Its numbers have a mean of about 1: they are scaled, and do not say how many people a record stands for.'
    """
    values = column.values
    if not values.dtype.is_numeric():
        return "Its values are not numbers."
    if column.nulls or float(values.min()) <= 0.0:  # type: ignore[arg-type]
        return "Some records have no weight, or one of 0 or less."
    if float(values.cast(pl.Float64).to_numpy() @ counts) < _LEAST_MEAN * float(counts.sum()):
        return (
            "Its numbers have a mean of about 1: they are scaled, and do not say how many people a record stands for."
        )
    return None


# The role that a column seems to play, by the kind of its data or by how many of its values differ.


# From this share of different values on, a column nearly tells records apart; from the other, codes may be persons'.
NEARLY_ALL = 0.95
MANY_CODES = 0.1
LONG_CODES = "Many different long codes: they may stand for persons."
# so many of the distinct values show whether a column is made of codes
_CODES_LOOKED_AT = 10_000


def propose_role(
    column: Column, counts: Array, records: int, kinds: list[Finding], measured: bool = False
) -> tuple[Role, float, list[str]]:
    """By the kind of data if one was recognised, else by whether all values differ; what is `measured` often does."""
    if kinds and kinds[0].confidence >= DECIDED:
        return cast(Role, ROLE_OF_KIND[kinds[0].kind]), kinds[0].confidence, [kinds[0].reason]
    hints = [kind.reason for kind in kinds[:1]]
    known = records - column.nulls
    if known >= RECORDS_THAT_TELL and not _has_fractions(column.dtype) and not measured:
        numbered = numbers_somebody(column.name)
        if len(counts) >= NEARLY_ALL * known and are_measured(column.values) and not numbered:
            return "other", 0.0, ["Its values spread, or are written, as measurements and sums are.", *hints]
        if len(counts) == known:
            return "identifier", 0.8, ["Every record has a value of its own.", *hints]
        if len(counts) >= NEARLY_ALL * known:
            return "identifier", 0.6, ["Almost every record has a value of its own.", *hints]
        if _looks_like_codes(column, known) and not THINGS.heard(read_header(column.name))[0]:
            return "identifier", 0.4, [LONG_CODES, *hints]
    if kinds:
        return cast(Role, ROLE_OF_KIND[kinds[0].kind]), kinds[0].confidence, hints
    return "other", 0.0, ["No rule recognised it: decide by what others may know of it."]


def _has_fractions(dtype: pl.DataType) -> bool:
    """Whether a type is of numbers with digits behind the decimal sign, which number nothing."""
    return dtype.is_float() or (isinstance(dtype, pl.Decimal) and dtype.scale > 0)


def is_measured(column: Column) -> bool:
    """Whether values are measured or counted: that all of them differ says nothing then."""
    if column.declared is not None:
        return column.declared.word in ("number", "date", "ordered", "band")
    return is_amounts(column)


def _looks_like_codes(column: Column, known: int) -> bool:
    """Many long words of letters and digits without spaces, as account and card numbers are."""
    if len(column.values) < max(RECORDS_THAT_TELL, MANY_CODES * known) or column.dtype.is_temporal():
        return False
    texts = column.values.gather_every(max(1, len(column.values) // _CODES_LOOKED_AT)).cast(pl.String)
    return float(texts.str.contains(r"^[\p{L}0-9_./-]{6,}$").mean() or 0) > 0.9 and bool(  # type: ignore[arg-type]
        texts.str.contains(r"[0-9]").any()
    )
