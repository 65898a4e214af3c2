"""The commands and their options."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Annotated, Any

import typer

from shoal import __version__
from shoal.errors import InputError

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="""**shoal**: publish a table about people without giving the people away.

Find what identifies them, measure how likely they are to be re-identified, change as little as needed, prove it.

Start with your own file:

    shoal profile people.csv
    shoal detect people.csv
    shoal risk people.csv --qi age,sex,zip

or with a generated one:

    shoal sample-data discharges -n 200000 -o discharges.parquet
""",
    epilog="Exit codes: 0 fine, 1 measured and not met, 2 bad input. Nothing leaves this machine.",
)

File = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE...",
        help="CSV, Parquet, Arrow or JSON lines; a folder or a glob; several files.",
        show_default=False,
    ),
]
PolicyOption = Annotated[
    Path | None,
    typer.Option(
        "--policy",
        metavar="FILE",
        help="A policy file (YAML); options given here override it.",
        show_default=False,
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
EncodingOption = Annotated[
    str | None,
    typer.Option("--encoding", metavar="NAME", help="Encoding of a text file; found if not given.", show_default=False),
]
DelimiterOption = Annotated[
    str | None,
    typer.Option("--delimiter", metavar="CHAR", help="What separates columns; found if not given.", show_default=False),
]
MissingOption = Annotated[
    str | None,
    typer.Option(
        "--missing",
        metavar="WORDS",
        help="Words of a text file that mean missing, such as NA,unknown.",
        show_default=False,
    ),
]


ColumnsOption = Annotated[
    list[str] | None,
    typer.Option("--columns", metavar="COLUMNS", help="Only these columns, a,b,c.", show_default=False),
]
CountOption = Annotated[
    str | None,
    typer.Option("--count", metavar="COLUMN", help="A row stands for this many records.", show_default=False),
]


@app.callback(invoke_without_command=True)
def _root(
    version: Annotated[bool, typer.Option("--version", help="Show the version.", is_eager=True)] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show a traceback when something fails (works anywhere).")
    ] = False,
) -> None:
    if version:
        typer.echo(f"shoal {__version__}")
        raise typer.Exit


@app.command()
def risk(
    file: File,
    qi: Annotated[
        list[str] | None,
        typer.Option(
            "--qi",
            metavar="COLUMNS",
            help="Quasi-identifiers: what an attacker may know, a,b,c.",
            show_default=False,
        ),
    ] = None,
    know: Annotated[
        list[str] | None,
        typer.Option(
            "--know",
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
    count: CountOption = None,
    person: Annotated[
        str | None,
        typer.Option(
            "--person",
            metavar="COLUMN",
            help="Whose row it is: persons are counted, by their whole history.",
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
    fail_over: Annotated[
        bool,
        typer.Option(
            "--fail-over",
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
    generalized: Annotated[
        str,
        typer.Option(
            "--generalized",
            metavar="auto|yes|no",
            help="Read [20;29], 937**, [a, b] and * as ranges; auto says what it found.",
        ),
    ] = "auto",
    domain: Annotated[
        str,
        typer.Option(
            "--domain",
            metavar="range|observed",
            help="What * stands for: the whole range, or the values seen.",
        ),
    ] = "range",
    policy: PolicyOption = None,
    encoding: EncodingOption = None,
    delimiter: DelimiterOption = None,
    missing: MissingOption = None,
    as_json: JsonOption = False,
) -> None:
    """**How exposed are the people in this table?**

    Records that share all quasi-identifiers form a class. A record alone in its class is *unique*: whoever knows those
    values of a person finds the record. The risk of a record is 1 / the size of its class.

    Examples:

        shoal risk people.csv --qi age,sex,zip

        shoal risk visits.parquet --know census=age,sex,zip --know dates=admitted --person patient_id

        shoal risk counts.csv --qi year,town,sex --count n --threshold ema --fail-over
    """
    from shoal.cli.show import running, show_risk
    from shoal.risk import risk as measure

    with running(quiet=as_json):
        found = measure(
            _one_or_many(file),
            _names(qi),
            know=_groups(know),
            null_rule=_one_of("--null-rule", null_rule, ("value", "wildcard", "drop")),
            count=count,
            person=person,
            threshold=threshold,
            population=population,
            population_count=population_count,
            generalized=_one_of("--generalized", generalized, ("auto", "yes", "no")),
            domain=_one_of("--domain", domain, ("range", "observed")),
            policy=policy,
            options=_options(encoding, delimiter, missing),
        )
    _print(found.to_dict()) if as_json else show_risk(found)
    if fail_over and (found.over_threshold or not all(verdict.holds for verdict in found.models)):
        raise typer.Exit(1)


@app.command()
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
    seed: Annotated[int, typer.Option("--seed", min=0, help="Which sample is drawn.")] = 0,
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
    from shoal.cli.show import running, show_detection, show_written
    from shoal.detect import detect as find

    if chart is not None:
        from shoal.charts import check_chart, detection_chart, save_chart

        check_chart(chart, force)
    with running(quiet=as_json):
        found = find(
            _one_or_many(file),
            _names(columns),
            null_rule=_one_of("--null-rule", null_rule, ("value", "wildcard", "drop")),
            count=count,
            max_size=max_size,
            time_limit=time_limit,
            sample=sample,
            seed=seed,
            policy=policy,
            options=_options(encoding, delimiter, missing),
        )
        if chart is not None:
            save_chart(detection_chart(found), chart)
    _print(found.to_dict()) if as_json else show_detection(found)
    if chart is not None and not as_json:
        show_written("chart", chart)


@app.command()
def profile(
    file: File,
    columns: ColumnsOption = None,
    write_policy: Annotated[
        Path | None,
        typer.Option(
            "--write-policy", metavar="FILE", help="Start a policy file from the proposed roles.", show_default=False
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a policy file that exists.")] = False,
    policy: PolicyOption = None,
    encoding: EncodingOption = None,
    delimiter: DelimiterOption = None,
    missing: MissingOption = None,
    as_json: JsonOption = False,
) -> None:
    """**What is in this table?** Types, missing and distinct values, and the role that each column may play.

    The role (identifier, quasi-identifier, sensitive, other) is a proposal with its reasons, from header and values. No
    value is shown.

    Examples:

        shoal profile people.csv

        shoal profile people.csv --write-policy policy.yaml

        shoal profile 'visits/*.parquet' --columns age,sex,zip --json
    """
    from shoal.cli.show import running, show_profile, show_written
    from shoal.profile import profile as measure
    from shoal.write import check_target, write_whole

    if write_policy is not None:
        check_target(write_policy, force, (".yaml", ".yml"))
    with running(quiet=as_json):
        found = measure(
            _one_or_many(file), _names(columns), policy=policy, options=_options(encoding, delimiter, missing)
        )
    if write_policy is not None:
        write_whole(write_policy, lambda draft: draft.write_text(found.policy_text(), encoding="utf-8"))
    _print(found.to_dict()) if as_json else show_profile(found)
    if write_policy is not None and not as_json:
        show_written("policy", write_policy)


@app.command("sample-data")
def sample_data(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="discharges: hospital stays in California. licences: driving licences of a small region.",
        ),
    ],
    output: Annotated[
        Path,
        typer.Option("-o", "--output", metavar="FILE", help="Where to write; the ending says the format."),
    ],
    rows: Annotated[
        int | None,
        typer.Option("-n", "--rows", help="How many rows; as many as in the paper it stands for.", show_default=False),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="The same seed gives the same table.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that exists.")] = False,
    as_json: JsonOption = False,
) -> None:
    """**Generate a table to try shoal on**: in the image of real ones, about nobody.

    Example:

        shoal sample-data discharges -n 200000 --seed 0 -o discharges.parquet
    """
    from shoal.cli.show import running, show_written
    from shoal.sample import sample_data as generate
    from shoal.write import check_target, write_frame

    check_target(output, force)
    with running(quiet=as_json):
        frame = generate(name, rows, seed)
        write_frame(frame, output, force)
    written: dict[str, Any] = {"sample": name, "records": len(frame), "seed": seed, "output": str(output)}
    _print(written) if as_json else show_written(f"{len(frame):,} records", output)


def _one_or_many(files: list[str]) -> str | list[str]:
    return files[0] if len(files) == 1 else files


def _names(given: list[str] | None) -> list[str] | None:
    """Column names from `a,b` or repeated options; a name with a comma in it stands in quotes."""
    if given is None:
        return None
    try:
        names = [
            name
            for text in given
            for row in csv.reader(io.StringIO(text, newline=""), skipinitialspace=True)
            for name in row
        ]
    except csv.Error:
        raise InputError(
            "The list of columns cannot be read.", "Write the names with commas between: age,sex,zip."
        ) from None
    if not any('"' in text for text in given):  # in quotes, spaces belong to the name
        names = [name.strip() for name in names]
    if not names or "" in names:
        raise InputError("A column name in the list is empty.", "Write the names with commas between: age,sex,zip.")
    return names


def _groups(given: list[str] | None) -> dict[str, list[str]] | None:
    if given is None:
        return None
    groups: dict[str, list[str]] = {}
    for text in given:
        name, equals, columns = text.partition("=")
        if not equals or not name.strip() or name.strip() in groups:
            raise InputError(
                f"--know '{text}' is not a new NAME=COLUMNS.",
                "Write --know census=age,sex,zip, each name once.",
            )
        groups[name.strip()] = _names([columns]) or []
    return groups


def _one_of(option: str, given: str | None, known: tuple[str, ...]) -> Any:
    if given is not None and given not in known:
        raise InputError(f"{option} '{given}' is not known.", f"Use one of {', '.join(known)}.")
    return given


def _options(encoding: str | None, delimiter: str | None, missing: str | None) -> Any:
    from shoal.read import Options

    if delimiter is not None:
        delimiter = {"tab": "\t", "\\t": "\t"}.get(delimiter, delimiter)
        if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n':
            raise InputError("A delimiter is one character.", "Write --delimiter ';' or --delimiter tab.")
    return Options(encoding, delimiter, tuple(_names([missing]) or ()) if missing else ())


def _print(found: dict[str, Any]) -> None:
    import json

    typer.echo(json.dumps(found, ensure_ascii=False))
