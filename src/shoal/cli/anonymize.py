"""`shoal anonymize`"""

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli.method_options import given_options, with_method_options
from shoal.cli.options import (
    BomOption,
    DecideOption,
    DecimalCommaOption,
    DelimiterOption,
    EncodingOption,
    EngineOption,
    ExcelSafeOption,
    File,
    ForceOption,
    JsonOption,
    KeepOrderOption,
    KOption,
    LOption,
    MasterOption,
    MemoryOption,
    MissingAsOption,
    MissingOption,
    ModelOption,
    OutputDelimiterOption,
    PolicyOption,
    QiOption,
    QueryOption,
    SensitiveOption,
    ShuffleSeedOption,
    SignOption,
    SpillDirOption,
    SuppressedAsOption,
    TOption,
    TypeOption,
    either,
    models_of,
    names_of,
    one_or_many,
    output_of,
    reading,
    roles_of,
    show_release,
)
from shoal.methods import METHODS
from shoal.vocabulary import Prefer


def anonymize(
    file: File,
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="FILE", help="Where to release; its extension says the format.")
    ],
    quasi_identifiers: QiOption = None,
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
            help=f"{', '.join(METHODS)}. Without it those that the policy allows are tried, and the one that "
            "loses least is taken; options of methods, below, narrow these to the methods that have them.",
        ),
    ] = None,
    prefer: Annotated[
        str | None,
        typer.Option(
            "--prefer",
            metavar=either(Prefer),
            show_default=False,
            help="Without a method: what decides between those that keep the policy. "
            "[default: hierarchies where some are given, otherwise least-loss]",
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
    decide: DecideOption = None,
    excel_safe: ExcelSafeOption = False,
    output_delimiter: OutputDelimiterOption = None,
    decimal_comma: DecimalCommaOption = False,
    bom: BomOption = False,
    suppressed_as: SuppressedAsOption = None,
    missing_as: MissingAsOption = None,
    sign: SignOption = None,
    force: ForceOption = False,
    policy: PolicyOption = None,
    encoding: EncodingOption = None,
    delimiter: DelimiterOption = None,
    missing: MissingOption = None,
    query: QueryOption = None,
    engine: EngineOption = None,
    master: MasterOption = None,
    memory: MemoryOption = None,
    spill_dir: SpillDirOption = None,
    types: TypeOption = None,
    as_json: JsonOption = False,
    **method_options: Any,
) -> None:
    """**Anonymise the table to satisfy its policy, and release it.**

    The written file itself is measured against the policy; what does not hold is refused and nothing is written. A
    release is the data, a public manifest, a data dictionary, and a private record for its owner. A column without a
    role that looks like an identifier, a quasi-identifier or free text stops the release: decide on it.

    Examples:

        shoal anonymize people.csv -o safe.csv --qi age,sex,zip -k 5

        shoal anonymize people.csv -o safe.csv --qi age,sex,zip -k 5 --decide ssn=identifier,ward=other

        shoal anonymize visits.parquet -o safe.parquet --qi age,los --sensitive charge -k 5 --t 0.1

        shoal anonymize people.csv -o safe.csv --qi age,sex,zip -k 5 --method mondrian --effort best

        shoal anonymize adult.csv -o safe.csv --qi age,sex,education --sensitive occupation -k 5 --l 3
        --method lattice --suppression 5%

        shoal anonymize survey.csv -o safe.csv --qi region,age,sex -k 3 --method suppress --importance sex=5
    """
    from shoal.cli.showing import running
    from shoal.releases.jobs import Writing, release_anonymized

    if chart is not None:
        from shoal.reports.charts import check_chart, choice_chart, save_chart

        check_chart(chart, force)
    written = output_of(output_delimiter, decimal_comma, bom, missing_as, suppressed_as)
    with running(quiet=as_json):
        result = release_anonymized(
            one_or_many(file, query),
            output=output,
            policy=policy,
            writing=Writing(force, not keep_order, seed, excel_safe, no_guarantee, sign, output=written),
            chart=chart,
            refuse_first=not as_json,
            quasi_identifiers=names_of(quasi_identifiers),
            sensitive=names_of(sensitive),
            k=k,
            l=l,
            t=t,
            models=models_of(model),
            method=method,
            disclosure=disclosure or (),
            decide=roles_of(decide),
            options=reading(encoding, delimiter, missing, types, engine, master, memory, spill_dir),
            **given_options(method_options),
            **({} if prefer is None else {"prefer": prefer}),
        )
        if chart is not None:
            save_chart(choice_chart(result.method, result.findings.choice), chart)
    show_release(result, as_json)


with_method_options(anonymize)
