"""Charts of single results, for notebooks and `--chart`: what is best known, and what a lower risk costs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from shoal.detection.results import Detection
from shoal.errors import InputError, Message
from shoal.exposure.leakage.curves import Curve, needed_k, over_k, over_leaks, over_targets
from shoal.exposure.leakage.results import LeakRisk
from shoal.methods.outcomes import Candidate, FrontierPoint, MethodChoice
from shoal.reports.charts.style import BLUE, harmless, inline

if TYPE_CHECKING:
    from shoal.methods.search.solution_space import SolutionSpace


_CHOSEN = "#d1495b"
_LEAST = "least loss at this risk"
_PANEL = 320
_MOST_BARS = 40


def detection_chart(found: Detection) -> Any:
    """The frontier (who knows n things singles out how many) beside each column's part in it."""
    import altair as alt

    last = len(found.best.columns) if found.best else 0
    frontier = [
        {"columns": len(entry.columns), "uniqueness": entry.uniqueness, "set": harmless(", ".join(entry.columns))}
        for entry in found.by_size
        if len(entry.columns) <= last
    ]
    base = alt.Chart(inline(frontier)).encode(
        x=alt.X("columns:Q", title="number of columns known", axis=alt.Axis(tickMinStep=1, format="d")),
        y=alt.Y("uniqueness:Q", title="records singled out", axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, 1])),
        tooltip=["set:N", alt.Tooltip("uniqueness:Q", format=".1%")],
    )
    line = base.mark_line(color=BLUE, point=alt.OverlayMarkDef(size=60, filled=True, color=BLUE))
    most = sorted(found.contributions.items(), key=lambda item: -item[1])[:_MOST_BARS]
    shares = [{"column": harmless(name), "share": share} for name, share in most]
    bars = (
        alt.Chart(inline(shares))
        .mark_bar(color=BLUE)
        .encode(
            x=alt.X("share:Q", title="part in the uniques", axis=alt.Axis(format="%")),
            y=alt.Y("column:N", title=None, sort="-x"),
            tooltip=["column:N", alt.Tooltip("share:Q", format=".1%")],
        )
    )
    left = line.properties(width=340, height=260, title="What the best-placed attacker singles out")
    right = bars.properties(width=260, height=alt.Step(18), title="Which column costs most")
    return alt.hconcat(left, right).configure_view(stroke=None)


def frontier_chart(found: SolutionSpace) -> Any:
    """What a lower risk costs: the least loss for each highest risk, the chosen node apart."""
    import altair as alt

    rows = [
        {
            "risk": solution.highest_risk,
            "score": solution.score,
            "k": solution.k,
            "suppressed": solution.suppressed_rows,
            "levels": harmless(", ".join(f"{name} {level}" for name, level in solution.levels.items())),
            "what": "chosen" if solution == found.chosen else _LEAST,
        }
        for solution in [*found.frontier, *([] if found.chosen is None else [found.chosen])]
    ]
    base = alt.Chart(inline(rows)).encode(
        x=alt.X("risk:Q", title="highest risk of a record (1 / smallest class)", scale=alt.Scale(type="log")),
        y=alt.Y("score:Q", title=found.minimize, scale=alt.Scale(zero=True)),
        tooltip=["levels:N", "k:Q", alt.Tooltip("score:Q", format=".4f"), "suppressed:Q", "what:N"],
    )
    line = base.mark_line(color=BLUE)
    points = base.mark_point(filled=True, size=80, opacity=1).encode(
        color=alt.Color("what:N", title=None, scale=alt.Scale(range=[_CHOSEN, BLUE], domain=["chosen", _LEAST]))
    )
    labels = base.mark_text(align="left", dx=7, dy=-7).encode(text=alt.Text("k:Q", format="d"))
    layered = alt.layer(line, points, labels)
    return layered.properties(width=520, height=320, title="What a lower risk costs (labels: smallest class)")


def choice_chart(method: str, choice: MethodChoice | None) -> Any:
    """What was chosen: the loss for each k, and what the other methods lost at the k that was asked for."""
    import altair as alt

    if choice is None:
        raise InputError(
            "There is a chart only where a method was chosen.",
            Message("Leave out {method}: then the methods are compared."),
        )
    compared = [one for one in choice.candidates if one.rows == choice.candidates[0].rows]
    # the measure that all have: only then their losses can be compared
    tried: list[Candidate | FrontierPoint] = [*choice.frontier, *compared]
    all_have = all(one.information_loss is not None for one in tried if one.loss is not None)
    figure = "information_loss" if all_have else "loss"
    rows = [{"risk": one.highest_risk, "loss": getattr(one, figure), "k": one.k} for one in choice.frontier]
    others = [{"method": one.method, "loss": loss} for one in compared if (loss := getattr(one, figure)) is not None]
    base = alt.Chart(inline(rows)).encode(
        x=alt.X("risk:Q", title="highest risk of a record (1 / k)", scale=alt.Scale(type="log")),
        y=alt.Y("loss:Q", title=figure.replace("_", " ")),
        tooltip=["k:Q", alt.Tooltip("loss:Q", format=".4f")],
    )
    line = base.mark_line(color=BLUE, point=alt.OverlayMarkDef(size=60, filled=True, color=BLUE))
    labels = base.mark_text(align="left", dx=7, dy=-7).encode(text=alt.Text("k:Q", format="d"))
    bars = (
        alt.Chart(inline(others))
        .mark_bar(color=BLUE)
        .encode(
            x=alt.X("loss:Q", title=figure.replace("_", " ")),
            y=alt.Y("method:N", title=None, sort="x"),
            tooltip=["method:N", alt.Tooltip("loss:Q", format=".4f")],
        )
    )
    left = alt.layer(line, labels).properties(width=340, height=260, title=f"What a lower risk costs ({method})")
    right = bars.properties(width=260, height=alt.Step(24), title="What each method lost")
    return alt.hconcat(left, right).configure_view(stroke=None)


def leak_chart(found: Sequence[LeakRisk]) -> Any:
    """The probability against the leak, the class size and the number of targets; with thresholds, the k they need."""
    import altair as alt

    first = found[0]
    persons, targets = first.persons, first.targets
    limits = {entry.threshold: entry.threshold_name or "" for entry in found if entry.threshold is not None}
    leaks = sorted({max(round(persons * step / 25), 1) for step in range(1, 26)})
    sizes = sorted({2, 5, 10, 20} | ({first.class_size} if first.class_size else set()))
    by_leak = [over_leaks(size, persons, leaks, targets) for size in sizes if size <= persons]
    if first.class_size is None:
        by_leak.append(over_leaks(first.classes, persons, leaks, targets))
    shown = _few(sorted({entry.leaked for entry in found}))
    by_size = [over_k(persons, leaked, range(1, min(persons, 40) + 1), targets) for leaked in shown]
    by_target = over_targets(first.classes, first.leaked)
    who = "one person" if targets == 1 else f"all of {targets} targets"
    panels = [
        _lines(by_leak, "persons leaked", "probability", f"The larger the leak ({who})", limits),
        _lines(by_size, "class size k", "probability", "What more k buys: less and less", limits),
        _lines([by_target], "targets", "probability", f"All of n targets, {first.leaked:,} leaked", log=True),
    ]
    if limits:
        needed = [needed_k(persons, leaks, name or value, targets) for value, name in limits.items()]
        panels.append(_lines(needed, "persons leaked", "smallest k", "The k that a threshold needs"))
    rows = [alt.hconcat(*panels[:2]).resolve_scale(color="independent"), alt.hconcat(*panels[2:])]
    return alt.vconcat(*rows).resolve_scale(color="independent").configure_view(stroke=None)


def _few(numbers: Sequence[int], most: int = 4) -> list[int]:
    """A few of many, the first and the last among them."""
    steps = min(most, len(numbers))
    return [numbers[round(step * (len(numbers) - 1) / max(steps - 1, 1))] for step in range(steps)]


def _lines(
    curves: Sequence[Curve],
    x: str,
    y: str,
    heading: str,
    limits: Mapping[float, str] = MappingProxyType({}),
    log: bool = False,
) -> Any:
    """Curves in one panel, thresholds as dashed lines across."""
    import altair as alt

    rows = [
        {"x": at, "y": value, "line": curve.name}
        for curve in curves
        for at, value in zip(curve.x, curve.y, strict=True)
        if value > 0 or not log
    ]
    several = len(curves) > 1
    # names of thresholds stand right of the panel, where no curve runs; those of curves below it
    legend = alt.Legend(orient="bottom", columns=3)
    colour: Any = alt.value(BLUE)
    if several:
        colour = alt.Color("line:N", title=None, sort=[curve.name for curve in curves], legend=legend)
    scale = alt.Scale(type="log") if log else alt.Scale(zero=True)
    lines = (
        alt.Chart(inline(rows))
        .mark_line(point=alt.OverlayMarkDef(size=18, filled=True))
        .encode(
            x=alt.X("x:Q", title=x, axis=alt.Axis(format=",d", tickMinStep=1)),
            y=alt.Y("y:Q", title=y, scale=scale, axis=alt.Axis(format=".0e" if log else "~g")),
            color=colour,
            tooltip=["line:N", alt.Tooltip("x:Q", format=","), alt.Tooltip("y:Q", format=".4g")],
        )
    )
    if limits:
        borders = inline([{"y": value, "name": f"{value:.2g} {name}".strip()} for value, name in limits.items()])
        rule = alt.Chart(borders).mark_rule(strokeDash=[4, 3], color="#888").encode(y="y:Q", tooltip=["name:N"])
        label = (
            alt.Chart(borders)
            .mark_text(align="left", color="#666")
            .encode(y="y:Q", x=alt.value(_PANEL + 6), text="name:N")
        )
        lines = alt.layer(lines, rule, label)
    return lines.properties(width=_PANEL, height=240, title=heading)


# the drawing of each picture that is computed from results
DRAWINGS: dict[str, Callable[[Sequence[Any]], Any]] = {
    "detection": lambda found: detection_chart(found[0]),
    "leak": leak_chart,
}
