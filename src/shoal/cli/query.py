"""`shoal query`"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from shoal.cli.budget import DeskArgument
from shoal.cli.options import JsonOption, names_of, print_json


def query(
    desk: DeskArgument,
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND",
            help="count, persons, sum, mean, variance, median, quantile, histogram or bounds.",
            show_default=False,
        ),
    ],
    epsilon: Annotated[str, typer.Option("--epsilon", metavar="X", help="What this answer may cost.")],
    column: Annotated[str | None, typer.Argument(metavar="COLUMN", help="Of which column.", show_default=False)] = None,
    where: Annotated[
        str | None,
        typer.Option(
            "--where",
            metavar="CONDITION",
            help="Only rows such as age >= 65 and sex = 'f'; and, or, not, in (…), is null.",
            show_default=False,
        ),
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option("--by", metavar="COLUMNS", help="An answer for each group; all cost as one.", show_default=False),
    ] = None,
    keys: Annotated[
        list[str] | None,
        typer.Option(
            "--keys",
            metavar="VALUES",
            help="The groups, from public knowledge: f,m. Without it groups are found privately, which takes a delta. "
            "Once for each column of --by.",
            show_default=False,
        ),
    ] = None,
    bounds: Annotated[
        str | None,
        typer.Option(
            "--bounds",
            metavar="LOW,HIGH",
            help="Values beyond are moved to the bounds; from public knowledge, never from the data.",
            show_default=False,
        ),
    ] = None,
    q: Annotated[
        str | None, typer.Option("--q", metavar="SHARES", help="quantile: 0.9, or 0.25,0.5,0.75.", show_default=False)
    ] = None,
    bins: Annotated[
        str | None,
        typer.Option("--bins", metavar="N|EDGES", help="histogram: 10, or edges 0,18,65,120.", show_default=False),
    ] = None,
    step: Annotated[
        str | None,
        typer.Option("--step", metavar="X", help="quantile: how far apart possible answers lie.", show_default=False),
    ] = None,
    delta: Annotated[
        str | None,
        typer.Option(
            "--delta",
            metavar="X",
            help="For private groups and Gaussian noise; a tenth of the desk's if not given.",
            show_default=False,
        ),
    ] = None,
    mechanism: Annotated[
        str, typer.Option("--mechanism", metavar="laplace|gaussian", help="The kind of noise.")
    ] = "laplace",
    preview: Annotated[
        bool, typer.Option("--preview", help="Show cost and expected error; nothing is spent, no data is read.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """**Ask the desk.** The answer is noisy, its price is written down before you see it, asking again is free.

    Exit code 3: the budget does not suffice; nothing was spent.

    Examples:

        shoal query desk/ count --where "age >= 65" --epsilon 0.1

        shoal query desk/ mean charge --bounds 0,500000 --by sex --epsilon 0.3

        shoal query desk/ quantile charge --q 0.9 --bounds 0,500000 --epsilon 0.1

        shoal query desk/ histogram age --bins 0,18,65,120 --epsilon 0.1

        shoal query desk/ --preview sum charge --bounds 0,500000 --epsilon 0.1
    """
    from shoal.cli.console import running
    from shoal.cli.show_desk import show_answer
    from shoal.dp import BudgetRefused, Desk
    from shoal.dp.desk import refused

    asked: dict[str, Any] = {
        "epsilon": epsilon,
        "delta": delta,
        "where": where,
        "by": names_of(by),
        "keys": None if keys is None else [names_of([given]) for given in keys],
        "bounds": bounds,
        "q": q,
        "bins": bins,
        "step": step,
        "mechanism": mechanism,
    }
    with Desk(desk) as opened:
        try:
            with running(quiet=as_json):
                ask = opened.preview if preview else opened.query
                found = ask(kind, column, **asked)
        except BudgetRefused as refusal:
            if not as_json:
                raise
            print_json(refused(refusal, opened.terms))
            raise typer.Exit(refusal.exit_code) from None
    print_json(found.to_dict()) if as_json else show_answer(found)
