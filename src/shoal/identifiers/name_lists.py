"""Frequent given names and surnames in seven languages, written without accents.

Surnames that are also everyday words (Brown, King, Young, White) are left out: a column of colours is no column of
names. The lists are short on purpose; they lend weight to a column, they do not have to know every name.
"""

from importlib.resources import files


def _names(file: str) -> frozenset[str]:
    """Names set apart by blanks."""
    return frozenset(files("shoal.identifiers").joinpath(file).read_text("utf-8").split())


GIVEN_NAMES, SURNAMES = _names("given_names.txt"), _names("surnames.txt")
ALL_NAMES = GIVEN_NAMES | SURNAMES
