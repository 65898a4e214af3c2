"""`anonymize` of a table that fits a screen's patience: the whole command, which compiles nothing, ever."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from common import QUASI_IDENTIFIERS, Cost, command, discharges, row, title

SIZES = (20_000, 30_000, 50_000)


def anonymized(rows: int, *options: str) -> Cost:
    """The whole command; the peak memory is that of the largest process."""
    with tempfile.TemporaryDirectory() as folder:
        output = str(Path(folder) / "safe.parquet")
        arguments = [str(discharges(rows=rows)), "-o", output, "--qi", ",".join(QUASI_IDENTIFIERS), "-k", "5"]
        run = [sys.executable, "-m", "shoal", "anonymize", *arguments, "--decide", "charge=other", *options]
        return command(*run, repeat=1)


def main() -> None:
    """Print the table."""
    for name, options in (("mondrian", ["--method", "mondrian"]), ("without a method", [])):
        title(f"`shoal anonymize`, {name}")
        for rows in SIZES:
            cost = min((anonymized(rows, *options) for _ in range(3)), key=lambda cost: cost.cpu)
            row(f"{rows:,} rows", cost, None, "bar: 2.2 CPU s at 20,000 rows")


if __name__ == "__main__":
    main()
