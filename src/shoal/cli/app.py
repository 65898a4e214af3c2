"""The application: its commands, in the order in which the data travels."""

from __future__ import annotations

from typing import Annotated

import typer

from shoal import __version__
from shoal.cli.anonymize import anonymize
from shoal.cli.apply import apply
from shoal.cli.cells import cells
from shoal.cli.compare import compare
from shoal.cli.desk import app as desk
from shoal.cli.detect import detect
from shoal.cli.hierarchy import app as hierarchy
from shoal.cli.lattice import lattice
from shoal.cli.leak import leak
from shoal.cli.perturb import perturb
from shoal.cli.profile import profile
from shoal.cli.pseudonymize import pseudonymize
from shoal.cli.regenerate import regenerate
from shoal.cli.reproduce import app as reproduce
from shoal.cli.risk import risk
from shoal.cli.safe_harbor import safe_harbor
from shoal.cli.sample_data import sample_data
from shoal.cli.shift_dates import shift_dates
from shoal.cli.standards import standards
from shoal.cli.verify import verify

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
    epilog="Exit codes: 0 fine, 1 measured and not met, 2 bad input, 3 budget refused. Nothing leaves this machine.",
)


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


app.command("sample-data")(sample_data)
app.command()(profile)
app.command()(detect)
app.command()(risk)
app.command()(lattice)
app.add_typer(hierarchy, name="hierarchy")
app.command()(leak)
app.command()(anonymize)
app.command()(perturb)
app.command()(apply)
app.command("safe-harbor")(safe_harbor)
app.command()(pseudonymize)
app.command("shift-dates")(shift_dates)
app.command()(cells)
app.command()(standards)
app.command()(verify)
app.command()(compare)
app.command()(regenerate)
app.add_typer(desk, name="desk")
app.add_typer(reproduce, name="reproduce")
