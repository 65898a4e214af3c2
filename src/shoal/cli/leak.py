"""`shoal leak`"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli.options import (
    CountOption,
    DelimiterOption,
    EncodingOption,
    EngineOption,
    JsonOption,
    MasterOption,
    MemoryOption,
    MissingOption,
    PolicyOption,
    QiOption,
    QueryOption,
    SpillDirOption,
    either,
    names_of,
    one_of,
    one_or_many,
    print_json,
    reading,
)
from shoal.vocabulary import Draw, Generalized, LeakMethod, LeakUnit, NullRule

if TYPE_CHECKING:
    from shoal.exposure.leakage import LeakRisk, LeakSeries


def leak(
    file: Annotated[
        list[str] | None,
        typer.Argument(metavar="[FILE]...", help="The release; or give numbers instead.", show_default=False),
    ] = None,
    leaked: Annotated[
        str | None,
        typer.Option(
            "--leaked",
            metavar="N|SHARE",
            help="Persons leaked: 4000, 10%, a list 1000,2000, or ten steps 1000..10000 (1000..10000..500 for others).",
            show_default=False,
        ),
    ] = None,
    persons: Annotated[
        int | None, typer.Option("--persons", metavar="N", help="Persons in all.", show_default=False)
    ] = None,
    class_size: Annotated[
        int | None,
        typer.Option("--class-size", metavar="K", help="Everybody is in a class of K (Eq 5).", show_default=False),
    ] = None,
    sizes: Annotated[
        str | None,
        typer.Option(
            "--sizes", metavar="SIZE:COUNT,…", help="Classes: 3:2,4:1 is two of 3 and one of 4.", show_default=False
        ),
    ] = None,
    targets: Annotated[
        str | None,
        typer.Option(
            "--targets",
            metavar="N",
            help="Persons who are all re-identified (default 1): 3, a list 1,5,10, or 1..10.",
            show_default=False,
        ),
    ] = None,
    threshold: Annotated[
        str | None,
        typer.Option(
            "--threshold",
            metavar="X|NAME",
            help="Accepted probability, 0.09 or ema, health-canada, public, trusted, cms; or a list. "
            "Gives the smallest k and the largest leak that keep it.",
            show_default=False,
        ),
    ] = None,
    fail_above_threshold: Annotated[
        bool, typer.Option("--fail-above-threshold", help="Exit with 1 if a probability is over the threshold.")
    ] = False,
    method: Annotated[
        str,
        typer.Option(
            "--method",
            metavar=either(LeakMethod),
            help="The exact law; the published recursion, repaired; the same with weights as printed.",
        ),
    ] = "exact",
    simulate: Annotated[
        int | None,
        typer.Option("--simulate", metavar="N", help="Also simulate the attack N times.", show_default=False),
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", metavar="N", help="Random seed of the simulation.", show_default=False)
    ] = None,
    draw: Annotated[
        str,
        typer.Option(
            "--draw",
            metavar=either(Draw),
            help="Whom simulated targets are drawn from; leak is the published way, which overstates.",
        ),
    ] = "everybody",
    unit: Annotated[
        str,
        typer.Option("--unit", metavar=either(LeakUnit), help="What leaks: persons whole, or records (simulated)."),
    ] = "persons",
    history: Annotated[
        str | None,
        typer.Option(
            "--history",
            metavar="SHARE",
            help="Of a leaked person's records only this share leaks (simulated).",
            show_default=False,
        ),
    ] = None,
    quasi_identifiers: QiOption = None,
    person: Annotated[
        str | None,
        typer.Option(
            "--person",
            metavar="COLUMN",
            help="Person identifier column: a person's records stay together.",
            show_default=False,
        ),
    ] = None,
    count: CountOption = None,
    null_rule: Annotated[
        str | None,
        typer.Option("--null-rule", metavar="RULE", help="value (default), wildcard or drop.", show_default=False),
    ] = None,
    generalized: Annotated[
        str, typer.Option("--generalized", metavar=either(Generalized), help="Read [20;29], 937** and * as ranges.")
    ] = "auto",
    policy: PolicyOption = None,
    chart: Annotated[
        Path | None,
        typer.Option("--chart", metavar="FILE", help="Draw the curves: .svg, .png or .html.", show_default=False),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a chart that exists.")] = False,
    encoding: EncodingOption = None,
    delimiter: DelimiterOption = None,
    missing: MissingOption = None,
    query: QueryOption = None,
    engine: EngineOption = None,
    master: MasterOption = None,
    memory: MemoryOption = None,
    spill_dir: SpillDirOption = None,
    as_json: JsonOption = False,
) -> None:
    """**How many people does a stolen part of the release expose?**

    The probability that one person, or all of several, picked at random are re-identified by whoever holds a part of
    the table: exact for any class sizes. With a threshold: the smallest class size and the largest leak that keep it.

    Examples:

        shoal leak --persons 10000 --leaked 4000 --class-size 5 --targets 3

        shoal leak safe.parquet --policy policy.yaml --leaked 10% --targets 1,5,10

        shoal leak --persons 10000 --leaked 1000..10000 --threshold 0.09 --chart k.svg
    """
    from shoal.cli.showing import running, show
    from shoal.exposure.leakage import Simulation
    from shoal.exposure.leakage import leak as measure
    from shoal.reports.charts import with_chart

    limits = names_of([threshold]) if threshold is not None else None

    def measured() -> "LeakRisk | LeakSeries":
        return measure(
            one_or_many(file, query) if file else None,
            leaked=leaked,
            persons=persons,
            class_size=class_size,
            sizes=sizes,
            targets=targets,
            threshold=limits[0] if limits is not None and len(limits) == 1 else limits,
            method=one_of("--method", method, LeakMethod),
            simulate=Simulation(
                simulate,
                seed,
                one_of("--draw", draw, Draw),
                one_of("--unit", unit, LeakUnit),
                history,
            ),
            quasi_identifiers=names_of(quasi_identifiers),
            person=person,
            count=count,
            null_rule=one_of("--null-rule", null_rule, NullRule),
            generalized=one_of("--generalized", generalized, Generalized),
            policy=policy,
            options=reading(encoding, delimiter, missing, None, engine, master, memory, spill_dir),
        )

    with running(quiet=as_json):
        result = with_chart(measured, chart, force=force, sources=file or [])
    print_json(result.to_dict()) if as_json else show(result)
    if fail_above_threshold and result.holds is False:
        raise typer.Exit(1)
