"""`shoal attack intersect`"""

from __future__ import annotations

from typing import Annotated

import typer

from shoal.cli.options import (
    DelimiterOption,
    EncodingOption,
    JsonOption,
    MissingOption,
    QiOption,
    SensitiveOption,
    names_of,
    print_json,
    reading,
)


def attack_intersect(
    first: Annotated[str, typer.Argument(metavar="FIRST", help="A release.", show_default=False)],
    second: Annotated[str, typer.Argument(metavar="SECOND", help="Another about the same people.", show_default=False)],
    person: Annotated[
        str,
        typer.Option("--person", metavar="COLUMN", help="A column of both that says who is who.", show_default=False),
    ],
    qi: QiOption = None,
    sensitive: SensitiveOption = None,
    encoding: EncodingOption = None,
    delimiter: DelimiterOption = None,
    missing: MissingOption = None,
    as_json: JsonOption = False,
) -> None:
    """**What do two releases about the same people give away together?** (Ganta 2008)

    Example:

        shoal attack intersect first.parquet second.parquet --person patient
    """
    from shoal.attacks.intersect import attack_intersect as attack
    from shoal.cli.showing import running, show

    with running(quiet=as_json):
        found = attack(
            first,
            second=second,
            person=person,
            quasi_identifiers=names_of(qi),
            sensitive=names_of(sensitive),
            options=reading(encoding, delimiter, missing),
        )
    print_json(found.to_dict()) if as_json else show(found)
