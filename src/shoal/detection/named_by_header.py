"""What the header of a column of numbers says: sums of money, sampling weights, households."""

from __future__ import annotations

import re

import polars as pl

from shoal.kinds.header import read_header, words
from shoal.kinds.letters import squeeze
from shoal.table import Array, Column

_SUMS = words(
    """amount, income, salary, wage, wages, price, cost, costs, charge, charges, balance, turnover, revenue,
    expenditure, expend, expenses, spending, savings, debt, loan, rent, tax, taxes, betrag, einkommen, gehalt,
    preis, kosten, umsatz, reddito, importo, stipendio, spesa, revenu, salaire, montant, prix, ingreso, ingresos,
    importe, precio, gasto, inkomen, bedrag, height, area, distance, temperature, platelets""",
    block="number, no, nr, num, id, code, account, key, reference, ref, card, file, case, serial, invoice",
    measures=True,
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
    menage, ménage, famiglia, hogar""",
)
# more than a person weighs in kilograms or pounds
_HEAVIEST_PERSON = 700.0
# weights with a lower mean are scaled to 1, up to their rounding
_LEAST_MEAN = 1.05


def is_sum(name: str) -> bool:
    """Whether a header says that a column holds sums of money or measurements, not numbers of things.

    >>> is_sum("household_income"), is_sum("account_balance_no"), is_sum("roof")
    (True, False, False)
    """
    return _SUMS.heard(read_header(name))[0] > 0


def is_amounts(column: Column) -> bool:
    """Whether exact numbers are sums by their header: one that says so, or one in which the word is run together with
    others (FEDTAX, PTOTVAL) beside numbers that are neither of one length nor without gaps, as numbers of things are.

    >>> from shoal.reading import read
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


def looks_like_weights(column: Column) -> str | None:
    """Why a column seems to say how many people each record stands for; None where it does not."""
    strength, word = _WEIGHTS.heard(read_header(column.name))
    if not strength and squeeze(column.name).endswith("fnlwgt"):  # AFNLWGT, of the Current Population Survey
        strength, word = 1.0, "fnlwgt"
    values = column.values
    if not strength or not values.dtype.is_numeric() or not len(values):
        return None
    low, high = float(values.min()), float(values.max())  # type: ignore[arg-type]
    strong = word not in ("weight", "wt", "poids", "peso", "gewicht")
    if low < 0.0 or high < 1.0 or (not strong and (high < _HEAVIEST_PERSON or low < 1.0)):
        return None
    return f'The header says "{word}", and its numbers are those of sampling weights.'


def trouble_with_weights(column: Column, counts: Array) -> str | None:
    """Why a policy cannot name a column of weights as it is; None where it can.

    >>> from shoal.reading import read
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
