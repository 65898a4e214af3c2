"""A verb and its release in one: what the front ends call, which know no order of steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.engine import engine_of
from shoal.errors import InputError, Message
from shoal.keys import check_no_secret, path_of
from shoal.methods.anonymize import Anonymized, asked
from shoal.methods.past_memory import COPIES, DISK_PER_ROW
from shoal.policy import as_policy
from shoal.policy.loading import with_roles
from shoal.policy.manifest import files_of
from shoal.releases.in_blocks import check_streamed
from shoal.releases.open import Release
from shoal.releases.places import check_free, check_not_input, place_of
from shoal.releases.remote_release import stays_remote
from shoal.releases.results import Released
from shoal.releases.signing import check_signing_key
from shoal.releases.treatment import Releasable
from shoal.releases.write import Refused, files_read, release
from shoal.storage.databases import is_database
from shoal.storage.reading import Options, Overflow
from shoal.storage.writing import OutputFormat, check_apart, check_target, write_private, write_text
from shoal.systems.console import shell_line
from shoal.verbs.changing import SafeHarborRequest
from shoal.vocabulary import Role

if TYPE_CHECKING:  # a command loads the verb that it runs
    from shoal.methods.hipaa.results import SafeHarbor
    from shoal.methods.mondrian import CutPlan
    from shoal.methods.perturbation.results import Perturbed
    from shoal.methods.pseudonyms.results import Pseudonymized, Shifted
    from shoal.methods.scrubbing.results import ScrubResult
    from shoal.methods.search.generalize import LatticePlan


@dataclass(frozen=True)
class Writing:
    """How a release is written; the command line shuffles rows, because their order can identify."""

    force: bool = False
    shuffle: bool = True
    seed: int | None = None
    excel_safe: bool = False
    no_guarantee: bool = False
    sign: str | Path | None = None
    output: OutputFormat | None = None


def check_output(source: Any, output: str | Path | None, writing: Writing, **others: Any) -> None:
    """Refuse an output that is an input, a policy, a plan or a key, or that is there already, before any work."""
    place = None if output is None else place_of(output)
    output = None if place is None else place.path
    named = {name: file for name, file in others.items() if isinstance(file, (str, Path, list, tuple))}
    check_apart(input=source, signing_key=writing.sign, **named, output=files_of(output))
    check_signing_key(writing.sign)
    if place is not None and output is not None:
        check_not_input(source if isinstance(source, (list, tuple)) else [source], place)
        check_free(place, writing.force)
        check_no_secret(output)
        as_policy(others.get("policy")).output.overridden(writing.output).check(output)


def release_anonymized(
    source: Any,
    *,
    output: str | Path,
    policy: Any = None,
    writing: Writing | None = None,
    chart: str | Path | None = None,
    refuse_first: bool = False,
    **settings: Any,
) -> Anonymized:
    """`shoal.anonymize` and its release; `settings` are those of the verb, `chart` is a file to stay apart from.

    `refuse_first`: columns that nobody decided on are refused before the work, without a result that says more.
    """
    writing = writing or Writing()
    read = files_read(as_policy(policy), settings.get("generalize") or {})
    trees = settings.get("hierarchies")
    if _is_anatomy(policy, settings.get("method")):
        _check_tables_output(source, output, writing, policy)
    else:
        check_output(source, output, writing, policy=policy, hierarchies=trees, file_that_is_read=read, chart=chart)
    options = settings.pop("options", None) or Options()

    with Overflow(options, COPIES, DISK_PER_ROW) as overflow:
        job = asked(source, policy, options=replace(options, overflow=overflow), **settings)
        if refuse_first and (undecided := job.stopping()).stopping:
            raise Refused(f"Refused, nothing was written. {undecided.refusal()}")
        if job.on_disk is not None:
            check_streamed(place_of(output).path)
        result = replace(job.run(), original=_as_argument(source, options))
        return _left(result, output, source, writing)


def _is_anatomy(policy: Any, method: Any) -> bool:
    """Whether two tables are released: a folder takes the place of a file."""
    section = as_policy(policy).method
    named = method if method is not None else None if section is None else section.name
    return getattr(named, "name", named) == "anatomy"


def _check_tables_output(source: Any, output: str | Path, writing: Writing, policy: Any) -> None:
    """Refuse a folder that is taken, or that holds what is read, and what only one file has."""
    from shoal.releases import folder
    from shoal.releases.table_set import TablesPlace

    place = TablesPlace.of(output).folder
    folder.check_outside(source, policy, as_policy(policy), writing.sign, place, None)
    folder.check_free(place, writing.force)
    check_signing_key(writing.sign)
    if writing.excel_safe or writing.output not in (None, OutputFormat()):
        raise InputError(
            "Several tables are written in the usual notation of cells.",
            Message("Leave out `{excel_safe}` and what changes how cells are written."),
        )


def _as_argument(source: Any, options: Any) -> str | None:
    """The file that was read as a shell takes it; None where it is not one file, or was read in a way of its own."""
    one = isinstance(source, (str, Path)) and str(source) != "-" and not is_database(source)
    usual = options is None or replace(options, memory=None, spill_dir=None) == Options()
    return shell_line(str(source)) if one and usual else None


def release_applied(
    source: Any,
    *,
    plan: LatticePlan | CutPlan | str | Path,
    output: str | Path,
    writing: Writing | None = None,
    **settings: Any,
) -> Anonymized:
    """`shoal.apply_plan` and its release."""
    writing = writing or Writing()
    check_output(source, output, writing, plan=plan)
    from shoal.methods.solve import apply_plan

    return _left(apply_plan(source, plan=plan, **settings), output, source, writing)


def _left(result: Anonymized, output: str | Path, source: Any, writing: Writing) -> Anonymized:
    try:
        made = _released(result, output, source, writing)
    except Refused as refusal:
        return result.as_refused(str(refusal))
    return result.as_released(made.written, made.output, made.manifest, made.plan, made.removed_rows)


def release_perturbed(
    source: Any,
    *,
    output: str | Path,
    policy: Any = None,
    decide: Mapping[str, Role] | None = None,
    writing: Writing | None = None,
    **settings: Any,
) -> Perturbed:
    """`shoal.perturb` and its release; without a model it carries no guarantee, and says so."""
    from shoal.methods.perturbation import perturb

    writing = writing or Writing()
    check_output(source, output, writing, policy=policy)
    result = perturb(source, policy=with_roles(as_policy(policy), decide), seed=writing.seed, **settings)
    result.table.select(list(decide or {}))
    try:
        made = _released(result, output, source, writing, no_guarantee=True)
    except Refused as refusal:
        return result.as_refused(str(refusal))
    return result.as_released(made.written, made.output, made.manifest)


def release_pseudonymized(
    source: Any, *, output: str | Path, writing: Writing | None = None, **settings: Any
) -> Pseudonymized:
    """`shoal.pseudonymize` and its release, in the order of the rows: it is still personal data."""
    from shoal.methods.pseudonyms.pseudonymize import pseudonymize

    writing = writing or Writing(shuffle=False)
    keys = {"key_file": path_of(settings.get("key")), "new_key_file": path_of(settings.get("rotate_to"))}
    files = {"surrogates": settings.get("surrogates"), "mapping": settings.get("mapping")}
    check_output(source, output, writing, **keys, **files)
    if settings.get("rotate_to") is not None and settings.get("mapping") is None:
        raise InputError(
            "A rotation that is written needs a place for old and new pseudonyms.", "Give mapping a file name."
        )
    result = pseudonymize(source, **settings)
    made = _released(result, output, source, writing, no_guarantee=True)
    return result.as_released(made.output, made.manifest)


def release_shifted(source: Any, *, output: str | Path, writing: Writing | None = None, **settings: Any) -> Shifted:
    """`shoal.shift_dates` and its release, in the order of the rows: it is still personal data."""
    from shoal.methods.pseudonyms.shift_dates import shift_dates

    writing = writing or Writing(shuffle=False)
    check_output(source, output, writing, key_file=path_of(settings["key"]))
    result = shift_dates(source, **settings)
    made = _released(result, output, source, writing, no_guarantee=True)
    return result.as_released(made.output, made.manifest)


def release_scrubbed(
    source: Any,
    *,
    output: str | Path,
    writing: Writing | None = None,
    spans_out: str | Path | None = None,
    **settings: Any,
) -> ScrubResult:
    """`shoal.scrub` and its release, in the order of the rows; `spans_out` gets the places of what was replaced."""
    from shoal.methods.scrubbing.scrub import scrub

    writing = writing or Writing(shuffle=False)
    files = {"key_file": path_of(settings.get("key")), "known_from": settings.get("known_from")}
    check_output(source, output, writing, **files, places=spans_out)
    if spans_out is not None:
        check_target(Path(spans_out), writing.force)
        check_no_secret(Path(spans_out))
    result = scrub(source, **settings)
    made = _released(result, output, source, writing, no_guarantee=True)
    if spans_out is not None:
        write_private(result.places(), Path(spans_out))
    return result.as_released(made.output, made.manifest, spans_out)


def release_safe_harbor(
    source: Any,
    *,
    output: str | Path | None = None,
    write_policy: str | Path | None = None,
    writing: Writing | None = None,
    **settings: Any,
) -> SafeHarbor:
    """Safe harbor, its proposal written as a policy file, and its release, each where a file is named for it."""
    writing = writing or Writing()
    asked = SafeHarborRequest(**settings)
    files = {"policy": asked.policy, "zip_populations": asked.zip_populations, "written_policy": write_policy}
    check_output(source, output, writing, **files)
    if write_policy is not None:
        check_target(Path(write_policy), writing.force, (".yaml", ".yml"))
    from shoal.methods.hipaa.manifest import policy_text
    from shoal.methods.hipaa.safe_harbor import apply_safe_harbor, residual_risk

    result = apply_safe_harbor(source, asked)
    if write_policy is not None:
        write_text(Path(write_policy), policy_text(result))
        result = result.with_policy_file(write_policy)
    if output is None:
        return result.measured(residual_risk(result.released, result))
    try:
        made = _released(result, output, source, writing)
    except Refused as refusal:
        return result.as_refused(str(refusal))
    if stays_remote(result):
        residual = residual_risk(output, result, Options(engine=engine_of(result.table).name))
    else:
        residual = residual_risk(Release.open(output).table(), result)
    return result.measured(residual).as_released(made.written, made.output, made.manifest)


def _released(result: Releasable, output: str | Path, source: Any, writing: Writing, **more: Any) -> Released:
    settings = {entry.name: getattr(writing, entry.name) for entry in fields(writing)}
    return release(result, output, source=_files(source), **{**settings, **more})


def _files(source: Any) -> list[Path]:
    """The files that were read, where a source is files."""
    several = source if isinstance(source, (list, tuple)) else [source]
    return [Path(path) for path in several if isinstance(path, (str, Path)) and not is_database(path)]
