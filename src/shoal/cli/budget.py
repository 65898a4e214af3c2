"""`shoal budget open` and `shoal budget show`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.options import (
    ColumnsOption,
    DelimiterOption,
    EncodingOption,
    File,
    JsonOption,
    MissingOption,
    names_of,
    one_or_many,
    print_json,
    reading,
)

budget = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="""**A desk that answers questions about a table until its privacy budget is spent.**

    shoal budget open visits.parquet --epsilon 2 --delta 1e-7 --person patient_id --max-rows-per-person 5 -o desk/

    shoal query desk/ count --where "age >= 65" --epsilon 0.1

    shoal budget show desk/
""",
)

DeskArgument = Annotated[Path, typer.Argument(metavar="DESK", help="The folder of the desk.", show_default=False)]


@budget.command("open")
def open_desk(
    file: File,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DESK", help="The new folder of the desk.")],
    epsilon: Annotated[
        str, typer.Option("--epsilon", metavar="X", help="The whole budget: what may ever be learned about one person.")
    ],
    delta: Annotated[
        str,
        typer.Option("--delta", metavar="X", help="The chance that the promise fails; less than 1 / persons, or 0."),
    ] = "0",
    person: Annotated[
        str | None,
        typer.Option(
            "--person",
            metavar="COLUMN",
            help="Whose row it is. Without it each row is taken as one person.",
            show_default=False,
        ),
    ] = None,
    max_rows_per_person: Annotated[
        int | None,
        typer.Option(
            "--max-rows-per-person",
            metavar="M",
            help="At most so many rows of a person count, drawn at random; noise grows with it.",
            show_default=False,
        ),
    ] = None,
    accounting: Annotated[
        str,
        typer.Option(
            "--accounting",
            metavar="basic|zcdp",
            help="basic: epsilons add up. zcdp: their squares do; more queries fit, needs a delta.",
        ),
    ] = "basic",
    columns: ColumnsOption = None,
    encoding: EncodingOption = None,
    delimiter: DelimiterOption = None,
    missing: MissingOption = None,
    as_json: JsonOption = False,
) -> None:
    """**Open a desk on a table.** It keeps a private copy of the table, its terms and an empty ledger.

    The budget cannot be raised later and a desk is never replaced. Budgets of several desks on the same people add up.

    Examples:

        shoal budget open visits.parquet --epsilon 2 --delta 1e-7 --person patient_id --max-rows-per-person 5 -o desk/

        shoal budget open people.csv --epsilon 1 -o desk/
    """
    from shoal.cli.console import running
    from shoal.cli.show_desk import show_opened
    from shoal.dp import open_desk as open_on

    with running(quiet=as_json):
        opened = open_on(
            one_or_many(file),
            output,
            epsilon=epsilon,
            delta=delta,
            person=person,
            max_rows_per_person=max_rows_per_person,
            accounting=accounting,
            columns=names_of(columns),
            options=reading(encoding, delimiter, missing),
        )
    print_json(opened.to_dict()) if as_json else show_opened(opened)


@budget.command("show")
def show(desk: DeskArgument, as_json: JsonOption = False) -> None:
    """**What was spent, and what is left?** The whole ledger is verified first.

    Example:

        shoal budget show desk/
    """
    from shoal.cli.show_desk import show_budget
    from shoal.dp import Desk

    with Desk(desk) as opened:
        found = opened.budget()
    print_json(found.to_dict()) if as_json else show_budget(found)
