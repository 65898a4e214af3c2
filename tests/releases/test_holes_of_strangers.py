"""Holes that people found who tried to break it: each was certified, lost or crashed once."""

from __future__ import annotations

import hashlib
import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.policy.manifest import manifest_path, private_path
from shoal.releases.jobs import Writing, release_anonymized

PEOPLE = pl.DataFrame({"q": [20, 21, 22, 23, 40, 41, 42, 43], "s": list("abcdabcd")})
POLICY = {"columns": {"q": "quasi-identifier", "s": "sensitive"}, "models": [{"model": "k-anonymity", "k": 4}]}


@pytest.mark.parametrize("kind", ["recoded", "perturbed", "pseudonym", "shifted"])
@pytest.mark.parametrize("nature", ["recoded", "perturbed", "unchanged"])
@pytest.mark.parametrize("column", ["q", "s"])
def test_a_form_of_another_kind_of_release_is_refused(tmp_path: Path, kind: str, nature: str, column: str) -> None:
    path = tmp_path / "x.csv"
    shoal.release(shoal.anonymize(PEOPLE, POLICY, method="sorted-clusters"), path)
    frame = pl.read_csv(path).with_columns(pl.lit("f" if column == "s" else "[20;43]").alias(column))
    frame.write_csv(path)
    manifest = json.loads(manifest_path(path).read_text())
    entry = next(entry for entry in manifest["columns"] if entry["name"] == column)
    entry["form"] |= {"kind": kind, "brackets": None}
    entry["nature"] = nature
    manifest["data_sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    manifest_path(path).write_text(json.dumps(manifest))
    private_path(path).unlink()
    for policy in (None, POLICY):
        for original in (None, PEOPLE):
            assert shoal.verify(path, policy, original=original).verdict == "refused"


def _policy(folder: Path, **more: Any) -> Path:
    import yaml

    path = folder / "policy.yaml"
    path.write_text(yaml.safe_dump({**POLICY, **more}))
    return path


@pytest.mark.parametrize("what", ["population", "hierarchy", "map"])
def test_force_never_destroys_a_file_that_is_read(tmp_path: Path, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    PEOPLE.with_columns(who=pl.Series([f"p{row}" for row in range(8)])).write_csv("in.csv")
    target = tmp_path / "kept.csv"
    target.write_text("20;[20;23];*\n" if what == "hierarchy" else "q,who\n20,p0\n")
    before = target.read_bytes()
    settings: dict[str, Any] = {"method": "lattice"}
    if what == "map":
        settings = {"method": "recode", "generalize": {"q": "kept.csv"}}
    more: dict[str, Any] = {
        "population": {"models": [{"model": "k-map", "k": 2, "population": "kept.csv"}]},
        "hierarchy": {"hierarchies": {"q": "kept.csv"}},
        "map": {},
    }[what]
    with pytest.raises(shoal.InputError, match="at once"):
        release_anonymized(
            "in.csv", output="kept.csv", policy=_policy(tmp_path, **more), writing=Writing(force=True), **settings
        )
    assert target.read_bytes() == before


def test_a_policy_that_names_k_anonymity_is_not_swapped_for_another_model() -> None:
    with pytest.raises(shoal.InputError, match="k-anonymity"):
        shoal.anonymize(PEOPLE, POLICY, method="suppress", reading="wildcard")
    assert shoal.anonymize(PEOPLE, POLICY, method="suppress").models[0].name == "k-anonymity"


@pytest.mark.parametrize("method", ["suppress", "recode", "mondrian", "lattice", "sorted-clusters", "coarsen"])
def test_spans_of_time_and_bytes_are_refused_with_a_cure(method: str) -> None:
    lacks: dict[str, dict[str, Any]] = {"recode": {"search": True}, "coarsen": {"resolution": 16}}
    for values in (pl.Series([timedelta(days=row // 4) for row in range(8)]), pl.Series([b"x"] * 8)):
        with pytest.raises(shoal.InputError, match="spans of time, bytes or lists"):
            shoal.anonymize(
                pl.DataFrame({"q": values}), quasi_identifiers=["q"], k=2, method=method, **lacks.get(method, {})
            )


def test_a_k_past_all_tables_is_an_error() -> None:
    for k in (10**23, "5", 5.5):
        with pytest.raises(shoal.InputError):
            shoal.anonymize(PEOPLE, quasi_identifiers=["q"], k=k, method="lattice")  # type: ignore[arg-type]


def test_a_policy_of_brackets_is_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "deep.yaml"
    path.write_text("[" * 20_000)
    with pytest.raises(shoal.InputError, match="brackets"):
        shoal.load_policy(path)


def test_the_verdict_stands_in_the_repr(tmp_path: Path) -> None:
    made = shoal.anonymize(PEOPLE, POLICY, method="sorted-clusters")
    shoal.release(made, tmp_path / "x.csv")
    assert "verdict holds" in repr(shoal.verify(tmp_path / "x.csv"))
