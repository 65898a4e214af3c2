"""`shoal perturb`"""

from typing import Annotated, Any

import typer

from shoal.cli.options import (
    BomOption,
    DecideOption,
    DecimalCommaOption,
    DelimiterOption,
    EncodingOption,
    ExcelSafeOption,
    File,
    ForceOption,
    JsonOption,
    KeepOrderOption,
    MissingAsOption,
    MissingOption,
    OutputDelimiterOption,
    PolicyOption,
    QueryOption,
    ShuffleSeedOption,
    SignOption,
    groups_with_share,
    one_or_many,
    output_of,
    reading,
    roles_of,
    settings_of,
    show_release,
    shuffles_of,
)


def _setting(option: str, metavar: str, text: str) -> Any:
    return typer.Option(option, metavar=metavar, help=text + " Repeat it, or a=…,b=….", show_default=False)


def perturb(
    file: File,
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="FILE", help="Where to release; the ending says the format.")
    ],
    noise: Annotated[
        list[str] | None, _setting("--noise", "COLUMN=SHARE", "Normal noise, a share of the standard deviation.")
    ] = None,
    correlated_noise: Annotated[
        list[str] | None,
        typer.Option(
            "--correlated-noise",
            metavar="A,B,...=SHARE",
            help="Noise for several columns together that keeps means and covariances.",
            show_default=False,
        ),
    ] = None,
    swap: Annotated[
        list[str] | None, _setting("--swap", "COLUMN=SHARE", "Values change places within a share of the ranks, 5%.")
    ] = None,
    shuffle: Annotated[
        list[str] | None,
        typer.Option(
            "--shuffle",
            metavar="COLUMN[=A+B]",
            help="Values go to other rows; rank correlations with A and B are kept, all others lost. Repeat it.",
            show_default=False,
        ),
    ] = None,
    pram: Annotated[
        list[str] | None,
        _setting("--pram", "COLUMN=P", "A category is kept with probability P, else drawn anew (invariant PRAM)."),
    ] = None,
    top_code: Annotated[
        list[str] | None, _setting("--top-code", "COLUMN=LIMIT", "What is above a number, or above 99%, becomes it.")
    ] = None,
    bottom_code: Annotated[
        list[str] | None, _setting("--bottom-code", "COLUMN=LIMIT", "What is below a number, or below 1%, becomes it.")
    ] = None,
    round: Annotated[
        list[str] | None, _setting("--round", "COLUMN=BASE", "The nearest multiple of a base, such as 100.")
    ] = None,
    interval: Annotated[
        float,
        typer.Option("--interval", metavar="WIDTH", help="Interval disclosure: within how many standard deviations."),
    ] = 0.05,
    keep_order: KeepOrderOption = False,
    seed: ShuffleSeedOption = None,
    decide: DecideOption = None,
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
    as_json: JsonOption = False,
) -> None:
    """**Change values at random so that totals stay and single values can no longer be trusted.**

    Whatever the order of the options: noise, swapping, shuffling, PRAM, then limits and rounding. A perturbed table is
    not anonymous; what can still be learnt from it (intervals, links by distance) and what it cost are measured, and
    the manifest says that nothing is guaranteed. The seed stays in the private record.

    Examples:

        shoal perturb survey.csv -o safe.csv --noise income=0.1 --swap age=5% --pram education=0.9 --top-code income=99%

        shoal perturb survey.csv -o safe.csv --correlated-noise income,savings=0.2 --round income=100,savings=100

        shoal perturb survey.csv -o safe.csv --shuffle income=age+hours --bottom-code age=18
    """
    from shoal.cli.showing import running
    from shoal.releases.jobs import Writing, release_perturbed

    noises: dict[Any, float | str] = dict(settings_of("--noise", noise) or {})
    noises.update(groups_with_share("--correlated-noise", correlated_noise) or {})
    written = output_of(output_delimiter, decimal_comma, bom, missing_as)
    with running(quiet=as_json):
        result = release_perturbed(
            one_or_many(file, query),
            output=output,
            policy=policy,
            decide=roles_of(decide),
            writing=Writing(force, not keep_order, seed, excel_safe, sign=sign, output=written),
            noise=noises,
            swap=settings_of("--swap", swap),
            shuffle=shuffles_of(shuffle),
            pram=settings_of("--pram", pram),
            top_code=settings_of("--top-code", top_code),
            bottom_code=settings_of("--bottom-code", bottom_code),
            round=settings_of("--round", round),
            interval=interval,
            options=reading(encoding, delimiter, missing),
        )
    show_release(result, as_json)
