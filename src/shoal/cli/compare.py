"""`shoal compare`"""

from __future__ import annotations

from typing import Annotated

import typer

from shoal.cli.options import JsonOption, print_json


def compare(
    manifests: Annotated[
        list[str], typer.Argument(metavar="MANIFEST...", help="Manifests, or the released files beside them.")
    ],
    as_json: JsonOption = False,
) -> None:
    """**Set releases side by side: loss, disclosure, classes, time.**

    Examples:

        shoal compare fast.manifest.json best.manifest.json lattice.manifest.json
    """
    from shoal.cli.render import show
    from shoal.releases.compare import compare as look

    result = look(manifests)
    print_json(result.to_dict()) if as_json else show(result)
