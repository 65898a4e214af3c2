"""Ages in years, months or days, and age groups such as 30-39 or 85+."""

from collections.abc import Iterator

import numpy as np

from shoal.identifiers.base import Finding, confidence, finding
from shoal.identifiers.column import ColumnEvidence
from shoal.identifiers.header import words

AGE = words(
    """age, ages, age years, age yrs, age group, age band, age class, age cat, agegrp, age at admission, patient
    age, eta, eta anni, classe di eta, fascia eta, fascia di eta, alter, lebensalter, altersgruppe, alter jahre,
    age annees, tranche d age, edad, grupo de edad, edad anos, leeftijd, leeftijdsgroep, idade, faixa etaria""",
    weak="years old, anni, jahre",
    block="""vehicle, car, account, machine, building, house, device, roof, stone, product, policy, stock,
    invoice, gebaude""",
)
DAYS = words("days, day, giorni, tage, jours, dias, dagen")
MONTHS = words("months, month, mesi, monate, mois, meses, maanden")
_GROUP = (
    r"(?i)^[\[(]?\s*\d{1,3}\s*(-|\u2013|\u2014|to|a|bis|;|,|/)\s*\d{1,3}\s*[\])]?(\s*(y|yr|yrs|years|anni|jahre|ans|anos|años))?$"
    r"|(?:less than|under|over|greater than|older than|unter|über|bis|ab|meno di|fino a|oltre|moins de|plus de"
    r"|menos de|más de|mayor de)\s*\d{1,3}(\s*\w+)?$"
    r"|^[<>≤≥]=?\s*\d{1,3}$|^\d{1,3}\s*\+$"
)
_OLDEST = 125.0


def recognise(column: ColumnEvidence) -> Iterator[Finding]:
    """Numbers within a human life, or groups of them, under a header that says age."""
    strength, word = AGE.heard(column.header)
    if not strength:
        return
    if column.numbers is None:
        share = column.share(column.matches(_GROUP) | column.matches(r"^\d{1,3}$"))
        sure = confidence(share, 0.0, strength)
        yield finding("age", "age-group", "hold an age group", share=share, word=word, sure=sure)
        return
    rule, oldest = _unit(column)
    within = (column.numbers >= 0) & (column.numbers <= oldest)
    # Ages are whole, or halves and tenths in children; figures with many decimals are something else.
    tenths = np.clip(column.numbers, 0, oldest) * 10
    share = column.share(within & (np.abs(tenths - np.round(tenths)) < 1e-6))
    clause = f"hold a number from 0 to {oldest:.0f}"
    yield finding("age", rule, clause, share=share, word=word, sure=confidence(share, 0.0, strength))


def _unit(column: ColumnEvidence) -> tuple[str, float]:
    """The unit that the header names, years where it names none."""
    if DAYS.heard(column.header)[0]:
        return "days", _OLDEST * 366
    if MONTHS.heard(column.header)[0]:
        return "months", _OLDEST * 12
    return "years", _OLDEST
