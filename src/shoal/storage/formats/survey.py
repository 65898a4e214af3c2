"""SPSS, Stata and SAS transport files as they are written, with the labels that their columns came with."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from shoal.errors import InputError, quoted
from shoal.storage.formats import needed
from shoal.storage.formats.cells import fitting, needs_text
from shoal.storage.formats.labels import ColumnLabels, Labels, text_of

# what a code of Stata's extended missing values looks like where the others are numbers
TAGGED = r"^\.[a-z]$"
_NUMBER = r"^-?[0-9]+(\.[0-9]+)?$"
# a declared missing range of SPSS, and how many single codes it may have
_MOST_CODES = 3
# how a column may be named, and at which length in bytes
_NAMES = {
    "SPSS": (r"[^\W\d_][\w.@#$]*", 64),
    "Stata": (r"[^\W\d]\w*", 32),
    "SAS": (r"[A-Za-z_][A-Za-z0-9_]*", 32),
}
# bytes of a text that has a label
_MOST = 120
_LONGEST_LABEL = {"SPSS": 255, "Stata": 80, "SAS": 255}
# texts are filled up with blanks there
_PADDED = ("SPSS", "SAS")
_LONGEST_TEXT = {"SPSS": 32_767, "Stata": 2_000_000, "SAS": 32_767}


def write_spss(frame: pl.DataFrame, path: Path, labels: Labels) -> None:
    """An SPSS file; `.zsav` is compressed."""
    with needed("SPSS", "survey"):
        from pyreadstat import write_sav

    frame, labels = _prepared(frame, "SPSS"), _of(frame, labels)
    _write(
        "SPSS",
        lambda: write_sav(
            frame,
            str(path),
            compress=path.suffix.lower() == ".zsav",
            row_compress=path.suffix.lower() == ".sav",
            column_labels=_column_labels(frame, labels, "SPSS"),
            variable_value_labels={name: _codes(frame[name], own) for name, own in labels.items() if own.values},
            missing_ranges={name: _missing(own) for name, own in labels.items() if own.missing},
            variable_format={name: "F12.0" for name, dtype in frame.schema.items() if dtype == pl.Int64},
        ),
    )


def write_stata(frame: pl.DataFrame, path: Path, labels: Labels) -> None:
    """A Stata file; `.a` to `.z` among the texts of a column of numbers are extended missing values again."""
    with needed("Stata", "survey"):
        from pyreadstat import write_dta

    frame, labels = _prepared(frame, "Stata"), _of(frame, labels)
    tagged = [name for name, own in labels.items() if own.has_tags and _is_numbers_and_tags(frame[name])]
    tags = {name: sorted(frame[name].filter(frame[name].str.contains(TAGGED)).str.slice(1).unique()) for name in tagged}
    whole = frame.with_columns(_untexted(frame[name]) for name in tagged)
    named = {name: _stata_codes(own) for name, own in labels.items() if own.values and whole[name].dtype != pl.String}
    _write(
        "Stata",
        lambda: write_dta(
            whole,
            str(path),
            column_labels=_column_labels(frame, labels, "Stata"),
            variable_value_labels=named,
            missing_user_values=tags,
        ),
    )


def write_sas(frame: pl.DataFrame, path: Path, labels: Labels) -> None:
    """A SAS transport file (version 8); it has no place for labels of codes."""
    with needed("SAS", "survey"):
        from pyreadstat import write_xport

    frame = _prepared(frame, "SAS")
    _write(
        "SAS",
        lambda: write_xport(frame, str(path), column_labels=_column_labels(frame, labels, "SAS"), table_name="DATA"),
    )


def _of(frame: pl.DataFrame, labels: Labels) -> Labels:
    return {name: own for name, own in labels.items() if name in frame.columns}


def _prepared(frame: pl.DataFrame, form: str) -> pl.DataFrame:
    check_names(frame.columns, form)
    frame = fitting(frame, form, needs_text)
    texts = [series for series in frame.get_columns() if series.dtype == pl.String]
    for series in texts:
        if bool((series.str.len_bytes() > _LONGEST_TEXT[form]).any()):
            raise InputError(
                f"Column '{series.name}' has texts that are too long for {form} files.", "Write .parquet or .csv."
            )
        if form in _PADDED and bool(series.str.ends_with(" ").any()):
            raise InputError(
                f"Column '{series.name}' has texts that end in a blank, which {form} files do not keep.",
                "Write .parquet or .csv, or take the blanks away before.",
            )
    return frame.with_columns(series.fill_null("") for series in texts)


def _write(form: str, write: Callable[[], Any]) -> None:
    """Write; the library's own messages may show values."""
    from pyreadstat import PyreadstatError, ReadstatError

    try:
        write()
    except (PyreadstatError, ReadstatError) as error:
        what = "a column has the name of a command there" if "name" in str(error) else "a column does not fit there"
        raise InputError(f"{form} files cannot hold this table: {what}.", "Rename it, or write .parquet.") from None


def check_names(names: list[str], form: str) -> None:
    """Refuse names of columns that a format does not allow, or does not tell apart.

    >>> check_names(["Age", "date of birth"], "SPSS")
    Traceback (most recent call last):
    shoal.errors.InputError: Columns of SPSS files cannot have the names 'date of birth'. ...
    """
    pattern, longest = _NAMES[form]
    wrong = [name for name in names if not re.fullmatch(pattern, name) or len(name.encode()) > longest]
    if wrong:
        raise InputError(
            f"Columns of {form} files cannot have the names {quoted(wrong[:8])}.",
            f"Rename them: letters, digits and _, a letter first, at most {longest} characters; or write .parquet.",
        )
    folded = Counter(name.lower() for name in names)
    if form != "Stata" and (twice := [name for name in names if folded[name.lower()] > 1]):
        raise InputError(f"{form} files do not tell {quoted(twice[:8])} apart.", "Rename them.")


def _column_labels(frame: pl.DataFrame, labels: Labels, form: str) -> dict[str, str | None]:
    found = {name: own.label for name, own in labels.items() if own.label and name in frame.columns}
    return {name: label[: _LONGEST_LABEL[form]] for name, label in found.items() if label}


def _codes(series: pl.Series, own: ColumnLabels) -> dict[Any, str]:
    """The labels of codes, each as a value of the column's type."""
    shown = {text_of(code) if series.dtype == pl.String else code: label for code, label in own.values.items()}
    return {code: label for code, label in shown.items() if not isinstance(code, str) or len(code.encode()) <= _MOST}


def _stata_codes(own: ColumnLabels) -> dict[Any, str]:
    """Labels of whole numbers, and of extended missing values."""
    found = {code.removeprefix(".") if isinstance(code, str) else code: label for code, label in own.values.items()}
    return {code: label for code, label in found.items() if isinstance(code, str) or code == int(code)}


def _missing(own: ColumnLabels) -> list[Any]:
    """Missing codes as SPSS has them: three codes at most, or a range and a code."""
    codes = [low for low, high in own.missing if low == high]
    ranges = [{"lo": low, "hi": high} for low, high in own.missing if low != high]
    return [*ranges[:1], *codes[: 1 if ranges else _MOST_CODES]]


def _is_numbers_and_tags(series: pl.Series) -> bool:
    known = series.filter(series != "") if series.dtype == pl.String else series
    return series.dtype == pl.String and bool((known.str.contains(TAGGED) | known.str.contains(_NUMBER)).all())


def _untexted(series: pl.Series) -> pl.Series:
    """Numbers and letters of extended missing values, in one column."""
    numbers = series.cast(pl.Float64, strict=False)
    letters = series.str.extract(r"^\.([a-z])$")
    cells = np.where(letters.is_not_null(), np.array(letters.to_list(), object), np.array(numbers.to_list(), object))
    return pl.Series(series.name, cells.tolist(), dtype=pl.Object)
