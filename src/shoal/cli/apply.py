"""`shoal apply`"""

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.options import (
    BomOption,
    DecideOption,
    DecimalCommaOption,
    DelimiterOption,
    EncodingOption,
    ForceOption,
    JsonOption,
    KeepOrderOption,
    MissingAsOption,
    MissingOption,
    OutputDelimiterOption,
    ShuffleSeedOption,
    SignOption,
    SuppressedAsOption,
    either,
    one_of,
    output_of,
    reading,
    roles_of,
    show_release,
)
from shoal.vocabulary import Unseen


def apply(
    plan: Annotated[
        Path,
        typer.Argument(metavar="PLAN", help="The plan that `anonymize` wrote: --method lattice, or mondrian --plan."),
    ],
    file: Annotated[str, typer.Argument(metavar="FILE", help="New data with the same columns.")],
    output: Annotated[str, typer.Option("-o", "--output", metavar="FILE", help="Where to release.")],
    unseen: Annotated[
        str,
        typer.Option(
            "--unseen",
            metavar=either(Unseen),
            help="Records with values that the plan does not know, or whose class breaks the policy.",
        ),
    ] = "refuse",
    keep_order: KeepOrderOption = False,
    seed: ShuffleSeedOption = None,
    decide: DecideOption = None,
    output_delimiter: OutputDelimiterOption = None,
    decimal_comma: DecimalCommaOption = False,
    bom: BomOption = False,
    suppressed_as: SuppressedAsOption = None,
    missing_as: MissingAsOption = None,
    sign: SignOption = None,
    force: ForceOption = False,
    encoding: EncodingOption = None,
    delimiter: DelimiterOption = None,
    missing: MissingOption = None,
    as_json: JsonOption = False,
) -> None:
    """**Apply a plan to new data: fit once, release again, verified again.**

    The same levels or cuts, the same policy. What does not fit, and what would break the policy in the new data, is
    refused, or suppressed if you say so.

    Examples:

        shoal apply safe.plan.json next-year.csv -o safe-next-year.csv

        shoal apply safe.plan.json next-year.csv -o safe-next-year.csv --unseen suppress
    """
    from shoal.cli.showing import running
    from shoal.releases.jobs import Writing, release_applied

    written = output_of(output_delimiter, decimal_comma, bom, missing_as, suppressed_as)
    with running(quiet=as_json):
        result = release_applied(
            file,
            plan=plan,
            output=output,
            writing=Writing(force, not keep_order, seed, sign=sign, output=written),
            unseen=one_of("--unseen", unseen, Unseen),
            decide=roles_of(decide),
            options=reading(encoding, delimiter, missing),
        )
    show_release(result, as_json)
