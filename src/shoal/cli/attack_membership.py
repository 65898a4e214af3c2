"""`shoal attack membership`"""

from __future__ import annotations

from typing import Annotated

import typer

from shoal.cli.attack_all import SeedOption
from shoal.cli.options import (
    DelimiterOption,
    EncodingOption,
    JsonOption,
    MissingOption,
    PolicyOption,
    print_json,
    reading,
)


def attack_membership(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="Published frequencies, a row per marker; or a release.", show_default=False
        ),
    ],
    candidates: Annotated[
        str, typer.Option("--candidates", metavar="FILE", help="People who are in the data.", show_default=False)
    ],
    reference: Annotated[
        str, typer.Option("--reference", metavar="FILE", help="People like them who are not.", show_default=False)
    ],
    marker: Annotated[str, typer.Option("--marker", metavar="COLUMN", help="The names of the markers.")] = "marker",
    frequency: Annotated[
        str, typer.Option("--frequency", metavar="COLUMN", help="How frequent the allele is, 0 to 1.")
    ] = "frequency",
    epsilon: Annotated[
        float | None,
        typer.Option("--epsilon", metavar="X", help="The privacy budget of what was published.", show_default=False),
    ] = None,
    delta: Annotated[float, typer.Option("--delta", metavar="X", help="Its delta.")] = 0.0,
    policy: PolicyOption = None,
    seed: SeedOption = 0,
    encoding: EncodingOption = None,
    delimiter: DelimiterOption = None,
    missing: MissingOption = None,
    as_json: JsonOption = False,
) -> None:
    """**Who is in the data?** Power at 0.1% and 1% false positives, from frequencies (Homer 2008) or a release.

    Exit code 1 if more is found than a privacy budget, or the limit on membership in the policy, allows.

    Example:

        shoal attack membership frequencies.csv --candidates genomes.csv --reference reference.csv
    """
    from shoal.attacks.membership import attack_membership as attack
    from shoal.cli.showing import running, show

    with running(quiet=as_json):
        found = attack(
            file,
            candidates=candidates,
            reference=reference,
            marker=marker,
            frequency=frequency,
            epsilon=epsilon,
            delta=delta,
            policy=policy,
            seed=seed,
            options=reading(encoding, delimiter, missing),
        )
    print_json(found.to_dict()) if as_json else show(found)
    if not found.holds:
        raise typer.Exit(1)
