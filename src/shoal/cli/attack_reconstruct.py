"""`shoal attack reconstruct`"""

from __future__ import annotations

from typing import Annotated

import typer

from shoal.cli.options import DelimiterOption, EncodingOption, JsonOption, MissingOption, print_json, reading


def attack_reconstruct(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="A row per question: its answer, and a column per person (1: asked about) or a condition `where`.",
            show_default=False,
        ),
    ],
    answer: Annotated[str, typer.Option("--answer", metavar="COLUMN", help="The answers.")] = "answer",
    people: Annotated[
        str | None,
        typer.Option("--people", metavar="FILE", help="What is known of the people, a row each.", show_default=False),
    ] = None,
    person: Annotated[
        str | None,
        typer.Option("--person", metavar="COLUMN", help="Their names, as at the heads of FILE.", show_default=False),
    ] = None,
    truth: Annotated[
        str | None,
        typer.Option("--truth", metavar="COLUMN", help="What is guessed, 0 or 1, to judge by.", show_default=False),
    ] = None,
    encoding: EncodingOption = None,
    delimiter: DelimiterOption = None,
    missing: MissingOption = None,
    as_json: JsonOption = False,
) -> None:
    """**How much of a table do its answers give away?** By subtraction and by linear programming (Dinur, Nissim 2003).

    Example:

        shoal attack reconstruct answers.csv --people people.csv --truth ill
    """
    from shoal.attacks.reconstruct import attack_reconstruct as attack
    from shoal.cli.showing import running, show

    with running(quiet=as_json):
        found = attack(
            file,
            answer=answer,
            people=people,
            person=person,
            truth=truth,
            options=reading(encoding, delimiter, missing),
        )
    print_json(found.to_dict()) if as_json else show(found)
