"""Numbers by which an institution knows a person: medical record, health plan, account, licence (HIPAA (H) to (K))."""

from collections.abc import Iterator

from shoal.identifiers.base import Finding
from shoal.identifiers.column import ColumnEvidence
from shoal.identifiers.header import words
from shoal.identifiers.shape import Shape

# A code with digits in it, four signs or more: the words in the header carry these kinds.
_NUMBER = r"(?i)^[a-z]{0,5}[ \-/.]?\d[a-z\d \-/.]{3,24}$"


def _numbered(kind: str, rule: str, noun: str, strong: str, weak: str = "", block: str = "") -> Shape:
    """A number that only its header tells apart."""
    return Shape(kind, rule, noun, _NUMBER, words(strong, weak, block), 0.0)


_RULES = (
    _numbered(
        "medical-record-number",
        "by-header",
        "a medical record number",
        """mrn, medical record number, medical record no, medical record, med rec no, medrec, chart number, chart
        no, hospital number, hospital no, unit number, cartella clinica, numero cartella, nosologico, numero
        nosologico, krankenaktennummer, aktennummer, krankenakte, numero de dossier medical, numero dossier
        medical, ipp, nip patient, historia clinica, numero de historia clinica, nhc, numero historia, num
        historia, medisch dossier, dossiernummer, ehr id""",
    ),
    _numbered(
        "health-plan-number",
        "by-header",
        "a health plan number",
        """health plan, health plan number, member id, memberid, insurance number, insurance id, insurance no,
        policy number, policy no, beneficiary id, beneficiary number, medicare number, medicare id, mbi, hicn,
        medicaid id, medicaid number, subscriber id, tessera sanitaria, numero tessera sanitaria,
        krankenversichertennummer, kv nummer, kv nr, kvnr, versichertennummer, versicherten nr,
        krankenkassennummer, numero d assure, numero assure, mutuelle, numero de mutuelle, tarjeta sanitaria,
        numero de asegurado, numero de poliza, zorgverzekeringsnummer, polisnummer, health card number""",
    ),
    _numbered(
        "account-number",
        "by-header",
        "an account number",
        """account number, account no, acct no, acct number, acctno, account num, bank account, bank account
        number, account id, acct, numero conto, numero di conto, conto corrente, numero conto corrente,
        kontonummer, kontonr, konto, numero de compte, no compte, rib, numero de cuenta, cuenta bancaria,
        rekeningnummer, numero de conta""",
        weak="account, conto, compte, cuenta, rekening",
        block="balance, manager, holder, name",
    ),
    _numbered(
        "licence-number",
        "licence",
        "a licence or certificate number",
        """license number, licence number, license no, licence no, driver license, driver licence, drivers
        license, driving licence, driver license number, dl number, certificate number, certificate no, npi, dea
        number, numero patente, patente, patente di guida, fuhrerscheinnummer, fuehrerscheinnummer, fuhrerschein,
        permis de conduire, numero permis, carnet de conducir, permiso de conducir, numero de licencia, rijbewijs,
        rijbewijsnummer, carta de conducao""",
        block="type, class, category, plate",
    ),
    _numbered(
        "licence-number",
        "passport",
        "a passport number",
        """passport, passport number, passport no, passaporto, numero passaporto, reisepass, passnummer,
        reisepassnummer, passeport, numero de passeport, pasaporte, numero de pasaporte, paspoort, paspoortnummer,
        passaporte""",
    ),
)


def recognise(column: ColumnEvidence) -> Iterator[Finding]:
    """Numbers of which there are many: a code list is no list of accounts."""
    if column.distinct_share < 0.05 or (column.numbers is not None and not column.whole):
        return
    for rule in _RULES:
        yield from rule(column)
