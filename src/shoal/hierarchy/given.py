"""Hierarchies that people give: CSV (`leaf;level1;…;*`, no header) or nested YAML, with all problems at once."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from shoal.errors import InputError
from shoal.hierarchy.problems import HierarchyError, codes_of, find_problems
from shoal.hierarchy.tree import Hierarchy
from shoal.ranges.parsing import STAR
from shoal.reading.small import read_small

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
