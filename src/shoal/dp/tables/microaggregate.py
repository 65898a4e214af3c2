"""Microaggregation, then noise: means of k records are noised, not records (Soria-Comas et al. 2014).

Records are ordered by their distance from the lower corner of the public domain, and k that follow each other are a
group. The order looks at one record at a time, so that replacing one record replaces at most one record of each group
(Lemma 1 of the paper: *insensitive* microaggregation). A group's sum changes by at most the range of the column, in
each of n/k groups: in Euclidean distance by √(n/k) times the range, where noise for every record would need √n times.

The number of records must be public here, and neighbours are tables in which one record is replaced by another.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal

import numpy as np

from shoal.dp.tables.account import Account
from shoal.dp.tables.counting import Records
from shoal.dp.tables.domains import Domain
from shoal.errors import InputError, Message
from shoal.storage import Array


def groups_of(rows: int, k: int) -> Array:
    """The group of each place in the order: k to a group, and the last has what is left.

    >>> groups_of(7, 3).tolist()
    [0, 0, 0, 1, 1, 1, 1]
    """
    return np.minimum(np.arange(rows) // k, max(rows // k, 1) - 1)


def distances(records: Records, domains: Sequence[Domain]) -> Array:
    """How far each record lies from the lower corner, each column from 0 to 1; codes decide where that is equal."""
    parts = [(own / max(domain.size - 1, 1)) ** 2 for own, domain in zip(records.codes, domains, strict=True)]
    return np.lexsort((*reversed(records.codes), np.sum(parts, axis=0)))


def microaggregate(records: Records, domains: Sequence[Domain], account: Account, k: int, public: int) -> list[Array]:
    """The cells of each record: the noisy mean of its group, of values without an order the noisily most frequent."""
    if records.rows != public:
        raise InputError(
            "The number of records is not the one that the policy says is public.",
            "Correct public_records: microaggregation counts its groups by it.",
        )
    if not 2 <= k <= records.rows:
        raise InputError(Message("{k} is a whole number from 2 to the number of records."), "Take √n, for example.")
    order, group = distances(records, domains), groups_of(records.rows, k)
    count = int(group[-1]) + 1
    members = np.bincount(group)
    rho = account.part(1 / len(domains))
    found = []
    for own, domain in zip(records.codes, domains, strict=True):
        cells = own[order].astype(np.int64)
        if domain.ordered:
            centre = _means(cells, domain, group, members, account, rho)
        else:
            table = np.bincount(group * domain.size + cells, minlength=count * domain.size).reshape(count, -1)
            centre = account.counts("frequencies", (domain.name,), table, rho, math.sqrt(2 * count)).argmax(axis=1)
        found.append(centre[group])
    return found


def _means(cells: Array, domain: Domain, group: Array, members: Array, account: Account, rho: Decimal) -> Array:
    """The noisy mean cell of each group; where nothing may be missing that is all, else most of a group decides."""
    gone, highest, count = cells >= domain.cells, domain.cells - 1, len(members)
    part = rho / 2 if domain.missing else rho
    # one record of each group is replaced: its sum moves by at most the last cell's number
    sums = np.bincount(group, np.where(gone, highest // 2, cells)).astype(np.int64)
    noisy = account.counts("mean", (domain.name,), sums, part, max(highest, 1) * math.sqrt(count))
    centre = np.clip(np.rint(noisy / members), 0, highest).astype(np.int64)
    if domain.missing:
        missing = np.bincount(group, gone).astype(np.int64)
        often = account.counts("missing", (domain.name,), missing, part, math.sqrt(count)) > members / 2
        centre = np.where(often, domain.cells, centre)
    return centre
