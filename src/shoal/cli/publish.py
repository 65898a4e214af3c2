"""`shoal publish`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.options import (
    DecideOption,
    DelimiterOption,
    EncodingOption,
    File,
    ForceOption,
    JsonOption,
    MissingOption,
    PolicyOption,
    ShuffleSeedOption,
    SignOption,
    one_or_many,
    reading,
    roles_of,
    show_release,
)


def publish(
    file: File,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FOLDER", help="The folder that may leave; made here.")
    ],
    policy: PolicyOption = None,
    decide: DecideOption = None,
    keep_evidence: Annotated[
        Path | None,
        typer.Option(
            "--keep-evidence",
            metavar="FOLDER",
            help="Where the policy is not met: keep what was found so far here.",
            show_default=False,
        ),
    ] = None,
    no_pdf: Annotated[bool, typer.Option("--no-pdf", help="Write the report as a page only.")] = False,
    seed: ShuffleSeedOption = None,
    sign: SignOption = None,
    force: ForceOption = False,
    encoding: EncodingOption = None,
    delimiter: DelimiterOption = None,
    missing: MissingOption = None,
    as_json: JsonOption = False,
) -> None:
    """**From a table to a folder that may be published: measured, changed, verified, attacked, reported.**

    The folder holds data, manifest, dictionary, findings and the public report; its owner's part lies beside it, in
    FOLDER.private. Both are written whole or not at all.

    Examples:

        shoal publish visits.csv --policy policy.yaml -o release

        shoal publish visits.csv --policy policy.yaml -o release --keep-evidence evidence
    """
    from shoal.cli.console import running
    from shoal.publication.publish import publish as run

    with running(quiet=as_json):
        result = run(
            one_or_many(file),
            policy,
            output=output,
            decide=roles_of(decide),
            keep_evidence=keep_evidence,
            sign=sign,
            seed=seed,
            pdf=not no_pdf,
            force=force,
            options=reading(encoding, delimiter, missing),
        )
    show_release(result, as_json)
