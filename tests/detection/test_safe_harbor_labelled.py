"""Safe harbor on the labelled columns of detection: what it misses, and what it removes for safety."""

from __future__ import annotations

import numpy as np
from labelled_columns import columns

from shoal.detection.clauses import CLAUSE_OF_KIND, Treatment
from shoal.detection.treatments import propose
from shoal.policy import Policy
from shoal.storage import Column


def treatments() -> list[tuple[str, str | None, Treatment]]:
    found = []
    for case in columns():
        view = case.view
        codes = np.repeat(np.arange(len(view.values)), np.asarray(view.counts, np.int64))
        nulls = view.records - len(codes)
        codes = np.concatenate([codes, np.full(nulls, len(view.values))])
        column = Column(view.name, codes, view.values, nulls, view.values.dtype)
        found.append((case.case, CLAUSE_OF_KIND.get(case.kind or ""), propose(column, Policy())))
    return found


def test_what_is_missed_and_what_is_removed_for_safety() -> None:
    found = treatments()
    named = [(case, treated) for case, clause, treated in found if clause is not None]
    missed = [case for case, treated in named if treated.clause is None and treated.kind not in ("state", "country")]
    assert missed == ["age/RIDAGEYR/"]  # ages up to 85 under a coded header: nothing had to be done
    others = [treated for _, clause, treated in found if clause is None]
    assert (len(found), len(named), len(others)) == (586, 343, 243)
    assert sum(treated.clause is not None for treated in others) == 35
