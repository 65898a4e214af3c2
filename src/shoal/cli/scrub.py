"""`shoal scrub`"""

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.options import (
    DateOrderOption,
    DelimiterOption,
    EncodingOption,
    File,
    JsonOption,
    KnownFromOption,
    MissingOption,
    QueryOption,
    SignOption,
    either,
    names_of,
    one_of,
    one_or_many,
    print_json,
    reading,
)
from shoal.vocabulary import DateOrder, Replacing


def scrub(
    file: File,
    text: Annotated[list[str], typer.Option("--text", metavar="COLUMNS", help="Columns of free text, a,b,c.")],
    known: Annotated[
        list[str] | None,
        typer.Option(
            "--known",
            metavar="COLUMNS",
            help="Columns with values of the person, of relatives or doctors, looked for in the notes; not written.",
            show_default=False,
        ),
    ] = None,
    person: Annotated[
        str | None,
        typer.Option("--person", metavar="COLUMN", help="Person identifier column; not written.", show_default=False),
    ] = None,
    replace: Annotated[
        str,
        typer.Option(
            "--replace", metavar=either(Replacing), help="Replacement style for identifiers found in the text."
        ),
    ] = "tag",
    key: Annotated[
        Path | None,
        typer.Option(
            "--key-file",
            metavar="FILE",
            help="The secret key of surrogates; made (mode 0600) if it is not there.",
            show_default=False,
        ),
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            "--keep",
            metavar="COLUMNS",
            help="Columns that identify and are written all the same, a,b,c.",
            show_default=False,
        ),
    ] = None,
    known_from: KnownFromOption = None,
    text_model: Annotated[
        Path | None,
        typer.Option(
            "--text-model",
            metavar="FOLDER",
            help="A saved spaCy pipeline, whose findings join those of the rules.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Where to write; else NAME.scrubbed beside the file.",
            show_default=False,
        ),
    ] = None,
    spans_out: Annotated[
        Path | None,
        typer.Option(
            "--spans-out",
            metavar="FILE",
            help="Where to write row, start, end, kind and score of each find (private, mode 0600; no text).",
            show_default=False,
        ),
    ] = None,
    date_order: DateOrderOption = None,
    sign: SignOption = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace an output that exists; never a key or an input.")
    ] = False,
    encoding: EncodingOption = None,
    delimiter: DelimiterOption = None,
    missing: MissingOption = None,
    query: QueryOption = None,
    as_json: JsonOption = False,
) -> None:
    """**Replace what points at people in columns of free text**, and release the table.

    Names, dates, numbers and addresses are found by rules and lists in five languages, and by what the table itself
    knows: the values of known columns are looked for in the notes of the same person, in any form. Known columns and
    the person are not written. Rules do not find everything: docs/text.md says what they miss.

    Examples:

        shoal scrub visits.csv --text note --known name,mrn,dob,phone --person patient -o clean.csv

        shoal scrub visits.csv --text note --known name --replace surrogate --key-file secret.key -o clean.csv

        shoal scrub notes.jsonl --text text --known-from known.jsonl --spans-out places.csv -o clean.jsonl
    """
    from shoal.cli.showing import running, show
    from shoal.releases.jobs import Writing, release_scrubbed

    with running(quiet=as_json):
        result = release_scrubbed(
            one_or_many(file, query),
            output=output or beside(file[0]),
            writing=Writing(force, shuffle=False, sign=sign),
            spans_out=spans_out,
            text=names_of(text),
            known=names_of(known),
            person=person,
            replace=one_of("--replace", replace, Replacing),
            key=key,
            keep=names_of(keep),
            known_from=known_from,
            text_model=text_model,
            date_order=one_of("--date-order", date_order, DateOrder),
            options=reading(encoding, delimiter, missing),
        )
    print_json(result.to_dict()) if as_json else show(result)
    if result.spans.get("withheld"):
        raise typer.Exit(1)


def beside(file: str) -> str:
    """The name of an output that was not given: `visits.scrubbed.csv` beside `visits.csv`."""
    return str(Path(file).with_name(f"{Path(file).stem}.scrubbed{Path(file).suffix}"))


# `shoal k-safety`


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
    from shoal.methods.scrubbing.documents import k_safety as run
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
