"""`shoal profile`"""

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.options import (
    CodebookOption,
    ColumnsOption,
    DelimiterOption,
    EncodingOption,
    EngineOption,
    File,
    JsonOption,
    MasterOption,
    MissingOption,
    PolicyOption,
    QueryOption,
    TypeOption,
    names_of,
    one_or_many,
    print_json,
    reading,
)


def profile(
    file: File,
    columns: ColumnsOption = None,
    write_policy: Annotated[
        Path | None,
        typer.Option(
            "--write-policy",
            metavar="FILE",
            help="Write a policy of the proposal, ready to run.",
            show_default=False,
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a policy file that exists.")] = False,
    policy: PolicyOption = None,
    codebook: CodebookOption = None,
    encoding: EncodingOption = None,
    delimiter: DelimiterOption = None,
    missing: MissingOption = None,
    query: QueryOption = None,
    engine: EngineOption = None,
    master: MasterOption = None,
    types: TypeOption = None,
    as_json: JsonOption = False,
) -> None:
    """**What is in this table?** Types, missing and distinct values, and the role that each column may play.

    The role (identifier, quasi-identifier, sensitive, other) is a proposal with its reasons, from header and values. No
    value is shown.

    Examples:

        shoal profile people.csv

        shoal profile people.csv --write-policy policy.yaml

        shoal profile answers.csv --codebook codebook.xml

        shoal profile 'visits/*.parquet' --columns age,sex,zip --json
    """
    from shoal.cli.showing import running, show
    from shoal.detection.profile import profile as measure

    with running(quiet=as_json):
        result = measure(
            one_or_many(file, query),
            columns=names_of(columns),
            policy=policy,
            codebook=codebook,
            write_policy=write_policy,
            force=force,
            options=reading(encoding, delimiter, missing, types, engine, master),
        )
    print_json(result.to_dict()) if as_json else show(result)
