"""A row with too many or too few fields is refused, whichever columns are asked for; so is a stray carriage return."""

from __future__ import annotations

import gzip
from itertools import chain, combinations
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shoal.cli.group import app
from shoal.errors import InputError
from shoal.storage.formats.zstandard import compress
from shoal.storage.reading import Options, read

CELLS = st.sampled_from(
    ["", "7", "12", "-3", "x", "Doe", "Doe, A", 'say "x"', "two\nlines", "two\r\nlines", "\r", "é", " "]
)
NAMES = ["a", "b", "c"]
SELECTIONS = [None, *map(list, chain.from_iterable(combinations(NAMES, size) for size in (1, 2, 3)))]


@st.composite
def records(draw: st.DrawFn) -> list[list[str]]:
    """Records of three cells, and now and then one with another number of them."""
    found = draw(st.lists(st.lists(CELLS, min_size=3, max_size=3), min_size=1, max_size=25))
    for _ in range(draw(st.sampled_from([0, 1, 1, 2]))):
        size = draw(st.sampled_from([1, 2, 4, 4, 4, 5]))
        odd = draw(st.lists(CELLS, min_size=size, max_size=size).filter(any))
        found.insert(draw(st.integers(0, len(found))), odd)
    return found


def written(cell: str, quoted: bool) -> str:
    return '"' + cell.replace('"', '""') + '"' if quoted or set(cell) & set(',"\n\r') else cell


def told(path: Path, columns: list[str] | None, size: int) -> list[tuple[str | None, ...]] | str:
    """The cells of a file that is read in pieces of a size, as texts; or what is wrong with it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("shoal.storage.reading.bytes.chunks.__defaults__", (size,))
        patch.setattr("shoal.storage.reading.csv.CHUNK", 0)
        try:
            table = read(path, columns, Options(as_text=True))
        except InputError as error:
            return str(error).split("\n")[0].removeprefix(f"{path}, ")
    cells = [column.values.gather([code if code < len(column.values) else None for code in column.codes.tolist()])
             for column in table.columns.values()]  # fmt: skip
    return [tuple(cell or None for cell in row) for row in zip(*(column.to_list() for column in cells), strict=True)]


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    rows=records(),
    quoted=st.booleans(),
    end=st.sampled_from(["\n", "\r\n"]),
    columns=st.sampled_from(SELECTIONS),
    size=st.sampled_from([20, 60, 1 << 20]),
    packed=st.sampled_from([bytes, gzip.compress, compress]),
)
def test_every_row_has_the_fields_of_the_header(
    rows: list[list[str]], quoted: bool, end: str, columns: list[str] | None, size: int, packed: object, tmp_path: Path
) -> None:
    text, lines = "", []
    for row in [NAMES, *rows]:
        lines.append(text.count("\n") + 1)
        text += ",".join(written(cell, quoted) for cell in row) + end
    path = tmp_path / "t.csv"
    path.write_bytes(packed(text.encode()))  # type: ignore[operator]
    uneven = [place for place, row in enumerate(rows) if len(row) != 3]
    wanted = [NAMES.index(name) for name in columns or NAMES]
    assert told(path, columns, size) == (
        f"line {lines[uneven[0] + 1]}: {len(rows[uneven[0]])} fields where the header has 3."
        if uneven
        else [tuple(row[place] or None for place in wanted) for row in rows]
    )


@pytest.mark.parametrize("columns", SELECTIONS)
@pytest.mark.parametrize("surplus", ["", "6", "x", '""', '"6"'])
@pytest.mark.parametrize("before", ["1,2,3", "x,2,3", "1,2,", '"1,1",2,3', "1,2,3\n", "x,y,z"])
def test_a_field_too_many(before: str, surplus: str, columns: list[str] | None, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"a,b,c\n{before}\n3,4,5,{surplus}\n")
    line = 3 + before.count("\n")
    for size in (8, 1 << 20):
        assert told(path, columns, size) == f"line {line}: 4 fields where the header has 3."


def test_a_field_too_many_and_one_too_few_do_not_make_up_for_each_other(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    for columns in SELECTIONS:
        path.write_text('a,b,c\n1,2,3\n"1,1",2\n3,4,5,6\n')
        assert told(path, columns, 1 << 20) == "line 3: 2 fields where the header has 3."
        path.write_text("a,b,c\n1,2,3\n3,4,5,6\n1,2\n")
        assert told(path, columns, 1 << 20) == "line 3: 4 fields where the header has 3."


def test_one_column_has_one_field(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('a\n1\n\n"2,3"\n')
    assert told(path, None, 1 << 20) == [("1",), (None,), ("2,3",)]
    path.write_text("a\n1\n\n2,3\n")
    assert told(path, None, 1 << 20) == "line 4: 2 fields where the header has 1."


@pytest.mark.parametrize(
    "command",
    [
        ["risk", "--qi", "zip"],
        ["detect", "--columns", "zip"],
        ["leak", "--qi", "zip", "--leaked", "4"],
        ["risk", "--qi", "age"],
    ],
)
def test_nothing_is_certified_on_columns_that_moved(command: list[str], tmp_path: Path) -> None:
    path = tmp_path / "r2.csv"
    path.write_text(
        "name,age,zip\n"
        + "".join(f"Doe {i},4{i % 2},10001\n" for i in range(5))
        + "".join(f"Roe, A{i},33,9021{i}\n" for i in range(5))
    )
    done = CliRunner().invoke(app, [command[0], str(path), *command[1:]])
    assert isinstance(done.exception, InputError)
    assert "line 7: 4 fields where the header has 3" in str(done.exception)


STRAY = "a carriage return stands outside quotes, and no line feed follows it."


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"a,b\nx\r,1\nx,2\n", 2),
        (b"a,b\n\r,1\n", 2),
        (b"a,b\nx,1\nx\ry,2\n", 3),
        (b'a,b\n"x"\r,1\n', 2),
        (b"a,b\n1,2\r\r\n", 2),
        (b"a,b\n1,2\r3,4\n5,6\n", 2),
        (b'a,b\r1,"x\ny"\r3,4\r', 1),
        (b"a\rb,c\n1,2\n", 1),
        (b'a,b\r\n"x\r\ny",1\r\nx\r,2\r\n', 4),
    ],
)
@pytest.mark.parametrize("columns", [None, ["b"]])
def test_a_stray_carriage_return_is_refused(
    content: bytes, line: int, columns: list[str] | None, tmp_path: Path
) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    assert told(path, columns, 1 << 20) == f"line {line}: {STRAY}"


def test_carriage_returns_in_quotes_and_at_ends_of_lines_are_read(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b'a,b\r\n"x\r",1\r\n"\ry","\r"\r\n')
    assert told(path, None, 1 << 20) == [("x\r", "1"), ("\ry", "\r")]


@pytest.mark.parametrize("first", [b'sep="\n', b"sep=\r\n", b"sep=\n", b'"sep="\r\n'])
def test_a_delimiter_that_cannot_be_is_refused(first: bytes, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(first + b'a"b\n1"2\n')
    with pytest.raises(InputError, match="after sep= cannot separate columns"):
        read(path)
