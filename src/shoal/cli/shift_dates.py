"""`shoal shift-dates`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.options import (
    CenturyOption,
    DateOrderOption,
    DelimiterOption,
    EncodingOption,
    File,
    JsonOption,
    KeyFileOption,
    MissingOption,
    names_of,
    one_of,
    one_or_many,
    print_json,
    reading,
)


def shift_dates(
    file: File,
    person: Annotated[str, typer.Option("--person", metavar="COLUMN", help="Whose row it is.")],
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--columns", metavar="COLUMNS", help="Columns with dates, a,b,c; all that are found.", show_default=False
        ),
    ] = None,
    key_file: KeyFileOption = None,
    output: Annotated[
        Path | None,
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
            help="Each person moves by up to ± so many days [365; 1098 with the season].",
            show_default=False,
        ),
    ] = None,
    keep: Annotated[
        str,
        typer.Option("--keep", metavar="WHAT", help="nothing, weekday, season, or weekday-and-season."),
    ] = "nothing",
    unreadable: Annotated[
        str, typer.Option("--unreadable", metavar="error|blank", help="What to do with values that are no whole dates.")
    ] = "error",
    date_order: DateOrderOption = None,
    century_from: CenturyOption = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an output that exists; keys never.")] = False,
    encoding: EncodingOption = None,
    delimiter: DelimiterOption = None,
    missing: MissingOption = None,
    as_json: JsonOption = False,
) -> None:
    """**Move all dates of a person by the person's own secret number of days.** Intervals stay exactly as they are.

    The shift comes from the key and the person, so it is the same in every file and run; it is never nought. Dates are
    written back as they were written; a date that can be read in two ways is an error, not a guess.

    Examples:

        shoal shift-dates visits.csv --person patient_id --columns admitted,discharged --key-file key.bin -o moved.csv

        shoal shift-dates labs.csv --person patient_id --key-file key.bin --keep weekday --range 180 -o moved-labs.csv
    """
    from shoal.cli.console import running
    from shoal.cli.show_standards import show_shifted
    from shoal.errors import InputError
    from shoal.keys import find_key
    from shoal.pseudonyms.shift_dates import allowed_shifts
    from shoal.pseudonyms.shift_dates import shift_dates as shift
    from shoal.reading import read
    from shoal.writing import check_target, write_frame

    if key_file is None:
        raise InputError("Without a key anybody could undo the shift.", "Give --key-file key.bin (made if not there).")
    if output is None:
        first = Path(file[0])
        output = first.with_name(f"{first.stem}.shifted{first.suffix}")
    check_target(output, force)
    keep = one_of("--keep", keep, ("nothing", "weekday", "season", "weekday-and-season"))
    if days is not None:
        allowed_shifts(max(1, min(days, 36_525)), keep)  # type: ignore[arg-type]
    with running(quiet=as_json):
        table = read(one_or_many(file), None, reading(encoding, delimiter, missing))
        table.select([person, *(names_of(columns) or [])])  # before a key is made for them
        key, created = find_key(key_file)
        made = shift(
            table,
            person,
            names_of(columns),
            key=key,
            range=days,
            keep=keep,  # type: ignore[arg-type]
            date_order=one_of("--date-order", date_order, ("dmy", "mdy", "ymd")),
            century_from=century_from,
            unreadable=one_of("--unreadable", unreadable, ("error", "blank")),
        )
        write_frame(made.polars, output, force)
    found = {
        "person": person,
        "columns": made.columns,
        "persons": made.persons,
        "records": table.rows,
        "cells_changed": made.cells_changed,
        "blanked": made.blanked,
        "range": made.range,
        "keep": made.keep,
        "unshifted": made.unshifted,
        "key_file_created": created,
        "output": str(output),
    }
    print_json(found) if as_json else show_shifted(found)
