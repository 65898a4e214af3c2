"""A twin of a release: half of the people, anonymised by the same policy and method; the other half are the control.

The shipped release holds everybody, so that nobody is left to compare its people with. The twin has such people.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from shoal.anonymization.anonymize import anonymize
from shoal.anonymization.methods import METHODS, Method
from shoal.anonymization.results import Anonymized
from shoal.attacks.subject import Subject
from shoal.errors import InputError
from shoal.policy import Policy
from shoal.releases.readable import readable
from shoal.table import Array, Table

# of a method's parameters, what it found rather than what it was told
_FOUND = ("levels", "plan", "category_trees", "importance")
SMALLEST = 4


def twin_of(subject: Subject, source: Any) -> Subject | str:
    """The twin, or why there is none."""
    original = subject.original
    if original is None:
        return "there is no original to make a twin from"
    if subject.policy.count is not None:
        return "rows stand for many records, which cannot be parted at random"
    name, parameters = _method(subject, source)
    if name not in METHODS:
        return f"no twin can be made by the method {name}"
    ours = halves(original, subject.policy.person, subject.seed)
    if min(ours.sum(), (~ours).sum()) < SMALLEST:
        return "there are too few people for a twin"
    inside, outside = original.take(np.flatnonzero(ours)), original.take(np.flatnonzero(~ours))
    try:
        made = anonymize(inside, _policy(subject, source), method=method_of(name, parameters))
    except InputError as error:
        return f"half of the people cannot be anonymised by the same policy ({error.what})"
    if made.verdict == "refused":
        return "half of the people cannot be anonymised by the same policy"
    released = readable(made)
    place = np.arange(inside.rows) if released.table.rows == inside.rows else None
    return replace(subject, released=released, original=inside, control=outside, place=place)


def _policy(subject: Subject, source: Any) -> Policy:
    """The policy that the release was made for, whatever it is held against now."""
    if isinstance(source, Anonymized):
        return source.policy
    return subject.policy if subject.manifest is None else subject.manifest.policy


def _method(subject: Subject, source: Any) -> tuple[str, dict[str, Any]]:
    if isinstance(source, Anonymized):
        return source.method, source.parameters
    if subject.manifest is None:
        section = subject.policy.method
        return ("that nobody names", {}) if section is None else (section.name, section.options)
    return subject.manifest.method, dict(subject.manifest.parameters)


def method_of(name: str, parameters: dict[str, Any]) -> Method | str:
    """The method with the options that a release says it was made with; by its name where they are not all known."""
    kind = METHODS[name]
    told = {key: value for key, value in parameters.items() if key in kind.model_fields and key not in _FOUND}
    try:
        return kind(**{key: value for key, value in told.items() if value is not None})
    except ValueError:
        return name


def halves(table: Table, person: str | None, seed: int) -> Array:
    """Which rows belong to the half that is released: a random half of the people, each with all rows.

    >>> from shoal.reading import read
    >>> int(halves(read({"age": [1, 2, 3, 4]}), None, 0).sum())
    2
    """
    generator = np.random.default_rng(seed)
    if person is None or person not in table.columns:
        chosen = np.zeros(table.rows, bool)
        chosen[generator.permutation(table.rows)[: table.rows // 2]] = True
        return chosen
    column = table[person]
    drawn = np.zeros(column.cardinality, bool)
    drawn[generator.permutation(column.cardinality)[: column.cardinality // 2]] = True
    return np.asarray(drawn[column.codes])
