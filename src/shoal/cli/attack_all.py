"""`shoal attack all`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.options import (
    DelimiterOption,
    EncodingOption,
    JsonOption,
    MissingOption,
    PolicyOption,
    print_json,
    reading,
)

ReleaseArgument = Annotated[str, typer.Argument(metavar="FILE", help="The released data.", show_default=False)]
TargetsOption = Annotated[int, typer.Option("--targets", metavar="N", help="Attack at most so many people.")]
SeedOption = Annotated[int, typer.Option("--seed", metavar="N", help="Random seed.")]
TargetsOutOption = Annotated[
    Path | None,
    typer.Option(
        "--targets-out",
        metavar="FILE",
        help="Write the row numbers of those who were hit (.csv, for its owner only).",
        show_default=False,
    ),
]
ForceRowsOption = Annotated[bool, typer.Option("--force", help="Replace a file of row numbers that exists.")]


def attack_all(
    file: ReleaseArgument,
    original: Annotated[
        str | None,
        typer.Option("--original", metavar="FILE", help="The table it was made from.", show_default=False),
    ] = None,
    control: Annotated[
        str | None,
        typer.Option(
            "--control",
            metavar="FILE",
            help="People of the same kind who are not in the release.",
            show_default=False,
        ),
    ] = None,
    id_column: Annotated[
        str | None,
        typer.Option(
            "--id",
            metavar="COLUMN",
            help="A column of original and control that says whose row it is; the policy's person if not given.",
            show_default=False,
        ),
    ] = None,
    policy: PolicyOption = None,
    twin: Annotated[
        bool,
        typer.Option(
            "--twin/--no-twin", help="Without a control: anonymise and attack half of the people, against the other."
        ),
    ] = True,
    targets: TargetsOption = 2_000,
    seed: SeedOption = 0,
    targets_out: TargetsOutOption = None,
    force: ForceRowsOption = False,
    encoding: EncodingOption = None,
    delimiter: DelimiterOption = None,
    missing: MissingOption = None,
    as_json: JsonOption = False,
) -> None:
    """**Run every attack that applies**, with a verdict on each criterion of WP29.

    Exit code 1 if a limit of the policy's section `attacks` is exceeded.

    Example:

        shoal attack all safe.parquet --original visits.parquet
    """
    from shoal.attacks.battery import attack
    from shoal.cli.showing import running, show

    with running(quiet=as_json):
        found = attack(
            file,
            original=original,
            control=control,
            policy=policy,
            id_column=id_column,
            twin=twin,
            targets=targets,
            seed=seed,
            targets_out=targets_out,
            force=force,
            options=reading(encoding, delimiter, missing),
        )
    print_json(found.to_dict()) if as_json else show(found)
    if not found.holds:
        raise typer.Exit(1)
