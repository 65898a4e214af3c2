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


def share(value: float | None) -> str:
    """A share in percent, a dash where it is not known."""
    return "–" if value is None else percent(value)


def figure(value: float | None, digits: int = 4) -> str:
    """A figure, a dash where it is not known; counts are whole.

    >>> figure(0.31862511), figure(12345), figure(None), figure(12.5, 2)
    ('0.3186', '12,345', '–', '12.50')
    """
    return "–" if value is None else f"{value:,}" if isinstance(value, int) else f"{value:.{digits}f}"


def between(low: float | None, high: float | None) -> str:
    """The ends of an interval of shares; nothing where they are not known.

    >>> between(-0.0004, 0.0021), between(0.89, 1.0), between(None, None)
    ('0.0% to 0.2%', '89.0% to 100.0%', '')
    """
    if low is None or high is None:
        return ""
    first, last = (round(100 * end, 1) + 0.0 for end in (low, high))  # 0.0, not -0.0
    return f"{first:.1f}% to {last:.1f}%"


def with_interval(value: float | None, low: float | None, high: float | None) -> str:
    """A share with its interval behind it."""
    ends = between(low, high)
    return f"{share(value)} ({ends})" if value is not None and ends else share(value)


def risk_words(risk: float | None) -> str:
    """A risk in percent, and as one in so many where it is near that.

    >>> risk_words(1 / 11), risk_words(1.0), risk_words(None), risk_words(0), risk_words(0.7)
    ('9.1% (1 in 11)', '100%', 'not known', '0%', '70.0%')
    """
    if risk is None:
        return "not known"
    if risk <= 0 or risk >= 1:
        return percent(min(max(risk, 0), 1))
    several = round(1 / risk)
    near = several > 1 and abs(risk * several - 1) <= 0.1
    return f"{percent(risk)} (1 in {several:,})" if near else percent(risk)


def told_apart(first: float, second: float) -> tuple[str, str]:
    """Two shares in percent, with as many digits as it takes to tell them apart.

    >>> told_apart(1 / 11, 0.09), told_apart(0.09004, 0.09), told_apart(0.2, 0.2)
    (('9.1%', '9.0%'), ('9.004%', '9.000%'), ('20.0%', '20.0%'))
    """
    words = percent(first), percent(second)
    for digits in (2, 3, 4, 6):
        if words[0] != words[1] or first == second:
            break
        words = f"{100 * first:.{digits}f}%", f"{100 * second:.{digits}f}%"
    return words


def counted(count: int, word: str) -> str:
    """A number with its noun.

    >>> counted(1, "record"), counted(2000, "record")
    ('1 record', '2,000 records')
    """
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"


def in_words(names: Sequence[str], most: int = 9, more: str = "columns") -> str:
    """A list of names as prose.

    >>> in_words(["age", "sex", "zip"])
    'age, sex and zip'
    """
    most += len(names) == most + 1  # the last one is as short as saying that there is one more
    shown = list(names[:most]) + ([f"{len(names) - most} more {more}"] if len(names) > most else [])
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
