"""`shoal schema`"""

from typing import Annotated

import typer


def schema(
    result: Annotated[
        str | None,
        typer.Argument(metavar="[RESULT]", help="A result, such as risk; all names if not given.", show_default=False),
    ] = None,
) -> None:
    """**The JSON Schema of what `--json` prints**, for each result.

    Examples:

        shoal schema

        shoal schema risk
    """
    from shoal.cli.options import as_json
    from shoal.results.registry import MODULES, result_type, schema_of

    if result is None:
        typer.echo("\n".join(MODULES))
    else:
        typer.echo(as_json(schema_of(result_type(result)), indent=2))
