"""What people see of a changed table, of the choice behind it, and of a verification."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.text import Text

from shoal.cli import console
from shoal.cli.console import holds_text, name_text, note, plain_table, print_block, printable
from shoal.releases.verify import Verification
from shoal.wording import counted, in_words, percent

if TYPE_CHECKING:
    from shoal.anonymization.search.lattice import Lattice


def show_anonymized(found: dict[str, Any]) -> None:
    """The promise, what it cost, and where it is."""
    console.out.print()
    among = "each matching at least" if found.get("reading") == "wildcard" else "in classes of at least"
    least, where = found["k"], ""
    if "all_m" in found:
        least, where = found["all_m"]["k"], f" on any {counted(found['all_m']['m'], 'quasi-identifier')}"
    words = f"{counted(found['written'], 'record')} released, {among} {least:,}{where}."
    if not found["guarantee"]:
        words += " No privacy model was checked: there is no guarantee."
    print_block(Text(words, style="bold green" if found["guarantee"] else "bold yellow"))
    table = plain_table("", "", left=1)
    table.show_header = False
    rows = {"modified rows": f"{found['modified_rows']:,}"}
    if found["information_loss"] is not None:
        rows["information loss"] = f"{found['information_loss']:.4f}"
    rows["uniques"] = f"{found['uniques']:,}"
    for name, near in found.get("closeness", {}).items():
        rows[f"farthest class, by {name}"] = f"{near:.4f}"
    for entry in found["attribute_disclosure"]:
        rows[f"disclosed, {printable(entry['condition'])}"] = "–" if entry["share"] is None else percent(entry["share"])
    for name, value in rows.items():
        table.add_row(Text(name), value)
    print_block(table)
    if found["information_loss_by_column"]:
        table = plain_table("column", "information loss", left=1)
        for name, loss in sorted(found["information_loss_by_column"].items(), key=lambda item: -item[1]):
            table.add_row(name_text(name), f"{loss:.4f}")
        print_block(table)
    if "strategies" in found:
        table = plain_table("strategy", "uniques", "modified rows", "classes", left=1)
        for entry in sorted(found["strategies"], key=lambda entry: (entry["uniques"], entry["modified_rows"]))[:20]:
            counts = (f"{entry[name]:,}" for name in ("uniques", "modified_rows", "classes"))
            table.add_row(name_text(entry["strategy"]), *counts)
        print_block(table)
    if "candidates" in found:
        _show_choice(found)
    if "levels" in found:
        _show_levels(found)
    if "readings" in found:
        _show_suppressed(found)
    note(f"data {found['output']}, manifest {found['manifest']}")
    if "plan" in found:
        note(f"plan {found['plan']}: `shoal apply` uses it on new data; it names the values of this data, keep it")
    note("the private record beside it (seed, row order) is for its owner only")


def _show_levels(found: dict[str, Any]) -> None:
    """The levels that were chosen, and how sure that choice is."""
    table = plain_table("column", "hierarchy", "level", left=2)
    for name, level in found["levels"].items():
        built = found["built_hierarchies"].get(name)
        table.add_row(name_text(name), "given" if built is None else f"built: {built}", f"{level}")
    print_block(table)
    if found.get("score") is not None:
        proven = "the optimum" if found["optimal"] else f"no solution can be below {found['lower_bound'] or 0:.4f}"
        if found["rounds"] > 1:
            proven = f"{found['rounds']} rounds; one generalisation for all: {found['global_score']:.6f}"
        console.out.print(
            f"  score {found['score']:.6f} ({proven}); {found['suppressed_rows']:,} records suppressed; "
            f"{found['nodes_checked']:,} of {found['nodes_total']:,} generalisations looked at"
        )


def _or_dash(figure: float | None) -> str:
    return "–" if figure is None else f"{figure:,}" if isinstance(figure, int) else f"{figure:.4f}"


def _show_choice(found: dict[str, Any]) -> None:
    """The methods that were tried, why one was taken, and what a lower risk would cost."""
    table = plain_table("method", "information loss", "loss", "s", "verdict", left=1)
    for entry in found["candidates"]:
        figures = (_or_dash(entry[name]) for name in ("information_loss", "loss", "seconds"))
        table.add_row(entry["method"], *figures, entry["verdict"])
    print_block(table)
    print_block(Text(found["reason"]))
    if found["frontier"]:
        table = plain_table("k", "highest risk", "information loss", "loss", left=0)
        for entry in found["frontier"]:
            losses = (_or_dash(entry[name]) for name in ("information_loss", "loss"))
            table.add_row(f"{entry['k']}", percent(entry["highest_risk"]), *losses)
        print_block(table)


def _show_suppressed(found: dict[str, Any]) -> None:
    """The cells of each column, and what holds by either meaning of a suppressed cell."""
    table = plain_table("column", "suppressed cells", left=1)
    for name, cells in found["suppressed_cells_by_column"].items():
        table.add_row(name_text(name), f"{cells:,}")
    print_block(table)
    table = plain_table("a suppressed cell", "k", "uniques", left=1)
    words = {"strict": "is a value of its own (strict)", "wildcard": "matches anything (wildcard)"}
    for name, reading in found["readings"].items():
        table.add_row(words[name], f"{reading['k']:,}", f"{reading['uniques']:,}")
    print_block(table)
    if found["reading"] == "wildcard" and found["readings"]["strict"]["k"] < found["k"]:
        note("who knows a suppressed value can rule some matches out; --reading strict leaves nothing to rule out")


def show_lattice(found: Lattice) -> None:
    """The chosen generalisation, the next best, and what a lower risk costs."""
    console.out.print()
    print_block(Text(found.reason, style="bold green" if found.chosen else "bold yellow"))
    if found.best:
        print_block(Text("levels of " + in_words([printable(name) for name in found.best[0].levels], 99), style="dim"))
        table = plain_table("levels", found.quality, "suppressed", "classes", "smallest", left=1)
        for solution in found.best:
            counts = (solution.suppressed_rows, solution.classes, solution.k)
            levels = " ".join(str(level) for level in solution.levels.values())
            table.add_row(levels, f"{solution.score:.4f}", *(f"{count:,}" for count in counts))
        print_block(table)
    if found.frontier:
        table = plain_table("highest risk", "k", found.quality, "suppressed", "classes", left=0)
        for solution in found.frontier:
            figures = (
                f"{solution.k:,}",
                f"{solution.score:.4f}",
                f"{solution.suppressed_rows:,}",
                f"{solution.classes:,}",
            )
            table.add_row(percent(solution.highest_risk), *figures)
        print_block(table)
    for name, how in found.built.items():
        note(f"hierarchy of {printable(name)} was built: {how}")


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
