"""Surrogates: consistent, collision-free, never the original, the same for the same key and another for another."""

from __future__ import annotations

import re
from datetime import date

import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.methods.scrubbing.surrogates import PersonSurrogates, given_names
from shoal.storage.months import months_of
from shoal.text.base import Span
from shoal.text.known_values import folded

KEY, OTHER = bytes(range(32)), bytes(range(1, 33))


def person(secret: bytes = KEY, days: int = 40) -> PersonSurrogates:
    return PersonSurrogates(secret, b"p-1", days, "dmy")


def replaced(made: PersonSurrogates, *texts: tuple[str, str]) -> list[str]:
    spans = [(text, Span(0, len(text), kind, 1.0, "")) for text, kind in texts]  # type: ignore[arg-type]
    for text, span in spans:
        made.see(text, [span])
    return [made.of(text, span) for text, span in spans]


def test_forms_of_one_name_agree() -> None:
    whole, initial, turned, capitals, inflected, dotted, title = replaced(
        person(),
        ("Rose Quindlen", "name"),
        ("R. Quindlen", "name"),
        ("Quindlen, Rose", "name"),
        ("QUINDLEN", "name"),
        ("Quindlens", "name"),
        ("R.Q.", "name"),
        ("Mrs Quindlen", "name"),
    )
    given_name, surname = whole.split()
    assert initial == f"{given_name[0]}. {surname}"
    assert turned == f"{surname}, {given_name}"
    assert capitals == surname.upper()
    assert inflected == surname + "s"
    assert dotted == f"{given_name[0]}.{surname[0]}."
    assert title == f"Mrs {surname}"
    assert given_name[0] != "R"
    assert surname[0] != "Q"


def test_gender_is_kept_where_it_is_known() -> None:
    from shoal.methods.scrubbing.surrogates import gender_of

    for text, gender in (("Mary Quindlen", "f"), ("Robert Quindlen", "m")):
        assert gender_of(folded(replaced(person(), (text, "name"))[0].split()[0])) == gender


def test_umlauts_and_their_spellings_are_one_name() -> None:
    first, second = replaced(person(), ("Müller", "name"), ("MUELLER", "name"))
    assert first.upper() == second


def test_numbers_keep_their_shape_and_phones_their_end() -> None:
    long, short, dashed = replaced(
        person(), ("+1 (559) 555-0182", "phone"), ("559.555.0182", "phone"), ("AB-123 456", "record_number")
    )
    assert re.fullmatch(r"\+\d \(\d{3}\) \d{3}-\d{4}", long)
    assert re.sub(r"\D", "", long).endswith(re.sub(r"\D", "", short))
    assert re.fullmatch(r"[A-Z]{2}-\d{3} \d{3}", dashed)


def test_dates_move_by_the_days_of_shift_dates() -> None:
    frame = pl.DataFrame({"who": ["a", "b"], "on": ["2012-03-04", "2012-03-04"]})
    shifted = shoal.shift_dates(frame, person="who", columns=["on"], key=KEY).frame["on"].to_list()
    notes = frame.select("who", note=pl.lit("Seen on 4 March 2012, 04.03.2012."))
    made = shoal.scrub(notes, text="note", person="who", replace="surrogate", key=KEY, date_order="dmy")
    for text, expected in zip(made.frame["note"], shifted, strict=True):
        day = date.fromisoformat(expected)
        assert f"{day.day} {day:%B %Y}" in text
        assert f"{day:%d.%m.%Y}" in text


def test_a_date_with_two_readings_becomes_a_tag() -> None:
    made = PersonSurrogates(KEY, b"p", 40)
    assert replaced(made, ("3/4/2012", "date")) == ["[DATE]"]


names = st.text("abcdefghijklmnoprstuvwz", min_size=4, max_size=9).map(str.capitalize)


@settings(max_examples=60, deadline=None)
@given(st.lists(names, min_size=1, max_size=25, unique_by=str.lower), st.lists(st.integers(100, 10**9), unique=True))
def test_no_two_become_one_and_none_stays(words: list[str], numbers: list[int]) -> None:
    asked = [(word, "name") for word in words] + [(str(number), "record_number") for number in numbers]
    first, again = replaced(person(), *asked), replaced(person(), *reversed(asked))[::-1]
    shown = [text for text in first if not text.startswith("[")]
    assert len(set(map(str.lower, shown))) == len(shown)
    originals = {text.lower() for text, _ in asked}
    assert not originals & {text.lower() for text in shown}
    assert len(shown) >= 0.9 * len(first)
    assert np.mean([one == other for one, other in zip(first, again, strict=True)]) > 0.5


def test_another_key_or_person_gives_others() -> None:
    asked = [(f"Quindlen{letter}", "name") for letter in "abcdefgh"] + [("00123456", "record_number")]
    mine, theirs = replaced(person(), *asked), replaced(person(OTHER), *asked)
    assert sum(one == other for one, other in zip(mine, theirs, strict=True)) <= 1
    assert mine == replaced(person(), *asked)


def test_reprs_show_nothing() -> None:
    made = person()
    replaced(made, ("Quindlen", "name"))
    assert "uindlen" not in repr(made)
    assert repr(KEY)[:20] not in repr(made)


def _notes(*notes: str) -> list[str]:
    table = {"who": [1] * len(notes), "note": list(notes)}
    return list(shoal.scrub(table, text="note", person="who", replace="surrogate", key=bytes(range(32))).frame["note"])


def test_a_number_is_one_whatever_label_stands_before_it() -> None:
    made = _notes("MRN 4471093", "MRN4471093", "MRN-4471093", "mrn: 447-1093")
    assert {re.sub(r"\D", "", note) for note in made} == {re.sub(r"\D", "", made[0])}
    assert all(note.lower().startswith("mrn") for note in made)
    assert "4471093" not in made[0]
    mixed = replaced(person(), ("+1 216 555 0148", "phone"), ("216-555-0148", "record_number"))
    assert re.sub(r"\D", "", mixed[0]).endswith(re.sub(r"\D", "", mixed[1]))


def test_a_weekday_behind_a_date_moves_with_it() -> None:
    note = _notes("vista el 5 de mayo de 2019 (domingo)")[0]
    day, month, year, weekday = re.findall(r"el (\d+) de (\w+) de (\d+) \((\S+)\)", note)[0]
    moved_to = date(int(year), months_of(month)[0][1], int(day))
    assert weekday == ["lunes", "martes", "miércoles", "jueves", "viernes", "sábado", "domingo"][moved_to.weekday()]


def test_a_name_behind_a_word_of_kin_is_a_given_name_of_that_gender() -> None:
    made = _notes("wife Ivy here", "hijo Kofi aqui", "Mother Marisol was in")
    women, men = ({name for names in given_names(gender).values() for name in names} for gender in ("f", "m"))
    assert made[0].split()[1] in women
    assert made[1].split()[1] in men
    assert made[2].split()[1] in women
