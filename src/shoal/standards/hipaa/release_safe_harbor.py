"""A table after safe harbor through the one door: the written file is looked at again, clause by clause."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from shoal import __version__
from shoal.identity import IdentityRisk
from shoal.judgement.checks import Check
from shoal.policy import Policy
from shoal.policy.named import SAFE_HARBOR_RULE
from shoal.reading import read
from shoal.releases.door import Papers, Refused, Released, defused, leave, private_record, reasons
from shoal.releases.verify import Verification, judge, shuffled_order
from shoal.standards.hipaa.recheck import plan_of, recheck
from shoal.standards.hipaa.results import SafeHarbor
from shoal.standards.hipaa.safe_harbor import residual_risk
from shoal.standards.hipaa.treat import WORDS
from shoal.standards.hipaa.zip3 import shipped
from shoal.table import Table
from shoal.table.type_words import type_word
from shoal.writing import sha256


def release_safe_harbor(
    result: SafeHarbor,
    path: str | Path,
    *,
    force: bool = False,
    shuffle: bool = False,
    seed: int | None = None,
    excel_safe: bool = False,
    source: Path | None = None,
) -> tuple[Released, IdentityRisk | None]:
    """Write a table after safe harbor with its manifest, or nothing where the written file does not keep the rules.

    The second part of the answer is the residual risk, measured on the written file.
    """
    path = Path(path)
    seed = secrets.randbits(63) if seed is None else seed
    frame = result.polars
    if shuffle:
        frame = frame[shuffled_order(len(frame), seed)]
    if excel_safe:
        frame = defused(frame)
    measured: list[IdentityRisk | None] = []

    def papers(draft: Path) -> Papers:
        table = read(draft)
        found = check_written(table, result)
        if not excel_safe:
            found = _with(found, _as_made(table, frame))
        if found.verdict != "holds":
            raise Refused(reasons(found))
        measured.append(residual_risk(table, result))
        manifest = _manifest(result, draft, path, len(frame), shuffle, found, measured[0])
        return Papers(
            private_record(result.table, shuffle, seed, source), {"columns": _columns(result, frame)}, manifest
        )

    return leave(frame, path, force, papers), measured[0]


def check_written(table: Table, result: SafeHarbor) -> Verification:
    """The rules of safe harbor, and the models of the policy where it names some, on a written table."""
    checks = recheck(table, plan_of(result.treatments), result.year_of_data, result.populations, result.policy)
    names = [name for name in result.quasi_identifiers if name in table.columns]
    models = result.policy.models
    if models and not names:
        checks.append(Check("models", False, "no quasi-identifier is left to judge them on"))
    if models and names:
        return judge(table, names, result.policy, checks)
    holds = all(check.holds for check in checks)
    return Verification("holds" if holds else "refused", table.rows, 0, 0, [], checks)


def _with(found: Verification, check: Check) -> Verification:
    from dataclasses import replace

    verdict = "holds" if found.verdict == "holds" and check.holds else "refused"
    return replace(found, verdict=verdict, checks=[*found.checks, check])


def _as_made(table: Table, frame: pl.DataFrame) -> Check:
    """The file holds the rows that were made, and no other."""
    same = table.rows == len(frame) and table.names == frame.columns
    return Check("rows", same, f"{table.rows:,} of {len(frame):,} written")


def _columns(result: SafeHarbor, frame: pl.DataFrame) -> list[dict[str, Any]]:
    """Each column of the input: its role, what was done, under which name and type it is released."""
    unchanged = {entry.column for entry in result.details if entry.cells_changed == 0 and entry.action == WORDS["kept"]}
    unchanged -= {entry.column for entry in result.details if entry.cells_changed}
    found = []
    for entry in result.treatments:
        removed = entry.action == "removed"
        nature = "removed" if removed else "unchanged" if entry.column in unchanged else "recoded"
        found.append(
            {
                "name": entry.column,
                "role": entry.role,
                "nature": nature,
                "technique": "none" if nature == "unchanged" else WORDS[entry.action],
                "clause": entry.clause,
                "released_as": [] if removed else [entry.column],
                "types": [] if removed else [type_word(frame.schema[entry.column])],
            }
        )
    return found


def _populations(result: SafeHarbor) -> dict[str, Any]:
    """Source and vintage; the prefixes too where they are not those that come with shoal."""
    found = result.populations
    kept = {} if found == shipped() else {"kept": sorted(found.kept)}
    return {"source": found.source, "vintage": found.vintage, **kept}


def _manifest(
    result: SafeHarbor,
    draft: Path,
    path: Path,
    written: int,
    shuffle: bool,
    found: Verification,
    residual: IdentityRisk | None,
) -> dict[str, Any]:
    policy: Policy = result.policy
    return {
        "shoal": __version__,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "data": path.name,
        "data_sha256": sha256(draft),
        "policy": policy.model_dump(mode="json"),
        "policy_sha256": policy.digest(),
        "method": "hipaa-safe-harbor",
        "source": SAFE_HARBOR_RULE,
        "quasi_identifiers": result.quasi_identifiers,
        "columns": _columns(result, result.polars),
        "written": written,
        "shuffled": shuffle,
        "safe_harbor": {
            **result.manifest_section(),
            "zip_populations": _populations(result),
            "plan": plan_of(result.treatments),
        },
        "residual": None if residual is None else residual.to_dict(),
        "verdict": found.verdict,
        "models": [verdict.to_dict() for verdict in found.models],
        "checks": [{"name": check.name, "holds": check.holds, "detail": check.detail} for check in found.checks],
        "no_guarantee": not policy.models,
        "warning": "Safe harbor removes what the rule lists; it bounds no risk. See `residual` for what is left.",
    }
