"""`shoal detect`"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli.options import (
    ColumnsOption,
    CountOption,
    DelimiterOption,
    EncodingOption,
    EngineOption,
    File,
    JsonOption,
    MasterOption,
    MemoryOption,
    MissingOption,
    PolicyOption,
    QueryOption,
    SpillDirOption,
    names_of,
    one_of,
    one_or_many,
    print_json,
    reading,
)
from shoal.vocabulary import NullRule

if TYPE_CHECKING:
    from shoal.detection import Detection


def detect(
    file: File,
    columns: ColumnsOption = None,
    null_rule: Annotated[
        str | None,
        typer.Option(
            "--null-rule",
            metavar="RULE",
            help="value: null equals null (default). drop: rows set aside.",
            show_default=False,
        ),
    ] = None,
    count: CountOption = None,
    max_size: Annotated[
        int | None,
        typer.Option(
            "--max-size",
            help="Sets of at most so many columns; all sizes up to 16 columns, else 5.",
            show_default=False,
        ),
    ] = None,
    time_limit: Annotated[
        float, typer.Option("--time-limit", help="Seconds to search; then the best found and its bound are shown.")
    ] = 30.0,
    sample: Annotated[
        int | None,
        typer.Option(
            "--sample",
            help="Search on so many records drawn at random; the bound says how far off it may be.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Random seed of the sample.")] = 0,
    chart: Annotated[
        Path | None,
        typer.Option(
            "--chart",
            metavar="FILE",
            help="Draw the frontier and the contributions: .svg, .png or .html.",
            show_default=False,
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a chart that exists.")] = False,
    policy: PolicyOption = None,
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
    """**Which columns identify people?**

    Finds the sets of columns that tell all records apart (identifiers), the set without one that singles out most
    people (the best quasi-identifier), the best set of each size, and what each column adds.

    Examples:

        shoal detect licences.parquet

        shoal detect licences.parquet --columns year,municipality,province,sex --null-rule drop

        shoal detect wide.csv --max-size 5 --time-limit 60 --chart frontier.svg
    """
    from shoal.cli.showing import running, show
    from shoal.detection import detect as find
    from shoal.reports.charts import with_chart

    def measure() -> "Detection":
        return find(
            one_or_many(file, query),
            columns=names_of(columns),
            null_rule=one_of("--null-rule", null_rule, NullRule),
            count=count,
            max_size=max_size,
            time_limit=time_limit,
            sample=sample,
            seed=seed,
            policy=policy,
            options=reading(encoding, delimiter, missing, None, engine, master, memory, spill_dir),
        )

    with running(quiet=as_json):
        result = with_chart(measure, chart, force=force, sources=file)
    print_json(result.to_dict()) if as_json else show(result)
