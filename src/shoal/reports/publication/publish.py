"""From a table and a policy to a folder that may be published, in one go."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from shoal.attacks.cures import TriedCure
from shoal.detection.profile import profile
from shoal.errors import InputError, Message
from shoal.methods.anatomy import check_not_published
from shoal.policy import Policy, as_policy
from shoal.policy.manifest import DecidedBy, dictionary_path, manifest_path, policy_path
from shoal.policy.sections import DP
from shoal.releases.folder import (
    Folders,
    check_evidence_free,
    check_free,
    check_outside,
    place_evidence,
    staged,
    take_place,
)
from shoal.releases.published import cover_files
from shoal.releases.signing import check_signing_key
from shoal.releases.write import Refused
from shoal.reports.publication.private import PrivateSteps
from shoal.reports.publication.questions import policy_from, who_decided
from shoal.reports.publication.results import Publication
from shoal.reports.publication.small_counts import public_edition
from shoal.reports.publication.steps import PublicationSteps
from shoal.reports.report import check_report, report_html, report_pdf
from shoal.storage import Table
from shoal.storage.formats import format_of
from shoal.storage.reading import Options, declaring, read
from shoal.storage.reading.csv import delimiter_of
from shoal.storage.writing import write_bytes
from shoal.systems.console import shell_line
from shoal.systems.files import move
from shoal.verbs.base import takes
from shoal.verbs.releasing import PublishRequest

if TYPE_CHECKING:
    from shoal.reports.publication.linked import TablesPublication

PRIVATE, PUBLIC = 0o600, 0o644


@takes(PublishRequest)
def publish(source: Any, request: PublishRequest) -> Publication | TablesPublication:
    """Profile, detect, measure, anonymise, verify, attack, and report; `output` is the folder that may leave.

    Without a policy one is made from the proposed roles and your `answers` (`{"recipient": "public"}`):
    while a question is open that only a person can answer, nothing is done; `Options(codebook=…)` leaves fewer.
    The policy is kept in the owner's folder.
    Where an attack goes past its limit and the policy does not accept that, the folder is a draft: the evidence and the
    report, and no data; a policy that shoal proposed is made stricter first, by the cheapest cure that was tried. The
    folder and, beside it, its owner's (`release.private`, with the internal report, the policy, the plan and the
    private record) are written whole or not at all. Where the policy is not met nothing is written, but what was found
    so far goes to the folder `keep_evidence`. `excel_safe`: no cell is a formula to a spreadsheet.

    >>> import polars as pl
    >>> people = pl.DataFrame({"age": [30, 34, 51, 52] * 3, "illness": ["flu", "cold"] * 6})
    >>> found = publish(people, {"columns": {"age": "quasi-identifier", "illness": "sensitive"},
    ...     "models": [{"model": "k-anonymity", "k": 3}],
    ...     "attacks": {"inference": {"accept": "nobody knows these people"}}})
    >>> found.verdict, found.findings["verification"]["k"]
    ('holds', 3)
    """
    if as_policy(request.policy).relations is not None:
        from shoal.reports.publication.linked import publish_linked

        return publish_linked(source, as_policy(request.policy), request)
    target = None if request.output is None else Path(request.output)
    evidence = None if request.keep_evidence is None else Path(request.keep_evidence)
    if target is not None:
        check_report(pdf=request.pdf)
    _check_places(source, request.policy, request.sign, target, evidence, request.force)
    table = read(source, None, declaring(request.options, as_policy(request.policy).types))
    if request.policy is not None and request.answers:
        raise InputError(Message("{answers} and {policy} exclude each other."), "Write the answers into the policy.")
    decided_by: dict[str, DecidedBy] = {}
    if request.policy is not None:
        rules = as_policy(request.policy)
    else:
        said = {**(request.answers or {}), **(request.decide or {})}
        proposed = profile(table, codebook=None if request.options is None else request.options.codebook)
        rules, decided_by = policy_from(proposed, said), who_decided(proposed, said)
        table = read(source, None, declaring(request.options, rules.types)) if rules.types else table
    if rules.output.delimiter is None and (delimiter := delimiter_of(table.notes)) in (";", "\t", "|"):
        rules = rules.model_copy(update={"output": rules.output.model_copy(update={"delimiter": delimiter})})
    if rules.method is not None and rules.method.name == DP:
        _check_expiry(rules)
        return _private(source, table, rules, request, target)
    if not rules.models:
        raise InputError("The policy names no privacy model, so nothing would be promised.", "Add one, such as k = 5.")
    check_not_published(rules)
    _check_expiry(rules)
    path = source if isinstance(source, (str, Path)) else None
    steps = PublicationSteps(table, rules, dict(request.decide or {}), path, decided_by)
    with staged(target or _nowhere()) as made:
        if made.left:
            steps.warnings.append(f"{made.left} unfinished publication of an earlier run that was killed was removed")
        # everything is written into the owner's draft first; what may leave goes to the other one at the end
        data = made.private / f"data{_format(source)}"
        try:
            steps.run(data, seed=request.seed, sign=request.sign, excel_safe=request.excel_safe)
            if request.policy is None and steps.draft and steps.cures and steps.cures[0].enough:
                steps = _stricter(steps, steps.cures[0], made.private)
                steps.run(data, seed=request.seed, sign=request.sign, excel_safe=request.excel_safe)
        except Refused:
            return _refused(steps, evidence, request.force)
        except InputError as error:
            raise _without_draft(error, made.draft) from None
        if steps.draft:
            return _draft(steps, made, target or evidence, request, path)
        done = Publication(
            None, "holds", {"report": None, "findings": None}, steps.steps, None, steps.warnings or None, None,
            steps.document(), steps.changed, None if path is None else shell_line(str(path)),
        )  # fmt: skip
        if target is None:
            return done
        internal = done.findings
        steps.timed("report", lambda: _write_documents(made, data, public_edition(internal), internal, request.pdf))
        return _placed(replace(done, steps=steps.steps), made, data, target, request)


def _private(source: Any, table: Table, rules: Policy, request: PublishRequest, target: Path | None) -> Publication:
    """A table drawn under differential privacy: the public report holds nothing that was not paid for."""
    steps = PrivateSteps(table, rules, source, request.options or Options())
    with staged(target or _nowhere()) as made:
        data = made.private / f"data{_format(source)}"
        steps.run(data, request.sign)
        done = steps.publication(original=None if not isinstance(source, (str, Path)) else shell_line(str(source)))
        if target is None:
            return done
        _write_documents(made, data, steps.document(public=True).to_dict(), done.findings, request.pdf)
        return _placed(done, made, data, target, request)


def _placed(done: Publication, made: Folders, data: Path, target: Path, request: PublishRequest) -> Publication:
    """The folder that may leave and its owner's at their places, every file covered by the manifest."""
    cover_files(made.public / data.name, made.private, request.sign)
    take_place(made, target, request.force)
    return replace(done, output=str(target), files=_files(target))


def _files(folder: Path) -> dict[str, str | None]:
    return {"report": str(folder / "report.html"), "findings": str(folder / "findings.json")}


def _check_places(
    source: Any, policy: Any, sign: str | Path | None, target: Path | None, evidence: Path | None, force: bool
) -> None:
    """Refuse places that are taken, or that hold what is read, before any work."""
    named = policy if isinstance(policy, (str, Path)) else None
    check_outside(source, named, as_policy(policy), sign, target, evidence)
    check_signing_key(sign)
    if target is not None:
        check_free(target, force)
    if evidence is not None:
        check_evidence_free(evidence, force)


def _check_expiry(rules: Policy) -> None:
    expires = rules.context.expires
    if expires is not None and expires < date.today():
        raise InputError(
            f"The policy's `context` says that the assessment expires on {expires}, which is in the past.",
            "Give a later date, or leave `expires` out.",
        )


def _without_draft(error: InputError, draft: Path) -> InputError:
    """An error that names the file as the reader knows it, not by its name in the draft."""
    named = f"{draft / 'private'}{os.sep}"
    if named not in error.what and named not in (error.cure or ""):
        return error
    cure = error.cure.replace(named, "") if error.cure is not None and named in error.cure else error.cure
    return InputError(error.what.replace(named, "") if named in error.what else error.what, cure)


def _nowhere() -> Path:
    """Where a publication is put together that is not kept: a folder of this process alone."""
    import tempfile

    return Path(tempfile.gettempdir()) / "shoal-publication"


def _format(source: Any) -> str:
    """The extension of the data: it is written as it came, labels and all, where shoal writes that, else as CSV."""
    ending = Path(source).suffix.lower() if isinstance(source, (str, Path)) else ""
    return ending if format_of(Path(f"data{ending}")) is not None else ".csv"


def _stricter(steps: PublicationSteps, cure: TriedCure, folder: Path) -> PublicationSteps:
    """The steps anew, by the cheapest cure of a policy that nobody but shoal proposed; what was released is removed."""
    for path in folder.iterdir():
        path.unlink()
    changed = [name for name, role in cure.policy.columns.items() if role != steps.rules.columns.get(name)]
    decided_by: dict[str, DecidedBy] = {**steps.decided_by, **dict.fromkeys(changed, "proposal")}
    again = PublicationSteps(steps.table, cure.policy, {}, steps.source, decided_by)
    left = "" if steps.refusal is None else steps.refusal.reason.rstrip(".")
    again.warnings = [f"the policy that shoal proposed was made stricter: {cure.words} (before: {left})"]
    return again


def _draft(
    steps: PublicationSteps, made: Folders, place: Path | None, request: PublishRequest, path: str | Path | None
) -> Publication:
    """The evidence, the report, policies that cure, and no data: an attack goes past its limit, and nobody accepts
    that."""
    assert steps.refusal is not None
    found = Publication(
        None, "draft", {"report": None, "findings": None}, steps.steps, steps.refusal.as_draft(),
        steps.warnings or None, steps.cures or None, steps.document(), None,
        None if path is None else shell_line(str(path)),
    )  # fmt: skip
    if place is None:
        return found
    steps.timed("report", lambda: _write_report(made.public, found.findings, request.pdf, PRIVATE))
    cures = []
    for number, cure in enumerate(steps.cures, 1):
        if cure.enough:
            name = f"cure-{number}.yaml"
            write_bytes(made.public / name, policy_as_text(cure.policy, cure.in_words()).encode(), PRIVATE)
            cure = replace(cure, file=str(place / name))
        cures.append(cure)
    found = replace(found, cures=cures or None)
    place_evidence(made, place, request.force)
    return replace(found, output=str(place), files=_files(place), steps=steps.steps)


def policy_as_text(policy: Policy, comment: str) -> str:
    """A policy as a file, with a sentence above it."""
    said = yaml.safe_dump(policy.as_written(), sort_keys=False, allow_unicode=True, width=10**9)
    return f"# {comment}\n{said}"


def _write_report(folder: Path, found: dict[str, Any], pdf: bool, mode: int) -> str:
    """Findings and report, for programs and for people."""
    write_bytes(folder / "findings.json", _json(found), mode)
    write_bytes(folder / "report.html", report_html(found).encode(), mode)
    if pdf:
        write_bytes(folder / "report.pdf", report_pdf(found), mode)
    return "done"


def _refused(steps: PublicationSteps, evidence: Path | None, force: bool) -> Publication:
    """Nothing is written but, where that is asked for, what was found so far."""
    document = steps.document()
    assert steps.refusal is not None
    found = Publication(
        None, "refused", {"report": None, "findings": None}, steps.steps, steps.refusal.in_words(evidence),
        steps.warnings or None, None, document,
    )  # fmt: skip
    if evidence is None:
        return found
    with staged(evidence) as made:
        write_bytes(made.public / "findings.json", _json(document.to_dict()), PRIVATE)
        place_evidence(made, evidence, force)
    return replace(found, files={"report": None, "findings": str(evidence / "findings.json")})


def _write_documents(made: Folders, data: Path, public: dict[str, Any], internal: dict[str, Any], pdf: bool) -> str:
    """Reports, findings and the owner's files into the folders that are being put together."""
    for folder, found, mode in ((made.public, public, PUBLIC), (made.private, internal, PRIVATE)):
        _write_report(folder, found, pdf, mode)
    for part in (data, manifest_path(data), dictionary_path(data)):
        move(part, made.public / part.name)
    move(policy_path(data), made.private / "policy.yaml")
    write_bytes(made.public / "README.md", _readme(public, sorted(made.public.iterdir())).encode(), PUBLIC)
    return "done"


def _readme(found: Mapping[str, Any], files: list[Path]) -> str:
    """What lies in the folder, for who receives it."""
    words = {
        "findings.json": "what was measured, for programs",
        "report.html": "the report, for people",
        "report.pdf": "the same report, to print and sign",
        "data.manifest.json": "what was promised, with the hash of every file here",
        "data.dictionary.json": "the columns",
    }
    lines = ["# A release made with shoal", "", f"{found['data']['released']:,} records, {found['created'][:10]}.", ""]
    lines += [f"- `{file.name}`: {words.get(file.name, 'the data')}" for file in files]
    lines += ["", "To check it: `shoal verify .` in this folder.", ""]
    return "\n".join(lines)


def _json(found: Mapping[str, Any]) -> bytes:
    return (json.dumps(found, ensure_ascii=False, indent=1) + "\n").encode()
