"""How many people does a stolen part of a release expose? From what is asked to what was found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from pathlib import Path
from typing import Any, Unpack, get_args

from shoal import progress
from shoal.dataclasses import dataclass
from shoal.errors import InputError, check_choice
from shoal.leakage.histories import simulate_histories
from shoal.leakage.inverse import exact_limit, keeps_equal, keeps_threshold, largest_leak, smallest_k
from shoal.leakage.one_person import ERROR, equation_5, spread_over_leaks
from shoal.leakage.recursion import recursion
from shoal.leakage.results import LeakRisk, LeakSeries
from shoal.leakage.several import Estimate, several_persons
from shoal.leakage.simulate import Simulated
from shoal.leakage.simulate import simulate as play
from shoal.leakage.simulation import Simulation, as_simulation
from shoal.leakage.sizes import ClassSizes
from shoal.leakage.subject import Sizes, Subject, TableSettings, from_numbers, from_table
from shoal.policy import Policy, as_policy
from shoal.policy.amounts import Amounts, is_several, parse_leaks, parse_targets
from shoal.policy.thresholds import Threshold, find_threshold
from shoal.vocabulary import LeakMethod

MOST_RESULTS = 10_000


def leak(
    source: Any = None,
    *,
    leaked: Amounts | None = None,
    persons: int | None = None,
    class_size: int | None = None,
    sizes: Sizes | None = None,
    targets: Amounts | None = None,
    threshold: float | str | Sequence[float | str] | None = None,
    method: LeakMethod = "exact",
    simulate: int | Simulation | None = None,
    policy: Policy | str | Path | None = None,
    **table: Unpack[TableSettings],
) -> LeakRisk | LeakSeries:
    """The probability that one or several persons picked at random are re-identified from a leaked part of a release.

    The classes come from a table (`source`, by person, with the settings of `TableSettings`), from `sizes`, or from one
    `class_size` for `persons`; with a threshold alone, the smallest class size that keeps it is found. `leaked` is a
    number, a share such as "10%", or several: then a series comes back, as for `targets` and `threshold`. `simulate` is
    a number of runs or a `Simulation`. (Antoniou et al.; formulas in `one_person` and `several`.)

    >>> found = leak(persons=10_000, leaked=4_000, class_size=5)
    >>> round(found.probability, 6)
    0.184458
    >>> [entry.smallest_k for entry in leak(persons=10_000, leaked=[1_000, 4_000], threshold=0.09)]
    [4, 12]
    """
    check_choice("method", method, get_args(LeakMethod))
    decided = as_policy(policy)
    promised = decided.leak
    leaked = leaked if leaked is not None else promised.leaked if promised else None
    targets = targets if targets is not None else promised.targets if promised else 1
    threshold = threshold if threshold is not None else promised.threshold if promised else None
    if leaked is None:
        raise InputError(
            "The size of the leak is not given.", "Set leaked to 4000 or 10%, for example.", settings="leaked"
        )
    several = is_several(leaked) or is_several(targets) or isinstance(threshold, (list, tuple))
    limits = _limits(threshold)
    wanted = parse_targets(targets)
    if source is not None:
        if not (persons is None and class_size is None and sizes is None):
            raise InputError(
                "A table has its own persons and classes.",
                "Leave out persons, class_size and sizes, or leave out the table.",
                settings=("persons", "class_size", "sizes"),
            )
        subject = from_table(source, decided, **table)
    else:
        subject = from_numbers(persons, class_size, sizes, with_limit=limits != [None])
    ask = _Ask(subject, method, as_simulation(simulate))
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

    subject: Subject
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
            subject = Subject(subject.persons, ClassSizes.equal(subject.persons, asked), asked)
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
        found = simulate_histories(histories, leaked, targets, asked.runs or 0, asked.seed, asked.unit, part)
        half = (found.high - found.low) / 2
        return LeakRisk(
            persons=histories.persons,
            leaked=leaked,
            class_sizes=subject.classes.to_dict(),
            classes=subject.classes,
            targets=targets,
            probability=found.mean,
            method="simulation",
            error=half / found.mean if found.mean else 0.0,
            unit=asked.unit,
            history=share,
            threshold=None if limit is None else limit.value,
            threshold_name=None if limit is None else limit.name,
            # what is only estimated must keep the threshold with its whole interval
            holds=None if limit is None else found.high <= limit.value,
            simulated=found,
            suppressed_rows=subject.people.suppressed_rows,
            notes=[*subject.notes, "simulated: for parts of histories there is no formula"],
        )


def _exact(classes: ClassSizes, size: int | None, leaked: int, targets: int) -> Estimate:
    if size is not None and targets == 1:
        return Estimate(equation_5(classes.persons, leaked, size), ERROR)
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
