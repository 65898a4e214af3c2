"""Measure a released file afresh against its policy; with the original beside it, row by row."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from shoal.classes import Coded, class_of_each_row, pack
from shoal.errors import InputError
from shoal.generalized import as_numbers, as_ranges, ends_of
from shoal.models import Evidence, Verdict
from shoal.policy import Policy, as_policy
from shoal.read import Options, read
from shoal.table import Array, Column, Table


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at besides the models."""

    name: str
    holds: bool
    detail: str


@dataclass(frozen=True, slots=True)
class Verification:
    """The verdict on a file: every model of the policy and every check must hold."""

    verdict: str
    records: int
    k: int
    suppressed_rows: int
    models: list[Verdict]
    checks: list[Check]

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        found = asdict(self)
        found["models"] = [model.to_dict() for model in self.models]
        return found


def verify(
    released: Any,
    policy: Policy | str | Path | None = None,
    *,
    original: Any = None,
    options: Options | None = None,
) -> Verification:
    """Read a released file back, rebuild its boxes and judge every model of the policy.

    A manifest beside the file is checked too: the hash of the data, the policy, the counts. With the original and the
    private record beside the release, every box must hold its record, no other column may differ, no row may be lost.
    """
    path = Path(released) if isinstance(released, (str, Path)) else None
    manifest = _manifest(path)
    given = as_policy(policy) if policy is not None else as_policy(manifest["policy"]) if manifest else None
    if given is None:
        raise InputError(
            "There is no policy to verify against.", "Give --policy, or keep the manifest beside the file."
        )
    if not given.models and not (manifest and manifest.get("no_guarantee")):
        raise InputError("The policy names no model: there is nothing to verify.", "Add a model such as k-anonymity.")
    table = read(released, None, options)
    checks = [] if path is None or manifest is None else _against_manifest(path, manifest, given, table)
    if manifest is not None and "safe_harbor" in manifest:
        from shoal.standards.recheck import recheck_released

        checks += recheck_released(table, manifest["safe_harbor"], given)
    if original is not None:
        checks += _against_original(path, manifest, table, read(original, None, options), given)
    return judge(table, _released_names(given, manifest), given, checks)


def judge(table: Table, names: list[str], policy: Policy, checks: list[Check]) -> Verification:
    """The models of a policy on a table's columns, beside other checks that must hold too."""
    evidence, suppressed = evidence_of(table, names, policy)
    verdicts = [model.judge(evidence) for model in policy.models]
    verdicts = [replace(verdict, worst={**verdict.worst, "columns": names}) for verdict in verdicts]
    holds = all(verdict.holds for verdict in verdicts) and all(check.holds for check in checks)
    k = int(evidence.sizes.min()) if len(evidence.sizes) else 0
    return Verification("holds" if holds else "refused", table.rows, k, suppressed, verdicts, checks)


def _released_names(policy: Policy, manifest: dict[str, Any] | None) -> list[str]:
    """The policy's quasi-identifiers under the names that they were released as."""
    if manifest is None:
        return policy.quasi_identifiers
    released = {column["name"]: column["released_as"] for column in manifest["columns"]}
    names = [name for column in policy.quasi_identifiers for name in released.get(column, [column])]
    return names or list(manifest["quasi_identifiers"])


def evidence_of(table: Table, names: Sequence[str], policy: Policy) -> tuple[Evidence, int]:
    """Classes of equal boxes of a released table; rows that are `*` everywhere are counted apart."""
    if not names:  # nothing that others know: no classes
        return Evidence(np.zeros(0, np.int64), np.zeros(0, np.int64)), 0
    ranges = [as_ranges(column, "yes", policy.null_rule == "wildcard") for column in table.select(names)]
    suppressed = np.logical_and.reduce([column.star for column in ranges])
    classes = np.full(table.rows, -1, np.int64)
    kept = np.flatnonzero(~suppressed)
    if len(kept):
        classes[kept], _ = class_of_each_row(pack([Coded(column.codes[kept], column.cardinality) for column in ranges]))
    sizes = np.bincount(classes[kept]) if len(kept) else np.zeros(0, np.int64)
    distinct, counts = np.unique(sizes, return_counts=True)
    needed = [name for name in policy.sensitive if name in table.columns]
    return Evidence(distinct, counts, classes, {name: table[name] for name in needed}), int(suppressed.sum())


# the manifest


def manifest_path(path: Path) -> Path:
    """The public manifest of a data file.

    >>> manifest_path(Path("safe.csv")).name
    'safe.manifest.json'
    """
    return path.with_name(path.stem + ".manifest.json")


def private_path(path: Path) -> Path:
    """The private record of a data file: seed, row map, input hash; for its owner only."""
    return path.with_name(path.stem + ".private.json")


def sha256(path: Path) -> str:
    """The hash of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _manifest(path: Path | None) -> dict[str, Any] | None:
    if path is None or not manifest_path(path).exists():
        return None
    try:
        found = json.loads(manifest_path(path).read_text(encoding="utf-8"))
        needed = {"policy", "policy_sha256", "data_sha256", "quasi_identifiers", "written", "columns"}
        if isinstance(found, dict) and needed <= set(found):
            return found
    except ValueError:
        pass
    raise InputError(
        f"{manifest_path(path)} is no manifest of shoal's.", "Take the one that was written with the file."
    )


def _against_manifest(path: Path, manifest: dict[str, Any], policy: Policy, table: Table) -> list[Check]:
    same_data = sha256(path) == manifest["data_sha256"]
    recorded = as_policy(manifest["policy"])
    whole = recorded.digest() == manifest["policy_sha256"]
    same = "the policy of the release" if recorded.digest() == policy.digest() else "another policy than the release's"
    names = [name for column in manifest["columns"] for name in column["released_as"]]
    promised = [] if policy.models else [Check("guarantee", True, "no privacy model was checked: there is none")]
    return [
        *promised,
        Check(
            "data hash", same_data, "the data is the file that was released" if same_data else "the data was changed"
        ),
        Check("policy", whole, f"verified against {same}" if whole else "the manifest's policy was changed"),
        Check("records", table.rows == manifest["written"], f"{table.rows:,} of {manifest['written']:,} records"),
        Check("columns", table.names == names, f"{len(table.names)} of {len(names)} columns in their order"),
    ]


# the original


def _against_original(
    path: Path | None, manifest: dict[str, Any] | None, table: Table, original: Table, policy: Policy
) -> list[Check]:
    natures = {column["name"]: column["nature"] for column in manifest["columns"]} if manifest else {}
    return check_rows(table, original, policy, natures, _row_map(path, original.rows))


def check_rows(
    table: Table, original: Table, policy: Policy, natures: Mapping[str, str], order: Array | None
) -> list[Check]:
    """Every released row against its original: `order[r]` is the original row of released row r."""
    if table.rows != original.rows:
        return [Check("rows", False, f"{table.rows:,} released of {original.rows:,}: rows were lost or doubled")]
    checks = [Check("rows", True, f"{table.rows:,} released of {original.rows:,}")]
    for name, column in original.columns.items():
        if name not in table.columns or natures.get(name) == "recoded":  # by rules that are checked apart
            continue
        shuffled = column if order is None else column.take(order)
        if name in policy.quasi_identifiers:
            # a label stands for texts in a way that only its map knows
            ordered = column.dtype.is_numeric() or column.dtype.is_temporal()
            if natures.get(name, "truthful") in ("truthful", "unchanged") and ordered:
                checks.append(_containment(table[name], shuffled))
        else:
            same = _equal(table[name], shuffled)
            checks.append(Check(f"column {name}", same, "as it was" if same else "it was changed"))
    return checks


def _row_map(path: Path | None, rows: int) -> Array:
    """Which original row each released row is, from the private record; without one, rows are in order."""
    if path is None or not private_path(path).exists():
        return np.arange(rows)
    private = json.loads(private_path(path).read_text(encoding="utf-8"))
    return shuffled_order(rows, private["seed"]) if private.get("shuffled") else np.arange(rows)


def shuffled_order(rows: int, seed: int) -> Array:
    """The order in which rows are released: it can be had again from the secret seed.

    >>> sorted(shuffled_order(4, 7).tolist())
    [0, 1, 2, 3]
    """
    return np.random.default_rng(seed).permutation(rows)


def _equal(released: Column, original: Column) -> bool:
    """Whether two columns say the same in every row; by their codes where the dictionaries agree."""
    if released.values.dtype == original.values.dtype and released.values.equals(original.values):
        return bool((released.codes == original.codes).all())
    texts = [column.decode().cast(pl.String).alias("") for column in (released, original)]
    return texts[0].equals(texts[1])


def _containment(released: Column, original: Column) -> Check:
    """Whether the range that each row shows holds the value that it had."""
    low, high = ends_of(released)
    values = np.append(as_numbers(original.values), np.nan)[original.codes]
    inside = (low[released.codes] <= values) & (values <= high[released.codes])
    outside = int(np.count_nonzero(~inside))
    detail = "every range holds its value" if not outside else f"{outside:,} ranges do not hold their value"
    return Check(f"ranges of {released.name}", not outside, detail)
