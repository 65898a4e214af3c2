"""`shoal lattice`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.options import (
    CompleteOption,
    DelimiterOption,
    EncodingOption,
    File,
    HierarchiesOption,
    JsonOption,
    KOption,
    LevelsOption,
    LOption,
    MissingOption,
    ModelOption,
    PolicyOption,
    QiOption,
    QualityOption,
    SensitiveOption,
    SuppressionOption,
    TimeLimitOption,
    TOption,
    WeightsOption,
    levels_of,
    models_of,
    names_of,
    one_or_many,
    print_json,
    reading,
    weights_of,
)


def lattice(
    file: File,
    qi: QiOption = None,
    sensitive: SensitiveOption = None,
    k: KOption = None,
    l: LOption = None,  # noqa: E741
    t: TOption = None,
    model: ModelOption = None,
    hierarchies: HierarchiesOption = None,
    suppression: SuppressionOption = None,
    quality: QualityOption = None,
    weights: WeightsOption = None,
    levels: LevelsOption = None,
    complete_hierarchies: CompleteOption = False,
    time_limit: TimeLimitOption = 60.0,
    chart: Annotated[
        Path | None,
        typer.Option("--chart", metavar="FILE", help="The frontier as .html, .svg or .png.", show_default=False),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a chart that exists.")] = False,
    policy: PolicyOption = None,
    encoding: EncodingOption = None,
    delimiter: DelimiterOption = None,
    missing: MissingOption = None,
    as_json: JsonOption = False,
) -> None:
    """**Look at the solution space: the best generalisations, and what a lower risk costs.**

    Nothing is released. The chosen one is what `shoal anonymize --method lattice` would take.

    Examples:

        shoal lattice adult.csv --qi age,sex,education -k 5 --hierarchies trees/ --suppression 5%

        shoal lattice adult.csv --policy p.yaml --chart lattice.html
    """
    from shoal.anonymization.solve import lattice as look
    from shoal.cli.console import running
    from shoal.cli.show_release import show_lattice

    if chart is not None:
        from shoal.reports.charts import check_chart

        check_chart(chart, force)
    with running(quiet=as_json):
        found = look(
            one_or_many(file),
            policy,
            quasi_identifiers=names_of(qi),
            sensitive=names_of(sensitive),
            k=k,
            l=l,
            t=t,
            models=models_of(model),
            hierarchies=hierarchies,
            suppression=suppression,
            quality=quality,
            weights=weights_of(weights),
            levels=levels_of(levels),
            complete_hierarchies=complete_hierarchies,
            time_limit=time_limit,
            options=reading(encoding, delimiter, missing),
        )
        if chart is not None:
            from shoal.reports.charts import frontier_chart, save_chart

            save_chart(frontier_chart(found), chart)
    print_json(found.to_dict()) if as_json else show_lattice(found)
