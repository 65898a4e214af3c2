"""`shoal desk open`, `shoal desk query` and `shoal desk show`"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli.group import group_of_commands
from shoal.cli.options import (
    ColumnsOption,
    DelimiterOption,
    EncodingOption,
    File,
    JsonOption,
    MissingOption,
    QueryOption,
    either,
    names_of,
    one_or_many,
    print_json,
    reading,
    settings_of,
)
from shoal.vocabulary import Accounting, Mechanism

if TYPE_CHECKING:
    from shoal.dp.queries import QueryOptions

app = group_of_commands(
    """**A desk that answers questions about a table until its privacy budget is spent.**

    shoal desk open visits.parquet --epsilon 2 --types age=integer,sex=text,charge=number -o desk/

    shoal desk query desk/ count --where "age >= 65" --epsilon 0.1

    shoal desk show desk/
"""
)

DeskArgument = Annotated[Path, typer.Argument(metavar="DESK", help="The folder of the desk.", show_default=False)]
LedgerKeyOption = Annotated[
    Path | None,
    typer.Option(
        "--ledger-key",
        metavar="FILE",
        help="The secret key of the ledger, kept apart from the desk (DESK.ledger-key beside it if not given).",
        show_default=False,
    ),
]
WitnessOption = Annotated[
    Path | None,
    typer.Option(
        "--witness",
        metavar="FILE",
        help="A second copy of the ledger's head, kept apart: detects that the desk was rolled back.",
        show_default=False,
    ),
]


@app.command("open")
def open_desk(
    file: File,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DESK", help="The new folder of the desk.")],
    epsilon: Annotated[
        str, typer.Option("--epsilon", metavar="X", help="The whole budget: what may ever be learned about one person.")
    ],
    types: Annotated[
        list[str] | None,
        typer.Option(
            "--types",
            metavar="COLUMN=TYPE,...",
            help="integer, number, text, date, datetime or boolean; what does not fit counts as missing.",
            show_default=False,
        ),
    ] = None,
    confirm_types: Annotated[
        bool,
        typer.Option("--confirm-types", help="Take the proposed type of every column that --types does not name."),
    ] = False,
    delta: Annotated[
        str,
        typer.Option("--delta", metavar="X", help="The chance that the promise fails; less than 1 / persons, or 0."),
    ] = "0",
    person: Annotated[
        str | None,
        typer.Option(
            "--person",
            metavar="COLUMN",
            help="Person identifier column. Without it each row is taken as one person.",
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
            metavar=either(Accounting),
            help="basic: epsilons add up. zcdp: their squares do; more queries fit, needs a delta.",
        ),
    ] = "basic",
    ledger_key: LedgerKeyOption = None,
    witness: WitnessOption = None,
    columns: ColumnsOption = None,
    encoding: EncodingOption = None,
    delimiter: DelimiterOption = None,
    missing: MissingOption = None,
    query: QueryOption = None,
    as_json: JsonOption = False,
) -> None:
    """**Open a desk on a table.** It keeps a private copy of the table, its terms and an empty ledger.

    The types of columns are declared, never found by a query: without --types the proposal is shown and nothing is
    opened. The budget cannot be raised later and a desk is never replaced. Budgets of several desks on the same people
    add up.

    Examples:

        shoal desk open people.csv --epsilon 1 --types age=integer,town=text -o desk/

        shoal desk open visits.parquet --epsilon 2 --delta 1e-7 --person patient_id --max-rows-per-person 5
        --confirm-types --ledger-key ~/keys/visits.key --witness /mnt/other/visits.witness -o desk/
    """
    from shoal.cli.showing import running
    from shoal.cli.showing import show as render
    from shoal.dp import open_desk as open_on
    from shoal.dp.types import OTHERS, PROPOSED, UndeclaredTypes
    from shoal.errors import InputError

    declared = {name: str(word) for name, word in (settings_of("--types", types) or {}).items()}
    try:
        with running(quiet=as_json):
            opened = open_on(
                one_or_many(file, query),
                folder=output,
                epsilon=epsilon,
                types=declared | ({OTHERS: PROPOSED} if confirm_types else {}),
                delta=delta,
                person=person,
                max_rows_per_person=max_rows_per_person,
                accounting=accounting,
                ledger_key=ledger_key,
                witness=witness,
                columns=names_of(columns),
                options=reading(encoding, delimiter, missing),
            )
    except UndeclaredTypes as error:
        raise InputError(
            error.what, f"Declare them: --types '{error.proposed}'\nor take this proposal as it is: --confirm-types"
        ) from None
    print_json(opened.to_dict()) if as_json else render(opened)


@app.command("query")
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
    epsilon: Annotated[
        str, typer.Option("--epsilon", metavar="X", help="Privacy budget (epsilon) to spend on this answer.")
    ],
    column: Annotated[str | None, typer.Argument(metavar="COLUMN", help="Column to query.", show_default=False)] = None,
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
        typer.Option("--step", metavar="X", help="quantile: step between candidate answers.", show_default=False),
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
        str, typer.Option("--mechanism", metavar=either(Mechanism), help="The kind of noise.")
    ] = "laplace",
    preview: Annotated[
        bool, typer.Option("--preview", help="Show cost and expected error; nothing is spent, no data is read.")
    ] = False,
    ledger_key: LedgerKeyOption = None,
    witness: WitnessOption = None,
    as_json: JsonOption = False,
) -> None:
    """**Ask the desk.** The answer is noisy, its price is written down before you see it, asking again is free.

    Exit code 3: not enough budget; nothing was spent.

    Examples:

        shoal desk query desk/ count --where "age >= 65" --epsilon 0.1

        shoal desk query desk/ mean charge --bounds 0,500000 --by sex --epsilon 0.3

        shoal desk query desk/ quantile charge --q 0.9 --bounds 0,500000 --epsilon 0.1

        shoal desk query desk/ histogram age --bins 0,18,65,120 --epsilon 0.1

        shoal desk query desk/ --preview sum charge --bounds 0,500000 --epsilon 0.1
    """
    from shoal.cli.showing import running
    from shoal.cli.showing import show as render
    from shoal.dp import BudgetRefused, Desk

    options: QueryOptions = {
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
    with Desk(desk, ledger_key=ledger_key, witness=witness) as opened:
        try:
            with running(quiet=as_json):
                ask = opened.preview if preview else opened.query
                result = ask(kind, column, **options)
        except BudgetRefused as refused:
            if not as_json:
                raise
            print_json(opened.refusal(refused).to_dict())
            raise typer.Exit(refused.exit_code) from None
    print_json(result.to_dict()) if as_json else render(result)


@app.command("show")
def show(
    desk: DeskArgument,
    ledger_key: LedgerKeyOption = None,
    witness: WitnessOption = None,
    as_json: JsonOption = False,
) -> None:
    """**What was spent, and what is left?** The whole ledger is verified first.

    Example:

        shoal desk show desk/
    """
    from shoal.cli.showing import show as render
    from shoal.dp import Desk

    with Desk(desk, ledger_key=ledger_key, witness=witness) as opened:
        state = opened.budget()
    print_json(state.to_dict()) if as_json else render(state)
