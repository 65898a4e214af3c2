"""What people see of a perturbed table and of a verification."""

from __future__ import annotations

from typing import Any

from rich.text import Text

from shoal.cli import console
from shoal.cli.console import holds_text, name_text, note, plain_table, print_block
from shoal.releases.verify import Verification
from shoal.wording import counted, percent


def show_perturbed(found: dict[str, Any]) -> None:
    """What was done to each column, what can still be learnt, what it cost."""
    console.out.print()
    words = f"{counted(found['written'], 'record')} released."
    if not found["guarantee"]:
        words += " Perturbed, not anonymous: no privacy model was checked, there is no guarantee."
    print_block(Text(words, style="bold green" if found["guarantee"] else "bold yellow"))
    intervals = found["risk"]["interval_disclosure"] or {"by_column": {}, "width": 0.0}
    table = plain_table("column", "changed by", "kept", f"within {intervals['width']:g} s", "mean", "spread", left=2)
    for column in found["columns"]:
        name, marginal = column["name"], found["utility"]["marginals"][column["name"]]
        near = intervals["by_column"].get(name)
        changes = ("–" if marginal[key] is None else f"{marginal[key]:+.4f}" for key in ("mean", "spread"))
        table.add_row(
            name_text(name),
            Text(", ".join(column["operators"])),
            percent(found["risk"]["kept"][name]),
            "–" if near is None else percent(near),
            *changes,
        )
    print_block(table)
    table = plain_table("", "", left=1)
    table.show_header = False
    utility, linked = found["utility"], found["risk"]["linkage"]
    if linked is not None:
        table.add_row("records linked by distance", f"{percent(linked['share'])} of {linked['records']:,}")
    score = utility["propensity"]
    figures = {
        "IL1s": utility["il1s"],
        "change of eigenvalues": utility["eigenvalues"],
        "largest change of a correlation": utility["correlations"],
        "propensity score (0 to 0.25)": None if score is None else score["pmse"],
    }
    for name, figure in figures.items():
        if figure is not None:
            table.add_row(name, f"{figure:.4f}")
    print_block(table)
    for text in found["notes"]:
        note(text)
    if score is not None and not score["settled"]:
        note("the propensity score could not be fitted")
    note(f"data {found['output']}, manifest {found['manifest']}")
    note("the private record beside it holds the seed, with which noise can be taken off again: for its owner only")


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
