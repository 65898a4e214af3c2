"""The verbs of the app by name: each answers a request of the library, with the options of its command."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from shoal.app.project import Stored
from shoal.app.verb_options import Columns, FileKind, FileName, Task, Verb, VerbOptions, command, out
from shoal.errors import InputError
from shoal.results.sections import Files, Headline
from shoal.vocabulary import HierarchyKind, Prefer

# Verbs that look and change nothing, and what the app does with a file before any verb: an example, the first rows.


class Sampled(VerbOptions):
    """`sample` is the table."""

    sample: str = "discharges"


class PreviewOptions(VerbOptions):
    """How many rows."""

    rows: Annotated[int, Field(ge=1, le=1_000)] = 200


class LatticeBase(VerbOptions):
    """Models and options of methods stand in the policy."""

    suppression: float | str | None = None

    def keywords(self) -> dict[str, Any]:
        """With the part of the rows that may be left out."""
        return super().keywords() | ({} if self.suppression is None else {"suppression": self.suppression})


def _sample(task: Task, options: Any) -> Any:
    from shoal.reproduction.sample.written import write_sample

    return write_sample(options.sample, output=task.source, rows=options.rows, seed=options.seed, force=True)


def _preview(task: Task, options: PreviewOptions) -> Stored:
    from shoal.storage.reading.head import read_head

    frame, notes = read_head(task.source, options.rows, task.reading)
    content = {"columns": frame.columns, "rows": [list(row) for row in frame.rows()], "notes": list(notes)}
    return Stored(content, f"The first {len(frame)} rows.", [Headline(f"The first {len(frame)} rows.")])


# Verbs that change the table and write it as one file, and those on free text.


# options of the request that say how the file is written: the library takes them together
WRITING = ("sign", "seed", "excel_safe", "no_guarantee")


class WrittenOptions(VerbOptions):
    """`file_format` is that of the file that is written; `sign` is the file of a key."""

    file_format: FileKind = "csv"

    def writing(self) -> dict[str, Any]:
        """What of `Writing` differs; where nothing is said of the order of rows, it stays: the file is personal."""
        given = {entry.name: value for entry, value in self.given()}
        shuffle = "keep_order" in self.entries and "keep_order" not in given
        return {**({} if shuffle else {"shuffle": False}), **{name: given[name] for name in WRITING if name in given}}

    def settings(self) -> dict[str, Any]:
        """The keyword arguments of the library's function; how the file is written is told apart."""
        beside = {"decide", "prefer"}
        given = {entry.name: value for entry, value in self.given() if entry.name in beside}
        return {name: value for name, value in (given | self.keywords()).items() if name != "seed"}


class AnonymizedBase(WrittenOptions, LatticeBase):
    """Models and options of methods stand in the policy."""


class SharedNoise(BaseModel):
    """Columns that get noise together."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    columns: Annotated[list[str], Field(min_length=2, max_length=1_000)]
    share: float | str


class PerturbedBase(WrittenOptions):
    """Amounts by column, such as 0.1 or "5%"."""

    correlated_noise: Annotated[list[SharedNoise] | None, Field(min_length=1, max_length=1_000)] = None

    def settings(self) -> dict[str, Any]:
        """Noise of single columns and of several together is one setting."""
        settings = super().settings()
        noise = settings.get("noise", {}) | {tuple(one.columns): one.share for one in self.correlated_noise or []}
        return settings | ({"noise": noise} if noise else {})


class SafeHarborBase(WrittenOptions):
    """`propose`: only look, and write what is proposed as a policy."""

    propose: bool = False


class AppliedBase(WrittenOptions):
    """The plan is that of a release of this file, or of another that is open."""

    release: Literal["publish", "anonymize"] = "publish"
    workspace: Annotated[str | None, Field(pattern="^[0-9a-f]{16}$")] = None


class ScrubbedBase(WrittenOptions):
    """`spans_out`: the places of what was replaced are written too, for the owner only."""

    spans_out: bool = False


def output_of(task: Task, options: WrittenOptions) -> Path:
    """The file that a verb releases."""
    return out(task) / f"safe.{options.file_format}"


def released(name: str) -> Any:
    """The verb that calls a function of `shoal.releases.jobs` by its name."""

    def run(task: Task, options: Any) -> Any:
        from shoal.releases import jobs

        given = {"policy": task.policy} if any(entry.name == "policy" for entry in options.request.entries()) else {}
        how: dict[str, Any] = {"writing": jobs.Writing(**options.writing()), "options": task.reading}
        if getattr(options, "propose", False):
            how["write_policy"] = task.folder / "proposed.yaml"
        else:
            how["output"] = output_of(task, options)
        if getattr(options, "spans_out", False):
            how["spans_out"] = task.folder / "spans.csv"
        if isinstance(options, AppliedBase):
            how["plan"] = _plan(task, options)
        return getattr(jobs, name)(task.source, **given, **how, **options.settings())

    return {"run": run, "home": f"shoal.releases.jobs:{name}"}


def _plan(task: Task, options: AppliedBase) -> Any:
    from shoal.releases.open import Release

    plan = Release.open(task.released(options.release, options.workspace)).plan
    if plan is None:
        raise InputError(
            "The release has no plan that new data could be changed by.",
            "Release with a method that keeps one: lattice, or mondrian with `plan`.",
        )
    return plan


def written_beside(task: Task, options: Any) -> Any:
    """A verb that writes a file which is no release."""
    output = out(task) / f"written.{options.file_format}"
    return options.request.function()(task.source, output=output, options=task.reading, **options.keywords())


# Hierarchies, publications, what is done with a release afterwards, and the attacks on it.


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


# The query desk of a workspace: opened once, asked until its budget is spent.


def desk_of(workspace_folder: Path) -> Path:
    """The folder of a workspace's desk."""
    return workspace_folder / "desk"


def _desk(task: Task) -> Path:
    return desk_of(task.folder.parents[1])


def _open(task: Task, options: Any) -> Any:
    from shoal.dp import open_desk
    from shoal.dp.types import OTHERS, PROPOSED

    given = {**options.keywords(), "types": {**(options.types or {})}}
    if options.confirm_types:
        given["types"][OTHERS] = PROPOSED
    return open_desk(task.source, folder=_desk(task), options=task.reading, **given)


def _opened(task: Task) -> Any:
    from shoal.dp import Desk

    if not _desk(task).exists():
        raise InputError("No desk is open on this file.", "Open one with a budget first.")
    return Desk(_desk(task))


def _query(task: Task, options: Any) -> Any:
    from shoal.dp import BudgetRefused

    with _opened(task) as desk:
        ask = desk.preview if options.preview else desk.query
        try:
            return ask(options.kind, options.column, **settings_of(options))
        except BudgetRefused as refused:
            return desk.refusal(refused)


def settings_of(options: Any) -> dict[str, Any]:
    """What a query says beside its kind and column."""
    return {name: value for name, value in options.keywords().items() if name not in ("kind", "column")}


def _show(task: Task, options: Any) -> Any:
    with _opened(task) as desk:
        return desk.budget()


# What pages ask for beside the plain verbs: a result of the library together with what a page shows next to it.


class NoOptions(VerbOptions):
    """A proposal has no options."""


class TreeKind(BaseModel):
    """How the tree of one column is built."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: HierarchyKind = "auto"
    width: Annotated[float | None, Field(gt=0)] = None
    factor: Annotated[int | None, Field(ge=2, le=10**6)] = None
    groups: Annotated[int | None, Field(ge=1, le=10**6)] = None
    cut: Annotated[int | None, Field(ge=1, le=100)] = None


class TreesOptions(VerbOptions):
    """The columns, and for some of them how."""

    columns: Columns
    kinds: dict[str, TreeKind] | None = None


class ProtectOptions(VerbOptions):
    """What decides between methods; all else stands in the policy."""

    prefer: Prefer | None = None


def _propose(task: Task, options: NoOptions) -> Any:
    """The profile, and the policy that it proposes as a file."""
    from shoal.detection.profile import profile

    return profile(task.source, policy=task.policy, options=task.reading, write_policy=task.folder / "proposed.yaml")


def _trees(task: Task, options: TreesOptions) -> Any:
    """The tree of every column, each in a file with a name of ours: that of a column may be anything."""
    from shoal.policy import as_policy
    from shoal.ranges.hierarchy.build import build_hierarchy
    from shoal.ranges.hierarchy.results import BuiltHierarchies, BuiltHierarchy
    from shoal.storage.reading import read
    from shoal.storage.reading.files import declaring

    table = read(task.source, options.columns, declaring(task.reading, as_policy(task.policy).types))
    folder = task.folder / "trees"
    folder.mkdir(mode=0o700)
    made = []
    for place, name in enumerate(table.names):
        asked = (options.kinds or {}).get(name, TreeKind())
        tree = build_hierarchy(table[name], **asked.model_dump())
        path = folder / f"{place}.csv"
        tree.to_csv(path)
        made.append(BuiltHierarchy(tree.column, tree.source, tree.leaves, tree.height, tree.sizes, str(path), tree))
    return BuiltHierarchies(made)


def _protect(task: Task, options: ProtectOptions) -> Any:
    """The table anonymised, not released; and each changed column before and after, beside the result."""
    from shoal.methods.anonymize import anonymize
    from shoal.reports.publication.steps import before_and_after
    from shoal.storage.writing import write_bytes

    found = anonymize(task.source, task.policy, options=task.reading, **options.model_dump(exclude_none=True))
    shares = before_and_after(found)["columns"]
    write_bytes(task.folder / "columns.json", json.dumps(shares).encode(), 0o600)
    return found


def _desk_types(task: Task, options: NoOptions) -> Stored:
    """The types that a desk would propose; what is declared is up to its owner."""
    from shoal.dp.opening import proposed_types

    return Stored({"types": proposed_types(task.source, options=task.reading)}, "Types of the columns.", [])


# what pages ask for beside the verbs: the API does not have it
OF_PAGES = (
    Verb("propose", NoOptions, _propose, "shoal.detection.profile:profile", note="Roles for columns."),
    Verb("trees", TreesOptions, _trees, "shoal.ranges.hierarchy:build_hierarchy", note="How columns get coarser."),
    Verb("desk-types", NoOptions, _desk_types, "shoal.dp.opening:proposed_types", note="Types to declare."),
    Verb("protect", ProtectOptions, _protect, "shoal.methods.anonymize:anonymize", note="Try a goal."),
)
VERBS: dict[str, Verb] = {
    verb.name: verb
    for verb in (
        command("sample-data", Sampled, run=_sample),
        Verb("preview", PreviewOptions, _preview, note="The first rows."),
        command("profile"),
        command("detect"),
        command("risk"),
        command("leak"),
        command("lattice", LatticeBase),
        command("cells"),
        command("anonymize", AnonymizedBase, writes="safe", **released("release_anonymized")),
        command("perturb", PerturbedBase, writes="perturbed", **released("release_perturbed")),
        command("safe-harbor", SafeHarborBase, writes="safe-harbor", **released("release_safe_harbor")),
        command("pseudonymize", WrittenOptions, writes="pseudonymized", **released("release_pseudonymized")),
        command("shift-dates", WrittenOptions, writes="shifted", **released("release_shifted")),
        command("apply", AppliedBase, writes="applied", **released("release_applied")),
        command("scrub", ScrubbedBase, writes="scrubbed", **released("release_scrubbed")),
        command("regenerate", WrittenOptions, run=written_beside),
        command("k-safety", WrittenOptions, run=written_beside),
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
        command("desk open", run=_open),
        command("desk query", run=_query),
        command("desk show", run=_show),
        *OF_PAGES,
    )
}
DeskOpenOptions: Any = VERBS["desk-open"].options
DeskQueryOptions: Any = VERBS["desk-query"].options
