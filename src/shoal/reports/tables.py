"""The report of a release of several tables: one verdict, then a page for each table."""

from __future__ import annotations

from shoal import __version__
from shoal.models import Verdict
from shoal.releases.results import Verification
from shoal.releases.table_set import TableEntry, TablesManifest
from shoal.reports.chapters.base import Chapter
from shoal.reports.report import page_html, page_of
from shoal.results import Cell, Grid, Headline, Notes, Section
from shoal.results.sections import holds_cell, verdicts_grid
from shoal.wording import counted, figure

_PROMISES = {
    "anatomy": "Each group has several values of the sensitive column, and which is whose is not told. Presence in "
    "the table is not hidden: the quasi-identifiers are exact. No k is claimed.",
    "linked": "Persons are judged by everything in all tables that points at them: rows, their values, and how many.",
}


def pages_of(manifest: TablesManifest) -> dict[str, bytes]:
    """The pages of a report as files: `report.html` with the verdict, `report-TABLE.html` for each table."""
    whole = {"report.html": page_html(page_of("Release of several tables", _subtitle(manifest), __version__,
                                              [_verdict(manifest)]))}  # fmt: skip
    whole |= {f"report-{name}.html": table_page(manifest, name) for name in manifest.tables}
    return {name: page.encode() for name, page in whole.items()}


def table_page(manifest: TablesManifest, name: str) -> str:
    """The page of one table."""
    chapters = [table_chapter(manifest, name, manifest.tables[name])]
    return page_html(page_of(f"Table {name}", _subtitle(manifest), __version__, chapters))


def verdict_page(manifest: TablesManifest, found: Verification) -> str:
    """What was found when the tables were read again now, and what was said when they were released."""
    now = Chapter("now", "Read again now", "Files, keys, references and models, as they are.", list(found.sections()))
    return page_html(page_of("Release of several tables", _subtitle(manifest), __version__, [now, _verdict(manifest)]))


def one_page(manifest: TablesManifest) -> str:
    """The same as one page: a chapter for the verdict and one for each table."""
    chapters = [_verdict(manifest), *(table_chapter(manifest, name, one) for name, one in manifest.tables.items())]
    return page_html(page_of("Release of several tables", _subtitle(manifest), __version__, chapters))


def _subtitle(manifest: TablesManifest) -> str:
    return f"{counted(len(manifest.tables), 'table')}, released {manifest.created[:10]} by shoal {manifest.shoal}"


def _verdict(manifest: TablesManifest) -> Chapter:
    """The one verdict, on all tables together."""
    models = [Verdict(one.name, one.parameters, one.holds, one.worst) for one in manifest.models]
    rows = [(name, f"{one.rows:,}", one.file) for name, one in manifest.tables.items()]
    checks = [(one.name, holds_cell(one.holds), one.detail) for one in manifest.checks]
    shown: list[Section] = [
        Headline(_PROMISES[manifest.kind], "good" if manifest.kind == "linked" else "warning"),
        verdicts_grid(models),
        Grid(("table", "rows", "file"), rows, 1),
    ]
    if checks:
        shown.append(Grid(("check", "verdict", ""), checks, 3, wrap=(2,)))
    if manifest.notes:
        shown.append(Notes(list(manifest.notes)))
    return Chapter("verdict", "The verdict", "All tables were read again as they were written, and judged together.",
                   shown)  # fmt: skip


def table_chapter(manifest: TablesManifest, name: str, entry: TableEntry) -> Chapter:
    """One table: what became of its rows and of each column."""
    rows: list[tuple[str | Cell, ...]] = [
        (column.name, column.role, column.form.in_words, ", ".join(column.released_as) or "–")
        for column in entry.columns
    ]
    shown: list[Section] = [Grid(("column", "role", "written as", "released as"), rows, 4, wrap=(2,))]
    found = manifest.findings.get("tables")
    told = found.get(name) if isinstance(found, dict) else None
    if isinstance(told, dict):
        words = [(key.replace("_", " "), figure(value) if isinstance(value, (int, float)) else str(value))
                 for key, value in told.items() if not isinstance(value, dict)]  # fmt: skip
        shown.insert(0, Grid(("figure", "value"), words, 1))
        losses = told.get("loss_by_column")
        if isinstance(losses, dict):
            shown.append(Grid(("column", "loss"), [(key, figure(value)) for key, value in losses.items()], 1))  # type: ignore[arg-type]
    return Chapter(f"table-{name}", f"Table {name}", f"{counted(entry.rows, 'row')} in {entry.file}.", shown)
