"""Amnesia's hierarchies: `distinct` or `range`, name, type and height, then lines `parent has child child`."""

from __future__ import annotations

from pathlib import Path

from shoal.errors import InputError
from shoal.hierarchy.chosen import given_hierarchies
from shoal.migration.draft import Draft

_MOST_NODES = 1_000_000
_MOST_WHOLE_NUMBERS = 20_000
_CURE = "Export it again from Amnesia."


def is_amnesia(text: str) -> bool:
    """Whether a text starts as Amnesia's hierarchies do.

    >>> is_amnesia("distinct\\nname age\\ntype string\\nheight 3\\n")
    True
    """
    lines = [line.strip().lower() for line in text.splitlines()[:8] if line.strip()]
    return (
        bool(lines)
        and (lines[0] in ("distinct", "range") or lines[0].startswith("name "))
        and any(line.startswith("height ") for line in lines)
    )


def read_amnesia(text: str, path: Path, column: str | None) -> Draft:
    """The tree of one column; the column is a quasi-identifier."""
    lines = text.splitlines()
    start = next((number for number, line in enumerate(lines) if not line.strip() and number), len(lines))
    head = dict(line.split(None, 1) for line in lines[:start] if len(line.split(None, 1)) == 2)
    kinds = {line.strip().lower() for line in lines[:start]} & {"distinct", "range"}
    name = column or head.get("name", "").strip() or path.stem
    parents = _parents(lines[start:], path)
    draft = Draft("Amnesia", columns={name: "quasi-identifier"})
    if "range" in kinds:
        _ranges(draft, name, parents, head.get("type", ""))
    else:
        draft.trees[name] = given_hierarchies({name: _rows(parents, path)}, [name])[name]
    draft.lacks("k, the other columns and the table", "Amnesia keeps no project file: add them to the policy")
    return draft


def _parents(lines: list[str], path: Path) -> dict[str, str]:
    """The parent of every node but the root."""
    found: dict[str, str] = {}
    for line in lines:
        if not line.strip():
            continue
        parent, has, children = line.partition(" has ")
        if not has:
            raise InputError(f"{path} has a line without `has` behind its head.", _CURE)
        for child in children.split():
            if found.setdefault(child, parent.strip()) != parent.strip():
                raise InputError(f"{path} gives a node two parents: it is not a tree.", _CURE)
        if len(found) > _MOST_NODES:
            raise InputError(f"{path} has more than {_MOST_NODES:,} nodes.", _CURE)
    if not found:
        raise InputError(f"{path} has no nodes.", _CURE)
    return found


def _rows(parents: dict[str, str], path: Path) -> list[list[str]]:
    """Every leaf with its path to the root, which is `*`; leaves that stand higher are repeated upward."""
    inner = set(parents.values())
    leaves = [node for node in parents if node not in inner]
    ways = []
    for leaf in leaves:
        way = [leaf]
        while way[-1] in parents:
            way.append(parents[way[-1]])
            if len(way) > 1_000:
                raise InputError(f"{path} has a node that is above itself.", _CURE)
        ways.append(way)
    if len({way[-1] for way in ways}) != 1 or not ways:
        raise InputError(f"{path} has several roots, or none.", _CURE)
    height = max(len(way) for way in ways)
    return [[way[0]] * (height - len(way)) + way[:-1] + ["*"] for way in ways]


def _ranges(draft: Draft, name: str, parents: dict[str, str], kind: str) -> None:
    """Ranges of whole numbers as a tree of the numbers; others have no leaves that could be listed."""
    if kind.strip() != "int":
        draft.lacks(
            f"the ranges of '{name}' ({kind.strip() or 'no type'})",
            "only ranges of whole numbers can be listed: build them with `shoal hierarchy build --width`",
        )
        return
    rows = _rows(parents, Path(name))
    try:
        ends = {node: _ends(node) for node in [*parents, *parents.values()]}
    except ValueError:
        raise InputError(f"A range of '{name}' has no two numbers with a comma between.", _CURE) from None
    top = max(high for _, high in ends.values())
    span = top - min(low for low, _ in ends.values())
    if span > _MOST_WHOLE_NUMBERS:
        draft.lacks(f"the ranges of '{name}'", f"they span more than {_MOST_WHOLE_NUMBERS:,} numbers")
        return
    # a number on the border of two ranges belongs to the upper one; the last range holds its own end
    labels = {node: f"[{low};{high if high == top else high - 1}]" for node, (low, high) in ends.items()}
    listed = []
    for way in rows:
        low, high = ends[way[0]]
        last = high + 1 if high == top else high
        listed += [[str(value), *(labels[node] for node in way[:-1]), "*"] for value in range(low, last)]
    draft.trees[name] = given_hierarchies({name: listed}, [name])[name]
    draft.types[name] = "number"


def _ends(node: str) -> tuple[int, int]:
    low, high = (float(end) for end in node.split(","))
    if not (low.is_integer() and high.is_integer() and low < high):
        raise ValueError
    return int(low), int(high)
