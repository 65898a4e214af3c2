"""Measure and draw: the one order of steps for every verb that can draw what it found."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from shoal.errors import InputError
from shoal.results import Chart, Result

R = TypeVar("R", bound=Result)


def with_chart(
    measure: Callable[[], R], chart: str | Path | None, *, force: bool = False, sources: Iterable[str | Path] = ()
) -> R:
    """What `measure` finds, and its chart in a file, whose name is checked before any work is done.

    A chart does not replace one of the `sources`. The result has a field `chart`, which then holds the path.

    >>> from shoal.detection import detect
    >>> with_chart(lambda: detect({"age": [30, 30, 41]}), None).chart is None
    True
    """
    if chart is None:
        return measure()
    from shoal.reports.charts import check_chart, save_chart

    target = Path(chart)
    check_chart(target, force)
    if any(target.resolve() == Path(source).resolve() for source in sources):
        raise InputError(f"The chart {target} would replace the table.", "Give it another name.")
    result = measure()
    save_chart(drawn(result), target)
    return replace(result, chart=str(target))  # type: ignore[type-var]


def drawn(result: Result) -> Any:
    """The chart of a result, as altair knows it; refused where its sections name none."""
    charts = [section for section in result.sections() if isinstance(section, Chart)]
    if not charts:
        raise InputError(f"A result of {result.name} has no chart here.", "Leave the chart out.")
    return result.plot()
