"""`shoal anonymize`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli.options import (
    CompleteOption,
    DelimiterOption,
    EncodingOption,
    ExcelSafeOption,
    File,
    ForceOption,
    HierarchiesOption,
    JsonOption,
    KeepOrderOption,
    KOption,
    LevelsOption,
    LOption,
    MissingOption,
    ModelOption,
    PolicyOption,
    QiOption,
    QualityOption,
    SensitiveOption,
    ShuffleSeedOption,
    SuppressionOption,
    TimeLimitOption,
    TOption,
    WeightsOption,
    levels_of,
    models_of,
    names_of,
    one_of,
    one_or_many,
    print_json,
    reading,
    weights_of,
    wishes_of,
)

METHODS = ("sorted-clusters", "coarsen", "mask", "recode", "mondrian", "microaggregate", "lattice", "suppress")


def anonymize(
    file: File,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE", help="Where to release; the ending says the format.")
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
            help="sorted-clusters (S2, S4), coarsen (S3), mask (Table S3), recode (Pastore), mondrian (least loss, any "
            "columns), microaggregate (means of groups), lattice (the best level of every column), suppress "
            "(few cells). Without it those that the policy allows are tried, and the one that loses least is taken.",
        ),
    ] = None,
    resolution: Annotated[
        int | None, typer.Option("--resolution", help="coarsen: into how many intervals.", show_default=False)
    ] = None,
    labels: Annotated[
        bool, typer.Option("--labels", help="coarsen: cut the values that occur, not the whole range.")
    ] = False,
    remainder: Annotated[
        str, typer.Option("--remainder", metavar="top|middle", help="S4: which records are left over.")
    ] = "top",
    effort: Annotated[
        str, typer.Option("--effort", metavar="fast|default|best", help="mondrian, microaggregate: time for less loss.")
    ] = "default",
    cuts: Annotated[
        str,
        typer.Option("--cuts", metavar="best|strict|relaxed", help="mondrian: by least loss, or medians as published."),
    ] = "best",
    mdav: Annotated[bool, typer.Option("--mdav", help="microaggregate: the published algorithm, exactly.")] = False,
    strata: Annotated[
        list[str] | None,
        typer.Option(
            "--strata", metavar="COLUMNS", help="microaggregate: groups never cross these.", show_default=False
        ),
    ] = None,
    untouched_if_safe: Annotated[
        bool, typer.Option("--untouched-if-safe", help="Leave records as they are whose class has k members already.")
    ] = False,
    interval: Annotated[
        str | None,
        typer.Option(
            "--interval",
            metavar="FORM",
            help="bracket [20;29] (default), dash 20-29, columns (two), midpoint, mean (default of microaggregate).",
            show_default=False,
        ),
    ] = None,
    generalize: Annotated[
        list[str] | None,
        typer.Option(
            "--generalize",
            metavar="COLUMN=HOW",
            help="recode: a file (value, label, …), * or runs:4 or chunks:4. Repeat it.",
            show_default=False,
        ),
    ] = None,
    where: Annotated[
        str, typer.Option("--where", metavar="all|uniques|below-k", help="recode: in which rows.")
    ] = "all",
    search: Annotated[
        bool, typer.Option("--search", help="recode: try all combinations, take the best, show all.")
    ] = False,
    hierarchies: HierarchiesOption = None,
    suppression: SuppressionOption = None,
    quality: QualityOption = None,
    weights: WeightsOption = None,
    levels: LevelsOption = None,
    chart: Annotated[
        Path | None,
        typer.Option(
            "--chart", metavar="FILE", help="Without a method: loss against risk, a picture.", show_default=False
        ),
    ] = None,
    local: Annotated[
        bool, typer.Option("--local", help="lattice: generalise again what was left out, while that gains something.")
    ] = False,
    complete_hierarchies: CompleteOption = False,
    time_limit: TimeLimitOption = 60.0,
    suppressed_reading: Annotated[
        str | None,
        typer.Option(
            "--reading",
            metavar="wildcard|strict",
            help="suppress: * matches anything (with -k), or is a value of its own (as a policy's k-anonymity).",
            show_default=False,
        ),
    ] = None,
    importance: Annotated[
        list[str] | None,
        typer.Option(
            "--importance",
            metavar="COLUMN=W,...",
            help="suppress: what a cell of a column is worth; 1 if not given.",
            show_default=False,
        ),
    ] = None,
    all_m: Annotated[
        int | None,
        typer.Option(
            "--all-m",
            metavar="M",
            help="suppress: protect every combination of M quasi-identifiers, not all of them together.",
            show_default=False,
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
) -> None:
    """**Change the table so that it keeps its promise, and release it.**

    The written file itself is measured against the policy; what does not hold is refused and nothing is written. A
    release is the data, a public manifest, a data dictionary, and a private record for its owner.

    Examples:

        shoal anonymize people.csv -o safe.csv --qi age,sex,zip -k 5

        shoal anonymize visits.parquet -o safe.parquet --qi age,los --sensitive charge -k 5 --t 0.1

        shoal anonymize visits.parquet -o safe.parquet --qi age,zip --method coarsen --resolution 16 -k 5

        shoal anonymize people.csv -o safe.csv --qi year,town -k 3 --method recode --generalize town=map.csv

        shoal anonymize people.csv -o safe.csv --qi age,sex,zip -k 5 --method mondrian --effort best

        shoal anonymize survey.csv -o safe.csv --qi income,age -k 3 --method microaggregate --strata region

        shoal anonymize adult.csv -o safe.csv --qi age,sex,education --sensitive occupation -k 5 --l 3 --t 0.2
        --method lattice --suppression 5%

        shoal anonymize survey.csv -o safe.csv --qi region,age,sex -k 3 --method suppress --importance sex=5
    """
    from shoal.anonymization.anonymize import anonymize as change
    from shoal.cli.console import running
    from shoal.writing import check_target

    check_target(output, force)
    if chart is not None:
        from shoal.reports.charts import check_chart

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
            method=one_of("--method", method, METHODS),
            resolution=resolution,
            labels="labels" if labels else "range",
            remainder=one_of("--remainder", remainder, ("top", "middle")),
            effort=one_of("--effort", effort, ("fast", "default", "best")),
            cuts=one_of("--cuts", cuts, ("best", "strict", "relaxed")),
            mdav=mdav,
            strata=names_of(strata),
            untouched_if_safe=untouched_if_safe,
            interval=one_of("--interval", interval, ("bracket", "dash", "columns", "midpoint", "mean")),
            generalize=wishes_of(generalize),
            where=one_of("--where", where, ("all", "uniques", "below-k")),
            search=search,
            hierarchies=hierarchies,
            suppression=suppression,
            quality=quality,
            weights=weights_of(weights),
            levels=levels_of(levels),
            local=local,
            complete_hierarchies=complete_hierarchies,
            time_limit=time_limit,
            reading=suppressed_reading,
            importance=weights_of(importance, "--importance"),
            all_m=all_m,
            disclosure=disclosure or (),
            options=reading(encoding, delimiter, missing),
        )
        if chart is not None:
            from shoal.reports.charts import choice_chart, save_chart

            save_chart(choice_chart(result.findings.to_dict()), chart)
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
    """Release what was anonymised through the one door, and say what left."""
    from shoal.cli.show_release import show_anonymized
    from shoal.releases.door import Refused, release

    verdicts = [verdict.to_dict() for verdict in result.verdicts]
    try:
        released = release(result, output, **how)
    except Refused as refusal:
        if not as_json:
            raise
        nothing = {"written": 0, "verdict": "refused", "reason": str(refusal), "output": None, "manifest": None}
        print_json({**result.findings.to_dict(), **nothing, "models": verdicts})
        raise typer.Exit(1) from None
    found: dict[str, Any] = {
        **result.findings.to_dict(),
        "written": released.written,
        "verdict": result.verdict,
        "models": verdicts,
        "guarantee": bool(result.policy.models),
        "output": str(released.output),
        "manifest": str(released.manifest),
    }
    if released.plan is not None:
        found["plan"] = str(released.plan)
    print_json(found) if as_json else show_anonymized(found)
