"""From a table and a policy to a folder that may be published, in one go."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from shoal.detection.profile import profile
from shoal.errors import InputError
from shoal.policy import Policy, as_policy
from shoal.publication.folder import Folders, check_free, staged, take_place
from shoal.publication.questions import policy_from
from shoal.publication.results import Publication
from shoal.publication.small_counts import for_the_public
from shoal.publication.steps import Steps
from shoal.reading import Options, declaring, read
from shoal.releases.write import Refused
from shoal.reports.report import report_html, report_pdf
from shoal.vocabulary import Role
from shoal.writing import check_apart, write_bytes

_FORMATS = (".csv", ".parquet", ".tsv")
PRIVATE, PUBLIC = 0o600, 0o644


def publish(
    source: Any,
    policy: Policy | str | Path | dict[str, Any] | None = None,
    *,
    output: str | Path | None = None,
    answers: Mapping[str, str] | None = None,
    decide: Mapping[str, Role] | None = None,
    keep_evidence: str | Path | None = None,
    sign: str | Path | None = None,
    seed: int | None = None,
    pdf: bool = True,
    force: bool = False,
    options: Options | None = None,
) -> Publication:
    """Profile, detect, measure, anonymise, verify, attack, and report; `output` is the folder that may leave.

    Without a policy one is made from the proposed roles and your `answers` (`{"recipient": "public"}`):
    while a question is open that only a person can answer, nothing is done. The policy is kept in the owner's folder.
    The folder and, beside it, its owner's (`release.private`, with the internal report, the policy, the plan and the
    private record) are written whole or not at all. Where the policy is not met nothing is written, but what was
    found so far goes to the folder `keep_evidence`.

    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [30, 34, 51, 52] * 3, "illness": ["flu", "cold"] * 6})
    >>> found = publish(people, {"columns": {"age": "quasi-identifier", "illness": "sensitive"},
    ...     "models": [{"model": "k-anonymity", "k": 3}]})
    >>> found.verdict, found.findings["verification"]["k"]
    ('holds', 3)
    """
    target = None if output is None else Path(output)
    evidence = None if keep_evidence is None else Path(keep_evidence)
    named = policy if isinstance(policy, (str, Path)) else None
    check_apart(input=source, policy=named, signing_key=sign, output=target, keep_evidence=evidence)
    for folder in (target, evidence):
        if folder is not None:
            check_free(folder, force)
    table = read(source, None, declaring(options, as_policy(policy).types))
    if policy is not None and answers:
        raise InputError("Answers stand beside a policy.", "Write them into the policy.")
    rules = (
        as_policy(policy) if policy is not None else policy_from(profile(table), {**(answers or {}), **(decide or {})})
    )
    if not rules.models:
        raise InputError("The policy names no privacy model, so nothing would be promised.", "Add one, such as k = 5.")
    steps = Steps(table, rules, dict(decide or {}), source if isinstance(source, (str, Path)) else None)
    with staged(target or _nowhere()) as made:
        data = made.public / f"data{_format(source)}"
        try:
            steps.run(data, seed=seed, sign=sign)
        except Refused as refusal:
            return _refused(steps, str(refusal), evidence)
        document = steps.document()
        done = Publication(
            None, "holds", {"report": None, "findings": None}, steps.steps, None, document, steps.changed
        )
        if target is None:
            return done
        steps.timed("report", lambda: _write_documents(made, done, steps.rules, pdf))
        take_place(made, target)
    files: dict[str, str | None] = {"report": str(target / "report.html"), "findings": str(target / "findings.json")}
    return replace(done, output=str(target), files=files, steps=steps.steps)


def _nowhere() -> Path:
    """Where a publication is put together that is not kept: a folder of this process alone."""
    import tempfile

    return Path(tempfile.gettempdir()) / "shoal-publication"


def _format(source: Any) -> str:
    """The data is written as it came, where shoal writes that."""
    ending = Path(source).suffix.lower() if isinstance(source, (str, Path)) else ""
    return ending if ending in _FORMATS else ".parquet" if ending in (".arrow", ".feather") else ".csv"


def _refused(steps: Steps, why: str, evidence: Path | None) -> Publication:
    """Nothing is written but, where that is asked for, what was found so far."""
    document = steps.document()
    found = Publication(
        None, "refused", {"report": None, "findings": None}, steps.steps, f"{steps.steps[-1].name}: {why}", document
    )
    if evidence is None:
        return found
    with staged(evidence) as made:
        write_bytes(made.public / "findings.json", _json(document.to_dict()), PRIVATE)
        made.public.chmod(0o700)
        made.public.rename(evidence)
    return replace(found, files={"report": None, "findings": str(evidence / "findings.json")})


def _write_documents(made: Folders, done: Publication, rules: Policy, pdf: bool) -> str:
    """Reports, findings and the owner's files into the folders that are being put together."""
    internal = done.findings
    public = for_the_public(internal)
    public["context"] = {**public["context"], "edition": "public"}
    for folder, found, mode in ((made.public, public, PUBLIC), (made.private, internal, PRIVATE)):
        write_bytes(folder / "findings.json", _json(found), mode)
        write_bytes(folder / "report.html", report_html(found).encode(), mode)
        if pdf:
            write_bytes(folder / "report.pdf", report_pdf(found), mode)
    for part in (*made.public.glob("*.private.json"), *made.public.glob("*.plan.json")):
        part.rename(made.private / part.name)
    written = rules.as_written()
    text = yaml.safe_dump(written, sort_keys=False, allow_unicode=True)
    write_bytes(made.private / "policy.yaml", text.encode(), PRIVATE)
    write_bytes(made.public / "README.md", _readme(public, sorted(made.public.iterdir())).encode(), PUBLIC)
    return "done"


def _readme(found: Mapping[str, Any], files: list[Path]) -> str:
    """What lies in the folder, for who receives it."""
    words = {
        "findings.json": "what was measured, for programs",
        "report.html": "the report, for people",
        "report.pdf": "the same report, to print and sign",
        "data.manifest.json": "what was promised, with the hash of the data",
        "data.dictionary.json": "the columns",
    }
    lines = ["# A release made with shoal", "", f"{found['data']['released']:,} records, {found['created'][:10]}.", ""]
    lines += [f"- `{file.name}`: {words.get(file.name, 'the data')}" for file in files]
    lines += ["", "To check it: `shoal verify .` in this folder.", ""]
    return "\n".join(lines)


def _json(found: Mapping[str, Any]) -> bytes:
    return (json.dumps(found, ensure_ascii=False, indent=1) + "\n").encode()
