"""A release that is killed leaves the table in the file of a database as it was; nothing stands in the way of the next.

Each moment of the transaction is one at which the process ends itself by SIGKILL: no `finally` runs, and what is in the
file is what the database finds there when it is opened again.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from databases.conftest import put, seen
from shoal.storage.databases import Address, database_of

OLD = pl.DataFrame({"age": range(500), "word": ["old"] * 500})
NEW = pl.DataFrame({"age": range(30_000), "word": ["new"] * 30_000})
# what the process does until it ends itself
KILLED = """
import os, signal, sys
import polars as pl
from shoal.storage.databases import Address, database_of

def die(*arguments):
    os.kill(os.getpid(), signal.SIGKILL)

address, statement = Address.of(sys.argv[1]), sys.argv[2]
staged = database_of(address).stage(address, pl.read_parquet(sys.argv[3]), replace=True)
run = type(staged).run

def run_and_die(self, text):
    run(self, text)
    if text.startswith(statement):
        die()

if statement == "rows":
    for batch in staged.rows().read(["age", "word"], "x"):
        die()
type(staged).run = run_and_die
if statement == "before":
    staged.commit = die
staged.publish()
if statement == "after":
    die()
"""


@pytest.mark.parametrize("system", ["sqlite", "duckdb"])
@pytest.mark.parametrize("moment", ["rows", "DROP", "ALTER", "before", "after"])
def test_a_kill_leaves_the_old_table_or_the_new_one(
    system: str, moment: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    target = f"{system}:///clinic.{system}?table=safe"
    put(target, OLD)
    put(f"{system}:///clinic.{system}?table=beside", OLD)
    NEW.write_parquet("new.parquet")
    command = [sys.executable, "-c", KILLED, target, moment, "new.parquet"]
    ended = subprocess.run(command, capture_output=True, check=False)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    assert seen(target).equals(NEW if moment == "after" else OLD)
    assert seen(f"{system}:///clinic.{system}?table=beside").equals(OLD)
    assert _tables(system) == ["beside", "safe"]  # no draft
    address = Address.of(target)
    database_of(address).stage(address, NEW.head(7), replace=True).publish()
    assert seen(target).height == 7


def _tables(system: str) -> list[str]:
    if system == "duckdb":
        import duckdb

        with duckdb.connect("clinic.duckdb") as connection:
            return sorted(name for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall())
    import sqlite3

    connection = sqlite3.connect("clinic.sqlite")
    try:
        return sorted(name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'"))
    finally:
        connection.close()
