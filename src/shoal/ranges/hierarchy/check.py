"""Look at hierarchies before they are used: size, levels, labels that do not hold their leaf, values without a leaf."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from shoal.errors import InputError, Message
from shoal.ranges.hierarchy.fit import fit
from shoal.ranges.hierarchy.given import files_in, files_of_columns, read_owned
from shoal.ranges.hierarchy.outside import held, leaves_outside
from shoal.ranges.hierarchy.results import CheckedHierarchies, CheckedHierarchy
from shoal.ranges.hierarchy.tree import Hierarchy, HierarchyError
from shoal.ranges.parsing import STAR, ends_of
from shoal.storage import Column
from shoal.storage.reading import Options, read

# Put leaves under the labels that hold them: what `shoal hierarchy check --fix` writes.


@dataclass(frozen=True)
class FixedHierarchy:
    """A tree whose labels hold their leaves: `moved` leaves, `below_star` of them found no label that holds them."""

    tree: Hierarchy = field(repr=False)
    moved: int
    below_star: int


def fixed(tree: Hierarchy) -> FixedHierarchy:
    """Each leaf that lies outside a label under the labels that hold it, with the path of the node it moves to.

    Where no label of a level holds it, the leaf stands for itself; where none above does either, it is below `*`.

    >>> rows = ["19", "20", "21", "40"], ["15-19", "15-19", "20-24", "20-24"], ["*"] * 4
    >>> found = fixed(Hierarchy("age", tuple(map(pl.Series, rows))))
    >>> found.tree.levels[1].to_list(), found.moved, found.below_star
    (['15-19', '20-24', '20-24', '*'], 2, 1)
    """
    outside = leaves_outside(tree)
    if not outside.any():
        return FixedHierarchy(tree, 0, 0)
    levels = [level.to_list() for level in tree.levels]
    parents = [_parents(below, above, ~outside) for below, above in pairwise(levels)]
    ranges = [_LevelRanges(set(level)) for level in levels]
    for place in np.flatnonzero(outside).tolist():
        path = _path([level[place] for level in levels], parents, ranges)
        for level, label in zip(levels[1:], path, strict=True):
            level[place] = label
    series = [tree.levels[0], *(pl.Series(level, dtype=pl.String) for level in levels[1:])]
    try:
        better = Hierarchy(tree.column, tuple(series), tree.source, tree.in_values)
    except HierarchyError:
        better = None
    if better is None or leaves_outside(better).any():
        raise InputError(
            f"The hierarchy of '{tree.column}' cannot be fixed by moving leaves: its own nodes contradict each other.",
            "Correct the labels of the rows that `shoal hierarchy check` names.",
        )
    below = int(np.count_nonzero((better.levels[1] == STAR).to_numpy() & outside))
    return FixedHierarchy(better, int(np.count_nonzero(outside)), below)


class _LevelRanges:
    """The labels of a level that say a range, the narrowest first."""

    def __init__(self, labels: Iterable[str]) -> None:
        names = pl.Series(sorted(set(labels) - {STAR}), dtype=pl.String)
        low, high = ends_of(Column("", np.zeros(0, np.uint8), names, 0, names.dtype))
        ordered = np.argsort(high - low, kind="stable")
        self.names = [names[place] for place in ordered.tolist() if low[place] < high[place]]

    def narrowest(self, leaf: str) -> str | None:
        """The narrowest label that holds a leaf."""
        if not self.names:
            return None
        inside = held(pl.Series([leaf] * len(self.names)), pl.Series(self.names))
        return self.names[int(inside.argmax())] if inside.any() else None


def _path(own: list[str], parents: list[dict[str, str]], ranges: list[_LevelRanges]) -> list[str]:
    """The labels above a leaf, up to `*`; a node that it moves to takes its own path along."""
    leaf = own[0]
    found: list[str | None] = []
    moved = False
    for level in range(1, len(own) - 1):
        below = found[-1] if found else None
        along = parents[level - 1].get(below) if moved and below is not None else own[level]
        if along is None or not held(pl.Series([leaf]), pl.Series([along]))[0]:
            along, moved = ranges[level].narrowest(leaf), True
        found.append(along)
    known = [level for level, label in enumerate(found) if label not in (None, STAR)]
    last = max(known, default=-1)
    filled = [label if label is not None else (leaf if level < last else STAR) for level, label in enumerate(found)]
    return [*filled, STAR]


def _parents(below: list[str], above: list[str], sound: np.ndarray) -> dict[str, str]:
    """The parent of each node, by the leaves that lie where they should."""
    return {child: parent for child, parent, good in zip(below, above, sound.tolist(), strict=True) if good}


def check_hierarchies(
    source: Sequence[str | Path],
    *,
    data: Any = None,
    fix: bool = False,
    output: str | Path | None = None,
    force: bool = False,
    options: Options | None = None,
) -> CheckedHierarchies:
    """Read hierarchies (files, folders) with all their problems at once, and hold them against a table.

    `fix` moves each leaf that lies outside a label under the labels that hold it and writes the tree to `output` (a
    folder, or a file for one tree); without it the file itself is replaced and the old one is kept as `FILE.orig`.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "town.csv").write_text("Lyon;FR\\nRome;IT\\n")
    >>> found = check_hierarchies([folder], data={"town": ["Lyon", "Oslo"]})[0]
    >>> found.nodes, found.missing
    ([2, 2, 1], 1)
    """
    files = [file for path in source for file in (files_in(path) if Path(path).is_dir() else [Path(path)])]
    if not files:
        raise InputError(
            "There is no hierarchy in these folders.", "Hierarchies are files such as age.csv or town.yaml."
        )
    table = None if data is None else read(data, options=options)
    owned = {} if table is None else files_of_columns(files, table.names)
    claimed = {path for own in owned.values() for path in own}
    for path in files:
        if path not in claimed:
            owned.setdefault(path.stem, []).append(path)
    owned = {column: own for column, own in owned.items() if own}
    trees = read_owned(owned)
    if output is not None and not fix:
        raise InputError(Message("`{output}` is for a corrected hierarchy."), Message("Give `{fix}` too."))
    written = _fixed_files(trees, {name: owned[name][0] for name in trees}, output, force) if fix else {}
    columns = {} if table is None else table.columns
    checked = [_checked(tree, owned[name][0], columns.get(name), written) for name, tree in trees.items()]
    return CheckedHierarchies(checked, with_data=table is not None)


def _checked(
    hierarchy: Hierarchy, file: Path, column: Column | None, written: dict[Path, tuple[Path, int, int]]
) -> CheckedHierarchy:
    outside = np.flatnonzero(leaves_outside(hierarchy)) + 1
    output, moved, below_star = written.get(file, (None, 0, 0))
    return CheckedHierarchy(
        hierarchy.column,
        str(file),
        hierarchy.leaves,
        hierarchy.height,
        hierarchy.sizes,
        len(outside),
        outside.tolist(),
        None if column is None else fit(hierarchy, column).missing,
        None if output is None else str(output),
        moved,
        below_star,
    )


def _fixed_files(
    trees: dict[str, Hierarchy], files: dict[str, Path], output: str | Path | None, force: bool
) -> dict[Path, tuple[Path, int, int]]:
    """Write the trees that had to be corrected; per file where, how many leaves moved, how many are below `*`.

    A folder that is named as `output` gets the other trees too, as they are.
    """
    better = {name: fixed(tree) for name, tree in trees.items() if leaves_outside(tree).any()}
    targets = {name: _target(files[name], output, len(better)) for name in better}
    for name, target in targets.items():
        backup = files[name].with_name(files[name].name + ".orig")
        if target != files[name] and target.exists() and not force:
            raise InputError(f"{target} exists already.", Message("Use `{force}` to replace it."))
        if target == files[name] and backup.exists() and not force:
            raise InputError(
                f"{backup} exists already.", Message("Move it away, name an `{output}`, or use `{force}`.")
            )
    for name, target in targets.items():
        target.parent.mkdir(parents=True, exist_ok=True)
        if target == files[name]:
            target.with_name(target.name + ".orig").write_bytes(target.read_bytes())
        tree = better[name].tree
        tree.to_csv(target) if target.suffix.lower() == ".csv" else tree.to_yaml(target)
    if better and output is not None and Path(output).is_dir():  # a folder of all trees, so that it can be given on
        for file in {*files.values()} - {files[name] for name in better}:
            if not (Path(output) / file.name).exists() or force:
                shutil.copyfile(file, Path(output) / file.name)
    return {files[name]: (targets[name], found.moved, found.below_star) for name, found in better.items()}


def _target(file: Path, output: str | Path | None, count: int) -> Path:
    if output is None:
        return file
    output = Path(output)
    if output.suffix.lower() not in (".csv", ".yaml", ".yml"):
        return output / file.name
    if count > 1:
        raise InputError(f"{output} is one file for {count} hierarchies.", "Name a folder.")
    return output
