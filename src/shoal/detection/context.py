"""What stands around a column: the other headers of its table, its label, and the labels of its codes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from pathlib import Path

from shoal.dataclasses import dataclass
from shoal.errors import InputError
from shoal.formats.labels import ColumnLabels, Labels, text_of
from shoal.kinds import ColumnView
from shoal.kinds.sources import Listed, listed
from shoal.table import Array, Column, Table

# labels by the names of columns, from a code book or the table's own file
Codebook = Labels


@dataclass(frozen=True)
class Context:
    """The sources that a table looks like, by its headers, and what is written about its columns."""

    listed: Mapping[str, Listed] = field(default_factory=dict)
    codebook: Codebook = field(default_factory=dict)

    def view(self, column: Column, counts: Array, records: int) -> ColumnView:
        """A column for the recognisers, with what is known around it.

        >>> from shoal.reading import read
        >>> import numpy as np
        >>> table = read({"SERIALNO": ["a", "b"], "AGEP": [4, 5], "SCHL": [1, 2]})
        >>> context_of(table.names).view(table["SCHL"], np.array([1, 1]), 2).listed.kind
        'education'
        """
        return self.around(ColumnView(column.name, column.values, counts, records))

    def around(self, view: ColumnView) -> ColumnView:
        """A view with what is known around its column."""
        said = self.codebook.get(view.name, ColumnLabels())
        codes = {text_of(code): label for code, label in said.values.items()}
        return replace(view, listed=self.listed.get(view.name), label=said.label, value_labels=codes)


def context_of(names: Iterable[str], codebook: Codebook | None = None) -> Context:
    """The context of the columns of a table."""
    return Context(listed(names), codebook or {})


def context_of_table(table: Table, codebook: str | Path | Codebook | None = None) -> Context:
    """The context of a table's columns: all headers of its source, its own labels, and a code book before them."""
    if isinstance(codebook, (str, Path)):
        from shoal.detection.codebooks import read_codebook

        codebook = read_codebook(codebook)
    names = table.source_names or [*table.columns, *table.beside]
    if codebook and not set(codebook) & set(names):
        what = "The variable" if len(codebook) == 1 else f"None of the {len(codebook):,} variables"
        raise InputError(
            f"{what} of the code book is {'not ' if len(codebook) == 1 else ''}in the table.",
            "Give the code book of this table, with its columns' names as they are written there.",
            settings="codebook",
        )
    return context_of(names, {**table.labels, **(codebook or {})})
