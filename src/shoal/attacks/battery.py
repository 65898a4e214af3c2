"""Every attack on one release, and the verdict on each criterion."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from shoal.attacks.base import ATTACKS, AttackOutcome, AttackResult, verdicts_of
from shoal.attacks.subject import TARGETS, Subject
from shoal.errors import InputError, check_at_least
from shoal.policy import Policy, as_policy
from shoal.reading import Options, read
from shoal.releases.readable import Readable, readable


def attack(
    source: Any,
    *,
    original: Any = None,
    control: Any = None,
    policy: Policy | dict[str, Any] | str | Path | None = None,
    targets: int = TARGETS,
    seed: int = 0,
    options: Options | None = None,
) -> AttackResult:
    """Attack a release with every attack that applies, and hold what is found against the policy's limits.

    `source` is a released file with its manifest, a `Release`, what `shoal.anonymize` returned, or a frame with a
    `policy`. `original` holds the people in it, `control` people of the same kind who are not; at most `targets` of
    each are attacked.

    >>> found = attack({"age": [1, 1], "ill": ["a", "a"]}, policy={"columns": {"age": "quasi-identifier",
    ...     "ill": "sensitive"}})
    >>> found.attacks[0].name, found.attacks[0].successes, found.verdict["inference"]
    ('homogeneity', 2, 'not tested')
    """
    check_at_least(1, targets, "targets")
    released = readable(source, options)
    decided = policy_of(released, policy)
    subject = Subject(
        released,
        decided,
        tuple(decided.quasi_identifiers),
        None if original is None else read(original, None, options),
        None if control is None else read(control, None, options),
        targets=targets,
        seed=seed,
    )
    outcomes = battery(subject)
    return AttackResult(outcomes, verdicts_of(outcomes, decided.attacks), seed, native=released.native)


def battery(subject: Subject) -> list[AttackOutcome]:
    """Every attack that applies."""
    return [one.run(subject) for one in ATTACKS if one.skips(subject) is None]


def policy_of(released: Readable, given: Policy | dict[str, Any] | str | Path | None) -> Policy:
    """The policy that a release is held against: the one that is given, else that of its manifest."""
    if given is not None:
        return as_policy(given)
    if released.source is None:
        raise InputError("There is no policy.", "Give one, or the released file with its manifest.")
    return released.source.policy
