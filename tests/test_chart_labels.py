"""Charts: every candidate is drawn, by the measure that all have, and no name of a threshold lies over a curve."""

from __future__ import annotations

import pytest

from shoal.exposure.leakage.measure import leak
from shoal.methods.outcomes import Candidate, FrontierPoint, MethodChoice
from shoal.reports.charts import choice_chart, leak_chart

pytest.importorskip("altair")


def _row(method: str, information_loss: float | None, loss: float | None, rows: int = 10) -> Candidate:
    return Candidate(method, information_loss, loss, 0.1, "holds", rows)


def _bars(*candidates: Candidate, frontier: float | None = 0.1) -> tuple[str, dict[str, float]]:
    curve = [FrontierPoint(5, 0.2, frontier, 0.2, 5)]
    drawn = choice_chart("mondrian", MethodChoice(list(candidates), "", curve)).to_dict()
    bars = drawn["hconcat"][1]
    rows = drawn["datasets"][bars["data"]["name"]]
    return bars["encoding"]["x"]["title"], {row["method"]: row["loss"] for row in rows}


def test_a_candidate_without_information_loss_is_drawn_by_the_loss_that_all_have() -> None:
    both = _row("mondrian", 0.1, 0.2), _row("sorted-clusters", 0.3, 0.4)
    assert _bars(*both) == ("information loss", {"mondrian": 0.1, "sorted-clusters": 0.3})
    assert _bars(*both, _row("lattice", None, 0.5)) == (
        "loss",
        {"mondrian": 0.2, "sorted-clusters": 0.4, "lattice": 0.5},
    )
    assert _bars(*both, frontier=None) == ("loss", {"mondrian": 0.2, "sorted-clusters": 0.4})
    # one that failed has no loss and forces no other measure; one on other records is not comparable
    others = _row("suppress", None, None), _row("mondrian", 0.05, 0.1, rows=99)
    assert _bars(*both, *others) == ("information loss", {"mondrian": 0.1, "sorted-clusters": 0.3})


def test_the_name_of_a_threshold_stands_beside_the_panel() -> None:
    found = [leak(persons=1000, leaked=100, class_size=5, threshold="public")]
    panels = leak_chart(found).to_dict()["vconcat"][0]["hconcat"]
    for panel in panels:
        labels = [layer for layer in panel["layer"] if layer["mark"]["type"] == "text"]
        assert [label["mark"]["align"] for label in labels] == ["left"]
        assert all(label["encoding"]["x"]["value"] > panel["width"] for label in labels)
