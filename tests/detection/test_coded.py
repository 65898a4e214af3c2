"""Coded tables: headers of published sources, labels, labels of codes, and code books."""

import numpy as np
import polars as pl
import pytest

from shoal.detection.codebooks import read_codebook, read_ddi
from shoal.detection.profile import profile
from shoal.errors import InputError
from shoal.identifiers import DECIDED, ROLE_OF_KIND, ColumnView, find_kinds
from shoal.identifiers.labels import kind_of_label
from shoal.identifiers.sources import listed, sources
from shoal.storage.formats.labels import ColumnLabels

PUMS = {
    "SERIALNO": [f"2019HU{number:07d}" for number in range(40)],
    "AGEP": [number % 90 for number in range(40)],
    "SCHL": [number % 24 for number in range(40)],
    "RAC1P": [number % 9 + 1 for number in range(40)],
    "DREM": [1, 2] * 20,
    "WAGP": [number * 1_117 % 50_000 for number in range(40)],
    "PWGTP": [number * 37 % 300 + 1 for number in range(40)],
}


def roles(columns: dict[str, object], **settings: object) -> dict[str, str]:
    found = profile(pl.DataFrame(columns), **settings)  # type: ignore[arg-type]
    return {column.name: column.role if column.confidence >= DECIDED else "?" for column in found.columns}


def test_headers_of_a_source_give_roles_and_reasons() -> None:
    assert roles(PUMS) == {
        "SERIALNO": "identifier",
        "AGEP": "quasi-identifier",
        "SCHL": "quasi-identifier",
        "RAC1P": "quasi-identifier",
        "DREM": "sensitive",
        "WAGP": "sensitive",
        "PWGTP": "other",
    }
    reason = next(column for column in profile(pl.DataFrame(PUMS)).columns if column.name == "DREM").reasons[0]
    assert "American Community Survey" in reason
    assert "7 columns" in reason


def test_a_lone_name_of_a_source_decides_nothing() -> None:
    shop = {"DREM": [1, 2] * 20, "price": list(range(40)), "colour": ["red", "blue"] * 20, "stock": [1, 2, 3, 4] * 10}
    assert roles(shop)["DREM"] == "?"


def test_a_wide_table_is_not_of_a_source_for_two_of_its_names() -> None:
    names = ["AGEP", "SCHL", *[f"measure_{number}" for number in range(150)]]
    assert listed(names)["SCHL"].strength < DECIDED


def test_values_that_contradict_a_source_are_believed() -> None:
    found = profile(pl.DataFrame({**PUMS, "SEX": [f"person {number}" for number in range(40)]}))
    assert next(column for column in found.columns if column.name == "SEX").kind != "sex"


@pytest.mark.parametrize(
    "headers",
    [
        {"D_INTERVIEW": "unique-code", "B_COUNTRY": "geography", "Q260": "sex", "Q262": "age", "Q47": "health"},
        {"xwaveid": "unique-code", "ahgsex": "sex", "amrcurr": "marital-status", "agh1": "health", "atifefp": "income"},
        {"HHIDPN": "unique-code", "RAGENDER": "sex", "R12AGEY_B": "age", "R12SHLT": "health", "R12BMI": "health"},
    ],
)
def test_headers_of_panels(headers: dict[str, str]) -> None:
    found = listed(headers)
    assert {name: one.kind for name, one in found.items()} == headers
    assert all(one.strength > 0.6 for one in found.values())


def test_words_of_everyday_language_are_no_source() -> None:
    assert all(one.strength < 0.5 for one in listed(["price", "bed", "bath", "heart", "work", "street"]).values())


def test_every_source_says_where_it_comes_from_and_names_known_kinds() -> None:
    assert len(sources()) >= 20
    for source in sources():
        assert source.title
        assert set(source.names.values()) <= set(ROLE_OF_KIND), source.title
        assert {kind for _, kind in source.patterns} <= set(ROLE_OF_KIND), source.title


@pytest.mark.parametrize(
    ("label", "kind"),
    [
        ("Highest level of education", "education"),
        ("Staatsangehörigkeit", "nationality"),
        ("Have you ever been told you had diabetes?", "health"),
        ("État matrimonial légal", "marital-status"),
        ("Reddito familiare netto", "income"),
        ("¿Pertenece a un sindicato?", "political-opinion"),
        ("Age when first had sexual intercourse", "sexual-orientation"),
        ("Body weight in kg", "health"),
        ("Household weight", "survey-weight"),
        ("Interviewer's age", "survey-process"),
        ("Age at interview", "age"),
        ("Serial number of the household", "unique-code"),
        ("Colour of the box", None),
        ("", None),
    ],
)
def test_kinds_of_labels(label: str, kind: str | None) -> None:
    said = kind_of_label(label)
    assert (said and said[0]) == kind


def test_labels_of_codes_say_what_codes_are() -> None:
    labels = {"1": "Married", "2": "Widowed", "3": "Divorced", "4": "Never married"}
    view = ColumnView("v7", pl.Series([1.0, 2.0, 3.0, 4.0]), np.array([5, 5, 5, 5]), 20, value_labels=labels)
    best = find_kinds(view)[0]
    assert (best.kind, best.confidence >= DECIDED) == ("marital-status", True)
    assert "Married" not in best.reason


def test_labels_of_codes_never_make_an_identifier() -> None:
    labels = {str(number): f"a longer answer with many words of its own {number}" for number in range(30)}
    view = ColumnView("v7", pl.Series(list(range(30))), np.ones(30, dtype=np.int64), 30, value_labels=labels)
    assert all(ROLE_OF_KIND[found.kind] != "identifier" for found in find_kinds(view))


def test_a_codebook_of_a_csv(tmp_path) -> None:  # type: ignore[no-untyped-def]
    book = tmp_path / "book.csv"
    book.write_text(
        "Variable;Variable label;Value labels\nq1;Sex of respondent;1=male|2=female\nq2;Current religion;\n"
        "w;Design weight;\n",
        encoding="utf-8",
    )
    table = {"q1": [1, 2] * 15, "q2": [1, 2, 3] * 10, "w": [0.5, 1.5] * 15, "q3": [1, 2] * 15}
    assert roles(table, codebook=book) == {"q1": "quasi-identifier", "q2": "sensitive", "w": "other", "q3": "?"}
    assert read_codebook(book)["q1"] == ColumnLabels("Sex of respondent", {"1": "male", "2": "female"})
    assert roles(table, codebook=read_codebook(book)) == roles(table, codebook=str(book))


DDI2 = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE codeBook SYSTEM "https://example.org/Version2-1.dtd">
<codeBook xmlns="ddi:codebook:2_5"><dataDscr>
<var ID="V1" name="Q1"><labl>Q1</labl><qstn><qstnLit>Are you a member of a trade union?</qstnLit></qstn>
<catgry><catValu>1</catValu><labl>Yes</labl></catgry><catgry><catValu>2</catValu><labl>No</labl></catgry></var>
<var ID="V2" name="Q2"><labl>Nivel de estudios</labl></var></dataDscr></codeBook>"""
DDI3 = """<d:DDIInstance xmlns:d="ddi:instance:3_2" xmlns:l="ddi:logicalproduct:3_2" xmlns:r="ddi:reusable:3_2">
<l:Category><r:ID>c1</r:ID><r:Label><r:Content>Male</r:Content></r:Label></l:Category>
<l:Category><r:ID>c2</r:ID><r:Label><r:Content>Female</r:Content></r:Label></l:Category>
<l:CodeList><r:ID>list</r:ID>
<l:Code><r:CategoryReference><r:ID>c1</r:ID></r:CategoryReference><r:Value>1</r:Value></l:Code>
<l:Code><r:CategoryReference><r:ID>c2</r:ID></r:CategoryReference><r:Value>2</r:Value></l:Code></l:CodeList>
<l:Variable><r:ID>v</r:ID><l:VariableName><r:String>Q9</r:String></l:VariableName>
<l:VariableRepresentation><r:CodeRepresentation><r:CodeListReference><r:ID>list</r:ID></r:CodeListReference>
</r:CodeRepresentation></l:VariableRepresentation></l:Variable></d:DDIInstance>"""


def test_a_codebook_of_ddi() -> None:
    found = read_ddi(DDI2.encode(), "book.xml")
    assert found["Q1"] == ColumnLabels("Are you a member of a trade union?", {"1": "Yes", "2": "No"})
    assert found["Q2"].label == "Nivel de estudios"
    assert read_ddi(DDI3.encode(), "book.xml")["Q9"].values == {"1": "Male", "2": "Female"}
    table = {"Q9": [1, 2] * 15, "Q1": [1, 2] * 15}
    books = {**found, **read_ddi(DDI3.encode(), "book.xml")}
    assert roles(table, codebook=books) == {"Q9": "quasi-identifier", "Q1": "sensitive"}


@pytest.mark.parametrize(
    "text",
    [
        '<!DOCTYPE a [<!ENTITY x "xxxxxxxxxx"><!ENTITY y "&x;&x;&x;&x;">]><codeBook><var name="a"/>&y;</codeBook>',
        '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/hostname">]><codeBook><var name="&x;"/></codeBook>',
        "<codeBook><var>",
        "<codeBook/>",
        "<a>" * 500,
        "<\udcff".encode("utf-8", "surrogateescape").decode("latin-1"),
    ],
)
def test_bad_ddi_is_one_error(text: str) -> None:
    with pytest.raises(InputError):
        read_ddi(text.encode("utf-8"), "book.xml")


@pytest.mark.parametrize("text", ["", "a,b\n1,2\n", "name,label\n", "\x00\x01\x02"])
def test_a_bad_codebook_is_one_error(text: str, tmp_path) -> None:  # type: ignore[no-untyped-def]
    book = tmp_path / "book.csv"
    book.write_text(text, encoding="utf-8")
    with pytest.raises(InputError):
        read_codebook(book)
    with pytest.raises(InputError):
        read_codebook(tmp_path / "none.csv")


def test_labels_of_an_spss_file(tmp_path) -> None:  # type: ignore[no-untyped-def]
    pyreadstat = pytest.importorskip("pyreadstat")
    file = tmp_path / "book.sav"
    pyreadstat.write_sav(
        pl.DataFrame({"q1": [1.0, 2.0]}),
        str(file),
        column_labels={"q1": "Have you ever been convicted?"},
        variable_value_labels={"q1": {1.0: "yes", 2.0: "no"}},
    )
    assert read_codebook(file)["q1"] == ColumnLabels("Have you ever been convicted?", {1: "yes", 2: "no"})
    assert roles({"q1": [1, 2] * 15}, codebook=file) == {"q1": "sensitive"}
    own = profile(file).columns[0]  # its own labels, without a code book
    assert (own.role, own.kind) == ("sensitive", "criminal-record")
    damaged = tmp_path / "damaged.sav"
    damaged.write_bytes(file.read_bytes()[:60])
    with pytest.raises(InputError):
        read_codebook(damaged)


def test_codes_of_records_stay_identifiers_whatever_their_header_speaks_of() -> None:
    codes = [f"X{number * 7919 % 100_000:05d}" for number in range(60)]
    numbers = [number * 7919 % 100_000 for number in range(60)]
    for header in ("prison", "health_ref", "custody", "medical", "school"):
        assert roles({header: codes}) == {header: "identifier"}
    for header in ("health_ref", "custody", "benefit_key", "school"):
        assert roles({header: numbers}) == {header: "identifier"}
