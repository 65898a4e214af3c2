"""What the table knows, found in notes: hand cases in every form, and what must stay."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.text.known import find_known, known_sets, misspelt, within_one_edit
from shoal.text.known_values import KnownSet, KnownValue, parts_of
from shoal.text.plain_search import PlainSearch
from shoal.text.tags import by_tag, replaced
from shoal.text.written_dates import dates_in, moved, order_of


def found(values: list[str], text: str, **kinds: str) -> list[str]:
    known = known_sets([[KnownValue(value, kinds.get("kind")) for value in values]], [text])[0]  # type: ignore[arg-type]
    return [text[span.start : span.end] for span in find_known(text, known)]


@pytest.mark.parametrize(
    ("values", "text", "expected"),
    [
        (["Rose Brown"], "ROSE BROWN; Brown, Rose; rose brown", ["ROSE BROWN", "Brown, Rose", "rose brown"]),
        (["Rose Brown"], "R. Brown and Brown, R. and R.B. said", ["R. Brown", "Brown, R.", "R.B."]),
        (["Rose Brown"], "Brown's cough, brown sputum, a rose", ["Brown"]),
        (["Brown, Rose Mary"], "seen Rose M. Brown today", ["Rose M. Brown"]),
        (["Jürgen Müller"], "Herr Mueller; MULLER; Müllers; Mu\u0308ller",
         ["Mueller", "MULLER", "Müllers", "Mu\u0308ller"]),
        (["Okonkwo"], "Okonkow; okonkwo; Okonkwos; Okonkwo's", ["Okonkow", "okonkwo", "Okonkwos", "Okonkwo"]),
        (["Ro\u200bse Quindlen"], "rose QUINDLEN", ["rose QUINDLEN"]),
        (["Maria de la Cruz"], "Sra. Cruz; Maria de la Cruz", ["Cruz", "Maria de la Cruz"]),
        (["Sean O'Neill"], "Mr O'Neill; ONEILL; S. O\u2019Neill", ["O'Neill", "ONEILL", "S. O\u2019Neill"]),
        (["Will May"], "Will return in May 2020. Dr May. Will May came.", ["May", "Will May"]),
        (["Bo Li"], "Li was here; the li and bo", ["Li"]),
        (["王小明"], "患者王小明来院", ["王小明"]),
        (["1954-03-17"], "17 March 1954; 17.3.54; 3/17/1954; 17 mars",
         ["17 March 1954", "17.3.54", "3/17/1954", "17 mars"]),
        (["17.03.1954"], "March 17th, 1954; 17 de marzo de 1954; 19540317; 18 March 1954",
         ["March 17th, 1954", "17 de marzo de 1954", "19540317"]),
        (["+49 30 1234567"], "030/1234567; 0049 30 123 45 67; +49 (0)30 1234567",
         ["030/1234567", "0049 30 123 45 67", "+49 (0)30 1234567"]),
        (["(559) 555-0182"], "559.555.0182; +1 559 555 0182; 559 555 0183", ["559.555.0182", "+1 559 555 0182"]),
        (["00123456"], "MRN 001-23456; mrn00123456; 9900123456", ["001-23456", "mrn00123456"]),
        (["AB-123 456"], "ab123456; AB 123456; AB 123 457", ["ab123456", "AB 123456"]),
        (["\u0664\u0665\u0666\u0667\u0668"], "number 45678", ["45678"]),
        (["Rosalind Quindlen"], "Quindlen2; QUINDLEN1954 and 7quindlen; Quindlenville2",
         ["Quindlen2", "QUINDLEN1954", "7quindlen"]),
        (["Hope, Mark"], "Mark doing well. Hope came; no hope, a mark, Marked", ["Mark", "Hope"]),
        (["Ann Li"], "saw ann.li there", ["ann.li"]),
        (["Will May"], "May2020 and Will2", []),
        (["12 Rose Street"], "at 12 ROSE ST., on Rose Street; 14 Rose", ["12 ROSE ST", "Rose Street"]),
        (["rose.brown@mail.org"], "write Rose.Brown@MAIL.org", ["Rose.Brown@MAIL.org"]),
    ],
)  # fmt: skip
def test_values_are_found_in_every_form(values: list[str], text: str, expected: list[str]) -> None:
    assert found(values, text) == expected


@pytest.mark.parametrize("value", ["7", "45", "123", "R", "x."])
def test_short_values_are_not_looked_for_and_counted(value: str) -> None:
    known = KnownSet([KnownValue(value)])
    assert known.skipped == 1
    assert find_known(f"room {value} at 45 123 R. x", known) == []


def test_reprs_show_nothing() -> None:
    value = KnownValue("Zqxsecret")
    assert "Zqxsecret" not in repr(value) + repr(KnownSet([value]))


@given(
    st.text("abcdefghijklmnopqrstuvwxyz", min_size=6, max_size=12),
    st.integers(0, 20),
    st.sampled_from(["drop", "add", "change", "swap"]),
)
def test_one_edit_is_one_edit(word: str, place: int, edit: str) -> None:
    place %= len(word) - 1
    changed = {
        "drop": word[:place] + word[place + 1 :],
        "add": word[:place] + "q" + word[place:],
        "change": word[:place] + "q" + word[place + 1 :],
        "swap": word[:place] + word[place + 1] + word[place] + word[place + 2 :],
    }[edit]
    assert within_one_edit(word, changed)
    assert within_one_edit(changed, word)
    assert not within_one_edit(word, changed + "xyz")


def test_frequent_words_and_dictionary_words_are_not_misspellings() -> None:
    assert misspelt(["martinek"], {"martinak": 500}, 1000) == {}
    assert misspelt(["chesterx"], {"chester": 1}, 1000) in ({}, {"chesterx": ["chester"]})
    assert misspelt(["brown"], {"browns": 1}, 10) == {}


@given(st.dates(date(1900, 1, 1), date(2099, 12, 31)), st.integers(-400, 400))
def test_every_written_form_is_read_and_moved_by_as_many_days(day: date, days: int) -> None:
    forms = ["%Y-%m-%d", "%d.%m.%Y", "%d %B %Y", "%B %d, %Y", "%Y%m%d"]
    for form in forms:
        text = day.strftime(form)
        written = list(dates_in(text))
        assert len(written) == 1, form
        assert written[0].means(frozenset([day])), form
        again = moved(text, days, "dmy", 1930)
        assert again is not None
        assert next(dates_in(again)).means(frozenset([day + timedelta(days)]))


@pytest.mark.parametrize(
    ("text", "days", "expected"),
    [
        ("Sunday, 4 March 2012", 30, "Tuesday, 3 April 2012"),
        ("3. März 1954", -3, "28. Februar 1954"),
        ("1er mars 1954", 9, "10 mars 1954"),
        ("24 de diciembre del 2019", 40, "2 de febrero del 2020"),
        ("MARCH 3rd, 1954", 40, "APRIL 12th, 1954"),
        ("17 Aug '54", 40, "26 Sep '54"),
        ("2012-03-04T10:15", 1, "2012-03-05T10:15"),
        ("3-5 March 2020", 1, None),
        ("3 or 4 March 2020", 1, None),
        ("soon", 1, None),
    ],
)
def test_dates_are_moved_as_they_are_written(text: str, days: int, expected: str | None) -> None:
    assert moved(text, days, "dmy", 1930) == expected


def test_the_order_of_day_and_month_is_proven_or_open() -> None:
    assert order_of(["13/02/2012"]) == "dmy"
    assert order_of(["02/13/2012"]) == "mdy"
    assert order_of(["13/02/2012", "02/13/2012"]) is None
    assert moved("3/4/2012", 1, None, 1930) is None


def test_values_of_two_columns_are_one_value_apart() -> None:
    assert parts_of(KnownValue("1954-03-17", "record_number")).kind == "record_number"


@pytest.mark.parametrize(
    "text", ["1/1 " * 100_000, "12-12-" * 100_000, "A." * 200_000, "Brown, " * 50_000, "0" * 400_000]
)
def test_hostile_texts_end(text: str) -> None:
    known = KnownSet([KnownValue("Ann Brown"), KnownValue("1954-01-01"), KnownValue("0123456789")])
    find_known(text, known)


WHOLE = [
    "Sean O'Dowd", "Sean D'Angelo", "Anne L'Hermite", "Ludwig van Beethoven", "Maria de la Cruz", "Ali ibn Said",
    "An Le", "Nguyen Van Hung", "Siobhán O'Brien", "Giulia Dell'Acqua", "Do Thi An", "Will May", "Jean-Luc Petit",
    "Van Nguyen",
]  # fmt: skip


@pytest.mark.parametrize("name", WHOLE)
def test_a_whole_name_in_sequence_counts_in_any_case_and_order(name: str) -> None:
    first, *rest = name.split()
    for written in (name, " ".join([*rest, first]), f"{' '.join(rest)}, {first}", " ".join(name.split()[::-1])):
        for shown in (written.lower(), written.upper(), written.replace("'", "\u2019").title()):
            assert found([name], f"we saw {shown} here") == [shown]
            assert PlainSearch([KnownValue(name)]).found_in(f"we saw {name.lower()} here")


def test_a_whole_name_ends_with_its_sentence() -> None:
    assert found(["Will May"], "so she will. may I ask: may; will") == []
    assert found(["Do An"], "what to do. An x-ray") == []


def test_names_of_two_columns_count_beside_each_other() -> None:
    assert found(["Sean", "O'Dowd"], "sean o'dowd called") == ["sean", "o'dowd"]
    assert found(["An", "Le"], "seen an le here") == ["an le"]


@pytest.mark.parametrize(
    ("value", "text", "expected"),
    [
        ("chloe_b99@inbox.example", "chloe_b99 logged in", ["chloe_b99"]),
        ("priya.venk@x.org", "Priya.Venk wrote, xpriya.venk did not", ["Priya.Venk"]),
        ("a-b.1@x.org", "a-b.1 is too short", []),
        ("12 Cobbler's Row", "12 cobblers row; 12 COBBLER\u2019S ROW", ["12 cobblers row", "12 COBBLER\u2019S ROW"]),
        ("12 Cobblers Row, Otley", "at 12 Cobblers Row since", ["12 Cobblers Row"]),
    ],
)
def test_local_parts_and_addresses_are_found_whatever_their_signs(value: str, text: str, expected: list[str]) -> None:
    assert found([value], text) == expected


@given(
    st.lists(st.sampled_from(["Ann", "de", "la", "O'Dowd", "Li", "Okonkwo", "May", "Al-Masri", "Zoë"]), min_size=2,
             max_size=4),
    st.lists(st.sampled_from([" ", ", ", ". ", ".", "-", "  ", "\n", "_", "; ", " / "]), min_size=3, max_size=3),
    st.sampled_from([str.lower, str.upper, str.title]),
)  # fmt: skip
def test_what_was_scrubbed_passes_the_plain_search(parts: list[str], signs: list[str], case: object) -> None:
    name = " ".join(parts)
    text = "saw " + case("".join(part + sign for part, sign in zip(parts, [*signs, "-"], strict=False))) + "there"  # type: ignore[operator]
    known = known_sets([[KnownValue(name)]], [text])[0]
    tagged = replaced(text, find_known(text, known), by_tag)
    assert not PlainSearch([KnownValue(name)]).found_in(tagged), (text, tagged)


@pytest.mark.parametrize(
    ("value", "left", "gone"),
    [
        ("00123456", "MRN 00123456", "MRN [RECORD_NUMBER]"),
        ("1954-03-17", "born 1954-03-17", "born [DATE]"),
        ("rose.b_99@mail.org", "login rose.b_99.", "login [EMAIL]"),
        ("王小明", "患者王小明来院", "患者[NAME]来院"),
        ("12 Elm Street", "12 elm street", "[ADDRESS] street"),
        ("Emma Stone", "emma stone", "[NAME] on a stone"),
    ],
)
def test_the_plain_search_finds_what_is_left(value: str, left: str, gone: str) -> None:
    looked_for = PlainSearch([KnownValue(value)])
    assert looked_for.found_in(left)
    assert not looked_for.found_in(gone)
    assert value not in repr(looked_for)
