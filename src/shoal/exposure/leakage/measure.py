"""How many people does a stolen part of a release expose? From what is asked to what was found."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, get_args

from shoal import progress
from shoal.errors import InputError, Message, Setting, check_choice
from shoal.exposure.leakage.curves import recursion
from shoal.exposure.leakage.inverse import exact_limit, keeps_equal, keeps_threshold, largest_leak, smallest_k
from shoal.exposure.leakage.one_person import ERROR, equation_5, spread_over_leaks
from shoal.exposure.leakage.persons import People, simulate_histories
from shoal.exposure.leakage.results import LeakRisk, LeakSeries, in_figures
from shoal.exposure.leakage.several import ProbabilityEstimate, several_persons
from shoal.exposure.leakage.simulate import Simulated
from shoal.exposure.leakage.simulate import simulate as play
from shoal.exposure.leakage.sizes import ClassSizes
from shoal.exposure.leakage.subject import LeakSubject, from_numbers, from_table
from shoal.policy import Policy, as_policy
from shoal.policy.amounts import is_several, parse_leaks, parse_share, parse_targets
from shoal.policy.judgement.shown_classes import linked_classes
from shoal.policy.thresholds import Threshold, find_threshold
from shoal.storage import Table
from shoal.storage.rows import Rows
from shoal.verbs.base import takes_numbers
from shoal.verbs.measuring import LeakRequest
from shoal.vocabulary import Draw, LeakMethod, LeakUnit
from shoal.wording import counted

# The leak section of a policy, held against a released table.


def leak_check(
    table: Table, names: Sequence[str], policy: Policy, starred: Collection[str] | None = None
) -> tuple[bool, str]:
    """Whether a leak of the policy's size keeps its threshold, and in words why; what cannot be measured does not hold.

    `starred` names the columns in which `*` is a suppressed cell; without it, any text column.

    >>> from shoal.storage.reading import read
    >>> table = read({"age": [30, 30, 41, 41]})
    >>> policy = Policy.model_validate({"leak": {"leaked": "100%", "threshold": 0.5}})
    >>> leak_check(table, ["age"], policy)
    (True, '4 of 4 persons leaked, 1 target: probability 0.5 (50.0%), at most 0.5 is allowed')
    """
    wanted = policy.leak
    if wanted is None:
        return True, "no limit"
    try:
        needed = [name for name in (policy.person, policy.count) if name is not None]
        table.select(needed)
        count = policy.count
        if policy.person is None and table.on_disk(names):
            from shoal.storage.tuples import counted_tuples

            table, count = counted_tuples(table, names, count), None
        rows = Rows.of(table, names, count, policy.person)
        if rows.person is not None:
            rows = replace(rows, linked=linked_classes(rows.person, policy.linked))
        classes = People.of(rows, policy.null_rule, "auto", starred).sizes()
        (leaked,) = parse_leaks(wanted.leaked, classes.persons)
        limit = find_threshold(wanted.threshold)
        probability = several_persons(classes, leaked, wanted.targets).probability
        holds = keeps_threshold(classes, leaked, wanted.targets, exact_limit(limit.value))
    except InputError as error:
        return False, f"it cannot be measured: {error.what}"
    who = f"{leaked:,} of {counted(classes.persons, 'person')} leaked, {counted(wanted.targets, 'target')}"
    return holds, f"{who}: probability {in_figures(probability)}, at most {limit.value:.4g} is allowed"


# How an attack is simulated, and whether that goes with what is asked.


@dataclass(frozen=True)
class Simulation:
    """An attack to be simulated `runs` times (None: not at all).

    `draw`: whom targets are drawn from. `unit`: persons leak whole, or records. `history`: of a leaked person's
    records, only this share leaks. Records and parts of histories have no formula, so they need runs and a table.

    >>> Simulation(1000, seed=1).partial, Simulation(1000, history="50%").partial
    (False, True)
    """

    runs: int | None = None
    seed: int | None = None
    draw: Draw = "everybody"
    unit: LeakUnit = "persons"
    history: float | str | None = None

    @property
    def share(self) -> float | None:
        """The part of a history that leaks, as a number."""
        return None if self.history is None else parse_share(self.history, Setting("history"))

    @property
    def partial(self) -> bool:
        """Whether histories leak in parts, for which there is no formula."""
        return self.unit == "records" or self.share not in (None, 1.0)

    def check(self, exact: bool, has_table: bool, has_classes: bool) -> None:
        """Refuse what does not go together with the law that is asked for and with what the classes come from."""
        check_choice(Setting("unit"), self.unit, get_args(LeakUnit))
        check_choice(Setting("draw"), self.draw, get_args(Draw))
        if self.partial and (not has_table or self.runs is None):
            raise InputError(
                "For records or parts of histories that leak there is no formula.",
                Message("Name a table and set {simulate} to 1000, for example."),
            )
        if self.partial and (not exact or self.draw == "leak"):
            raise InputError("Parts of histories are simulated only.", Message("Leave out {method} and {draw}."))
        if self.unit == "records" and self.history is not None:
            raise InputError(
                "Records leak, or parts of persons' histories, not both.",
                Message("Set {unit} to records, or set {history}."),
            )
        if self.runs is not None and not has_classes:
            raise InputError(
                "There are no classes to simulate.",
                Message("Give {class_size} 5 or {sizes} 3:2,4:1."),
            )


MOST_RESULTS = 10_000


@takes_numbers(LeakRequest)
def leak(source: Any, asked: LeakRequest) -> LeakRisk | LeakSeries:
    """The probability that one or several persons picked at random are re-identified from a leaked part of a release.

    The classes come from a table (`source`, by person), from `sizes`, or from one `class_size` for `persons`; with a
    threshold alone, the smallest class size that keeps it is found. `leaked` is a number, a share such as "10%", or
    several: then a series comes back, as for `targets` and `threshold`. `simulate` is a number of runs; `draw`, `unit`
    and `history` say whom they draw and what leaks. (Antoniou et al.; formulas in `one_person` and `several`.)

    >>> found = leak(persons=10_000, leaked=4_000, class_size=5)
    >>> round(found.probability, 6)
    0.184458
    >>> [entry.smallest_k for entry in leak(persons=10_000, leaked=[1_000, 4_000], threshold=0.09)]
    [4, 12]
    """
    check_choice(Setting("method"), asked.method, get_args(LeakMethod))
    decided = as_policy(asked.policy)
    promised = decided.leak
    leaked = asked.leaked if asked.leaked is not None else promised.leaked if promised else None
    targets = asked.targets if asked.targets is not None else promised.targets if promised else 1
    threshold = asked.threshold if asked.threshold is not None else promised.threshold if promised else None
    if leaked is None:
        raise InputError("The size of the leak is not given.", Message("Set {leaked} to 4000 or 10%, for example."))
    several = is_several(leaked) or is_several(targets) or isinstance(threshold, (list, tuple))
    limits = _limits(threshold)
    wanted = parse_targets(targets)
    if source is not None:
        if not (asked.persons is None and asked.class_size is None and asked.sizes is None):
            raise InputError(
                "A table has its own persons and classes.",
                Message("Leave out {persons}, {class_size} and {sizes}, or leave out the table."),
            )
        subject = from_table(source, decided, asked)
    else:
        subject = from_numbers(asked.persons, asked.class_size, asked.sizes, with_limit=limits != [None])
    simulation = Simulation(asked.simulate, asked.seed, asked.draw, asked.unit, asked.history)
    ask = _Ask(subject, asked.method, simulation)
    ask.check()
    leaks = parse_leaks(leaked, ask.total, ask.simulation.unit)
    if len(leaks) * len(wanted) * len(limits) > MOST_RESULTS:
        raise InputError("Too many combinations of leaks, targets and thresholds.", f"Use up to {MOST_RESULTS:,}.")
    answers = []
    for number, size in enumerate(leaks):
        progress.report("leak risk", number, len(leaks))
        answers += [ask.result(size, targets, limit) for targets in wanted for limit in limits]
    return LeakSeries(answers) if several else answers[0]


def _limits(threshold: float | str | Sequence[float | str] | None) -> list[Threshold | None]:
    if threshold is None:
        return [None]
    several = [threshold] if isinstance(threshold, (str, int, float)) else threshold
    return [find_threshold(one) for one in several]


@dataclass(frozen=True)
class _Ask:
    """What is asked of a subject, whatever the leak and the targets."""

    subject: LeakSubject
    method: LeakMethod
    simulation: Simulation
    largest: dict[tuple[int | None, int, float], int] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """What a leak is a part of: persons, or records."""
        if self.simulation.unit == "records" and self.subject.people is not None:
            return self.subject.people.histories.records
        return self.subject.persons

    def check(self) -> None:
        """Refuse what does not go together."""
        if self.simulation.partial and self.subject.too_many is not None:
            raise self.subject.too_many
        has_table, has_classes = self.subject.people is not None, self.subject.classes is not None
        self.simulation.check(self.method == "exact", has_table, has_classes)

    def result(self, leaked: int, targets: int, limit: Threshold | None) -> LeakRisk:
        """One answer."""
        if self.simulation.partial:
            return self._simulated(leaked, targets, limit)
        subject, notes = self.subject, list(self.subject.notes)
        smallest = None if limit is None else smallest_k(subject.persons, leaked, limit, targets)
        if subject.classes is None:
            asked = smallest or subject.persons
            subject = LeakSubject(subject.persons, ClassSizes.equal(subject.persons, asked), asked)
            if smallest is None:
                notes.append("not even one class of all persons keeps the threshold")
        classes, size = subject.classes, subject.class_size
        assert classes is not None
        estimate = _exact(classes, size, leaked, targets)
        probability, error, exact = estimate.probability, estimate.error, None
        if self.method != "exact":
            exact = probability
            weights = "persons" if self.method == "recursion" else "classes"
            probability = recursion(classes, leaked, targets, weights)  # type: ignore[arg-type]
            error = abs(probability - exact) / exact if exact else 0.0
            notes.append(f"the recursion is an approximation; the exact law gives {exact:.6g}")
        holds = None
        if limit is not None:
            holds = _keeps(classes, size, leaked, targets, limit) if exact is None else probability <= limit.value
        return LeakRisk(
            persons=subject.persons,
            leaked=leaked,
            class_sizes=classes.to_dict(),
            classes=classes,
            targets=targets,
            probability=probability,
            method=self.method,
            error=error,
            class_size=size,
            exact=exact,
            difference=None if exact is None else probability - exact,
            standard_deviation=spread_over_leaks(classes, leaked) if targets == 1 else None,
            threshold=None if limit is None else limit.value,
            threshold_name=None if limit is None else limit.name,
            holds=holds,
            smallest_k=smallest,
            largest_leak=None if limit is None else self._largest(classes, size, targets, limit),
            simulated=None if self.simulation.runs is None else self._play(classes, leaked, targets),
            suppressed_rows=0 if subject.people is None else subject.people.suppressed_rows,
            notes=notes + _remarks(classes, self.subject.class_size, leaked, targets, probability),
        )

    def _largest(self, classes: ClassSizes, size: int | None, targets: int, limit: Threshold) -> int:
        """The largest leak that keeps a threshold; it is the same whatever leaks, so it is found once."""
        key = (size, targets, limit.value)
        if key not in self.largest:
            subject = classes if size is None else size
            self.largest[key] = largest_leak(subject, limit, targets, classes.persons)
        return self.largest[key]

    def _play(self, classes: ClassSizes, leaked: int, targets: int) -> Simulated:
        asked = self.simulation
        return play(classes, leaked, targets, asked.runs or 0, asked.seed, asked.draw)

    def _simulated(self, leaked: int, targets: int, limit: Threshold | None) -> LeakRisk:
        """Parts of histories: the attack itself is the answer."""
        subject = self.subject
        assert subject.people is not None
        assert subject.classes is not None
        histories = subject.people.histories
        asked, share = self.simulation, self.simulation.share
        part = 1.0 if share is None else share
        simulated = simulate_histories(histories, leaked, targets, asked.runs or 0, asked.seed, asked.unit, part)
        half = (simulated.high - simulated.low) / 2
        return LeakRisk(
            persons=histories.persons,
            leaked=leaked,
            class_sizes=subject.classes.to_dict(),
            classes=subject.classes,
            targets=targets,
            probability=simulated.mean,
            method="simulation",
            error=half / simulated.mean if simulated.mean else 0.0,
            unit=asked.unit,
            history=share,
            threshold=None if limit is None else limit.value,
            threshold_name=None if limit is None else limit.name,
            # what is only estimated must keep the threshold with its whole interval
            holds=None if limit is None else simulated.high <= limit.value,
            simulated=simulated,
            suppressed_rows=subject.people.suppressed_rows,
            notes=[*subject.notes, "simulated: for parts of histories there is no formula"],
        )


def _exact(classes: ClassSizes, size: int | None, leaked: int, targets: int) -> ProbabilityEstimate:
    if size is not None and targets == 1:
        return ProbabilityEstimate(equation_5(classes.persons, leaked, size), ERROR)
    return several_persons(classes, leaked, targets)


def _keeps(classes: ClassSizes, size: int | None, leaked: int, targets: int, limit: Threshold) -> bool:
    """Whether a leak keeps the threshold, decided exactly at the border."""
    border = exact_limit(limit.value)
    if size is not None:
        return keeps_equal(classes.persons, leaked, size, targets, border)
    return keeps_threshold(classes, leaked, targets, border)


def _remarks(classes: ClassSizes, size: int | None, leaked: int, targets: int, probability: float) -> list[str]:
    notes = []
    if targets > leaked:
        notes.append("more targets than leaked persons: they cannot all be re-identified, the probability is 0")
    elif probability == 0 and leaked:
        notes.append("the probability is smaller than 1e-300")
    if size is not None and (rest := classes.persons % size):
        way = (
            "Eq 5 as printed"
            if targets == 1
            else f"{classes.persons // size:,} classes of {size:,} and one of {rest:,}"
        )
        notes.append(f"{size:,} does not divide {classes.persons:,} persons: {way}")
    return notes
