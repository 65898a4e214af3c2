"""A billion rows on one machine: `python benchmarks/billion.py FOLDER [MILLIONS]` makes the parts and measures risk.

A thousand million rows are 5.3 GB of Parquet and up to 32 GB of temporary files; the parts stay until you remove them.
"""

from __future__ import annotations

import sys
from pathlib import Path

from common import QUASI_IDENTIFIERS, row, shoal_command, title

PART = 4_000_000


def write_parts(folder: Path, millions: int) -> None:
    """Parquet parts of 4 million rows each, one seed each, nine columns; those that are there stay."""
    from shoal.reproduction.sample import sample_data
    from shoal.storage.writing import write_frame

    folder.mkdir(exist_ok=True)
    for seed in range(millions // 4):
        path = folder / f"part-{seed:03}.parquet"
        if not path.exists():
            write_frame(sample_data("discharges", PART, seed).select(QUASI_IDENTIFIERS), path)


def main(folder: Path, millions: int = 1_000) -> None:
    """Make the parts that are missing, then measure the whole command."""
    write_parts(folder, millions)
    title(f"shoal risk on {millions:,} million rows")
    parts = [str(folder / f"part-{seed:03}.parquet") for seed in range(millions // 4)]
    cost = shoal_command("risk", *parts, "--qi", ",".join(QUASI_IDENTIFIERS), "--json", repeat=1)
    row(f"{millions:,} million rows", cost, note=f"{cost.cpu / millions:.3f} CPU s per million")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
