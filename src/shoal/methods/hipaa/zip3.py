"""ZIP codes to three digits where more than 20,000 people live, by counts with their source and vintage.

45 CFR 164.514(b)(2)(i)(B): the first three digits may stay if all ZIP codes that share them hold more than 20,000
people by the Census; else they become 000. A list of prefixes would grow old unseen; counts say when they were taken.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import polars as pl

from shoal.errors import InputError
from shoal.storage.folding import fold

LEAST_PEOPLE = 20_000
RESTRICTED = "000"
_SHIPPED = Path(__file__).with_name("zip3_population_2010.csv")


@dataclass(frozen=True)
class Populations:
    """People per three-digit prefix, with their source and vintage."""

    people: dict[str, int] = field(repr=False)
    source: str
    vintage: str

    @property
    def kept(self) -> frozenset[str]:
        """The prefixes in which more than 20,000 people live.

        >>> len(shipped().people), len(shipped().kept)
        (891, 873)
        """
        return frozenset(prefix for prefix, people in self.people.items() if people > LEAST_PEOPLE)


def read_populations(path: str | Path) -> Populations:
    """Counts from a file: two lines `# source: …` and `# vintage: …`, then `zip3,population` and the figures."""
    path = Path(path)
    cure = "Write '# source: …' and '# vintage: …', then the header zip3,population and one line per prefix."
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        raise InputError(f"{path} cannot be read as counts of people per ZIP prefix.", cure) from None
    said = dict(line[1:].strip().split(": ", 1) for line in lines if line.startswith("#") and ": " in line)
    rows = [line.split(",") for line in lines if line and not line.startswith("#")]
    if not {"source", "vintage"} <= said.keys() or not rows or rows[0] != ["zip3", "population"]:
        raise InputError(f"{path} does not say its source and vintage, or has another header.", cure)
    if not all(
        len(row) == 2 and len(row[0]) == 3 and row[0].isdecimal() and row[1].isdecimal() and row[0].isascii()
        for row in rows[1:]
    ):
        raise InputError(f"{path} has lines that are not three digits and a count.", cure)
    people = {prefix: int(count) for prefix, count in rows[1:]}
    if len(people) != len(rows) - 1:
        raise InputError(f"{path} names a prefix twice.", cure)
    return Populations(people, said["source"], said["vintage"])


@cache
def shipped() -> Populations:
    """The counts that come with shoal.

    >>> shipped().vintage
    'Census 2010'
    """
    return read_populations(_SHIPPED)


@dataclass(frozen=True)
class Prefixes:
    """The prefix of each distinct value, and how many values had lost a leading zero."""

    prefixes: pl.Series
    repaired: int


def to_prefixes(values: pl.Series, populations: Populations | None = None) -> Prefixes:
    """ZIP codes, ZIP+4 codes and prefixes to three digits; what has too few people or no reading, to 000.

    >>> to_prefixes(pl.Series(["10001", "10001-1234", "03601", "00601", "SW1A"])).prefixes.to_list()
    ['100', '100', '000', '000', '000']
    >>> to_prefixes(pl.Series([2139, 10001])).prefixes.to_list(), to_prefixes(pl.Series([2139, 10001])).repaired
    (['021', '100'], 1)
    """
    texts = _texts(values)
    # three digits or fewer everywhere: a column of prefixes, else of codes that may have lost zeros
    only_prefixes = bool(texts.str.contains(r"^\d{1,3}$").all())
    if values.dtype.is_numeric() and ((values >= 501) & (values <= 999)).all():
        only_prefixes = False  # 00501 to 00999 without their zeros, most of them of Puerto Rico
    if only_prefixes:
        short = texts.str.contains(r"^\d{1,2}$")
        prefix = texts.str.zfill(3)
    else:
        code = texts.str.extract(r"^(\d{3,5})(?:[- ]?\d{4})?$", 1)
        code = code.zip_with(
            (texts.str.len_bytes() < 8).fill_null(True), texts.str.extract(r"^(\d{4,5})[- ]?\d{4}$", 1)
        )
        masked = texts.str.extract(r"^(\d{3})(?:\d[*xX]|[*xX]{2})$", 1)
        short = code.str.len_bytes().is_in([3, 4]) & masked.is_null()
        prefix = masked.fill_null(code.str.zfill(5).str.slice(0, 3))
    kept = (populations or shipped()).kept
    known = prefix.is_in(sorted(kept)).fill_null(False)
    prefixes = prefix.zip_with(known, pl.Series([RESTRICTED]).new_from_index(0, len(prefix)))
    return Prefixes(prefixes, int(short.fill_null(False).sum()))


def _texts(values: pl.Series) -> pl.Series:
    """As text, without the decimals that numbers beside missing ones get."""
    if values.dtype.is_numeric():
        return values.cast(pl.Int64, strict=False).cast(pl.String).fill_null("")
    return fold(values.cast(pl.String)).str.strip_chars().str.replace(r"^(\d+)\.0$", "${1}").fill_null("")
