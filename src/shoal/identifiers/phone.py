"""Phone and fax numbers, written internationally or nationally; libphonenumber's ranges judge them."""

from collections.abc import Callable, Iterator

from shoal.identifiers.base import Finding, confidence, finding
from shoal.identifiers.column import ColumnEvidence, Mask
from shoal.identifiers.header import words, words_of

_FAX = words("fax, fax number, telefax, faxnummer, numero di fax, telecopie, telecopieur")
_PHONE = words_of("phone")
_LOOSE = r"^(\+|00)?[(\d][\d\s().\-/]{5,20}\d(\s*(?i:x|ext\.?)\s*\d{1,5})?$"
_INTERNATIONAL = r"^(\+|00)\s?[1-9]"
_NORTH_AMERICAN = r"^(\+?1[\s.-]?)?(\([2-9]\d{2}\)\s?|[2-9]\d{2}[\s.-])[2-9]\d{2}[\s.-]\d{4}(\s*(?i:x|ext\.?)\s*\d+)?$"
_BARE = r"^\d+$"
_LEADING_ZERO = r"^0\d{8,11}$"
# Dates, clock times, social security numbers, decimals, dotted addresses and blocks of a card number.
_OTHER = (
    r"^\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|^\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}$|^\d{3}-\d{2}-\d{4}$|^\d+\.\d*$"
    r"|^\d{1,3}(\.\d{1,3}){3}$|^(\d{4}[ -]){3}\d{1,7}$|^\d{4}-\d{4}$"
)
_DIGITS = r"^\D*(\d\D*){7,15}$"
_REGIONS = ("US", "GB", "IT", "DE", "FR", "ES", "NL", "PT", "CH")


def _valid_in(region: str | None) -> Callable[[str], bool]:
    """Whether a number is in use in the region's numbering plan (None: written internationally)."""
    import phonenumbers

    def check(value: str) -> bool:
        written = "+" + value[2:] if region is None and value.startswith("00") else value
        try:
            return phonenumbers.is_valid_number(phonenumbers.parse(written, region))
        except phonenumbers.NumberParseException:
            return False

    return check


def _valid_share(column: ColumnEvidence, mask: Mask, international: bool) -> float:
    """The share of valid numbers, nationally that of the region that fits best."""
    regions = (None,) if international else _REGIONS
    return max(column.passes(_valid_in(region), mask, most=60 if len(regions) > 1 else 300)[0] for region in regions)


def recognise(column: ColumnEvidence) -> Iterator[Finding]:
    """Numbers of the form of a phone number; bare digits count only under a header that says so."""
    mask = column.matches(_LOOSE) & column.matches(_DIGITS) & ~column.matches(_OTHER)
    share = column.share(mask)
    if share < 0.1 or (column.numbers is not None and not column.whole):
        return
    fax, fax_word = _FAX.heard(column.header)
    strength, word = (fax, fax_word) if fax else _PHONE.heard(column.header)
    bare = column.share(mask & column.matches(_BARE)) / share
    international = column.share(mask & column.matches(_INTERNATIONAL)) / share >= 0.5
    if bare > 0.5 and not strength and column.share(column.matches(_LEADING_ZERO)) < 0.5:
        return
    valid = _valid_share(column, mask, international)
    alone = _worth(column, mask, share, bare, international) * valid
    sure = confidence(share * (0.4 + 0.6 * max(valid, 0.5 * (1 - bare))), alone, strength)
    kind = "fax" if fax else "phone"
    rule = "international" if international else "national"
    clause = f"have the form of a {kind} number"
    yield finding(kind, rule, clause, share=share, word=word, sure=sure)


def _worth(column: ColumnEvidence, mask: Mask, share: float, bare: float, international: bool) -> float:
    """What the way of writing is worth without a header."""
    if international:
        return 0.95
    if column.share(mask & column.matches(_NORTH_AMERICAN)) / share >= 0.5:
        return 0.85
    return 0.3 if bare > 0.5 else 0.65
