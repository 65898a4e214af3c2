"""Who is alone by a few of the items that somebody may know."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from shoal.engine import engine_of
from shoal.errors import InputError, Message
from shoal.exposure.known_points import alone_shares
from shoal.exposure.results import KnownItems
from shoal.policy import Policy
from shoal.policy.judgement.evidence import evidence_of
from shoal.results.sections import Verdict
from shoal.storage import Table
from shoal.storage.reading import Options


def known_items(
    source: Any, policy: Policy, known: Sequence[int], options: Options | None
) -> tuple[list[KnownItems], list[Verdict], Table]:
    """What each number of known items gives away, within the classes of the policy's quasi-identifiers; the verdicts of
    its models about sets; and the table."""
    sizes = sorted(set(known))
    if not sizes or sizes[0] < 1 or sizes[-1] > 10:
        raise InputError("The numbers of known items are 1 to 10.", Message("Use 1,2,3, for example ({known})."))
    names = policy.quasi_identifiers
    needed = [*names, *policy.set_columns, *policy.sensitive, *filter(None, [policy.person])]
    table = engine_of(source, options).rows(source, list(dict.fromkeys(needed)), options)
    asked = policy.model_copy(update={"models": [model for model in policy.models if model.of_sets]})
    evidence, _ = evidence_of(table, names, asked)
    sets = evidence.items or evidence.events
    if sets is None:
        raise InputError("No column of items is named.", Message("Name it in {items} or {items_in}, or in a policy."))
    alone = alone_shares(sets, sizes)
    least = np.bincount(sets.group, minlength=sets.groups)
    found, fewest = [], int(least[least > 0].min())
    for size in range(1, sizes[-1] + 1):
        counts, exposed = sets.supports(size), np.zeros(sets.persons, bool)
        fewest = min(fewest, int(np.flatnonzero(counts).min(initial=fewest)))
        for part in sets.subsets(size):
            exposed[part.person[part.shared == 1]] = True
        if size in sizes:
            figures = int(counts.sum()), int(counts[1]), fewest, int(exposed.sum())
            found.append(KnownItems(size, *figures, alone[sizes.index(size)]))
    return found, [model.judge(evidence) for model in asked.models], table
