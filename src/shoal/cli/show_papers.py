"""What people see of a paper that was reproduced: every printed number beside ours."""

from __future__ import annotations

from rich.text import Text

from shoal.cli import console
from shoal.cli.console import name_text, plain_table, print_block
from shoal.reports.exhibit import Line, Reproduction


def show_paper(found: Reproduction) -> None:
    """The sentence, then a table for every exhibit that has something to compare."""
    console.out.print()
    print_block(Text(found.summary(), style="bold"))
    for exhibit in found.exhibits:
        if not exhibit.lines:
            continue
        table = plain_table(exhibit.heading, "ours", "printed", "", left=1)
        table.columns[3].justify = "left"
        for column in table.columns:
            column.no_wrap = False
        for line in exhibit.lines:
            table.add_row(name_text(line.what), name_text(line.ours), line.printed or "–", _verdict(line))
        print_block(table)


def _verdict(line: Line) -> Text:
    if line.printed is None:
        return Text("")
    return Text("match", style="green") if line.match else Text(line.reason, style="yellow")
