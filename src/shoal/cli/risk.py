"""`shoal risk`"""

from typing import Annotated, Any

import typer

from shoal.cli.options import (
    CountOption,
    DelimiterOption,
    EncodingOption,
    EngineOption,
    File,
    JsonOption,
    JunitOption,
    MasterOption,
    MemoryOption,
    MissingOption,
    PolicyOption,
    QiOption,
    QueryOption,
    SarifOption,
    SensitiveOption,
    SpillDirOption,
    TypeOption,
    ci_reports,
    either,
    groups_of,
    names_of,
    one_of,
    one_or_many,
    print_json,
    reading,
)
from shoal.errors import InputError
from shoal.vocabulary import Domain, Generalized, NullRule, RiskOver


def risk(
    file: File,
    quasi_identifiers: QiOption = None,
    knowledge: Annotated[
        list[str] | None,
        typer.Option(
            "--knowledge",
            metavar="NAME=COLUMNS",
            help="A group of knowledge; all combinations are measured. Repeat it.",
            show_default=False,
        ),
    ] = None,
    null_rule: Annotated[
        str | None,
        typer.Option(
            "--null-rule",
            metavar="RULE",
            help="value: null equals null (default). wildcard: null matches all. drop: rows set aside.",
            show_default=False,
        ),
    ] = None,
    wildcard_alpha: Annotated[
        str | None,
        typer.Option(
            "--wildcard-alpha",
            metavar="SHARE",
            help="Weight of a match that involves missing values (0.5).",
            show_default=False,
        ),
    ] = None,
    count: CountOption = None,
    person: Annotated[
        str | None,
        typer.Option(
            "--person",
            metavar="COLUMN",
            help="Person identifier column: persons are counted, by their whole history.",
            show_default=False,
        ),
    ] = None,
    threshold: Annotated[
        str | None,
        typer.Option(
            "--threshold",
            metavar="X|NAME",
            help="Accepted risk of one record: a number (0.2) or ema, health-canada, public, trusted, cms.",
            show_default=False,
        ),
    ] = None,
    fail_above_threshold: Annotated[
        bool,
        typer.Option(
            "--fail-above-threshold",
            help="Exit with 1 if any record is over the threshold or a model of the policy fails.",
        ),
    ] = False,
    population: Annotated[
        str | None,
        typer.Option(
            "--population",
            metavar="FILE",
            help="The people the table was drawn from: gives the journalist's risk.",
            show_default=False,
        ),
    ] = None,
    population_count: Annotated[
        str | None,
        typer.Option(
            "--population-count", metavar="COLUMN", help="Count column of the population.", show_default=False
        ),
    ] = None,
    weight: Annotated[
        str | None,
        typer.Option(
            "--weight",
            metavar="COLUMN",
            help="How many people each record stands for: gives the individual risk of a survey.",
            show_default=False,
        ),
    ] = None,
    margins: Annotated[
        list[str] | None,
        typer.Option(
            "--margin",
            metavar="FILE",
            help="People of the population by some quasi-identifiers: an estimate of the journalist's risk. Repeat it.",
            show_default=False,
        ),
    ] = None,
    risk_over: Annotated[
        str | None,
        typer.Option(
            "--risk-over",
            metavar=either(RiskOver),
            help="Whether threshold and limits are about the table or estimated for the population.",
            show_default=False,
        ),
    ] = None,
    household: Annotated[
        str | None,
        typer.Option(
            "--household",
            metavar="COLUMN",
            help="Household identifier column: adds the risk through households.",
            show_default=False,
        ),
    ] = None,
    population_size: Annotated[
        int | None,
        typer.Option(
            "--population-size", metavar="N", help="How many people the sample comes from.", show_default=False
        ),
    ] = None,
    sampling: Annotated[
        str | None,
        typer.Option(
            "--sampling", metavar="SHARE", help="Which share of the population the sample is: 5%.", show_default=False
        ),
    ] = None,
    estimate: Annotated[
        str | None,
        typer.Option(
            "--estimate",
            metavar="all|NAME",
            help="Estimate the population by all estimators or one: pitman, zayatz, snb, log-linear, dis.",
            show_default=False,
        ),
    ] = None,
    suda: Annotated[
        bool, typer.Option("--suda", help="Search special uniques: records that few columns already single out.")
    ] = False,
    suda_size: Annotated[
        int | None,
        typer.Option(
            "--suda-size",
            metavar="M",
            help="Special uniques of up to M columns (all if not given).",
            show_default=False,
        ),
    ] = None,
    global_limit: Annotated[
        str | None,
        typer.Option(
            "--global-limit",
            metavar="SHARE",
            help="The global risk to keep: says which individual risk needs protection.",
            show_default=False,
        ),
    ] = None,
    approximate: Annotated[
        bool, typer.Option("--approximate", help="Individual risk by sdcMicro's approximation.")
    ] = False,
    generalized: Annotated[
        str,
        typer.Option(
            "--generalized",
            metavar=either(Generalized),
            help="Read [20;29], 937**, [a, b] and * as ranges; auto says what it found.",
        ),
    ] = "auto",
    sensitive: SensitiveOption = None,
    disclosure: Annotated[
        list[str] | None,
        typer.Option(
            "--disclosure",
            metavar="CONDITION",
            help="Measure how many are disclosed to meet it, such as 'illness in HIV'. Repeat it.",
            show_default=False,
        ),
    ] = None,
    domain: Annotated[
        str,
        typer.Option(
            "--domain",
            metavar=either(Domain),
            help="What * stands for: the whole range, or the values seen.",
        ),
    ] = "range",
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
    junit: JunitOption = None,
    sarif: SarifOption = None,
    as_json: JsonOption = False,
) -> None:
    """**How exposed are the people in this table?**

    Records that share all quasi-identifiers form a class. A record alone in its class is *unique*: whoever knows those
    values of a person finds the record. The risk of a record is 1 / the size of its class.

    Examples:

        shoal risk people.csv --qi age,sex,zip

        shoal risk visits.parquet --knowledge census=age,sex,zip --knowledge dates=admitted --person patient_id

        shoal risk safe.csv --qi age,sex,zip --sensitive illness --disclosure "illness in HIV,cancer"

        shoal risk survey.csv --qi region,sex,age --weight w --household hid --suda

        shoal risk counts.csv --qi year,town,sex --count n --threshold ema --fail-above-threshold
    """
    from shoal.cli.showing import running, show
    from shoal.exposure import (
        GeneralizedText,
        MissingKeys,
        PopulationCounts,
        PopulationMargins,
        Sample,
        SensitiveQuestions,
    )
    from shoal.exposure import risk as measure

    reports = ci_reports("risk", file, junit, sarif)
    people: Any = PopulationCounts(population, population_count) if population_count else population
    if margins:
        if people is not None:
            raise InputError("A population and its margins are given.", "Give --population or --margin.")
        people = PopulationMargins(margins)
    with running(quiet=as_json):
        result = measure(
            one_or_many(file, query),
            quasi_identifiers=names_of(quasi_identifiers),
            knowledge=groups_of(knowledge),
            null_rule=MissingKeys(one_of("--null-rule", null_rule, NullRule), wildcard_alpha),
            count=count,
            person=person,
            threshold=threshold,
            population=Sample(
                weight=weight,
                household=household,
                population_size=population_size,
                sampling=sampling,
                estimate=estimate,
                suda=suda_size if suda_size is not None else suda,
                global_limit=global_limit,
                approximate=approximate,
                population=people,
                risk_over=None if risk_over is None else one_of("--risk-over", risk_over, RiskOver),
            ),
            generalized=GeneralizedText(
                one_of("--generalized", generalized, Generalized),
                one_of("--domain", domain, Domain),
            ),
            sensitive=SensitiveQuestions(names_of(sensitive) or (), disclosure or ()),
            policy=policy,
            options=reading(encoding, delimiter, missing, types, engine, master, memory, spill_dir),
        )
    if reports is not None:
        reports.write(result)
    print_json(result.to_dict()) if as_json else show(result)
    if fail_above_threshold and not result.holds:
        raise typer.Exit(1)
