"""`shoal apply`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.options import (
    DelimiterOption,
    EncodingOption,
    ForceOption,
    JsonOption,
    KeepOrderOption,
    MissingOption,
    ShuffleSeedOption,
    one_of,
    reading,
)


def apply(
    plan: Annotated[
        Path, typer.Argument(metavar="PLAN", help="The plan that `shoal anonymize --method lattice` wrote.")
    ],
    file: Annotated[str, typer.Argument(metavar="FILE", help="New data with the same columns.")],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="Where to release.")],
    unseen: Annotated[
        str,
        typer.Option(
            "--unseen",
            metavar="refuse|suppress",
            help="Records with values that the plan does not know, or whose class breaks the policy.",
        ),
    ] = "refuse",
    keep_order: KeepOrderOption = False,
    seed: ShuffleSeedOption = None,
    force: ForceOption = False,
    encoding: EncodingOption = None,
    delimiter: DelimiterOption = None,
    missing: MissingOption = None,
    as_json: JsonOption = False,
) -> None:
    """**Apply a plan to new data: fit once, release again, verified again.**

    The same levels, the same policy. What does not fit is refused, or suppressed if you say so.

    Examples:

        shoal apply safe.plan.json next-year.csv -o safe-next-year.csv

        shoal apply safe.plan.json next-year.csv -o safe-next-year.csv --unseen suppress
    """
    from shoal.anonymization.solve import apply_plan
    from shoal.cli.anonymize import release_and_show
    from shoal.cli.console import running
    from shoal.writing import check_target

    check_target(output, force)
    with running(quiet=as_json):
        result = apply_plan(
            file,
            plan=plan,
            unseen=one_of("--unseen", unseen, ("refuse", "suppress")),
            options=reading(encoding, delimiter, missing),
        )
        release_and_show(result, output, as_json, force=force, shuffle=not keep_order, seed=seed, source=Path(file))
