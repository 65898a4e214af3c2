"""`shoal compare`"""

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.options import ForceOption, JsonOption, print_json


def compare(
    manifests: Annotated[
        list[str],
        typer.Argument(metavar="RELEASE...", help="Manifests, released files, or folders that `shoal publish` wrote."),
    ],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Also as a page (.html).", show_default=False)
    ] = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """**Set releases side by side: loss, disclosure, classes, time.**

    Folders that `shoal publish` wrote are compared by all their findings: risk before and after, attacks, loss.

    Examples:

        shoal compare fast.manifest.json best.manifest.json lattice.manifest.json

        shoal compare release-k5 release-k11 -o compare.html
    """
    from shoal.cli.showing import show
    from shoal.reports.publication.compare import check_page, compare_releases, write_comparison

    if output is not None:
        check_page(output, force)
    result = compare_releases(manifests)
    if output is not None:
        write_comparison(result, output)
    print_json(result.to_dict()) if as_json else show(result)
