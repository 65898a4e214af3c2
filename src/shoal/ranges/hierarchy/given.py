"""Hierarchies that people give: CSV (`leaf;level1;…;*`, no header) or nested YAML, with all problems at once."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from shoal.errors import InputError
from shoal.ranges.hierarchy.tree import Hierarchy, HierarchyError, codes_of, find_problems
from shoal.ranges.parsing import STAR
from shoal.storage import Array, Column
from shoal.storage.reading.bytes import read_small
from shoal.storage.texts import texts_of

ENDINGS = (".csv", ".yaml", ".yml")


class _Problems(Exception):
    """What is wrong with one file."""

    def __init__(self, problems: list[str]) -> None:
        self.problems = problems


def read_hierarchy(path: str | Path, column: str | None = None) -> Hierarchy:
    """A hierarchy from a CSV or YAML file, for the column that is named or else has the name of the file.

    A top `*` is added where it is missing. In YAML a leaf that stands higher than others is repeated upward.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp(), "town.csv")
    >>> _ = file.write_text("Lyon;FR\\nRome;IT\\n")
    >>> [level.to_list() for level in read_hierarchy(file).levels]
    [['Lyon', 'Rome'], ['FR', 'IT'], ['*', '*']]
    """
    path = Path(path)
    try:
        return _read(path, path.stem if column is None else column)
    except _Problems as found:
        raise HierarchyError([(path.name, problem) for problem in found.problems]) from None


def read_hierarchies(directory: str | Path, columns: Iterable[str]) -> dict[str, Hierarchy]:
    """The hierarchies of a folder: for column c the file `c.csv` (or .yaml) or the one that ends in `_c.csv`.

    Columns without a file are left out; two files for one column are an error, and so is a file that is not a tree. All
    problems are raised together.
    """
    return read_owned(files_of_columns(files_in(directory), columns))


def files_in(directory: str | Path) -> list[Path]:
    """The files of a folder that may be hierarchies."""
    directory = Path(directory)
    if not directory.is_dir():
        raise InputError(f"There is no folder {directory}.", "Name the folder that holds the hierarchies.")
    return sorted(path for path in directory.iterdir() if path.suffix.lower() in ENDINGS and path.is_file())


def files_of_columns(files: Iterable[Path], columns: Iterable[str]) -> dict[str, list[Path]]:
    """The files of each column; where a name fits two columns, it is the longer one's.

    >>> found = files_of_columns([Path("marital_status.csv"), Path("my_status.csv")], ["status", "marital_status"])
    >>> {column: [path.name for path in paths] for column, paths in found.items()}
    {'status': ['my_status.csv'], 'marital_status': ['marital_status.csv']}
    """
    found: dict[str, list[Path]] = {column: [] for column in columns}
    for path in files:
        fitting = [column for column in found if path.stem == column or path.stem.endswith(f"_{column}")]
        if fitting:
            found[max(fitting, key=len)].append(path)
    return found


def read_owned(files: Mapping[str, Sequence[Path]]) -> dict[str, Hierarchy]:
    """The hierarchy of each column that has a file; all problems of all files are raised together."""
    found: dict[str, Hierarchy] = {}
    problems = []
    for column, own in files.items():
        if len(own) > 1:
            names = " and ".join(path.name for path in own)
            problems.append((f"column '{column}'", f"{names} could both be its hierarchy: keep one"))
        elif own:
            try:
                found[column] = _read(own[0], column)
            except _Problems as wrong:
                problems += [(own[0].name, problem) for problem in wrong.problems]
    if problems:
        raise HierarchyError(problems)
    return found


def _read(path: Path, column: str) -> Hierarchy:
    try:
        text = read_small(path).decode("utf-8-sig")  # line ends within a cell stay as they are
    except FileNotFoundError:
        raise InputError(f"There is no hierarchy {path}.", "Check its name.") from None
    except UnicodeDecodeError:
        raise _Problems(["it is not UTF-8 text: save it as UTF-8"]) from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.", "Check its name and rights.") from None
    if path.suffix.lower() not in ENDINGS:
        raise InputError(f"{path} is not a hierarchy.", "Use a CSV file (leaf;level1;…;*) or nested YAML.")
    if path.suffix.lower() == ".csv":
        (rows, numbers, problems), word = _rows_of_csv(text), "row"
    else:
        (rows, numbers), problems, word = _rows_of_yaml(text), [], "line"
    levels = [pl.Series(list(cells), dtype=pl.String) for cells in zip(*rows, strict=True)]
    if len(levels) == 1 or not (levels[-1] == STAR).all():
        levels.append(pl.Series([STAR] * len(rows)))
    empty = np.logical_or.reduce([(level == "").to_numpy() for level in levels[1:]])
    empty &= (levels[0] != "").to_numpy()
    problems += [f"{word} {number} has an empty label" for number in np.array(numbers)[empty]]
    problems += find_problems(levels, [codes_of(level) for level in levels], np.array(numbers), word)
    if problems:
        raise _Problems(problems)
    return Hierarchy(column, tuple(levels))


def _rows_of_csv(text: str) -> tuple[list[list[str]], list[int], list[str]]:
    """Cells row by row, the numbers of the rows, and what is wrong; blank lines are passed over."""
    try:
        numbered = [(number, row) for number, row in enumerate(_cells(text), 1) if row]
    except csv.Error:
        raise _Problems(["it cannot be read as CSV: a quote is not closed, or a cell is endless"]) from None
    if not numbered:
        raise _Problems(["it is empty"])
    width = Counter(len(row) for _, row in numbered).most_common(1)[0][0]
    ragged = [f"row {number} has {len(row)} cells, others {width}" for number, row in numbered if len(row) != width]
    even = [(number, row) for number, row in numbered if len(row) == width]
    if width == 1 and all("," in row[0] or "\t" in row[0] for _, row in even):
        raise _Problems(["its cells are not separated by `;`"])
    return [row for _, row in even], [number for number, _ in even], ragged


def _cells(text: str) -> Iterable[list[str]]:
    return csv.reader(io.StringIO(text, newline=""), delimiter=";", strict=True)


def _rows_of_yaml(text: str) -> tuple[list[list[str]], list[int]]:
    """Leaf, its nodes upward, and the line of the leaf."""
    import yaml

    try:
        if aliases := [token.start_mark.line for token in yaml.scan(text) if isinstance(token, yaml.AliasToken)]:
            raise _Problems([f"line {line + 1}: write it out, references (*name) are not read" for line in aliases])
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        paths: list[tuple[list[str], int]] = []
        _walk(root, [], paths)
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        raise _Problems([f"line {mark.line + 1}: this is not YAML" if mark else "this is not YAML"]) from None
    if not paths:
        raise _Problems(["it is empty"])
    if _is_root(root):
        paths = [(path[1:], line) for path, line in paths]
    depth = max(len(path) for path, _ in paths)
    # a leaf that stands higher than others is its own parent down to their depth
    rows = [[*reversed(path + path[-1:] * (depth - len(path))), STAR] for path, _ in paths]
    return rows, [line for _, line in paths]


def _is_root(node: Any) -> bool:
    """Whether a mapping has the one key `*`, above everything."""
    pairs = node.value if node.id == "mapping" else []
    return len(pairs) == 1 and pairs[0][0].value == STAR and pairs[0][1].id != "scalar"


def _walk(node: Any, path: list[str], paths: list[tuple[list[str], int]]) -> None:
    """Collect the paths to the leaves: keys are nodes, texts of lists and keys with nothing behind them are leaves."""
    if node is None:
        return
    if node.id == "scalar":
        if node.tag == "tag:yaml.org,2002:null" and node.value in ("", "~"):
            raise _Problems([f"line {node.start_mark.line + 1} has an empty leaf"])
        paths.append(([*path, node.value], node.start_mark.line + 1))
    elif node.id == "sequence":
        for item in node.value:
            _walk(item, path, paths)
    else:
        for key, below in node.value:
            if key.id != "scalar":
                raise _Problems([f"line {key.start_mark.line + 1}: a node is a text"])
            if below.id == "scalar" and below.tag == "tag:yaml.org,2002:null":
                paths.append(([*path, key.value], key.start_mark.line + 1))
            else:
                _walk(below, [*path, key.value], paths)


# The hierarchies of a policy and of a folder, and those that are built where none is given.


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
        files_in(given)
    elif isinstance(given, Mapping):
        for one in given.values():
            if isinstance(one, (str, Path)) and not Path(one).exists():
                raise InputError(f"There is no file {one}.", "Name the file that holds the hierarchy.")


def _tree(given: Any, name: str) -> Hierarchy:
    if isinstance(given, Hierarchy):
        return given
    if isinstance(given, (str, Path)):
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

    >>> from shoal.storage.reading import Options, read
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
            from shoal.ranges.hierarchy.build import build_hierarchy

            trees[column.name] = build_hierarchy(column)
            built[column.name] = trees[column.name].source
    return trees, built


def rows_of(tree: Hierarchy) -> list[list[str]]:
    """A tree as rows: leaf, level 1, ..., `*`."""
    return [list(row) for row in zip(*(level.to_list() for level in tree.levels), strict=True)]


# One step of a hierarchy that is built: the node of each value, and the label of each node.


Step: TypeAlias = tuple[Array, pl.Series]


def stacked(column: str, leaves: pl.Series, steps: Iterable[Step], source: str, least: int = 2) -> Hierarchy:
    """Levels from steps, finest first, each joining nodes of the one before; a level that joins nothing is left out.

    Above the first level it goes on while `least` nodes are left.

    >>> steps = [(np.array([0, 0, 1]), pl.Series(["x", "y"])), (np.array([0, 0, 0]), pl.Series(["all"]))]
    >>> [level.to_list() for level in stacked("c", pl.Series(["a", "b", "c"]), steps, "by hand").levels]
    [['a', 'b', 'c'], ['x', 'x', 'y'], ['*', '*', '*']]
    """
    levels, nodes = [leaves.alias("")], len(leaves)
    for codes, labels in steps:
        if len(labels) < (2 if len(levels) == 1 else least):
            break
        if len(labels) < nodes:
            levels.append(labels.gather(codes).alias(""))
            nodes = len(labels)
    top = pl.Series([STAR], dtype=pl.String).new_from_index(0, len(leaves))
    return Hierarchy(column, (*levels, top), source)


def leaf_texts(column: Column) -> pl.Series:
    """The values of a column as the texts of leaves; spans of time and bytes have none."""
    if column.values.dtype in (pl.Duration, pl.Binary):
        raise InputError(
            f"Column '{column.name}' holds spans of time or bytes, which have no hierarchy.",
            "Turn them into numbers or text first.",
        )
    return texts_of(column.values)


def spans(texts: pl.Series, nodes: Array) -> Step:
    """Neighbouring values joined: `nodes` rises along them, labels are `[first;last]`; a value alone stays itself.

    >>> codes, labels = spans(pl.Series(["1", "2", "9"]), np.array([0, 0, 3]))
    >>> codes.tolist(), labels.to_list()
    ([0, 0, 1], ['[1;2]', '9'])
    """
    new = np.append(True, nodes[1:] != nodes[:-1])[: len(nodes)]
    first = np.flatnonzero(new)
    last = np.append(first[1:], len(nodes))[: len(first)] - 1
    low, high = texts.gather(first), texts.gather(last)
    return np.cumsum(new) - 1, low.zip_with(pl.Series(first == last), "[" + low + ";" + high + "]")
