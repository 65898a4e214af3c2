"""Releases into databases: judged before they are committed, whole or not at all, verified by their content."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import shoal
from databases.conftest import put, seen
from databases.server import Server
from shoal.cli.group import app
from shoal.policy.manifest import manifest_path
from shoal.releases.open import Release
from shoal.storage.databases import Address, database_of
from shoal.storage.databases.base import failure
from shoal.storage.reading import read

pytestmark = pytest.mark.xdist_group("postgresql")

PEOPLE = pl.DataFrame(
    {
        "id": range(240),
        "age": [20 + number % 37 for number in range(240)],
        "sex": ["fm"[number % 2] for number in range(240)],
        "bill": pl.Series([f"{number}.50" for number in range(240)]).cast(pl.Decimal(10, 2)),
        "in_care": [number % 3 == 0 for number in range(240)],
    }
)
ROLES = {"id": "identifier", "age": "quasi-identifier", "sex": "quasi-identifier", "bill": "other", "in_care": "other"}
SERVER_FIRST = [
    "postgresql",
    pytest.param("sqlite", marks=pytest.mark.slow),
    pytest.param("duckdb", marks=pytest.mark.slow),
]
POLICY = {"columns": ROLES, "models": [{"model": "k-anonymity", "k": 5}]}


def released(source: object, output: str, **settings: object) -> shoal.Released:
    return shoal.release(shoal.anonymize(source, policy=POLICY), output, **settings)


def test_a_release_is_a_table_that_verify_accepts_until_it_is_edited(place: str) -> None:
    put(f"{place}?table=people", PEOPLE)
    target = f"{place}?table=safe"
    made = released(f"{place}?table=people", target, shuffle=True)
    assert str(made.output).endswith("?table=safe")
    manifest = json.loads(manifest_path(Address.of(target).beside).read_text())
    assert manifest["stored_in"]["table"] == "safe"
    assert any("no order" in note for note in manifest["notes"])
    found = shoal.verify(target)
    assert found.holds, found.reasons()
    assert found.k >= 5
    frame = seen(target)
    assert set(frame["bill"].cast(pl.Float64)) == set(PEOPLE["bill"].cast(pl.Float64))
    assert Release.open(target).table().rows == 240
    assert shoal.risk(target, quasi_identifiers=["age", "sex"]).uniques == 0

    put(f"{place}?table=edited", frame.with_columns(bill=pl.col("bill").reverse()))
    other = f"{place}?table=edited"
    manifest_path(Address.of(target).beside).rename(manifest_path(Address.of(other).beside))
    edited = shoal.verify(other)
    assert not edited.holds
    assert "data hash" in edited.reasons()


def test_rows_in_another_order_are_the_same_table(place: str) -> None:
    put(f"{place}?table=people", PEOPLE)
    target = f"{place}?table=safe"
    released(f"{place}?table=people", target)
    put(target, seen(target).reverse())
    assert shoal.verify(target).holds


def test_an_existing_table_is_replaced_by_force_alone(place: str) -> None:
    put(f"{place}?table=people", PEOPLE)
    target = f"{place}?table=safe"
    put(f"{place}?table=other", pl.DataFrame({"a": [1]}))
    with pytest.raises(shoal.InputError, match="exists already"):
        released(PEOPLE, f"{place}?table=other")
    with pytest.raises(shoal.InputError, match="not a table that shoal wrote"):
        released(PEOPLE, f"{place}?table=other", force=True)
    assert seen(f"{place}?table=other").height == 1
    put(f"{place}?table=empty", pl.DataFrame({"a": []}, schema={"a": pl.Int64}))
    with pytest.raises(shoal.InputError, match="not a table that shoal wrote"):
        released(PEOPLE, f"{place}?table=empty", force=True)
    released(PEOPLE, target, force=True)
    assert shoal.verify(target).holds
    released(PEOPLE.head(120), target, force=True)
    assert shoal.verify(target).records == 120


def test_an_input_is_never_replaced(place: str) -> None:
    put(f"{place}?table=people", PEOPLE)
    for source in (f"{place}?table=people", f"{place}?query=select * from people"):
        with pytest.raises(shoal.InputError, match="input and the output"):
            released(source, f"{place}?table=people", force=True)
    assert seen(f"{place}?table=people").height == 240
    _run(place, "create view v as select * from people", 'create view "W" as select * from v')
    for source in (f"{place}?table=v", f"{place}?table=W", f'{place}?query=select * from "W"'):
        with pytest.raises(shoal.InputError, match="input and the output"):
            released(source, f"{place}?table=people", force=True)
    assert seen(f"{place}?table=people").height == 240


@pytest.mark.parametrize("place", ["sqlite", "duckdb"], indirect=True)
def test_the_command_says_that_the_table_is_the_input(place: str) -> None:
    put(f"{place}?table=people", PEOPLE)
    for force in ([], ["--force"]):
        asked = ["anonymize", f"{place}?table=people&order=id", "--qi", "age,sex", "-k", "5", *force]
        with pytest.raises(shoal.InputError, match="the input and the output at once") as said:
            app([*asked, "-o", f"{place}?table=people"], standalone_mode=False)
        assert said.value.cure.startswith("Choose another name")
    assert seen(f"{place}?table=people").height == 240


@pytest.mark.parametrize("place", ["sqlite", "duckdb"], indirect=True)
def test_a_folder_that_cannot_be_written_to_is_named(place: str) -> None:
    """Whoever may write everywhere is refused by the system in a folder of processes."""
    if not Path("/proc/self").is_dir():
        pytest.skip("there is no folder /proc")
    system = place.partition(":")[0]
    with pytest.raises(shoal.InputError, match=r"^/proc cannot be written to: "):
        released(PEOPLE, f"{system}:////proc/clinic.db?table=safe")
    said = failure(RuntimeError("attempt to write a readonly database"), Address.of(f"{place}?table=safe"))
    assert "cannot be opened, or not be written to" in str(said)


def _run(place: str, *statements: str) -> None:
    """Statements of somebody else."""
    address = Address.of(place)
    if address.system == "postgresql":
        from shoal.storage.databases import postgresql

        connection = postgresql._connect(address)
        for statement in statements:
            postgresql._run(connection, statement)
    else:
        connection = __import__({"sqlite": "sqlite3"}.get(address.system, "duckdb")).connect(address.database)
        for statement in statements:
            connection.execute(statement)
    connection.commit()
    connection.close()


@pytest.mark.parametrize("place", ["sqlite"], indirect=True)
def test_a_file_is_the_input_under_all_its_names(place: str) -> None:
    put(f"{place}?table=people", PEOPLE)
    Path("other.sqlite").hardlink_to("clinic.sqlite")
    with pytest.raises(shoal.InputError, match="input and the output"):
        released(f"{place}?table=people", "sqlite:///other.sqlite?table=people", force=True)


def test_a_server_is_the_input_under_all_its_names(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    put("postgresql:///clinic?table=people", PEOPLE)
    for host in ("127.0.0.1", "localhost"):
        with pytest.raises(shoal.InputError, match="input and the output"):
            released(
                "postgresql:///clinic?table=people",
                f"postgresql://{host}:{server.port}/clinic?table=people",
                force=True,
            )
    server.sql("create schema a; create schema b; create table b.zz (x int)", "clinic")
    monkeypatch.setenv("PGOPTIONS", "-c search_path=a,b,public")
    released(PEOPLE, "postgresql:///clinic?table=zz")
    assert server.sql("select count(*) from b.zz", "clinic") == "0"
    assert server.sql("select count(*) from a.zz", "clinic") == "240"
    assert json.loads(Path("zz.postgresql.manifest.json").read_text())["stored_in"]["schema_name"] == "a"


def test_of_two_releases_into_one_table_one_is_refused(place: str) -> None:
    target = Address.of(f"{place}?table=safe")
    system = database_of(target)
    first = system.stage(target, PEOPLE)
    if not place.startswith("duckdb"):  # its threads of one process share one database
        with pytest.raises(shoal.InputError, match=r"in use|being written"):
            system.stage(target, PEOPLE)
    first.publish()
    with pytest.raises(shoal.InputError, match="exists already"):
        system.stage(target, PEOPLE.head(1))
    assert seen(f"{place}?table=safe").height == 240


def test_a_refused_release_leaves_nothing(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from shoal.releases.write import Refused
    from shoal.storage.databases import base

    def changed(series: pl.Series, column: base.ColumnRead) -> pl.Series:
        return series.reverse()

    target = f"{place}?table=safe"
    with monkeypatch.context() as patch:
        patch.setattr(base, "_taken", changed)  # the database gives back other rows than it was given
        with pytest.raises(Refused):
            released(PEOPLE, target)
    assert not [file for file in Path().iterdir() if file.suffix == ".json"]
    with pytest.raises(shoal.InputError, match="no such table"):
        read(target)


def test_rows_are_aligned_where_both_tables_have_an_order(place: str) -> None:
    put(f"{place}?table=people", PEOPLE)
    target = f"{place}?table=safe"
    source = f"{place}?table=people&order=id"
    released(source, target, shuffle=True)
    physical = "ctid" if place.startswith("postgresql") else "rowid"
    found = shoal.verify(f"{target}&order={physical}", original=source)
    assert found.holds, found.reasons()
    with pytest.raises(shoal.InputError, match="have no order"):
        shoal.verify(target, original=source)
    with pytest.raises(shoal.InputError, match="have no order"):
        shoal.verify(f"{target}&order={physical}", original=f"{place}?table=people")
    released(f"{place}?table=people", target, force=True)
    with pytest.raises(shoal.InputError, match="cannot be told again"):
        shoal.verify(f"{target}&order={physical}", original=source)
    young = f"{place}?query=select * from people where id < 200 order by id"
    released(young, target, force=True)
    assert "is the same query" in shoal.verify(f"{target}&order={physical}", original=source).reasons()
    found = shoal.verify(f"{target}&order={physical}", original=young)
    assert found.holds, found.reasons()


@pytest.mark.parametrize("place", SERVER_FIRST, indirect=True)
def test_the_command_line_releases_and_verifies(place: str) -> None:
    put(f"{place}?table=people", PEOPLE)
    Path("policy.yaml").write_text(json.dumps(POLICY))

    def shoal_(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-m", "shoal", *arguments], capture_output=True, text=True, check=False)

    made = shoal_(
        "anonymize", place, "--query", "select * from people order by id", "--policy", "policy.yaml",
        "-o", f"{place}?table=safe&manifest=out.manifest.json", "--json",
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    assert Path("out.manifest.json").exists()
    found = shoal_("verify", f"{place}?table=safe&manifest=out.manifest.json", "--json")
    assert found.returncode == 0, found.stdout + found.stderr
    again = shoal_(
        "anonymize", f"{place}?table=people", "--policy", "policy.yaml", "-o", f"{place}?table=safe", "--json"
    )
    assert again.returncode == 2
    assert "exists already" in again.stderr


KILLED = """
import os, signal, sys
import polars as pl
import shoal
from shoal.storage.databases import Address, database_of
from shoal.storage.databases import {module} as system

def die(*arguments, **more):
    os.kill(os.getpid(), signal.SIGKILL)

{when}
frame = pl.read_parquet(sys.argv[1])
result = shoal.anonymize(frame, policy={policy!r})
shoal.release(result, sys.argv[2], force=True)
"""
MOMENTS = {
    "after the rows were written": "system._Staged.rows = die",
    "before the table takes its name": "system._Staged.publish = die",
    "after it was committed": "from pathlib import Path; keep = Path.replace\n"
    "waits = lambda name: name.startswith('.safe.') and '.manifest.' in name\n"
    "Path.replace = lambda self, to: die() if waits(self.name) else keep(self, to)",
}


@pytest.mark.parametrize("place", SERVER_FIRST, indirect=True)
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_kill_leaves_the_old_table_or_the_new_one(place: str, moment: str, tmp_path: Path) -> None:
    target = f"{place}?table=safe"
    released(PEOPLE, target)
    before = seen(target)
    PEOPLE.head(120).write_parquet("half.parquet")
    module = place.partition(":")[0]
    code = KILLED.format(module=module, when=MOMENTS[moment], policy=POLICY)
    ended = subprocess.run([sys.executable, "-c", code, "half.parquet", target], capture_output=True, check=False)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    found = shoal.verify(target)
    assert found.holds, found.reasons()
    if moment == "after it was committed":
        assert found.records == 120
    else:
        assert seen(target).sort(pl.all()).equals(before.sort(pl.all()))
        released(PEOPLE.head(120), target, force=True)  # nothing stands in the way
        assert shoal.verify(target).records == 120


def test_others_see_nothing_of_a_table_before_it_is_committed(
    server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from shoal.storage.databases import postgresql

    looks: list[str] = []
    rows = postgresql._Staged.rows

    def look(self: postgresql._Staged) -> object:
        looks.append(server.sql("select count(*) from pg_tables where schemaname = 'public'", "clinic"))
        return rows(self)

    monkeypatch.setattr(postgresql._Staged, "rows", look)
    monkeypatch.chdir(tmp_path)
    released(PEOPLE, "postgresql:///clinic?table=safe")
    assert looks == ["0"]
    assert server.sql("select count(*) from safe", "clinic") == "240"


def test_nothing_of_the_connection_reaches_a_document(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    put("postgresql:///clinic?table=people", PEOPLE)
    address = f"postgresql://{server.user}@127.0.0.1:{server.port}/clinic"
    made = released(f"{address}?query=select * from people where sex <> 'Mary'", f"{address}?table=safe")
    texts = [file.read_text() for file in tmp_path.iterdir()] + [repr(made), json.dumps(made.to_dict()), made.summary()]
    for text in texts:
        assert server.password not in text
        assert server.user not in text
        assert "Mary" not in text
    assert len(texts) >= 6


@pytest.mark.parametrize("name", ["a\"b'; drop table people", "größe"])
def test_columns_and_values_are_written_whatever_is_in_them(place: str, name: str) -> None:
    put(f"{place}?table=people", PEOPLE)
    frame = PEOPLE.select(pl.col("sex").alias(name), word=pl.lit("'); drop table people; --"))
    policy = {"columns": {name: "quasi-identifier", "word": "other"}, "models": [{"model": "k-anonymity", "k": 5}]}
    shoal.release(shoal.anonymize(frame, policy=policy), f"{place}?table=safe")
    assert shoal.verify(f"{place}?table=safe").holds
    assert set(seen(f"{place}?table=safe")["word"]) == {"'); drop table people; --"}
    assert read(f"{place}?table=people").rows == 240


def test_what_a_database_cannot_hold_is_refused(place: str) -> None:
    policy = {"columns": {"sex": "quasi-identifier", "Sex": "other"}, "models": [{"model": "k-anonymity", "k": 5}]}
    frame = PEOPLE.select("sex", Sex=pl.lit("x"))
    target = f"{place}?table=safe"
    if place.startswith("postgresql"):
        shoal.release(shoal.anonymize(frame, policy=policy), target)
        long = "n" * 64
        frame, policy = frame.rename({"sex": long}), {**POLICY, "columns": {long: "quasi-identifier", "Sex": "other"}}
    with pytest.raises(shoal.InputError, match=r"apart|63 bytes"):
        shoal.release(shoal.anonymize(frame, policy=policy), target, force=True)
    with pytest.raises(shoal.InputError, match="not a place"):
        released(PEOPLE, f"{place}?query=select 1")


def test_the_parts_of_a_release_into_another_database_are_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    released(PEOPLE, "sqlite:///a.db?table=safe")
    before = {part: part.read_bytes() for part in tmp_path.glob("safe.*")}
    assert len(before) >= 3
    names = "manifest=safe.a.db.manifest.json"
    for other in (f"sqlite:///b.db?table=safe&{names}", f"duckdb:///b.duckdb?table=safe&{names}", "safe.a.db.csv"):
        with pytest.raises(shoal.InputError, match="belongs to another release"):
            released(PEOPLE, other)
        assert {part: part.read_bytes() for part in tmp_path.glob("safe.*")} == before
    assert shoal.verify("sqlite:///a.db?table=safe").holds
    for other in ("sqlite:///b.db?table=safe", "duckdb:///b.duckdb?table=safe"):  # names of their own
        released(PEOPLE, other)
        assert shoal.verify(other).holds
    assert {part: part.read_bytes() for part in before} == before
    released(PEOPLE, "sqlite:///c.db?table=safe&manifest=b.manifest.json")
    assert shoal.verify("sqlite:///c.db?table=safe&manifest=b.manifest.json").holds


def test_the_parts_of_a_release_into_a_file_that_was_interrupted_are_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from contextlib import closing
    from sqlite3 import connect

    monkeypatch.chdir(tmp_path)
    released(PEOPLE, "sqlite:///a.db?table=safe")
    with closing(connect("a.db")) as database:
        database.execute("drop table safe")
    released(PEOPLE.head(120), "sqlite:///a.db?table=safe")
    assert shoal.verify("sqlite:///a.db?table=safe").records == 120


@pytest.mark.parametrize("place", ["sqlite"], indirect=True)
def test_a_manifest_vouches_for_its_own_table_alone(place: str) -> None:
    target = f"{place}?table=safe"
    released(PEOPLE, target)
    Path("moved").mkdir()
    for name in ("clinic.sqlite", "safe.clinic.sqlite.manifest.json", "safe.clinic.sqlite.private.json"):
        Path("moved", name.replace("clinic", "second")).write_bytes(Path(name).read_bytes())
    other = shoal.verify("sqlite:///moved/second.sqlite?table=safe")
    assert not other.holds
    assert "another table" in other.reasons()
    _run(place, "create trigger t after update on safe begin delete from safe; end")
    assert "with triggers" in shoal.verify(target).reasons()
    _run(place, "drop trigger t", "alter table safe rename to kept", "create view safe as select * from kept")
    assert "a view" in shoal.verify(target).reasons()
    with pytest.raises(shoal.InputError, match="is a view"):
        released(PEOPLE, target, force=True)


@pytest.mark.parametrize("place", ["sqlite"], indirect=True)
def test_a_replaced_release_leaves_no_values_in_the_file(place: str) -> None:
    target = f"{place}?table=safe"
    released(PEOPLE.with_columns(sex=pl.lit("OLDSECRETVALUE")), target)
    assert b"OLDSECRETVALUE" in Path("clinic.sqlite").read_bytes()
    released(PEOPLE, target, force=True)
    assert b"OLDSECRETVALUE" not in Path("clinic.sqlite").read_bytes()


@pytest.mark.parametrize("place", ["duckdb"], indirect=True)
def test_a_copy_of_a_duckdb_file_has_no_values_of_a_replaced_release(place: str) -> None:
    import duckdb

    target = f"{place}?table=safe"
    released(PEOPLE.with_columns(sex=pl.lit("OLDSECRETVALUE")), target)
    released(PEOPLE, target, force=True)
    with duckdb.connect() as connection:  # as docs/databases.md says
        connection.execute("ATTACH 'clinic.duckdb' AS old; ATTACH 'clean.duckdb' AS clean")
        connection.execute("COPY FROM DATABASE old TO clean")
    assert b"OLDSECRETVALUE" not in Path("clean.duckdb").read_bytes()
    assert seen("duckdb:///clean.duckdb?table=safe").equals(seen(target))
