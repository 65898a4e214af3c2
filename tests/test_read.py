"""Reading: every format, the right types, one clear error for each fault, bounded memory for hostile files."""

from __future__ import annotations

import datetime as dt
import gzip
import io
import json
import os
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import shoal
from shoal.errors import InputError
from shoal.storage import Table
from shoal.storage.formats import zstandard
from shoal.storage.reading import Options, read, to_frame
from shoal.storage.reading import bytes as byte_streams


@pytest.fixture
def people() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "zip": ["02139", "10001", None, "02139"],
            "age": [41, 29, 90, None],
            "born": [dt.date(1980, 1, 2), None, dt.date(1931, 5, 6), dt.date(1980, 1, 2)],
            "income": [1.5, 2.25, None, -3.0],
            "smokes": [True, False, None, True],
        }
    )


def rows(table: Table) -> list[tuple[Any, ...]]:
    return table.to_polars().rows()


def write(folder: Path, content: bytes | str, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


# formats


@pytest.mark.parametrize("ending", ["parquet", "arrow", "jsonl", "csv"])
def test_a_file_comes_back_as_it_went_in(people: pl.DataFrame, tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"people.{ending}"
    getattr(
        people, {"parquet": "write_parquet", "arrow": "write_ipc", "jsonl": "write_ndjson", "csv": "write_csv"}[ending]
    )(path)
    found = read(path).to_polars()
    if ending == "jsonl":  # JSON has no dates
        found = found.with_columns(pl.col("born").str.to_date())
    if ending == "csv":  # nor does CSV know booleans
        found = found.with_columns(pl.col("smokes").replace_strict({"true": True, "false": False}))
    assert_frame_equal(found, people)


@pytest.mark.parametrize(
    "dtype",
    [
        pl.Int8,
        pl.UInt64,
        pl.Int32,
        pl.Float32,
        pl.Decimal(10, 2),
        pl.Datetime("ms", "UTC"),
        pl.Time,
        pl.Duration,
        pl.Categorical,
        pl.Enum(["7", "8"]),
        pl.String,
        pl.Int128,
    ],
)
def test_unchanged_columns_keep_their_type(dtype: Any) -> None:
    values = pl.Series("x", [7, None, 8, 7])
    series = (
        values.cast(pl.String).cast(dtype)
        if dtype in (pl.Categorical, pl.String) or isinstance(dtype, pl.Enum)
        else values.cast(dtype)
    )
    assert_frame_equal(read(series.to_frame()).to_polars(), series.to_frame(), categorical_as_str=True)


def test_big_integers_and_their_ends() -> None:
    for dtype, values in ((pl.Int8, [-128, 127]), (pl.UInt64, [0, 2**64 - 1]), (pl.Int64, [-(2**63), 2**63 - 1])):
        frame = pl.DataFrame({"x": pl.Series(values, dtype=dtype)})
        assert_frame_equal(read(frame).to_polars(), frame)


@given(st.lists(st.one_of(st.none(), st.integers(-(2**40), 2**40), st.integers(-3, 3)), min_size=1))
def test_codes_decode_to_the_values_and_follow_their_order(values: list[int | None]) -> None:
    column = read(pl.DataFrame({"x": pl.Series(values, dtype=pl.Int64)}))["x"]
    assert column.decode().to_list() == values
    assert column.values.to_list() == sorted({value for value in values if value is not None})
    assert column.codes.dtype.itemsize == 1
    assert column.nulls == values.count(None)


@given(st.lists(st.one_of(st.none(), st.text(max_size=3)), min_size=1, max_size=30), st.integers(1, 7))
def test_batches_of_any_length_give_the_same_codes(values: list[str | None], size: int) -> None:
    from shoal.storage.encode import ColumnEncoder

    series = pl.Series(values, dtype=pl.String)
    whole, parts = ColumnEncoder("x"), ColumnEncoder("x")
    whole.add(series)
    for start in range(0, len(series), size):
        parts.add(series[start : start + size])
    first, second = whole.finish(), parts.finish()
    assert first.codes.tolist() == second.codes.tolist()
    assert (
        first.values.to_list()
        == second.values.to_list()
        == sorted({v for v in values if v is not None}, key=str.encode)
    )


@given(
    st.lists(st.one_of(st.none(), st.integers(-(2**40), 2**40), st.integers(-300, 300)), min_size=1, max_size=30),
    st.integers(1, 7),
)
def test_batches_of_integers_give_the_same_codes(values: list[int | None], size: int) -> None:
    from shoal.storage.encode import ColumnEncoder

    series, parts = pl.Series(values, dtype=pl.Int64), ColumnEncoder("x")
    for start in range(0, len(series), size):
        parts.add(series[start : start + size])
    column = parts.finish()
    assert column.decode().to_list() == values
    assert column.values.to_list() == sorted({value for value in values if value is not None})


@pytest.mark.parametrize("dtype", [pl.String, pl.Int32, pl.Date])
@pytest.mark.parametrize("from_text_file", [True, False])
def test_a_missing_value_stays_missing_when_the_dictionary_outgrows_a_byte(dtype: Any, from_text_file: bool) -> None:
    from shoal.storage.encode import ColumnEncoder

    batches = [
        pl.Series([*range(200), None]).cast(dtype),
        pl.Series(range(1_000, 1_300)).cast(dtype),
        pl.Series(range(2_000, 70_000)).cast(dtype),
        pl.Series([None, 7]).cast(dtype),
    ]
    encoder = ColumnEncoder("x", from_text_file=from_text_file)
    for batch in batches:
        encoder.add(batch)
    column = encoder.finish()
    assert column.nulls == 2
    assert column.decode().cast(pl.String).equals(pl.concat(batches).cast(pl.String))


def test_pandas_polars_and_pyarrow_go_in_and_out(people: pl.DataFrame) -> None:
    frame = people.to_pandas()
    frame["city"] = pd.Categorical(["a", "b", None, "a"])
    frame.index = [5, 5, 2, 9]
    pd.testing.assert_frame_equal(to_frame(read(frame)), frame)
    assert_frame_equal(to_frame(read(people)), people)
    table = people.to_arrow()
    found = to_frame(read(table))
    assert isinstance(found, pa.Table)
    assert found.equals(table.cast(found.schema))
    assert_frame_equal(read(people.lazy()).to_polars(), people)


def test_missing_is_missing_in_every_library() -> None:
    expected = [2, 2, 1]
    for frame in (
        pl.DataFrame({"a": [1.0, 1.0, None]}),
        pl.DataFrame({"a": [1.0, 1.0, float("nan")]}),
        pd.DataFrame({"a": [1.0, 1.0, None]}),
        pd.DataFrame({"a": [1, 1, pd.NA]}, dtype="Int64"),
    ):
        assert read(frame)["a"].nulls == 1
        assert [entry.size for entry in shoal.risk(frame, quasi_identifiers=["a"]).histogram] == sorted(set(expected))


def test_pandas_columns_that_mix_types_are_refused_without_their_values() -> None:
    with pytest.raises(InputError, match="mixes types") as error:
        read(pd.DataFrame({"a": pd.Series([1, "secret", 2.5], dtype=object)}))
    assert "secret" not in str(error.value)


def test_compressed_text(tmp_path: Path) -> None:
    text = b"a,b\n1,x\n2,y\n"
    two_frames = zstandard.compress(text[:8]) + zstandard.compress(text[8:])
    for name, content in (
        ("t.csv.gz", gzip.compress(text)),
        ("t.csv.zst", zstandard.compress(text)),
        ("u.csv.zst", two_frames),
    ):
        assert rows(read(write(tmp_path, content, name))) == [(1, "x"), (2, "y")]
    assert rows(read(write(tmp_path, gzip.compress(b'{"a": 1}\n'), "t.jsonl.gz"))) == [(1,)]


def test_folders_globs_and_lists(people: pl.DataFrame, tmp_path: Path) -> None:
    for part in (1, 2):
        people.write_parquet(tmp_path / f"part-{part}.parquet")
    (tmp_path / "_SUCCESS").write_text("")
    both = [str(tmp_path / "part-1.parquet"), tmp_path / "part-2.parquet"]
    for source in (tmp_path, str(tmp_path / "*.parquet"), both):
        assert read(source).rows == 8


def test_hive_folders_give_their_keys_as_columns(tmp_path: Path) -> None:
    for year in (2020, 2021):
        (tmp_path / f"year={year}").mkdir()
        pl.DataFrame({"a": [1, 2]}).write_parquet(tmp_path / f"year={year}" / "p.parquet")
    assert sorted(read(tmp_path, ["a", "year"])["year"].decode().to_list()) == [2020, 2020, 2021, 2021]


def test_types_are_united_over_files_and_lines(tmp_path: Path) -> None:
    pl.DataFrame({"a": pl.Series([1, 2], dtype=pl.Int16)}).write_parquet(tmp_path / "1.parquet")
    pl.DataFrame({"a": [3.5]}).write_parquet(tmp_path / "2.parquet")
    assert read(tmp_path)["a"].decode().to_list() == [1.0, 2.0, 3.5]
    lines = write(tmp_path, '{"a": 1}\n{"b": "x"}\n{"a": 2.5, "b": null}\n', "t.jsonl")
    assert rows(read(lines)) == [(1.0, None), (None, "x"), (2.5, None)]


# text files


@pytest.mark.parametrize(
    ("text", "values", "dtype"),
    [
        ("x\n00501\n10001\n", ["00501", "10001"], pl.String),
        ("x\n7\n-12\nNA\n", [7, -12, None], pl.Int64),
        ("x\nIT\nNA\n", ["IT", "NA"], pl.String),
        ("x\n1.5\n2\n", [1.5, 2.0], pl.Float64),
        ("x\n250.1\n250.10\n", ["250.1", "250.10"], pl.String),
        ("x\n12e4\n1e2\n", ["12e4", "1e2"], pl.String),
        ("x\n2020-02-29\n", [dt.date(2020, 2, 29)], pl.Date),
        ("x\n2021-02-29\n", ["2021-02-29"], pl.String),
        ("x\n2020-01-02 03:04\n", [dt.datetime(2020, 1, 2, 3, 4)], pl.Datetime("us")),
        ("x\n123456789012345678901\n", ["123456789012345678901"], pl.String),
        ("x\n+5\n6\n", ["+5", "6"], pl.String),
        ("x\n1\n\n2\n", [1, None, 2], pl.Int64),
        ('x\n1\n""\n', [1, None], pl.Int64),
    ],
)
def test_the_type_of_a_text_column(tmp_path: Path, text: str, values: list[Any], dtype: Any) -> None:
    column = read(write(tmp_path, text))["x"]
    assert column.decode().to_list() == values
    assert column.dtype == dtype


def test_a_leading_zero_in_the_last_row_makes_the_whole_column_text(tmp_path: Path) -> None:
    text = "zip\n" + "10001\n" * 200_000 + "00501\n"
    assert read(write(tmp_path, text))["zip"].values.to_list() == ["00501", "10001"]


def test_words_for_missing_can_be_named(tmp_path: Path) -> None:
    path = write(tmp_path, "x\nunknown\nA\n")
    assert read(path, options=Options(missing=("unknown",)))["x"].nulls == 1


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_delimiter_encoding_and_line_ends_are_found(tmp_path: Path, delimiter: str, encoding: str, end: str) -> None:
    lines = [["città", "note"], ["Forlì", f'"a{delimiter} ""b""{end}c"'], ["Bra", "x"]]
    path = write(tmp_path, end.join(delimiter.join(line) for line in lines).encode(encoding))
    assert rows(read(path)) == [("Forlì", f'a{delimiter} "b"{end}c'), ("Bra", "x")]
    assert read(path).names == ["città", "note"]


def test_blank_lines_are_not_records(tmp_path: Path) -> None:
    for end in ("\n", "\r\n"):
        path = write(tmp_path, end.join(["a,b", "1,2", "", "3,", "", ""]))
        assert rows(read(path)) == [(1, 2), (3, None)]


wild = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=5).map(lambda text: "t" + text)


@given(st.lists(st.tuples(wild, wild), min_size=1, max_size=8))
def test_any_text_survives_a_csv_file(tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[str, str]]) -> None:
    frame = pl.DataFrame(pairs, schema={"a": pl.String, "b": pl.String}, orient="row")
    buffer = io.BytesIO()
    frame.write_csv(buffer)
    path = write(tmp_path_factory.mktemp("csv"), buffer.getvalue())
    assert rows(read(path, options=Options(delimiter=","))) == pairs


def test_records_split_over_chunks_are_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(byte_streams, "CHUNK", 7)
    monkeypatch.setattr(byte_streams.chunks, "__defaults__", (7,))
    path = write(tmp_path, 'città,b\nForlì,"x\ny"\nÀ,2\n"""",3\n')
    assert rows(read(path)) == [("Forlì", "x\ny"), ("À", "2"), ('"', "3")]


# faults


def fault(path: Path, **options: Any) -> str:
    with pytest.raises(InputError) as error:
        read(path, options=Options(**options) if options else None)
    assert error.value.cure
    assert "SECRET" not in str(error.value)
    return error.value.what


def test_faults_of_text_files(tmp_path: Path) -> None:
    assert "is empty" in fault(write(tmp_path, ""))
    assert "has no rows" in fault(write(tmp_path, "a,b\n"))
    assert "line 3: 1 fields" in fault(write(tmp_path, "a,b\n1,2\nSECRET\n4,5\n"))
    assert "line 4: 3 fields" in fault(write(tmp_path, 'a,b\n1,"2\n2"\n3,4,SECRET\n'))
    assert "more than once: 'a'" in fault(write(tmp_path, "a,b,a\n1,2,3\n"))
    assert "line 3: a quote is opened" in fault(write(tmp_path, 'a,b\n1,2\n3,"SECRET\n4,5\n'))
    assert "neither in UTF-8 nor" in fault(write(tmp_path, b"a,b\nSECRET\x81\x8d,2\n"))
    assert "not written in ascii" in fault(write(tmp_path, "a\nSECRETÈ\n"), encoding="ascii")
    assert "no encoding 'klingon'" in fault(write(tmp_path, "a\n1\n"), encoding="klingon")
    assert "NUL bytes" in fault(write(tmp_path, b"a,b\n1,\x00\n"))
    assert "NUL bytes" in fault(write(tmp_path, b"\x89PNG\r\n\x1a\n\x00\x81\x8d"))


def test_faults_of_other_files(tmp_path: Path, people: pl.DataFrame) -> None:
    assert "There is no file" in fault(tmp_path / "none.csv")
    assert "holds no table" in fault(tmp_path)
    people.write_parquet(tmp_path / "p.parquet")
    whole = (tmp_path / "p.parquet").read_bytes()
    same = pa.Table.from_arrays([pa.array([1]), pa.array([[{"b": 1}]]), pa.array([2])], names=["a", "b", "a"])
    pq.write_table(same, tmp_path / "same.parquet")
    assert "more than once: 'a'" in fault(tmp_path / "same.parquet")
    for length in (4, 50, len(whole) // 2, len(whole) - 1):
        assert "damaged" in fault(write(tmp_path, whole[:length], "cut.parquet"))
    assert "first bytes" in fault(write(tmp_path, "a,b\n1,2\n", "text.parquet"))
    people.write_ipc(tmp_path / "p.arrow")
    arrow = (tmp_path / "p.arrow").read_bytes()
    assert "damaged" in fault(write(tmp_path, arrow[: len(arrow) // 2], "cut.arrow"))
    zipped = gzip.compress(b"a,b\n" + b"1,2\n" * 10_000)
    assert "damaged" in fault(write(tmp_path, zipped[:-20], "cut.csv.gz"))
    packed = zstandard.compress(b"a,b\n" + b"1,2\n" * 10_000)
    assert "damaged" in fault(write(tmp_path, packed[:-5] + b"xxxxx", "bad.csv.zst"))
    for length in (5, len(packed) // 2, len(packed) - 1):
        assert "damaged" in fault(write(tmp_path, packed[:length], "cut.csv.zst"))
    assert "line 2: not a JSON object" in fault(write(tmp_path, '{"a":1}\nSECRET\n', "t.jsonl"))
    assert "one JSON array" in fault(write(tmp_path, '[{"a":1}]', "t.json"))
    assert "cannot be read as a workbook" in fault(write(tmp_path, b"PK\x03\x04", "t.xlsx"))
    assert "ZIP archive" in fault(write(tmp_path, b"PK\x03\x04xxx", "t.csv"))
    assert "lists or records" in fault(write(tmp_path, '{"a":[1,2]}\n', "n.jsonl"))


def test_a_damaged_column_chunk_is_an_error_not_a_short_table(tmp_path: Path) -> None:
    pl.DataFrame({"a": range(100_000)}).write_parquet(tmp_path / "p.parquet", compression="zstd")
    content = bytearray((tmp_path / "p.parquet").read_bytes())
    content[100:200] = bytes(100)
    assert "damaged" in fault(write(tmp_path, bytes(content), "bad.parquet"))


def test_missing_columns_name_the_near_ones(tmp_path: Path) -> None:
    path = write(tmp_path, "age,sex,Zip\n1,2,3\n")
    with pytest.raises(InputError) as error:
        read(path, ["agee", "zip", "ward"])
    assert "'agee', 'zip', 'ward'" in error.value.what
    assert "'age' for 'agee', 'Zip' for 'zip'" in str(error.value.cure)


def test_files_with_other_columns_do_not_stack(tmp_path: Path) -> None:
    one, two = write(tmp_path, "a,b\n1,2\n", "1.csv"), write(tmp_path, "a,c\n1,2\n", "2.csv")
    with pytest.raises(InputError, match="other columns"):
        read([one, two])
    assert read([one, two], ["a"]).rows == 2


def test_what_is_no_table_is_refused() -> None:
    for source in (5, {"a": 1}, [1, 2], []):
        with pytest.raises(InputError):
            read(source)


def test_each_file_counts_once(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    for name in ("a.csv", "sub/b.csv"):
        write(tmp_path, "x\n1\n2\n", name)
    assert read(str(tmp_path / "**")).rows == read(tmp_path).rows == 4
    with pytest.raises(InputError, match="named twice"):
        read([tmp_path / "a.csv", tmp_path / "sub" / ".." / "a.csv"])


def test_a_folder_is_read_whole_or_not_at_all(tmp_path: Path) -> None:
    write(tmp_path, "x\n1\n", "a.csv")
    (tmp_path / "b.csv").symlink_to(tmp_path / "nowhere.csv")
    assert "link to nowhere" in fault(tmp_path)
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert fault(tmp_path / "loop")
    assert fault(tmp_path / ("x" * 300))
    os.mkfifo(tmp_path / "pipe")
    assert "no ordinary file" in fault(tmp_path / "pipe")


def test_a_folder_named_like_a_key_does_not_hide_a_column(tmp_path: Path) -> None:
    (tmp_path / "zip=x").mkdir()
    pl.DataFrame({"zip": [1, 2]}).write_parquet(tmp_path / "zip=x" / "a.parquet")
    assert read(tmp_path, ["zip"])["zip"].decode().to_list() == [1, 2]
    assert read(tmp_path / "zip=x" / "a.parquet").names == ["zip"]


def test_large_integers_do_not_merge_with_floats(tmp_path: Path) -> None:
    big = [2**53 + 1, 2**53]
    pl.DataFrame({"a": big}).write_parquet(tmp_path / "1.parquet")
    pl.DataFrame({"a": [1.5]}).write_parquet(tmp_path / "2.parquet")
    assert len(read(tmp_path)["a"].values) == 3


def test_intervals_in_every_column_of_a_comma_file(tmp_path: Path) -> None:
    path = write(tmp_path, "a,b\n" + "[1;10],[3;4]\n" * 12)
    assert read(path).names == ["a", "b"]


def test_excel_and_blank_lines_before_the_header(tmp_path: Path) -> None:
    assert rows(read(write(tmp_path, "sep=;\na;b\n1;2\n"))) == [(1, 2)]
    assert rows(read(write(tmp_path, "\n\r\na,b\n1,2\n"))) == [(1, 2)]
    assert read(write(tmp_path, ",column_1\n1,2\n")).names == ["column_1_", "column_1"]


def test_a_file_without_a_header_does_not_give_its_first_record_away(tmp_path: Path) -> None:
    path = write(tmp_path, "SECRET JOHN,1980-01-01,123-45-6789\nSECRET ANN,1981-01-01,123-45-6780\n")
    with pytest.raises(InputError, match="looks like a record") as error:
        read(path, ["a"])
    assert "SECRET" not in str(error.value)
    twice = write(tmp_path, "SECRET,SECRET,123-45-6789\n1,2,3\n")
    with pytest.raises(InputError, match="more than once") as error:
        read(twice)
    assert "SECRET" not in str(error.value)


def test_words_for_missing_among_text_are_said(tmp_path: Path) -> None:
    assert "--missing NA" in read(write(tmp_path, "zip\n00501\nNA\n")).notes[0]


def test_a_pyarrow_batch_and_repeated_names() -> None:
    batch = pa.RecordBatch.from_pydict({"a": [1, 2]})
    assert read(batch).rows == 2
    for frame in (pd.DataFrame([[1, 2]], columns=["a", "a"]), pa.Table.from_arrays([[1], [2]], names=["a", "a"])):
        with pytest.raises(InputError, match="more than once"):
            read(frame)


@pytest.mark.parametrize("encoding", ["rot13", "base64", "undefined", "klingon"])
def test_what_is_no_encoding_of_text(tmp_path: Path, encoding: str) -> None:
    assert "encoding" in fault(write(tmp_path, "a\n1\n"), encoding=encoding)


# hostile files


def test_a_new_key_in_every_line(tmp_path: Path) -> None:
    lines = "\n".join(json.dumps({f"k{index}": 1}) for index in range(12_000))
    assert "different keys" in fault(write(tmp_path, lines, "keys.jsonl"))


def test_a_header_of_millions_of_commas(tmp_path: Path) -> None:
    assert "more than 1,000,000 columns" in fault(write(tmp_path, b"," * 3_000_000 + b"\n"))


def test_a_line_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(byte_streams, "LONGEST_RECORD", 1 << 20)
    assert "record longer than 1 MB" in fault(write(tmp_path, b"a,b\n1," + b"x" * (20 << 20)))
    assert "record longer than 1 MB" in fault(write(tmp_path, b"x" * (20 << 20)))
    assert "record longer than 1 MB" in fault(write(tmp_path, b'a,b\n1,"' + b"x\n" * (10 << 20)))


def test_a_gzip_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(byte_streams, "EXPANSION_COUNTS_FROM", 1 << 20)
    assert "grows more than" in fault(write(tmp_path, gzip.compress(b"a,b\n" + b"1,2\n" * (16 << 20)), "bomb.csv.gz"))


def test_a_hundred_thousand_columns(tmp_path: Path) -> None:
    names = [f"c{index}" for index in range(100_000)]
    path = write(tmp_path, ",".join(names) + "\n" + ",".join("1" * len(names)) + "\n")
    assert "100,000 columns" in fault(path)
    assert rows(read(path, ["c7", "c99999"])) == [(1, 1)]


def test_json_keys_in_any_order_and_unicode(tmp_path: Path) -> None:
    text = "\n".join(json.dumps(line) for line in ({"b": "é", "a": 1}, {"a": 2, "b": None}))
    assert rows(read(write(tmp_path, text, "t.ndjson"))) == [("é", 1), (None, 2)]


def test_categories_that_no_row_has_are_missing_values(tmp_path: Path) -> None:
    frame = pl.DataFrame({"word": pl.Series([None, None], dtype=pl.String), "n": [1, 2]})
    frame.write_parquet(tmp_path / "a.parquet")
    for source in (tmp_path / "a.parquet", frame.cast({"word": pl.Categorical})):
        assert read(source)["word"].nulls == 2


_CELLS = ["7", "12", "-3", "0", "", "07", "+7", "-0", " 7", "1.5", "x", "NA", '"7"', '""', '"a""b"', '"a,b"', "9" * 19]


@given(
    rows=st.lists(st.tuples(*[st.sampled_from(_CELLS)] * 3), min_size=1, max_size=40),
    usual=st.lists(st.sampled_from(_CELLS[:5]), min_size=1, max_size=40),
    ends=st.sampled_from(["\n", "\r\n"]),
    chunk=st.sampled_from([40, 200, 1 << 20]),
)
def test_whole_numbers_of_a_text_file_are_read_as_their_texts_are(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[tuple[str, str, str]],
    usual: list[str],
    ends: str,
    chunk: int,
) -> None:
    lines = ["a,b,c", *(f"{cell},{cell},1" for cell in usual), *map(",".join, rows)]
    path = tmp_path_factory.mktemp("numbers") / "table.csv"
    path.write_bytes((ends.join(lines) + ends).encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("shoal.storage.reading.bytes.chunks.__defaults__", (chunk,))
        found = _read_or_refused(path)
        patch.setattr("shoal.storage.reading.csv.WholeNumbers.parse", lambda self, block: None)
        expected = _read_or_refused(path)
    if isinstance(expected, str):
        assert found == expected
        return
    assert isinstance(found, Table)
    for name, column in expected.columns.items():
        ours = found[name]
        assert ours.values.equals(column.values, check_dtypes=True)
        assert (ours.codes.tolist(), ours.nulls, ours.respelled) == (
            column.codes.tolist(), column.nulls, column.respelled,
        )  # fmt: skip
        assert ours.as_written().equals(column.as_written(), check_dtypes=True)


def _read_or_refused(path: Path) -> Table | str:
    try:
        return read(path)
    except InputError as error:
        return str(error)


def test_whole_numbers_are_parsed_as_such_until_one_is_written_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    from shoal.storage.reading.csv import WholeNumbers

    def split(block: bytes, columns: dict[str, pl.DataType]) -> pl.DataFrame:
        return pl.read_csv(block, has_header=False, schema=columns)

    numbers = WholeNumbers(["column_1", "column_2"], ["column_1", "column_2"], split)
    first = numbers.parse(b"1,5\n2,\n")
    assert first is not None
    assert first.rows() == [(1, 5), (2, None)]
    second = b"1,07\n2,8\n"
    assert numbers.parse(second) is None
    numbers.parsed_as_text(split(second, {"column_1": pl.String(), "column_2": pl.String()}))
    third = numbers.parse(b"1,5\n2,8\n")
    assert third is not None
    assert third.rows() == [(1, "5"), (2, "8")]
