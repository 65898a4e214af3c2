"""`shoal import-policy`"""

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.options import JsonOption, print_json


def import_policy(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="An ARX project (.deid), an sdcMicro problem (JSON), or an Amnesia hierarchy (text).",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Where the policy goes (YAML).", show_default=False),
    ] = None,
    column: Annotated[
        str | None,
        typer.Option(
            "--column", metavar="NAME", help="The column of an Amnesia hierarchy, if not its own.", show_default=False
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files that exist.")] = False,
    as_json: JsonOption = False,
) -> None:
    """**Take over a project of ARX, sdcMicro or Amnesia as a policy**, and say what could not be taken.

    Hierarchies become CSV files in a folder beside the policy. Data inside a project is not read.

    Example:

        shoal import-policy project.deid -o policy.yaml
    """
    from shoal.cli.showing import show
    from shoal.policy.migration.import_policy import import_policy as taken_over

    result = taken_over(file, output=output, column=column, force=force)
    print_json(result.to_dict()) if as_json else show(result)
