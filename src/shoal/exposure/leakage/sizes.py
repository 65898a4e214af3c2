"""How many persons share each class: what every law of a leak starts from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from shoal.errors import InputError
from shoal.storage import Array

# past this, counts of persons are no longer whole numbers in a double
MOST_PERSONS = 2**53


@dataclass(frozen=True)
class ClassSizes:
    """`counts[i]` classes have `sizes[i]` persons; sizes ascend.

    >>> ClassSizes.of({3: 2, 4: 1}).persons, ClassSizes.of([3, 4, 3]).to_dict()
    (10, {3: 2, 4: 1})
    """

    sizes: Array
    counts: Array

    @classmethod
    def of(cls, given: Mapping[int, int] | Iterable[int] | ClassSizes) -> ClassSizes:
        """From a mapping of sizes to numbers of classes, or from the size of each class."""
        if isinstance(given, ClassSizes):
            return given
        if isinstance(given, Mapping):
            pairs = sorted((whole_number(size), whole_number(count)) for size, count in given.items())
            pairs = [(size, count) for size, count in pairs if count]
            sizes, counts = [size for size, _ in pairs], [count for _, count in pairs]
        else:
            each = np.asarray(
                given if isinstance(given, np.ndarray) else [whole_number(size) for size in given], np.int64
            )
            distinct, times = np.unique(each, return_counts=True)
            sizes, counts = distinct.tolist(), times.tolist()
        if not sizes or sizes[0] < 1:
            raise InputError(
                "Class sizes are whole numbers, one and more, at least one of them.", "Write 3:2,4:1 for 3, 3 and 4."
            )
        if sum(size * count for size, count in zip(sizes, counts, strict=True)) > MOST_PERSONS:
            raise InputError("The classes hold more persons than can be counted.", "Check the class sizes.")
        return cls(np.asarray(sizes, np.int64), np.asarray(counts, np.int64))

    @classmethod
    def equal(cls, persons: int, size: int) -> ClassSizes:
        """As many classes of one size as there is room for; who is left forms one smaller class.

        >>> ClassSizes.equal(10_000, 15).to_dict()
        {10: 1, 15: 666}
        """
        rest = persons % size
        return cls.of({size: persons // size} | ({rest: 1} if rest else {}))

    @property
    def persons(self) -> int:
        """Everybody in a class."""
        return int((self.sizes * self.counts).sum())

    @property
    def classes(self) -> int:
        """How many classes there are."""
        return int(self.counts.sum())

    @property
    def k(self) -> int:
        """The smallest class."""
        return int(self.sizes[0])

    def to_dict(self) -> dict[int, int]:
        """Size to number of classes."""
        return dict(zip(self.sizes.tolist(), self.counts.tolist(), strict=True))

    def each(self) -> Array:
        """The size of each class, one entry a class."""
        return np.repeat(self.sizes, self.counts)


def parse_sizes(text: str) -> ClassSizes:
    """Class sizes as they are typed: `3:2,4:1` is two classes of 3 and one of 4; `5` alone is one class of 5.

    >>> parse_sizes("3:2, 4").to_dict()
    {3: 2, 4: 1}
    """
    found: dict[int, int] = {}
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d{1,16})\s*(?::\s*(\d{1,16})\s*)?", part)
        if not match:
            raise InputError(f"Class sizes '{text}' cannot be read.", "Write 3:2,4:1 for two classes of 3, one of 4.")
        size = int(match[1])
        found[size] = found.get(size, 0) + int(match[2] or 1)
    return ClassSizes.of(found)


def check_sums(classes: ClassSizes, persons: int | None) -> None:
    """Refuse class sizes that do not sum to the persons given."""
    if persons is not None and persons != classes.persons:
        raise InputError(
            f"The class sizes sum to {classes.persons:,} persons, not to {persons:,}.",
            "Correct the sizes, or leave the number of persons out.",
        )


def whole_number(number: object) -> int:
    """A count as an integer, whichever kind of integer it came as.

    >>> whole_number(np.int32(5))
    5
    """
    if isinstance(number, bool) or not isinstance(number, (int, np.integer)) or number < 0:
        raise InputError(
            "Persons and class sizes are whole numbers.",
            "Write {3: 2, 4: 1} or [3, 3, 4].",
        )
    return int(number)
