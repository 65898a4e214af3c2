"""`shoal sample-data`"""

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.options import JsonOption, print_json


def sample_data(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="discharges: hospital stays in California. licences: driving licences of a small region. "
            "ratings: who rated which film when. trips: which phone was in which cell in which hour.",
        ),
    ],
    output: Annotated[
        Path,
        typer.Option("-o", "--output", metavar="FILE", help="Where to write; the file extension says the format."),
    ],
    rows: Annotated[
        int | None,
        typer.Option("-n", "--rows", help="How many rows; as many as in the paper it stands for.", show_default=False),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="The same seed gives the same table.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that exists.")] = False,
    as_json: JsonOption = False,
) -> None:
    """**Generate a table to try shoal on**: synthetic, modelled on real tables.

    Example:

        shoal sample-data discharges -n 200000 --seed 0 -o discharges.parquet
    """
    from shoal.cli.showing import running, show
    from shoal.reproduction.sample.written import write_sample

    with running(quiet=as_json):
        result = write_sample(name, output=output, rows=rows, seed=seed, force=force)
    print_json(result.to_dict()) if as_json else show(result)
