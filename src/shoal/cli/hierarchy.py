"""`shoal hierarchy build` and `shoal hierarchy check`"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli.options import (
    DelimiterOption,
    EncodingOption,
    File,
    JsonOption,
    MissingOption,
    names_of,
    one_of,
    one_or_many,
    print_json,
    reading,
)

if TYPE_CHECKING:
    from shoal.hierarchy import Hierarchy

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="""**How a column gets coarser**: build hierarchies, or check those you have.

A hierarchy is a file with a row per value, `leaf;level1;…;*`, or nested YAML.
""",
)

KINDS = ("auto", "equal-width", "powers", "equal-frequency", "dates", "prefix", "categories", "boolean")


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
    kind: Annotated[str, typer.Option("--kind", metavar="KIND", help=", ".join(KINDS) + ".")] = "auto",
    width: Annotated[
        float | None, typer.Option("--width", help="Width of the finest intervals.", show_default=False)
    ] = None,
    factor: Annotated[
        int | None,
        typer.Option("--factor", help="How many neighbours a level joins (2; powers: 10).", show_default=False),
    ] = None,
    groups: Annotated[
        int | None,
        typer.Option("--groups", help="How many intervals of equal frequency at first.", show_default=False),
    ] = None,
    cut: Annotated[
        int | None, typer.Option("--cut", help="Signs of a code that each level masks (1).", show_default=False)
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files that exist.")] = False,
    encoding: EncodingOption = None,
    delimiter: DelimiterOption = None,
    missing: MissingOption = None,
    as_json: JsonOption = False,
) -> None:
    """**Build a hierarchy** from the values of a column: intervals, dates, prefixes of codes, categories by frequency.

    `auto` chooses by type and by what the column holds, and says so. Edit the file, then give its folder to
    `anonymize --hierarchies`.

    Examples:

        shoal hierarchy build people.csv --column age --width 5 -o age.csv

        shoal hierarchy build people.csv --column age,zip,job -o hierarchies
    """
    from shoal.cli.console import running
    from shoal.cli.show import show_written
    from shoal.hierarchy.build import build_files

    with running(quiet=as_json):
        built = build_files(
            one_or_many(file),
            names_of(column),
            output,
            force=force,
            options=reading(encoding, delimiter, missing),
            kind=one_of("--kind", kind, KINDS),
            width=width,
            factor=factor,
            groups=groups,
            cut=cut,
        )
    if as_json:
        print_json({"hierarchies": [_built(tree) | {"output": str(path)} for tree, path in built]})
        return
    _show(["column", "how", "leaves", "levels", "nodes per level"], [_built(tree) for tree, _ in built])
    show_written("hierarchy" if len(built) == 1 else f"{len(built)} hierarchies", output)


def _built(tree: Hierarchy) -> dict[str, Any]:
    return {
        "column": tree.column,
        "source": tree.source,
        "leaves": tree.leaves,
        "levels": tree.height,
        "nodes": tree.sizes,
    }


@app.command()
def check(
    hierarchies: Annotated[
        list[Path], typer.Argument(metavar="FOLDER|FILE...", help="Hierarchies, CSV or YAML.", show_default=False)
    ],
    data: Annotated[
        str | None,
        typer.Option("--data", metavar="FILE", help="A table: count its values without a leaf.", show_default=False),
    ] = None,
    encoding: EncodingOption = None,
    delimiter: DelimiterOption = None,
    missing: MissingOption = None,
    as_json: JsonOption = False,
) -> None:
    """**Are these hierarchies trees, and do they cover the data?** All problems at once, by the rows of the files.

    Exit code 2 if one is broken, 1 if the data has values without a leaf.

    Example:

        shoal hierarchy check hierarchies/ --data people.csv
    """
    from shoal.cli.console import note, running
    from shoal.hierarchy import check_hierarchies

    with running(quiet=as_json):
        found = check_hierarchies(hierarchies, data, reading(encoding, delimiter, missing))
    lacking = any(one.missing for one in found)
    if as_json:
        print_json({"hierarchies": [one.to_dict() for one in found]})
        raise typer.Exit(1 if lacking else 0)
    heads = ["column", "leaves", "levels", "nodes per level"]
    rows: list[dict[str, Any]] = [
        {"column": one.column, "leaves": one.leaves, "levels": one.levels, "nodes": one.nodes} for one in found
    ]
    if data is not None:
        heads.append("without leaf")
        for row, one in zip(rows, found, strict=True):
            row["missing"] = "no such column" if one.missing is None else one.missing
    _show(heads, rows)
    for one in found:
        if one.outside:
            told = "1 leaf lies" if one.outside == 1 else f"{one.outside:,} leaves lie"
            note(f"{one.column}: {told} outside the range that a label says, such as 20 in 15-19")
    raise typer.Exit(1 if lacking else 0)


def _show(heads: Sequence[str], rows: Sequence[dict[str, Any]]) -> None:
    """One row per hierarchy: words to the left, numbers to the right."""
    from shoal.cli.console import name_text, plain_table, print_block

    words = next(place for place, head in enumerate(heads) if head == "leaves")
    table = plain_table(*heads, left=words)
    for row in rows:
        cells = [" ".join(f"{n:,}" for n in cell) if isinstance(cell, list) else cell for cell in row.values()]
        table.add_row(*(f"{cell:,}" if isinstance(cell, int) else name_text(cell) for cell in cells))
    print_block(table)
