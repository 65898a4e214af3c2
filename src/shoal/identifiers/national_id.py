"""National identifiers of all country packs, and columns whose header names one that no pack can check."""

from collections.abc import Iterator

from shoal.identifiers.base import Finding
from shoal.identifiers.column import ColumnEvidence
from shoal.identifiers.countries import COUNTRIES
from shoal.identifiers.header import words
from shoal.identifiers.shape import Shape

# Seven signs or more with a digit among them; the header carries the rest.
_NAMED = Shape(
    kind="national-id",
    rule="by-header",
    noun="an identity number",
    pattern=r"(?i)^[a-z]{0,6}[\d][a-z\d .\-/]{5,20}$",
    words=words(
        """national id, national identifier, nationalid, national id number, identity number, identity card, id
        card, carta d identita, carta identita, documento identita, personalausweis, ausweisnummer,
        personalausweisnummer, carte d identite, carte nationale d identite, cni, cedula, cedula de identidad,
        identiteitskaart, cartao de cidadao, taxpayer id, tax id, citizen id, aadhaar, curp, personal number""",
    ),
    alone=0.0,
)


def recognise(column: ColumnEvidence) -> Iterator[Finding]:
    """Each country's rules in turn, then the headers that name an identity number."""
    for country in COUNTRIES:
        for rule in country.national_ids:
            yield from rule(column)
    if column.distinct_share >= 0.3:
        yield from _NAMED(column)
