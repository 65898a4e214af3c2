"""Every attack on one release, and the verdict on each criterion."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from shoal import progress
from shoal.attacks.base import ATTACKS, OF_TWIN, AttackOutcome, AttackResult, exceeds, twin_in, verdicts_of
from shoal.attacks.common import check_rows_out, write_rows
from shoal.attacks.opening import UNCHECKED, subject_of, twin_of
from shoal.attacks.subject import Subject
from shoal.attacks.table_sets import attack_tables
from shoal.errors import Setting, check_at_least
from shoal.releases.table_set import TableSet
from shoal.verbs.attacking import AttackAllRequest
from shoal.verbs.base import takes
from shoal.wording import percent

_WITHOUT_ORIGINAL = (
    "Most attacks did not run, as there is no original: "
    "give the table that the release was made from (--original FILE)."
)


@takes(AttackAllRequest)
def attack(source: Any, asked: AttackAllRequest) -> AttackResult:
    """Attack a release with every attack that applies, and hold what is found against the policy's limits.

    `source` is a released file with its manifest, a `Release`, what `shoal.anonymize` returned, or a frame with a
    `policy`. `original` holds the people in it, `control` people of the same kind who are not (told apart by the
    policy's person column or by `id_column`). Without a control a `twin` is made and attacked beside the release: half
    of the people, anonymised in the same way, with the other half as control. At most `targets` people are attacked.
    In `targets_out` are the rows of the original that an attack hit for certain.

    >>> found = attack({"age": [1, 1], "ill": ["a", "a"]}, policy={"columns": {"age": "quasi-identifier",
    ...     "ill": "sensitive"}})
    >>> found.attacks[0].name, found.attacks[0].successes, found.verdict["inference"]
    ('homogeneity', 2, 'not tested')
    """
    check_at_least(1, asked.targets, Setting("targets"))
    check_at_least(0, asked.seed, Setting("seed"))
    if (tables := TableSet.find(source)) is not None:
        return attack_tables(tables, asked)
    check_rows_out(asked.targets_out, asked.force, release=source, original=asked.original, control=asked.control)
    subject = subject_of(
        source, asked.original, asked.control, asked.policy, asked.id_column, asked.options, asked.targets, asked.seed
    )
    outcomes = battery(subject)
    unchecked = asked.control is not None and asked.id_column is None and subject.policy.person is None
    if asked.control is None and asked.twin and subject.original is not None:
        outcomes = _with_twin(outcomes, subject, source)
    if unchecked:
        first = next((number for number, one in enumerate(outcomes) if one.control is not None), None)
        outcomes = [
            replace(one, notes=[*one.notes, UNCHECKED]) if at == first else one for at, one in enumerate(outcomes)
        ]
    hit = [one.rows for one in outcomes if one.rows is not None and not one.name.endswith(OF_TWIN)]
    write_rows(asked.targets_out, np.unique(np.concatenate(hit)) if hit else np.zeros(0, np.int64))
    verdict = verdicts_of(outcomes, subject.policy.attacks)
    without = "" if subject.original is not None else _WITHOUT_ORIGINAL
    return AttackResult(outcomes, verdict, asked.seed, native=subject.released.native, without=without)


def battery(subject: Subject) -> list[AttackOutcome]:
    """Every attack that applies."""
    ready = [one for one in ATTACKS if one.skips(subject) is None]
    outcomes = []
    for number, one in enumerate(ready):
        progress.report("attacking", number, len(ready))
        outcomes.append(one.run(subject))
    return outcomes


def _with_twin(outcomes: list[AttackOutcome], subject: Subject, source: Any) -> list[AttackOutcome]:
    """The attacks on the release, and those on a twin as far as they have a control there."""
    found = twin_of(subject, source)
    if isinstance(found, str):
        said = f"there is no control: {found}"
        return [replace(one, notes=[*one.notes, said]) for one in outcomes[:1]] + outcomes[1:]
    twins = [replace(one, name=one.name + OF_TWIN) for one in battery(found) if one.control is not None]
    return [_beside_twin(one, twin_in(one, twins)) for one in outcomes] + twins


def _beside_twin(one: AttackOutcome, twin: AttackOutcome | None) -> AttackOutcome:
    """An attack on the release that succeeds more often than on the twin says so."""
    if twin is None or not exceeds(one, twin):
        return one
    own = "its own rate is held against the limit"
    said = f"it succeeds more often than on the twin ({percent(twin.rate or 0)}): {own}"
    return replace(one, notes=[*one.notes, said])
