"""`shoal scrub`"""

from __future__ import annotations

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
        typer.Option("--person", metavar="COLUMN", help="Whose row it is; not written.", show_default=False),
    ] = None,
    replace: Annotated[
        str, typer.Option("--replace", metavar=either(Replacing), help="What stands where an identifier was.")
    ] = "tag",
    key_file: Annotated[
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
            key=key_file,
            keep=names_of(keep),
            known_from=known_from,
            text_model=text_model,
            date_order=one_of("--date-order", date_order, DateOrder),
            options=reading(encoding, delimiter, missing),
        )
    print_json(result.to_dict()) if as_json else show(result)


def beside(file: str) -> str:
    """The name of an output that was not given: `visits.scrubbed.csv` beside `visits.csv`."""
    return str(Path(file).with_name(f"{Path(file).stem}.scrubbed{Path(file).suffix}"))
