"""Codes by prefix (ZIP, ICD, NUTS): cut from the right, what is cut is masked with `*`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from shoal.errors import InputError
from shoal.hierarchy.problems import codes_of
from shoal.hierarchy.steps import Step
from shoal.ranges.parsing import STAR
from shoal.table import Column
from shoal.table.texts import texts_of

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

    >>> from shoal.reading import read
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
