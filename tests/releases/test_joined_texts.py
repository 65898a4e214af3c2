"""A manifest cannot make one of two texts: what is missing or suppressed is the policy's to say."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.policy import Policy
from shoal.policy.manifest import manifest_path, private_path

OWN = {"columns": {"job": "quasi-identifier", "pay": "other"}, "models": [{"model": "k-anonymity", "k": 2}]}


def forged(folder: Path, jobs: list[str], types: dict[str, Any], **more: Any) -> Path:
    """A release of two pairs whose data and manifest somebody replaced."""
    path = folder / "safe.csv"
    people = pl.DataFrame({"job": ["clerk", "clerk", "monk", more.pop("last", "monk")], "pay": [1, 2, 3, 4]})
    shoal.release(shoal.anonymize(people, OWN, method="suppress"), path)
    path.write_text("job,pay\n" + "".join(f"{job},{row}\n" for row, job in enumerate(jobs, 1)))
    private_path(path).unlink()
    manifest = json.loads(manifest_path(path).read_text()) | more
    manifest["data_sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    manifest["policy"]["types"] = types
    manifest["policy_sha256"] = Policy.model_validate(manifest["policy"]).digest()
    manifest_path(path).write_text(json.dumps(manifest))
    return path


@pytest.mark.parametrize(
    ("jobs", "declared"),
    [
        (["clerk", "baker", "monk", "poet"], {"type": "nominal", "missing": ["clerk", "baker", "monk", "poet"]}),
        (["NA", "?", "clerk", "clerk"], {"type": "ordered", "order": ["clerk", "monk"]}),
        (["NA", "?", "5", "5"], {"type": "number", "decimal": ","}),
        (["NA", "?", "5", "5"], {"type": "number", "decimal": "."}),
    ],
)
@pytest.mark.parametrize("given", [True, False])
def test_words_for_missing_are_no_class(tmp_path: Path, jobs: list[str], declared: dict[str, Any], given: bool) -> None:
    found = shoal.verify(forged(tmp_path, jobs, {"job": declared}), OWN if given else None)
    assert (found.verdict, found.k) == ("refused", 1)


def test_other_rows_are_not_those_of_the_original(tmp_path: Path) -> None:
    declared = {"type": "nominal", "missing": ["clerk", "baker", "monk", "poet"]}
    path = forged(tmp_path, ["clerk", "baker", "monk", "poet"], {"job": declared})
    other = pl.DataFrame({"job": ["baker", "clerk", "poet", "monk"], "pay": [1, 2, 3, 4]})
    checks = {check.name: check.holds for check in shoal.verify(path, OWN, original=other).checks}
    assert not checks["column job"]
    assert not checks["texts"]


@pytest.mark.parametrize("setting", ["suppressed_as", "missing_as"])
def test_what_is_suppressed_or_missing_is_the_policy_s_to_say(tmp_path: Path, setting: str) -> None:
    path = forged(tmp_path, ["clerk", "clerk", "clerk", "poet"], {}, last="poet", output={setting: "poet"})
    assert shoal.verify(path, OWN).verdict == "refused"


def test_a_policy_that_names_them_holds(tmp_path: Path) -> None:
    people = pl.DataFrame({"job": ["clerk", "clerk", "gone", "poet"], "pay": [1, 2, 3, 4]})
    policy = OWN | {"types": {"job": {"type": "nominal", "missing": ["gone"]}}, "output": {"suppressed_as": "hidden"}}
    path = tmp_path / "safe.csv"
    shoal.release(shoal.anonymize(people, policy, method="suppress"), path)
    for given in (None, policy):
        assert shoal.verify(path, given, original=people).verdict == "holds"
    assert shoal.verify(path, OWN).verdict == "refused"


def test_a_sensitive_column_is_read_by_the_policy(tmp_path: Path) -> None:
    own = OWN | {"columns": {"job": "quasi-identifier", "pay": "sensitive"}}
    own["models"] = [{"model": "t-closeness", "t": 0.1, "sensitive": "pay"}]
    path = forged(tmp_path, ["clerk", "clerk", "monk", "monk"], {"pay": {"type": "nominal", "missing": list("1234")}})
    assert shoal.verify(path, own).verdict == "refused"
    assert not all(verdict.holds for verdict in shoal.verify(path, own).models)


def test_the_text_for_suppressed_cells_is_not_a_value_of_the_input(tmp_path: Path) -> None:
    people = pl.DataFrame({"job": ["clerk", "clerk", "nurse", "poet"], "pay": [1, 2, 3, 4]})
    made = shoal.anonymize(people, OWN, method="suppress")
    with pytest.raises(shoal.InputError, match="would be alike with `suppressed_as`"):
        shoal.release(made, tmp_path / "safe.csv", output=shoal.OutputFormat(suppressed_as="nurse"))
    with pytest.raises(shoal.InputError, match="must not be a number"):
        shoal.OutputFormat(suppressed_as="35")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("became", ["*", "[a, b]", "[1;2]", "\\x"])
def test_a_map_leads_to_no_text_that_looks_released(became: str) -> None:
    with pytest.raises(shoal.InputError, match="look like released cells"):
        shoal.anonymize(
            pl.DataFrame({"job": ["F", "*"]}),
            OWN | {"columns": {"job": "quasi-identifier"}, "types": {"job": {"type": "nominal", "map": {"F": became}}}},
        )


def test_a_decimal_comma_reaches_columns_with_places(tmp_path: Path) -> None:
    people = pl.DataFrame({"paid": ["1234.50", "1234.50", "12.00", "12.00"]})
    declared = {"type": "number", "decimal": ".", "places": 2}
    policy = OWN | {"columns": {"paid": "quasi-identifier"}, "types": {"paid": declared}}
    path, comma = tmp_path / "safe.csv", shoal.OutputFormat(decimal_comma=True)
    shoal.release(shoal.anonymize(people, policy, method="mondrian"), path, output=comma)
    assert path.read_text().split() == ["paid", "1234,50", "1234,50", "12,00", "12,00"]
    assert shoal.verify(path, policy, original=people).verdict == "holds"
    policy["types"] = {"paid": {"type": "number", "decimal": ".", "thousands": ","}}
    with pytest.raises(shoal.InputError, match="decimal point by its type"):
        shoal.release(shoal.anonymize(people, policy, method="mondrian"), tmp_path / "other.csv", output=comma)
