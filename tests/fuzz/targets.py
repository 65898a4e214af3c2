"""What is fuzzed: for each kind of file a good one to start from, how it is changed, and what reads it."""

from __future__ import annotations

import gzip
import io
import json
import random
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

import shoal
from fuzz.mutate import mutated_bytes, mutated_tree
from shoal.storage.formats import zstandard

# stands in values only: no message may show it
SENTINEL = "ZQSENT"
# of Zstandard, as its header file numbers it
CHECKSUM_FLAG = 201


@dataclass(frozen=True)
class Target:
    """A kind of file: its name, good examples, the change, what reads it, the command that does."""

    file: str
    examples: Callable[[], list[bytes]]
    read: Callable[[Path], Any]
    change: Callable[[bytes, random.Random], bytes] = mutated_bytes
    command: tuple[str, ...] = ()


def people() -> pl.DataFrame:
    draw = random.Random(1)
    return pl.DataFrame(
        {
            "id": [f"P{n}" for n in range(60)],
            "age": [draw.randrange(20, 70) for _ in range(60)],
            "sex": [draw.choice("fm") for _ in range(60)],
            "born": pl.Series([None if n % 9 == 0 else n * 300 for n in range(60)], dtype=pl.Int32).cast(pl.Date),
            "charge": [draw.random() * 100 for _ in range(60)],
            "note": [f"{SENTINEL}{n % 9}" for n in range(60)],
        }
    )


def _written(write: Callable[[pl.DataFrame, io.BytesIO], Any]) -> bytes:
    buffer = io.BytesIO()
    write(people(), buffer)
    return buffer.getvalue()


def csv() -> list[bytes]:
    text = _written(lambda frame, out: frame.write_csv(out))
    return [
        text,
        text.replace(b",", b";").replace(b"\n", b"\r\n"),
        text.decode().encode("utf-16"),
        b'a,b\n"x ""y",1\n,2\n',
    ]


def json_lines() -> list[bytes]:
    return [_written(lambda frame, out: frame.write_ndjson(out)), b'{"a": 1}\n{"a": null, "b": "x"}\n{"c": 2.5}\n']


def parquet() -> list[bytes]:
    return [
        _written(lambda frame, out: frame.write_parquet(out, compression="uncompressed")),
        _written(lambda frame, out: frame.write_parquet(out, compression="zstd", row_group_size=20)),
        _written(lambda frame, out: frame.write_parquet(out, compression="snappy")),
        _written(lambda frame, out: frame.write_parquet(out, compression="lz4", row_group_size=30)),
    ]


def arrow() -> list[bytes]:
    return [
        _written(lambda frame, out: frame.write_ipc(out)),
        _written(lambda frame, out: frame.write_ipc(out, compression="zstd")),
        _written(lambda frame, out: frame.write_ipc_stream(out)),
    ]


def policy() -> list[bytes]:
    return [
        b"""columns:
  age: quasi-identifier
  sex: quasi-identifier
  note: sensitive
  id: identifier
null_rule: value
knowledge:
  census: [age, sex]
threshold: ema
models:
  - {model: k-anonymity, k: 5}
  - {model: l-diversity, l: 2, sensitive: note}
hierarchies:
  sex: [[f, '*'], [m, '*']]
suppression: 5%
leak: {leaked: 10%, threshold: 0.1}
"""
    ]


def hierarchy() -> list[bytes]:
    return [b"34;30-39;*\n35;30-39;*\n51;50-59;*\n'x';50-59;*\n", b'"a;b";c;*\nd;c;*\n']


def hierarchy_yaml() -> list[bytes]:
    return [b"'*':\n  old: [51, 52]\n  young:\n    small: [3, 4]\n    large: [20]\n"]


def plan() -> list[bytes]:
    roles = dict.fromkeys(people().columns, "other") | {"age": "quasi-identifier", "sex": "quasi-identifier"}
    policy = {"columns": roles, "models": [{"model": "k-anonymity", "k": 2}], "suppression": "100%"}
    return [json.dumps(shoal.anonymize(people(), policy=policy, method="lattice").plan.to_dict()).encode()]


def conditions() -> list[bytes]:
    return [
        b"age >= 65 and (sex = 'f' or not note is null)",
        b"born >= 2020-01-01 and born <= 2020-12-31",
        b"sex in ('f', 'm')",
    ]


def read_table(path: Path) -> Any:
    """As `profile` and `risk` read it."""
    return shoal.read(path)


def read_condition(path: Path) -> Any:
    from shoal.policy.conditions import parse_where

    types = {"age": "integer", "sex": "text", "note": "text", "born": "date"}
    return parse_where(path.read_bytes().decode(errors="replace"), types)


def read_plan(path: Path) -> Any:
    from shoal.methods.search.generalize import read_plan as read

    return read(path)


def manifest() -> list[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "safe.csv"
        policy = {
            "columns": dict.fromkeys(people().columns, "other")
            | {"age": "quasi-identifier", "sex": "quasi-identifier"},
            "models": [{"model": "k-anonymity", "k": 2}],
        }
        shoal.release(shoal.anonymize(people(), policy=policy, method="mondrian"), path)
        return [(Path(folder) / "safe.manifest.json").read_bytes()]


def read_manifest(path: Path) -> Any:
    data = path.with_name("safe.csv")
    if not data.exists():
        people().write_csv(data)
    return shoal.verify(data)


def desk() -> list[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        where = Path(folder) / "desk"
        shoal.open_desk(people().select("age", "sex"), folder=where, epsilon=1, types="proposed")
        return [(where / "desk.json").read_bytes()]


def read_desk(path: Path) -> Any:
    from shoal.dp.terms import Terms

    return Terms.from_bytes(path.read_bytes())


TARGETS = {
    "csv": Target("table.csv", csv, read_table, command=("profile",)),
    "json lines": Target("table.jsonl", json_lines, read_table, command=("profile",)),
    "parquet": Target("table.parquet", parquet, read_table, command=("risk", "--qi", "age,sex")),
    "arrow": Target("table.arrow", arrow, read_table, command=("risk", "--qi", "age,sex")),
    "gzip": Target("table.csv.gz", lambda: [gzip.compress(csv()[0], mtime=0)], read_table, command=("detect",)),
    "zstd": Target(
        "table.csv.zst", lambda: [zstandard.compress(csv()[0], options={CHECKSUM_FLAG: flag}) for flag in (0, 1)],
        read_table, command=("detect",),
    ),
    "policy": Target("policy.yaml", policy, shoal.load_policy, command=("risk", "PEOPLE", "--policy")),
    "hierarchy": Target("age.csv", hierarchy, lambda path: shoal.read_hierarchy(path, "age")),
    "hierarchy in YAML": Target("age.yaml", hierarchy_yaml, lambda path: shoal.read_hierarchy(path, "age")),
    "plan": Target("plan.json", plan, read_plan, mutated_tree, command=("apply",)),
    "manifest": Target("safe.manifest.json", manifest, read_manifest, mutated_tree, command=("compare",)),
    "desk": Target("desk.json", desk, read_desk, mutated_tree),
    "condition": Target("condition.txt", conditions, read_condition),
}  # fmt: skip
