"""What was done to the data so that the promise holds, and what that cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from shoal.methods import METHODS
from shoal.methods.outcomes import Candidate, MethodChoice, ModelCost
from shoal.methods.results import Findings
from shoal.reports.chapters.base import Chapter, listing
from shoal.reports.findings import ReportFindings
from shoal.results import Cell, Chart, Exhibit, Grid, Headline, Meaning, Notes, Section
from shoal.results.sections import LinePicture, LinePoint
from shoal.wording import counted, figure, share

_LOSS = (
    "Loss of a column: x = (mean share of all values that a released cell may stand for - 1/h) / (1 - 1/h), h the "
    "number of values. Together: the geometric mean of (1 + x) of all columns, minus 1. 0: nothing was "
    "lost, 1: nothing is left."
)


def change(found: ReportFindings) -> Chapter | None:
    """Method, cost of each column and model, and what other limits would have cost."""
    changed = found.change
    if changed is None:
        return None
    findings, choice = changed.findings, changed.findings.choice
    lost = "" if findings.loss is None else f" The loss of this release is {figure(findings.loss)}."
    sections: list[Section] = [Headline(f"Method: {changed.method}{_does(changed.method)}.{lost}")]
    if choice is not None and choice.reason:
        sections.append(Notes([choice.reason]))
    rows = [(entry.column, entry.beside_name) for entry in findings.cost]
    cost = Grid(("column", "what it cost"), rows, 2, title="What became of each column", wrap=(0, 1))
    sections += [cost, Meaning(_in_words(found), _LOSS)]
    if findings.cost_by_model:
        sections.append(_by_model(findings.cost_by_model, findings.records))
    if choice is not None and choice.candidates:
        sections.append(_candidates(choice.candidates))
    if choice is not None and any(point.loss is not None for point in choice.frontier):
        sections.append(_frontier(findings, choice))
    if changed.scrubbed:
        sections += scrubbed_sections(changed.scrubbed)
    about = "What was done to the data so that the promise holds, and what that cost."
    return Chapter("change", "Transformation", about, sections)


def _does(method: str) -> str:
    """What a method does, by its own words; nothing of one that this installation does not have."""
    return f" ({METHODS[method].does.replace('`', '')})" if method in METHODS else ""


def _in_words(found: ReportFindings) -> str:
    gone = found.data.suppressed_rows + found.data.removed_rows
    verb = "was" if gone == 1 else "were"
    kept = f"{counted(gone, 'record')} {verb} left out or blanked" if gone else "Every record is in the release"
    natures = {entry.nature for entry in found.columns if entry.released}
    if natures <= {"truthful", "unchanged", "scrubbed"}:
        return f"{kept}; a cell that was changed says less about its person than before, and nothing false."
    return (
        f"{kept}; some cells hold what is typical of several people or was altered by chance, not a person's own value."
    )


def _by_model(entries: Sequence[ModelCost], records: int) -> Grid:
    rows = [(entry.model, figure(entry.loss), figure(entry.added)) for entry in entries]
    tried = {entry.rows for entry in entries if entry.rows}
    on = f", tried on {counted(max(tried), 'record')}" if tried and max(tried) < records else ""
    return Grid(("model", "loss", "added"), rows, title=f"What each model added{on}")


def _candidates(candidates: Sequence[Candidate]) -> Grid:
    rows = [
        (one.method, Cell(one.verdict, "good" if one.verdict == "holds" else "dim"), f"{one.rows:,}", figure(one.loss))
        for one in candidates
    ]
    return Grid(("method", "verdict", "tried on records", "loss"), rows, 2, title="Methods that were tried")


def _frontier(findings: Findings, choice: MethodChoice) -> Exhibit:
    points = [(point, point.loss) for point in choice.frontier if point.loss is not None]
    rows = [(str(point.k), share(point.highest_risk), figure(loss)) for point, loss in points]
    tried = min((one.rows for one in choice.candidates), default=findings.records)
    meaning = (
        "The further left, the harder a person is to find, and the more the data lost; the diamond is this release."
    )
    own = None if findings.loss is None else LinePoint(1 / max(findings.k, 1), findings.loss)
    if tried < findings.records:  # the loss of the whole table is not on the line of a part of it
        near = [pair for pair in points if pair[0].k <= findings.k]
        one = max(near, key=lambda pair: pair[0].k) if near else None
        own = None if one is None else LinePoint(one[0].highest_risk, one[1])
        meaning += (
            f" These losses were measured on a trial with {tried:,} of the {findings.records:,} records; the loss of "
            f"the whole release is {figure(findings.loss)}."
        )
    line = tuple(LinePoint(point.highest_risk, loss, f"k = {point.k}") for point, loss in points)
    picture = LinePicture(line, "highest risk", "loss", figures=True, own=own)
    alternative = listing("Loss for each k", [(row[0], row[2]) for row in rows])
    return Exhibit(
        Chart(picture, alternative, "Loss against risk"), Grid(("k", "highest risk", "loss"), rows, 0), meaning, _LOSS
    )


def scrubbed_sections(scrubbed: Mapping[str, Any]) -> list[Section]:
    """What was replaced in columns of free text, by kind, as the manifest tells it; and what the search cannot find."""
    rows = [
        (name, kind.replace("_", " "), str(count), str(entry["records"][kind]))
        for name, entry in scrubbed["columns"].items()
        for kind, count in entry["spans"].items()
    ]
    title = "What was replaced in free text"
    grid = Grid(("column", "kind", "replaced", "records"), rows, 2, title=title)
    return [grid, Notes([f"Searched by {scrubbed['engine']}: {scrubbed['cannot_find']}."])]
