"""Whole commands, interpreter start included."""

from __future__ import annotations

import sys

from common import QUASI_IDENTIFIERS, command, discharges, row, shoal_command, title


def main() -> None:
    """Print what a user waits for; the baseline of `risk` is polars reading and grouping the same file."""
    path = str(discharges())
    title("Whole commands")
    script = (
        "import polars as pl, sys\n"
        "names = sys.argv[2].split(',')\n"
        "print(pl.read_parquet(sys.argv[1], columns=names).group_by(names).len().group_by('len').len(name='classes'))"
    )
    names = ",".join(QUASI_IDENTIFIERS)
    baseline = command(sys.executable, "-c", script, path, names)
    row("polars: read, group, histogram", baseline, baseline)
    row("shoal risk discharges.parquet", shoal_command("risk", path, "--qi", names, "--json"), baseline)
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


if __name__ == "__main__":
    main()
