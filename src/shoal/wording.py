"""Numbers and lists as people write them."""

from __future__ import annotations

from collections.abc import Sequence


def percent(share: float) -> str:
    """A share as people write it; what is not zero never reads as zero, nor what is not all as all.

    >>> percent(0.7484), percent(0.00001), percent(0.99999), percent(1.0)
    ('74.8%', 'under 0.1%', 'over 99.9%', '100%')
    >>> percent(-0.05), percent(-0.0003)
    ('-5.0%', 'just below 0%')
    """
    if share < 0:
        return "just below 0%" if share > -0.001 else f"-{percent(-share)}"
    if 0 < share < 0.001:
        return "under 0.1%"
    if 0.999 < share < 1:
        return "over 99.9%"
    return f"{100 * share:.0f}%" if share in (0, 1) else f"{100 * share:.1f}%"


def counted(count: int, word: str) -> str:
    """A number with its noun.

    >>> counted(1, "record"), counted(2000, "record")
    ('1 record', '2,000 records')
    """
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"


def in_words(names: Sequence[str], most: int = 9) -> str:
    """A list of names as prose.

    >>> in_words(["age", "sex", "zip"])
    'age, sex and zip'
    """
    shown = list(names[:most]) + ([f"{len(names) - most} more columns"] if len(names) > most else [])
    if not shown:
        return "none"
    return shown[0] if len(shown) == 1 else ", ".join(shown[:-1]) + " and " + shown[-1]


def in_units(count: float) -> str:
    """Bytes as people write them, to three digits.

    >>> in_units(28_000_000_000), in_units(1_540_000), in_units(4096), in_units(12)
    ('28 GB', '1.54 MB', '4.1 kB', '12 bytes')
    """
    for size, unit in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if count >= size:
            return f"{count / size:{'.3g' if count < 999.5 * size else '.0f'}} {unit}"
    return f"{count:.0f} bytes"


def said_of(records: int, suppressed: int, kept: str) -> str:
    """What holds for records, of which some are suppressed in every quasi-identifier.

    >>> said_of(100, 0, "in classes of at least 5"), said_of(100, 3, "in classes of at least 5")
    (', in classes of at least 5', ': 97 in classes of at least 5, 3 suppressed in every quasi-identifier')
    """
    if not suppressed:
        return f", {kept}" if kept else ""
    rest = f"{records - suppressed:,} {kept}, " if kept else ""
    return f": {rest}{suppressed:,} suppressed in every quasi-identifier"
