"""Build hierarchies for columns of a table and write them to files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from shoal import progress
from shoal.errors import InputError, quoted
from shoal.hierarchy.build import build_hierarchy
from shoal.hierarchy.given import ENDINGS
from shoal.hierarchy.results import BuiltHierarchies, BuiltHierarchy
from shoal.hierarchy.tree import Hierarchy
from shoal.reading import Options, read
from shoal.vocabulary import HierarchyKind
from shoal.writing import check_apart, check_target


def build_hierarchies(
    source: Any,
    *,
    output: str | Path,
    columns: Sequence[str] | None = None,
    kind: HierarchyKind = "auto",
    width: float | None = None,
    factor: int | None = None,
    groups: int | None = None,
    cut: int | None = None,
    force: bool = False,
    options: Options | None = None,
) -> BuiltHierarchies:
    """Build hierarchies for columns of a table and write them: one to a file, several to a folder (`c.csv` each).

    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "age.csv"
    >>> build_hierarchies({"age": [17, 18, 23, 31]}, output=target, width=5)[0].nodes
    [4, 3, 1]
    """
    folder = Path(output)
    table = read(source, columns, options)
    targets = _targets(table.names, folder, force)
    check_apart(input=source, hierarchy=targets)
    trees = []
    for number, name in enumerate(table.names):
        progress.report("building hierarchies", number, len(table.names))
        trees.append(build_hierarchy(table[name], kind, width=width, factor=factor, groups=groups, cut=cut))
    if folder not in targets:
        folder.mkdir(exist_ok=True)
    for tree, path in zip(trees, targets, strict=True):
        tree.to_csv(path) if path.suffix.lower() == ".csv" else tree.to_yaml(path)
    return BuiltHierarchies([_built(tree, path) for tree, path in zip(trees, targets, strict=True)])


def _built(tree: Hierarchy, path: Path) -> BuiltHierarchy:
    return BuiltHierarchy(tree.column, tree.source, tree.leaves, tree.height, tree.sizes, str(path), tree)


def _targets(names: Sequence[str], output: Path, force: bool) -> list[Path]:
    """Where each column's hierarchy goes; refused before any work is done."""
    if output.suffix.lower() in ENDINGS and not output.is_dir():
        if len(names) > 1:
            raise InputError(f"{output} is one file for {len(names)} columns.", "Name one column, or a folder.")
        check_target(output, force, ENDINGS)
        return [output]
    if output.is_file() or not output.parent.is_dir():
        raise InputError(f"{output} is not a folder for hierarchies.", "Name a folder, or a file such as age.csv.")
    targets = [output / f"{name}.csv" for name in names]
    if odd := [name for name, path in zip(names, targets, strict=True) if path.name != f"{name}.csv"]:
        raise InputError(f"Columns {quoted(odd)} have no name for a file.", "Build them one by one, each to a file.")
    for path in targets if output.exists() else ():
        check_target(path, force, ENDINGS)
    return targets
