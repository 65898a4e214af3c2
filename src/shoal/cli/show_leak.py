"""What people see of a leak: the sentence, the figures, what more k would buy."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from shoal.cli import console
from shoal.cli.console import bar, note, plain_table, print_block
from shoal.leakage.curves import over_k
from shoal.leakage.results import LeakRisk
from shoal.wording import counted, percent

_SIZES = (1, 2, 3, 5, 10, 15, 20, 50)
_MOST_ROWS = 200


def show_leak(found: Sequence[LeakRisk]) -> None:
    """One answer in detail, or several as a table."""
    console.out.print()
    if len(found) == 1:
        _show_one(found[0])
    else:
        over = sum(entry.holds is False for entry in found)
        words = f"{counted(len(found), 'answer')} for {found[0].persons:,} persons."
        if found[0].threshold is not None:
            words += f" {over:,} of them over the threshold." if over else " All within the threshold."
        if _asks_for_k(found):
            words = f"The smallest k that keeps the threshold, for {found[0].persons:,} persons."
        print_block(Text(words, style="bold red" if over else "bold"))
        print_block(_several(found))
    for remark in dict.fromkeys(remark for entry in found for remark in entry.notes):
        note(remark)


def _show_one(found: LeakRisk) -> None:
    style = "bold" if found.holds is None else "bold green" if found.holds else "bold red"
    print_block(Text(found.summary(), style=style))
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(style="dim")
    table.add_column(justify="right")
    for name, value in _figures(found).items():
        table.add_row(name, value)
    print_block(table)
    if found.method == "exact":
        print_block(_more_k(found))


def _figures(found: LeakRisk) -> dict[str, str]:
    rows = {
        "probability": f"{found.probability:.6g}",
        "method": found.method,
        "relative error": f"{found.error:.1e}",
        "classes": f"{found.classes.classes:,}",
        "smallest class (k)": f"{found.classes.k:,}",
    }
    if found.standard_deviation is not None:
        rows["standard deviation over leaks"] = f"{found.standard_deviation:.3g}"
    if found.difference is not None:
        rows["recursion minus exact law"] = f"{found.difference:+.3g}"
    if found.simulated is not None:
        interval = f"{found.simulated.low:.5g} to {found.simulated.high:.5g}"
        rows[f"simulated, {found.simulated.runs:,} runs"] = f"{found.simulated.mean:.5g} (95%: {interval})"
    if found.threshold is not None and found.largest_leak is not None:
        rows["smallest k that keeps the threshold"] = _number(found.smallest_k)
        rows["largest leak that keeps it"] = f"{found.largest_leak:,} ({percent(found.largest_leak / found.persons)})"
    return rows


def _more_k(found: LeakRisk) -> Table:
    """Diminishing returns: the probability by class size, and what each person more in a class took off."""
    sizes = sorted({size for size in (*_SIZES, found.class_size or 1) if size <= found.persons})
    curve = over_k(found.persons, found.leaked, sizes, found.targets)
    table = plain_table("classes of", "probability", "less per 1 more", "", left=0)
    table.columns[3].justify = "left"
    highest = max(curve.y) or 1.0
    before: tuple[int, float] | None = None
    for size, probability in zip(curve.x, curve.y, strict=True):
        less = "" if before is None else f"{(before[1] - probability) / (size - before[0]):.2g}"
        table.add_row(f"{size:,}", f"{probability:.4g}", less, bar(probability / highest, 20))
        before = (size, probability)
    return table


def _several(found: Sequence[LeakRisk]) -> Table:
    """A line an answer, with the columns in which answers differ."""
    with_limit = any(entry.threshold is not None for entry in found)
    columns: dict[str, list[str]] = {"leaked": [f"{entry.leaked:,}" for entry in found]}
    if all(entry.unit == "persons" for entry in found):
        columns["share"] = [percent(entry.leaked / entry.persons) for entry in found]
    if len({entry.targets for entry in found}) > 1:
        columns["targets"] = [f"{entry.targets:,}" for entry in found]
    columns["probability"] = [f"{entry.probability:.4g}" for entry in found]
    if found[0].simulated is not None:
        columns["simulated"] = [f"{entry.simulated.mean:.4g}" if entry.simulated else "" for entry in found]
    if with_limit:
        if len({entry.threshold for entry in found}) > 1:
            columns["threshold"] = [entry.threshold_name or f"{entry.threshold:.3g}" for entry in found]
        if not _asks_for_k(found):
            columns["keeps it"] = ["yes" if entry.holds else "no" for entry in found]
        columns["smallest k"] = [_number(entry.smallest_k) for entry in found]
    table = plain_table(*columns, "", left=0)
    table.columns[-1].justify = "left"
    highest = max(_length(entry, with_limit) for entry in found) or 1.0
    cells = list(zip(*columns.values(), strict=True))
    for entry, row in list(zip(found, cells, strict=True))[:_MOST_ROWS]:
        table.add_row(*row, bar(_length(entry, with_limit) / highest, 16))
    return table


def _asks_for_k(found: Sequence[LeakRisk]) -> bool:
    """Whether the classes are not given but sought."""
    return all(entry.class_size is not None and entry.class_size == entry.smallest_k for entry in found)


def _length(entry: LeakRisk, with_limit: bool) -> float:
    """What the bar shows: the k that is needed where thresholds are asked for, else the probability."""
    return float(entry.smallest_k or 0) if with_limit else entry.probability


def _number(value: int | None) -> str:
    return "–" if value is None else f"{value:,}"
