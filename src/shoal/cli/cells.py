"""`shoal cells`"""

from typing import Annotated

import typer

from shoal.cli.options import (
    DelimiterOption,
    EncodingOption,
    File,
    JsonOption,
    MissingOption,
    QueryOption,
    names_of,
    one_or_many,
    print_json,
    reading,
)


def cells(
    file: File,
    by: Annotated[list[str], typer.Option("--by", metavar="COLUMNS", help="The dimensions of the table, a,b,c.")],
    count: Annotated[str, typer.Option("--count", metavar="COLUMN", help="The column of counts.")],
    total: Annotated[
        str | None,
        typer.Option(
            "--total", metavar="WORD", help="Label of the margins; Total, All, Sum if not given.", show_default=False
        ),
    ] = None,
    least: Annotated[int, typer.Option("--least", min=2, help="Smallest count that may be shown.")] = 11,
    encoding: EncodingOption = None,
    delimiter: DelimiterOption = None,
    missing: MissingOption = None,
    query: QueryOption = None,
    as_json: JsonOption = False,
) -> None:
    """**May this table of counts be shown?** No count of 1 to 10, nor one that follows from the margins by subtraction.

    Suppressed cells are empty, `*` or `<11`. Combinations that are not listed count as unknown. Exit code 1 if a small
    count is shown or derivable.

    Example:

        shoal cells counts.csv --by county,sex --count n --total Total
    """
    from shoal.cli.showing import running, show
    from shoal.methods.cells import cells as check

    with running(quiet=as_json):
        result = check(
            one_or_many(file, query),
            by=names_of(by) or [],
            count=count,
            total=total,
            least=least,
            options=reading(encoding, delimiter, missing),
        )
    print_json(result.to_dict()) if as_json else show(result)
    if result.verdict != "holds":
        raise typer.Exit(1)
