"""A billion rows: parts of a discharge table, and the commands on them with CPU seconds, memory and disk."""

from __future__ import annotations

import sys
from pathlib import Path

from common import QUASI_IDENTIFIERS

PART = 4_000_000


def write_parts(folder: Path, millions: int, start: int = 0) -> None:
    """Parquet parts of 4 million rows each, one seed each, nine columns; those that are there stay."""
    from shoal.sample import sample_data
    from shoal.writing import write_frame

    folder.mkdir(exist_ok=True)
    for seed in range(start, millions // 4):
        path = folder / f"part-{seed:03}.parquet"
        if not path.exists():
            write_frame(sample_data("discharges", PART, seed).select(QUASI_IDENTIFIERS), path)


if __name__ == "__main__":
    write_parts(Path(sys.argv[1]), *map(int, sys.argv[2:]))
