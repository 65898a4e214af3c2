"""What each way of deciding found, typed: the chooser, the search for levels, local suppression, the election."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil
from typing import Any, ClassVar

from shoal.errors import Message
from shoal.policy.judgement.shown_classes import Check
from shoal.results import Figure, Figures, Grid, Notes, Result, Section, where_known
from shoal.storage import Table
from shoal.vocabulary import Prefer
from shoal.wording import counted, percent


@dataclass(frozen=True)
class Candidate:
    """One method that was tried: what it lost, how long it took, whether the policy holds; all on the same `rows`.

    `information_loss` is defined for numbers and dates only; `loss` (docs/quality.md) for all columns. None is unknown.
    """

    method: str
    information_loss: float | None
    loss: float | None
    seconds: float
    verdict: str
    rows: int
    reason: str | None = None
    suppressed_rows: int | None = None
    suppressed_cells: int | None = None


@dataclass(frozen=True)
class FrontierPoint:
    """The best release that was found with classes of k or more: a smaller k never costs more than a larger one.

    Both figures are of one release, that for `found_for`, which is k or larger.
    """

    k: int
    highest_risk: float
    information_loss: float | None
    loss: float | None
    found_for: int


@dataclass(frozen=True)
class MethodChoice:
    """Why a method was taken: those that were tried, those that were not allowed, the loss for other k on the sample.

    `narrowed_by` are the options that were given: only methods that have them were tried. `prefer` is what decided.
    """

    candidates: list[Candidate]
    reason: str
    frontier: list[FrontierPoint]
    not_allowed: dict[str, str] = field(default_factory=dict)
    narrowed_by: list[str] = field(default_factory=list)
    prefer: Prefer = "least-loss"


@dataclass(frozen=True)
class ModelCost:
    """What the models up to this one cost together, by the same method on the same `rows`, and what this one added.

    `added` is of `loss`, or of `information_loss` where the method has no other. A figure is None
    where it is not defined, or where the method found nothing that keeps these models alone.
    """

    model: str
    parameters: dict[str, Any]
    rows: int
    information_loss: float | None
    loss: float | None
    added: float | None


@dataclass(frozen=True)
class LatticeOutcome:
    """The levels, and how sure it is that no others are better; of a plan that was applied, the levels alone.

    With several `rounds` (local recoding) `score` is that of all of them and `global_score` that of one generalisation
    for all records: what was proven of that says nothing about several.
    """

    levels: dict[str, int]
    built_hierarchies: dict[str, str]
    score: float | None = where_known()
    nodes_total: int | None = where_known()
    nodes_checked: int | None = where_known()
    optimal: bool | None = where_known()
    lower_bound: float | None = where_known()
    rounds: int | None = where_known()
    global_score: float | None = where_known()

    def out_of_time(self) -> str | None:
        """That the time ran out before the score was proven to be the optimum, if it did: only then a bound is known
        of what is not the optimum."""
        if self.optimal or self.score is None or self.lower_bound is None:
            return None
        return out_of_time(self.score, self.lower_bound)


def out_of_time(score: float, lower_bound: float) -> str:
    """How far a score that was not proven in time is from the optimum at most, (score - bound) / bound, and the cure.

    >>> out_of_time(0.528202, 0.3320)
    'The time ran out: the score is at most 59.1% above the optimum, and a longer `time_limit` may narrow that.'
    >>> out_of_time(0.5, 0.0)
    'The time ran out: how far the score is from the optimum is not known, and a longer `time_limit` may tell.'
    """
    if lower_bound <= 0:
        far = Message("how far the score is from the optimum is not known, and a longer `{time_limit}` may tell")
    else:
        # rounded up: it is a promise
        above = ceil(1000 * (score - lower_bound) / lower_bound) / 1000
        far = Message(
            "the score is at most {} above the optimum, and a longer `{time_limit}` may narrow that", percent(above)
        )
    return Message("The time ran out: {}.", far)


@dataclass(frozen=True)
class ReadingFigures:
    """Smallest class and uniques by one meaning of a suppressed cell."""

    k: int
    uniques: int


@dataclass(frozen=True)
class SubsetFigures:
    """The fewest records that match a record on any combination of `size` quasi-identifiers."""

    size: int
    k: int


@dataclass(frozen=True)
class SuppressionOutcome:
    """The reading that was asked for and what holds by either, the cells of each column, and the fewest possible."""

    reading: str
    readings: dict[str, ReadingFigures]
    suppressed_cells_by_column: dict[str, int]
    least_cells: int
    subset: SubsetFigures | None = where_known()


@dataclass(frozen=True)
class StrategyFigures:
    """One combination of recodings that stood for election."""

    strategy: str
    uniques: int
    modified_rows: int
    classes: int
    k: int


@dataclass(frozen=True)
class SetsWay:
    """One way that was tried: the share of what items say that it loses, and what became of the occurrences."""

    way: str
    loss: float
    generalized: int
    left_out: int


@dataclass(frozen=True)
class KnownFew:
    """Somebody knows so many items of a person: the different combinations that occur and those that too few persons
    share, and the share of persons whom items drawn at random tell from all others, before and after."""

    known: int
    combinations: int
    rare: int
    alone: float
    alone_after: float


@dataclass(frozen=True)
class SetsOutcome:
    """How items or events were changed. `loss`: a suppressed occurrence loses 1, one that became a node with n of N
    leaves (n - 1) / (N - 1). `lower_bound`: what one cut of the tree alone loses at least, where one was searched."""

    columns: list[str]
    tree: str | None
    way: str
    loss: float
    occurrences: int
    generalized: int
    left_out: int
    joined: int
    tried: list[SetsWay]
    known: list[KnownFew]
    cut_loss: float | None = where_known()
    lower_bound: float | None = where_known()
    optimal: bool | None = where_known()

    @property
    def in_words(self) -> str:
        """What became of the occurrences."""
        return (
            f"Of {counted(self.occurrences, 'item')} that persons have, {self.generalized:,} are shown as coarser ones "
            f"and {self.left_out:,} left out."
        )

    def sections(self) -> list[Section]:
        """What it cost, what was tried, and what somebody who knows a few may find."""
        rows = [(one.way, f"{one.loss:.4f}", f"{one.generalized:,}", f"{one.left_out:,}") for one in self.tried]
        figures = [Figure("way", self.way), Figure("loss of items", f"{self.loss:.4f}")]
        figures += [Figure("occurrences", f"{self.occurrences:,}"), Figure("left out", f"{self.left_out:,}")]
        few = [
            (f"{one.known}", f"{one.combinations:,}", f"{one.rare:,}", percent(one.alone), percent(one.alone_after))
            for one in self.known
        ]
        heads = ("known", "combinations", "too rare", "alone before", "alone after")
        shown: list[Section] = [
            Figures(figures),
            Grid(("way", "loss", "generalised", "left out"), rows, title="Ways that were tried"),
            Grid(heads, few, title="What somebody who knows a few items finds"),
        ]
        notes = [f"the tree: {self.tree}"] if self.tree else []
        if self.optimal is not None:
            proven = "the optimum" if self.optimal else f"no cut can lose less than {self.lower_bound:.4f}"
            notes.append(f"one cut of the tree alone loses {self.cut_loss:.4f} ({proven})")
        notes.append("how often a person has an item is not released: each stands there once")
        return [*shown, Notes(notes)]


class ChangedTableResult(Result):
    """A table that was changed and may be released; a subclass says what differs.

    `personal`: it stays among those who hold the original, so that its columns need no decision.
    """

    personal: ClassVar[bool] = False

    @property
    def rule(self) -> str | None:
        """The rule that it keeps instead of a privacy model, by its source: none."""
        return None

    def manifest_sections(self, written: Table) -> dict[str, Any]:
        """What a standard adds to the manifest: nothing."""
        return {}

    def checks(self, written: Table) -> list[Check]:
        """What is asked of the written file beside the models: nothing."""
        return []
