"""The child process that answers what attackers with other knowledge would find, at once.

It counts the file once, keeps the distinct tuples with their counts, and measures every further question on these
alone. It ends when its input is closed. One JSON line in, one out.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from shoal.app.project import FileReading, section_to_json
from shoal.app.worker import allowed_policy, in_words
from shoal.engine.local import LOCAL
from shoal.exposure import risk
from shoal.policy import Policy, as_policy
from shoal.storage import Column, Table
from shoal.storage.reading import Options
from shoal.storage.reading.files import declaring
from shoal.systems.machine import give_way

_NICER = 2
# where the largest question takes longer, so many seconds are spent on answers before they are asked for
_SLOW, _AHEAD = 0.1, 4.0


class Counter:
    """The tuples of some columns of a file, and the risk of any of these columns."""

    def __init__(self, source: str, columns: Sequence[str], policy: Policy, options: Options | None) -> None:
        counted = LOCAL.count(
            source, columns, count=policy.count, person=policy.person, options=declaring(options, policy.types)
        )
        self.columns = list(counted.columns)
        extra: Column
        if counted.person is not None:  # told apart by all their records: these stay
            extra = counted.person
            self._policy = policy
        else:
            extra = _as_column(_free_name(counted.columns), counted.counts)
            self._policy = policy.model_copy(update={"count": extra.name})
        # what was declared has been read: the tuples have their types
        self._policy = self._policy.model_copy(update={"types": {}})
        self._answers: dict[tuple[str, ...], dict[str, Any]] = {}
        columns_and_count = {**counted.columns, extra.name: extra}
        self._table = Table(
            columns_and_count, len(extra.codes), counted.name, counted.notes, None, counted.source_names
        )

    def answer(self, columns: Sequence[str]) -> dict[str, Any]:
        """The risk where an attacker knows these columns, as the library measures it."""
        key = tuple(columns)
        if key not in self._answers:
            self._answers[key] = self._measured(columns)
        return self._answers[key]

    def look_ahead(self, slow: float = _SLOW, most: float = _AHEAD) -> None:
        """Answer the largest questions before they are asked: all columns, and all but one, as one switch asks."""
        start = time.monotonic()
        self.answer(self.columns)
        if time.monotonic() - start < slow:
            return
        for left_out in self.columns:
            if time.monotonic() - start > most:
                return
            if len(self.columns) > 1:
                self.answer([name for name in self.columns if name != left_out])

    def _measured(self, columns: Sequence[str]) -> dict[str, Any]:
        found = risk(self._table, quasi_identifiers=list(columns), policy=self._policy)
        found = replace(found, notes=[])
        shown = [section_to_json(section) for section in found.sections()]
        return {"result": found.to_dict(), "summary": found.summary(), "sections": shown}


def _free_name(taken: Any) -> str:
    name = "records"
    while name in taken:
        name += "_"
    return name


def _as_column(name: str, counts: Any) -> Column:
    """Numbers as a column: the distinct ones and their places."""
    values, codes = np.unique(counts, return_inverse=True)
    return Column(name, codes.astype(np.min_scalar_type(max(len(values) - 1, 0))), pl.Series(values), 0, pl.Int64())


def main() -> int:
    """Count what the first line names, then answer line by line."""
    give_way(_NICER)
    counter: Counter | None = None
    for line in sys.stdin.buffer:
        try:
            order = json.loads(line)
            if "source" in order:
                reading = FileReading(**order["reading"])
                policy = as_policy(allowed_policy(order))
                counter = Counter(order["source"], order["columns"], policy, reading.options())
                counter.look_ahead()  # while the first count is waited for
                said: dict[str, Any] = {"columns": counter.columns}
            else:
                assert counter is not None
                said = counter.answer(order["columns"])
        except BaseException as error:
            said = in_words(error)
        sys.stdout.buffer.write(json.dumps(said).encode() + b"\n")
        sys.stdout.buffer.flush()
    return 0


if __name__ == "__main__":
    os._exit(main())
