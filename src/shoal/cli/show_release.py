"""What people see of a perturbed table and of a verification."""

from __future__ import annotations

from rich.text import Text

from shoal.cli import console
from shoal.cli.console import holds_text, name_text, plain_table, print_block
from shoal.releases.verify import Verification


def show_verification(found: Verification) -> None:
    """Holds or not, model by model and check by check."""
    console.out.print()
    good = found.verdict == "holds"
    words = f"{'Holds' if good else 'Does not hold'}: {found.records:,} records, smallest class {found.k:,}."
    if not found.models and not found.k:
        words = f"{'As it was released' if good else 'Does not hold'}: {found.records:,} records, nothing promised."
    if found.readings is not None:
        words += f" Where * matches anything, every record matches at least {found.readings['wildcard']['k']:,}."
    print_block(Text(words, style="bold green" if good else "bold red"))
    table = plain_table("what", "verdict", "", left=3)
    for verdict in found.models:
        parameters = ", ".join(f"{name}={value}" for name, value in verdict.parameters.items())
        worst = ", ".join(f"{name} {value}" for name, value in verdict.worst.items() if name != "columns")
        table.add_row(Text(f"{verdict.name} {parameters}"), holds_text(verdict.holds), Text(f"worst class: {worst}"))
    for check in found.checks:
        table.add_row(name_text(check.name), holds_text(check.holds), name_text(check.detail))
    print_block(table)
