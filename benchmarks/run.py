"""All benchmarks, or those named: `python benchmarks/run.py race classes`.

A run of all writes docs/benchmarks.md and the races into README.md; a run of some does so with `--page`, and the
page says which.
"""

from __future__ import annotations

import importlib
import io
import os
import platform
import subprocess
import sys
import traceback
from contextlib import redirect_stdout
from pathlib import Path
from typing import TextIO

from common import PAGE

BENCHMARKS = ["race", "classes", "commands", "first_use", "detect", "kinds", "anonymize", "lattice", "partition"]
BENCHMARKS += ["microaggregate", "suppress", "methods", "leak", "attacks", "attacks_more", "population", "dp"]
BENCHMARKS += ["learning", "databases", "safe_harbor", "linked", "text_speed", "papers", "growth", "streams", "sets"]
TARGET = Path(__file__).parents[1] / "docs" / "benchmarks.md"
README = Path(__file__).parents[1] / "README.md"
FIRST, LAST = "<!-- written by make bench -->", "<!-- end of what make bench wrote -->"
HEADS = {
    6: ["", "wall s", "CPU s", "ratio", "peak MB", ""],
    7: ["task", "ours", "at most", "", "peer", "peer / ours", "peak MB"],
}


class Told(io.TextIOBase):
    """Standard output, kept beside."""

    def __init__(self, screen: TextIO) -> None:
        self.screen, self.text = screen, ""

    def write(self, text: str) -> int:
        """To the screen and to the page."""
        self.text += text
        return self.screen.write(text)

    def flush(self) -> None:
        """As the screen does."""
        self.screen.flush()


def main(*names: str) -> int:
    """Run them in order; 1 where a benchmark failed or a peer was faster."""
    failed: list[str] = []
    done: list[str] = []
    for name in [name for name in names if name != "--page"] or BENCHMARKS:
        told = Told(sys.stdout)
        before = len(PAGE.parts)
        try:
            with redirect_stdout(told):
                importlib.import_module(name).main()
        except (Exception, SystemExit) as error:
            traceback.print_exc()
            failed.append(f"{name} failed: {type(error).__name__}")
        if not any(rows for _, rows in PAGE.parts[before:]):  # it has no table of this kind: as it was printed
            PAGE.printed[len(PAGE.parts)] = told.text
            PAGE.parts.append((name, []))
        done.append(name)
        if not names or "--page" in names:  # after each: a run that is ended leaves what it has measured
            TARGET.write_text(written(done, failed))
            README.write_text(with_measured(README.read_text()))
    for sentence in [*(f"A PEER IS AHEAD: {line}" for line in PAGE.lost), *failed]:
        print(sentence, file=sys.stderr)
    return 1 if PAGE.lost or failed else 0


def written(chosen: list[str], failed: list[str]) -> str:
    """The page: machine and load, what was lost, then every table."""
    load = os.getloadavg()[0]
    lines = [
        "# Benchmarks",
        "",
        "Written by `make bench`, never by hand: every figure of one run, beside a baseline or a peer of the same run",
        "where it is installed, and beside a recorded figure of the peer otherwise. CPU s are those of all processors,",
        "minima of several runs. What the figures mean is said on the page of [speed and memory](performance.md).",
        "",
        f"Python {platform.python_version()}, {os.cpu_count()} processors, load {load:.1f} at the end, "
        f"commit {_commit()}. " + ("All benchmarks." if chosen == BENCHMARKS else f"Only: {', '.join(chosen)}."),
        "",
        *([f"**A peer is ahead:** {line}." + "\n" for line in PAGE.lost] or ["No peer is ahead.", ""]),
        *([f"Over the bar we set ourselves: {'; '.join(PAGE.over)}.", ""] if PAGE.over else []),
        *([f"Not measured: {'; '.join(failed)}.", ""] if failed else []),
    ]
    for number, (heading, rows) in enumerate(PAGE.parts):
        if printed := PAGE.printed.get(number, "").strip():
            lines += [f"## {heading}", "", "```text", printed, "```", ""]
        if rows:
            head = HEADS[len(rows[0])]
            lines += [f"## {heading}", "", _cells(head), _cells(["---"] * len(head)), *map(_cells, rows), ""]
    return "\n".join(lines)


def with_measured(text: str) -> str:
    """The README with the races of this run that have a peer between its marks: task, ours, peer, ratio and memory."""
    before, _, rest = text.partition(FIRST)
    _, mark, after = rest.partition(LAST)
    if not mark:
        raise ValueError("The README lacks the marks between which the races stand.")
    rows = [
        [one[0], one[1], one[4], one[5], one[6]] for _, rows in PAGE.parts for one in rows if len(one) == 7 and one[4]
    ]
    head = ["", "shoal", "peer", "peer / shoal", "peak MB"]
    table = [_cells(head), _cells(["---"] * len(head)), *map(_cells, rows)]
    return f"{before}{FIRST}\n" + "\n".join(table) + f"\n{LAST}{after}"


def _cells(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "/") for cell in cells) + " |"


def _commit() -> str:
    out = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    return out.stdout.strip() or "unknown"


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
