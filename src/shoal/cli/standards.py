"""`shoal standards`"""

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.options import JsonOption, print_json


def standards(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="One standard; all if not given.", show_default=False)
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Write its policy to a file.", show_default=False),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a policy file that exists.")] = False,
    as_json: JsonOption = False,
) -> None:
    """**Standards as named policies**, each with its source and date. Thresholds are yours to confirm.

    A name can stand wherever a policy is asked for.

    Examples:

        shoal standards

        shoal standards ema-0070 -o policy.yaml

        shoal risk trial.csv --policy ema-0070 --qi age,sex,country --fail-above-threshold
    """
    from shoal.cli.showing import show
    from shoal.policy.named import standards as listed

    result = listed(name, output=output, force=force)
    if as_json:
        print_json(result.to_dict())
    elif output is None and name is not None:
        typer.echo(result.standards[0].policy_text, nl=False)
    else:
        show(result)
