"""Publications, or releases, side by side as a page of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from shoal import __version__
from shoal.errors import InputError
from shoal.publication.compare import LETTERS, PublicationComparison, PublicationFigures, excess_words
from shoal.publication.report_files import check_not_published
from shoal.reports.chapters import Chapter, Exhibit, Part
from shoal.reports.chapters.base import listing, share
from shoal.reports.report import page_html, page_of
from shoal.results import Chart, Grid, Result
from shoal.writing import write_bytes

_LOSS = (
    "x = (mean share of all values that a released cell may stand for - 1/h) / (1 - 1/h), h the number of values of "
    "the column. 0: nothing was lost, 1: nothing is left."
)
_EXCESS = "Excess = 1 - (1 - rate) / (1 - control), the control being people who are not in the data."


def check_page(path: Path, force: bool) -> None:
    """Refuse a place for a page before any work."""
    if path.suffix.lower() != ".html":
        raise InputError(f"{path} does not end in .html.", "Name a file that ends in .html.")
    if path.exists() and not force:
        raise InputError(f"{path} is there already.", "Replace it with --force.")
    if not path.parent.is_dir():
        raise InputError(f"There is no folder {path.parent}.", "Make it first.")
    check_not_published(path)


def write_comparison(result: Result, path: Path) -> Path:
    """Write a comparison as a page; the same comparison gives the same bytes."""
    write_bytes(path, comparison_html(result).encode(), 0o644)
    return path


def comparison_html(result: Result) -> str:
    """The page: every section, and charts of loss and of attacks where there are such figures."""
    parts: list[Part] = list(result.sections())
    if isinstance(result, PublicationComparison):
        parts = [part for part in parts if not (isinstance(part, Grid) and part.title)]
        parts[3:3] = _exhibits(result)
    chapters = [Chapter("compare", "Side by side", "The same figures of each, from its own findings.", parts)]
    return page_html(page_of("Publications side by side", "Compared by shoal", __version__, chapters))


def _exhibits(result: PublicationComparison) -> list[Part]:
    shown = [
        _exhibit(result, "loss_by_column", "Loss by column", "column", _LOSS,
                 "The longer a bar, the less the release still says about people in this column."),
        _exhibit(result, "excess_by_attack", "Excess by attack", "attack", _EXCESS,
                 "The longer a bar, the more a person risks by being in the data."),
    ]  # fmt: skip
    return [one for one in shown if one is not None]


def _exhibit(
    result: PublicationComparison, key: str, title: str, first: str, formula: str, meaning: str
) -> Exhibit | None:
    names = list(dict.fromkeys(name for one in result.publications for name in getattr(one, key)))
    chart: list[dict[str, Any]] = []
    for name in names:
        for letter, one in zip(LETTERS, result.publications, strict=False):
            value = getattr(one, key).get(name)
            if value is not None:  # what is below zero by chance is drawn as nothing; the table has it
                chart.append({"label": name, "when": letter, "share": max(value, 0.0)})
    if not chart:
        return None

    def told(one: PublicationFigures, name: str) -> str:
        return excess_words(one, name) if key == "excess_by_attack" else share(getattr(one, key).get(name))

    rows = [(name, *(told(one, name) for one in result.publications)) for name in names]
    return Exhibit(
        Chart("shares", {"rows": chart, "title": title.lower()}, listing(title, rows), title),
        Grid((first, *LETTERS[: len(result.publications)]), rows),
        meaning,
        formula,
    )
