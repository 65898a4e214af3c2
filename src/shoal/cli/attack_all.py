"""`shoal attack all`"""

from __future__ import annotations

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
    policy: PolicyOption = None,
    targets: TargetsOption = 2_000,
    seed: SeedOption = 0,
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
    from shoal.cli.console import running
    from shoal.cli.render import show

    with running(quiet=as_json):
        found = attack(
            file,
            original=original,
            control=control,
            policy=policy,
            targets=targets,
            seed=seed,
            options=reading(encoding, delimiter, missing),
        )
    print_json(found.to_dict()) if as_json else show(found)
    if not found.holds:
        raise typer.Exit(1)
