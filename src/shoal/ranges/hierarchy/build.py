"""Build a hierarchy for a column that has none: by its type, by what kind of data it holds, or as asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, get_args

import numpy as np
import polars as pl

from shoal import progress
from shoal.errors import InputError, Message, Setting, check_at_least, check_choice, quoted
from shoal.identifiers.base import NUMBERED
from shoal.ranges.boxed import check_finite
from shoal.ranges.hierarchy.given import ENDINGS, Step, leaf_texts, stacked
from shoal.ranges.hierarchy.numbers import category_steps, check_numbers, frequency_steps, interval_steps
from shoal.ranges.hierarchy.results import BuiltHierarchies, BuiltHierarchy
from shoal.ranges.hierarchy.tree import Hierarchy, codes_of
from shoal.ranges.parsing import STAR
from shoal.ranges.shipped import is_shipped, place, recognised
from shoal.storage import Column
from shoal.storage.reading import Options, read
from shoal.storage.texts import texts_of
from shoal.storage.writing import check_apart, check_target
from shoal.systems.files import as_one_name, is_file_name
from shoal.vocabulary import HierarchyKind

# Dates: day, month, quarter, year, decade; each a range of days that reads back as one.


_MONTHS = {"month": 1, "quarter": 3, "year": 12, "decade": 120}


def date_steps(column: Column) -> Iterator[Step]:
    """`[2020-01-01;2020-01-31]` and so on; datetimes start with their day.

    >>> from datetime import date
    >>> from shoal.storage.reading import read
    >>> column = read({"born": [date(1990, 1, 31), date(1990, 2, 1), date(2001, 5, 5)]})["born"]
    >>> [labels.to_list()[0] for _, labels in date_steps(column)]
    ['[1990-01-01;1990-01-31]', '[1990-01-01;1990-03-31]', '[1990-01-01;1990-12-31]', '[1990-01-01;1999-12-31]']
    """
    values = column.values
    if values.is_empty():
        return
    if not isinstance(values.dtype, (pl.Date, pl.Datetime)):
        raise InputError(
            f"Column '{column.name}' does not hold dates.", "Write them as 2020-01-31, or use another kind."
        )
    moments = isinstance(values.dtype, pl.Datetime)
    days = values.dt.replace_time_zone(None).cast(pl.Date) if moments else values
    if moments:
        yield _step(days, days, True)
    month = days.dt.year().cast(pl.Int64) * 12 + days.dt.month().cast(pl.Int64) - 1
    for size in _MONTHS.values():
        first = month // size * size
        yield _step(_first_day(first), _first_day(first + size).dt.offset_by("-1d"), moments)


def _first_day(months: pl.Series) -> pl.Series:
    """The first day of a month counted from the year 0."""
    frame = pl.DataFrame({"month": months})
    return frame.select(pl.date(pl.col("month") // 12, pl.col("month") % 12 + 1, 1)).to_series()


def _step(first: pl.Series, last: pl.Series, moments: bool) -> Step:
    _, where, codes = np.unique(first.to_physical().to_numpy(), return_index=True, return_inverse=True)
    low, high = (side.gather(where).dt.to_string("%Y-%m-%d") for side in (first, last))
    if moments:
        low, high = low + " 00:00:00", high + " 23:59:59.999999"
    return codes, "[" + low + ";" + high + "]"


# Codes by prefix (ZIP, ICD, NUTS): cut from the right, what is cut is masked with `*`.


_SIGNS = ".-/_ "


def shape_of(texts: pl.Series) -> pl.Series:
    """Texts with every letter and digit as one sign: codes of one shape are masked sign by sign.

    >>> shape_of(pl.Series(["E11.6", "93701"])).to_list()
    ['xxx.x', 'xxxxx']
    """
    return texts.str.replace_all(r"[\p{L}\p{N}]", "x")


def prefix_steps(column: Column, cut: int = 1) -> Iterator[Step]:
    """At each level `cut` more signs are masked: `937**` where all codes have one shape, else `E11*`.

    Points and dashes at the end of a prefix go with what follows them. Whole numbers are codes with leading zeros.

    >>> from shoal.storage.reading import read
    >>> zips = read({"zip": ["93701", "93702", "10001"]})["zip"]
    >>> [labels.to_list() for _, labels in prefix_steps(zips, 2)]
    [['100**', '937**'], ['1****', '9****']]
    >>> icd = read({"icd": ["E11", "E11.65", "E11.9", "I10"]})["icd"]
    >>> [labels.to_list() for _, labels in prefix_steps(icd)]
    [['E11', 'E11.6*', 'E11.9', 'I10'], ['E11*', 'I10'], ['E11*', 'I10'], ['E1*', 'I1*'], ['E*', 'I*']]
    """
    codes = _codes(column)
    if codes.is_empty():
        return
    longest = _longest(codes)
    shape = shape_of(codes[:1])[0] if shape_of(codes).n_unique() == 1 else None
    for keep in range(longest - cut, 0, -cut):
        prefix = codes.str.slice(0, keep).str.strip_chars_end(_SIGNS)
        nodes = codes_of(prefix)
        stems = prefix.unique(maintain_order=True)
        if shape is None:
            whole = np.zeros(len(stems), bool)
            whole[nodes[(prefix == codes).to_numpy()]] = True
            whole &= np.bincount(nodes) == 1
            labels = stems.zip_with(pl.Series(whole), stems + STAR)
        else:
            masked = pl.Series([shape], dtype=pl.String).str.replace_all("x", STAR).new_from_index(0, len(stems))
            labels = stems + masked.str.slice(stems.str.len_chars())
        yield nodes, labels


def _codes(column: Column) -> pl.Series:
    """The codes as texts; whole numbers with the zeros that they lost."""
    values = column.values
    if values.dtype.is_numeric():
        whole = values.cast(pl.Int64, strict=False)
        if whole.null_count() or (whole < 0).any() or not (whole.cast(pl.Float64) == values.cast(pl.Float64)).all():
            raise InputError(
                f"Column '{column.name}' has negative numbers or fractions: they are not codes.",
                "Use the kind equal-width.",
            )
        texts = whole.cast(pl.String)
        return texts.str.zfill(_longest(texts))
    texts = texts_of(values)
    if texts.str.contains(STAR, literal=True).any():
        raise InputError(f"Column '{column.name}' holds codes that are masked already.", "Build it from the original.")
    return texts


def _longest(texts: pl.Series) -> int:
    return int(texts.str.len_chars().to_numpy().max(initial=0))


_WORDS = {
    "equal-width": "intervals of equal width",
    "powers": "intervals of growing powers",
    "equal-frequency": "intervals of equal frequency",
    "dates": "day, month, quarter, year, decade",
    "prefix": "codes cut from the right",
    "categories": "categories, the rarest joined",
    "boolean": "yes or no",
}
# more than this share of the records in one interval of equal width: intervals of equal frequency tell more
_TOO_FULL = 0.5
# more categories than this are quartered from level to level, not halved
_MANY_CATEGORIES = 16
# fewer texts of one shape may be alike by chance
_CODES_THAT_TELL = 10


def build_hierarchy(
    column: Column,
    kind: HierarchyKind = "auto",
    *,
    width: float | None = None,
    factor: int | None = None,
    groups: int | None = None,
    cut: int | None = None,
) -> Hierarchy:
    """A hierarchy over the distinct values of a column; `source` says how it was built, and why.

    `width`: of the finest intervals. `factor`: how many neighbours each further level joins (2; 10 for powers).
    `groups`: how many intervals of equal frequency at first. `cut`: signs of a code that each level masks.

    >>> from shoal.storage.reading import read
    >>> built = build_hierarchy(read({"age": [17, 18, 23, 31]})["age"])
    >>> built.source, [built.labels(level)[0] for level in range(built.height)]
    ('intervals of equal width', ['17', '[15;19]', '*'])
    """
    tree = _built(column, kind, width, factor, groups, cut)
    if column.declared is None:
        return tree
    # labels as they are read again: 370.00 is 370
    levels = tuple(column.declared.unspell(column.declared.spell(level)) for level in tree.levels)
    return Hierarchy(tree.column, levels, tree.source, in_values=True)


def _built(
    column: Column, kind: HierarchyKind, width: float | None, factor: int | None, groups: int | None, cut: int | None
) -> Hierarchy:
    check_choice(Setting("kind"), kind, get_args(HierarchyKind))
    _check_options(kind, width, factor, groups, cut)
    if kind in ("auto", "equal-width", "powers", "equal-frequency"):
        check_finite(column)
    leaves, reason = leaf_texts(column), ""
    if kind == "auto":
        kind, reason = _choose(column, width, groups, cut)
    if is_shipped(kind):
        placed = place(column, kind)
        return stacked(column.name, leaves, placed.steps(), placed.words())
    steps: Iterable[Step] = ()
    if kind in ("equal-width", "powers"):
        check_numbers(column)
        step = factor or (10 if kind == "powers" else 2)
        width, last = step if kind == "powers" and width is None else width, None
        if column.declared is not None and column.declared.has_order:  # of places: a part of one has no label
            last, width = len(column.declared.type.order or ()) - 1, None if width is None else max(1, round(width))
        steps = interval_steps(column.values, width, step, last)
    elif kind == "equal-frequency":
        if column.values.dtype == pl.String:
            raise InputError(
                f"Column '{column.name}' holds text, which has no order of values.",
                Message("Use {kind} categories."),
            )
        steps = frequency_steps(column, groups, factor or 2)
    elif kind == "dates":
        steps = date_steps(column)
    elif kind == "prefix":
        steps = prefix_steps(column, cut or 1)
    elif kind == "categories":
        steps = category_steps(column, factor or (2 if len(column.values) <= _MANY_CATEGORIES else 4))
    # [0;79] and [80;159] tell little more of an age than `*`
    least = 3 if kind == "equal-width" else 2
    return stacked(column.name, leaves, steps, _WORDS[kind] + reason, least)


def kind_of(column: Column) -> HierarchyKind:
    """The kind of hierarchy that is built for a column where none is named.

    >>> from shoal.storage.reading import read
    >>> kind_of(read({"land": ["FR", "IT", "DE"]})["land"])
    'countries'
    """
    return _choose(column, None, None, None)[0]


def _check_options(
    kind: HierarchyKind, width: float | None, factor: int | None, groups: int | None, cut: int | None
) -> None:
    """Refuse an option that would change nothing, and numbers that make no sense."""
    given = {"width": width, "factor": factor, "groups": groups, "cut": cut}
    takes = {
        "auto": {"width", "factor", "groups", "cut"},
        "equal-width": {"width", "factor"},
        "powers": {"width", "factor"},
        "equal-frequency": {"groups", "factor"},
        "prefix": {"cut"},
        "categories": {"factor"},
    }.get(kind, set())
    for name, value in given.items():
        if value is not None and name not in takes:
            raise InputError(f"A hierarchy of kind {kind} takes no {name}.", "Leave it out, or name another kind.")
    if width is not None and not 0 < width < float("inf"):
        raise InputError(f"A width of {width} makes no intervals.", "Use a number above 0.")
    for name, least in (("factor", 2), ("groups", 2), ("cut", 1)):
        if (value := given[name]) is not None:
            check_at_least(least, int(value), f"The {name}")


def _choose(column: Column, width: float | None, groups: int | None, cut: int | None) -> tuple[HierarchyKind, str]:
    """The kind for a column, and why if its type alone does not say it; an option decides."""
    dtype = column.values.dtype
    if dtype == pl.Boolean or dtype == pl.Null:
        return "boolean", ""
    if width is not None:
        return "equal-width", ""
    if groups is not None:
        return "equal-frequency", ""
    if cut is not None:
        return "prefix", ""
    if isinstance(dtype, (pl.Date, pl.Datetime)):
        return "dates", ""
    if dtype.is_temporal():
        return "equal-frequency", ""
    return _by_content(column)


def _by_content(column: Column) -> tuple[HierarchyKind, str]:
    """The kind for numbers and text, by what they are declared as, else by what detection says of them."""
    if column.declared is not None and (said := _by_type(column, column.declared.word)) is not None:
        return said
    if (listed := recognised(column)) is not None:
        return listed.kind, ""
    kind, rule = _detected(column)
    values = column.values
    if rule.startswith("icd"):
        return ("icd-10", "") if place(column, "icd-10").known == 1 else ("prefix", ", for it looks like ICD codes")
    if kind == "postal-code":
        return "prefix", ", for it looks like postal codes"
    if values.dtype.is_numeric():
        if kind in NUMBERED:
            return "categories", f", for its numbers stand for {kind}"
        return ("equal-frequency", ", for most records lie close together") if _skewed(column) else ("equal-width", "")
    if len(values) >= _CODES_THAT_TELL and shape_of(values).n_unique() == 1:
        codes = values.str.contains(r"^[\p{Lu}0-9][\p{Lu}0-9./-]{2,}$") & values.str.contains("[0-9]")
        if codes.all():
            return "prefix", ", for it looks like codes"
    return "categories", ""


def _by_type(column: Column, word: str) -> tuple[HierarchyKind, str] | None:
    """The kind for a declared type; None where lists that ship may know the categories."""
    if word in ("ordered", "band"):
        return "equal-width", ", places in its order"
    if word == "number":
        return ("equal-frequency", ", for most records lie close together") if _skewed(column) else ("equal-width", "")
    if word == "code":
        return "prefix", ", declared as codes"
    if word in ("boolean", "text"):
        return "boolean", ""
    return None if recognised(column) is not None else ("categories", ", declared as nominal")


def _detected(column: Column) -> tuple[str, str]:
    """The kind of data and the rule that found it, where detection decided; codes that cannot be cut are none."""
    from shoal.identifiers import DECIDED, ColumnView, find_kinds

    count, values = len(column.values), column.values
    masked = values.dtype == pl.String and values.str.contains(STAR, literal=True).any()
    if count == 0 or masked or values.dtype.is_float() or (values.dtype.is_integer() and bool((values < 0).any())):
        return "", ""
    records = column.frequencies()
    found = find_kinds(ColumnView(column.name, values, records, int(records.sum()) + column.nulls))
    return (found[0].kind, found[0].rule) if found and found[0].confidence >= DECIDED else ("", "")


def _skewed(column: Column) -> bool:
    """Whether equal width would put most records into one interval, and equal frequency fewer."""

    def fullest(steps: Iterable[Step]) -> float:
        codes, labels = next(iter(steps), (np.zeros(count, np.int64), pl.Series(["*"])))
        return float(np.bincount(codes, records, len(labels)).max(initial=0) / max(records.sum(), 1))

    count = len(column.values)
    records = column.frequencies()
    wide = fullest(interval_steps(column.values, None, 2))
    return wide > _TOO_FULL and count > 2 and fullest(frequency_steps(column, None, 2)) < wide


# Build hierarchies for columns of a table and write them to files.


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
        tree = build_hierarchy(table[name], kind, width=width, factor=factor, groups=groups, cut=cut)
        trees.append(_spelled(tree, table[name]))
    if folder not in targets:
        folder.mkdir(exist_ok=True)
    for tree, path in zip(trees, targets, strict=True):
        tree.to_csv(path) if path.suffix.lower() == ".csv" else tree.to_yaml(path)
    return BuiltHierarchies([_built_files(tree, path) for tree, path in zip(trees, targets, strict=True)])


def _spelled(tree: Hierarchy, column: Column) -> Hierarchy:
    """A tree as its file has it: with labels as the column is written, not the places of an order."""
    if column.declared is None:
        return tree
    return Hierarchy(tree.column, tuple(column.declared.spell(level) for level in tree.levels), tree.source)


def _built_files(tree: Hierarchy, path: Path) -> BuiltHierarchy:
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
    files = [f"{name}.csv" for name in names]
    alike = Counter(as_one_name(file) for file in files)
    usable = [is_file_name(file) and alike[as_one_name(file)] == 1 for file in files]
    if odd := [name for name, good in zip(names, usable, strict=True) if not good]:
        raise InputError(f"Columns {quoted(odd)} have no name for a file.", "Build them one by one, each to a file.")
    targets = [output / file for file in files]
    for path in targets if output.exists() else ():
        check_target(path, force, ENDINGS)
    return targets
