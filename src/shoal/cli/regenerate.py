"""`shoal regenerate`"""

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.options import (
    DelimiterOption,
    EncodingOption,
    File,
    JsonOption,
    MissingOption,
    QueryOption,
    one_or_many,
    print_json,
    reading,
)


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
    query: QueryOption = None,
    as_json: JsonOption = False,
) -> None:
    """**Fill masked cells so that a known distribution comes out** (Sánchez et al., Algorithm S1).

    The distribution is a file with two columns: the first has the name of the column to fill and its values, the second
    how many of the masked cells (`*` or empty) get each. The result is synthetic there; it carries no guarantee.

    Example:

        shoal regenerate masked.csv --distribution race.csv -o filled.csv --seed 1
    """
    from shoal.cli.showing import running, show
    from shoal.methods.regenerate import regenerate as fill

    with running(quiet=as_json):
        result = fill(
            one_or_many(file, query),
            distribution=distribution,
            output=output,
            seed=seed,
            force=force,
            options=reading(encoding, delimiter, missing),
        )
    print_json(result.to_dict()) if as_json else show(result)
