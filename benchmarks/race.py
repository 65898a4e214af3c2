"""The race: what a user waits for, against the bar we set and the best peer; `python benchmarks/race.py risk search`.

Figures of ARX and sdcMicro, which do not install beside us, are recorded ones of a machine of this kind.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

import wide
from common import (
    DATA,
    QUASI_IDENTIFIERS,
    Cost,
    Peer,
    command,
    discharges,
    measure,
    race,
    run_job,
    shoal_command,
    shoal_json,
    streaming,
    title,
)
from first_use import SIZES, anonymized
from growth import files
from lattice import COLUMNS, SHARED, closeness_any, measured_by, resampled
from microaggregate import measured as microaggregated
from partition import measured as partitioned

NAMES = ",".join(QUASI_IDENTIFIERS)
PYCANON = (
    "import pandas as pd, sys\n"
    "from pycanon import anonymity\n"
    "frame = pd.read_csv(sys.argv[1], sep=None, engine='python')\n"
    "print(anonymity.k_anonymity(frame, list(frame.columns)))"
)


def risk() -> None:
    """Whole `shoal risk` commands beside pycanon and polars' streaming engine."""
    title("shoal risk, whole commands")
    small = DATA / "hundred.csv"
    pl.read_parquet(discharges(rows=100)).write_csv(small)
    ours = shoal_command("risk", str(small), "--qi", NAMES, "--json", repeat=5)
    race("risk, CSV of 100 rows (pycanon: Adult)", ours.cpu, "CPU s", 0.45, _pycanon(), ours.memory)
    full = discharges()
    text = full.with_suffix(".csv")
    if not text.exists():
        pl.scan_parquet(full).sink_csv(text)
    for path, cpu, wall in ((full, 0.90, 0.65), (text, 2.2, 1.5)):
        theirs = streaming(QUASI_IDENTIFIERS, path)
        ours = shoal_command("risk", str(path), "--qi", NAMES, "--json")
        kind = path.suffix[1:]
        peer = Peer("polars streaming", round(theirs.cpu, 2), True)
        race(f"risk, 3,985,166 x 9, {kind}", ours.cpu, "CPU s", cpu, peer, ours.memory)
        peer = Peer("polars streaming", round(theirs.wall, 2), True)
        race(f"risk, 3,985,166 x 9, {kind}, on the clock", ours.wall, "s", wall, peer, ours.memory)
    for millions, wall in ((16, 2.0), (100, 14.0)):
        paths = files(millions)
        repeat = 3 if millions == 16 else 1
        theirs = streaming(QUASI_IDENTIFIERS, *paths, repeat=repeat)
        ours = shoal_command("risk", *map(str, paths), "--qi", NAMES, "--json", repeat=repeat)
        peer = Peer("polars streaming", round(theirs.wall, 1), True)
        race(f"risk, {millions} million rows, on the clock", ours.wall, "s", wall, peer, ours.memory)


def _pycanon() -> Peer:
    if not SHARED.exists():
        return Peer("pycanon", 0.68)
    return Peer("pycanon", round(command(sys.executable, "-c", PYCANON, str(SHARED / "adult.csv")).cpu, 2), True)


def release(source: Path | str, *options: str, repeat: int = 1) -> tuple[Cost, dict[str, Any]]:
    """A whole `shoal anonymize`: read, changed, written, read back, verified."""
    with tempfile.TemporaryDirectory() as folder:
        target = str(Path(folder) / f"safe{Path(source).suffix}")
        return shoal_json("anonymize", str(source), "-o", target, "-k", "5", "--force", *options, repeat=repeat)


def change() -> None:
    """Whole `shoal anonymize` commands at full size, and the memory of sixteen million rows."""
    title("shoal anonymize, whole commands, 9 quasi-identifiers, k=5")
    roles = ["--qi", NAMES, "--sensitive", "charge", "--disclosure", "charge>100000"]
    for name, options, bar in (
        ("sorted-clusters (S2)", ["--method", "sorted-clusters"], 8.5),
        ("mondrian, effort fast", ["--method", "mondrian", "--effort", "fast"], 9.0),
        ("no method named", [], 18.0),
    ):
        cost, _ = release(discharges(), *roles, *options, repeat=2)
        race(f"3,985,166 rows, {name}", cost.cpu, "CPU s", bar, None, cost.memory)
        race(f"3,985,166 rows, {name}: memory", cost.memory / 1000, "GB", 1.4)
    cost, found = release(discharges(), *roles, "--method", "lattice", "--suppression", "5%")
    race("3,985,166 rows, lattice, built hierarchies, 5%", cost.cpu, "CPU s", 12, None, cost.memory)
    score, bound = found["score"], found["lower_bound"]
    race("  its score above the proven bound", 100 * (score / bound - 1), "%", 5)
    for method in ("sorted-clusters", "mondrian"):
        cost = _sixteen(method)
        race(f"16 million rows, {method}: memory", cost.memory / 1000, "GB", 3.0, None, cost.memory)


def _sixteen(method: str) -> Cost:
    with tempfile.TemporaryDirectory() as folder:
        paths = [str(path) for path in files(16)]
        target = [
            "-o",
            f"{folder}/safe.parquet",
            "-k",
            "5",
            "--force",
            "--method",
            method,
            "--decide",
            "charge=other",
            "--json",
        ]
        return shoal_command("anonymize", *paths, "--qi", NAMES, *target, "--memory", "20GB", repeat=1)


def lattice() -> None:
    """The optimal generalisation as a whole command, CSV to CSV, beside ARX."""
    title("shoal anonymize --method lattice, whole commands, CSV to CSV (ARX: recorded)")
    given = ["--qi", ",".join(COLUMNS), "--method", "lattice", "--labels-are-names"]
    given += ["--hierarchies", str(SHARED / "hierarchies")]  # its ages lie one row off their labels
    for share, theirs, bar in (("0%", 3.5, 0.7), ("5%", 5.4, 0.8), ("100%", 8.1, 0.9)):
        cost, _ = release(SHARED / "adult.csv", *given, "--suppression", share, repeat=3)
        race(f"Adult, suppression {share}", cost.cpu, "CPU s", bar, Peer("ARX", theirs), cost.memory)
    for rows, share, theirs, bar in (
        (1_000_000, "5%", 12.1, 2.4),
        (4_000_000, "5%", 23.0, 6.0),
        (1_000_000, "0%", 5.1, 1.7),
        (4_000_000, "0%", 11.4, 3.8),
    ):
        cost, _ = release(resampled(rows), *given, "--suppression", share, repeat=2)
        race(f"{rows:,} rows, suppression {share}", cost.cpu, "CPU s", bar, Peer("ARX", theirs), cost.memory)


JOBS: dict[str, Callable[[], Any]] = {
    "closeness": closeness_any,
    "discernibility": lambda: measured_by("discernibility"),
    "average": lambda: measured_by("average-class-size"),
}


def _wide() -> None:
    """Fifteen columns, a minute each: the score beside Lightning's search, and how far it can be from the best."""
    space = wide.joined_space()
    found, theirs = wide.ours(space), wide.lightning(space)
    name = f"15 columns, {found.nodes_total:.2g} nodes, 5%, 60 s".replace("e+", "*10^")
    race(f"{name}: score", found.score, "loss", theirs, Peer("Lightning's search with our kernel", theirs, True))
    race("  above the proven bound", 100 * (found.score / found.lower_bound - 1), "%", 25)
    found = wide.ours(wide.normal_space())
    gap = 100 * (found.score / found.lower_bound - 1)
    race("15 independent columns, 10^9 nodes: above the proven bound", gap, "%", 25)


def search() -> None:
    """Searches in process, local suppression, detection, microaggregation, least loss."""
    title("Searches")
    for job, name, peer in (
        ("closeness", "search alone: 0.2-closeness, Adult, any suppression", Peer("ARX", 2.0)),
        ("discernibility", "search alone: discernibility, Adult", None),
        ("average", "search alone: average class size, Adult", None),
    ):
        cost = measure(__file__, job)
        race(name, cost.cpu, "CPU s", 0.3, peer, cost.memory)
    _wide()
    keys = ",".join(name for name in QUASI_IDENTIFIERS if name != "oshpd_id")
    left = ["--qi", keys, "-k", "3", "--method", "suppress", "--force", "--decide", "oshpd_id=other,charge=other"]
    with tempfile.TemporaryDirectory() as folder:
        source = str(discharges(rows=10_000))
        cost, found = shoal_json("anonymize", source, "-o", f"{folder}/safe.parquet", *left, repeat=3)
    race("local suppression, 10,000 x 8", found["suppressed_cells"], "cells", 16_399, Peer("sdcMicro", 16_454))
    race("  its time, the whole command", cost.cpu, "CPU s", 5, Peer("sdcMicro", 200), cost.memory)
    million = DATA / "million.parquet"
    if not million.exists():
        pl.read_parquet(discharges(), n_rows=1_000_000).write_parquet(million)
    cost = shoal_command("detect", str(million), "--columns", NAMES, "--json")
    race("detect, 1 million x 9", cost.cpu, "CPU s", 5.5, None, cost.memory)
    cost, _ = microaggregated("mdav", 1_000_000, 3)
    race("MDAV exactly, 1 million x 5, k=3", cost.cpu, "CPU s", 20, None, cost.memory)
    for k, loss, published in ((2, 0.0062, 0.3186), (5, 0.0155, 0.5280)):
        cost, lost = partitioned("best", k)
        name = f"information loss, 3,985,166 rows, k={k}, effort best"
        race(name, lost, "loss", loss, Peer("published", published), cost.memory)
        race("  its time", cost.cpu, "CPU s", 20)


def waits() -> None:
    """What is waited for once: the first use, and the paper at full size."""
    title("A small table, and the paper at full size")
    for name, options in (("mondrian", ["--method", "mondrian"]), ("no method named", [])):
        cost = min((anonymized(SIZES[0], *options) for _ in range(3)), key=lambda cost: cost.cpu)
        race(f"anonymize, 20,000 rows, {name}", cost.cpu, "CPU s", 2.2, None, cost.memory)
    with tempfile.TemporaryDirectory() as folder:
        cost = shoal_command("reproduce", "sanchez", "-o", f"{folder}/out", "--force", repeat=1)
    race("Sánchez et al., 3,985,166 records, with charts", cost.cpu, "CPU s", 100, None, cost.memory)


PARTS = {part.__name__: part for part in (risk, change, lattice, search, waits)}


def main(*parts: str) -> None:
    """Run them in order; what needs the Adult table is left out without it."""
    for name in parts or PARTS:
        if name in {"lattice", "search"} and not SHARED.exists():
            print(f"{name}: the Adult table is not there; set SHOAL_DATA.")
            continue
        PARTS[name]()


if __name__ == "__main__":
    run_job(JOBS[sys.argv[1]]) if sys.argv[1:] and sys.argv[1] in JOBS else main(*sys.argv[1:])
