"""What a proposed policy asks for beside the roles: models, persons, context. Ready to run, and to be checked."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.detection.profiles import ColumnProfile, yaml_key
from shoal.kinds import DECIDED
from shoal.table import Column, Table

_K, _L = 5, 2
# a value that more records have than this would force classes that are many times larger
_COMMON = 0.9
# with fewer records per value, an identifier is of a record and not of a person with several
_REPEATED = 0.9

_CONTEXT = [
    "# Who receives the release and why: it stands in the report. Take out the # and say it.",
    "# context:",
    "#   recipient: who receives the data",
    "#   purpose: what they need it for",
]


def proposed_rules(table: Table, profiles: Sequence[ColumnProfile]) -> list[str]:
    """The lines of a policy that follow its columns: models, person, context.

    >>> from shoal.detection.profile import profile
    >>> from shoal.reading import read
    >>> table = read({"age": [30, 34, 51, 52], "diagnosis": ["flu", "gout", "flu", "gout"]})
    >>> [line for line in proposed_rules(table, profile(table).columns) if "model" in line]
    ['models:', '  - {model: k-anonymity, k: 2}', '  - {model: l-diversity, l: 2, sensitive: diagnosis}']
    """
    return [*_models(table, profiles), *_person(table.rows, profiles), *_CONTEXT]


def _models(table: Table, profiles: Sequence[ColumnProfile]) -> list[str]:
    if not any(column.role == "quasi-identifier" for column in profiles):
        return ["# No column looks like a quasi-identifier: give one this role before anything can be promised."]
    k = max(2, min(_K, table.rows // 2))
    lines = [
        "# What must hold: every combination of quasi-identifiers occurs k times, and shows l sensitive values.",
        "models:",
        f"  - {{model: k-anonymity, k: {k}}}",
    ]
    for column in profiles:
        if column.role != "sensitive" or column.distinct < _L:
            continue
        model = f"{{model: l-diversity, l: {_L}, sensitive: {yaml_key(column.name)}}}"
        if _share_of_most_frequent(table[column.name]) > _COMMON:
            name = yaml_key(column.name)
            lines += [f"  # Most records have one value of {name}: classes would be very large.", f"  # - {model}"]
        else:
            lines.append(f"  - {model}")
    return lines


def _share_of_most_frequent(column: Column) -> float:
    counts = column.frequencies()
    return float(counts.max(initial=0) / max(counts.sum(), 1))


def _person(records: int, profiles: Sequence[ColumnProfile]) -> list[str]:
    """The column of persons with several rows. It identifies, so that it cannot stay as it is: its owner decides."""
    found = [
        column
        for column in profiles
        if column.role == "identifier"
        and column.confidence >= DECIDED
        and column.distinct > 1
        and column.type not in ("date", "datetime", "time")
        and column.proposed_type != "date"
    ]
    repeated = [column for column in found if column.distinct <= _REPEATED * (records - column.nulls)]
    if not repeated:
        return []
    name = yaml_key(max(repeated, key=lambda column: column.distinct).name)
    return [
        f"# {name} repeats: a person may have several rows, and k counts rows. To count persons, replace {name} by a",
        "# pseudonym (shoal pseudonymize), give it the role other, and take out the # here.",
        f"# person: {name}",
    ]
