"""`shoal lattice`"""

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli.method_options import given_options, with_method_options
from shoal.cli.options import (
    DelimiterOption,
    EncodingOption,
    File,
    JsonOption,
    KOption,
    LOption,
    MissingOption,
    ModelOption,
    PolicyOption,
    QiOption,
    QueryOption,
    SensitiveOption,
    TOption,
    TypeOption,
    models_of,
    names_of,
    one_or_many,
    print_json,
    reading,
)


def lattice(
    file: File,
    quasi_identifiers: QiOption = None,
    sensitive: SensitiveOption = None,
    k: KOption = None,
    l: LOption = None,  # noqa: E741
    t: TOption = None,
    model: ModelOption = None,
    chart: Annotated[
        Path | None,
        typer.Option("--chart", metavar="FILE", help="The frontier as .html, .svg or .png.", show_default=False),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a chart that exists.")] = False,
    policy: PolicyOption = None,
    encoding: EncodingOption = None,
    delimiter: DelimiterOption = None,
    missing: MissingOption = None,
    query: QueryOption = None,
    types: TypeOption = None,
    as_json: JsonOption = False,
    **method_options: Any,
) -> None:
    """**Look at the solution space: the best generalisations, and what a lower risk costs.**

    Nothing is released. The chosen one is what `shoal anonymize --method lattice` would take; where there is none, the
    exit code is 1.

    Examples:

        shoal lattice adult.csv --qi age,sex,education -k 5 --hierarchies trees/ --suppression 5%

        shoal lattice adult.csv --policy p.yaml --chart lattice.html
    """
    from shoal.cli.showing import running, show
    from shoal.methods.solve import lattice as look

    if chart is not None:
        from shoal.reports.charts import check_chart, frontier_chart, save_chart

        check_chart(chart, force)
    with running(quiet=as_json):
        space = look(
            one_or_many(file, query),
            policy,
            quasi_identifiers=names_of(quasi_identifiers),
            sensitive=names_of(sensitive),
            k=k,
            l=l,
            t=t,
            models=models_of(model),
            options=reading(encoding, delimiter, missing, types),
            **given_options(method_options),
        )
        if chart is not None:
            save_chart(frontier_chart(space), chart)
    print_json(space.to_dict()) if as_json else show(space)
    if space.chosen is None:
        raise typer.Exit(1)


with_method_options(lattice, "lattice", leave_out=("local",))
