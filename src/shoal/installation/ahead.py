"""Machine code made ahead, for any x86-64 processor of the last ten years: `python -m shoal.installation.ahead`.

It goes into the package (a wheel that is built then has it), and the first `anonymize` compiles nothing. Each job below
runs loops on a few records as users run them; the types are those of larger tables too. What no job runs is compiled at
its first use, as everything is on other processors and systems.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

from shoal.compiled import kept, machine
from shoal.compiled.ready import run_here
from shoal.threads import processors

_QUASI_IDENTIFIERS = ["age_yrs", "sex", "ethncty", "race", "patzip", "patcnty", "los", "adm_qtr", "oshpd_id"]
_ROWS = 1500
_TICK = 0.1
# as numba names what PORTABLE can do; it would ask this processor otherwise
_FEATURES = "64bit avx avx2 bmi bmi2 cmov crc32 cx16 cx8 f16c fma fxsr lzcnt mmx movbe popcnt sahf sse sse2 sse3"
_MORE = "sse4.1 sse4.2 ssse3 xsave"
# the slowest to compile first; those after the gap use what the others have made
_FIRST = (
    "shoal.anonymization.partition.rehearsals:group_few",
    "shoal.anonymization.partition.rehearsals:exchange_few",
    "shoal.anonymization.search.rehearsals:search_few",
    "shoal.anonymization.partition.rehearsals:exchange_few_squares",
)
_THEN = ("pages", "rows", "partition", "search", "microaggregation", "large_search", "disturbance", "texts")
_HERE = "shoal.installation.ahead"


def _anonymized(method: str, *, rows: int = _ROWS, text: str | None = None, **options: Any) -> None:
    """A few records anonymised; numbers of the column `text` are read as texts, which have no order."""
    import shoal
    from shoal.sample import sample_data

    table = sample_data("discharges", rows=rows, seed=0)
    if text is not None:
        table = table.with_columns(table[text].cast(str))
    used = options.setdefault("quasi_identifiers", _QUASI_IDENTIFIERS)
    decide = {name: "other" for name in table.columns if name not in (*used, options.get("sensitive"))}
    shoal.anonymize(table, method=method, **options, decide=decide)  # type: ignore[arg-type]


def partition() -> None:
    """Mondrian at every effort, of one column, and with a model of a sensitive column."""
    for effort in ("fast", "default", "best"):
        _anonymized("mondrian", k=5, effort=effort)
    for cuts in ("best", "strict", "relaxed"):
        _anonymized("mondrian", k=2, cuts=cuts)
    _anonymized("mondrian", quasi_identifiers=["age_yrs"], k=5)
    _anonymized("mondrian", rows=10 * _ROWS, sensitive="charge", k=5, l=3)


def search() -> None:
    """The lattice with and without suppression, with models of a sensitive column, and for each measure."""
    for suppression in (0, 0.05, 1):
        _anonymized("lattice", k=5, suppression=suppression)
    few = _QUASI_IDENTIFIERS[:4]
    for minimize in ("discernibility", "average-class-size"):
        _anonymized("lattice", quasi_identifiers=few, k=5, suppression=0.05, minimize=minimize)
    _anonymized("lattice", quasi_identifiers=few, k=5, suppression=0.05, local=True)
    _anonymized("lattice", quasi_identifiers=few, k=5, suppression=0.05, sensitive="charge", l=2)
    for sensitive, text in (("charge", None), ("sex", None), ("sex", "sex")):
        given: dict[str, Any] = {
            "quasi_identifiers": [name for name in few if name != sensitive],
            "sensitive": sensitive,
        }
        _anonymized("lattice", k=5, suppression=0.05, text=text, t=0.3, **given)


def large_search() -> None:
    """What the search does only with many tuples or many nodes, or when its time is over."""
    import numpy as np

    from shoal.anonymization.search import class_kernels, kernels
    from shoal.anonymization.search.rehearsals import look_at_packed, narrow_few

    look_at_packed()
    narrow_few()
    class_kernels.lowest_open(np.ones((4, 2)), np.ones(7), np.ones(2, bool))
    codes, starts, table = np.zeros((1, 64), np.int32), np.array([0, 1]), np.zeros(1, np.int64)
    kernels.classes_by_sample(codes, starts, table, np.full(1024, -1, np.int32))
    kernels.highest_below(np.ones(4), 2.0, np.arange(4), 4)
    kernels.lowest(np.ones(4))


def microaggregation() -> None:
    """Microaggregation, also as MDAV and with t-closeness."""
    _anonymized("microaggregate", k=3)
    _anonymized("microaggregate", k=3, mdav=True)
    _anonymized("microaggregate", k=3, sensitive="charge", t=0.2)


def disturbance() -> None:
    """Nearest points."""
    import numpy as np

    from shoal.perturbation.nearest import Tree

    points = np.random.default_rng(0).random((200, 3))
    Tree(points).nearest(points + 0.1)


def texts() -> None:
    """Text as codes, of more texts than a dictionary has space for at first, and lines as text."""
    import numpy as np

    from shoal.compiled.words import words_of
    from shoal.reading.csv_codes import FieldCodes
    from shoal.releases.line_loops import put_lines

    FieldCodes(1, [0], ",").parse("".join(f"{number}\n" for number in range(_ROWS)).encode())
    out = words_of(np.zeros(24, np.uint8).data)
    put_lines(words_of(bytes(24)), np.zeros(2, np.uint64), np.zeros(1, np.uint32), out)


def pages() -> None:
    """The pages of a large Parquet file."""
    from shoal.reading.parquet_pages import rehearse

    rehearse()


def rows() -> None:
    """What is done with all rows of a large table."""
    from shoal.ranges import loops as of_ranges
    from shoal.releases import parquet_loops
    from shoal.table import loops
    from shoal.utility import farthest

    for module in (loops, of_ranges, parquet_loops, farthest):
        module.rehearse()


def make(into: Path) -> None:
    """Run all jobs, as many at once as there are processors, in processes that compile for any processor.

    What a job that fails has not made is compiled at its first use.
    """
    for jobs in (deque(_FIRST), deque(f"{_HERE}:{job}" for job in _THEN)):
        running: list[subprocess.Popen[bytes]] = []
        while jobs or running:
            while jobs and len(running) < processors():
                running.append(_started(jobs.popleft(), into))
            time.sleep(_TICK)
            running = [one for one in running if one.poll() is None]


def _started(job: str, into: Path) -> subprocess.Popen[bytes]:
    features = ",".join(f"+{name}" for name in f"{_FEATURES} {_MORE}".split())
    told = {"NUMBA_CPU_NAME": machine.PORTABLE, "NUMBA_CPU_FEATURES": features, "SHOAL_THREADS": "1"}
    path = os.pathsep.join(entry for entry in sys.path if entry)
    command = [sys.executable, "-m", _HERE, job, str(into)]
    return subprocess.Popen(command, env={**os.environ, **told, "PYTHONPATH": path})


def main(arguments: list[str], say: Callable[[str], Any] = sys.stdout.write) -> None:
    """Make everything, or, in a process of its own, one job."""
    if arguments:
        job, into = arguments
        kept.make_ahead(Path(into))
        return run_here(job)
    can = machine.processor()
    if not machine.is_supported() or not can or not can[1] >= machine.PORTABLE_NEEDS:
        say("Nothing is made ahead here: loops are compiled at their first use.\n")
        return None
    draft = kept.AHEAD.with_name("ahead.draft")
    shutil.rmtree(draft, ignore_errors=True)
    make(draft)
    shutil.rmtree(kept.AHEAD, ignore_errors=True)
    draft.rename(kept.AHEAD)
    files = list(kept.AHEAD.glob("*.loop"))
    size = sum(file.stat().st_size for file in files)
    say(f"{len(files)} loops are compiled ahead in {kept.AHEAD} ({size / 1e6:.1f} MB).\n")
    return None


if __name__ == "__main__":
    main(sys.argv[1:])
