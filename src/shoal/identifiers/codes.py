"""Codes that stand for one person or one record: customer numbers, case numbers, keys, user names."""

from collections.abc import Iterator

from shoal.identifiers.base import Finding, confidence, finding
from shoal.identifiers.column import ColumnEvidence
from shoal.identifiers.header import words

_PERSON = words(
    """patient id, patientid, pat id, patid, patient no, patient number, patient code, person id, person no,
    person number, subject id, subjid, usubjid, subject no, participant id, respondent id, resp id, customer id,
    customer no, customer number, cust id, client id, client number, user id, userid, employee id, employee
    number, emp id, emp no, staff id, personnel number, member no, student id, student number, donor id, case id,
    household id, hhid, voter id, id paziente, codice paziente, id cliente, codice cliente, matricola, numero
    matricola, id utente, patienten id, patientennummer, patientennr, kundennummer, kundennr, kunden id,
    personalnummer, matrikelnummer, mitarbeiternummer, mitgliedsnummer, benutzer id, teilnehmer id, fallnummer, id
    patient, numero patient, numero client, id client, code client, matricule, numero etudiant, id paciente,
    numero de paciente, id de cliente, numero de cliente, id usuario, expediente, numero de expediente,
    klantnummer, klant id, patientnummer, personeelsnummer, study id, pseudonym, pseudo id, enrollee id, person
    key, patient key, customer key, hh id, hid""",
    block="group",
)
_RECORD = words(
    """id, uid, rowid, row id, record id, record no, record number, recid, key, primary key, pk, identifier, case
    number, case no, encounter id, visit id, order id, order number, invoice number, transaction id, ticket,
    reference number, reference, ref no, sample id, specimen id, identificativo, codice identificativo, numero
    pratica, kennung, vorgangsnummer, auftragsnummer, aktenzeichen, identifiant, numero de dossier, reference
    dossier, identificador, numero de pedido, folio, volgnummer, kenmerk, seq, sequence number, index, claim
    number, claim id, tracking number, barcode""",
    weak="code, number, no, nr, num, numero, nummer, codice, codigo, token",
)
_USER = words(
    """username, user name, login, login name, screen name, handle, nickname, nick, twitter, twitter handle,
    github, nome utente, benutzername, anmeldename, nom d utilisateur, identifiant de connexion, nombre de
    usuario, usuario, gebruikersnaam, nome de utilizador, skype, account name""",
    block="date, time, count, last login",
)
_CODE = r"^[\p{L}\d#_./:\-]{1,40}$"
_DIGIT = r"\d"
_HANDLE = r"^@?[\p{L}\d._\-]{2,40}$"
_AT_HANDLE = r"^@[A-Za-z0-9_.]{2,30}$"


def recognise(column: ColumnEvidence) -> Iterator[Finding]:
    """A person's code may come again, a record's code must not."""
    if column.filled == 0 or (column.numbers is not None and not column.whole) or column.dtype.is_temporal():
        return
    share = column.share(column.matches(_CODE) & column.matches(_DIGIT))
    own = column.distinct_share
    strength, word = _PERSON.heard(column.header)
    if strength:
        sure = confidence(share * min(1.0, own / 0.02), 0.0, strength)
        yield finding("unique-code", "person", "have the form of a code", share=share, word=word, sure=sure)
    strength, word = _RECORD.heard(column.header)
    if strength and own >= 0.9:
        clause = f"have the form of a code, {own:.0%} as many codes as records"
        yield finding(
            "unique-code",
            "record",
            clause,
            share=share,
            word=word,
            sure=confidence(share, 0.0, strength * 0.9),
        )
    yield from _user_names(column)


def _user_names(column: ColumnEvidence) -> Iterator[Finding]:
    """Names that people give themselves, or handles that open with @."""
    handles = column.share(column.matches(_AT_HANDLE))
    strength, word = _USER.heard(column.header)
    share = column.share(column.matches(_HANDLE)) if strength and column.numbers is None else handles
    sure = confidence(share * min(1.0, column.distinct_share / 0.02), 0.7 * handles, strength)
    yield finding("username", "handle", "have the form of a user name", share=share, word=word, sure=sure)
