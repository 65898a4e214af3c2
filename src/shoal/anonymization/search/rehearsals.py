"""The loops of the search run on a few records, so that they can be compiled beside others before their first use."""

from __future__ import annotations

from shoal.anonymization.search import kernels
from shoal.anonymization.search.generalize import SearchOptions
from shoal.anonymization.search.lattice import prepare, solve
from shoal.compiled import Rehearsal
from shoal.models import KAnonymity
from shoal.policy import Policy
from shoal.reading import read


def search_few() -> None:
    """The best generalisation of forty records, of which some may be suppressed."""
    table = read({"age": [number % 23 for number in range(40)], "size": [number % 7 for number in range(40)]})
    policy = Policy(columns={"age": "quasi-identifier", "size": "quasi-identifier"}, models=[KAnonymity(k=3)])
    solve(prepare(table, policy, None, SearchOptions(suppression=0.1)))


SEARCH = Rehearsal(__name__, "search_few", kernels.class_of_each_tuple)
