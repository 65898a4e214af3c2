"""`shoal regenerate`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli.options import (
    DelimiterOption,
    EncodingOption,
    File,
    JsonOption,
    MissingOption,
    one_or_many,
    print_json,
    reading,
)
from shoal.errors import InputError


def regenerate(
    file: File,
    distribution: Annotated[
        Path,
        typer.Option("--distribution", metavar="FILE", help="Column, then how many cells get each value: value,count."),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="Where to write.")],
    seed: Annotated[
        int | None,
        typer.Option("--seed", min=0, help="Which cells get which value; drawn if not given.", show_default=False),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that exists.")] = False,
    encoding: EncodingOption = None,
    delimiter: DelimiterOption = None,
    missing: MissingOption = None,
    as_json: JsonOption = False,
) -> None:
    """**Fill masked cells so that a known distribution comes out** (Sánchez et al., Algorithm S1).

    The distribution is a file with two columns: the first has the name of the column to fill and its values, the second
    how many of the masked cells (`*` or empty) get each. The result is synthetic there; it carries no guarantee.

    Example:

        shoal regenerate masked.csv --distribution race.csv -o filled.csv --seed 1
    """
    import secrets

    from shoal.anonymization.transforms.regenerate import fill_column
    from shoal.cli.console import running
    from shoal.cli.show import show_written
    from shoal.reading import read
    from shoal.writing import check_target, write_frame

    check_target(output, force)
    with running(quiet=as_json):
        table = read(one_or_many(file), None, reading(encoding, delimiter, missing))
        wanted = read(distribution).to_polars()
        if wanted.width != 2 or not wanted.dtypes[1].is_integer():
            raise InputError(f"{distribution} is no distribution.", "It needs two columns: values, and whole counts.")
        name = wanted.columns[0]
        column = table.select([name])[0]
        series, filled, left = fill_column(column, wanted, secrets.randbits(63) if seed is None else seed)
        write_frame(table.to_polars().with_columns(series), output, force)
    found: dict[str, Any] = {"column": name, "filled": filled, "still_masked": left, "output": str(output)}
    print_json(found) if as_json else show_written(f"{filled:,} cells of {name} filled, {left:,} still masked;", output)
