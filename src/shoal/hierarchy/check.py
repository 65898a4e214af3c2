"""Look at hierarchies before they are used: size, levels, labels that do not hold their leaf, values without a leaf."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from shoal.errors import InputError
from shoal.hierarchy.fit import fit
from shoal.hierarchy.given import files_in, files_of_columns, read_owned
from shoal.hierarchy.results import CheckedHierarchies, CheckedHierarchy
from shoal.hierarchy.tree import Hierarchy
from shoal.ranges.parsing import ends_of
from shoal.reading import Options, read
from shoal.table import Array, Column


def check_hierarchies(
    source: Sequence[str | Path], *, data: Any = None, options: Options | None = None
) -> CheckedHierarchies:
    """Read hierarchies (files, folders) with all their problems at once, and hold them against a table.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "town.csv").write_text("Lyon;FR\\nRome;IT\\n")
    >>> found = check_hierarchies([folder], data=pl.DataFrame({"town": ["Lyon", "Oslo"]}))[0]
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
    columns = {} if table is None else table.columns
    checked = [_checked(tree, str(owned[name][0]), columns.get(name)) for name, tree in trees.items()]
    return CheckedHierarchies(checked, with_data=table is not None)


def _checked(hierarchy: Hierarchy, file: str, column: Column | None) -> CheckedHierarchy:
    return CheckedHierarchy(
        hierarchy.column,
        file,
        hierarchy.leaves,
        hierarchy.height,
        hierarchy.sizes,
        int(np.count_nonzero(leaves_outside(hierarchy))),
        None if column is None else fit(hierarchy, column).missing,
    )


def leaves_outside(hierarchy: Hierarchy) -> Array:
    """Which leaves lie outside a label of theirs that reads as a range: `20` under `15-19` is not the truth.

    >>> leaves_outside(Hierarchy("age", tuple(map(pl.Series, (["19", "20"], ["15-19", "15-19"], ["*", "*"]))))).tolist()
    [False, True]
    """
    value, same = _ends(hierarchy.levels[0])
    points = value == same
    outside = np.zeros(hierarchy.leaves, bool)
    for level in hierarchy.levels[1:-1]:
        low, high = _ends(level)
        outside |= points & ((value < low) | (value > high))
    return outside


def _ends(labels: pl.Series) -> tuple[Array, Array]:
    """Each label's ends as numbers, not a number where it has none."""
    low, high = ends_of(Column("", np.zeros(0, np.uint8), labels, 0, labels.dtype))
    return low, high
