"""Findings without counts of few people: what a report says must not say something about one of them.

Counts by value or by class under 11 are merged with their neighbours or left out. The smallest class, uniques and
totals stay: they are what the report is about.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

# the smallest count that is shown (the rule of CMS for cells of 1 to 10)
LEAST = 11
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
        if lines and lines[-1]["records"] < LEAST:
            lines[-1] = _joined(lines[-1], line)
        else:
            lines.append(line)
    if len(lines) > 1 and lines[-1]["records"] < LEAST:
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


def without_small_counts(found: Any, key: str = "") -> Any:
    """Findings in which no count by value or class is under 11."""
    if isinstance(found, Mapping):
        kept = {name: without_small_counts(value, name) for name, value in found.items() if name not in _VALUES}
        for name in ("nulls", "single"):  # of a column's values
            if isinstance(kept.get(name), int) and 0 < kept[name] < LEAST:
                kept[name] = None
        if isinstance(kept.get("missing"), Mapping):
            kept["missing"] = {
                name: None if isinstance(count, int) and 0 < count < LEAST else count
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
    """Findings without what helps an attacker: seeds, hashes of the input, levels and cuts, names of files, exact
    figures of few."""
    if isinstance(found, Mapping):
        return {name: for_the_public(value) for name, value in found.items() if name not in _OWNER_ONLY}
    if isinstance(found, (list, tuple)):
        return [for_the_public(value) for value in found]
    return found
