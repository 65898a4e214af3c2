"""Hierarchies, publications, what is done with a release afterwards, and the attacks on it."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from shoal.app.project import Stored
from shoal.app.verbs.base import FileKind, FileName, Task, Verb, VerbOptions, command, out
from shoal.errors import InputError
from shoal.results.sections import Files, Headline

ReleasedBy = Literal["publish", "anonymize", "perturb", "safe-harbor", "pseudonymize", "shift-dates", "apply", "scrub"]


class HierarchyCheckOptions(VerbOptions):
    """A tree to be held against the column: its rows, leaf first, as a hierarchy file has them."""

    column: str
    rows: Annotated[list[Annotated[list[str], Field(max_length=50)]], Field(min_length=1, max_length=200_000)]


class OfRelease(VerbOptions):
    """The release is the one that a verb made here."""

    release: ReleasedBy = "publish"


class OfReleaseOrFile(VerbOptions):
    """What is attacked: the release of a verb, or, where none is named, the open file, which is one."""

    release: ReleasedBy | None = None


class ReleaseOf(BaseModel):
    """A release: the verb that made it, of this file or of another that is open."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    release: ReleasedBy = "publish"
    workspace: Annotated[str | None, Field(pattern="^[0-9a-f]{16}$")] = None


class OfTwoReleases(OfReleaseOrFile):
    """The second release is that of a verb, or a file of this machine."""

    more_files: ClassVar[tuple[str, ...]] = ("second_file",)

    second: ReleaseOf | None = None
    second_file: FileName | None = None


class WrittenTable(VerbOptions):
    """`file_format` is that of the table that is written."""

    file_format: FileKind = "csv"


class OfReleases(VerbOptions):
    """Which releases are set side by side: publications, or files."""

    releases: Annotated[list[ReleaseOf], Field(min_length=1, max_length=100)]


class Reported(VerbOptions):
    """`pdf`: not a page."""

    pdf: bool = False


def _build(task: Task, options: Any) -> Any:
    output = out(task) / ("hierarchy.csv" if len(options.column) == 1 else "hierarchies")
    return options.request.function()(task.source, output=output, options=task.reading, **options.keywords())


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


def _publish(task: Task, options: Any) -> Any:
    from shoal.reports.publication.publish import publish

    files: dict[str, Any] = {"output": out(task) / "release", "keep_evidence": task.folder / "evidence"}
    return publish(task.source, task.policy, options=task.reading, **files, **options.keywords())


def _dp_release(task: Task, options: Any) -> Any:
    """A table as a file, tables of counts as a folder; a preview writes nothing."""
    given = options.keywords()
    place = out(task) / ("counts" if given.get("tables") else f"synthetic.{options.file_format}")
    output = {} if given.get("preview") else {"output": place}
    return options.request.function()(task.source, policy=task.policy, options=task.reading, **output, **given)


def _of_release(task: Task, options: Any) -> Any:
    release = task.released(options.release)
    return options.request.function()(release, original=task.source, options=task.reading, **options.keywords())


def _compare(task: Task, options: Any) -> Any:
    return options.request.function()([task.released(one.release, one.workspace) for one in options.releases])


def _report(task: Task, options: Any) -> Stored:
    from shoal.reports.publication.results import report_files

    place: dict[str, Any] = {"pdf": out(task) / "report.pdf"} if options.pdf else {"html": out(task) / "report.html"}
    (path,) = report_files(f"{task.released('publish')}.private", **place, **options.keywords())
    done = "The report is written."
    return Stored({"output": str(path)}, done, [Headline(done), Files({"report": str(path)})])


def _attack(task: Task, options: Any) -> Any:
    """A single attack, on a release or on the open file, and, of two releases, with the other."""
    attacked = task.source if options.release is None else task.released(options.release)
    more: dict[str, Any] = {}
    if isinstance(options, OfTwoReleases):
        if (options.second is None) == (options.second_file is None):
            raise InputError("One other release is needed.", "Give `second` or `second_file`.")
        other = options.second
        more["second"] = options.second_file if other is None else task.released(other.release, other.workspace)
    if any(entry.name == "policy" for entry in options.request.entries()):
        more["policy"] = task.policy
    return options.request.function()(attacked, options=task.reading, **more, **options.keywords())


VERBS = (
    command("hierarchy build", VerbOptions, "column", run=_build),
    Verb(
        "hierarchy-check",
        HierarchyCheckOptions,
        _check,
        "shoal.ranges.hierarchy:check_hierarchies",
        words=("hierarchy", "check"),
        note="Is this a tree, and does it cover the data?",
    ),
    command("publish", run=_publish),
    command("dp-release", WrittenTable, run=_dp_release),
    command("epsilon"),
    command("verify", OfRelease, run=_of_release, policy=False),
    command("attack all", OfRelease, name="attack", run=_of_release, policy=False),
    command("compare", OfReleases, run=_compare),
    command("report", Reported, run=_report),
    command("attack link", OfReleaseOrFile, run=_attack),
    command("attack intersect", OfTwoReleases, run=_attack),
    command("attack membership", OfReleaseOrFile, run=_attack),
    command("attack reconstruct"),
    command("attack scoreboard"),
    command("attack unicity"),
)
