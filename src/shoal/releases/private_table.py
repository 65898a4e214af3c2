"""Releases under differential privacy: what goes beside the data, and what a manifest can prove of it.

Nothing that was measured against the original stands in a manifest, unless it was paid for: no errors, no counts of
records or of moved values, no time. That the noise was drawn as it says, nobody can see from what was released.
"""

from __future__ import annotations

import hashlib
import math
import re
import secrets
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl

from shoal import __version__
from shoal.dp.tables.account import Account, check_steps
from shoal.dp.tables.counting import bin_levels
from shoal.dp.tables.counts import agreeing
from shoal.dp.tables.domains import Domain
from shoal.dp.tables.results import PrivateTable
from shoal.errors import InputError, Message
from shoal.models import Verdict
from shoal.policy import Policy, as_policy
from shoal.policy.amounts import written
from shoal.policy.judgement.shown_classes import Check
from shoal.policy.manifest import PRIVATE_TABLE, ColumnEntry, Manifest, PrivateRecord, StoredIn, types_by_name
from shoal.policy.sections import DP, DpMethod
from shoal.ranges.forms import ColumnForm
from shoal.releases.beside_table import beside_the_table, written_again
from shoal.releases.documents import ReleaseDocuments, dictionary_of, json_bytes
from shoal.releases.manifest_checks import parts_check, undecided_check
from shoal.releases.open import Release
from shoal.releases.published import files_check
from shoal.releases.results import Verification
from shoal.releases.signing import check_signature, sign
from shoal.results.result import as_json
from shoal.storage.column_type import type_word
from shoal.storage.reading import read
from shoal.storage.writing import OutputFormat
from shoal.wording import in_words

_RANDOM = "none: records are drawn from a model, nobody is behind one"
SECTION = "differential_privacy"
_UNIT = r"record( \(replaced by another\))?|person \(column (.*)\), at most ([\d,]+) rows"


def public_part(policy: Policy, names: list[str], person: str | None) -> Policy:
    """Of a policy what a release under differential privacy rests on: what was public, and whose presence is hidden."""
    zeros = [zero for zero in policy.structural_zeros if set(zero) <= set(names)]
    return Policy(
        columns={name: policy.columns.get(name, "other") for name in names},
        domains={name: domain for name, domain in policy.domains.items() if name in names},
        structural_zeros=zeros,
        public_records=policy.public_records,
        output=policy.output,
        context=policy.context,
    ).model_copy(update={"person": person})


def documents_of(
    made: PrivateTable,
    account: Account,
    policy: Policy,
    frame: pl.DataFrame,
    target: Path,
    digest: str,
    input_sha256: str | None,
    key: str | Path | None,
    stored_in: StoredIn | None = None,
) -> ReleaseDocuments:
    """Manifest, dictionary and private record of a table that was drawn."""
    counted = made.tables is not None
    entries = [
        ColumnEntry(
            name=name,
            role=policy.columns.get(name, "other"),
            nature="synthetic",
            technique=made.synthesizer,
            form=ColumnForm(kind="synthetic", type=type_word(frame[name].dtype)),
            released_as=[name],
            types=[type_word(frame[name].dtype)],
        )
        for name in frame.columns
    ]
    section = {
        "epsilon": written(account.epsilon),
        "delta": written(account.delta),
        "rho": written(account.rho),
        "unit": made.unit,
        "synthesizer": made.synthesizer,
        "spent": made.spent,
        "public": made.public,
    }
    manifest = Manifest(
        shoal=__version__,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        data=target.name,
        data_sha256=digest,
        stored_in=stored_in,
        policy=policy,
        policy_sha256=policy.digest(),
        method=PRIVATE_TABLE,
        quasi_identifiers=[],
        columns=entries,
        written=len(frame),
        shuffled=True,
        sections={SECTION: as_json(section)},
        verdict="holds",
        models=[],
        checks=[],
        no_guarantee=False,
        notes=["tables of counts: this is their list"] if counted else [],
    )
    dictionary = dictionary_of(manifest)
    private = PrivateRecord(
        data=target.name,
        data_sha256=digest,
        manifest_sha256=digest,  # until that is known
        plan_sha256=None,
        shuffled=False,
        seed=0,
        row_map=_RANDOM,
        records=made.owner["rows"],
        removed=[],
        input_sha256=input_sha256,
        labels={},
        perturbation_seed=None,
        treatment_seed=None,
        types={},
        measured=as_json({"marginals": made.marginals, "workload_error": made.workload_error, **made.owner}),
        salt=secrets.token_hex(16),
    )
    parts = {"dictionary": hashlib.sha256(json_bytes(dictionary)).hexdigest(), "private": private.digest()}
    manifest = manifest.model_copy(update={"parts": parts})
    manifest = manifest if key is None else sign(manifest, key)
    private = private.model_copy(update={"manifest_sha256": manifest.digest()})
    return ReleaseDocuments(manifest.to_dict(), dictionary, private.model_dump(mode="json"), policy.as_written(), None)


def verify_private_table(
    release: Release,
    manifest: Manifest,
    policy: Any = None,
    original: Any = None,
    signed_by: str | Path | None = None,
    folder: bool = False,
) -> Verification:
    """Schema, domains, accounting and signature of a release under differential privacy: what can be proven, no more.

    Where the private record is beside it, data and manifest must be those that it knows.
    """
    if original is not None:
        raise InputError(
            Message("A table under differential privacy is not compared with its {original}: no row has one."),
            "Leave the original out; its errors stand in the private record.",
        )
    checks = [] if signed_by is None else [check_signature(manifest, signed_by)]
    same = release.data_sha256 == manifest.data_sha256
    checks.append(
        Check("data hash", same, "the data is the file that was released" if same else "the data was changed")
    )
    checks += [*files_check(release.data, manifest, folder), parts_check(release, manifest)]
    table = read(release.data if release.address is None else release.address)
    if release.address is None:
        output = OutputFormat.model_validate(manifest.policy.output.model_dump())
        checks += [*beside_the_table(release.data, table), *written_again(release.data, output)]
    frame = table.to_polars()
    what = "tables" if (manifest.sections.get(SECTION) or {}).get("synthesizer") == "tables" else "records"  # type: ignore[union-attr]
    checks.append(Check("records", table.rows == manifest.written, f"{table.rows:,} of {manifest.written:,} {what}"))
    names = manifest.released_names
    right = list(types_by_name(table)) == names
    checks.append(Check("columns", right, f"{len(frame.columns)} of {len(names)} columns in their order"))
    whole = manifest.policy.digest() == manifest.policy_sha256
    checks.append(Check("policy", whole, "what was public" if whole else "the manifest's policy was changed"))
    asked = None if policy is None else as_policy(policy)
    if asked is not None:
        told = public_part(asked, names, manifest.policy.person)
        agrees = told.domains == manifest.policy.domains and told.public_records == manifest.policy.public_records
        checks.append(Check("public", agrees, "domains as in the policy" if agrees else "the policy has other domains"))
        checks += undecided_check(table, {*asked.columns, *asked.domains})
    said: Any = manifest.sections.get(SECTION) or {}
    try:
        checks.append(_domains(manifest, said, frame, release.data))
        wrong = _accounting(manifest, said)
        promised = {"epsilon": float(said["epsilon"]), "delta": float(said["delta"])}
        checks += [] if asked is None else _as_asked(asked, said)
    except (KeyError, TypeError, ValueError, ArithmeticError, AttributeError, OSError, pl.exceptions.PolarsError):
        wrong, promised = "the section cannot be read", {}
    if release.private is not None:
        vouched = release.is_vouched
        checks.append(Check("private record", vouched, "of this release" if vouched else "it is not this release's"))
    checks.append(Check("noise", True, "that records were drawn with it is claimed, not checked: no table shows it"))
    verdict = Verdict("differential-privacy", promised, wrong is None, {} if wrong is None else {"reason": wrong})
    holds = verdict.holds and all(check.holds for check in checks)
    return Verification("holds" if holds else "refused", table.rows, 0, 0, [verdict], checks)


def _as_asked(policy: Policy, said: Mapping[str, Any]) -> list[Check]:
    """What the policy promises: a manifest alone does not put noise in the place of its models, nor a larger budget in
    that of its own."""
    if policy.method is not None and policy.method.name == DP:
        asked = DpMethod.model_validate(policy.method.options)
        within = all(Decimal(said[name]) <= Decimal(getattr(asked, name)) for name in ("epsilon", "delta"))
        detail = "within the policy's epsilon and delta" if within else "the policy has a smaller epsilon or delta"
        return [Check("budget", within, detail)]
    promised = [model.model for model in policy.models] + ([] if policy.leak is None else ["leak"])
    if not promised:
        return []
    detail = f"the policy promises {in_words(promised)}, not differential privacy (`method: {{name: dp, epsilon: …}}`)"
    return [Check("models", False, detail)]


def _accounting(manifest: Manifest, said: Mapping[str, Any]) -> str | None:
    """Why the steps do not keep the promise, or are not those of this table; None where they do."""
    unit, steps, domains = re.fullmatch(_UNIT, said["unit"], re.DOTALL), said["spent"], said["public"]["domains"]
    if unit is None or unit[2] != manifest.policy.person:
        return "the unit is not the policy's"
    if sum(Decimal(one["rho"]) for one in steps) > Decimal(said["rho"]):
        return "the steps add up to more than rho"
    by = {name: {one["step"] for one in steps if name in one["columns"]} for name in domains}
    for name, domain in domains.items():
        bought = {"bought": {"domain"}, "bins bought": {"bins"}}.get(domain["source"], set())
        if by[name] & {"domain", "bins"} != bought or by[name] <= bought:
            return f"{name} was not measured, or its domain is not from where the manifest says"
    rows = int((unit[3] or "1").replace(",", ""))
    for one in steps:  # what is bought is read from each row, also of the record that goes and of the one that comes
        least: float = 2 if unit[1] else rows
        if one["step"] == "bins":
            least *= math.sqrt(bin_levels(Domain.from_dict("", domains[one["columns"][0]])) + 1) * (1 - 1e-12)
        if one["step"] in ("domain", "bins") and not one["sensitivity"] >= least:
            return f"the step '{one['step']}' has less noise than a person's rows need"
    return check_steps(steps, said["epsilon"], said["delta"], rows)


def domains_of(manifest: Manifest, names: Iterable[str]) -> dict[str, Domain]:
    """The public domains of columns by a manifest; what its policy says goes before what is repeated of it."""
    said: Any = manifest.sections[SECTION]
    policy = manifest.policy.domains
    repeated = said["public"]["domains"]
    return {
        name: Domain.of(name, policy[name]) if name in policy else Domain.from_dict(name, repeated[name])
        for name in names
    }


def _domains(manifest: Manifest, said: Mapping[str, Any], frame: pl.DataFrame, data: Path) -> Check:
    repeated, policy = said["public"], manifest.policy
    domains = domains_of(manifest, repeated["domains"])
    told = {name: as_json(domains[name].to_dict()) for name in domains if name in policy.domains}
    for name, one in told.items():
        if repeated["domains"][name]["source"] == "bins bought":
            one |= {"source": "bins bought", "cells": repeated["domains"][name]["cells"]}
    ours = {name: one for name, one in repeated["domains"].items() if one["source"] in ("policy", "bins bought")}
    if ours != told or policy.public_records != repeated["records"]:
        return Check("domains", False, "what the section calls public is not what the policy says")
    if said["synthesizer"] == "tables":
        if any(Path(name).name != name for name in frame["file"]):
            return Check("counts", False, "a table is listed that lies elsewhere")
        frames = {name: pl.read_csv(data.parent / name, infer_schema_length=None) for name in frame["file"].to_list()}
        wrong = agreeing(frames)
        return Check("counts", wrong is None, wrong or "counts are whole, from 0 on, and tables agree")
    outside = [name for name in frame.columns if name not in domains or not domains[name].holds(frame[name])]
    detail = f"{', '.join(outside)} has values outside" if outside else "every value lies in its public domain"
    return Check("domains", not outside, detail)
