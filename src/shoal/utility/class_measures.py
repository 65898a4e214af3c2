"""What is left of a table, by the sizes of its classes."""

from __future__ import annotations

from shoal.table import Array


def discernibility(sizes: Array, suppressed: int, records: int) -> float:
    """The mean number of records that a record cannot be told from, over all records: (sum size² + suppressed N) / N².

    >>> import numpy as np
    >>> discernibility(np.array([2, 2]), 0, 4)
    0.5
    """
    return discernibility_of(float((sizes.astype(float) ** 2).sum()), suppressed, records)


def discernibility_of(squares: float, suppressed: int, records: int) -> float:
    """The same by the sum of the squares of sizes.

    >>> discernibility_of(8.0, 0, 4)
    0.5
    """
    return float((squares + suppressed * records) / records**2)


def average_class_size(sizes: Array, suppressed: int, records: int) -> float:
    """Records per class over records (LeFevre et al.), the suppressed as one class of their own.

    >>> import numpy as np
    >>> average_class_size(np.array([2, 2]), 0, 4)
    0.5
    """
    return average_of(len(sizes), suppressed, records)


def average_of(classes: int, suppressed: int, records: int) -> float:
    """The same by the number of classes.

    >>> average_of(2, 0, 4)
    0.5
    """
    return float(records / (classes + (suppressed > 0)) / records)
