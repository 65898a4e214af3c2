"""Growth: 4, 16 and 64 million rows (seeds one after the other) through the whole command, in memory and on disk."""

from __future__ import annotations

import os
from pathlib import Path

import polars as pl

from common import DATA, FULL, QUASI_IDENTIFIERS, discharges, row, shoal_command, title

MILLIONS = (4, 16, 64)
MOST = 1.4


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
    """Print cost per row, start-up apart, in memory and on disk; from 4 to 64 million it may grow by 1.4 at most."""
    names = ",".join(QUASI_IDENTIFIERS)
    start = shoal_command("risk", str(discharges(0, 100)), "--qi", names, "--json")
    title(f"Growth of shoal risk with 9 quasi-identifiers, start-up apart ({start.cpu:.2f} CPU s)")
    for where, memory in (("in memory", "20GB"), ("on disk", "64MB")):
        os.environ["SHOAL_MEMORY"] = memory
        first = 0.0
        for millions in MILLIONS:
            paths = [str(path) for path in files(millions)]
            cost = shoal_command("risk", *paths, "--qi", names, "--json", repeat=3 if millions < 64 else 1)
            each = (cost.cpu - start.cpu) / millions
            first = first or each
            row(f"{millions:>4} million rows {where}", cost, note=f"{each:.3f} CPU s per million, {each / first:.2f}x")
            if each > MOST * first:
                print(f"     GROWS by more than {MOST}")


if __name__ == "__main__":
    main()
