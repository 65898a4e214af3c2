"""Look at hierarchies before they are used: size, levels, labels that do not hold their leaf, values without a leaf."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from shoal.errors import InputError
from shoal.hierarchy.fit import fit
from shoal.hierarchy.fix import fixed
from shoal.hierarchy.given import files_in, files_of_columns, read_owned
from shoal.hierarchy.outside import leaves_outside
from shoal.hierarchy.results import CheckedHierarchies, CheckedHierarchy
from shoal.hierarchy.tree import Hierarchy
from shoal.reading import Options, read
from shoal.table import Column


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
        raise InputError("`output` is for a corrected hierarchy.", "Give `fix` too.")
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
            raise InputError(f"{target} exists already.", "Use `force` to replace it.", settings="force")
        if target == files[name] and backup.exists() and not force:
            raise InputError(f"{backup} exists already.", "Move it away, name an `output`, or use `force`.")
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
