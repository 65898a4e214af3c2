"""`shoal shift-dates`"""

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.options import (
    BomOption,
    CenturyOption,
    DateOrderOption,
    DecimalCommaOption,
    DelimiterOption,
    EncodingOption,
    File,
    JsonOption,
    MissingAsOption,
    MissingOption,
    OutputDelimiterOption,
    QueryOption,
    SignOption,
    either,
    names_of,
    one_of,
    one_or_many,
    output_of,
    print_json,
    reading,
)
from shoal.vocabulary import DateOrder, KeptOfDates, Unreadable


def shift_dates(
    file: File,
    key: Annotated[
        Path,
        typer.Option(
            "--key-file", metavar="FILE", help="The secret key, 32 random bytes; made (mode 0600) if it is not there."
        ),
    ],
    person: Annotated[str, typer.Option("--person", metavar="COLUMN", help="Person identifier column.")],
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--columns", metavar="COLUMNS", help="Columns with dates, a,b,c; all that are found.", show_default=False
        ),
    ] = None,
    leave: Annotated[
        list[str] | None,
        typer.Option(
            "--leave",
            metavar="COLUMNS",
            help="Columns with dates that stay as they are, a,b,c: they give shifts away.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Where to write; else NAME.shifted beside the file.",
            show_default=False,
        ),
    ] = None,
    days: Annotated[
        int | None,
        typer.Option(
            "--range",
            metavar="DAYS",
            help="Each person is shifted by up to ± so many days [365; 1098 with the season].",
            show_default=False,
        ),
    ] = None,
    keep: Annotated[
        str,
        typer.Option("--keep", metavar="WHAT", help="nothing, weekday, season, or weekday-and-season."),
    ] = "nothing",
    unreadable: Annotated[
        str,
        typer.Option(
            "--unreadable", metavar=either(Unreadable), help="What to do with values that are no whole dates."
        ),
    ] = "error",
    date_order: DateOrderOption = None,
    century_from: CenturyOption = None,
    output_delimiter: OutputDelimiterOption = None,
    decimal_comma: DecimalCommaOption = False,
    bom: BomOption = False,
    missing_as: MissingAsOption = None,
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
    """**Shift all dates of a person by the person's own secret number of days.** Intervals stay exactly as they are.

    The shift comes from the key and the person, so it is the same in every file and run; it is never zero. Dates are
    written back as they were written, also those written as numbers; a date that can be read in two ways is an error,
    not a guess. While another column still tells dates nothing is written: shift it, remove it, or `--leave` it.

    Examples:

        shoal shift-dates visits.csv --person patient_id --columns admitted,discharged --key-file key.bin -o moved.csv

        shoal shift-dates labs.csv --person patient_id --key-file key.bin --keep weekday --range 180 -o moved-labs.csv
    """
    from shoal.cli.showing import running, show
    from shoal.methods.pseudonyms.shift_dates import DateReading
    from shoal.releases.jobs import Writing, release_shifted

    order = one_of("--date-order", date_order, DateOrder)
    written = output_of(output_delimiter, decimal_comma, bom, missing_as)
    with running(quiet=as_json):
        result = release_shifted(
            one_or_many(file, query),
            output=output or beside(file[0]),
            writing=Writing(force, shuffle=False, sign=sign, output=written),
            person=person,
            key=key,
            columns=names_of(columns),
            leave=names_of(leave),
            range=days,
            keep=one_of("--keep", keep, KeptOfDates),
            dates=DateReading(order, century_from, one_of("--unreadable", unreadable, Unreadable)),
            options=reading(encoding, delimiter, missing),
        )
    print_json(result.to_dict()) if as_json else show(result)


def beside(file: str) -> str:
    """The name of an output that was not given: `visits.shifted.csv` beside `visits.csv`."""
    return str(Path(file).with_name(f"{Path(file).stem}.shifted{Path(file).suffix}"))
