"""Machine code made ahead, for any x86-64 processor of the last ten years: `python -m shoal.installation.ahead`.

It goes into the package (a wheel that is built then has it), and the first `anonymize` compiles nothing. Each job below
runs loops on a few records as users run them, with the types of a larger table too. What no job runs is compiled at its
first use, as everything is on other processors and systems.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

from shoal.compiled import kept, machine
from shoal.compiled.ready import run_here
from shoal.threads import processors

_QUASI_IDENTIFIERS = ["age_yrs", "sex", "ethncty", "race", "patzip", "patcnty", "los", "adm_qtr", "oshpd_id"]
_ROWS = 1500
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
_THEN = ("partition", "search", "microaggregation", "disturbance")
_HERE = "shoal.installation.ahead"


def _discharges(rows: int = _ROWS) -> Any:
    from shoal.sample import sample_data

    return sample_data("discharges", rows=rows, seed=0)


def _anonymized(rows: int, method: str, **options: Any) -> None:
    import shoal

    if "sensitive" not in options:
        options["decide"] = {"charge": "other"}
    shoal.anonymize(_discharges(rows), quasi_identifiers=_QUASI_IDENTIFIERS, method=method, **options)


def partition() -> None:
    """Mondrian at every effort, on a table of groups and on one that is cut into blocks."""
    for effort in ("fast", "default", "best"):
        _anonymized(_ROWS, "mondrian", k=5, effort=effort)
        _anonymized(_ROWS, "mondrian", k=2, effort=effort)
    _anonymized(_ROWS, "mondrian", k=5, sensitive="charge", l=2)
    _anonymized(_ROWS, "sorted-clusters", k=5)


def search() -> None:
    """The lattice with and without suppression, and with models of a sensitive column."""
    for suppression in (0, 0.05, 1):
        _anonymized(_ROWS, "lattice", k=5, suppression=suppression)
    _anonymized(_ROWS, "lattice", k=5, suppression=0.05, local=True)
    _anonymized(_ROWS, "lattice", k=5, suppression=0.05, sensitive="charge", l=2)
    _anonymized(_ROWS, "lattice", k=5, suppression=0.05, sensitive="charge", t=0.4)


def microaggregation() -> None:
    """Microaggregation, also as MDAV."""
    for options in ({}, {"mdav": True}):
        _anonymized(_ROWS, "microaggregate", k=3, **options)


def disturbance() -> None:
    """Nearest points."""
    import numpy as np

    from shoal.perturbation.nearest import Tree

    points = np.random.default_rng(0).random((200, 3))
    Tree(points).nearest(points + 0.1)


def make(into: Path) -> None:
    """Run all jobs, as many at once as there are processors, in processes that compile for any processor."""
    _run(deque(_FIRST), into)
    _run(deque(f"{_HERE}:{job}" for job in _THEN), into)


def _run(jobs: deque[str], into: Path) -> None:
    running: list[subprocess.Popen[bytes]] = []
    while jobs or running:
        while jobs and len(running) < processors():
            running.append(_started(jobs.popleft(), into))
        if running.pop(0).wait():
            raise SystemExit("compiling ahead failed")


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
