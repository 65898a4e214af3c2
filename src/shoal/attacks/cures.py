"""What makes an attack on a release fail at the lowest cost: a column rounded, or left out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shoal.attacks.base import ATTACKS, OF_TWIN, Attack, AttackOutcome
from shoal.attacks.opening import subject_of
from shoal.attacks.subject import TARGETS, Subject
from shoal.storage import Column, Table
from shoal.storage.declare import moved_by, rounded
from shoal.wording import in_words, percent

# columns that are tried, those with most different values first
_MOST_COLUMNS = 8
_STEPS = tuple(factor * 10**power for power in range(10) for factor in (1, 2, 5))


@dataclass(frozen=True)
class Cure:
    """Columns that leave as they are and help an attack most: the step to which each is rounded (None: it is left out),
    and how far its values move then on average, as a share of their mean; how often the attack succeeds after that."""

    steps: dict[str, int | None]
    moved: dict[str, float]
    rate: float
    enough: bool

    def in_words(self) -> str:
        """What to write into the policy, what it costs, and what is left then."""
        gone = [name for name, step in self.steps.items() if step is None]
        parts = [
            f"round {name} to multiples of {step:,} (`types: {{{name}: {{type: number, round_to: {step}}}}}`; a value "
            f"moves by {percent(self.moved[name])} of the mean, on average)"
            for name, step in self.steps.items()
            if step is not None
        ]
        if gone:
            roles = ", ".join(f"{name}: identifier" for name in gone)
            them = "it as a quasi-identifier" if len(gone) == 1 else "them as quasi-identifiers"
            parts.append(f"leave out {in_words(gone)} (`columns: {{{roles}}}`), or release {them}")
        more = "" if self.enough else "; that is not enough alone: ask for a larger k too"
        return f"The cheapest cure: {' and '.join(parts)}; the attack then succeeds for {percent(self.rate)}{more}."


def cheapest_cure(release: Any, original: Table, past: AttackOutcome, limit: float) -> Cure | None:
    """The cure of an attack on a release that goes past a limit; None where no column that leaves as it is helps it.

    The release is attacked again without the column that helps most, then without the next one, until the attack stays
    within the limit; those of numbers come back, rounded as little as that allows. There is no control then, so that
    the whole rate is held against the limit: the cure is on the safe side.
    """
    attack = next((one for one in ATTACKS if one.name == past.name.removesuffix(OF_TWIN)), None)
    subject = subject_of(release, original, None, None, None, None, TARGETS, 0)
    if attack is None or attack.skips(subject) is not None:
        return None
    kept = [
        name
        for name in subject.table.names
        if name in original.columns
        and name not in subject.policy.quasi_identifiers
        and (name not in subject.released.forms or subject.released.forms[name].kind == "as-it-was")
    ]
    kept = sorted(kept, key=lambda name: -len(subject.table[name].values))[:_MOST_COLUMNS]
    steps: dict[str, int | None] = {}
    rate = _rate(attack, subject)
    while rate is not None and rate > limit:
        left = {name: _rate(attack, _with(subject, {**steps, name: None})) for name in kept if name not in steps}
        known = {name: found for name, found in left.items() if found is not None and found < rate}
        if not known:
            break
        name = min(known, key=lambda one: known[one])
        steps[name], rate = None, known[name]
    if rate is None or not steps:
        return None
    moved: dict[str, float] = {}
    for name in steps if rate <= limit else ():
        if original[name].values.dtype.is_numeric():
            found = _rounding(attack, subject, steps, original[name], limit)
            if found is not None:
                steps[name], rate = found
                moved[name] = moved_by(original[name], rounded(original[name], found[0])) or 0.0
    return Cure(steps, moved, rate, rate <= limit)


def _rounding(
    attack: Attack, subject: Subject, steps: dict[str, int | None], column: Column, limit: float
) -> tuple[int, float] | None:
    """The smallest step of 1, 2, 5, 10 … by which an attack stays within the limit, and how often it succeeds then."""
    largest = float(np.abs(column.values.cast(float).to_numpy()).max())
    some = [step for step in _STEPS if 1 < step <= largest]
    low, high, found = 0, len(some), None
    while low < high:  # more rounding never helps an attack
        middle = (low + high) // 2
        rate = _rate(attack, _with(subject, {**steps, column.name: some[middle]}))
        if rate is not None and rate <= limit:
            found, high = (some[middle], rate), middle
        else:
            low = middle + 1
    return found


def _with(subject: Subject, steps: dict[str, int | None]) -> Subject:
    """The same release and people with columns rounded, or without them."""
    assert subject.original is not None
    shown, people = _changed(subject.table, steps), _changed(subject.original, steps)
    released = replace(subject.released, table=shown)
    return Subject(released, subject.policy, subject.knows, people, None, subject.place, subject.targets, subject.seed)


def _changed(table: Table, steps: dict[str, int | None]) -> Table:
    columns = {}
    for name, column in table.columns.items():
        step = steps.get(name)
        if step is not None:
            columns[name] = rounded(column, step)
        elif name not in steps:
            columns[name] = column
    return replace(table, columns=columns)


def _rate(attack: Attack, subject: Subject) -> float | None:
    """How often an attack succeeds; None where it has nothing to attack."""
    return None if attack.skips(subject) is not None else attack.run(subject).rate
