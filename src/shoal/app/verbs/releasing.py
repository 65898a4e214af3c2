"""Verbs that write: hierarchies, releases, and what is done with a release afterwards."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from shoal.app.stored import Stored
from shoal.app.verbs.base import Option, Task, Verb, VerbOptions
from shoal.app.verbs.measuring import Columns, Qi, Seed, Sensitive
from shoal.errors import InputError
from shoal.results.sections import Files, Headline
from shoal.vocabulary import HierarchyKind, Prefer, Role

Decide = Annotated[dict[str, Role] | None, Option("--decide", "pairs")]
FileKind = Literal["csv", "tsv", "parquet"]
ReleasedBy = Literal["publish", "anonymize"]


class HierarchyBuildOptions(VerbOptions):
    """Options of `shoal hierarchy build`."""

    column: Annotated[Columns, Option("--column", "columns", "columns")]
    kind: Annotated[HierarchyKind, Option("--kind")] = "auto"
    width: Annotated[float | None, Field(gt=0), Option("--width")] = None
    factor: Annotated[int | None, Field(ge=2, le=10**6), Option("--factor")] = None
    groups: Annotated[int | None, Field(ge=1, le=10**6), Option("--groups")] = None
    cut: Annotated[int | None, Field(ge=1, le=100), Option("--cut")] = None


class HierarchyCheckOptions(VerbOptions):
    """A tree to be held against the column: its rows, leaf first, as a hierarchy file has them."""

    column: str
    rows: Annotated[list[Annotated[list[str], Field(max_length=50)]], Field(min_length=1, max_length=200_000)]


class AnonymizeOptions(VerbOptions):
    """Options of `shoal anonymize`; models and options of methods stand in the policy."""

    qi: Qi = None
    sensitive: Sensitive = None
    k: Annotated[int | None, Field(ge=1, le=10**9), Option("-k")] = None
    l: Annotated[int | None, Field(ge=1, le=10**9), Option("--l")] = None  # noqa: E741
    t: Annotated[float | None, Field(ge=0, le=1), Option("--t")] = None
    method: Annotated[str | None, Option("--method")] = None
    prefer: Annotated[Prefer | None, Option("--prefer")] = None
    suppression: Annotated[float | str | None, Option("--suppression")] = None
    disclosure: Annotated[list[str] | None, Option("--disclosure", "repeated")] = None
    decide: Decide = None
    keep_order: bool = False
    seed: Seed | None = None
    no_guarantee: bool = False
    excel_safe: bool = False
    format: FileKind = "csv"


class PublishOptions(VerbOptions):
    """Options of `shoal publish`."""

    answer: Annotated[dict[str, str] | None, Option("--answer", "pairs", "answers")] = None
    decide: Decide = None
    seed: Annotated[Seed | None, Option("--seed")] = None
    no_pdf: bool = False


class VerifyOptions(VerbOptions):
    """Options of `shoal verify`; the release is the one that `publish` or `anonymize` made here."""

    release: ReleasedBy = "publish"
    attack: Annotated[bool, Option("--attack", "switch")] = False
    targets: Annotated[int, Field(ge=1, le=10**6), Option("--targets")] = 2_000


class AttackOptions(VerbOptions):
    """Options of `shoal attack all`."""

    release: ReleasedBy = "publish"
    id: Annotated[str | None, Option("--id", "value", "id_column")] = None
    twin: bool = True
    targets: Annotated[int, Field(ge=1, le=10**6), Option("--targets")] = 2_000
    seed: Annotated[Seed, Option("--seed")] = 0


class ReportOptions(VerbOptions):
    """Options of `shoal report`."""

    model_config = ConfigDict(populate_by_name=True, serialize_by_alias=True)

    crosswalk: Annotated[Literal["iso-27559", "hipaa", "ema", "wp29"] | None, Field(alias="for"), Option("--for")] = (
        None
    )
    public: Annotated[bool, Option("--public", "switch")] = False
    pdf: bool = False


def _out(task: Task) -> Path:
    folder = task.folder / "out"
    folder.mkdir(mode=0o700)
    return folder


def _build(task: Task, options: HierarchyBuildOptions) -> Any:
    from shoal.hierarchy.build_files import build_hierarchies

    output = _out(task) / ("hierarchy.csv" if len(options.column) == 1 else "hierarchies")
    return build_hierarchies(task.source, output=output, options=task.reading, **options.arguments())


def _check(task: Task, options: HierarchyCheckOptions) -> Any:
    """The rows as a policy takes them, read by the library and held against the column."""
    import csv

    from shoal.hierarchy import check_hierarchies
    from shoal.reading import read

    file = _out(task) / "hierarchy.csv"
    with file.open("w", newline="", encoding="utf-8") as opened:
        csv.writer(opened, delimiter=";", lineterminator="\n").writerows(options.rows)
    table = read(task.source, [options.column], task.reading)
    column = table[options.column]
    return check_hierarchies([file], data={"hierarchy": column.as_it_came()}, options=task.reading)


def _anonymize(task: Task, options: AnonymizeOptions) -> Any:
    from shoal.releases.jobs import Writing, release_anonymized

    writing = Writing(
        shuffle=not options.keep_order,
        seed=options.seed,
        excel_safe=options.excel_safe,
        no_guarantee=options.no_guarantee,
    )
    output = _out(task) / f"safe.{options.format}"
    return release_anonymized(
        task.source, output=output, policy=task.policy, writing=writing, options=task.reading, **options.arguments()
    )


def _publish(task: Task, options: PublishOptions) -> Any:
    from shoal.publication.publish import publish

    output = _out(task) / "release"
    return publish(
        task.source,
        task.policy,
        output=output,
        pdf=not options.no_pdf,
        keep_evidence=task.folder / "evidence",
        options=task.reading,
        **options.arguments(),
    )


def released_file(task: Task, by: str) -> str:
    """The release that a verb made in this workspace."""
    if by not in task.releases:
        raise InputError("Nothing is released yet.", f"Run {by} first.")
    return task.releases[by]


def _verify(task: Task, options: VerifyOptions) -> Any:
    from shoal.attacks.verification import verify

    release = released_file(task, options.release)
    return verify(release, original=task.source, options=task.reading, **options.arguments())


def _attack(task: Task, options: AttackOptions) -> Any:
    from shoal.attacks.battery import attack

    release = released_file(task, options.release)
    return attack(release, original=task.source, twin=options.twin, options=task.reading, **options.arguments())


def _report(task: Task, options: ReportOptions) -> Stored:
    from shoal.publication.report_files import report_files

    place = _out(task) / ("report.pdf" if options.pdf else "report.html")
    (path,) = report_files(
        f"{released_file(task, 'publish')}.private",
        html=None if options.pdf else place,
        pdf=place if options.pdf else None,
        crosswalk=options.crosswalk,
        public=options.public,
    )
    said = "The report is written."
    return Stored({"output": str(path)}, said, [Headline(said), Files({"report": str(path)})])


VERBS = (
    Verb(
        "hierarchy-build",
        ("hierarchy", "build"),
        "shoal.hierarchy.build_files:build_hierarchies",
        HierarchyBuildOptions,
        "Build a hierarchy from the values of a column.",
        takes_policy=False,
        run=_build,
    ),
    Verb(
        "hierarchy-check",
        ("hierarchy", "check"),
        "shoal.hierarchy:check_hierarchies",
        HierarchyCheckOptions,
        "Is this a tree, and does it cover the data?",
        takes_policy=False,
        run=_check,
    ),
    Verb(
        "anonymize",
        ("anonymize",),
        "shoal.anonymization.anonymize:anonymize",
        AnonymizeOptions,
        "Anonymise the table to satisfy its policy, and release it.",
        run=_anonymize,
    ),
    Verb(
        "publish",
        ("publish",),
        "shoal.publication.publish:publish",
        PublishOptions,
        "From a table to a folder that may be published.",
        run=_publish,
    ),
    Verb(
        "verify",
        ("verify",),
        "shoal.attacks.verification:verify",
        VerifyOptions,
        "Does the release keep its promise?",
        takes_policy=False,
        run=_verify,
    ),
    Verb(
        "attack",
        ("attack", "all"),
        "shoal.attacks.battery:attack",
        AttackOptions,
        "Run every attack that applies to the release.",
        takes_policy=False,
        run=_attack,
    ),
    Verb(
        "report",
        ("report",),
        "shoal.publication.report_files:report_files",
        ReportOptions,
        "Write the report of the publication again.",
        takes_policy=False,
        takes_reading=False,
        run=_report,
    ),
)
