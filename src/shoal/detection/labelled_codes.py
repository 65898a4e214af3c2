"""What a file or a code book says of codes, for the type of a column: those that mean missing, those with a label."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from shoal.detection.column_types import TypeProposal, propose_type
from shoal.detection.scales import order_of
from shoal.formats.labels import ColumnLabels, text_of
from shoal.kinds import Finding
from shoal.table import Array, Column
from shoal.table.column_type import ColumnType
from shoal.table.encode import encode
from shoal.table.texts import texts_of
from shoal.wording import counted

# with fewer labelled codes, a label is of an end (`99 or older`), not of a category
_LEAST_CODES = 2


def propose_labelled_type(
    column: Column, counts: Array, records: int, kinds: Sequence[Finding], said: ColumnLabels
) -> TypeProposal:
    """The type of a column: codes that mean missing are named as such, and codes that all have a label are categories.

    >>> import numpy as np
    >>> from shoal.reading import read
    >>> own = ColumnLabels("Age", {999: "refused"}, ((999, 999),))
    >>> found = propose_labelled_type(read({"age": [31, 44, 999]})["age"], np.array([1, 1, 1]), 3, [], own)
    >>> found.type.type, found.type.missing
    ('number', ('999',))
    """
    if column.declared is not None or not len(column.values) or not (said.missing or said.values):
        return propose_type(column, counts, records, kinds)
    absent = said.declares_missing(column.values)
    rest, left = column.values.filter(~absent), counts[~absent.to_numpy()]
    if said.has_tags:
        rest, left = _as_numbers(rest, left)
    proposal = _of_labels(rest, said) or propose_type(encode(rest.alias(column.name)), left, records, kinds)
    if not absent.any():
        return proposal
    codes = tuple(texts_of(column.values.filter(absent)).to_list())
    known = proposal.type or ColumnType(type="nominal")
    missing = tuple(dict.fromkeys((*known.missing, *codes)))
    why = f"{counted(len(codes), 'code')} that the file declares as missing: `missing` reads them as such."
    return TypeProposal(known.model_copy(update={"missing": missing}), f"{proposal.reason} {why}".strip())


def _of_labels(values: pl.Series, said: ColumnLabels) -> TypeProposal | None:
    """Categories, where every value has a label; in an order where their labels are a scale that is known."""
    labels = {text_of(code): label for code, label in said.values.items()}
    texts = texts_of(values).to_list() if len(values) >= _LEAST_CODES else []
    if not texts or values.dtype.is_temporal() or any(text not in labels for text in texts):
        return None
    if 2 * sum(label.startswith(text) for text, label in labels.items()) > len(labels):  # `34 years`: amounts
        return None
    words = {labels[text]: text for text in texts}
    order = order_of(list(words)) if len(words) == len(texts) else None
    if order is not None:
        places = tuple(words[word] for word in order)
        return TypeProposal(ColumnType(type="ordered", order=places), "Codes whose labels come in an order.")
    return TypeProposal(ColumnType(type="nominal"), "Codes, each with a label: they have no order that is known.")


def _as_numbers(texts: pl.Series, counts: Array) -> tuple[pl.Series, Array]:
    """Texts as numbers, where all of them are: a column with extended missing values (`.a`) came as texts."""
    for dtype in (pl.Int64, pl.Float64):
        if not (numbers := texts.cast(dtype, strict=False)).null_count():
            return numbers.sort(), counts[numbers.arg_sort().to_numpy()]
    return texts, counts
