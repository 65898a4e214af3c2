"""`shoal reproduce sanchez`, `pastore`, `antoniou` and `all`"""

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli.group import group_of_commands
from shoal.cli.options import DelimiterOption, EncodingOption, JsonOption, MissingOption, print_json, reading

app = group_of_commands(
    """**The papers, reproduced**: every table and figure, or why not, with a reason for every difference.

With `-o FOLDER` each writes JSON, CSV, charts (SVG and PNG) and one HTML page that carries all it needs.

Example:

    shoal reproduce all -o papers
"""
)

OutputOption = Annotated[
    Path | None,
    typer.Option(
        "-o", "--output", metavar="FOLDER", help="Write JSON, CSV, charts and the page there.", show_default=False
    ),
]
NoChartsOption = Annotated[bool, typer.Option("--no-charts", help="Do not draw pictures.")]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace pages that exist.")]
RowsOption = Annotated[int, typer.Option("--rows", metavar="N", help="Records of the generated discharge table.")]
SeedOption = Annotated[
    int, typer.Option("--seed", metavar="N", min=0, help="Random seed of what is generated or simulated.")
]
CountsOption = Annotated[
    str | None,
    typer.Option(
        "--counts",
        metavar="FILE",
        help="A licence table: one row per record, or tuples with a count. Generated if not given.",
        show_default=False,
    ),
]
YearOption = Annotated[str, typer.Option("--year", metavar="COLUMN", help="Year of birth.")]
MunicipalityOption = Annotated[str, typer.Option("--municipality", metavar="COLUMN", help="Municipality of residence.")]
ProvinceOption = Annotated[str, typer.Option("--province", metavar="COLUMN", help="Province of residence.")]
SexOption = Annotated[str, typer.Option("--sex", metavar="COLUMN", help="Sex.")]
CountOption = Annotated[
    str | None,
    typer.Option(
        "--count",
        metavar="COLUMN",
        help="Number of records that a row stands for (n, if there is one).",
        show_default=False,
    ),
]
_ROWS = 3_985_166


@app.command()
def sanchez(
    rows: RowsOption = _ROWS,
    seed: SeedOption = 0,
    output: OutputOption = None,
    no_charts: NoChartsOption = False,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """**Sánchez, Martínez, Domingo-Ferrer**: k-anonymity, coarsening, masking and t-closeness on hospital discharges.

    Figs 1, 2, S1-S7 and Tables S1-S10, what the text claims beside what was measured, and our own method at the same k.

    Examples:

        shoal reproduce sanchez --rows 100000 -o papers

        shoal reproduce sanchez --json > sanchez.json
    """
    _run(["sanchez"], output, no_charts, force, as_json, rows=rows, seed=seed)


@app.command()
def pastore(
    counts: CountsOption = None,
    year: YearOption = "anno_nascita",
    municipality: MunicipalityOption = "comune_residenza",
    province: ProvinceOption = "provincia_residenza",
    sex: SexOption = "sesso",
    count: CountOption = None,
    seed: SeedOption = 0,
    output: OutputOption = None,
    no_charts: NoChartsOption = False,
    force: ForceOption = False,
    encoding: EncodingOption = None,
    delimiter: DelimiterOption = None,
    missing: MissingOption = None,
    as_json: JsonOption = False,
) -> None:
    """**Pastore, Pellegrino, Scarano**: which columns identify licence holders, and the 15 strategies against it.

    Detection, Table 1, the claims of the text, the election of the best, k-anonymity beside it.

    Examples:

        shoal reproduce pastore -o papers

        shoal reproduce pastore --counts licences.parquet --json --no-charts
    """
    columns = {"year": year, "municipality": municipality, "province": province, "sex": sex, "count": count}
    options = reading(encoding, delimiter, missing)
    _run(["pastore"], output, no_charts, force, as_json, counts=counts, columns=columns, seed=seed, options=options)


@app.command()
def antoniou(
    seed: SeedOption = 0,
    output: OutputOption = None,
    no_charts: NoChartsOption = False,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """**Antoniou et al.**: how many patients a stolen part of an anonymised table exposes.

    The example of Tables 1-4, Figs 1 to 5 with simulations and 95% intervals, the recursion against the exact law,
    the smallest k.

    Example:

        shoal reproduce antoniou -o papers
    """
    _run(["antoniou"], output, no_charts, force, as_json, seed=seed)


@app.command("all")
def everything(
    rows: RowsOption = _ROWS,
    seed: SeedOption = 0,
    counts: CountsOption = None,
    year: YearOption = "anno_nascita",
    municipality: MunicipalityOption = "comune_residenza",
    province: ProvinceOption = "provincia_residenza",
    sex: SexOption = "sesso",
    count: CountOption = None,
    output: OutputOption = None,
    no_charts: NoChartsOption = False,
    force: ForceOption = False,
    encoding: EncodingOption = None,
    delimiter: DelimiterOption = None,
    missing: MissingOption = None,
    as_json: JsonOption = False,
) -> None:
    """**All three papers.** With `--json`, one object with a key for each.

    Example:

        shoal reproduce all --rows 100000 -o papers
    """
    columns = {"year": year, "municipality": municipality, "province": province, "sex": sex, "count": count}
    options = reading(encoding, delimiter, missing)
    settings = {"rows": rows, "seed": seed, "counts": counts, "columns": columns, "options": options}
    _run(["sanchez", "pastore", "antoniou"], output, no_charts, force, as_json, **settings)


def _run(papers: list[str], output: Path | None, no_charts: bool, force: bool, as_json: bool, **settings: Any) -> None:
    """Call the library, then show what it returned."""
    from shoal.cli.render import render, show
    from shoal.cli.showing import running
    from shoal.reproduction import reproduce_all
    from shoal.results import Files

    with running(quiet=as_json):
        results = reproduce_all(papers, output=output, charts=not no_charts, force=force, **settings)
    if as_json:
        print_json(results[0].to_dict() if len(papers) == 1 else {entry.paper: entry.to_dict() for entry in results})
        return
    for entry in results:
        show(entry)
        if output is not None:
            render([Files({"page": str(output / f"{entry.paper}.html")})])
