"""`shoal standards`"""

from __future__ import annotations

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

        shoal risk trial.csv --policy ema-0070 --qi age,sex,country --fail-over
    """
    from shoal.cli.show_standards import show_standards
    from shoal.errors import InputError
    from shoal.policy.named import STANDARDS, find_standard
    from shoal.writing import check_target, write_whole

    chosen = list(STANDARDS.values()) if name is None else [find_standard(name)]
    if output is not None:
        if name is None:
            raise InputError("Which standard?", "Name one: shoal standards ema-0070 -o policy.yaml.")
        check_target(output, force, (".yaml", ".yml"))
        write_whole(output, lambda draft: draft.write_text(chosen[0].policy_text(), encoding="utf-8"))
    if as_json:
        print_json({"standards": [standard.to_dict() for standard in chosen]})
    elif output is None and name is not None:
        typer.echo(chosen[0].policy_text(), nl=False)
    elif output is None:
        show_standards()
