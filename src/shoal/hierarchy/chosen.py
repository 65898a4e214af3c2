"""The hierarchies of a policy and of a folder, and those that are built where none is given."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from shoal.errors import InputError
from shoal.hierarchy.tree import Hierarchy
from shoal.table import Column


def given_hierarchies(given: Any, columns: Iterable[str]) -> dict[str, Hierarchy]:
    """Hierarchies from a folder, or from a mapping of columns to trees, files or rows; only of these columns.

    >>> found = given_hierarchies({"sex": [["f", "*"], ["m", "*"]]}, ["sex", "age"])
    >>> {name: tree.height for name, tree in found.items()}
    {'sex': 2}
    """
    names = list(columns)
    if not given:
        return {}
    if isinstance(given, (str, Path)):
        from shoal.hierarchy.given import read_hierarchies

        return read_hierarchies(given, names)
    if not isinstance(given, Mapping):
        raise InputError("Hierarchies are a folder or a mapping of columns.", "Give {'age': 'age.csv'}, for example.")
    return {name: _tree(given[name], name) for name in names if name in given}


def columns_with_trees(given: Any, columns: Iterable[str]) -> set[str]:
    """The columns that a hierarchy is given for, without reading any.

    >>> columns_with_trees({"sex": [["f", "*"], ["m", "*"]]}, ["sex", "age"])
    {'sex'}
    """
    if isinstance(given, (str, Path)):
        from shoal.hierarchy.given import files_in, files_of_columns

        found = files_in(given) if Path(given).is_dir() else []
        return {name for name, files in files_of_columns(found, columns).items() if files}
    return {name for name in columns if name in (given or {})}


def check_files(given: Any) -> None:
    """Refuse a folder or a file of hierarchies that is not there, without reading any.

    >>> check_files({"age": "/no/age.csv"})
    Traceback (most recent call last):
    shoal.errors.InputError: There is no file /no/age.csv. ...
    """
    if not given:
        return
    if isinstance(given, (str, Path)):
        from shoal.hierarchy.given import files_in

        files_in(given)
    elif isinstance(given, Mapping):
        for one in given.values():
            if isinstance(one, (str, Path)) and not Path(one).exists():
                raise InputError(f"There is no file {one}.", "Name the file that holds the hierarchy.")


def _tree(given: Any, name: str) -> Hierarchy:
    if isinstance(given, Hierarchy):
        return given
    if isinstance(given, (str, Path)):
        from shoal.hierarchy.given import read_hierarchy

        return read_hierarchy(given, name)
    rows = [[str(cell) for cell in row] for row in given]
    if not rows or len({len(row) for row in rows}) != 1:
        raise InputError(f"The hierarchy of column '{name}' has no rows, or rows of unequal length.", "Fix them.")
    levels = [pl.Series(list(level), dtype=pl.String) for level in zip(*rows, strict=True)]
    if not (levels[-1] == "*").all():
        levels.append(pl.Series(["*"] * len(rows)))
    return Hierarchy(name, tuple(levels))


def trees_in_values(given: Mapping[str, Hierarchy], columns: Iterable[Column]) -> dict[str, Hierarchy]:
    """Trees that are written as their columns are, with labels that are cells of values (`Declared.unspell`).

    >>> from shoal.reading import Options, read
    >>> how = Options(types={"seen": {"type": "date", "format": "%m/%d/%Y"}})
    >>> tree = given_hierarchies({"seen": [["03/14/2021", "2021", "*"]]}, ["seen"])
    >>> trees_in_values(tree, [read({"seen": ["03/14/2021"]}, options=how)["seen"]])["seen"].levels[0].to_list()
    ['2021-03-14']
    """
    found = dict(given)
    for column in columns:
        tree, declared = given.get(column.name), column.declared
        if tree is None or tree.in_values or declared is None or not declared.spells:
            continue
        leaves = declared.cell_of(tree.levels[0]).fill_null(declared.unspell(tree.levels[0]))
        levels = (leaves, *(declared.unspell(level) for level in tree.levels[1:]))
        found[column.name] = Hierarchy(tree.column, levels, tree.source, in_values=True)
    return found


def complete(given: Mapping[str, Hierarchy], columns: Iterable[Column]) -> tuple[dict[str, Hierarchy], dict[str, str]]:
    """A hierarchy for every column, and for those that were built how."""
    trees, built = {}, {}
    for column in columns:
        if column.name in given:
            trees[column.name] = given[column.name]
        else:
            from shoal.hierarchy.build import build_hierarchy

            trees[column.name] = build_hierarchy(column)
            built[column.name] = trees[column.name].source
    return trees, built


def rows_of(tree: Hierarchy) -> list[list[str]]:
    """A tree as rows: leaf, level 1, ..., `*`."""
    return [list(row) for row in zip(*(level.to_list() for level in tree.levels), strict=True)]
