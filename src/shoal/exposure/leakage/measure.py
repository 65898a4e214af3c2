"""How many people does a stolen part of a release expose? From what is asked to what was found."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, get_args

from shoal import progress
from shoal.engine import Engine, TooManyTuples, engine_of
from shoal.errors import InputError, Message, Setting, as_names, check_choice
from shoal.exposure.leakage.curves import exact_limit, keeps_equal, keeps_threshold, largest_leak, recursion, smallest_k
from shoal.exposure.leakage.law import (
    ERROR,
    MOST_PERSONS,
    ClassSizes,
    check_sums,
    equation_5,
    parse_sizes,
    several_persons,
    spread_over_leaks,
    whole_number,
)
from shoal.exposure.leakage.results import LeakRisk, LeakSeries, in_figures
from shoal.exposure.leakage.simulate import People, simulate_histories
from shoal.exposure.leakage.simulate import simulate as play
from shoal.policy import Policy, as_policy
from shoal.policy.amounts import is_several, parse_leaks, parse_share, parse_targets
from shoal.policy.thresholds import Threshold, find_threshold
from shoal.ranges.parsing import forms_in
from shoal.storage import Table
from shoal.storage.reading import Options
from shoal.storage.rows import Rows
from shoal.verbs.base import takes_numbers
from shoal.verbs.measuring import LeakRequest
from shoal.vocabulary import Draw, Generalized, LeakMethod, LeakUnit, NullRule
from shoal.wording import counted


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
        classes = People.of(rows, policy.null_rule, "auto", starred).sizes()
        (leaked,) = parse_leaks(wanted.leaked, classes.persons)
        limit = find_threshold(wanted.threshold)
        probability = several_persons(classes, leaked, wanted.targets).probability
        holds = keeps_threshold(classes, leaked, wanted.targets, exact_limit(limit.value))
    except InputError as error:
        return False, f"it cannot be measured: {error.what}"
    who = f"{leaked:,} of {counted(classes.persons, 'person')} leaked, {counted(wanted.targets, 'target')}"
    return holds, f"{who}: probability {in_figures(probability)}, at most {limit.value:.4g} is allowed"


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
            raise InputError("There are no classes to simulate.", Message("Give {class_size} 5 or {sizes} 3:2,4:1."))


MOST_RESULTS = 10_000


@takes_numbers(LeakRequest)
def leak(source: Any, asked: LeakRequest) -> LeakRisk | LeakSeries:
    """The probability that one or several persons picked at random are re-identified from a leaked part of a release.

    The classes come from a table (`source`, by person), from `sizes`, or from one `class_size` for `persons`; with a
    threshold alone, the smallest class size that keeps it is found. `leaked` is a number, a share such as "10%", or
    several: then a series comes back, as for `targets` and `threshold`. `simulate` is a number of runs; `draw`, `unit`
    and `history` say whom they draw and what leaks. (Antoniou et al.; formulas in `law`.)

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
    each = [threshold] if isinstance(threshold, (str, int, float)) else threshold
    limits: list[Threshold | None] = [None] if each is None else [find_threshold(one) for one in each]
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
        classes, size, runs, draw = subject.classes, subject.class_size, self.simulation.runs, self.simulation.draw
        assert classes is not None
        exact = None
        if size is not None and targets == 1:
            probability, error = equation_5(classes.persons, leaked, size), ERROR
        else:
            probability, error = several_persons(classes, leaked, targets)
        if self.method != "exact":
            exact = probability
            weights = "persons" if self.method == "recursion" else "classes"
            probability = recursion(classes, leaked, targets, weights)  # type: ignore[arg-type]
            error = abs(probability - exact) / exact if exact else 0.0
            notes.append(f"the recursion is an approximation; the exact law gives {exact:.6g}")
        holds = None
        if limit is not None and exact is None:  # decided exactly at the border
            border = exact_limit(limit.value)
            if size is None:
                holds = keeps_threshold(classes, leaked, targets, border)
            else:
                holds = keeps_equal(classes.persons, leaked, size, targets, border)
        elif limit is not None:
            holds = probability <= limit.value
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
            simulated=None if runs is None else play(classes, leaked, targets, runs, self.simulation.seed, draw),
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


EVERY_RECORD = "every record counts as a person; name the person column if somebody may have several records"
Sizes = ClassSizes | Mapping[int, int] | Iterable[int] | str


@dataclass(frozen=True)
class LeakSubject:
    """Who could leak: persons in classes; one class size where Eq 5 is meant; the table where there is one."""

    persons: int
    classes: ClassSizes | None
    class_size: int | None = None
    people: People | None = None
    notes: tuple[str, ...] = ()
    # why there are no persons one by one, where classes were counted where the rows are
    too_many: TooManyTuples | None = None


def from_numbers(persons: int | None, class_size: int | None, sizes: Sizes | None, with_limit: bool) -> LeakSubject:
    """From typed numbers; without any about the classes, a threshold must say which are wanted."""
    persons, class_size = (None if given is None else whole_number(given) for given in (persons, class_size))
    if sizes is not None:
        if class_size is not None:
            raise InputError(
                "A class size and class sizes are both given.", Message("Leave out {class_size} or {sizes}.")
            )
        classes = parse_sizes(sizes) if isinstance(sizes, str) else ClassSizes.of(sizes)
        check_sums(classes, persons)
        return LeakSubject(classes.persons, classes)
    if persons is None:
        raise InputError(
            "No table or class sizes given.", Message("Name a table, or give {persons} and {class_size}, or {sizes}.")
        )
    if not 1 <= persons <= MOST_PERSONS:
        raise InputError("The number of persons is not one or more.", Message("Use {persons} 10000, for example."))
    if class_size is None:
        if not with_limit:
            raise InputError(
                "Nothing is said about the classes.",
                Message("Give {class_size} 5 or {sizes} 3:2,4:1, or {threshold} 0.09 to find the smallest class size."),
            )
        return LeakSubject(persons, None)
    if not 1 <= class_size <= persons:
        raise InputError(
            f"Classes of {class_size:,} do not fit {persons:,} persons.", "A class has one person up to all of them."
        )
    return LeakSubject(persons, ClassSizes.equal(persons, class_size), class_size)


def set_aside(removed: int) -> list[str]:
    """What is said of records with a missing value that are not counted."""
    return [f"{counted(removed, 'record')} with a missing value set aside (null rule drop)"] if removed else []


def from_table(source: Any, policy: Policy, asked: LeakRequest) -> LeakSubject:
    """From a table: its own persons and classes, on the quasi-identifiers as they were released."""
    from shoal.policy.manifest import released_names

    names = as_names(asked.quasi_identifiers) or policy.quasi_identifiers
    if not names:
        raise InputError(
            "No quasi-identifiers are named: what could an attacker know about a person?",
            Message("Name the columns in {quasi_identifiers} or in a policy; `shoal detect` proposes them."),
        )
    rule: NullRule = asked.null_rule or policy.null_rule
    check_choice(Setting("null_rule"), rule, get_args(NullRule))
    generalized, options = asked.generalized, asked.options
    check_choice(Setting("generalized"), generalized, get_args(Generalized))
    count = asked.count or (policy.count if asked.person is None else None)
    person = asked.person or (policy.person if count is None else None)
    if count is not None and person is not None:
        raise InputError("A count column and a person column exclude each other.", Message("Give {count} or {person}."))
    columns = released_names(source, list(dict.fromkeys(names)))
    if both := [name for name in (count, person) if name in columns]:
        raise InputError(
            f"Column '{both[0]}' is counted and compared at once.", "Take it out of the quasi-identifiers."
        )
    engine = engine_of(source, options)
    try:
        table = engine.count(source, columns, count=count, person=person, options=options)
    except TooManyTuples as error:
        if person is not None or rule == "wildcard":  # histories and nulls that match are compared with each other
            raise

        return rolled_up(engine, source, columns, error, policy, rule, generalized, count, options)
    # the rows of a table of counts are not records; tuples that were counted here are
    rows = table.rows if count is None else replace(table.rows, distinct=False)
    rows, removed = rows.without_nulls(rule)
    people = People.of(rows, rule, generalized)
    if count is None and person is None:

        def one_by_one() -> People:
            kept, _ = Rows.of(engine.rows(source, columns, options), columns).without_nulls(rule)
            return People.of(kept, rule, generalized)

        people = replace(people, one_by_one=one_by_one)
    progress.report("counting", 0)
    classes = people.sizes()
    notes = [*table.notes, *policy.remarks(table), *set_aside(removed)]
    if people.suppressed_rows:
        notes.append(f"* in every column, so in no class and not counted: {counted(people.suppressed_rows, 'record')}")
    if person is None and count is None:
        notes.append(EVERY_RECORD)
    return LeakSubject(classes.persons, classes, None, people, tuple(notes))


NOTE = "the tuples are too many for one machine: classes were counted where the rows are"


def rolled_up(
    engine: Engine,
    source: Any,
    columns: list[str],
    error: TooManyTuples,
    policy: Policy,
    rule: NullRule,
    generalized: Generalized,
    count: str | None,
    options: Options | None,
) -> LeakSubject:
    """Who could leak, by class sizes alone; raises `error` again where records may be `*` in every column.

    Classes of a leak are of equal values, so that nothing but the sizes is needed. Records that are `*` everywhere
    stand in no class: where each column has a `*`, only the tuples tell whether there are some.
    """
    starred, about = [], None
    for name in columns:
        about = engine.count(source, [name], count=count, options=options)
        starred.append("star" in forms_in(about.columns[name], generalized))
        if not starred[-1]:
            break
    if all(starred) or about is None:
        raise error
    dropped = columns if rule == "drop" else ()
    (histogram,) = engine.sizes(source, [columns], count=count, without_nulls=dropped, options=options)
    classes = ClassSizes(histogram.sizes, histogram.classes)
    notes = [*about.notes, *policy.remarks(about), *set_aside(histogram.removed), NOTE]
    if count is None:
        notes.append(EVERY_RECORD)
    return LeakSubject(classes.persons, classes, notes=tuple(notes), too_many=error)
