"""The first `anonymize` in a fresh environment beside the second: what compiling costs, and what is left of it."""

from __future__ import annotations

import sys
import tempfile
from os import environ
from pathlib import Path

from common import QUASI_IDENTIFIERS, Cost, command, discharges, row, title

ROWS = 20_000
WARM_ROWS = (30_000, 50_000)


def anonymized(rows: int, cache: str, *options: str) -> Cost:
    """The whole command with a cache of machine code of its own; the peak memory is that of the largest process."""
    with tempfile.TemporaryDirectory() as folder:
        output = str(Path(folder) / "safe.parquet")
        arguments = [str(discharges(rows=rows)), "-o", output, "--qi", ",".join(QUASI_IDENTIFIERS), "-k", "5"]
        run = [sys.executable, "-m", "shoal", "anonymize", *arguments, "--decide", "charge=other", *options]
        return command(*run, repeat=1, env={**environ, "NUMBA_CACHE_DIR": cache})


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as both:
        for name, options in (("mondrian", ["--method", "mondrian"]), ("without a method", [])):
            title(f"`shoal anonymize`, {name}, {ROWS:,} rows")
            with tempfile.TemporaryDirectory() as cache:
                cold = anonymized(ROWS, cache, *options)
                warm = min((anonymized(ROWS, cache, *options) for _ in range(3)), key=lambda cost: cost.cpu)
            row("second time", warm)
            row("first time", cold, warm, "bar: 10 s, without a method 12 s of wall time on 2 idle cores")
        title("`shoal anonymize` without a method, machine code on disk")
        anonymized(ROWS, both)
        for rows in WARM_ROWS:
            cost = min((anonymized(rows, both) for _ in range(3)), key=lambda cost: cost.cpu)
            row(f"{rows:,} rows", cost, None, "bar: 4 s CPU")


if __name__ == "__main__":
    main()
