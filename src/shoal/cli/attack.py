"""`shoal attack`: the group. Each of its commands has a module of its own, and a line here."""

from __future__ import annotations

import typer

from shoal.cli.attack_all import attack_all
from shoal.cli.attack_intersect import attack_intersect
from shoal.cli.attack_link import attack_link
from shoal.cli.attack_membership import attack_membership
from shoal.cli.attack_reconstruct import attack_reconstruct
from shoal.cli.attack_scoreboard import attack_scoreboard
from shoal.cli.attack_unicity import attack_unicity

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="""**Attack the release**: what somebody learns about the people in it who tries.

    shoal attack all safe.parquet --original visits.parquet

    shoal attack link safe.parquet --with voters.csv --on age=age_yrs,sex
""",
)

app.command("all")(attack_all)
app.command("link")(attack_link)
app.command("membership")(attack_membership)
app.command("reconstruct")(attack_reconstruct)
app.command("scoreboard")(attack_scoreboard)
app.command("unicity")(attack_unicity)
app.command("intersect")(attack_intersect)
