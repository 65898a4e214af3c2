"""What was done to the data so that the promise holds, and what that cost."""

from __future__ import annotations

from shoal.reports.chapters.base import Chapter, Exhibit, Found, Meaning, Part, figure, listing, one_in
from shoal.results import Cell, Chart, Grid, Headline, Notes
from shoal.wording import counted

_LOSS = (
    "Loss of a column: x = (mean share of all values that a released cell may stand for - 1/h) / (1 - 1/h), h the "
    "number of values. Together: the geometric mean of (1 + x) of all columns, minus 1. 0: nothing was "
    "lost, 1: nothing is left."
)


def change(found: Found) -> Chapter | None:
    """Method, cost of each column and model, and what other limits would have cost."""
    changed = found["change"]
    if changed is None:
        return None
    sections: list[Part] = [Headline(f"Method: {changed['method']}.")]
    if changed.get("reason"):
        sections.append(Notes([changed["reason"]]))
    sections += [_cost(changed), Meaning(_in_words(found), _LOSS)]
    if changed.get("cost_by_model"):
        rows = [(entry["model"], figure(entry["loss"]), figure(entry["added"])) for entry in changed["cost_by_model"]]
        sections.append(Grid(("model", "loss", "added"), rows, title="What each model added"))
    if changed.get("candidates"):
        sections.append(_candidates(changed))
    if changed.get("frontier") and any(point["loss"] is not None for point in changed["frontier"]):
        sections.append(_frontier(changed))
    about = "What was done to the data so that the promise holds, and what that cost."
    return Chapter("change", "Transformation", about, sections)


def _cost(changed: Found) -> Grid:
    rows = [(entry["column"], entry["sentence"].removeprefix(f"{entry['column']}: ")) for entry in changed["cost"]]
    return Grid(("column", "what it cost"), rows, 2, title="What became of each column", wrap=(0, 1))


def _in_words(found: Found) -> str:
    data = found["data"]
    gone = data["suppressed_rows"] + data["removed_rows"]
    kept = "Every record is in the release" if not gone else f"{counted(gone, 'record')} left out or blanked"
    natures = {entry["nature"] for entry in (found["change"] or {}).get("columns") or [] if entry["released"]}
    if natures <= {"truthful", "unchanged"}:
        return f"{kept}; a cell that was changed says less about its person than before, and nothing false."
    return (
        f"{kept}; some cells hold what is typical of several people or was altered by chance, not a person's own value."
    )


def _candidates(changed: Found) -> Grid:
    rows = [
        (one["method"], Cell(one["verdict"], "good" if one["verdict"] == "holds" else "dim"), figure(one["loss"]))
        for one in changed["candidates"]
    ]
    return Grid(("method", "verdict", "loss"), rows, 2, title="Methods that were tried")


def _frontier(changed: Found) -> Exhibit:
    points = [point for point in changed["frontier"] if point["loss"] is not None]
    rows = [(str(point["k"]), one_in(point["highest_risk"]), figure(point["loss"])) for point in points]
    chart = [{"risk": point["highest_risk"], "loss": point["loss"], "chosen": False} for point in points]
    if changed["loss"] is not None:
        chart.append({"risk": 1 / max(changed["k"], 1), "loss": changed["loss"], "chosen": True})
    return Exhibit(
        Chart(
            "loss", {"rows": chart}, listing("Loss for each k", [(row[0], row[2]) for row in rows]), "Loss against risk"
        ),
        Grid(("k", "highest risk", "loss"), rows, 0),
        "The further left, the harder a person is to find, and the more the data lost; the diamond is this release.",
        _LOSS,
    )
