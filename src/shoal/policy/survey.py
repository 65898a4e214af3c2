"""What a policy says about a sample: weights, households, and how large the population is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from shoal.errors import InputError, Message
from shoal.storage import Array
from shoal.vocabulary import Role

# the roles that the columns of a survey have where nobody says otherwise: a household's number points at the household
# and is removed, a weight is released as it is
SURVEY_ROLES: Mapping[str, Role] = {"household": "identifier", "weight": "other"}
# sums of weights that differ from the size of the population by more than this share are noted
APART = 0.01
# the smallest share that a sample is, and the largest population: beyond these a float counts no single people
LEAST_SAMPLING = 1e-12
MOST_PEOPLE = 2**53


def with_survey_roles(content: Any) -> Any:
    """The content of a policy, with the roles of its weight and household columns where it gives none.

    >>> with_survey_roles({"weight": "w", "household": "hid", "columns": {"hid": "other"}})["columns"]
    {'hid': 'other', 'w': 'other'}
    """
    if not isinstance(content, Mapping):
        return content
    named = {content.get(key): role for key, role in SURVEY_ROLES.items() if isinstance(content.get(key), str)}
    columns = content.get("columns") or {}
    if not isinstance(columns, Mapping) or all(name in columns for name in named):
        return content
    return {**content, "columns": {**columns, **{name: role for name, role in named.items() if name not in columns}}}


def check_survey_column(key: str, name: str, said: Mapping[str, Any]) -> None:
    """Refuse a weight or household column that the policy also uses otherwise; `said` is what stands before it.

    >>> check_survey_column("weight", "w", {"columns": {"w": "quasi-identifier"}})
    Traceback (most recent call last):
    ValueError: column w is the weight and decided as quasi-identifier; decide it as identifier (removed) or other
    """
    others = [other for other in ("count", "person", "weight") if other != key and said.get(other) == name]
    if others:
        raise ValueError(f"column {name} is the {key} and the {others[0]} column at once; name two columns")
    role = said.get("columns", {}).get(name)
    if role in ("quasi-identifier", "sensitive"):
        raise ValueError(
            f"column {name} is the {key} and decided as {role}; decide it as identifier (removed) or other"
        )
    if key == "weight" and said.get("count") is not None:
        raise ValueError("count and weight exclude each other: a row of many records has no weight of its own")


def check_k_map(model: Any, said: Mapping[str, Any]) -> None:
    """Refuse a k-map that names no population where the policy does not say of what the table is a sample.

    >>> from shoal.models import KMap
    >>> check_k_map(KMap(k=5), {"sampling": 0.05})
    """
    from shoal.models import KMap

    asking = isinstance(model, KMap) and model.is_estimated
    if asking and all(said.get(key) is None for key in ("weight", "population_size", "sampling")):
        raise ValueError(
            "k-map needs a population: population (a table), population_size or margins, "
            "or the policy's weight, population_size or sampling"
        )


def population_size(
    records: int, weights: Array | None = None, size: int | None = None, sampling: float | None = None
) -> float | None:
    """How many people the population has: as given, records / sampling, or the sum of the weights; None if not known.

    >>> population_size(50, size=1000), population_size(50, sampling=0.05), population_size(2, np.array([10.0, 30.5]))
    (1000.0, 1000.0, 40.5)
    """
    if size is not None and sampling is not None:
        raise InputError(
            Message("The size of the population is given twice, by {population_size} and by {sampling}."),
            "Give one of them.",
        )
    if size is not None:
        if size > MOST_PEOPLE:
            raise InputError(
                Message("{population_size} is too large for a number of people."),
                f"It is at most {MOST_PEOPLE:,}.",
            )
        if size < records:
            raise InputError(
                f"The table has {records:,} records, the population {size:,} people.",
                Message("A sample is no larger than its population ({population_size})."),
            )
        return float(size)
    if sampling is not None:
        if not 0 < sampling <= 1:
            raise InputError(Message("{sampling} is not above 0% and up to 100%."), "Write 5%, for example.")
        if sampling < LEAST_SAMPLING:
            raise InputError(
                Message("{sampling} is too small for the share of a sample."),
                f"It is at least {LEAST_SAMPLING:g}.",
            )
        return records / sampling
    return None if weights is None else float(np.sum(weights))


def size_notes(records: int, weights: Array | None, size: int | None, sampling: float | None) -> list[str]:
    """Whether the weights sum to another population than the one that is given.

    >>> size_notes(2, np.array([10.0, 30.0]), 100, None)
    ['the weights sum to 40 people, the population is given as 100: figures by weight and by size differ']
    """
    given = population_size(records, None, size, sampling)
    if weights is None or given is None or abs(float(weights.sum()) - given) <= APART * given:
        return []
    return [
        f"the weights sum to {weights.sum():,.0f} people, the population is given as {given:,.0f}: "
        "figures by weight and by size differ"
    ]
