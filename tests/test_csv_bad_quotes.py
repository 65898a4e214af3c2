"""A quote that breaks the rules of CSV is reported at the line where its record starts."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import InputError
from shoal.storage.reading import bytes as byte_streams
from shoal.storage.reading import read
from shoal.storage.reading.csv import _broken_record

BROKEN = [
    *('1,"a"x,c', '"a"x,1,2', '1,2,"a"x', '1,"a" ,c', '1,5" pipe,c', '1,"a\nb"x,c', '1,"x"y"z",c', '""a"",1,2'),
    *('1,"x,"y",z",c', 'a"b,c"d,3', '1,5",6"'),
]
FINE = st.sampled_from(["1,2,3", '1,"q, ""r""",3', '1,"two\nlines",3', "1,,3", '1,a"b"c,3', '"","",""', "1, x ,3"])


@pytest.mark.parametrize("broken", BROKEN)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_line_is_that_of_the_broken_record(broken: str, end: str, tmp_path: Path) -> None:
    before = ["a,b,c", "1,2,3", '1,"q\nr",3', '1,"say ""x""",3', "1,2,3"]
    file = tmp_path / "people.csv"
    file.write_bytes(end.join([*before, broken, *["2,z,w"] * 3, ""]).encode())
    with pytest.raises(InputError, match=r"people\.csv, line 7: a quote"):
        read(file)


def test_the_line_is_right_in_a_later_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(byte_streams, "CHUNK", 500)
    monkeypatch.setattr(byte_streams.chunks, "__defaults__", (500,))
    file = tmp_path / "people.csv"
    file.write_text("a,b,c\n" + '1,"q\nr",3\n' * 700 + '1,"a"x,c\n' + "2,z,w\n" * 300)
    with pytest.raises(InputError, match=r"people\.csv, line 1,402: a quote"):
        read(file)


@given(st.lists(FINE), st.sampled_from(BROKEN), st.lists(FINE), st.sampled_from(["\n", "\r\n"]))
def test_the_first_broken_record_is_found_after_any_that_are_not(
    before: list[str], broken: str, after: list[str], end: str
) -> None:
    start = "".join(record + end for record in before).encode()
    rest = "".join(record + end for record in [broken, *after]).encode()
    assert _broken_record(start, ",") is None
    assert _broken_record(start + rest, ",") == len(start)


@pytest.mark.parametrize("delimiter", [";", "\t", "|", "^", "]"])
def test_any_delimiter(delimiter: str) -> None:
    good = delimiter.join(["1", '"a"', "x,y"]).encode() + b"\n"
    assert _broken_record(good * 3, delimiter) is None
    assert _broken_record(good * 3 + good.replace(b'"a"', b'"a"b'), delimiter) == 3 * len(good)
