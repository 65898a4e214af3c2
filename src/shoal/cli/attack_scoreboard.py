"""`shoal attack scoreboard`"""

from __future__ import annotations

from typing import Annotated

import typer

from shoal.cli.attack_all import SeedOption, TargetsOption
from shoal.cli.options import (
    DelimiterOption,
    EncodingOption,
    File,
    JsonOption,
    MissingOption,
    QueryOption,
    one_or_many,
    print_json,
    reading,
)


def attack_scoreboard(
    file: File,
    person: Annotated[str, typer.Option("--person", metavar="COLUMN", help="Who rated.", show_default=False)],
    item: Annotated[str, typer.Option("--item", metavar="COLUMN", help="What was rated.", show_default=False)],
    value: Annotated[
        str | None, typer.Option("--value", metavar="COLUMN", help="The rating, a number.", show_default=False)
    ] = None,
    date: Annotated[str | None, typer.Option("--date", metavar="COLUMN", help="When.", show_default=False)] = None,
    known: Annotated[int, typer.Option("--known", metavar="N", help="How many ratings are known.")] = 8,
    wrong: Annotated[int, typer.Option("--wrong", metavar="N", help="How many of them are wrong.")] = 2,
    days: Annotated[int, typer.Option("--days", metavar="N", help="How far known dates are off at most.")] = 14,
    targets: TargetsOption = 1_000,
    seed: SeedOption = 0,
    encoding: EncodingOption = None,
    delimiter: DelimiterOption = None,
    missing: MissingOption = None,
    query: QueryOption = None,
    as_json: JsonOption = False,
) -> None:
    """**Whom do a few ratings identify, some of them wrong?** (Narayanan and Shmatikov 2008)

    Example:

        shoal attack scoreboard ratings.parquet --person user --item film --value stars --date day
    """
    from shoal.attacks.scoreboard import attack_scoreboard as attack
    from shoal.cli.showing import running, show

    with running(quiet=as_json):
        found = attack(
            one_or_many(file, query),
            person=person,
            item=item,
            value=value,
            date=date,
            known=known,
            wrong=wrong,
            days=days,
            targets=targets,
            seed=seed,
            options=reading(encoding, delimiter, missing),
        )
    print_json(found.to_dict()) if as_json else show(found)
