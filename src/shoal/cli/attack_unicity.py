"""`shoal attack unicity`"""

from __future__ import annotations

from typing import Annotated

import typer

from shoal.cli.attack_all import SeedOption, TargetsOption
from shoal.cli.options import (
    DelimiterOption,
    EncodingOption,
    File,
    JsonOption,
    MissingOption,
    QueryOption,
    how_of,
    names_of,
    one_or_many,
    print_json,
    reading,
)


def attack_unicity(
    file: File,
    person: Annotated[str, typer.Option("--person", metavar="COLUMN", help="Whose row it is.", show_default=False)],
    columns: Annotated[
        list[str],
        typer.Option("--columns", metavar="COLUMNS", help="What makes a point: cell,hour.", show_default=False),
    ],
    points: Annotated[str, typer.Option("--points", metavar="N,...", help="How many points are known.")] = "1,2,3,4",
    coarsen: Annotated[
        list[str] | None,
        typer.Option(
            "--coarsen",
            metavar="COLUMN=STEPS",
            help="Measure again with coarser values: hour=6,24 (numbers), when=6h,1d (times), cell=5,3 (leading "
            "characters of texts). Repeat it.",
            show_default=False,
        ),
    ] = None,
    targets: TargetsOption = 10_000,
    seed: SeedOption = 0,
    encoding: EncodingOption = None,
    delimiter: DelimiterOption = None,
    missing: MissingOption = None,
    query: QueryOption = None,
    as_json: JsonOption = False,
) -> None:
    """**How many points of a trace single its person out?** (de Montjoye 2013)

    Example:

        shoal attack unicity trips.parquet --person user --columns cell,hour --points 1,2,3,4
    """
    from shoal.attacks.unicity import attack_unicity as attack
    from shoal.cli.showing import running, show
    from shoal.policy.amounts import parse_targets

    steps = how_of(coarsen, "--coarsen") if coarsen else {}
    with running(quiet=as_json):
        found = attack(
            one_or_many(file, query),
            person=person,
            columns=names_of(columns) or [],
            points=parse_targets(points),
            coarsen={name: names_of([text]) or [] for name, text in steps.items()} or None,
            targets=targets,
            seed=seed,
            options=reading(encoding, delimiter, missing),
        )
    print_json(found.to_dict()) if as_json else show(found)
