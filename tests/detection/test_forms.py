"""One form per identifier: the same value as a whole cell, inside a cell and in a note."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.identifiers import catalogue
from shoal.identifiers.form import Form, compiled, luhn
from shoal.identifiers.inside import FORMS, inside

VALUES = {
    "EMAIL": ["ada.l@example.org", "o'dowd+x@mail.co.uk", "élodie@exämple.fr"],
    "EMAIL_AT": ["ada (at) example.org", "ada[at]example[dot]org"],
    "EMAIL_IN_WORDS": ["ada at example dot org"],
    "URL": ["https://example.org/a?b=1", "www.example.org", "hxxp://bad.example"],
    "DOMAIN": ["example.org", "shop.example.de/cart"],
    "HANDLE": ["@ada_l"],
    "IPV4": ["10.44.3.17"],
    "IPV6": ["fe80::1", "2001:db8:0:0:0:0:0:1", "2001:db8::"],
    "MAC": ["33:47:09:8d:e5:2b", "33-47-09-8D-E5-2B", "3347.098d.e52b"],
    "AMERICAN_PHONE": ["(559) 555-0182", "559-555-0182", "+1 559 555 0182"],
    "SSN": ["219-09-9999", "219.09.9999"],
    "MASKED_SSN": ["xxx-xx-1234", "***-**-1234"],
    "IBAN": ["DE44 5001 0517 5407 3249 31", "NO9386011117947", "de44500105175407324931"],
    "CARD": ["4111 1111 1111 1111", "378282246310005"],
    "CARD_GROUPS": ["1234 5678 9012 3456"],
    "VIN": ["1M8GDM9AXKP042788", "1m8gdm9axkp042788"],
    "IMEI": ["490154203237518", "49-015420-323751-8"],
    "UUID": ["d9304871-dca7-42bc-a120-ea766bc713ab"],
    "DIGEST": ["d41d8cd98f00b204e9800998ecf8427e"],
}
CASES = [(name, value) for name, values in VALUES.items() for value in values]
LIKE = [
    ("IPV4", "1.2.3.4.5"),
    ("IPV4", "10.44.3.300"),
    ("IPV6", "24:00:00"),
    ("IPV6", "33:47:09:8d:e5:2b"),
    ("IBAN", "is12 with that more"),
    ("IBAN", "d9304871-dca7-42bc-a120-ea766bc713ab"),
    ("CARD", "4111 1111 1111 1112"),
    ("CARD", "490154203237518"),
    ("IMEI", "490154203237519"),
    ("VIN", "20120304101530123"),
    ("VIN", "PPHXTNWLKSRTZPPHX"),
    ("SSN", "219-09-99991"),
    ("DOMAIN", "report.final"),
    ("HANDLE", "ada@example"),
]


def form_of(name: str) -> Form:
    form = getattr(catalogue, name)
    assert isinstance(form, Form)
    return form


def stands(form: Form, text: str) -> bool:
    match = compiled(form.note).search(text)
    return match is not None and (form.check is None or form.check(match[0]))


def test_every_form_that_is_looked_for_inside_cells_has_values_here() -> None:
    assert {id(form) for _, form in FORMS} == {id(form_of(name)) for name in VALUES}


@pytest.mark.parametrize(("name", "value"), CASES)
def test_a_value_is_found_as_a_cell_inside_a_cell_and_in_a_note(name: str, value: str) -> None:
    form = form_of(name)
    assert compiled(form.cell).search(value)
    for text in (value, f"it is {value}", f"it is {value}.", f"({value})", f"{value}, and then", f"x: {value}\nnext"):
        assert form.inside(pl.Series([text])).tolist() == [True], text
        assert stands(form, text), text


@pytest.mark.parametrize(("name", "text"), LIKE)
def test_what_only_looks_like_it_is_not_found(name: str, text: str) -> None:
    form = form_of(name)
    assert form.inside(pl.Series([text, f"so {text} it"])).tolist() == [False, False]
    assert not stands(form, f"so {text} it")


@given(
    st.lists(st.sampled_from([value for _, value in CASES if value.isascii()]), min_size=1, max_size=3),
    st.text(" .,;x1-/@:", max_size=4),
)
def test_both_engines_agree_inside_and_in_notes(values: list[str], between: str) -> None:
    text = between.join(["", *values, ""])
    for name in VALUES:
        form = form_of(name)
        assert form.inside(pl.Series([text])).tolist() == [any_stands(form, text)], (name, text)


def any_stands(form: Form, text: str) -> bool:
    found = (match[0] for match in compiled(form.note).finditer(text))
    return any(form.check is None or form.check(value) for value in found)


@given(st.lists(st.text("0123456789", min_size=1, max_size=20), min_size=1))
def test_luhn_of_many_is_luhn_of_each(digits: list[str]) -> None:
    from stdnum import luhn as theirs

    assert luhn(pl.Series(digits)).tolist() == [theirs.is_valid(text) for text in digits]


def test_a_kind_alone_is_looked_for_where_it_is_asked() -> None:
    texts = pl.Series(["call 559-555-0182 or a@b.org"])
    assert set(inside(texts)) == {"phone", "email"}
    assert set(inside(texts, frozenset(["email"]))) == {"email"}
