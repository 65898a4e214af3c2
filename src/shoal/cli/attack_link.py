"""`shoal attack link`"""

from __future__ import annotations

from typing import Annotated

import typer

from shoal.cli.attack_all import ForceRowsOption, ReleaseArgument, SeedOption, TargetsOutOption
from shoal.cli.options import (
    DelimiterOption,
    EncodingOption,
    JsonOption,
    MissingOption,
    names_of,
    one_of,
    print_json,
    reading,
)
from shoal.vocabulary import NullRule


def attack_link(
    file: ReleaseArgument,
    identified: Annotated[
        str, typer.Option("--with", metavar="FILE", help="The identified file: people with names.", show_default=False)
    ],
    on: Annotated[
        list[str] | None,
        typer.Option(
            "--on",
            metavar="COLUMNS",
            help="Columns to link on, age=age_yrs,sex where names differ; all in common if not given.",
            show_default=False,
        ),
    ] = None,
    truth: Annotated[
        str | None,
        typer.Option(
            "--truth", metavar="COLUMN", help="A column of both files that says who is who.", show_default=False
        ),
    ] = None,
    null_rule: Annotated[
        str | None,
        typer.Option("--null-rule", metavar="RULE", help="value, wildcard or drop.", show_default=False),
    ] = None,
    targets_out: TargetsOutOption = None,
    force: ForceRowsOption = False,
    seed: SeedOption = 0,
    encoding: EncodingOption = None,
    delimiter: DelimiterOption = None,
    missing: MissingOption = None,
    as_json: JsonOption = False,
) -> None:
    """**Link an identified file with the release**: who fits which record?

    Released ranges, prefixes, sets and `*` are read as such; means and perturbed values by the nearest record.

    Example:

        shoal attack link safe.parquet --with voters.csv --on age=age_yrs,sex,zip=patzip
    """
    from shoal.attacks.link import attack_link as attack
    from shoal.cli.showing import running, show

    with running(quiet=as_json):
        found = attack(
            file,
            identified=identified,
            on=names_of(on),
            truth=truth,
            null_rule=one_of("--null-rule", null_rule, NullRule),
            seed=seed,
            targets_out=targets_out,
            force=force,
            options=reading(encoding, delimiter, missing),
        )
    print_json(found.to_dict()) if as_json else show(found)
