"""Forgeries by a generator: every change of the data with everything that could be said of it, under a policy that the
reader trusts. None is accepted, and what was not changed is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import shoal
from releases.forging import (
    CLAIMS,
    PEOPLE,
    POLICY,
    SAYS_FALSELY,
    SHOWS,
    forge,
    genuine,
    rehash,
    rows_of,
    smallest_class,
)
from shoal.errors import ShoalError
from shoal.policy.manifest import manifest_path


def accepted(path: Path, original: object = None) -> bool:
    try:
        return shoal.verify(path, POLICY, original=original).verdict == "holds"
    except ShoalError:
        return False


@pytest.mark.parametrize("method", ["mondrian", "suppress", "microaggregate"])
def test_what_was_not_changed_is_accepted(method: str, tmp_path: Path) -> None:
    path = genuine(tmp_path, method)
    assert accepted(path)
    assert accepted(path, PEOPLE)


def test_the_forgeries_are_harmful(tmp_path: Path) -> None:
    """By a plain reader: a class is too small, or a column that nobody named is there; or the values are not those of
    the original."""
    for number, (name, data) in enumerate({**SHOWS, **SAYS_FALSELY}.items()):
        path = genuine(tmp_path / str(number))
        before = rows_of(path)
        forge(path, data, CLAIMS["nothing else"])
        assert rows_of(path) != before, name
        if name in SHOWS:
            assert smallest_class(path) < 3 or set(rows_of(path)[0]) - {"age", "job", "ill"}, name


@pytest.mark.parametrize("claim", CLAIMS)
@pytest.mark.parametrize("data", SHOWS)
def test_no_claim_lets_data_pass_that_the_policy_does_not_allow(data: str, claim: str, tmp_path: Path) -> None:
    path = genuine(tmp_path)
    forge(path, SHOWS[data], CLAIMS[claim])
    assert not accepted(path)


@pytest.mark.parametrize("claim", CLAIMS)
@pytest.mark.parametrize("data", SAYS_FALSELY)
def test_no_claim_lets_false_values_pass_beside_the_original(data: str, claim: str, tmp_path: Path) -> None:
    path = genuine(tmp_path)
    forge(path, SAYS_FALSELY[data], CLAIMS[claim])
    assert not accepted(path, PEOPLE)


@pytest.mark.parametrize("place", [("findings", "k"), ("findings", "classes"), ("findings", "uniques"), ("written",)])
def test_what_can_be_measured_is_not_believed(place: tuple[str, ...], tmp_path: Path) -> None:
    path = genuine(tmp_path)
    manifest = json.loads(manifest_path(path).read_text())
    inner = manifest[place[0]] if len(place) > 1 else manifest
    inner[place[-1]] += 1
    manifest_path(path).write_text(json.dumps(manifest))
    assert not accepted(path)


def test_a_manifest_that_promises_more_than_the_policy_is_measured_too(tmp_path: Path) -> None:
    """The reader asks for k = 3, the manifest says that k = 50 holds."""
    path = genuine(tmp_path)
    manifest = json.loads(manifest_path(path).read_text())
    manifest["policy"]["models"][0]["k"] = manifest["models"][0]["parameters"]["k"] = 50
    manifest["models"][0]["worst"]["size"] = 50
    rehash(path, manifest)  # `forge` would write what is measured
    found = shoal.verify(path, POLICY)
    assert [check.name for check in found.checks if not check.holds] == ["figures"]
