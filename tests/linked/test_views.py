"""The views of persons against a join in plain Python, and released tables against both."""

from __future__ import annotations

import random
from typing import Any

import polars as pl
import pytest

from linked.brute_views import Database, Joined, random_database
from shoal.errors import InputError, PolicyNotMet
from shoal.methods.linked import anonymize_linked
from shoal.policy import as_policy
from shoal.policy.judgement.linked_tables import LinkedTables, judge_views
from shoal.releases.linked import judged
from shoal.storage.reading import read


def frames(found: Database) -> dict[str, pl.DataFrame]:
    return {name: pl.DataFrame(rows, infer_schema_length=None) for name, rows in found.items()}


def check_one(seed: int) -> None:
    draw = random.Random(seed)
    found, relations = random_database(draw)
    models: list[dict[str, Any]] = [{"model": "k-anonymity", "k": 2}]
    diverse = "diagnoses" in relations["tables"]
    if diverse:
        models.append({"model": "l-diversity", "l": 2, "sensitive": "diagnoses.ill"})
    policy = as_policy({"relations": relations, "models": models})
    assert policy.relations is not None
    tables = {name: read(one) for name, one in frames(found).items()}
    try:
        linked = LinkedTables.of(policy.relations, tables)
    except InputError:  # no reference of a table names a key
        return
    before, brute = judge_views(linked, policy), Joined(found, relations)
    assert sorted(before.sizes.tolist()) == sorted(map(len, brute.classes().values())), seed
    if diverse:
        assert before.models[1].worst["distinct"] in (brute.l("diagnoses", "ill"), None), seed
    try:
        result = anonymize_linked(linked, policy, seed)
    except PolicyNotMet:
        return
    after = judged({name: read(one.frame) for name, one in result.tables.items() if one.frame.height}, policy) if all(
        one.frame.height for one in result.tables.values()) else None  # fmt: skip
    released = {name: one.frame.rows(named=True) for name, one in result.tables.items()}
    joined = Joined(released, relations)
    assert joined.k() >= 2, seed
    assert len(joined.reached) == sum(map(len, released.values())), seed
    if diverse:
        assert joined.l("diagnoses", "ill") >= 2, seed
    if after is not None:
        assert after.holds, (seed, after.reasons())
        assert after.k == joined.k(), seed
    for name, table in result.tables.items():
        told = table.figures
        kept = len(set(table.rows.tolist()))
        assert told["rows"] == len(found[name]) == told["orphans"] + told["suppressed_rows"] + kept, seed


@pytest.mark.parametrize("block", range(4))
def test_equal_to_a_join_in_plain_python(block: int) -> None:
    for seed in range(block * 25, block * 25 + 25):
        check_one(seed)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(20))
def test_equal_to_a_join_in_plain_python_on_many(block: int) -> None:
    for seed in range(1_000 + block * 100, 1_100 + block * 100):
        check_one(seed)
