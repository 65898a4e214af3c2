"""Identifiers that no list holds: found by how they are put together. What must be found stands in braces."""

from __future__ import annotations

import pytest

from shoal.text.base import Note, Span
from shoal.text.find import find_spans, joined
from shoal.text.shapes import recurring_shapes

FOUND = [
    "He was found on {East 42nd Street} last night.",
    "Lives at {118 W 3rd}, second floor.",
    "Mail to {RR 2 Box 114A}, please.",
    "She gave {Rural Route 4, Box 77} as her address.",
    "Address: {HC 61 Box 12}.",
    "stays in {Unit 4B, Harborview Apartments}.",
    "moved to {Flat 12, Rosemount House}.",
    "He rents {Room 6 at the Starlight Motel}.",
    "The crash was at the corner of {Fifth and Main}.",
    "intersection of {Dunmore Rd and Highway 9}",
    "lives in {Rose Cottage, Mill Lane}",
    "the bakery on {Harper Road} where she works",
    "on {County Road 350 North}",
    "at mile marker 12 on {Route 66}",
    "lives {12 Abbey Ct Apt 3}",
    "wohnt {Am Alten Markt 3}",
    "Unfall Ecke {Lindenstraße/Goethestraße}",
    "an der Kreuzung {Bahnhofstraße und Ringweg}",
    "wohnt {Auf dem Brink 12}, 2. OG",
    "gemeldet {An den Eichen 4 b}",
    "{Postfach 10 22 33}",
    "{Straße des 17. Juni 135}",
    "habite {résidence du Parc, bâtiment B, appartement 12}",
    "au croisement de {la rue Pasteur et de l'avenue Foch}",
    "demeurant {12 bis, Grande Rue}",
    "abita in {contrada Fontanelle 14}",
    "all'incrocio tra {via Po e corso Vercelli}",
    "all'angolo di {via Larga con via Verziere}",
    "{frazione Borgo Nuovo 7}",
    "en el cruce de {Alcalá con Goya}",
    "esquina de {calle Mayor con avenida del Puerto}",
    "{apartado de correos 311}",
    "{urbanización Los Pinos, casa 14}",
    "{finca El Romeral}",
    "Seen {Tuesday the 14th} and well.",
    "surgery on {Monday 12}",
    "on {the 3rd Tuesday of May}",
    "on the {second Thursday in October}",
    "{first of November} last year",
    "{the nineteenth of August} ",
    "{March the second}",
    "{May third}",
    "{June twenty-first, 2019}",
    "since {Labor Day}",
    "around {Thanksgiving} he fell",
    "on {St Patrick's Day}",
    "from {March 28 to April 4}",
    "from {28 March - 4 April 2021}",
    "{30/4-2/5}",
    "seen on {14.III.2020}",
    "on {3/IX/21}",
    "between {12 and 15 June}",
    "{Dec 30 through Jan 2}",
    "the week of {July 8}",
    "on {the last Friday of June}",
    "{Ash Wednesday}",
    "am {ersten Dienstag im März}",
    "am {zweiten Advent}",
    "{Dienstag, den 14.}",
    "am {fünften März}",
    "seit {Rosenmontag}",
    "vom {28. April bis 3. Mai}",
    "am {3.XI.2018}",
    "zu {Pfingsten}",
    "{Montag 12.}",
    "am {17.} wiedervorstellen",
    "Termin {14/3}",
    "le {vingt-deux juin}",
    "{lundi 14}",
    "du {28 avril au 3 mai}",
    "le {14-III-2020}",
    "à {la Toussaint}",
    "le {lundi de Pâques}",
    "le {premier janvier}",
    "il {ventidue giugno}",
    "{lunedì 14}",
    "dal {28 aprile al 3 maggio}",
    "a {Ferragosto}",
    "il giorno di {Santo Stefano}",
    "el {veintidós de junio}",
    "{lunes 14}",
    "del {28 de abril al 3 de mayo}",
    "el {Viernes Santo}",
    "en {Nochebuena}",
    "{primero de mayo}",
    "el día de {Reyes}",
    "She is {ninety-three years old}.",
    "a {ninety-two-year-old} widow",
    "turned {one hundred} last week",
    "aged {ninety-one}",
    "in her {mid-nineties}",
    "{zweiundneunzig Jahre alt}",
    "die {dreiundneunzigjährige} Patientin",
    "{quatre-vingt-douze ans}",
    "{nonagenaria}",
    "{novantadue anni}",
    "{noventa y tres años}",
    "{centenaire}",
    "a {94-year-old} man",
    "{95 y/o}",
    "he is {101}",
    "{nonagenarian}",
    "{nonagénaire}",
    "see {mysite.org/patients/rose} for photos",
    "blog at {rosequindlen.com}",
    "look at {facebook.com/rose.quindlen}",
    "posted on {rosewrites.blog}",
    "files at {quindlen-family.net}",
    "scan saved as {QUINDLEN_Rose_MRI.pdf}",
    r"letter {C:\Users\rbrown\letter.docx}",
    "stored in {/home/rbrown/scan.pdf}",
    r"see {\\server01\patients\brown}",
    "{instagram.com/rq_54}",
    "auf {www.praxis-huber.de}",
    "works at {Brightwater}",
    "driver for {Lindqvist Haulage}",
    "is a cook at {Delgado's}",
    "He is employed by {Tamarack}",
    "nurse with {Helios}",
    "works as a welder for {Norcross Steel}",
    "laid off from {Kestrel Foods}",
    "arbeitet bei {Hagemeyer}",
    "Fahrer für {Lindemann}",
    "angestellt bei der {Novatek}",
    "travaille chez {Marquet}",
    "chauffeur pour {Transdev}",
    "caissière chez {Leclerc}",
    "lavora da {Bertoli}",
    "autista per {Gavazzi}",
    "impiegato presso {Italmec}",
    "trabaja en {Ferrovial}",
    "conductor de {Alsa}",
    "empleada de {Mercadona}",
    "{JQ} called again. Jane Quindlen was in.",
    "Rose Quindlen came. {RQ} wants a call.",
    "Rose Quindlen came. {R.Q.} wants a call.",
    "Rose Quindlen came. {R. Q.} wants a call.",
    "Ref {TR-20931} attached",
    "Lab order {QX/55102}",
]


@pytest.mark.parametrize("marked", FOUND)
def test_it_is_found_by_its_form(marked: str) -> None:
    start, end = marked.index("{"), marked.rindex("}") - 1
    text = marked.replace("{", "").replace("}", "")
    spans = find_spans([text])[0]
    covered = {place for span in spans for place in range(span.start, span.end)}
    assert not [place for place in range(start, end) if text[place].isalnum() and place not in covered], spans


@pytest.mark.parametrize(
    "text",
    [
        "Diverticulitis, Hinchey Ib, managed without surgery.",
        "Skin tear, Payne-Martin cat 2, dressed.",
        "Bristol stool type 6 three times.",
        "She has Takotsubo cardiomyopathy.",
        "Barrett's without dysplasia was seen.",
        "Il paziente ha eseguito la scala Corah con punteggio 17.",
        "In der Schulung wird die Nash-Kurve gezeigt, sie ist bekannt.",
        "Pain was 4/10 and strength 5/5, ratio 1/2.",
        "BP 132/84 and pH 7.08. Kussmaul breathing.",
        "The Night shift reported nothing.",
        "Rare PVCs on telemetry.",
    ],
)
def test_it_stays(text: str) -> None:
    assert find_spans([text])[0] == []


def test_a_code_of_a_series_is_found_by_its_neighbours() -> None:
    notes = ["We have TR-2093 at last.", "Then TR-1187 again.", "But TR-5002 was late.", "Nothing here."]
    alone = find_spans(notes[:1])[0]
    together = find_spans(notes)
    assert alone == []
    assert [[note[span.start : span.end] for span in spans] for note, spans in zip(notes, together, strict=True)] == [
        ["TR-2093"], ["TR-1187"], ["TR-5002"], []
    ]  # fmt: skip


def test_digits_alone_are_of_a_series_only_where_a_label_says_so_again_and_again() -> None:
    plain = ["It cost 52210 in all.", "It cost 61129 in all.", "It cost 70031 in all."]
    labelled = ["chart 52210", "chart 61129", "chart 70031"]
    assert recurring_shapes(plain) == frozenset()
    assert recurring_shapes(labelled) == {"00000"}
    assert recurring_shapes(["12.30 and 1990-1995"] * 5 + ["14.45, 2001-2004", "9.15, 1980-1984"]) == frozenset()


def test_the_same_text_twice_is_no_neighbour_of_itself() -> None:
    assert recurring_shapes(["TR-2093, TR-1187 and TR-5002"] * 9) == frozenset()


def test_initials_need_the_name_they_are_of() -> None:
    text = "Rose Quindlen came. RQ and ZQ called. The IV is out."
    spans = joined(Note(text), [Span(0, 13, "name", 1.0, "")])
    assert [text[span.start : span.end] for span in spans] == ["RQ"]


def test_two_dates_in_two_sentences_stay_two() -> None:
    text = "Seen March 3. April 4 is next."
    spans = joined(Note(text), [Span(5, 12, "date", 1.0, ""), Span(14, 21, "date", 1.0, "")])
    assert spans == []


@pytest.mark.parametrize(
    ("marked", "kind"),
    [
        ("She lives at {The Old Manse, Kirkton of Airlie}. Follow up.", "address"),
        ("Aged 17, of {Moss Side}. Known to us.", "address"),
        ("He waited behind {the Odeon on Wellgate}, cold.", "address"),
        ("The depot on {Tannery Quay}. Off since May.", "address"),
        ("At home in {12/3 Buccleuch Close}. His son came.", "address"),
        ("Contractor {Nimbus Heating} will call.", "organisation"),
        ("The boat is owned by {Chaleur Fisheries}. He left.", "organisation"),
        ("His solicitor is of {Dell & Hartnoll}.", "organisation"),
        ("Our ref: {JB/kt/44719}. Thank you.", "other_number"),
        ("Exhibit {VC/01} was seized.", "other_number"),
        ("Reservation {ZQ7H2M} was cancelled.", "account_number"),
        ("Aadhaar {2341 2341 2346} seen.", "other_number"),
        ("Stay {10/2/24-10/4/24} was denied.", "date"),
        ("It was promised {Mon the 19th}. She waits.", "date"),
        ("Implanted {23 i 2020}. Well.", "date"),
        ("The voucher was redeemed {3/9} by her.", "date"),
        ("Seen 20.11. and {27.11.} at home.", "date"),
        ("Koro is {91}. He is well.", "age_over_89"),
    ],
)
def test_a_phrase_or_a_form_tells_it(marked: str, kind: str) -> None:
    start, end = marked.index("{"), marked.rindex("}") - 1
    text = marked.replace("{", "").replace("}", "")
    covering = [span for span in find_spans([text])[0] if span.kind == kind and span.start <= start]
    assert any(span.end >= len(text[:end].rstrip(".")) for span in covering), find_spans([text])[0]


@pytest.mark.parametrize(
    "text",
    [
        "Class is Child Pugh C on admission.",
        "Smear: Ziehl Neelsen 2+ again.",
        "She felt Braxton Hicks today.",
        "Goldmann perimetry shows a defect.",
        "He was moved to Ward 4 after tea.",
        "The chest was clear. X-ray was not needed.",
        "The scan is old. Findings: no change.",
        "Seen by Speech & Language today.",
        "Power was graded 4/5 and pain scored 3/10.",
    ],
)
def test_what_only_looks_like_one_stays(text: str) -> None:
    assert find_spans([text])[0] == []
