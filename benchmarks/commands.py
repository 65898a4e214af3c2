"""Whole commands, interpreter start included."""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl

from common import QUASI_IDENTIFIERS, Cost, command, discharges, row, shoal_command, streaming, title


def as_csv(path: Path) -> Path:
    """The same table as CSV, made once."""
    text = path.with_suffix(".csv")
    if not text.exists():
        pl.scan_parquet(path).sink_csv(text)
    return text


def beside_streaming(path: Path, bar: str) -> Cost:
    """`shoal risk` beside polars' streaming engine, which reads the same columns and counts the same classes."""
    baseline, names = streaming(QUASI_IDENTIFIERS, path), ",".join(QUASI_IDENTIFIERS)
    row(f"polars streaming: {path.suffix[1:]}, group, histogram", baseline, baseline)
    cost = shoal_command("risk", str(path), "--qi", names, "--json")
    row(f"shoal risk discharges{path.suffix}", cost, baseline, f"bar: {bar} on 2 idle cores")
    if cost.cpu > baseline.cpu:
        print("     SLOWER than polars")
    return baseline


def main() -> None:
    """Print what a user waits for; the baseline of `risk` is polars' streaming engine on the same file."""
    whole = discharges()
    path, names = str(whole), ",".join(QUASI_IDENTIFIERS)
    title("Whole commands")
    baseline = beside_streaming(whole, ".90 s CPU, .65 s wall")
    beside_streaming(as_csv(whole), "2.2 s CPU, 1.5 s wall")
    know = [
        "--knowledge",
        "C=age_yrs,sex,ethncty,race,patzip,patcnty",
        "--knowledge",
        "S=oshpd_id",
        "--knowledge",
        "T=los,adm_qtr",
    ]
    row("shoal risk, 7 combinations of knowledge", shoal_command("risk", path, *know, "--json"), baseline)
    row("shoal profile", shoal_command("profile", path, "--json"), baseline)
    title("Start")
    start = command(sys.executable, "-c", "pass")
    row("python", start, start)
    row("import shoal", command(sys.executable, "-c", "import shoal"), start)
    row("shoal --help", shoal_command("--help"), start)
    small = shoal_command("risk", str(as_csv(discharges(0, 100))), "--qi", names)
    row("shoal risk, 100 rows of CSV", small, start, "bar: .45 s CPU; pycanon on Adult, recorded: .68")


if __name__ == "__main__":
    main()
