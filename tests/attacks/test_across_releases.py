"""Two releases about the same people, each k-anonymous by itself: who can be linked across them."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import shoal
from accepted import ACCEPTED
from shoal.attacks.linking.overlap import Overlap
from shoal.cli import app
from shoal.errors import InputError
from shoal.policy.manifest import manifest_path
from shoal.releases.readable import readable
from shoal.reports.publication.compare import compare_releases
from shoal.storage.reading import read

ends = st.tuples(st.integers(0, 6), st.integers(0, 3))
rows = st.lists(st.tuples(ends, ends), min_size=1, max_size=6)


def cell(low: int, width: int) -> str:
    return f"[{low};{low + width}]"


@given(rows, rows)
def test_ranges_meet_by_brute_force(first: list[Any], second: list[Any]) -> None:
    frames = [
        {"a": [cell(*one) for one, _ in side], "b": [cell(*other) for _, other in side]} for side in (first, second)
    ]
    found = Overlap.between(readable(frames[0]), read(frames[1]), {"a": "a", "b": "b"})
    expected = [
        sum(
            all(x[0] <= y[0] + y[1] and y[0] <= x[0] + x[1] for x, y in zip(mine, theirs, strict=True))
            for mine in first
        )
        for theirs in second
    ]
    assert found.records.tolist() == expected
    pairs = list(itertools.product(range(len(second)), range(len(first))))
    held = found.holds(*(pl.Series([pair[side] for pair in pairs]).to_numpy() for side in (0, 1)))
    assert [sum(held[target * len(first) : (target + 1) * len(first)]) for target in range(len(second))] == expected


FIRST = {"who": [1, 2, 3, 4], "age": ["[20;29]", "[20;29]", "[30;39]", "[30;39]"], "sex": ["f", "f", "m", "m"]}
SECOND = {"who": [2, 1, 4, 9], "age": ["[25;34]", "[15;24]", "[35;44]", "*"], "sex": ["f", "f", "m", "m"]}


def test_persons_are_counted_and_named_rightly() -> None:
    found = shoal.attack_link(FIRST, identified=SECOND, on="age,sex", person="who", truth="who")
    assert (found.targets, found.candidates.smallest, found.unique_matches) == (4, 2, 0)
    assert found.expected_correct == 0.5 + 0.5 + 0.5  # 9 is in the second only
    assert any("ranges of age and sex meet" in note for note in found.attacks[0].notes)
    stays = {name: [*values, values[0]] for name, values in FIRST.items()}
    twice = shoal.attack_link(stays, identified=SECOND, on="age,sex", person="who", truth="who")
    assert twice.expected_correct == found.expected_correct  # a second stay of 1 is no other person


def test_others_write_ranges_too() -> None:
    second = {"age": ["25-34"]}
    assert shoal.attack_link({"age": FIRST["age"]}, identified=second, generalized="yes").expected_correct == 0.25
    assert shoal.attack_link({"age": FIRST["age"]}, identified={"age": [25]}).expected_correct == 0.5


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two releases of overlapping samples of one table, with the same pseudonyms."""
    folder = tmp_path_factory.mktemp("across")
    table = shoal.sample_data("licences", 400, seed=3).select("anno_nascita", "sesso", "punti_patente").drop_nulls()
    table = table.with_row_index("who").with_columns(pl.col("who").cast(pl.Int64))
    rules = shoal.Policy(
        columns={"who": "other", "anno_nascita": "quasi-identifier", "sesso": "quasi-identifier",
                 "punti_patente": "quasi-identifier"}
    )  # fmt: skip
    for name, part in (("one", table.head(300)), ("two", table.tail(250))):
        made = shoal.anonymize(part, policy=rules, k=3, method="mondrian")
        shoal.release(made, folder / f"{name}.csv")
    return [folder / "one.csv", folder / "two.csv"]


def test_told_in_compare(released: list[Path], tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["compare", *map(str, released), "--person", "who", "--json"])
    assert done.exit_code == 0, done.output
    linked = json.loads(done.stdout)["linked"]
    assert [(Path(one["first"]).name, Path(one["second"]).name) for one in linked] == [("one.csv", "two.csv")]
    alone = shoal.attack_link(released[0], identified=released[1], person="who", truth="who")
    assert linked[0]["expected_correct"] == pytest.approx(alone.expected_correct)
    assert 0 < linked[0]["expected_correct"] < linked[0]["targets"]
    page = tmp_path / "compare.html"
    told = CliRunner().invoke(app, ["compare", *map(str, released), "--person", "who", "-o", str(page)])
    assert told.exit_code == 0, told.output
    assert "Linkable across releases" in page.read_text()
    assert "Linkable" not in CliRunner().invoke(app, ["compare", *map(str, released)]).output


def test_what_is_refused(released: list[Path], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nobody"):
        shoal.attack_link(released[0], identified=released[1], person="nobody")
    alone = tmp_path / "alone.manifest.json"
    alone.write_bytes(manifest_path(released[0]).read_bytes())
    with pytest.raises(InputError, match="not beside it"):
        compare_releases([alone, alone], person="who")


def test_told_for_folders_and_in_the_owners_report(tmp_path: Path) -> None:
    """Two publications of overlapping people, each with the same pseudonyms."""
    from shoal.reports.publication.results import report_files

    rows = pl.DataFrame(
        {"who": range(90), "age": [20 + n % 30 for n in range(90)], "ill": ["abc"[n % 3] for n in range(90)]}
    )
    policy = {
        "columns": {"who": "other", "age": "quasi-identifier", "ill": "sensitive"},
        "models": [{"model": "k-anonymity", "k": 3}],
        "attacks": ACCEPTED,
    }
    folders = [tmp_path / "first", tmp_path / "second"]
    for folder, part in zip(folders, (rows.head(60), rows.tail(60)), strict=True):
        shoal.publish(part, policy, output=folder, pdf=False)
    (linked,) = compare_releases(folders, person="who").linked or []
    assert linked.targets == 60
    assert 0 < linked.expected_correct < 30
    (page,) = report_files(f"{folders[0]}.private", html=tmp_path / "report.html", linked_with=folders[1], person="who")
    assert "Linkable across releases" in page.read_text()
    with pytest.raises(InputError, match="for their owner"):
        report_files(folders[0], html=tmp_path / "public.html", linked_with=folders[1], person="who")
    with pytest.raises(InputError, match="whose record is whose"):
        report_files(f"{folders[0]}.private", html=tmp_path / "nobody.html", linked_with=folders[1])
    with pytest.raises(InputError, match="no other release"):
        report_files(f"{folders[0]}.private", html=tmp_path / "alone.html", person="who")
