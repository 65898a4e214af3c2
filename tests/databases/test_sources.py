"""Tables and queries of databases as sources: the same figures as from a frame, every type, every refusal."""

from __future__ import annotations

import datetime
import json
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import polars as pl
import pytest

import shoal
from databases.conftest import put, seen
from databases.server import Server
from shoal.storage.databases import Address
from shoal.storage.databases.base import read_query
from shoal.storage.reading import read

pytestmark = pytest.mark.xdist_group("postgresql")

PEOPLE = pl.DataFrame(
    {
        "id": range(300),
        "age": [20 + number % 37 for number in range(300)],
        "zip": [f"{number % 7:05d}" for number in range(300)],
        "seen": [datetime.date(2020, 1, 1) + datetime.timedelta(days=number % 11) for number in range(300)],
        "weight": [None if number % 10 == 0 else 50 + number / 8 for number in range(300)],
        "smokes": [number % 3 == 0 for number in range(300)],
    }
)


def test_a_table_gives_the_figures_of_its_frame(place: str) -> None:
    put(f"{place}?table=people", PEOPLE)
    columns = ["age", "zip", "seen", "weight", "smokes"]
    found = shoal.risk(f"{place}?table=people", quasi_identifiers=columns).to_dict()
    wanted = shoal.risk(PEOPLE, quasi_identifiers=columns).to_dict()
    for key in ("records", "classes", "uniques", "k"):
        assert found[key] == wanted[key], key
    assert any("no order" in note for note in found["notes"])
    table = read(f"{place}?table=people&order=id")
    assert table.ordered
    assert table.to_polars().cast({"id": pl.Int64, "age": pl.Int64}).equals(PEOPLE)


def test_a_query_is_read_in_its_order(place: str) -> None:
    put(f"{place}?table=people", PEOPLE)
    query = "select age, count(*) as n from people where age < 25 group by age order by age desc; -- the young"
    table = read(f"{place}?query={query}")
    assert table.ordered
    assert table.to_polars()["age"].to_list() == [24, 23, 22, 21, 20]
    assert not read(f"{place}?query=select age from people").ordered
    assert read(f"{place}?query=select id, age from people", ["age"]).names == ["age"]


def test_the_order_is_that_of_values_whatever_is_read(place: str) -> None:
    put(f"{place}?table=numbers", pl.DataFrame({"n": pl.Series([9, 10, 2], dtype=pl.Decimal(10, 2)), "a": [1, 2, 3]}))
    for columns in (["a"], ["n", "a"]):
        found = read(f"{place}?table=numbers&order=n", columns)["a"].decode().to_list()
        assert found == ([3, 1, 2] if not place.startswith("sqlite") else [2, 3, 1])  # decimals are text there


def test_the_command_line_takes_addresses_and_queries(place: str) -> None:
    put(f"{place}?table=people", PEOPLE)
    command = [sys.executable, "-m", "shoal", "risk", place, "--query", "select age, zip from people", "--json"]
    run = subprocess.run([*command, "--qi", "age,zip"], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    assert (found["records"], found["uniques"]) == (300, shoal.risk(PEOPLE, quasi_identifiers=["age", "zip"]).uniques)
    assert "select" not in run.stdout  # a query may hold values


def test_types_of_postgresql(server: Server) -> None:
    server.sql(
        """
        create type mood as enum ('sad', 'fine');
        create domain years as int check (value >= 0);
        create table kinds (
          small int2, int int4, big int8, free numeric, money numeric(10, 2), day date, at timestamp, zoned timestamptz,
          real float4, double float8, yes bool, id uuid, doc json, docb jsonb, mood mood,
          padded char(5), word varchar(9),
          age years, address inet, span interval, clock time
        );
        insert into kinds values (
          1, 2, 3, 1.50, 2.50, '2020-02-29', '2020-02-29 01:02:03', '2020-02-29 01:02:03+02', 1.5, 2.5, true,
          '00000000-0000-0000-0000-000000000001', '{"a": 1}', '{"a": 1}', 'fine', 'ab', 'cd', 41,
          '10.0.0.1', '1 day', '01:02'
        );
        insert into kinds default values;
        insert into kinds (free, money) values ('NaN', 'NaN');
        """,
        "clinic",
    )
    frame = seen("postgresql:///clinic?table=kinds&order=ctid")
    assert frame["money"].dtype == pl.Decimal(10, 2)
    assert frame["zoned"].dtype == pl.Datetime("us", "UTC")
    assert frame.null_count().row(0) == (2,) * frame.width
    assert frame.row(0) == (
        1, 2, 3, 1.5, Decimal("2.50"), datetime.date(2020, 2, 29), datetime.datetime(2020, 2, 29, 1, 2, 3),
        datetime.datetime(2020, 2, 28, 23, 2, 3, tzinfo=datetime.UTC), 1.5, 2.5, True,
        "00000000-0000-0000-0000-000000000001", '{"a": 1}', '{"a": 1}', "fine", "ab", "cd", 41, "10.0.0.1/32", "1 day",
        "01:02:00",
    )  # fmt: skip


def test_what_is_not_a_value_of_a_cell_is_refused(server: Server) -> None:
    server.sql(
        "create table odd (tags text[], raw bytea, day date, age int);"
        "insert into odd values ('{Mary}', '\\x00', 'infinity', 3)",
        "clinic",
    )
    for column, words in (("tags", r"arrays \(text\[\]\)"), ("raw", "bytes"), ("day", "infinite")):
        with pytest.raises(shoal.InputError, match=words) as error:
            read("postgresql:///clinic?table=odd", [column])
        assert "Mary" not in str(error.value)
    assert read("postgresql:///clinic?table=odd", ["age"]).rows == 1
    assert seen("postgresql:///clinic?query=select array_to_string(tags, ' ') as tags from odd")["tags"][0] == "Mary"


def test_columns_of_sqlite_have_the_type_of_all_their_values(tmp_path: Path) -> None:
    import sqlite3

    connection = sqlite3.connect(tmp_path / "kinds.db")
    columns = "n integer, mixed, late text, day date, at text, x real, raw blob, yes boolean"
    connection.execute(f"create table kinds ({columns})")
    empty = [(None,) * 8] * 3_000  # more than the rows from which the driver takes types
    rows = [(1, 1, "a", "2020-02-29", "2020-02-29 01:02:03", 1, b"\0", 1), (2, "x", "b", None, None, 2.5, None, 0)]
    connection.executemany("insert into kinds values (?, ?, ?, ?, ?, ?, ?, ?)", [*empty, *rows])
    connection.commit()
    connection.close()
    address = f"sqlite:///{tmp_path}/kinds.db?table=kinds"
    names = ["n", "mixed", "late", "day", "at", "x", "yes"]
    frame = read(address, names).to_polars()
    assert frame.dtypes == [pl.Int64, pl.String, pl.String, pl.Date, pl.Datetime("us"), pl.Float64, pl.Boolean]
    assert frame.tail(2).rows() == [
        (1, "1", "a", datetime.date(2020, 2, 29), datetime.datetime(2020, 2, 29, 1, 2, 3), 1.0, True),
        (2, "x", "b", None, None, 2.5, False),
    ]
    with pytest.raises(shoal.InputError, match="BLOB"):
        read(address)


def test_types_of_duckdb(tmp_path: Path) -> None:
    import duckdb

    connection = duckdb.connect(str(tmp_path / "kinds.duckdb"))
    connection.execute(
        "create table kinds as select 1.50::decimal(9, 2) as money, 'a'::enum('a', 'b') as mood, 5::hugeint as huge, "
        "'00000000-0000-0000-0000-000000000001'::uuid as id, time '01:02:03' as clock, [1] as several, "
        "{'a': 1} as within, 'x'::blob as raw, timestamptz '2020-02-29 01:02:03+00' as zoned"
    )
    connection.close()
    address = f"duckdb:///{tmp_path}/kinds.duckdb?table=kinds"
    frame = read(address, ["money", "mood", "huge", "id", "clock"]).to_polars()
    assert frame.row(0) == (Decimal("1.50"), "a", 5, "00000000-0000-0000-0000-000000000001", "01:02:03")
    for column in ("several", "within", "raw"):
        with pytest.raises(shoal.InputError, match="cannot be read"):
            read(address, [column])


@pytest.mark.parametrize(
    "query",
    [
        "drop table people",
        "select 1; drop table people",
        "select 1) as asked; drop table people; --",
        "with gone as (delete from people returning id) select * from gone",
        "select * into copy from people",
        "update people set age = 1",
        "select 'unclosed",
    ],
)
def test_a_query_that_does_not_only_read_is_refused(place: str, query: str) -> None:
    put(f"{place}?table=people", PEOPLE)
    with pytest.raises(shoal.InputError):
        read(f"{place}?query={query}")
    assert read(f"{place}?table=people").rows == 300


@pytest.mark.parametrize("name", ['people"; drop table people; --', "p\\'e); select 1"])
def test_names_are_names_whatever_is_in_them(place: str, name: str) -> None:
    from urllib.parse import quote

    put(f"{place}?table=people", PEOPLE)
    with pytest.raises(shoal.InputError, match="no such table"):
        read(f"{place}?table={quote(name)}")
    with pytest.raises(shoal.InputError, match="no column"):
        read(f"{place}?table=people&order={quote(name)}")
    put(f"{place}?table={quote(name)}", pl.DataFrame({name: [1, 2], 'a" b': ["x'; drop table people; --", "y"]}))
    assert read(f"{place}?table={quote(name)}&order={quote(name)}").to_polars().rows()[0][0] == 1
    assert read(f"{place}?table=people").rows == 300


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("postgresql:///clinic?table=nothing", "no such table"),
        ("postgresql:///elsewhere?table=people", "no such database"),
        ("postgresql://127.0.0.1:1/clinic?table=people", "cannot be reached"),
        ("postgresql:///clinic?service=unknown&table=people", "not a known service"),
        ("postgresql:///clinic", "names no table"),
        ("postgresql:///clinic?query=select 'Mary'::int", "cannot convert"),
        ("postgresql:///clinic?query=select Mary from nowhere", "no such table"),
        ("postgresql:///clinic?query=selec 1", "does not start with select"),
        ("postgresql:///clinic?query=select from from", "not valid SQL"),
        ("postgresql:///clinic?tabel=people", "not known"),
        ("postgresql:///clinic?table=a&query=select 1", "a table and a query"),
        ("postgresql:clinic", "not an address"),
        ("sqlite:///none.db?table=people", "no file"),
        ("sqlite://people.db?table=people", "names no file"),
    ],
)
def test_a_refusal_is_one_sentence_without_the_servers_words(server: Server, address: str, words: str) -> None:
    with pytest.raises(shoal.InputError, match=words) as error:
        read(address)
    assert "Mary" not in str(error.value)
    assert "ERROR" not in str(error.value)
    assert "\n" not in error.value.what


def test_wrong_credentials_are_said_without_them(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSWORD", "not-this-one")
    with pytest.raises(shoal.InputError, match="refused the user or the password") as error:
        read("postgresql:///clinic?table=people")
    assert "not-this-one" not in str(error.value)
    assert server.user not in str(error.value)


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://clerk:geheim@host/db?table=people",
        "postgres://:geheim@host/db?table=people",
        "postgresql:///db?table=people&password=geheim",
        "postgresql:///db?table=people&sslpassword=geheim",
        "mysql://clerk:geheim@host/db",
    ],
)
def test_a_password_in_an_address_is_refused_and_not_repeated(address: str, tmp_path: Path) -> None:
    for call in (
        lambda: shoal.risk(address, quasi_identifiers=["age"]),
        lambda: shoal.verify(address),
        lambda: shoal.profile([address, address]),
        lambda: shoal.release(shoal.anonymize(PEOPLE, quasi_identifiers=["age"], k=2), address),
    ):
        with pytest.raises(shoal.InputError) as error:
            call()
        assert "geheim" not in str(error.value)


def test_a_service_file_and_a_password_file_give_credentials(
    server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    put("postgresql:///clinic?table=people", PEOPLE)
    for name in server.environment:
        monkeypatch.delenv(name)
    (tmp_path / "service").write_text(
        f"[ward]\nhost=127.0.0.1\nport={server.port}\nuser={server.user}\ndbname=clinic\n"
    )
    monkeypatch.setenv("PGSERVICEFILE", str(tmp_path / "service"))
    passwords = tmp_path / "passwords"
    passwords.write_text(f"127.0.0.1:{server.port}:*:{server.user}:{server.password}\n")
    passwords.chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(passwords))
    assert read("postgresql:///?service=ward&table=people").rows == 300


def test_an_address_shows_neither_user_nor_query() -> None:
    address = Address.of("postgresql://clerk@host:5433/clinic?query=select * from visits where name = 'Mary'")
    assert str(address) == repr(address) == "a query of postgresql://host:5433/clinic"
    assert "Mary" not in f"{address!r}"


@pytest.mark.parametrize(
    ("query", "ordered"),
    [
        ("select a from t order by a", True),
        ("select a from t -- order by a", False),
        ("select ' order by ' from t", False),
        ('select "order", "by" from t', False),
        ("select rank() over (order by a) from t", False),
        ("(select a from t) order by a", True),
        ("with q as (select a from t order by a) select * from q", False),
        ("select $$ ; order by $$ from t", False),
        (r"select 'a\' as x, 'b' from t order by 1", True),
    ],
)
def test_an_order_counts_outside_of_parentheses_only(query: str, ordered: bool) -> None:
    assert read_query(query).ordered is ordered


def test_missing_drivers_name_their_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for module, address, extra in (
        ("adbc_driver_postgresql", "postgresql:///clinic?table=people", "postgres"),
        ("adbc_driver_sqlite", f"sqlite:///{tmp_path}/a.db?table=people", "sqlite"),
        ("duckdb", f"duckdb:///{tmp_path}/a.duckdb?table=people", "duckdb"),
    ):
        monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(shoal.InputError, match=rf"pip install 'shoal\[{extra}\]'"):
            read(address)


def test_the_file_of_a_database_is_told_how_to_be_named(tmp_path: Path) -> None:
    put(f"sqlite:///{tmp_path}/visits.db?table=people", PEOPLE)
    with pytest.raises(shoal.InputError, match=r"sqlite:///.*visits\.db\?table=NAME"):
        read(tmp_path / "visits.db")


def _sqlite(path: Path, *statements: str) -> str:
    import sqlite3

    with sqlite3.connect(path) as connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()
    return f"sqlite:///{path}"


def test_codes_in_a_column_declared_boolean_are_numbers(tmp_path: Path) -> None:
    codes = ", ".join(f"({number}, {number % 2})" for number in range(1, 10))
    place = _sqlite(
        tmp_path / "codes.db", "create table t (marital boolean, sex boolean)", f"insert into t values {codes}"
    )
    frame = seen(f"{place}?table=t")
    assert frame["marital"].to_list() == list(range(1, 10))
    assert frame["sex"].dtype == pl.Boolean
    assert shoal.risk(f"{place}?table=t", quasi_identifiers=["marital"]).k == 1


def test_numbers_that_a_common_type_would_merge_are_told_apart(tmp_path: Path) -> None:
    place = _sqlite(
        tmp_path / "big.db",
        "create table t (mixed, sums, word)",
        f"insert into t values ({2**53}, 0.1 + 0.2, 0.1 + 0.2), ({2**53 + 1}, 0.3, 0.3), (0.5, 1, 'none')",
    )
    with pytest.raises(shoal.InputError, match=r"'mixed'.*beyond 2"):
        seen(f"{place}?table=t")
    table = read(f"{place}?table=t", ["sums", "word"]).to_polars()
    assert table["sums"].n_unique() == 3
    assert table["word"].n_unique() == 3


@pytest.mark.parametrize("place", ["duckdb", "postgresql"], indirect=True)
def test_long_numbers_of_numeric_columns_are_told_apart(place: str) -> None:
    put(f"{place}?table=any", pl.DataFrame({"a": [1]}))
    kind = "numeric" if place.startswith("postgresql") else "decimal(38, 1)"
    query = f"select cast(n as {kind}) as n from (values ('{2**53}'), ('{2**53 + 1}'), ('0.5')) as v(n)"
    assert seen(f"{place}?query={query}")["n"].n_unique() == 3


@pytest.mark.parametrize("place", ["duckdb"], indirect=True)
def test_a_query_reads_no_file_of_the_machine(place: str) -> None:
    put(f"{place}?table=any", pl.DataFrame({"a": [1]}))
    Path("secret.csv").write_text("word\nsecret\n")
    for query in ("select * from read_csv('secret.csv')", "select * from 'secret.csv'", "select * from read_text('*')"):
        with pytest.raises(shoal.InputError, match=r"another file|no such table|could not do this") as refused:
            read(f"{place}?query={query}")
        assert "secret" not in str(refused.value)


def test_an_error_of_a_driver_in_the_midst_of_rows_is_that_of_the_database() -> None:
    from shoal.storage.databases.base import refusals

    with pytest.raises(shoal.InputError, match="SQLite could not do this") as refused, refusals(Address.of(_ANY)):
        raise OSError("a value of the table")
    assert "a value" not in str(refused.value)
    with pytest.raises(FileNotFoundError), refusals(Address.of(_ANY)):
        raise FileNotFoundError(2, "no such file")


_ANY = "sqlite:///any.db?table=any"
