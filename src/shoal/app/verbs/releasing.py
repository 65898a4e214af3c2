"""Hierarchies, publications, and what is done with a release afterwards."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from shoal.app.project import Stored
from shoal.app.verbs.base import Option, Task, Verb, VerbOptions, out
from shoal.app.verbs.changing import Decide, FileName, Sign
from shoal.app.verbs.measuring import Columns, Seed
from shoal.results.sections import Files, Headline
from shoal.vocabulary import HierarchyKind

ReleasedBy = Literal["publish", "anonymize", "perturb", "safe-harbor", "pseudonymize", "shift-dates", "apply", "scrub"]


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


class PublishOptions(VerbOptions):
    """Options of `shoal publish`."""

    answer: Annotated[dict[str, str] | None, Option("--answer", "pairs", "answers")] = None
    decide: Decide = None
    seed: Annotated[Seed | None, Option("--seed")] = None
    excel_safe: Annotated[bool, Option("--excel-safe", "switch")] = False
    sign: Sign = None
    no_pdf: bool = False


class VerifyOptions(VerbOptions):
    """Options of `shoal verify`; the release is the one that a verb made here."""

    release: ReleasedBy = "publish"
    signed_by: Annotated[FileName | None, Option("--signed-by", "file")] = None
    attack: Annotated[bool, Option("--attack", "switch")] = False
    targets: Annotated[int, Field(ge=1, le=10**6), Option("--targets")] = 2_000


class AttackOptions(VerbOptions):
    """Options of `shoal attack all`."""

    release: ReleasedBy = "publish"
    id: Annotated[str | None, Option("--id", "value", "id_column")] = None
    twin: bool = True
    targets: Annotated[int, Field(ge=1, le=10**6), Option("--targets")] = 2_000
    seed: Annotated[Seed, Option("--seed")] = 0


class ReleaseOf(BaseModel):
    """A release: the verb that made it, of this file or of another that is open."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    release: ReleasedBy = "publish"
    workspace: Annotated[str | None, Field(pattern="^[0-9a-f]{16}$")] = None


class CompareOptions(VerbOptions):
    """Which releases are set side by side: publications, or files."""

    releases: Annotated[list[ReleaseOf], Field(min_length=1, max_length=100)]


class ReportOptions(VerbOptions):
    """Options of `shoal report`."""

    model_config = ConfigDict(populate_by_name=True, serialize_by_alias=True)

    crosswalk: Annotated[Literal["iso-27559", "hipaa", "ema", "wp29"] | None, Field(alias="for"), Option("--for")] = (
        None
    )
    public: Annotated[bool, Option("--public", "switch")] = False
    pdf: bool = False


def _build(task: Task, options: HierarchyBuildOptions) -> Any:
    from shoal.ranges.hierarchy.build import build_hierarchies

    output = out(task) / ("hierarchy.csv" if len(options.column) == 1 else "hierarchies")
    return build_hierarchies(task.source, output=output, options=task.reading, **options.arguments())


def _check(task: Task, options: HierarchyCheckOptions) -> Any:
    """The rows as a policy takes them, read by the library and held against the column."""
    import csv

    from shoal.ranges.hierarchy import check_hierarchies
    from shoal.storage.reading import read

    file = out(task) / "hierarchy.csv"
    with file.open("w", newline="", encoding="utf-8") as opened:
        csv.writer(opened, delimiter=";", lineterminator="\n").writerows(options.rows)
    table = read(task.source, [options.column], task.reading)
    column = table[options.column]
    return check_hierarchies([file], data={"hierarchy": column.as_it_came()}, options=task.reading)


def _publish(task: Task, options: PublishOptions) -> Any:
    from shoal.reports.publication.publish import publish

    output = out(task) / "release"
    return publish(
        task.source,
        task.policy,
        output=output,
        pdf=not options.no_pdf,
        keep_evidence=task.folder / "evidence",
        options=task.reading,
        **options.arguments(),
    )


def _verify(task: Task, options: VerifyOptions) -> Any:
    from shoal.attacks.verification import verify

    release = task.released(options.release)
    return verify(release, original=task.source, options=task.reading, **options.arguments())


def _attack(task: Task, options: AttackOptions) -> Any:
    from shoal.attacks.battery import attack

    release = task.released(options.release)
    return attack(release, original=task.source, twin=options.twin, options=task.reading, **options.arguments())


def _compare(task: Task, options: CompareOptions) -> Any:
    from shoal.reports.publication.compare import compare_releases

    return compare_releases([task.released(one.release, one.workspace) for one in options.releases])


def _report(task: Task, options: ReportOptions) -> Stored:
    from shoal.reports.publication.results import report_files

    place = out(task) / ("report.pdf" if options.pdf else "report.html")
    (path,) = report_files(
        f"{task.released('publish')}.private",
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
        "shoal.ranges.hierarchy.build:build_hierarchies",
        HierarchyBuildOptions,
        "Build a hierarchy from the values of a column.",
        takes_policy=False,
        run=_build,
    ),
    Verb(
        "hierarchy-check",
        ("hierarchy", "check"),
        "shoal.ranges.hierarchy:check_hierarchies",
        HierarchyCheckOptions,
        "Is this a tree, and does it cover the data?",
        takes_policy=False,
        run=_check,
    ),
    Verb(
        "publish",
        ("publish",),
        "shoal.reports.publication.publish:publish",
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
        "compare",
        ("compare",),
        "shoal.reports.publication.compare:compare_releases",
        CompareOptions,
        "Set releases side by side: loss, disclosure, classes, time.",
        takes_policy=False,
        takes_reading=False,
        run=_compare,
    ),
    Verb(
        "report",
        ("report",),
        "shoal.reports.publication.results:report_files",
        ReportOptions,
        "Write the report of the publication again.",
        takes_policy=False,
        takes_reading=False,
        run=_report,
    ),
)
