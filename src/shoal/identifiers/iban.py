"""IBANs (ISO 13616): country, two check digits modulo 97, and the account number of that country's form."""

from shoal.identifiers.header import words
from shoal.identifiers.shape import Shape


def _check(value: str) -> bool:
    """The check digits of the standard; what countries add inside the account number is left alone."""
    from stdnum import iban

    return iban.is_valid(value, check_country=False)


recognise = Shape(
    kind="iban",
    rule="iso-13616",
    noun="an IBAN",
    pattern=r"(?i)^[a-z]{2}\d{2}[ -]?([a-z\d]{4}[ -]?){2,7}[a-z\d]{1,4}$",
    words=words(
        "iban, codice iban, iban code, bank account, bankverbindung, coordinate bancarie",
        weak="account, conto, konto, compte, cuenta, rekening, acct",
    ),
    alone=0.97,
    check=_check,
    chance=1 / 97,
    form_alone=0.3,
)
