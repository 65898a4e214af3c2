"""Verbs that change the table and write it as one file, and those on free text."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from shoal.app.verbs.base import FileKind, Task, VerbOptions, command, out
from shoal.app.verbs.measuring import LatticeBase
from shoal.errors import InputError

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


VERBS = (
    command("anonymize", AnonymizedBase, writes="safe", **released("release_anonymized")),
    command("perturb", PerturbedBase, writes="perturbed", **released("release_perturbed")),
    command("safe-harbor", SafeHarborBase, writes="safe-harbor", **released("release_safe_harbor")),
    command("pseudonymize", WrittenOptions, writes="pseudonymized", **released("release_pseudonymized")),
    command("shift-dates", WrittenOptions, writes="shifted", **released("release_shifted")),
    command("apply", AppliedBase, writes="applied", **released("release_applied")),
    command("scrub", ScrubbedBase, writes="scrubbed", **released("release_scrubbed")),
    command("regenerate", WrittenOptions, run=written_beside),
    command("k-safety", WrittenOptions, run=written_beside),
)
