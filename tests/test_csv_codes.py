"""Text files read as codes: tables, and errors, are those of the parser that makes a text of every cell."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shoal.errors import InputError
from shoal.reading import Options, csv, csv_codes, csv_fields, read
from shoal.reading import bytes as file_bytes
from shoal.reading.csv_codes import FieldCodes
from shoal.table.coded import CodedTexts

PLAIN = ["", "a", "7", "07", "-3", "0", "-0", "1.5", "1.50", "NA", "2024-05-06", "1e+5", " ", "é", "Married-civ-spouse"]
LONG = ["1234567", "12345678", "123456789012345678", "1234567890123456789", "abcdefgh", "x" * 15, "x" * 16, "x" * 17]
QUOTED = ["a,b", "a;b", '"', 'a"b', "a\nb", "a\r\nb", "\r", "a\r", "[20, 30)"]
STYLES = [0] * 6 + [1] * 12


def written(cell: str, style: int, delimiter: str) -> str:
    """A cell as it is written; by some styles wrongly."""
    needed = any(sign in cell for sign in f'{delimiter}"\n\r')
    if style == 0 or (needed and style < 8):
        return '"' + cell.replace('"', '""') + '"'
    return cell if style < 15 else cell + '"'


def a_file(random: Random) -> bytes:
    """A text file, regular or not."""
    width, delimiter, ragged = random.randint(1, 4), random.choice(",,;"), random.random() < 0.1
    styles = STYLES + ([8, 15] if random.random() < 0.1 else [])
    few = [random.choice(random.choice([PLAIN, LONG, QUOTED])) for _ in range(random.randint(1, 6))]
    few += ["".join(random.choices('ab7,"\n\r é;', k=random.randint(0, 18)))] if random.random() < 0.3 else []
    if random.random() < 0.5:
        few = [cell for cell in few if not set(cell) & set('"\r\n')] or ["q"]
    lines = [delimiter.join(random.sample(["age", "é", "zip", "x y"], width))]
    for _ in range(random.randint(1, 30)):
        size = width + (random.randint(-1, 1) if ragged and random.random() < 0.2 else 0)
        cells = [written(random.choice(few), random.choice(styles), delimiter) for _ in range(size)]
        lines.append("" if ragged and random.random() < 0.1 else delimiter.join(cells))
    end = random.choice(["\n", "\n", "\n", "\r\n", "\r\n", "\r"])
    text = end.join(lines) + random.choice(["", end, end + end])
    encoding = random.choice(["utf-8"] * 8 + ["cp1252", "utf-16"])
    return random.choice([b"", b"", b"\xef\xbb\xbf"]) + text.encode(encoding)


def told(path: Path, columns: list[str] | None, options: Options | None) -> Any:
    """All that is known of a table, or the error."""
    try:
        table = read(path, columns, options)
    except InputError as error:
        return str(error)
    return table.rows, table.notes, [
        (one.name, one.codes.tolist(), one.values.dtype, one.values.to_list(), one.nulls, one.dtype, one.respelled,
         None if one.written is None else one.as_written().to_list())
        for one in table.columns.values()
    ]  # fmt: skip


def both(
    path: Path, monkeypatch: pytest.MonkeyPatch, columns: list[str] | None = None, options: Options | None = None
) -> tuple[Any, Any]:
    """What is told of a file that is read as texts, and as codes."""
    monkeypatch.setattr(csv, "CHUNK", 0)
    monkeypatch.setattr(csv_codes, "is_worth_it", lambda size, delimiter: False)
    as_texts = told(path, columns, options)
    monkeypatch.setattr(csv_codes, "is_worth_it", lambda size, delimiter: True)
    return as_texts, told(path, columns, options)


def in_chunks(path: Path, compression: Any, few: int = 0, *, size: int) -> Any:
    """A file in pieces of a size."""
    return file_bytes.chunks(path, compression, few or size)


@settings(max_examples=250, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(random=st.randoms(use_true_random=False))
def test_a_table_is_the_same_by_codes(random: Random, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(a_file(random))
    monkeypatch.setattr(csv, "chunks", partial(in_chunks, size=random.choice([24, 60, 200, 1 << 20])))
    columns = random.choice([None, None, ["age"]])
    as_texts, as_codes = both(path, monkeypatch, columns, random.choice([None, Options(missing=("a", "7"))]))
    assert as_codes == as_texts


@pytest.mark.parametrize(
    ("cells", "kept"),
    [
        (map(str, range(-70_000, 70_000, 2)), "int64"),
        ([*map(str, range(70_000)), "", "07"], None),
        ([f"text {number}" for number in range(70_000)], None),
        ([f"a rather long text {number % 60_000}" for number in range(70_000)], "uint16"),
    ],
)
def test_columns_of_many_texts(cells: Any, kept: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, lines = tmp_path / "t.csv", [f"{cell},{number % 7},x" for number, cell in enumerate(cells)]
    path.write_text("\n".join(["a,b,c", *lines, ""]))
    monkeypatch.setattr(csv, "chunks", partial(in_chunks, size=1 << 18))
    as_texts, as_codes = both(path, monkeypatch)
    assert as_codes == as_texts
    codes = FieldCodes(3, [0, 1, 2], ",")
    found = codes.parse("\n".join([*lines, ""]).encode())
    assert found is not None
    first = found.get(0)
    array = None if first is None else first.codes if isinstance(first, CodedTexts) else first.to_numpy()
    assert kept == (None if array is None else str(array.dtype))
    assert codes.texts == ([] if kept else [0])


def a_changing_file(random: Random) -> bytes:
    """Columns of many numbers, of which some have a cell that is not one, beside texts that come late."""
    lines, rows = ["age,zip,x y"], random.randint(20, 120)
    odd = {random.randrange(rows): random.choice(["NA", "07", "", '""', "-0", "1234567890123456789"]) for _ in range(2)}
    for row in range(rows):
        text = "".join(random.choices("ab", k=random.randint(1, 12))) if random.random() < 0.3 else f"t{row // 20}"
        lines.append(f"{odd.get(row, row)},{text},{random.choice([row, 7])}")
    return "\n".join([*lines, ""]).encode()


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(random=st.randoms(use_true_random=False))
def test_columns_that_change_their_kind(random: Random, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    FieldCodes(1, [0], ",").parse(b"a\n")  # the loop has its own limit
    monkeypatch.setattr(csv_fields, "NO_TEXT", 16)
    monkeypatch.setattr(csv_codes, "_FIRST", 4)
    path = tmp_path / "t.csv"
    path.write_bytes(a_changing_file(random))
    monkeypatch.setattr(csv, "chunks", partial(in_chunks, size=random.choice([60, 200, 600, 1 << 20])))
    as_texts, as_codes = both(path, monkeypatch)
    assert as_codes == as_texts


def test_texts_stay_when_a_column_of_numbers_ends() -> None:
    codes = FieldCodes(2, [0, 1], ",")
    assert codes.parse("".join(f"{number},a\n" for number in range(70_000)).encode()) is not None
    found = codes.parse(b"1,Lyon\n2,a\nNA,a\n3,Bonn\n4,Lyon\n")
    assert found is not None
    cities = found[1]
    assert isinstance(cities, CodedTexts)
    assert (cities.new.to_list(), cities.codes.tolist()) == (["Lyon", "Bonn"], [1, 0, 0, 2, 1])


def test_a_mark_of_bytes_in_a_cell_is_a_part_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"\xef\xbb\xbfa,b\n" + b"\xef\xbb\xbfx,1\n" * 3)
    monkeypatch.setattr(csv, "chunks", partial(in_chunks, size=8))
    as_texts, as_codes = both(path, monkeypatch)
    assert as_codes == as_texts
    assert [one[3] for one in as_texts[2]] == [["\ufeffx"], [1]]


def test_what_is_unusual_leaves_nothing_behind() -> None:
    codes = FieldCodes(2, [0, 1], ",")
    assert codes.parse(b'new,1\na"b,2\n') is None
    found = codes.parse(b'a,1\n"b,\n",\n')
    assert found is not None
    assert [(one.codes.tolist(), one.new.to_list()) for one in found.values() if isinstance(one, CodedTexts)] == [
        ([0, 1], ["a", "b,\n"]),
        ([0, 255], ["1"]),
    ]


def test_a_file_that_is_unusual_throughout_is_left_to_the_parser() -> None:
    codes = FieldCodes(2, [0, 1], ",")
    for _ in range(3):
        assert not codes.given_up
        assert codes.parse(b'"say ""x""",1\n') is None
    assert codes.given_up


def test_several_files_of_other_texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, texts in (("1.csv", "abca"), ("2.csv", "cdb"), ("3.csv", "aec")):
        (tmp_path / name).write_text("".join(["x,y\n", *(f"{text},{place}\n" for place, text in enumerate(texts))]))
    monkeypatch.setattr(csv, "chunks", partial(in_chunks, size=8))
    as_texts, as_codes = both(tmp_path, monkeypatch)
    assert as_codes == as_texts
    assert as_codes[2][0][3] == list("abcde")


def test_when_a_file_is_read_as_codes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_codes, "at_hand", lambda loop: False)
    assert [csv_codes.is_worth_it(1 << 30, sign) for sign in ',;"§'] == [True, True, False, False]
    assert not csv_codes.is_worth_it(1 << 20, ",")
    monkeypatch.setattr(csv_codes, "at_hand", lambda loop: True)
    assert csv_codes.is_worth_it(1 << 20, ",")
