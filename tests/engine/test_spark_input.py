"""What is missing or wrong before Spark starts: one sentence with its cure, and no Java is needed to test it."""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.cli import main
from shoal.engine import engine_of
from shoal.engine.spark.frames import _ending, open_source
from shoal.engine.spark.session import _as_input_error, check_java, session, spark_errors
from shoal.errors import InputError
from shoal.releases.jobs import Writing, check_output
from shoal.storage.reading import Options, read

ON_SPARK = Options(engine="spark")


def refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What a command says that ends with exit code 2."""
    monkeypatch.setattr(sys, "argv", ["shoal", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    return capsys.readouterr().err


def test_no_pyspark(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("pyspark", "pyspark.sql"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(InputError, match=r"pip install 'shoal\[spark\]'"):
        session()


def test_no_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(InputError, match=r"(?s)holds no Java.*Install Java 17"):
        check_java()
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match=r"(?s)no Java here.*Install Java 17"):
        check_java()


@pytest.mark.parametrize(("version", "wrong"), [("11.0.2", "Java 11"), ("1.8.0_292", "Java 8"), ("17.0.1", None)])
def test_an_old_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, version: str, wrong: str | None) -> None:
    (tmp_path / "bin").mkdir()
    java = tmp_path / "bin" / "java"
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    if wrong is None:
        check_java()
        return
    with pytest.raises(InputError, match=f"needs Java 17 or newer; here is {wrong}"):
        check_java()


def test_files_whose_columns_differ(tmp_path: Path) -> None:
    pl.DataFrame({"age": [1], "zip": [2]}).write_parquet(tmp_path / "a.parquet")
    pl.DataFrame({"age": [1], "zip": ["2"]}).write_parquet(tmp_path / "b.parquet")
    with pytest.raises(InputError, match=r"b\.parquet differs in column 'zip', unlike .*a\.parquet"):
        open_source(tmp_path, ON_SPARK)
    pl.DataFrame({"age": [1]}).write_parquet(tmp_path / "b.parquet")
    with pytest.raises(InputError, match=r"b\.parquet lacks column 'zip'"):
        open_source(tmp_path, ON_SPARK)
    (tmp_path / "b.parquet").write_bytes(b"PAR1 and nothing more")
    with pytest.raises(InputError, match=r"b\.parquet is damaged"):
        open_source(tmp_path, ON_SPARK)


def test_a_path_that_is_not_there_and_formats_that_are_not_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="There is no file"):
        shoal.risk(tmp_path / "nothing.parquet", quasi_identifiers=["age"], options=ON_SPARK)
    path = tmp_path / "people.jsonl"
    path.write_text('{"age": 1}\n')
    with pytest.raises(InputError, match="Parquet files, or CSV files"):
        open_source(path, ON_SPARK)
    with pytest.raises(InputError, match="not on a Spark cluster"):
        open_source(pl.DataFrame({"age": [1]}), ON_SPARK)


def test_an_address_is_read_by_a_cluster_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s3a:" / "bucket").mkdir(parents=True)  # where the address would lead if it were taken for a path
    pl.DataFrame({"age": [1]}).write_parquet(tmp_path / "s3a:" / "bucket" / "claims.parquet")
    address = "s3a://bucket/claims.parquet"
    for run in (
        lambda: shoal.risk(address, quasi_identifiers=["age"]),
        lambda: shoal.leak([address], quasi_identifiers=["age"], leaked="10%"),
        lambda: shoal.detect(address),
        lambda: shoal.profile(address),
        lambda: shoal.verify(
            address, {"columns": {"age": "quasi-identifier"}, "models": [{"model": "k-anonymity", "k": 2}]}
        ),
    ):
        with pytest.raises(
            InputError, match=r"(?s)s3a://bucket/claims\.parquet is not a file of this machine.*engine spark"
        ):
            run()
    with pytest.raises(InputError, match="lost a slash"):
        open_source(Path(address), ON_SPARK)


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("sqlite:///a.db?table=adult", "The engine spark reads files and data frames, not tables of databases"),
        ("postgresql://host/db?table=adult", "The engine spark reads files and data frames, not tables of databases"),
        ("mysql://host/db?table=adult", "mysql://host/db is a database of a system that is not read"),
    ],
)
def test_a_database_is_refused_before_java_starts(
    address: str, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))  # where there is none
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=sentence):
        shoal.risk([address], quasi_identifiers=["sex"], options=ON_SPARK)
    told = refused(monkeypatch, capsys, "risk", address, "--qi", "sex", "--engine", "spark")
    assert sentence in told
    assert "Parquet" in told or "export it" in told
    key = ["--column", "sex", "--key-file", "key.bin", "-o", "out.parquet"]
    refused(monkeypatch, capsys, "pseudonymize", address, *key, "--engine", "spark")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("target", ["s3a://bucket/safe.parquet", "dbfs:/safe.parquet", "hdfs://node:8020/safe.csv"])
def test_a_release_does_not_go_to_an_address(target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    made = shoal.anonymize({"age": [1, 1, 2, 2]}, quasi_identifiers=["age"], k=2)
    with pytest.raises(InputError, match=rf"(?s){target} is an address.*with Spark and verify it"):
        shoal.release(made, target)
    with pytest.raises(InputError, match=rf"{target} is an address"):
        check_output("people.csv", target, Writing())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("path", "form"),
    [("s3a://a.b/claims", ".parquet"), ("s3a://a.b", ".parquet"), ("dbfs:/claims.v2", ".parquet"),
     ("gs://b/*.csv.gz", ".csv"), ("hdfs://n/claims.tsv", ".tsv"), ("s3a://b/claims.jsonl", ".jsonl")],
)  # fmt: skip
def test_the_format_of_an_address_is_told_by_its_ending(path: str, form: str) -> None:
    assert _ending(path) == form


def test_engines_that_are_not_there() -> None:
    with pytest.raises(InputError, match="no engine 'dask'"):
        engine_of("people.csv", Options(engine="dask"))
    with pytest.raises(InputError, match="master is named for the local engine"):
        engine_of("people.csv", Options(master="local[2]"))
    with pytest.raises(InputError, match="tables of one machine"):
        read({"age": [1, 2]}, None, ON_SPARK)


class Told(Exception):
    """An error as pyspark raises it."""

    def __init__(self, said: str, condition: str | None = None) -> None:
        super().__init__(said)
        self._condition = condition

    def getCondition(self) -> str | None:
        return self._condition


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (Told("x", "PATH_NOT_FOUND"), "finds no file claims"),
        (Told("java.io.IOException: No space left on device"), "disk of the cluster is full"),
        (Told("AccessControlException: secret"), "may not read or write claims"),
        (Told('No FileSystem for scheme "s3a"'), "hadoop-aws"),
        (Told("java.lang.OutOfMemoryError: Java heap space"), "heap of Java is too small"),
        (Told("PythonException: No module named 'shoal'"), "do not have shoal"),
        (Told("Python worker exited unexpectedly (crashed)"), "Python worker of Spark ended"),
        (ConnectionRefusedError(), "Java ended while Spark worked on claims"),
        (Told("value 17 of somebody", "CAST_INVALID_INPUT"), r"could not read claims \(CAST_INVALID_INPUT\)"),
    ],
)
def test_what_spark_says_becomes_one_sentence_without_a_value(error: Told, sentence: str) -> None:
    found = _as_input_error(error, "claims")
    with pytest.raises(InputError, match=sentence):
        raise found
    assert "secret" not in str(found)
    assert "somebody" not in str(found)


def test_an_error_of_java_itself_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    protocol = pytest.importorskip("py4j.protocol", reason="no pyspark here: pip install 'shoal[spark]'")
    monkeypatch.setattr(protocol.Py4JJavaError, "__init__", lambda self: None)
    monkeypatch.setattr(protocol.Py4JJavaError, "__str__", lambda self: 'No FileSystem for scheme "foo": secret')
    with pytest.raises(InputError, match="knows no such kind of place") as told, spark_errors("foo://claims"):
        raise protocol.Py4JJavaError
    assert "secret" not in str(told.value)


def test_columns_that_differ_in_case_alone_are_named() -> None:
    class Refused(Exception):
        def getCondition(self) -> str:
            return "AMBIGUOUS_REFERENCE"

        def getMessageParameters(self) -> dict[str, str]:
            return {"name": "`a`", "referenceNames": "[`A`, `a`]"}

    told = str(_as_input_error(Refused(), "The frame"))
    assert told.startswith("The frame has columns whose names Spark cannot tell apart: 'A', 'a'.")
    assert "Rename one of them" in told
