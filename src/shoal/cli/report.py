"""`shoal report`"""

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.options import ForceOption


def report(
    source: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="A folder that `shoal publish` wrote, or a findings.json.")
    ],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="The report as a page.", show_default=False)
    ] = None,
    pdf: Annotated[
        Path | None, typer.Option("--pdf", metavar="FILE", help="The report as PDF.", show_default=False)
    ] = None,
    crosswalk: Annotated[
        str | None,
        typer.Option(
            "--for",
            metavar="iso-27559|hipaa|ema|wp29",
            help="The same facts under the headings of a standard.",
            show_default=False,
        ),
    ] = None,
    public: Annotated[bool, typer.Option("--public", help="Omit what would help an attacker.")] = False,
    force: ForceOption = False,
) -> None:
    """**Write the report of a publication again**, from its findings alone.

    Examples:

        shoal report release.private -o report.html

        shoal report release --for ema --pdf report.pdf
    """
    from shoal.cli.render import out
    from shoal.reports.publication.results import report_files

    for path in report_files(source, html=output, pdf=pdf, crosswalk=crosswalk, public=public, force=force):
        out.print(f"  report written to {path}", soft_wrap=True)
