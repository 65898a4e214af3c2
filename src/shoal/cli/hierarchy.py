"""`shoal hierarchy build` and `shoal hierarchy check`"""

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.group import group_of_commands
from shoal.cli.options import (
    DelimiterOption,
    EncodingOption,
    File,
    JsonOption,
    MissingOption,
    QueryOption,
    names_of,
    one_of,
    one_or_many,
    print_json,
    reading,
)
from shoal.vocabulary import HierarchyKind, words_of

app = group_of_commands(
    """**How a column gets coarser**: build hierarchies, or check those you have.

A hierarchy is a file with a row per value, `leaf;level1;…;*`, or nested YAML.
"""
)


@app.command()
def build(
    file: File,
    output: Annotated[
        Path,
        typer.Option(
            "-o", "--output", metavar="FILE|FOLDER", help="age.csv or age.yaml; for several columns a folder."
        ),
    ],
    column: Annotated[
        list[str] | None,
        typer.Option("--column", metavar="COLUMNS", help="Which columns, a,b,c; all if not given.", show_default=False),
    ] = None,
    kind: Annotated[
        str, typer.Option("--kind", metavar="KIND", help=", ".join(words_of(HierarchyKind)) + ".")
    ] = "auto",
    width: Annotated[
        float | None, typer.Option("--width", help="Width of the finest intervals.", show_default=False)
    ] = None,
    factor: Annotated[
        int | None,
        typer.Option(
            "--factor", help="Number of neighbouring groups that each level merges (2; powers: 10).", show_default=False
        ),
    ] = None,
    groups: Annotated[
        int | None,
        typer.Option("--groups", help="How many intervals of equal frequency at first.", show_default=False),
    ] = None,
    cut: Annotated[
        int | None, typer.Option("--cut", help="Characters of a code that each level masks (1).", show_default=False)
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files that exist.")] = False,
    encoding: EncodingOption = None,
    delimiter: DelimiterOption = None,
    missing: MissingOption = None,
    query: QueryOption = None,
    as_json: JsonOption = False,
) -> None:
    """**Build a hierarchy** from the values of a column: intervals, dates, prefixes of codes, categories by frequency.

    `auto` chooses by type and by what the column holds, and says so. Edit the file, then give its folder to
    `anonymize --hierarchies`.

    Examples:

        shoal hierarchy build people.csv --column age --width 5 -o age.csv

        shoal hierarchy build people.csv --column age,zip,job -o hierarchies
    """
    from shoal.cli.showing import running, show
    from shoal.ranges.hierarchy.build import build_hierarchies

    with running(quiet=as_json):
        result = build_hierarchies(
            one_or_many(file, query),
            output=output,
            columns=names_of(column),
            kind=one_of("--kind", kind, HierarchyKind),
            width=width,
            factor=factor,
            groups=groups,
            cut=cut,
            force=force,
            options=reading(encoding, delimiter, missing),
        )
    print_json(result.to_dict()) if as_json else show(result)


@app.command()
def check(
    hierarchies: Annotated[
        list[Path], typer.Argument(metavar="FOLDER|FILE...", help="Hierarchies, CSV or YAML.", show_default=False)
    ],
    data: Annotated[
        str | None,
        typer.Option("--data", metavar="FILE", help="A table: count its values without a leaf.", show_default=False),
    ] = None,
    fix: Annotated[
        bool, typer.Option("--fix", help="Move leaves under the labels that hold them; the old file becomes FILE.orig.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="FILE|FOLDER", help="Write what --fix corrects here.", show_default=False
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files that exist.")] = False,
    encoding: EncodingOption = None,
    delimiter: DelimiterOption = None,
    missing: MissingOption = None,
    as_json: JsonOption = False,
) -> None:
    """**Are these hierarchies trees, and do they cover the data?** All problems at once, by the rows of the files.

    Exit code 2 if one is broken, 1 if the data has values without a leaf, or a label says a range that does not hold a
    leaf below it (`20` under `15-19`), and `--fix` was not asked for.

    Examples:

        shoal hierarchy check hierarchies/ --data people.csv

        shoal hierarchy check hierarchies/ --fix -o corrected/
    """
    from shoal.cli.showing import running, show
    from shoal.ranges.hierarchy import check_hierarchies

    with running(quiet=as_json):
        result = check_hierarchies(
            hierarchies,
            data=data,
            fix=fix,
            output=output,
            force=force,
            options=reading(encoding, delimiter, missing),
        )
    print_json(result.to_dict()) if as_json else show(result)
    raise typer.Exit(0 if result.complete and result.truthful else 1)
