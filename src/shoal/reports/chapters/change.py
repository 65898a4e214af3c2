"""What was done to the data so that the promise holds, and what that cost."""

from __future__ import annotations

from typing import Any

from shoal.reports.chapters.base import Chapter, JsonFindings, Meaning, Part, ReportExhibit, figure, listing, share
from shoal.results import Cell, Chart, Grid, Headline, Notes
from shoal.wording import counted

_LOSS = (
    "Loss of a column: x = (mean share of all values that a released cell may stand for - 1/h) / (1 - 1/h), h the "
    "number of values. Together: the geometric mean of (1 + x) of all columns, minus 1. 0: nothing was "
    "lost, 1: nothing is left."
)
# what each method does, in the words of a reader who has never heard its name
_METHODS = {
    "mondrian": "similar records are put in groups, and the groups are split further as long as the models hold",
    "lattice": "every column is raised to one level of its hierarchy, the levels that lose least",
    "sorted-clusters": "similar records are put in clusters, and each value becomes the range of its cluster",
    "microaggregate": "similar records are put in groups, and each value becomes the mean of its group",
    "coarsen": "every column is cut into the same number of intervals",
    "mask": "the masking steps of the policy, on the records that are still unique",
    "recode": "values are replaced by coarser labels",
    "suppress": "a few cells are hidden, so that every record looks like others",
}


def change(found: JsonFindings) -> Chapter | None:
    """Method, cost of each column and model, and what other limits would have cost."""
    changed = found["change"]
    if changed is None:
        return None
    does = _METHODS.get(changed["method"])
    lost = "" if changed.get("loss") is None else f" The loss of this release is {figure(changed['loss'])}."
    sections: list[Part] = [Headline(f"Method: {changed['method']}{f' ({does})' if does else ''}.{lost}")]
    if changed.get("reason"):
        sections.append(Notes([changed["reason"]]))
    sections += [_cost(changed), Meaning(_in_words(found), _LOSS)]
    if changed.get("cost_by_model"):
        sections.append(_by_model(changed))
    if changed.get("candidates"):
        sections.append(_candidates(changed))
    if changed.get("frontier") and any(point["loss"] is not None for point in changed["frontier"]):
        sections.append(_frontier(changed))
    if changed.get("scrubbed"):
        sections += _scrubbed(changed["scrubbed"])
    about = "What was done to the data so that the promise holds, and what that cost."
    return Chapter("change", "Transformation", about, sections)


def _cost(changed: JsonFindings) -> Grid:
    rows = [
        (entry["column"], entry["sentence"].removeprefix(entry["column"]).removeprefix(":").lstrip())
        for entry in changed["cost"]
    ]
    return Grid(("column", "what it cost"), rows, 2, title="What became of each column", wrap=(0, 1))


def _scrubbed(scrubbed: JsonFindings) -> list[Part]:
    """What was replaced in columns of free text, by kind, and what the search cannot find."""
    rows = [
        (name, kind.replace("_", " "), str(count), str(entry["records"][kind]))
        for name, entry in scrubbed["columns"].items()
        for kind, count in entry["spans"].items()
    ]
    title = "What was replaced in free text"
    grid = Grid(("column", "kind", "replaced", "records"), rows, 2, title=title)
    return [grid, Notes([f"Searched by {scrubbed['engine']}: {scrubbed['cannot_find']}."])]


def _in_words(found: JsonFindings) -> str:
    data = found["data"]
    gone = data["suppressed_rows"] + data["removed_rows"]
    verb = "was" if gone == 1 else "were"
    kept = f"{counted(gone, 'record')} {verb} left out or blanked" if gone else "Every record is in the release"
    natures = {entry["nature"] for entry in (found["change"] or {}).get("columns") or [] if entry["released"]}
    if natures <= {"truthful", "unchanged", "scrubbed"}:
        return f"{kept}; a cell that was changed says less about its person than before, and nothing false."
    return (
        f"{kept}; some cells hold what is typical of several people or was altered by chance, not a person's own value."
    )


def _by_model(changed: JsonFindings) -> Grid:
    entries = changed["cost_by_model"]
    rows = [(entry["model"], figure(entry["loss"]), figure(entry["added"])) for entry in entries]
    tried = {entry["rows"] for entry in entries if entry.get("rows")}
    on = f", tried on {counted(max(tried), 'record')}" if tried and max(tried) < changed["records"] else ""
    return Grid(("model", "loss", "added"), rows, title=f"What each model added{on}")


def _candidates(changed: JsonFindings) -> Grid:
    rows = [
        (
            one["method"],
            Cell(one["verdict"], "good" if one["verdict"] == "holds" else "dim"),
            f"{one['rows']:,}",
            figure(one["loss"]),
        )
        for one in changed["candidates"]
    ]
    return Grid(("method", "verdict", "tried on records", "loss"), rows, 2, title="Methods that were tried")


def _frontier(changed: JsonFindings) -> ReportExhibit:
    points = [point for point in changed["frontier"] if point["loss"] is not None]
    rows = [(str(point["k"]), share(point["highest_risk"]), figure(point["loss"])) for point in points]
    chart = [{"risk": point["highest_risk"], "loss": point["loss"], "chosen": False} for point in points]
    tried = min((one["rows"] for one in changed.get("candidates") or []), default=changed["records"])
    meaning = (
        "The further left, the harder a person is to find, and the more the data lost; the diamond is this release."
    )
    own: dict[str, Any] | None = None
    if changed.get("loss") is not None:
        own = {"risk": 1 / max(changed["k"], 1), "loss": changed["loss"], "chosen": True}
    if tried < changed["records"]:  # the loss of the whole table is not on the line of a part of it
        near = [point for point in points if point["k"] <= changed["k"]]
        one = max(near, key=lambda point: int(point["k"])) if near else None
        own = None if one is None else {"risk": one["highest_risk"], "loss": one["loss"], "chosen": True}
        meaning += (
            f" These losses were measured on a trial with {tried:,} of the {changed['records']:,} records; the loss of "
            f"the whole release is {figure(changed['loss'])}."
        )
    chart += [own] if own is not None else []
    return ReportExhibit(
        Chart(
            "loss", {"rows": chart}, listing("Loss for each k", [(row[0], row[2]) for row in rows]), "Loss against risk"
        ),
        Grid(("k", "highest risk", "loss"), rows, 0),
        meaning,
        _LOSS,
    )
