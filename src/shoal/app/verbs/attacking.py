"""The single attacks: on the open file, or on the release that a verb made of it."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from shoal.app.verbs.base import Option, Task, Verb, VerbOptions
from shoal.app.verbs.changing import FileName
from shoal.app.verbs.measuring import Columns, Nulls, Person, Qi, Seed, Sensitive
from shoal.app.verbs.releasing import ReleasedBy, ReleaseOf
from shoal.errors import InputError
from shoal.vocabulary import Generalized

Targets = Annotated[int | None, Field(ge=1, le=10**6), Option("--targets")]


class OfReleaseOptions(VerbOptions):
    """What is attacked: the release of a verb, or, where none is named, the open file, which is one."""

    release: ReleasedBy | None = None

    def attacked(self, task: Task) -> str:
        """The file or the folder that is attacked."""
        return task.source if self.release is None else task.released(self.release)


class LinkOptions(OfReleaseOptions):
    """Options of `shoal attack link`; the identified file is one of this machine."""

    identified: Annotated[FileName, Option("--with", "file")]
    on: Annotated[Columns | None, Option("--on", "columns")] = None
    truth: Annotated[str | None, Option("--truth")] = None
    person: Annotated[str | None, Option("--person")] = None
    null_rule: Nulls = None
    generalized: Annotated[Generalized, Option("--generalized")] = "auto"
    seed: Annotated[Seed, Option("--seed")] = 0


class IntersectOptions(OfReleaseOptions):
    """Options of `shoal attack intersect`; the second release is that of a verb, or a file of this machine."""

    second: ReleaseOf | None = None
    second_file: Annotated[FileName | None, Option("", "file", "second")] = None
    person: Annotated[str, Option("--person")]
    qi: Qi = None
    sensitive: Sensitive = None


class MembershipOptions(OfReleaseOptions):
    """Options of `shoal attack membership`: published frequencies, or a release; people are files of this machine."""

    candidates: Annotated[FileName, Option("--candidates", "file")]
    reference: Annotated[FileName, Option("--reference", "file")]
    marker: Annotated[str, Option("--marker")] = "marker"
    frequency: Annotated[str, Option("--frequency")] = "frequency"
    epsilon: Annotated[float | None, Field(gt=0, le=10**6), Option("--epsilon")] = None
    delta: Annotated[float, Field(ge=0, lt=1), Option("--delta")] = 0.0
    seed: Annotated[Seed, Option("--seed")] = 0


class ReconstructOptions(VerbOptions):
    """Options of `shoal attack reconstruct`: the file holds questions and answers."""

    answer: Annotated[str, Option("--answer")] = "answer"
    people: Annotated[FileName | None, Option("--people", "file")] = None
    person: Person = None
    truth: Annotated[str | None, Option("--truth")] = None


class ScoreboardOptions(VerbOptions):
    """Options of `shoal attack scoreboard`: the file holds ratings."""

    person: Annotated[str, Option("--person")]
    item: Annotated[str, Option("--item")]
    value: Annotated[str | None, Option("--value")] = None
    date: Annotated[str | None, Option("--date")] = None
    known: Annotated[int, Field(ge=1, le=10**6), Option("--known")] = 8
    wrong: Annotated[int, Field(ge=0, le=10**6), Option("--wrong")] = 2
    days: Annotated[int, Field(ge=0, le=10**6), Option("--days")] = 14
    targets: Targets = None
    seed: Annotated[Seed, Option("--seed")] = 0


class UnicityOptions(VerbOptions):
    """Options of `shoal attack unicity`: the file holds points of traces."""

    person: Annotated[str, Option("--person")]
    columns: Annotated[Columns, Option("--columns", "columns")]
    points: Annotated[list[Annotated[int, Field(ge=1, le=10**6)]] | None, Field(min_length=1, max_length=100),
                      Option("--points", "numbers")] = None  # fmt: skip
    coarsen: Annotated[dict[str, Columns] | None, Option("--coarsen", "groups")] = None
    targets: Targets = None
    seed: Annotated[Seed, Option("--seed")] = 0


def _link(task: Task, options: LinkOptions) -> Any:
    from shoal.attacks.link import attack_link

    return attack_link(options.attacked(task), options=task.reading, **options.arguments())


def _intersect(task: Task, options: IntersectOptions) -> Any:
    from shoal.attacks.intersect import attack_intersect

    given = {name: value for name, value in options.arguments().items() if name != "second"}
    if (options.second is None) == (options.second_file is None):
        raise InputError("One other release is needed.", "Give `second` or `second_file`.")
    other = options.second
    second = options.second_file if other is None else task.released(other.release, other.workspace)
    return attack_intersect(options.attacked(task), second=second, options=task.reading, **given)


def _membership(task: Task, options: MembershipOptions) -> Any:
    from shoal.attacks.membership import attack_membership

    return attack_membership(options.attacked(task), policy=task.policy, options=task.reading, **options.arguments())


def _verb(name: str, options: type[VerbOptions], summary: str, run: Any = None, policy: bool = False) -> Verb:
    home = f"shoal.attacks.{name}:attack_{name}"
    return Verb(f"attack-{name}", ("attack", name), home, options, summary, takes_policy=policy, run=run)


VERBS = (
    _verb("link", LinkOptions, "Link an identified file with the release: who fits which record?", _link),
    _verb("intersect", IntersectOptions, "What do two releases about the same people give away?", _intersect),
    _verb("membership", MembershipOptions, "Who is in the data?", _membership, policy=True),
    _verb("reconstruct", ReconstructOptions, "How much of a table do its answers give away?"),
    _verb("scoreboard", ScoreboardOptions, "Whom do a few ratings identify, some of them wrong?"),
    _verb("unicity", UnicityOptions, "How many points of a trace single its person out?"),
)
