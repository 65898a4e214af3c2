"""Text files, regular or not, in pieces of any size: the table, or the error, is that of cells parsed as texts."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shoal.errors import InputError
from shoal.storage.reading import Options, read

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


def in_pieces(size: int, path: Path, columns: list[str] | None, options: Options | None, as_texts: bool = False) -> Any:
    """What is told of a file that is read in pieces of a size; with `as_texts` no cell is parsed as a number."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("shoal.storage.reading.bytes.chunks.__defaults__", (size,))
        patch.setattr("shoal.storage.reading.csv.CHUNK", 0)
        if as_texts:
            patch.setattr("shoal.storage.reading.csv.WholeNumbers.parse", lambda self, block: None)
        return told(path, columns, options)


@settings(max_examples=250, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(random=st.randoms(use_true_random=False))
def test_a_table_is_that_of_its_texts(random: Random, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(a_file(random))
    columns, options = random.choice([None, None, ["age"]]), random.choice([None, Options(missing=("a", "7"))])
    size = random.choice([24, 60, 200, 1 << 20])
    assert in_pieces(size, path, columns, options) == in_pieces(size, path, columns, options, as_texts=True)


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
def test_columns_that_change_their_kind(random: Random, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(a_changing_file(random))
    size = random.choice([60, 200, 600, 1 << 20])
    assert in_pieces(size, path, None, None) == in_pieces(size, path, None, None, as_texts=True)


@pytest.mark.parametrize(
    "cells",
    [
        [str(number) for number in range(-70_000, 70_000, 2)],
        [*map(str, range(70_000)), "", "07"],
        [f"text {number}" for number in range(70_000)],
        [f"a rather long text {number % 60_000}" for number in range(70_000)],
        [f"{number % 50} of few" for number in range(70_000)],
    ],
    ids=["numbers", "a code among numbers", "texts", "long texts", "few texts"],
)
def test_columns_of_many_texts(cells: list[str], tmp_path: Path) -> None:
    path, lines = tmp_path / "t.csv", [f"{cell},{number % 7},x" for number, cell in enumerate(cells)]
    path.write_text("\n".join(["a,b,c", *lines, ""]))
    found = in_pieces(1 << 18, path, None, None)
    assert found == in_pieces(1 << 24, path, None, None, as_texts=True)
    rows, _, columns = found
    assert rows == len(cells)
    _, codes, _, values, *_ = columns[0]
    decoded = [None if code == len(values) else str(values[code]) for code in codes]
    assert decoded == [cell or None for cell in cells]


def test_a_mark_of_bytes_in_a_cell_is_a_part_of_it(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"\xef\xbb\xbfa,b\n" + b"\xef\xbb\xbfx,1\n" * 3)
    found = in_pieces(8, path, None, None)
    assert found == in_pieces(8, path, None, None, as_texts=True)
    assert [one[3] for one in found[2]] == [["\ufeffx"], [1]]


def test_several_files_of_other_texts(tmp_path: Path) -> None:
    for name, texts in (("1.csv", "abca"), ("2.csv", "cdb"), ("3.csv", "aec")):
        (tmp_path / name).write_text("".join(["x,y\n", *(f"{text},{place}\n" for place, text in enumerate(texts))]))
    assert in_pieces(8, tmp_path, None, None)[2][0][3] == list("abcde")
