"""`shoal safe-harbor`"""

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.options import (
    BomOption,
    CenturyOption,
    DateOrderOption,
    DecimalCommaOption,
    DelimiterOption,
    EncodingOption,
    EngineOption,
    ExcelSafeOption,
    File,
    ForceOption,
    JsonOption,
    KeepOrderOption,
    MasterOption,
    MissingAsOption,
    MissingOption,
    OutputDelimiterOption,
    PolicyOption,
    QueryOption,
    ShuffleSeedOption,
    SignOption,
    has_withheld,
    one_of,
    one_or_many,
    output_of,
    print_json,
    reading,
)
from shoal.vocabulary import DateOrder


def safe_harbor(
    file: File,
    output: Annotated[
        str | None,
        typer.Option(
            "-o", "--output", metavar="FILE", help="Where to release; the ending says the format.", show_default=False
        ),
    ] = None,
    year_of_data: Annotated[
        int | None,
        typer.Option(
            "--year-of-data",
            metavar="YEAR",
            help="Ages are counted to this year; else to the latest event in the table.",
            show_default=False,
        ),
    ] = None,
    date_order: DateOrderOption = None,
    century_from: CenturyOption = None,
    zip_populations: Annotated[
        Path | None,
        typer.Option(
            "--zip-populations",
            metavar="FILE",
            help="People per ZIP prefix of another census than the one that comes with shoal.",
            show_default=False,
        ),
    ] = None,
    write_policy: Annotated[
        Path | None,
        typer.Option(
            "--write-policy",
            metavar="FILE",
            help="Write what was proposed as a policy, to be checked and given with --policy.",
            show_default=False,
        ),
    ] = None,
    fail_above_threshold: Annotated[
        bool,
        typer.Option(
            "--fail-above-threshold", help="Exit with 1 if a record's residual risk is over the policy's threshold."
        ),
    ] = False,
    keep_order: KeepOrderOption = False,
    seed: ShuffleSeedOption = None,
    excel_safe: ExcelSafeOption = False,
    output_delimiter: OutputDelimiterOption = None,
    decimal_comma: DecimalCommaOption = False,
    bom: BomOption = False,
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
    as_json: JsonOption = False,
) -> None:
    """**HIPAA safe harbor to the letter**: the 18 identifiers of 45 CFR 164.514(b)(2), clause by clause.

    Columns are found by what they hold, or named in a policy. Names, numbers and free text are removed; ZIP codes
    become three digits where over 20,000 people live; dates become years; ages over 89 become 90+. What was proposed
    and not decided is marked `confirm`. The written file is looked at again before it is released, and the risk that
    is left is measured: safe harbor alone leaves people unique.

    Examples:

        shoal safe-harbor visits.csv -o safe.csv --year-of-data 2012

        shoal safe-harbor visits.csv --write-policy policy.yaml

        shoal safe-harbor visits.csv -o safe.csv --policy policy.yaml --json
    """
    from shoal.cli.showing import running, show
    from shoal.errors import InputError
    from shoal.methods.hipaa.safe_harbor import SafeHarborReading
    from shoal.releases.jobs import Writing, release_safe_harbor

    if output is None and write_policy is None:
        raise InputError(
            "No output file given.", "Name one with -o safe.csv, or --write-policy policy.yaml to look first."
        )
    order = one_of("--date-order", date_order, DateOrder)
    options = reading(encoding, delimiter, missing, None, engine, master)
    written = output_of(output_delimiter, decimal_comma, bom, missing_as)
    with running(quiet=as_json):
        result = release_safe_harbor(
            one_or_many(file, query),
            policy=policy,
            reading=SafeHarborReading(year_of_data, order, century_from, zip_populations, options),
            output=output,
            write_policy=write_policy,
            writing=Writing(force, not keep_order, seed, excel_safe, sign=sign, output=written),
        )
    print_json(result.to_dict()) if as_json else show(result)
    over = fail_above_threshold and result.residual is not None and result.residual.over_threshold
    if result.verdict == "refused" or over or has_withheld(result.scrubbed):
        raise typer.Exit(1)
