"""`shoal report`"""

from __future__ import annotations

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
    public: Annotated[bool, typer.Option("--public", help="Without what helps an attacker.")] = False,
    force: ForceOption = False,
) -> None:
    """**Write the report of a publication again**, from its findings alone.

    Examples:

        shoal report release.private -o report.html

        shoal report release --for ema --pdf report.pdf
    """
    from shoal.cli.console import out
    from shoal.errors import InputError
    from shoal.publication.small_counts import for_the_public
    from shoal.reports.findings import read_findings
    from shoal.reports.report import write_report

    if output is None and pdf is None:
        raise InputError("No report was asked for.", "Name a page with -o, a PDF with --pdf, or both.")
    found = read_findings(source)
    found = for_the_public(found) if public else found
    for path, ending in ((output, ".html"), (pdf, ".pdf")):
        if path is None:
            continue
        if path.suffix.lower() != ending:
            raise InputError(f"{path} does not end in {ending}.", f"Name a file that ends in {ending}.")
        write_report(found, path, crosswalk=crosswalk, force=force)
        out.print(f"  report written to {path}", soft_wrap=True)
