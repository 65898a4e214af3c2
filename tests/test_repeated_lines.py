"""Lines that come again are looked up: tables are those of files whose every line is parsed."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shoal.reading import csv, csv_codes, csv_fields
from shoal.reading.bytes import padded
from shoal.reading.csv_codes import FieldCodes
from shoal.reading.repeated_lines import RepeatedLines
from shoal.table.coded import CodedTexts
from test_csv_codes import LONG, PLAIN, QUOTED, both, in_chunks, written

FACTOR, WORD = 0x9E3779B97F4A7C15, (1 << 64) - 1


def numbered(lines: RepeatedLines, block: bytes, width: int = 1) -> tuple[list[int], bytes] | None:
    found = lines.numbered(padded(block), len(block), width)
    return None if found is None else (found[0].tolist(), bytes(found[1]))


def by_hand(known: dict[bytes, int], block: bytes) -> tuple[list[int], bytes]:
    """The same by a dictionary."""
    numbers, new = [], b""
    for line in block.split(b"\n")[:-1]:
        if line not in known:
            known[line] = len(known)
            new += line + b"\n"
        numbers.append(known[line])
    return numbers, new


@settings(deadline=None)
@given(st.lists(st.lists(st.binary(max_size=26).map(lambda line: line.replace(b"\n", b"")), min_size=1), max_size=4))
def test_lines_have_the_numbers_of_a_dictionary(blocks: list[list[bytes]]) -> None:
    lines, known = RepeatedLines(), dict[bytes, int]()
    for block in blocks:
        text = b"".join(line + b"\n" for line in block)
        assert numbered(lines, text) == by_hand(known, text)
        assert lines.count == len(known)


def test_lines_of_every_length_that_differ_in_one_byte() -> None:
    lines, known = RepeatedLines(), dict[bytes, int]()
    for length in [*range(34), 1_000, 70_000, 300_000]:
        for place in range(max(0, length - 20), length):
            text = b"x" * place + b"y" + b"x" * (length - place - 1) + b"\n" + b"x" * length + b"\n"
            assert numbered(lines, 2 * text) == by_hand(known, 2 * text)


def with_digest_of(first: bytes, other: bytes, word: bytes) -> bytes:
    """A line of two words that starts with `other` and has the digest of `first` and `word`."""
    had, has = (int.from_bytes(one, "little") * FACTOR & WORD for one in (first, other))
    return other + ((had ^ int.from_bytes(word, "little")) ^ has).to_bytes(8, "little")


def colliding(count: int) -> list[bytes]:
    """Different lines of one digest."""
    starts = (number.to_bytes(8, "big") for number in range(1 << 40, 1 << 41))
    found = (with_digest_of(b"first li", start, b"ne comes") for start in starts)
    fine = (line for line in found if b"\n" not in line)
    return [b"first line comes", *(next(fine) for _ in range(count - 1))]


def test_lines_of_one_digest_are_told_apart_by_their_bytes() -> None:
    block = b"".join(line + b"\n" for line in [*colliding(20), *reversed(colliding(20))])
    assert numbered(RepeatedLines(), block) == ([*range(20), *reversed(range(20))], block[: len(block) // 2])


def test_lines_made_to_collide_are_not_looked_up_for_ever() -> None:
    block = b"".join(line + b"\n" for line in colliding(100))
    assert numbered(RepeatedLines(), block) is None


@pytest.mark.parametrize(
    ("rows", "different", "fine"),
    [(2_000, 2_000, True), (3_000, 3_000, False), (140_000, 60_000, True), (140_000, 70_000, False)],
)
def test_too_many_lines_are_given_up(rows: int, different: int, fine: bool) -> None:
    """Each comes again at once, and then as late as can be."""
    again = [number // 2 % different if rows > different else number for number in range(rows)]
    block = b"".join(b"line %d\n" % number for number in again)
    found = numbered(RepeatedLines(), block)
    assert (found == by_hand({}, block)) if fine else found is None


@pytest.mark.parametrize("block", [b"", b"no end", b"one\nno end"])
def test_a_block_without_an_end_is_not_numbered(block: bytes) -> None:
    assert numbered(RepeatedLines(), block) is None


def test_a_line_shorter_than_a_record_is_given_up() -> None:
    assert numbered(RepeatedLines(), b"\n\n\n\n", 3) is None


def without_lines(width: int, wanted: list[int], delimiter: str) -> FieldCodes:
    codes = FieldCodes(width, wanted, delimiter)
    codes._lines = None
    return codes


def shown(found: dict[int, Any] | None) -> Any:
    if found is None:
        return None
    return [
        (place, one.codes.tolist(), str(one.codes.dtype), one.new.to_list(), one.known)
        if isinstance(one, CodedTexts)
        else (place, one.to_list(), str(one.dtype))
        for place, one in found.items()
    ]


def few_records(random: Random, width: int, delimiter: str) -> list[str]:
    """Records that a file is made of; some hold the end of a line, some are not whole."""
    cells = [random.choice(random.choice([PLAIN, LONG, QUOTED])) for _ in range(random.randint(1, 8))]
    if random.random() < 0.6:
        cells = [cell for cell in cells if not set(cell) & set("\r\n")] or ["q"]
    styles = [0, 1, 1, 1] + ([8, 15] if random.random() < 0.1 else [])
    records = [
        delimiter.join(written(random.choice(cells), random.choice(styles), delimiter) for _ in range(width))
        for _ in range(random.randint(1, 6))
    ]
    return records + (random.sample(['"', "", '"a', 'b"', delimiter * width, "x"], 2) if random.random() < 0.1 else [])


@settings(max_examples=400, deadline=None)
@given(random=st.randoms(use_true_random=False))
def test_codes_are_those_of_lines_that_are_all_parsed(random: Random) -> None:
    width, delimiter, end = random.randint(1, 4), random.choice(",;"), random.choice(["\n", "\n", "\r\n"])
    wanted = sorted(random.sample(range(width), random.randint(1, width)))
    by_lines, plain = FieldCodes(width, wanted, delimiter), without_lines(width, wanted, delimiter)
    records = few_records(random, width, delimiter)
    for _ in range(random.randint(1, 5)):
        records += few_records(random, width, delimiter) if random.random() < 0.3 else []
        block = "".join(random.choice(records) + end for _ in range(random.randint(1, 30))).encode()
        assert shown(by_lines.parse(block)) == shown(plain.parse(block))
        assert by_lines.texts == plain.texts


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(random=st.randoms(use_true_random=False))
def test_a_table_of_few_lines_is_the_same(random: Random, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    width, delimiter, end = random.randint(1, 4), random.choice(",;"), random.choice(["\n", "\n", "\r\n"])
    records = few_records(random, width, delimiter)
    lines = [delimiter.join(f"c{place}" for place in range(width)), *random.choices(records, k=random.randint(1, 60))]
    path = tmp_path / "t.csv"
    path.write_bytes((end.join(lines) + random.choice(["", end, end + end])).encode())
    monkeypatch.setattr(csv, "chunks", partial(in_chunks, size=random.choice([24, 60, 200, 1 << 20])))
    as_texts, as_codes = both(path, monkeypatch)
    assert as_codes == as_texts


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(random=st.randoms(use_true_random=False))
def test_columns_that_become_numbers_among_lines(random: Random, monkeypatch: pytest.MonkeyPatch) -> None:
    """A dictionary that is full, or a text among numbers, in the middle of lines that come again."""
    FieldCodes(1, [0], ",").parse(b"a\n")  # the loop has its own limit
    monkeypatch.setattr(csv_fields, "NO_TEXT", 16)
    monkeypatch.setattr(csv_codes, "_FIRST", 4)
    by_lines, plain = FieldCodes(2, [0, 1], ","), without_lines(2, [0, 1], ",")
    for number in range(6):
        odd = random.choice(["07", "NA", "", '""', "x"]) if random.random() < 0.3 else "7"
        records = [f"{random.randrange(20 * number + 5)},{random.choice('ab')}\n" for _ in range(30)]
        block = "".join(random.choices([*records, f"{odd},c\n"], k=80)).encode()
        assert shown(by_lines.parse(block)) == shown(plain.parse(block))
        assert by_lines.texts == plain.texts


def test_half_a_record_is_not_a_line_of_its_own() -> None:
    """`b` is a record in the first block, and the end of one in the second."""
    codes, plain = FieldCodes(1, [0], ","), without_lines(1, [0], ",")
    for block in (b"a\nb\na\n", b'"a\nb\n"\nb\n', b"b\na\n"):
        assert shown(codes.parse(block)) == shown(plain.parse(block)) is not None
