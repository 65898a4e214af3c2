"""Findings without counts of few people: what a report says must not say something about one of them.

Counts by value or by class under 11 are merged with their neighbours or left out. The smallest class, uniques and
totals stay: they are what the report is about.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from shoal.reports.findings import COUNTS_BY_CLASS, OWNER_ONLY
from shoal.vocabulary import LEAST_SHOWN

# class sizes as people speak of them; the last has no end
_GROUPS = (1, 2, 3, 5, 11, 20, 50, 100, 500, 2_000)


def grouped_sizes(before: Sequence[Mapping[str, int]], after: Sequence[Mapping[str, int]]) -> list[dict[str, Any]]:
    """Records by class size before and after, in the same groups; each is about nobody or 11 records at least.

    `to` is null for the last group, which has no end.

    >>> grouped_sizes([{"size": 2, "records": 6}, {"size": 4, "records": 28}], [{"size": 6, "records": 42}])
    [{'size': 2, 'to': 4, 'before': 34, 'after': 0}, {'size': 5, 'to': 10, 'before': 0, 'after': 42}]
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
        kept = {name: without_small_counts(value, name) for name, value in found.items() if name not in COUNTS_BY_CLASS}
        for name in ("nulls", "single"):  # of a column's values
            if isinstance(kept.get(name), int) and 0 < kept[name] < LEAST_SHOWN:
                kept[name] = None
        if isinstance(kept.get("missing"), Mapping):
            kept["missing"] = {
                name: None if isinstance(count, int) and 0 < count < LEAST_SHOWN else count
                for name, count in kept["missing"].items()
            }
        return kept
    if isinstance(found, (list, tuple)):
        return [without_small_counts(value) for value in found]
    return found


def small_counts_hidden(found: Mapping[str, Mapping[str, Any] | None], pictures: Mapping[str, Any]) -> dict[str, Any]:
    """The findings of all steps, without counts of few people, and without what would tell one by difference.

    Class sizes before and after are in the same groups wherever they are told, and a share above the threshold is left
    out where it cuts a group so that a part of it is about few.
    """
    shown = {name: without_small_counts(content) for name, content in found.items()}
    before, after = (found.get(name) or {} for name in ("risk before", "risk after"))
    groups = grouped_sizes(before.get("histogram") or [], after.get("histogram") or [])
    for when, measured in (("before", before), ("after", after)):
        if not measured:
            continue
        own = shown[f"risk {when}"]
        own["histogram"] = [
            {"size": line["size"], "to": line["to"], "records": line[when]} for line in groups if line[when]
        ]
        for who in ("prosecutor", "journalist", "marketer"):
            if own.get(who) and _tells_few(measured["histogram"], own[who]["threshold"], groups):
                own[who]["share_over_threshold"] = None
    if before and after:
        shown["risk after"]["records_by_size"] = groups
    if shown.get("detect"):
        _hide_single(shown["detect"])
    if shown.get("utility"):
        shown["utility"] |= pictures
        for entry in (shown["utility"].get("analysis") or {}).get("means") or []:
            entry |= {key: _rounded(entry[key]) for key in ("original", "released")}
    for entry in (shown.get("profile") or {}).get("columns") or []:
        entry["reasons"] = [rough_shares(reason) for reason in entry["reasons"]]
    return shown


def _tells_few(sizes: Sequence[Mapping[str, int]], threshold: float, groups: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the records above a threshold, less whole groups of them, are few, or those beside them are."""
    for line in groups:
        inside = [entry for entry in sizes if line["size"] <= entry["size"] <= (line["to"] or entry["size"])]
        above = sum(entry["records"] for entry in inside if 1 / entry["size"] > threshold * (1 + 1e-9))
        rest = sum(entry["records"] for entry in inside) - above
        if above and rest and min(above, rest) < LEAST_SHOWN:
            return True
    return False


def _hide_single(detect: dict[str, Any]) -> None:
    """The uniques of one column alone are the records with a value of their own: few of them are not told."""
    if len(detect.get("columns") or []) > 1:  # of one column in all they are the uniques of the table
        detect["by_size"] = [
            entry
            for entry in detect.get("by_size") or []
            if len(entry["columns"]) > 1 or not 0 < entry["uniques"] < LEAST_SHOWN
        ]


# shares near all or nothing say how few the others are
_PERCENT = re.compile(r"(?<![\d.])(\d{1,2}(?:\.\d+)?)%")


def rough_shares(text: str) -> str:
    """A sentence about the records of a column, in which no share says how few the others are.

    >>> rough_shares("99.6% of the records hold a word.")
    'more than 99% of the records hold a word.'
    """
    return _PERCENT.sub(_rough, text)


def _rough(found: re.Match[str]) -> str:
    share = float(found[1])
    return "under 1%" if 0 < share < 1 else "more than 99%" if 99 < share < 100 else found[0]


def _rounded(value: Any) -> Any:
    return float(f"{value:.4g}") if isinstance(value, float) else value


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
        return {name: for_the_public(value) for name, value in found.items() if name not in OWNER_ONLY}
    if isinstance(found, (list, tuple)):
        return [for_the_public(value) for value in found]
    return found


def public_edition(found: Mapping[str, Any]) -> dict[str, Any]:
    """Findings as they may leave, and as such in their title.

    >>> public_edition({"context": {"edition": "internal"}, "seed": 7})
    {'context': {'edition': 'public'}}
    """
    shown: dict[str, Any] = for_the_public(found)
    return {**shown, "context": {**shown["context"], "edition": "public"}}
