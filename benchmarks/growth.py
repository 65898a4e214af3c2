"""Growth: 1, 4, 16 and 100 million rows (seeds one after the other) through the whole command."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from common import DATA, FULL, QUASI_IDENTIFIERS, Cost, discharges, row, shoal_command, title

MILLIONS = (1, 4, 16, 100)


def files(millions: int) -> list[Path]:
    """Files that hold so many million rows together."""
    wanted, found, seed = millions * 1_000_000, [], 0
    while wanted:
        whole = discharges(seed)
        take = min(wanted, FULL)
        if take < FULL:
            part = DATA / f"part-{seed}-{take}.parquet"
            if not part.exists():
                pl.scan_parquet(whole).head(take).sink_parquet(part)
            whole = part
        found.append(whole)
        wanted -= take
        seed += 1
    return found


def main() -> None:
    """Print cost per row; it may grow by at most half from 1 to 100 million."""
    title("Growth of shoal risk with 9 quasi-identifiers")
    first: Cost | None = None
    for millions in MILLIONS:
        paths = [str(path) for path in files(millions)]
        names = ",".join(QUASI_IDENTIFIERS)
        cost = shoal_command("risk", *paths, "--qi", names, "--json", repeat=3 if millions < 100 else 1)
        first = first or cost
        growth = (cost.cpu / millions) / first.cpu
        row(
            f"{millions:>4} million rows",
            cost,
            note=f"{cost.cpu / millions:.3f} CPU s per million, {growth:.2f}x the first",
        )


if __name__ == "__main__":
    main()
