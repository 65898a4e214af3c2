"""`shoal anonymize`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli.method_options import given_options, with_method_options
from shoal.cli.method_table import METHOD_OPTIONS
from shoal.cli.options import (
    DelimiterOption,
    EncodingOption,
    ExcelSafeOption,
    File,
    ForceOption,
    JsonOption,
    KeepOrderOption,
    KOption,
    LOption,
    MissingOption,
    ModelOption,
    PolicyOption,
    QiOption,
    SensitiveOption,
    ShuffleSeedOption,
    TOption,
    models_of,
    names_of,
    one_or_many,
    print_json,
    reading,
)


def anonymize(
    file: File,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE", help="Where to release; its extension says the format.")
    ],
    qi: QiOption = None,
    sensitive: SensitiveOption = None,
    k: KOption = None,
    l: LOption = None,  # noqa: E741
    t: TOption = None,
    model: ModelOption = None,
    method: Annotated[
        str | None,
        typer.Option(
            "--method",
            metavar="NAME",
            show_default=False,
            help=f"{', '.join(METHOD_OPTIONS)}. Without it those that the policy allows are tried, and the one that "
            "loses least is taken; options of methods, below, narrow these to the methods that have them.",
        ),
    ] = None,
    disclosure: Annotated[
        list[str] | None,
        typer.Option(
            "--disclosure",
            metavar="CONDITION",
            help="Measure attribute disclosure, such as 'charge>100000'.",
            show_default=False,
        ),
    ] = None,
    chart: Annotated[
        Path | None,
        typer.Option(
            "--chart", metavar="FILE", help="Without a method: loss against risk, a picture.", show_default=False
        ),
    ] = None,
    keep_order: KeepOrderOption = False,
    seed: ShuffleSeedOption = None,
    no_guarantee: Annotated[
        bool, typer.Option("--no-guarantee", help="Release although the policy names no privacy model.")
    ] = False,
    excel_safe: ExcelSafeOption = False,
    force: ForceOption = False,
    policy: PolicyOption = None,
    encoding: EncodingOption = None,
    delimiter: DelimiterOption = None,
    missing: MissingOption = None,
    as_json: JsonOption = False,
    **method_options: Any,
) -> None:
    """**Anonymise the table to satisfy its policy, and release it.**

    The written file itself is measured against the policy; what does not hold is refused and nothing is written. A
    release is the data, a public manifest, a data dictionary, and a private record for its owner.

    Examples:

        shoal anonymize people.csv -o safe.csv --qi age,sex,zip -k 5

        shoal anonymize visits.parquet -o safe.parquet --qi age,los --sensitive charge -k 5 --t 0.1

        shoal anonymize people.csv -o safe.csv --qi age,sex,zip -k 5 --method mondrian --effort best

        shoal anonymize adult.csv -o safe.csv --qi age,sex,education --sensitive occupation -k 5 --l 3
        --method lattice --suppression 5%

        shoal anonymize survey.csv -o safe.csv --qi region,age,sex -k 3 --method suppress --importance sex=5
    """
    from shoal.anonymization.anonymize import anonymize as change
    from shoal.cli.console import running
    from shoal.reports.charts import check_chart, choice_chart, save_chart
    from shoal.writing import check_target

    check_target(output, force)
    if chart is not None:
        check_chart(chart, force)
    with running(quiet=as_json):
        result = change(
            one_or_many(file),
            policy,
            quasi_identifiers=names_of(qi),
            sensitive=names_of(sensitive),
            k=k,
            l=l,
            t=t,
            models=models_of(model),
            method=method,
            disclosure=disclosure or (),
            options=reading(encoding, delimiter, missing),
            **given_options(method_options),
        )
        if chart is not None:
            save_chart(choice_chart(result.to_dict()), chart)
        release_and_show(
            result,
            output,
            as_json,
            force=force,
            shuffle=not keep_order,
            seed=seed,
            no_guarantee=no_guarantee,
            excel_safe=excel_safe,
            source=Path(file[0]) if len(file) == 1 else None,
        )


def release_and_show(result: Any, output: Path, as_json: bool, **how: Any) -> None:
    """Release what was anonymised and show what left; a refusal is exit code 1."""
    from shoal.cli.render import show
    from shoal.releases.write import Refused
    from shoal.releases.written import released

    shown = released(result, output, **how)
    if shown.refusal is not None and not as_json:
        raise Refused(shown.refusal)
    print_json(shown.to_dict()) if as_json else show(shown)
    if shown.refusal is not None:
        raise typer.Exit(1)


with_method_options(anonymize)
