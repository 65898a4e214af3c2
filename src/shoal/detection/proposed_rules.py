"""What a proposed policy asks for beside the roles: models, persons, households, amounts as means, context."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import replace

import numpy as np

from shoal.detection.context import NEARLY_ALL, is_household, numbers_somebody
from shoal.detection.counted_sets import determines
from shoal.detection.profiles import ColumnProfile, yaml_key
from shoal.identifiers import DECIDED
from shoal.policy.sections import TreatSection
from shoal.storage import Column, Table
from shoal.storage.classes import Coded, class_of_each_row, first_row_of_each_class, pack
from shoal.vocabulary import Unit
from shoal.wording import in_words

_K = 5
# different sensitive values in each class: more where there are many, or the most frequent ones are guessed too often
_L, _MORE, _MANY_VALUES = 2, 3, 6
# a value that more records have than this would force classes that are many times larger
_COMMON = 0.9
# with fewer records per value, an identifier is of a record and not of a person with several
_REPEATED = 0.9
# what does not change in a life, and in how many of the persons with several rows it may by mistake
_OF_PERSONS, _MISTAKES = ("sex", "date-of-birth", "ethnicity"), 0.05
# a number that no rule knows is a person's where so many have several rows each, and what does not change says so
_FEWEST_PERSONS, _FEWEST_ROWS = 50, 2.0
# amounts single people out where so many values are there, and this share of the values is one record's
_FEWEST_AMOUNTS, _OWN = 40, 0.1
# means of so many times k records: with fewer, several amounts together still single people out
_MEANS = 4

_CONTEXT = [
    "# What attacks may gain is the threshold above, 0.09 where everybody receives it; set limits of your own with",
    "# attacks: {singling_out: 0.05, inference: 0.05}",
    "# Who receives the release and why: it stands in the report. Take out the # and say it.",
    "# context:",
    "#   recipient: who receives the data",
    "#   purpose: what they need it for",
]


# columns of a table whose entries belong together: its rows, or its distinct tuples
Joined = Callable[[Sequence[str]], Mapping[str, Column]]


def proposed_rules(
    table: Table, profiles: Sequence[ColumnProfile], joined: Joined | None = None
) -> tuple[list[ColumnProfile], list[str]]:
    """The columns with what they are to the policy (whose rows are whose, how amounts leave), and its further lines.

    The columns of a table that stays where its rows are were counted one by one: `joined` then counts several together.

    >>> from shoal.detection.profile import profile
    >>> from shoal.storage.reading import read
    >>> table = read({"age": [30, 34, 51, 52], "diagnosis": ["flu", "gout", "flu", "gout"]})
    >>> [line for line in proposed_rules(table, profile(table).columns)[1] if "model" in line]
    ['models:', '  - {model: k-anonymity, k: 2}', '  - {model: l-diversity, l: 2, sensitive: diagnosis}']
    """
    person, household = person_and_household(table, profiles, joined)
    units: dict[str | None, Unit] = {person: "person", household: "household"}
    found = [_with_unit(column, units.get(column.name)) for column in profiles]
    k = max(2, min(_K, table.rows // 2))
    found = with_means(table, found, k)
    found = found if joined else with_telling(table, found)  # of columns that were counted one by one nothing is known
    lines = [*_models(table, found, k), *_units(found, person, household), *_CONTEXT]
    return found, lines


def _models(table: Table, profiles: Sequence[ColumnProfile], k: int) -> list[str]:
    if not any(column.role == "quasi-identifier" for column in profiles):
        return ["# No column looks like a quasi-identifier: give one this role before anything can be promised."]
    lines = [
        "# What must hold: every combination of quasi-identifiers occurs k times, and shows l sensitive values.",
        "models:",
        f"  - {{model: k-anonymity, k: {k}}}",
    ]
    for column in profiles:
        if column.role != "sensitive" or column.distinct < _L:
            continue
        model = f"{{model: l-diversity, l: {usual_l(column)}, sensitive: {yaml_key(column.name)}}}"
        if _share_of_most_frequent(table[column.name]) > _COMMON:
            name = yaml_key(column.name)
            lines += [f"  # Most records have one value of {name}: classes would be very large.", f"  # - {model}"]
        else:
            lines.append(f"  - {model}")
    return lines


def usual_l(column: ColumnProfile) -> int:
    """How many sensitive values each class must show at least."""
    return _MORE if column.distinct >= _MANY_VALUES else _L


def _share_of_most_frequent(column: Column) -> float:
    counts = column.frequencies()
    return float(counts.max(initial=0) / max(counts.sum(), 1))


# Whose rows are whose: a person with several rows, a household with several persons.


def person_and_household(
    table: Table, profiles: Sequence[ColumnProfile], joined: Joined | None = None
) -> tuple[str | None, str | None]:
    """The columns that number persons with several rows, and households; None where no column does.

    A number is a person's where what does not change in a life (sex, birth, ethnicity) is the same in all of its rows,
    or nothing of that is there and the header says that it numbers somebody; a household's where the header says so.

    >>> from shoal.detection.profile import profile
    >>> from shoal.storage.reading import read
    >>> rows = range(400)
    >>> panel = read({"idcode": [row // 4 + 1000 for row in rows], "year": [row % 4 for row in rows],
    ...     "birth_year": [1940 + row // 4 % 40 for row in rows]})
    >>> person_and_household(panel, profile(panel).columns)
    ('idcode', None)
    """
    households = [
        column.name
        for column in profiles
        if is_household(column.name)
        and column.role in ("identifier", "other")
        and 1 < column.distinct <= _REPEATED * (table.rows - column.nulls)
    ]
    together = joined or (lambda _: table.columns)
    lives = [column.name for column in profiles if column.kind in _OF_PERSONS and column.confidence >= DECIDED]
    numbers = [
        column
        for column in profiles
        if column.name not in households and column.kind != "name" and _may_number_persons(table, column)
    ]
    numbers = [
        column
        for column in numbers
        if all(_is_fixed(column.name, life, together) for life in lives if life != column.name)
        and (column.role == "identifier" or numbers_somebody(column.name) or any(life != column.name for life in lives))
    ]
    person = max(numbers, key=lambda column: (column.role == "identifier", column.distinct), default=None)
    return None if person is None else person.name, households[0] if households else None


def _with_unit(column: ColumnProfile, unit: Unit | None) -> ColumnProfile:
    """A column with whose rows are whose by it; what numbers persons with several rows is never called other."""
    numbers = unit == "person" and column.role == "other"
    return replace(column, unit=unit, role="identifier" if numbers else column.role)


def _may_number_persons(table: Table, column: ColumnProfile) -> bool:
    """Whether a column repeats as the numbers of persons do."""
    known = table.rows - column.nulls
    if column.distinct < 2 or column.distinct > _REPEATED * known or column.nulls:
        return False
    if column.type in ("date", "datetime", "time", "boolean") or column.proposed_type == "date":
        return False
    if column.role == "identifier" and column.confidence >= DECIDED:
        return column.kind != "free-text"
    whole = column.type in ("integer", "text")
    # a short header such as `nr` may also be a variable of some survey: that it numbers the repeated is what it says
    unknown = (column.role == "other" and column.confidence < DECIDED) or numbers_somebody(column.name)
    unknown = unknown and not column.weights
    return whole and unknown and column.distinct >= _FEWEST_PERSONS and known >= _FEWEST_ROWS * column.distinct


def _is_fixed(number: str, trait: str, joined: Joined) -> bool:
    """Whether nearly all persons have one value in all of their rows; missing values say nothing."""
    columns = joined((number, trait))
    person, life = columns[number], columns[trait]
    known = ~life.is_null()
    whose, count = class_of_each_row(Coded(person.codes[known], person.cardinality))
    pairs, several = class_of_each_row(pack([Coded(whose, count), Coded(life.codes[known], life.cardinality)]))
    if not count or len(life.values) < _L:
        return False
    values = np.bincount(whose[first_row_of_each_class(pairs, several)], minlength=count)
    return float((values > 1).mean()) <= _MISTAKES


def _units(profiles: Sequence[ColumnProfile], person: str | None, household: str | None) -> list[str]:
    """Whose rows are whose, so that k counts persons."""
    lines = []
    if person is not None:
        name = yaml_key(person)
        lines += [
            f"# {name} repeats: a person has several rows, which are judged together, and k counts persons.",
            f"# Where rows need not be linked, decide {name} as identifier and take out `person`: k then counts rows.",
            f"person: {name}",
            "# Persons whose rows are like nobody's are suppressed, up to this share of the records.",
            "suppression: 10%",
        ]
    if household is not None:
        lines.append(f"household: {yaml_key(household)}")
    repeated = [column.name for column in profiles if column.unit is None and _repeats(column)]
    if person is None and household is None and repeated:
        lines.append(
            f"# {in_words(repeated)}: if a value stands for a person with several rows, name it (`person: column`), "
            "treated as pseudonym."
        )
    return lines


def _repeats(column: ColumnProfile) -> bool:
    return column.role == "identifier" and column.kind == "unique-code" and column.single < column.distinct


# Amounts that single people out leave as means.


def with_means(table: Table, profiles: Sequence[ColumnProfile], k: int) -> list[ColumnProfile]:
    """The profiles; exact amounts that single people out are microaggregated, those without gaps together.

    Means of one amount alone still single people out: it is recoded with the quasi-identifiers, if it is not sensitive,
    and has no gaps in a table where persons have several rows: which of them miss it stays whatever its ranges are.

    >>> from shoal.detection.profile import profile
    >>> from shoal.storage.reading import read
    >>> table = read({"age": [20 + row % 9 for row in range(300)], "charge": [100 + 7 * row for row in range(300)]})
    >>> found = with_means(table, profile(table).columns, 5)[1]
    >>> found.role, found.in_policy
    ('other', 'quasi-identifier')
    """
    size = _MEANS * k
    found = [
        column.name for column in profiles if _singles_out(column, table.rows) and 2 * size <= table.rows - column.nulls
    ]
    whole = [name for name in found if not table[name].nulls]
    joined = whole if len(whole) > 1 else []
    several = any(column.unit == "person" for column in profiles)
    ranges = {name for name in found if name not in joined and not (several and table[name].nulls)}
    return [
        _left_as(column, size, column.name in joined, ranges) if column.name in found else column for column in profiles
    ]


def with_telling(table: Table, profiles: Sequence[ColumnProfile]) -> list[ColumnProfile]:
    """The profiles; what nobody recognised and tells what a quasi-identifier is, in every record, is recoded with it:
    years of school beside the level of education, the square of an age.

    >>> from shoal.detection.profile import profile
    >>> from shoal.storage.reading import read
    >>> table = read({"age": [20 + row % 9 for row in range(300)], "steps": [row % 9 * 7 for row in range(300)]})
    >>> found = with_telling(table, profile(table).columns)[1]
    >>> found.tells, found.in_policy
    (('age',), 'quasi-identifier')
    """
    known = [table[column.name] for column in profiles if column.role == "quasi-identifier" and column.distinct > 1]

    def tells(column: ColumnProfile) -> tuple[str, ...]:
        leaves = column.role == "other" and column.confidence < DECIDED and column.treat is None and not column.unit
        if not leaves or column.weights or not 1 < column.distinct < NEARLY_ALL * (table.rows - column.nulls):
            return ()
        return tuple(other.name for other in known if determines(table[column.name], other))

    return [replace(column, tells=tells(column)) for column in profiles]


def _left_as(column: ColumnProfile, size: int, joined: bool, ranges: Container[str]) -> ColumnProfile:
    """An amount that leaves as means, or as ranges."""
    if column.name in ranges and column.role == "other" and not column.weights:
        return replace(column, as_ranges=True)
    return replace(column, treat=TreatSection(method="microaggregate", k=size, group="amounts" if joined else None))


def _singles_out(column: ColumnProfile, records: int) -> bool:
    """Whether a column that leaves holds numbers, many of which only one record has, or only one household."""
    return (
        column.role in ("sensitive", "other")
        and column.unit is None
        and not numbers_somebody(column.name)
        and column.type in ("integer", "number")
        and column.proposed_type == "number"
        and not (column.kind == "survey-design" and column.type == "integer")  # numbers of units have no mean
        and column.distinct >= _FEWEST_AMOUNTS
        and (column.single >= _OWN * column.distinct or column.distinct >= _OWN * (records - column.nulls))
    )
