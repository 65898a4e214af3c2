"""Whose leak it is: persons in classes, from numbers or from a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, get_args

from shoal import progress
from shoal.engine import Engine, TooManyTuples, engine_of
from shoal.errors import InputError, Message, Setting, as_names, check_choice
from shoal.exposure.leakage.persons import People
from shoal.exposure.leakage.sizes import MOST_PERSONS, ClassSizes, check_sums, parse_sizes, whole_number
from shoal.policy import Policy
from shoal.policy.judgement.shown_classes import linked_classes
from shoal.ranges.parsing import forms_in
from shoal.storage.reading import Options
from shoal.storage.rows import Rows
from shoal.verbs.measuring import LeakRequest
from shoal.vocabulary import Generalized, NullRule
from shoal.wording import counted

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
                "A class size and class sizes are both given.",
                Message("Leave out {class_size} or {sizes}."),
            )
        classes = parse_sizes(sizes) if isinstance(sizes, str) else ClassSizes.of(sizes)
        check_sums(classes, persons)
        return LeakSubject(classes.persons, classes)
    if persons is None:
        raise InputError(
            "No table or class sizes given.",
            Message("Name a table, or give {persons} and {class_size}, or {sizes}."),
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
        raise InputError(
            "A count column and a person column exclude each other.",
            Message("Give {count} or {person}."),
        )
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
    if rows.person is not None and person == policy.person and policy.linked:
        rows = replace(rows, linked=linked_classes(rows.person, policy.linked))
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


# Leaks of a table whose tuples are too many for one machine: a histogram of class sizes from where the rows are.


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
