"""What chapters are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from shoal.exposure.results import IdentityRisk
from shoal.results import Section

_MOST_TOLD = 12


@dataclass(frozen=True)
class Chapter:
    """A part of a report: its key, its heading, what it is about in a sentence, and what it shows."""

    key: str
    title: str
    about: str
    sections: list[Section] = field(default_factory=list)


def who(risk: IdentityRisk) -> str:
    """Who is counted in classes: persons, where the policy names them, else records."""
    return "record" if risk.persons is None else "person"


def listing(words: str, rows: Sequence[Sequence[str]]) -> str:
    """What a chart shows, for who cannot see it; of many entries the first, for the table has all."""
    told = "; ".join(f"{row[0]}: {', '.join(row[1:])}" for row in rows[:_MOST_TOLD])
    more = f"; {len(rows) - _MOST_TOLD} more in the table" if len(rows) > _MOST_TOLD else ""
    return f"{words}: {told}{more}."
