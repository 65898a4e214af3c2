"""`shoal k-safety`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.options import (
    DelimiterOption,
    EncodingOption,
    File,
    JsonOption,
    QueryOption,
    one_or_many,
    print_json,
    reading,
)


def k_safety(
    file: File,
    entities: Annotated[
        Path,
        typer.Option("--entities", metavar="FILE", help="A table with the columns entity and term: who or what it is."),
    ],
    k: Annotated[int, typer.Option("-k", "--k", metavar="K", help="How many entities every set of terms must fit.")],
    text: Annotated[str, typer.Option("--text", metavar="COLUMN", help="The column of documents.")] = "text",
    method: Annotated[
        str, typer.Option("--method", metavar="greedy|exact", help="Few terms removed, fast, or the fewest.")
    ] = "greedy",
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Where to write the documents.", show_default=False),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an output that exists; never an input.")] = False,
    encoding: EncodingOption = None,
    delimiter: DelimiterOption = None,
    query: QueryOption = None,
    as_json: JsonOption = False,
) -> None:
    """**Remove the terms by which a document tells whom or what it is about**, so that K entities still fit.

    For a list of entities and their context terms (Chakaravarthy et al. 2008). Each document is searched for the terms;
    the fewest (exact) or few (greedy) become ***, so that every set of terms left fits at least K entities.

    Examples:

        shoal k-safety reports.jsonl --entities diseases.csv -k 5 --method exact -o safe.jsonl
    """
    from typing import cast

    from shoal.cli.showing import running, show
    from shoal.scrubbing.documents import k_safety as run
    from shoal.text.k_safety import SafetyMethod

    with running(quiet=as_json):
        result = run(
            one_or_many(file, query),
            text=text,
            entities=entities,
            k=k,
            method=cast(SafetyMethod, method),
            output=output,
            force=force,
            options=reading(encoding, delimiter, None),
        )
    print_json(result.to_dict()) if as_json else show(result)
