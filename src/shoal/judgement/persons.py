"""Classes of persons: who has the same records here, and the same records in every linked table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shoal.errors import InputError
from shoal.policy import Linked
from shoal.reading import read
from shoal.table import Array, Column
from shoal.table.classes import Coded, Codes, class_of_each_person, class_of_each_row, pack
from shoal.table.texts import texts_of


def classes_of_persons(
    class_of_row: Array, classes: int, person: Codes, linked: Codes | None = None
) -> tuple[Array, int]:
    """The class of each person: equal multisets of records here, and equal records in linked tables; -1 for a code of
    the person column that no row has.

    >>> from shoal.reading import read
    >>> person = read({"patient": ["a", "a", "b", "c", "c"]})["patient"]
    >>> classes_of_persons(np.array([0, 1, 0, 1, 0]), 2, person)[0].tolist()
    [1, 0, 1]
    """
    found, count = class_of_each_person(class_of_row, classes, person)
    there = np.zeros(person.cardinality, bool)
    there[person.codes] = True
    if linked is not None:
        found, count = class_of_each_row(pack([Coded(found, count), Coded(linked.codes[there], linked.cardinality)]))
    of_person = np.full(person.cardinality, -1, np.int64)
    of_person[there] = found
    return of_person, count


def linked_classes(person: Column, linked: Sequence[Linked]) -> Coded | None:
    """The class of each person in all linked tables together; who is not in one is told apart from all who are."""
    if not linked:
        return None
    parts = []
    for link in linked:
        table = read(link.table)
        columns = table.select(link.quasi_identifiers)
        theirs = table.select([link.person])[0]
        if theirs.nulls:
            raise InputError(
                f"Person column '{link.person}' of {link.table} is empty in {theirs.nulls:,} rows.", "Fill it."
            )
        classes, count = classes_of_persons(*class_of_each_row(pack(columns)), theirs)
        places = {text: place for place, text in enumerate(texts_of(theirs.values).to_list())}
        own = [places.get(text, -1) for text in texts_of(person.values).to_list()]
        # whoever has no name here is in no other table
        where = np.array([*own, *([-1] if person.nulls else [])], np.int64)
        parts.append(Coded(np.where(where < 0, count, np.append(classes, -1)[where]), count + 1))
    return Coded(*class_of_each_row(pack(parts)))
