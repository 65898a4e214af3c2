"""Growth: 4, 16 and 64 million rows (seeds one after the other) through whole commands, in memory and on disk.

`python benchmarks/growth.py [risk] [anonymize]`; a release of 64 million rows takes 5 GB of temporary files.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import polars as pl

from common import DATA, FULL, QUASI_IDENTIFIERS, discharges, row, shoal_command, streaming, title

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


def grown(what: str, arguments: list[str], settings: list[str], start: float, repeat: int) -> None:
    """Print cost per row, start-up apart; from 4 to 64 million it may grow by 1.4 at most."""
    first = 0.0
    for millions in MILLIONS:
        paths = [str(path) for path in files(millions)]
        times = repeat if millions < 64 else 1
        cost = shoal_command(arguments[0], *paths, *arguments[1:], *settings, "--json", repeat=times)
        each = (cost.cpu - start) / millions
        first = first or each
        row(f"{millions:>4} million rows {what}", cost, note=f"{each:.3f} CPU s per million, {each / first:.2f}x")
        if each > MOST * first:
            print(f"     GROWS by more than {MOST}")


def beside_streaming() -> None:
    """16 million rows by `shoal risk` and by polars' streaming engine."""
    paths, names = files(16), ",".join(QUASI_IDENTIFIERS)
    title("16 million rows in memory, beside polars' streaming engine")
    baseline = streaming(QUASI_IDENTIFIERS, *paths)
    row("polars streaming: read, group, histogram", baseline, baseline)
    cost = shoal_command("risk", *map(str, paths), "--qi", names, "--memory", "20GB", "--json")
    row("shoal risk", cost, baseline, "bar: 2 s wall on 2 idle cores; polars recorded: 2.7")


def main(*jobs: str) -> None:
    """Risk in memory and on disk, and a release on disk."""
    jobs = jobs or ("risk", "anonymize")
    names = ",".join(QUASI_IDENTIFIERS)
    start = shoal_command("risk", str(discharges(0, 100)), "--qi", names, "--json").cpu
    if "risk" in jobs:
        title(f"Growth of shoal risk with 9 quasi-identifiers, start-up apart ({start:.2f} CPU s)")
        grown("in memory", ["risk", "--qi", names], ["--memory", "20GB"], start, 3)
        beside_streaming()
        grown("on disk", ["risk", "--qi", names], ["--memory", "64MB"], start, 3)
    if "anonymize" in jobs:
        title("Growth of shoal anonymize --method coarsen, read, shuffled, written and verified")
        with tempfile.TemporaryDirectory() as folder:
            output = [*("-o", f"{folder}/safe.parquet"), "--force", "--no-guarantee", *("--decide", "charge=other")]
            method = ["--method", "coarsen", *("--resolution", "4")]
            grown("on disk", ["anonymize", "--qi", names, *method, *output], ["--memory", "500MB"], start, 1)


if __name__ == "__main__":
    main(*sys.argv[1:])
