"""A PostgreSQL server for the session, or a reason why there is none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from databases.server import MISSING, Server, postgresql, programs

SYSTEMS = ["postgresql", "sqlite", "duckdb"]


@pytest.fixture(scope="session")
def running() -> Iterator[Server]:
    """One server for all tests."""
    if programs() is None:
        pytest.skip(MISSING)
    with postgresql() as server:
        server.sql("create database clinic")
        yield server


@pytest.fixture
def server(running: Server, monkeypatch: pytest.MonkeyPatch) -> Server:
    """The server with an empty database, and what libpq reads in the environment."""
    running.sql("drop schema public cascade; create schema public", "clinic")
    for name, value in running.environment.items():
        monkeypatch.setenv(name, value)
    return running


@pytest.fixture(params=SYSTEMS)
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of an empty database of each system; files are written into a folder of their own."""
    monkeypatch.chdir(tmp_path)
    if request.param == "postgresql":
        request.getfixturevalue("server")
        return "postgresql:///clinic"
    return f"{request.param}:///clinic.{request.param}"


def put(address: str, frame: pl.DataFrame) -> None:
    """A table as it is, without a release."""
    from shoal.storage.databases import Address, database_of

    found = Address.of(address)
    database_of(found).stage(found, frame, replace=True).publish()


def seen(address: str) -> pl.DataFrame:
    """What is in a table."""
    from shoal.storage.reading import read

    return read(address).to_polars()
