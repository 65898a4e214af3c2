"""People of a population in released classes: ranges, prefixes, sets, labels of hierarchies and nulls, one by one."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.errors import InputError
from shoal.models import DeltaPresence, KMap
from shoal.policy.judgement.population import people_in_classes, read_population
from shoal.ranges.hierarchy.tree import Hierarchy
from shoal.releases.verify import verify
from shoal.storage.reading import read

TOWNS = [["Lyon", "FR", "*"], ["Nice", "FR", "*"], ["Rome", "IT", "*"], ["Bari", "IT", "*"]]
TREE = Hierarchy("town", tuple(pl.Series(list(level)) for level in zip(*TOWNS, strict=True)))
# what a released label holds, by its meaning
AGES = {f"[{low};{high}]": set(range(low, high + 1)) for low in range(0, 40, 7) for high in (low + 3, low + 11)}
AGES |= {str(age): {age} for age in range(0, 50, 5)} | {"*": {*range(60), None}}
ZIPS = {f"{stem}**": {f"{stem}{end:02}" for end in range(100)} for stem in ("937", "938", "100")}
ZIPS |= {"9370*": {f"9370{end}" for end in range(10)}, "93701": {"93701"}}
KINDS = {"[white, black]": {"white", "black"}, "{asian, other}": {"asian", "other"}, "white": {"white"}}
NODES = {row[0]: {row[0]} for row in TOWNS} | {"FR": {"Lyon", "Nice"}, "IT": {"Rome", "Bari"}}


@settings(max_examples=60)
@given(seed=st.integers(0, 10**9))
def test_every_form_of_label(seed: int) -> None:
    rng = Random(seed)
    zips = ["93701", "93711", "93801", "10001", "10002"]
    meanings: dict[str, dict[str | None, set[object]]] = {
        "age": {**AGES, None: {None}},
        "zip": {**ZIPS, "*": {*zips, None}, None: {None}},
        "kind": {**KINDS, "*": {"white", "black", "asian", "other", None}, None: {None}},
        "town": {**NODES, "*": {*(row[0] for row in TOWNS), None}, None: {None}},
    }
    values: dict[str, list[object]] = {
        "age": [*range(50)],
        "zip": [*zips],
        "kind": ["white", "black", "asian", "other"],
        "town": [row[0] for row in TOWNS],
    }
    names = rng.sample(sorted(meanings), rng.randint(1, 3))
    null = rng.choice([0, 0.15])
    people = [
        tuple(None if rng.random() < null else rng.choice(values[name]) for name in names)
        for _ in range(rng.randint(1, 60))
    ]
    boxes = [tuple(rng.choice(sorted(meanings[name], key=str)) for name in names) for _ in range(rng.randint(1, 8))]
    boxes = list(dict.fromkeys(boxes))
    of_row = [*range(len(boxes)), *(rng.randrange(-1, len(boxes)) for _ in range(5))]
    rng.shuffle(of_row)
    released = pl.DataFrame(
        {name: [boxes[at][place] if at >= 0 else "*" for at in of_row] for place, name in enumerate(names)},
        schema=dict.fromkeys(names, pl.String),
    )
    schema = {name: pl.Int64 if name == "age" else pl.String for name in names}
    population = pl.DataFrame(people, schema=schema, orient="row")
    found = people_in_classes(read(released).select(names), np.array(of_row), read(population), {"town": TREE}, names)
    wanted = [
        sum(
            all(value in meanings[name][label] for name, label, value in zip(names, box, person, strict=True))
            for person in people
        )
        for box in boxes
    ]
    assert found.tolist() == wanted


def test_by_hand(tmp_path: Path) -> None:
    """Four people of the population are in their thirties near 937, two of them in the table."""
    people = tmp_path / "people.csv"
    people.write_text("age,zip\n30,93701\n35,93702\n39,93799\n31,93711\n40,93701\n30,93801\n55,93801\n")
    released = pl.DataFrame({"age": ["[30;39]", "[30;39]", "55"], "zip": ["937**", "937**", "93801"]})
    policy = {
        "columns": {"age": "quasi-identifier", "zip": "quasi-identifier"},
        "models": [
            KMap(k=2, population=str(people)).model_dump(),
            DeltaPresence(high=0.5, population=str(people)).model_dump(),
        ],
    }
    found = verify(released, policy)
    assert [verdict.holds for verdict in found.models] == [False, False]
    assert found.models[0].worst == {"people": 1, "size": 1, "failing_classes": 1, "columns": ["age", "zip"]}
    assert found.models[1].worst["share"] == 1
    good = verify(released.head(2), policy)
    assert good.verdict == "holds"
    assert good.models[0].worst["people"] == 4
    assert good.models[1].worst["share"] == 0.5


def test_a_population_must_have_the_columns(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("age\n30\n")
    with pytest.raises(InputError, match="zip"):
        read_population(str(path), ["age", "zip"])
    with pytest.raises(InputError, match="no file"):
        read_population(str(tmp_path / "nobody.csv"), ["age"])
