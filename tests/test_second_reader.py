"""Whoever verifies does not rest on polars alone: Python's csv module reads the start of a released text file too."""

from __future__ import annotations

import gzip
from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.errors import InputError
from shoal.storage.reading import Options, csv, read

FRAME = pl.DataFrame({"city": ["Bern", "Oslo", "Rome"] * 4, "age": [30, 40, 50] * 4})
SECOND = Options(second_reader=True)


def _released(folder: Path, ending: str = "csv") -> tuple[Path, Path]:
    original, release = folder / "in.csv", folder / f"out.{ending}"
    FRAME.write_csv(original)
    result = shoal.anonymize(original, quasi_identifiers=["age"], k=2, method="sorted-clusters")
    shoal.release(result, release, decide={"city": "other"})
    return original, release


def test_a_reader_that_misreads_both_files_alike_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original, release = _released(tmp_path)
    assert shoal.verify(release, original=original).verdict == "holds"
    polars = pl.scan_csv

    def faulty(*given: object, **options: object) -> pl.LazyFrame:
        return polars(*given, **options).with_columns(pl.col(pl.String).replace("Rome", "Pisa"))  # type: ignore[arg-type]

    monkeypatch.setattr(csv.pl, "scan_csv", faulty)
    assert "Pisa" in read(release)["city"].values
    with pytest.raises(InputError, match="another reader of CSV: column 'city'"):
        shoal.verify(release, original=original)


def test_a_release_that_its_readers_would_find_different_cells_in_is_refused(tmp_path: Path) -> None:
    original, release = _released(tmp_path, "tsv")
    release.write_bytes(release.read_bytes().replace(b"Rome", b'"Rome";"x"', 1))
    with pytest.raises(InputError, match="line 4: a quote") as error:
        shoal.verify(release, original=original)
    assert "Rome" not in str(error.value)


def test_a_reader_that_finds_fewer_fields_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b,c\n1,2,3\n3,4,5,6\n")
    monkeypatch.setattr(csv._Reader, "_is_even", lambda *given: True)
    assert read(path, ["a"]).rows == 2
    with pytest.raises(InputError, match="another reader of CSV: column 'a'"):
        read(path, ["a"], SECOND)


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("lines", "rows"),
    [
        (["a,b", "1,x", '"2","y, ""z"""', ",", '"",""', '"two\r\nlines", '], 5),
        (["a;b", "1;x", "", "", "2;"], 2),
        (["a", "7", "", "", "8"], 4),
        (["a", "", ""], 2),
        (["a,b,c", "1,2,3"], 1),
    ],
    ids=["quotes", "blank lines", "one column", "one empty column", "numbers"],
)
def test_both_readers_find_the_same_cells(lines: list[str], rows: int, ends: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress((ends.join(lines) + ends).encode()))
    found = read(path, options=SECOND)
    assert found.rows == rows == read(path).rows


def test_of_a_large_file_the_start_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "1,x\n" * 1_000)
    monkeypatch.setattr("shoal.storage.reading.bytes.chunks.__defaults__", (100,))
    again = list[int]()
    monkeypatch.setattr(csv._Reader, "_check_second_reading", lambda reader, block, frame: again.append(len(frame)))
    assert read(path, options=SECOND).rows == 1_000
    assert again == [24]
