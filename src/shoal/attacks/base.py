"""What every attack says of itself, and what it found: targets, successes, and how sure the rate is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, get_args

import polars as pl

from shoal.attacks.common import cut, excess_of, excess_over, rate_interval, wilson
from shoal.attacks.subject import Subject
from shoal.policy.sections import AttackLimits
from shoal.results import Cell, Grid, Headline, Notes, Result, Section, left_out
from shoal.results.sections import Content, Tone
from shoal.storage import Array
from shoal.storage.reading.frames import to_native
from shoal.wording import counted, in_words, percent

Criterion = Literal["singling-out", "linkability", "inference", "membership"]
AttackVerdict = Literal["pass", "fail", "measured", "not tested"]
FEW_TARGETS = 30
_EXCESS = ("excess", "excess_low", "excess_high")
# behind the name of an attack on a twin of the release
OF_TWIN = " (twin)"
_EXPLAINED = (
    "guessed: right without the release; control: the rate on people who are not in it; excess: what being in it adds, "
    "1 - (1 - rate) / (1 - control); twin: half of the people released in the same way, the other half as control. "
    "A pass is about these attacks only: one that knows more may do better"
)


@dataclass(frozen=True)
class AttackOutcome:
    """One attack: of so many targets, so many were hit; the rate with its 95% interval.

    A target whose candidates cannot be told apart counts for its share, so that successes need not be whole.
    `baseline` is what somebody gets right who has not seen the release, `control` the rate among people who are not in
    it, and `excess` = 1 - (1 - rate) / (1 - control) what being in it adds.
    """

    name: str
    criterion: Criterion
    targets: int
    successes: float
    rate: float | None
    low: float | None
    high: float | None
    baseline: float | None
    control: float | None
    excess: float | None
    excess_low: float | None
    excess_high: float | None
    notes: list[str]
    # rows of the original that were hit for certain, for its owner
    rows: Array | None = left_out(default=None)

    @classmethod
    def of(
        cls,
        name: str,
        criterion: Criterion,
        scores: Array,
        control: Array | None = None,
        *,
        baseline: float | None = None,
        chance: float | None = None,
        least: Array | None = None,
        unknown: str | None = None,
        notes: Iterable[str] = (),
        rows: Array | None = None,
    ) -> AttackOutcome:
        """From the score of every target (1: hit, a share where candidates are alike) and of every control person.

        `chance` stands for a control that is known: who is not in the data is hit so often. `least` are the scores
        if no record is that of the person who is taken to have it: where nobody knows, the excess starts there.
        `unknown` says why the scores may be too low for an excess. `rows`: which row of the original each target is.

        >>> import numpy as np
        >>> found = AttackOutcome.of("guess", "inference", np.repeat([1, 0], 50), np.repeat([1, 0], [25, 75]))
        >>> found.rate, found.control, round(found.excess, 3)
        (0.5, 0.25, 0.333)
        """
        said = list(notes)
        if not len(scores):
            said.append("there was nobody to attack")
            return cls(name, criterion, 0, 0, None, None, None, baseline, None, None, None, None, said)
        if len(scores) < FEW_TARGETS:
            said.append(f"fewer than {FEW_TARGETS} targets: the interval is wide, and the rate says little")
        hits, (low, high) = float(scores.sum()), rate_interval(scores)
        beside = chance if control is None or not len(control) else float(control.mean())
        excess = _excess(scores, control, chance) if unknown is None else None
        if unknown is not None:
            said.append(unknown)
        elif excess is None and beside is not None:
            said.append("the attack always succeeds on people who are not in the data: the excess is not defined")
        if excess is not None and least is not None:
            lowest = _excess(least, control, chance)
            excess = (excess[0], excess[1] if lowest is None else min(excess[1], lowest[1]), excess[2])
        whole, rate = int(hits) if hits.is_integer() else hits, hits / len(scores)
        found = cls(name, criterion, len(scores), whole, rate, low, high, baseline, beside, None, None, None, said)
        found = found if rows is None else replace(found, rows=rows[scores >= 1])
        return found if excess is None else replace(found, **dict(zip(_EXCESS, excess, strict=True)))  # type: ignore[arg-type]


def _excess(scores: Array, control: Array | None, chance: float | None) -> tuple[float, float, float] | None:
    if control is not None and len(control):
        return excess_of(scores, control)
    return None if chance is None else excess_over(scores, chance)


def verdicts_of(outcomes: Sequence[AttackOutcome], limits: AttackLimits | None = None) -> dict[str, AttackVerdict]:
    """For every criterion: whether the upper end of each excess is at most the policy's limit.

    `measured`: no limit is given. `not tested`: no attack had a control; or none fails, and of one it is not known.

    >>> verdicts_of([])["inference"]
    'not tested'
    """
    found: dict[str, AttackVerdict] = {}
    limit_of = {} if limits is None else limits.limits()
    for criterion in get_args(Criterion):
        limit = limit_of.get(criterion)
        those = [one for one in outcomes if one.criterion == criterion]
        ends = ends_of(those)
        if not ends:
            found[criterion] = "not tested"
        elif limit is None:
            found[criterion] = "measured"
        elif max(ends.values()) > limit:
            found[criterion] = "fail"
        else:
            found[criterion] = "not tested" if any(is_open(one, those) for one in those) else "pass"
    return found


def is_open(one: AttackOutcome, others: Sequence[AttackOutcome]) -> bool:
    """Whether nothing is known of an attack that would let a release pass.

    Its excess is not defined; or it always succeeds, and nobody knows how it does on others.
    """
    if one.control is not None:
        return one.excess is None
    return one.rate == 1 and twin_in(one, others) is None


def twin_in(one: AttackOutcome, others: Sequence[AttackOutcome]) -> AttackOutcome | None:
    """The same attack on the twin of the release, with a control."""
    same = [other for other in others if other.name == one.name + OF_TWIN]
    return same[0] if same else None


def exceeds(one: AttackOutcome, twin: AttackOutcome) -> bool:
    """Whether an attack on the release succeeds more often than on its twin, beyond both intervals."""
    return one.low is not None and twin.high is not None and one.low > twin.high


def ends_of(outcomes: Sequence[AttackOutcome]) -> dict[str, float]:
    """The upper end of each attack's excess.

    An attack on the release that succeeds more often than on the twin is judged by its own rate: from the upper end
    of that, over the lower end of the twin's control.
    """
    ends = {one.name: one.excess_high for one in outcomes if one.excess_high is not None}
    for one in outcomes:
        twin = twin_in(one, outcomes)
        if twin is not None and twin.control is not None and one.high is not None and exceeds(one, twin):
            lowest, _ = wilson(twin.control * twin.targets, twin.targets)
            ends[one.name] = cut(1 - (1 - one.high) / (1 - lowest))
    return ends


@dataclass(frozen=True, repr=False)
class AttackResult(Result):
    """What attacks found: each with its rates, the verdict on every criterion, and the seed of all chance.

    A command with more to say has a subclass (`kw_only=True`) with a name of its own.
    """

    name: ClassVar[str] = "attack"

    attacks: list[AttackOutcome]
    verdict: dict[str, AttackVerdict]
    seed: int
    native: Any = left_out(default=None, kw_only=True)  # the kind of frame that came in
    without: str = left_out(default="", kw_only=True)  # why attacks could not run, and the cure

    @property
    def holds(self) -> bool:
        """Whether no criterion fails; one that was not tested does not count."""
        return "fail" not in self.verdict.values()

    @property
    def table(self) -> Any:
        """The attacks as a table, a row each: of the kind of frame that came in, else polars."""
        rows = [
            {key: value for key, value in vars(one).items() if key not in ("notes", "rows")} for one in self.attacks
        ]
        frame = pl.DataFrame(rows, infer_schema_length=None)
        return to_native(frame, self.native, set(frame.columns))

    def summary(self) -> str:
        """The verdicts, in a sentence."""
        said = ", ".join(f"{one}: {_verdict_in_words(one, self.attacks, self.verdict)}" for one in self.verdict)
        return f"{said[:1].upper()}{said[1:]}." + (f" {self.without}" if self.without else "")

    def sections(self) -> list[Section]:
        """The verdicts, then attack by attack the rates, what they must be held against, and the remarks."""
        tone = "good" if "pass" in self.verdict.values() else "warning"
        shown: list[Section] = [Headline(self.summary(), tone if self.holds else "bad")]  # type: ignore[arg-type]
        return [*shown, *outcome_sections(self.attacks, self.verdict)]


def _verdict_in_words(criterion: str, outcomes: Sequence[AttackOutcome], verdict: dict[str, AttackVerdict]) -> str:
    """A verdict as it is shown: attacks that ran without a control have rates, but nothing to hold them against."""
    those = [one for one in outcomes if one.criterion == criterion]
    alone = bool(those) and all(one.control is None for one in those)
    return "measured, no control" if alone and verdict[criterion] == "not tested" else verdict[criterion]


def is_unproven(one: AttackOutcome) -> bool:
    """Whether an attack may well have no excess at all: what fails a limit is the width of its interval."""
    return one.excess_low is not None and one.excess_low <= 0


def unproven(one: AttackOutcome) -> str:
    """What to say of a limit that such an attack fails."""
    return f"not proven with {counted(one.targets, 'target')}: the interval holds zero and is wide; raise targets"


def outcome_sections(outcomes: Sequence[AttackOutcome], verdict: dict[str, AttackVerdict]) -> list[Section]:
    """For every criterion its verdict and a row for each attack, those with a control first; then the remarks."""
    shown: list[Section] = []
    for criterion in dict.fromkeys(one.criterion for one in outcomes):
        said = f": {_verdict_in_words(criterion, outcomes, verdict)}" if criterion in verdict else ""
        alone = [_alone(one) for one in outcomes if one.criterion == criterion and one.control is None]
        beside = [_beside(one) for one in outcomes if one.criterion == criterion and one.control is not None]
        title = f"{criterion.capitalize()}{said}"
        if beside:
            shown.append(Grid(("attack", "rate", "guessed", "control", "excess (95%)"), beside, 1, title=title))
        if alone:
            shown.append(Grid(("attack", "rate (95%)", "guessed"), alone, 1, title="" if beside else title))
    shipped = {(one.name, note) for one in outcomes for note in one.notes}
    notes = [
        f"{one.name}: {note}"
        for one in outcomes
        for note in one.notes
        if not one.name.endswith(OF_TWIN) or (one.name.removesuffix(OF_TWIN), note) not in shipped
    ]
    if any(one.control is not None for one in outcomes):
        notes.append(_EXPLAINED)
    failed = [one for one in outcomes if verdict.get(one.criterion) == "fail" and one.excess_high is not None]
    for criterion in dict.fromkeys(one.criterion for one in failed):
        worst = max((one for one in failed if one.criterion == criterion), key=lambda one: one.excess_high or 0.0)
        notes += [f"{criterion}: the limit is {unproven(worst)}"] if is_unproven(worst) else []
    return [*shown, Notes(notes)]


def _alone(one: AttackOutcome) -> Sequence[Content]:
    return (one.name, _with_interval(one.rate, one.low, one.high), _share(one.baseline))


def _beside(one: AttackOutcome) -> Sequence[Content]:
    tone: Tone = "plain" if one.excess_low is None else "bad" if one.excess_low > 0 else "good"
    excess = Cell(_with_interval(one.excess, one.excess_low, one.excess_high), tone)
    return (one.name, *(_share(rate) for rate in (one.rate, one.baseline, one.control)), excess)


def _share(value: float | None) -> str:
    return "" if value is None else percent(value)


def _with_interval(value: float | None, low: float | None, high: float | None) -> str:
    if value is None or low is None or high is None:
        return ""
    ends = [round(100 * end, 1) + 0.0 for end in (low, high)]  # 0.0, not -0.0
    return f"{percent(value)} ({ends[0]:.1f} to {ends[1]:.1f})"


class Attack(ABC):
    """An attack on a release: its name, the WP29 criterion that it tests, what the attacker `knows`, what counts as a
    `success`, why it may not apply, and how it is run. A report explains it by these words."""

    name: ClassVar[str] = ""
    criterion: ClassVar[Criterion]
    knows: ClassVar[str] = ""
    success: ClassVar[str] = ""

    def __init_subclass__(cls) -> None:
        lacking = [word for word in ("criterion", "knows", "success") if not getattr(cls, word, "")]
        if cls.name and lacking:
            raise TypeError(f"The attack {cls.name} lacks {in_words(lacking)}, by which a report explains it.")

    @abstractmethod
    def skips(self, subject: Subject) -> str | None:
        """Why the attack has nothing to do here; None where it can run."""

    @abstractmethod
    def run(self, subject: Subject) -> AttackOutcome:
        """Attack the people of a release."""


# every attack, in the order in which a battery runs them
ATTACKS: list[Attack] = []
