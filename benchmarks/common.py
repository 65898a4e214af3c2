"""Shared by the benchmarks: measure in a child process, report ratios against a baseline of the same run."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data"
QUASI_IDENTIFIERS = ["oshpd_id", "age_yrs", "sex", "ethncty", "race", "patzip", "patcnty", "los", "adm_qtr"]
FULL = 3_985_166


@dataclass(frozen=True)
class Cost:
    """What a run took: seconds on the clock, seconds of all processors, peak memory in MB."""

    wall: float
    cpu: float
    memory: float


def measure(file: str, job: str, repeat: int = 3) -> Cost:
    """The cheapest of several runs of a job of a benchmark file, each in a process of its own."""
    costs = []
    for _ in range(repeat):
        out = subprocess.run([sys.executable, file, job], check=True, capture_output=True, text=True)
        costs.append(Cost(*map(float, out.stdout.split())))
    return min(costs, key=lambda cost: cost.cpu)


def run_job(prepare: Callable[[], Callable[[], Any]]) -> None:
    """In that process: prepare, then time what was prepared; the peak memory is of the whole process."""
    job = prepare()
    wall, cpu = time.perf_counter(), time.process_time()
    job()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(wall, cpu, peak_memory())


def peak_memory() -> float:
    """The most memory of this process so far in MB; that of resource usage counts whoever started it, too."""
    status = Path("/proc/self/status")
    if status.exists():
        lines = status.read_text(encoding="ascii").splitlines()
        return int(next(line for line in lines if line.startswith("VmHWM:")).split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def command(*arguments: str, repeat: int = 3, env: dict[str, str] | None = None) -> Cost:
    """A whole command line, interpreter start included."""
    script = (
        "import resource, subprocess, sys, time\n"
        "wall = time.perf_counter()\n"
        "subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)\n"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "print(time.perf_counter() - wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)\n"
    )
    costs = []
    for _ in range(repeat):
        run = [sys.executable, "-c", script, *arguments]
        out = subprocess.run(run, check=True, capture_output=True, text=True, env=env)
        costs.append(Cost(*map(float, out.stdout.split())))
    return min(costs, key=lambda cost: cost.cpu)


def shoal_command(*arguments: str, repeat: int = 3) -> Cost:
    """`shoal …` by the interpreter that runs the benchmark."""
    return command(sys.executable, "-m", "shoal", *arguments, repeat=repeat)


def streaming(names: list[str], *paths: Path, repeat: int = 3) -> Cost:
    """Polars' streaming engine on the same files: read, group by the columns, histogram of the sizes."""
    script = (
        "import polars as pl, sys\n"
        "names, paths = sys.argv[1].split(','), sys.argv[2:]\n"
        "scan = (pl.scan_parquet if paths[0].endswith('parquet') else pl.scan_csv)(paths)\n"
        "sizes = scan.select(names).group_by(names).len().group_by('len').len(name='classes')\n"
        "print(sizes.collect(engine='streaming'))"
    )
    return command(sys.executable, "-c", script, ",".join(names), *map(str, paths), repeat=repeat)


def discharges(seed: int = 0, rows: int = FULL) -> Path:
    """A discharge table on disk, made once."""
    path = DATA / f"discharges-{rows}-{seed}.parquet"
    if not path.exists():
        DATA.mkdir(exist_ok=True)
        import shoal
        from shoal.storage.writing import write_frame

        write_frame(shoal.sample_data("discharges", rows, seed), path)
    return path


def shoal_json(*arguments: str, repeat: int = 1) -> tuple[Cost, dict[str, Any]]:
    """`shoal … --json` with what it printed: for figures that are not seconds."""
    script = (
        "import resource, subprocess, sys, time\n"
        "wall = time.perf_counter()\n"
        "out = subprocess.run(sys.argv[1:], check=True, stdout=subprocess.PIPE, text=True).stdout\n"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "print(time.perf_counter() - wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)\n"
        "print(out)\n"
    )
    found: list[tuple[Cost, dict[str, Any]]] = []
    for _ in range(repeat):
        run = [sys.executable, "-c", script, sys.executable, "-m", "shoal", *arguments, "--json"]
        first, _, rest = subprocess.run(run, check=True, capture_output=True, text=True).stdout.partition("\n")
        found.append((Cost(*map(float, first.split())), json.loads(rest)))
    return min(found, key=lambda pair: pair[0].cpu)


@dataclass(frozen=True)
class Peer:
    """Who else does it, in what figure of the race's unit: measured in this run, or recorded earlier."""

    name: str
    figure: float
    measured: bool = False


@dataclass
class Page:
    """What a run printed, for the page that it writes: headings with their rows, and races that were lost."""

    parts: list[tuple[str, list[list[str]]]]
    lost: list[str]
    over: list[str]
    printed: dict[int, str] = field(default_factory=dict)

    def add(self, cells: list[str]) -> None:
        """One row under the last heading."""
        if not self.parts:
            self.parts.append(("", []))
        self.parts[-1][1].append(cells)


PAGE = Page([], [], [])


def title(text: str) -> None:
    """A heading."""
    print(f"\n{text}\n{'-' * len(text)}", flush=True)
    PAGE.parts.append((text, []))


def row(name: str, cost: Cost, baseline: Cost | None = None, note: str = "") -> None:
    """One line: wall, CPU, ratio of CPU to the baseline's, memory."""
    ratio = f"{cost.cpu / baseline.cpu:8.2f}x" if baseline else " " * 9
    print(f"{name:<44}{cost.wall:8.2f} s wall {cost.cpu:8.2f} s CPU {ratio} {cost.memory:8.0f} MB  {note}", flush=True)
    PAGE.add([name, f"{cost.wall:.2f}", f"{cost.cpu:.2f}", ratio.strip(), f"{cost.memory:,.0f}", note])


def race(
    name: str, ours: float, unit: str, at_most: float, peer: Peer | None = None, memory: float | None = None
) -> None:
    """One line of the race: our figure, the bar, the peer's and how many times ours that is; less is better."""
    against = f"{peer.name} {peer.figure:g}{'' if peer.measured else ' (recorded)'}" if peer else ""
    times = f"{peer.figure / ours:.1f}x" if peer else ""
    peak = "" if memory is None else f"{memory:,.0f}"
    verdict = "held" if ours <= at_most else "OVER"
    print(f"{name:<58}{ours:10.4g} {unit:<7} bar {at_most:<7g} {verdict}  {against} {times} {peak} MB", flush=True)
    shown = f"{ours:,.0f}" if ours >= 1_000 else f"{ours:.4g}"
    PAGE.add([name.strip(), f"{shown} {unit}", f"{at_most:g}", verdict, against, times, peak])
    if ours > at_most:
        PAGE.over.append(name)
    if peer is not None and ours > peer.figure:
        PAGE.lost.append(f"{name}: {ours:.4g} {unit} against {peer.name}'s {peer.figure:g}")
