"""Each recogniser on writings of its kind, and on what looks like it and is not."""

from __future__ import annotations

import pytest

from shoal.text.base import HIPAA_LETTERS, TEXT_KINDS
from shoal.text.find import find_spans
from shoal.text.recognisers import RECOGNISERS


def found(text: str) -> list[tuple[str, str]]:
    return [(span.kind, text[span.start : span.end]) for span in find_spans([text])[0]]


@pytest.mark.parametrize(
    "written",
    [
        "2021-03-14", "3/14/21", "03/14/2021", "14.3.2021", "14. 3. 2021", "14-03-2021", "March 3rd", "March 3, 2021",
        "3 March", "3rd of March 2021", "14-Mar-2021", "14MAR2021", "Mar 2021", "March 2021", "3. März", "3. März 2021",
        "Montag, 3. Mai 2021", "3 mars 2021", "1er mars", "lundi 3 mars", "3 de marzo", "3 de marzo de 2021",
        "3 marzo 2021", "1° maggio", "giovedì 11 maggio", "Thursday, 7 September 2023", "summer 2019", "Q3 2021",
        "3.-9. Mai 2021", "2021-03-14T10:15:00Z",
    ],
)  # fmt: skip
def test_dates(written: str) -> None:
    assert found(f"Seen again {written} at noon") == [("date", written)]


@pytest.mark.parametrize("written", ["in 2019", "BP 120/80", "pain 3/10", "2.5 mg", "strength 5/5", "14:30", "1/2 tab"])
def test_what_is_not_a_date(written: str) -> None:
    assert found(f"It was {written} then") == []


@pytest.mark.parametrize(
    "text",
    ["a 93-year-old woman", "aged 94", "91 y/o male", "94-jährige Frau", "âgée de 92 ans", "95 años", "di anni 91"],
)
def test_ages_over_89(text: str) -> None:
    assert [kind for kind, _ in found(text)] == ["age_over_89"]


@pytest.mark.parametrize("text", ["a 89-year-old woman", "HR 92", "SpO2 97%", "weighs 95 kg", "98.6 F", "for 3 years"])
def test_what_is_not_an_old_age(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("kind", "text", "identifier"),
    [
        ("phone", "call (312) 555-0101 today", "(312) 555-0101"),
        ("phone", "Tel. 030 5550123.", "030 5550123"),
        ("phone", "au +33 6 39 98 14 77 svp", "+33 6 39 98 14 77"),
        ("phone", "her cell is 617.555.0199", "617.555.0199"),
        ("fax", "Fax: 01632 960 447", "01632 960 447"),
        ("email", "write to a.b+c@mail.example.org.", "a.b+c@mail.example.org"),
        ("email", "a.b [at] mail [dot] org", "a.b [at] mail [dot] org"),
        ("url", "see https://x.example/p?q=1.", "https://x.example/p?q=1"),
        ("url", "at www.support.example.com/kb", "www.support.example.com/kb"),
        ("ip", "from 172.16.254.1 again", "172.16.254.1"),
        ("ip", "from fe80::1ff:fe23:4567:890a again", "fe80::1ff:fe23:4567:890a"),
        ("device_number", "mac 00:1b:44:11:3a:b7 seen", "00:1b:44:11:3a:b7"),
        ("device_number", "serial no. PJN4400213", "PJN4400213"),
        ("national_id", "SSN 219-09-9999", "219-09-9999"),
        ("national_id", "numero RSSMRA85T10A562S ok", "RSSMRA85T10A562S"),
        ("national_id", "DNI 12345678Z", "12345678Z"),
        ("national_id", "NHS no. 943 476 5919", "943 476 5919"),
        ("record_number", "MRN: 0048-2219-7", "0048-2219-7"),
        ("record_number", "Fallnummer 2022-118834", "2022-118834"),
        ("health_plan_number", "Medicare ID 1EG4-TE5-MK73", "1EG4-TE5-MK73"),
        ("account_number", "IBAN DE89 3704 0044 0532 0130 00", "DE89 3704 0044 0532 0130 00"),
        ("account_number", "card 4111 1111 1111 1111 used", "4111 1111 1111 1111"),
        ("licence_number", "DL S5302-7719-0042", "S5302-7719-0042"),
        ("vehicle_number", "license plate 7XKR492", "7XKR492"),
        ("vehicle_number", "Kennzeichen HH-AB 1234", "HH-AB 1234"),
        ("vehicle_number", "VIN 1HGCM82633A004352", "1HGCM82633A004352"),
        ("other_number", "Case No. CV-2021-004417", "CV-2021-004417"),
        ("postal_code", "in the area SW1A 1AA", "SW1A 1AA"),
        ("address", "lives at 1420 Elm Street, Suite 300", "1420 Elm Street, Suite 300"),
        ("address", "wohnt Lindenstraße 12", "Lindenstraße 12"),
        ("address", "habite 12 bis rue de la République", "12 bis rue de la République"),
        ("address", "residente in via Garibaldi 15", "via Garibaldi 15"),
        ("address", "vive en calle del Olivar, 23", "calle del Olivar, 23"),
        ("address", "PO Box 1234", "PO Box 1234"),
        ("organisation", "admitted to St. Mary's Hospital", "St. Mary's Hospital"),
        ("organisation", "im Klinikum Augsburg", "Klinikum Augsburg"),
        ("organisation", "bei der Bergmann GmbH", "Bergmann GmbH"),
        ("place", "She lives in Tarrington now", "Tarrington"),
        ("place", "moved to Dayton, OH last year", "Dayton"),
        ("username", "follow @tmarzin there", "@tmarzin"),
    ],
)  # fmt: skip
def test_one_identifier(kind: str, text: str, identifier: str) -> None:
    assert (kind, identifier) in found(text)
    assert len(found(text)) == 1


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Seen by Dr. Patel today", "Patel"),
        ("mr. wu says his back is better", "wu"),
        ("Mrs. O'Neill was seen", "O'Neill"),
        ("DR SMITH WAS CALLED TO THE WARD", "SMITH"),
        ("Her husband, Jean-Luc, was present", "Jean-Luc"),
        ("The patient met Nguyen Thi Hoa", "Nguyen Thi Hoa"),
        ("Herr von Bülow kommt einmal im Monat", "von Bülow"),
        ("Rücksprache mit Peter van der Berg erfolgte", "Peter van der Berg"),
        ("Signed: K. Thistlewood", "K. Thistlewood"),
        ("reviewed by Robert K. Fields, M.D.", "Robert K. Fields"),
        ("Mark slept well and ate breakfast", "Mark"),
        ("His sister Hope visits on weekends", "Hope"),
        ("I spoke with Ngozi Okafor this morning", "Ngozi Okafor"),
        ("La signora D'Angelo riferisce dolore", "D'Angelo"),
        ("Mme Quillivéré est venue hier", "Quillivéré"),
        ("La paciente Carmen Ruiz Ortega acude hoy", "Carmen Ruiz Ortega"),
        ("Kind regards, Ansgar Kaltwasser", "Ansgar Kaltwasser"),
    ],
)
def test_names(text: str, name: str) -> None:
    assert found(text) == [("name", name)]


@pytest.mark.parametrize(
    "text",
    [
        "Known Parkinson's disease, Graves' disease and Bell's palsy.",
        "A Foley catheter was placed. Foley removed at 0600. Positive Babinski sign.",
        "GCS 15, BP 142/78, HR 88, RR 16, SpO2 97% on RA, Temp 98.6 F, weight 82 kg.",
        "Continue Lasix 20 mg daily, Metoprolol 25 mg BID, amoxicillin 500 mg x 10 days.",
        "Sodium 138, Potassium 4.2, Chloride 101, Creatinine 1.1, Glucose 104 mg/dL.",
        "Moved from Ohio to North Carolina; family in Mexico.",
        "Will follow up. May return to work. Mark the site. Rose from the chair.",
        "Assessment and Plan: Chest Pain, rule out MI. Discharge Instructions reviewed.",
        "Der Patient klagt über Schmerzen im linken Knie. Bekannter Morbus Crohn. Kein Fieber.",
        "Procedere: Physiotherapie, Kontrolle des Hb. Ibuprofen 600 mg bei Bedarf.",
        "Maladie d'Alzheimer. Tension 13/8. Paracétamol 1 g trois fois par jour.",
        "Morbo di Parkinson in terapia. Pressione 130/80. Controllo tra un mese.",
        "Enfermedad de Crohn. Vive en Andalucía. Se pauta omeprazol 20 mg en ayunas.",
        "The printer shows error 504 after the Windows update; reinstalled Outlook and Chrome.",
        "The court set bail at $25,000. Exhibit B was admitted. See 42 U.S.C. 1983.",
    ],
)
def test_what_must_stay(text: str) -> None:
    assert found(text) == []


def test_a_title_makes_a_name_of_an_eponym() -> None:
    assert found("Dr. Parkinson and Mrs. Graves agreed.") == [("name", "Parkinson"), ("name", "Graves")]


def test_a_name_found_once_by_its_title_is_found_everywhere() -> None:
    text = "Seen by Dr. Rose Brown. BROWN agrees; Brown's plan stands. The brown rash is gone, rose is calm."
    assert [word for _, word in found(text)] == ["Rose Brown", "BROWN", "Brown"]


def test_every_kind_has_its_letter_and_every_recogniser_its_kinds() -> None:
    assert set(HIPAA_LETTERS) == set(TEXT_KINDS)
    assert {kind for recogniser in RECOGNISERS for kind in recogniser.kinds} == set(TEXT_KINDS) - {"withheld"}
    assert set(HIPAA_LETTERS.values()) == set("ABCDEFGHIJKLMNOR")  # (P) and (Q) are not text


@pytest.mark.parametrize(
    ("text", "identifiers"),
    [
        ("hi, my name is gavin mcallister", ["gavin mcallister"]),
        ("ich heiße tobias wendt und habe eine frage", ["tobias wendt"]),
        ("Llamada de consuelo ibarra por la tarde", ["consuelo ibarra"]),
        ("Heparin 5000 IU given, Insulin 1200 IE", []),
        ("Seen with back pain thurs 6/18", ["thurs 6/18"]),
        ("Strength 4/5, pain 6/10", []),
        ("in der Sache Albers ./. Schnoor", ["Albers", "Schnoor"]),
        ("Mr. Bell has Bell's palsy", ["Bell"]),
        ("Mrs. Gray is here. Gray sputum again", ["Gray"]),
    ],
)
def test_notes_in_a_hurry(text: str, identifiers: list[str]) -> None:
    assert [text[span.start : span.end] for span in find_spans([text])[0]] == identifiers
