"""The loops of the search run on a few records, so that they can be compiled beside others before their first use."""

from __future__ import annotations

from shoal.anonymization.search import kernels
from shoal.anonymization.search.boxes import Boxes
from shoal.anonymization.search.generalize import SearchOptions
from shoal.anonymization.search.lattice import Prepared, prepare, solve
from shoal.anonymization.search.packed import PackedLook, PackedTables, counted_by_hash, keys_of
from shoal.compiled import Rehearsal
from shoal.models import KAnonymity
from shoal.policy import Policy
from shoal.reading import read


def _few() -> Prepared:
    table = read({"age": [number % 23 for number in range(40)], "size": [number % 7 for number in range(40)]})
    policy = Policy(columns={"age": "quasi-identifier", "size": "quasi-identifier"}, models=[KAnonymity(k=3)])
    return prepare(table, policy, None, SearchOptions(suppression=0.1))


def search_few() -> None:
    """The best generalisation of forty records, of which some may be suppressed."""
    solve(_few())


def look_at_packed() -> None:
    """What is done only with many distinct tuples: the finest and the coarsest node by packed tables."""
    prepared = _few()
    tables = PackedTables(prepared.space.grid(prepared.options))
    look = PackedLook(tables, 3, 40)
    for levels in (tables.grid.low, tables.grid.high):
        look(levels)
        tables.roll_up(levels, tables.bottom)
    counted_by_hash(tables.bottom, *keys_of(*tables.parts(tables.bottom, tables.grid.low)))


def narrow_few() -> None:
    """What is done only with more nodes than can be listed: all of them as one box, narrowed and split."""
    prepared = _few()
    boxes = Boxes(prepared.space.grid(prepared.options), 3, 4)
    boxes.start()
    boxes.run(0.5, 10)


SEARCH = Rehearsal(__name__, "search_few", kernels.class_of_each_tuple)
