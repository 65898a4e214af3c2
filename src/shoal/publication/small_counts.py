"""Findings without counts of few people: what a report says must not say something about one of them.

Counts by value or by class under 11 are merged with their neighbours or left out. The smallest class, uniques and
totals stay: they are what the report is about.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from shoal.vocabulary import LEAST_SHOWN

# keys that only the owner may know: what repeats the draw of chance, where the table was cut, whose file it was
_OWNER_ONLY = frozenset({"seed", "sha256", "levels", "plan_path", "output", "manifest", "path", "cuts"})
_VALUES = frozenset({"class_sizes", "exact_counts"})


def merged_sizes(histogram: Sequence[Mapping[str, int]]) -> list[dict[str, int]]:
    """Class sizes joined until every line is about 11 records at least; `to` is the largest size of a line.

    >>> merged_sizes([{"size": 1, "classes": 20, "records": 20}, {"size": 2, "classes": 2, "records": 4},
    ...     {"size": 5, "classes": 1, "records": 5}])
    [{'size': 1, 'to': 5, 'classes': 23, 'records': 29}]
    """
    lines: list[dict[str, int]] = []
    for entry in histogram:
        line = {"size": entry["size"], "to": entry["size"], "classes": entry["classes"], "records": entry["records"]}
        if lines and lines[-1]["records"] < LEAST_SHOWN:
            lines[-1] = _joined(lines[-1], line)
        else:
            lines.append(line)
    if len(lines) > 1 and lines[-1]["records"] < LEAST_SHOWN:
        last = lines.pop()
        lines[-1] = _joined(lines[-1], last)
    return lines


def _joined(first: dict[str, int], second: dict[str, int]) -> dict[str, int]:
    return {
        "size": first["size"],
        "to": second["to"],
        "classes": first["classes"] + second["classes"],
        "records": first["records"] + second["records"],
    }


# class sizes as people speak of them; the last has no end
_GROUPS = (1, 2, 3, 5, 11, 20, 50, 100, 500, 2_000)


def grouped_sizes(before: Sequence[Mapping[str, int]], after: Sequence[Mapping[str, int]]) -> list[dict[str, Any]]:
    """Records by class size before and after, in the same groups; each is about nobody or 11 records at least.

    `to` is null for the last group, which has no end.

    >>> grouped_sizes([{"size": 1, "records": 6}, {"size": 4, "records": 28}], [{"size": 6, "records": 42}])
    [{'size': 1, 'to': 4, 'before': 34, 'after': 0}, {'size': 5, 'to': 10, 'before': 0, 'after': 42}]
    """
    groups: list[dict[str, Any]] = []
    for place, start in enumerate(_GROUPS):
        end = _GROUPS[place + 1] - 1 if place + 1 < len(_GROUPS) else None
        line = {"size": start, "to": end, "before": _within(before, start, end), "after": _within(after, start, end)}
        if not line["before"] and not line["after"]:
            continue
        if groups and _is_small(groups[-1]):
            groups[-1] = _together(groups[-1], line)
        else:
            groups.append(line)
    while len(groups) > 1 and _is_small(groups[-1]):
        last = groups.pop()
        groups[-1] = _together(groups[-1], last)
    return groups


def _is_small(line: Mapping[str, Any]) -> bool:
    return any(0 < line[when] < LEAST_SHOWN for when in ("before", "after"))


def _together(first: Mapping[str, Any], last: Mapping[str, Any]) -> dict[str, Any]:
    sums = {when: first[when] + last[when] for when in ("before", "after")}
    return {"size": first["size"], "to": last["to"], **sums}


def _within(lines: Sequence[Mapping[str, int]], start: int, end: int | None) -> int:
    return sum(line["records"] for line in lines if line["size"] >= start and (end is None or line["size"] <= end))


def without_small_counts(found: Any, key: str = "") -> Any:
    """Findings in which no count by value or class is under 11."""
    if isinstance(found, Mapping):
        kept = {name: without_small_counts(value, name) for name, value in found.items() if name not in _VALUES}
        for name in ("nulls", "single"):  # of a column's values
            if isinstance(kept.get(name), int) and 0 < kept[name] < LEAST_SHOWN:
                kept[name] = None
        if isinstance(kept.get("missing"), Mapping):
            kept["missing"] = {
                name: None if isinstance(count, int) and 0 < count < LEAST_SHOWN else count
                for name, count in kept["missing"].items()
            }
        return kept
    if key == "histogram" and isinstance(found, (list, tuple)):
        return merged_sizes(found)
    if isinstance(found, (list, tuple)):
        return [without_small_counts(value) for value in found]
    return found


def policy_without_values(policy: Mapping[str, Any]) -> dict[str, Any]:
    """A policy as findings have it: trees and orders that list values of the data are named, not shown.

    >>> policy_without_values({"hierarchies": {"town": [["Ulm", "*"]]}, "null_rule": "value"})
    {'hierarchies': {'town': 'a tree in the policy'}, 'null_rule': 'value'}
    """
    shown = dict(policy)
    trees = shown.get("hierarchies")
    if isinstance(trees, Mapping):
        shown["hierarchies"] = {
            name: tree if isinstance(tree, str) else "a tree in the policy" for name, tree in trees.items()
        }
    if isinstance(shown.get("types"), Mapping):
        shown["types"] = {name: _type_word(entry) for name, entry in shown["types"].items()}
    return shown


def _type_word(entry: Any) -> Any:
    return entry.get("type") if isinstance(entry, Mapping) else entry


def for_the_public(found: Any) -> Any:
    """Findings without what helps an attacker: seeds, hashes of the input, levels and cuts, names of files, and which
    column helps which attack most."""
    if isinstance(found, Mapping):
        if "criterion" in found and "notes" in found:
            found = {**found, "notes": []}
        return {name: for_the_public(value) for name, value in found.items() if name not in _OWNER_ONLY}
    if isinstance(found, (list, tuple)):
        return [for_the_public(value) for value in found]
    return found
