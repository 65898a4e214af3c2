"""Measure a released file afresh against its policy; with the original beside it, row by row."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from shoal.errors import InputError
from shoal.hierarchy import Hierarchy, fit_all
from shoal.judgement.checks import Check
from shoal.judgement.evidence import evidence_of
from shoal.leakage.check import leak_check
from shoal.manifest.files import names_as_released, plan_path, private_path, read_manifest
from shoal.models import KMatching, Verdict
from shoal.models.k_matching import readings_of
from shoal.policy import Policy, as_policy
from shoal.ranges.parsing import as_numbers, ends_of, forms_in, sets_in
from shoal.reading import Options, read
from shoal.table import Array, Column, Table
from shoal.table.classes import CountTable
from shoal.table.texts import texts_of, with_null
from shoal.writing import sha256

# the method that changes nothing but single cells
SUPPRESSED = "suppress"
# what a column outside the quasi-identifiers may be that was changed on purpose
_CHANGED = ("perturbed", "representative")


@dataclass(frozen=True, slots=True)
class Verification:
    """The verdict on a file: every model of the policy and every check must hold."""

    verdict: str
    records: int
    k: int
    suppressed_rows: int
    models: list[Verdict]
    checks: list[Check]
    # smallest class and uniques by what a suppressed cell means, where a model depends on it
    readings: dict[str, dict[str, int]] | None = None

    def to_dict(self) -> dict[str, Any]:
        """As JSON; `readings` only where a model depends on what a suppressed cell means."""
        found = asdict(self)
        found["models"] = [model.to_dict() for model in self.models]
        if self.readings is None:
            del found["readings"]
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
    manifest = read_manifest(path)
    given = as_policy(policy) if policy is not None else as_policy(manifest["policy"]) if manifest else None
    if given is None:
        raise InputError(
            "There is no policy to verify against.", "Give --policy, or keep the manifest beside the file."
        )
    if not given.models and given.leak is None and not (manifest and manifest.get("no_guarantee")):
        raise InputError("The policy names no model: there is nothing to verify.", "Add a model such as k-anonymity.")
    table = read(released, None, options)
    checks = [] if path is None or manifest is None else _against_manifest(path, manifest, given, table)
    if manifest is not None and "safe_harbor" in manifest:
        from shoal.standards.hipaa.recheck import recheck_released

        checks += recheck_released(table, manifest["safe_harbor"], given)
    if original is not None:
        checks += _against_original(path, manifest, table, read(original, None, options), given)
    levels = (manifest or {}).get("parameters", {}).get("levels")
    return judge(table, names_as_released(given, manifest), given, checks, levels)


def judge(
    table: Table, names: list[str], policy: Policy, checks: list[Check], levels: Mapping[str, int] | None = None
) -> Verification:
    """The models of a policy on a table's columns, beside other checks that must hold too."""
    checks = [*checks, Check("leak", *leak_check(table, names, policy))] if policy.leak else checks
    if not names and not policy.models:  # nothing was promised: what was done is checked
        held = all(check.holds for check in checks)
        return Verification("holds" if held else "refused", table.rows, 0, 0, [], checks)
    evidence, suppressed = evidence_of(table, names, policy, levels)
    verdicts = [model.judge(evidence) for model in policy.models]
    if policy.models and policy.person is not None and policy.person not in table.columns:
        detail = f"column {policy.person} is not in the file, so persons cannot be counted: keep it, as a pseudonym"
        checks = [*checks, Check("persons", False, detail)]
    verdicts = [replace(verdict, worst={**verdict.worst, "columns": names}) for verdict in verdicts]
    holds = all(verdict.holds for verdict in verdicts) and all(check.holds for check in checks)
    k = int(evidence.sizes.min()) if len(evidence.sizes) else 0
    records = table.rows if policy.count is None or evidence.records is None else evidence.records
    readings = readings_of(evidence) if any(isinstance(model, KMatching) for model in policy.models) else None
    return Verification("holds" if holds else "refused", records, k, suppressed, verdicts, checks, readings)


# the manifest


def _against_manifest(path: Path, manifest: dict[str, Any], policy: Policy, table: Table) -> list[Check]:
    same_data = sha256(path) == manifest["data_sha256"]
    recorded = as_policy(manifest["policy"])
    whole = recorded.digest() == manifest["policy_sha256"]
    same = "the policy of the release" if recorded.digest() == policy.digest() else "another policy than the release's"
    names = [name for column in manifest["columns"] for name in column["released_as"]]
    promised = [] if policy.models else [Check("privacy models", True, "none was promised, so none was checked")]
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
    trees: Mapping[str, Hierarchy] = {}
    if path is not None and plan_path(path).exists():
        from shoal.anonymization.search.plan import read_plan

        trees = read_plan(plan_path(path)).trees
    elif manifest is not None and manifest["method"] == "lattice":
        return [
            Check("labels", False, f"{plan_path(path or Path('released')).name} is needed to tell what labels hold")
        ]
    suppressed = manifest is not None and manifest["method"] == SUPPRESSED
    return check_rows(table, original, policy, natures, _row_map(path, original.rows), trees, suppressed)


def check_rows(
    table: Table,
    original: Table,
    policy: Policy,
    natures: Mapping[str, str],
    order: Array | None,
    trees: Mapping[str, Hierarchy] | None = None,
    suppressed: bool = False,
) -> list[Check]:
    """Every released row against its original: `order[r]` is the original row of released row r.

    Columns with a tree must show a node above the original value, others a range that holds it; where cells were
    `suppressed` and nothing else was done, the value itself or `*`.
    """
    if table.rows != original.rows:
        return [Check("rows", False, f"{table.rows:,} released of {original.rows:,}: rows were lost or doubled")]
    checks = [Check("rows", True, f"{table.rows:,} released of {original.rows:,}")]
    for name, column in original.columns.items():
        if name not in table.columns or natures.get(name) == "recoded":  # by rules that are checked apart
            continue
        shuffled = column if order is None else column.take(order)
        if name in policy.quasi_identifiers and suppressed:
            checks.append(_own_or_star(table[name], shuffled))
        elif name in policy.quasi_identifiers and name in (trees or {}):
            checks.append(_on_path(table[name], shuffled, (trees or {})[name]))
        elif name in policy.quasi_identifiers:
            ordered = column.dtype.is_numeric() or column.dtype.is_temporal()
            if natures.get(name, "truthful") in ("truthful", "unchanged"):
                checks.append(_containment(table[name], shuffled) if ordered else _membership(table[name], shuffled))
        elif natures.get(name) in _CHANGED:
            checks.append(_changed(name, str(natures[name]), table[name], shuffled))
        else:
            same = _equal(table[name], shuffled)
            checks.append(Check(f"column {name}", same, "as it was" if same else "it was changed"))
    return checks


def _changed(name: str, nature: str, released: Column, original: Column) -> Check:
    """A column that was changed on purpose: its values need not be those of the original, but as many are missing."""
    same = bool((released.is_null() == original.is_null()).all())
    detail = f"{nature}: values are not compared" if same else "other values are missing than in the original"
    return Check(f"column {name}", same, detail)


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


def _own_or_star(released: Column, original: Column) -> Check:
    """Whether each row shows its own value or `*`."""
    pairs = CountTable.of({"shown": released, "was": original}).tuples
    shown, was = (
        with_null(texts_of(column.values), None).gather(pairs[name].codes)
        for name, column in (("shown", released), ("was", original))
    )
    outside = int((~(shown.eq_missing(was) | shown.eq_missing(pl.Series(["*"])))).sum())
    detail = "every cell is as it was, or *" if not outside else f"{outside:,} values are not those of the original"
    return Check(f"cells of {released.name}", not outside, detail)


def _on_path(released: Column, original: Column, tree: Hierarchy) -> Check:
    """Whether each row shows its own value or a node above it."""
    fitted = fit_all({original.name: tree}, [original], complete=True)[0]
    pairs = CountTable.of({"shown": released, "was": original}).tuples
    shown = [*texts_of(released.values).to_list(), None]
    own = [*texts_of(original.values).to_list(), None]
    paths = [[labels[node] for node in codes] for labels, codes in zip(fitted.labels, fitted.codes, strict=True)]
    outside = sum(
        shown[label] not in (own[value], "*", *(level[value] for level in paths[1:]))
        for label, value in zip(pairs["shown"].codes.tolist(), pairs["was"].codes.tolist(), strict=True)
    )
    detail = "every label stands above its value" if not outside else f"{outside:,} labels do not hold their value"
    return Check(f"labels of {released.name}", not outside, detail)


def _containment(released: Column, original: Column) -> Check:
    """Whether the range that each row shows holds the value that it had."""
    low, high = ends_of(released)
    values = np.append(as_numbers(original.values), np.nan)[original.codes]
    low, high = low[released.codes], high[released.codes]
    inside = (low <= values) & (values <= high)
    # a missing value is held by `*` and by a missing one
    inside |= np.isnan(values) & (np.isnan(low) | ((low == -np.inf) & (high == np.inf)))
    outside = int(np.count_nonzero(~inside))
    detail = "every range holds its value" if not outside else f"{outside:,} ranges do not hold their value"
    return Check(f"ranges of {released.name}", not outside, detail)


def _membership(released: Column, original: Column) -> Check:
    """Whether each set that rows show holds the category that they had.

    Other labels stand for categories in a way that only their map knows: they are not judged.
    """
    if "set" not in forms_in(released, "yes"):
        return Check(f"sets of {released.name}", True, "no sets of categories")
    sets = sets_in(released)
    shown = pl.DataFrame({"set": released.codes, "label": original.decode().cast(pl.String)})
    shown = shown.join(sets.select("set").unique(), on="set", how="semi")
    outside = len(shown.join(sets, on=["set", "label"], how="anti"))
    detail = "every set holds its category" if not outside else f"{outside:,} sets do not hold their category"
    return Check(f"sets of {released.name}", not outside, detail)
