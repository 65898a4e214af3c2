"""What a release under differential privacy returns: for its owner; what leaves is in the manifest."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import polars as pl

from shoal.results import (
    Chart,
    Exhibit,
    Figure,
    Figures,
    Files,
    Grid,
    Headline,
    Notes,
    Result,
    Section,
    left_out,
    where_known,
)
from shoal.results.sections import BarPicture, BarRow
from shoal.wording import counted, in_words


@dataclass(frozen=True)
class Beside:
    """A way to release the same records: the mean error of all pairs and of all triples, and how often a learner that
    was trained on the release is right about held-out real records."""

    release: str
    pairs_error: float | None
    triples_error: float | None
    accuracy: float | None


@dataclass(frozen=True, repr=False)
class PrivateTable(Result):
    """A table or tables of counts under differential privacy, what they cost, and how far they are off.

    `marginals`, `workload_error` and `owner` are measured against the original and not paid for: they go to the
    owner's screen and private record. In a preview they are expected from the domain and the budget alone.
    """

    name: ClassVar[str] = "dp-release"

    synthesizer: str
    epsilon: float
    delta: float
    rho: float
    unit: str
    spent: list[dict[str, Any]]
    public: dict[str, Any]
    marginals: list[dict[str, Any]]
    workload_error: dict[str, float]
    records: int | None
    output: str | None
    preview: bool = False
    owner: dict[str, Any] = field(default_factory=dict)
    beside: list[Beside] | None = where_known()
    frame: pl.DataFrame | None = left_out(default=None)
    tables: dict[str, pl.DataFrame] | None = left_out(default=None)

    def summary(self) -> str:
        """What was made, under which promise."""
        promise = f"epsilon {self.epsilon:g} and delta {self.delta:g}"
        if self.preview:
            return f"Preview of a release with {promise}: nothing was spent, no data was read."
        made = "Tables of counts" if self.tables is not None else f"{counted(self.records or 0, 'synthetic record')}"
        return f"{made} under {promise}."

    def sections(self) -> list[Section]:
        """The promise, what was spent, how far off (for the owner), what was taken as known."""
        shown: list[Section] = [Headline(self.summary(), "strong" if self.preview else "good")]
        shown.append(Figures([Figure("unit", self.unit), Figure("rho (zCDP)", f"{self.rho:.6g}")]))
        steps: dict[tuple[str, str], list[dict[str, Any]]] = {}
        for one in self.spent:
            steps.setdefault((one["step"], one["mechanism"]), []).append(one)
        rows = [
            (step, mechanism, f"{len(those):,}", f"{sum(float(one['rho']) for one in those):.3g}", _scales(those))
            for (step, mechanism), those in steps.items()
        ]
        shown.append(Grid(("step", "mechanism", "times", "rho", "scale of noise"), rows, 2, title="Budget"))
        if self.marginals:
            worst = sorted(self.marginals, key=lambda one: -(one["error"] or 0))
            worst = worst if self.preview else worst[:8]
            title = "Expected error" if self.preview else "Largest errors, for the owner only"
            cells = [(", ".join(one["columns"]), _error(one)) for one in worst]
            of = "means of cells, or of counts" if self.synthesizer == "microaggregate" else "counts"
            shown.append(Grid(("columns", f"error of {of}" if self.preview else "error"), cells, title=title))
        shown += beside_sections(self.beside or [])
        if self.workload_error:
            words = {"2": "pairs", "3": "triples"}
            figures = [
                Figure(f"mean error of all {words[size]}", f"{error:.3f}")
                for size, error in self.workload_error.items()
            ]
            shown.append(Figures(figures, title="For the owner only (L1 distance of shares, 0 to 2)"))
        shown.append(Notes(self._notes()))
        if self.output is not None:
            shown.append(Files({"release": self.output}))
        return shown

    def _notes(self) -> list[str]:
        domains = self.public["domains"]
        known = [name for name, one in domains.items() if one["source"] != "bought"]
        notes = [f"public: the columns, and the domains of {in_words(known)}"] if known else []
        if bought := [name for name, one in domains.items() if "bought" in one["source"]]:
            notes.append(f"bought with budget: the domain or bins of {in_words(bought)}")
        if self.preview:
            notes.append("columns of the table that the policy does not name are not counted; each one adds noise")
        else:
            for name, rows in self.owner.get("moved", {}).items():
                notes.append(
                    f"{name}: {counted(rows, 'value')} outside of the domain, moved into it or taken as missing"
                )
            if left := self.owner.get("left_out"):
                notes.append(f"{counted(left, 'record')} without a value where none may be missing: not counted")
            if self.owner.get("kept_rows", 0) < self.owner.get("rows", 0):
                notes.append(
                    f"{self.owner['kept_rows']:,} of {self.owner['rows']:,} rows within the limit for a person"
                )
            if self.output is None:
                notes.append("the table was not written: no output was named")
            notes.append("errors and counts here are exact figures of the original: keep them to yourself")
        return notes


def _scales(steps: list[dict[str, Any]]) -> str:
    scales = sorted({round(float(one["scale"]), 2) for one in steps})
    return f"{scales[0]:g}" if len(scales) == 1 else f"{scales[0]:g} to {scales[-1]:g}"


def _error(one: dict[str, Any]) -> str:
    return f"± {one['error_95']:g} (95%)" if "error_95" in one else f"{one['error']:.3f}"


def beside_sections(rows: list[Beside]) -> list[Section]:
    """The same records released in other ways, in the same words."""
    if not rows:
        return []
    bars = tuple(
        BarRow(one.release, value, kind)
        for one in rows
        for kind, value in (("pairs", one.pairs_error), ("triples", one.triples_error))
        if value is not None
    )
    cells = [tuple("–" if one is None else f"{one:.3f}" for one in (row.pairs_error, row.triples_error, row.accuracy))
             for row in rows]  # fmt: skip
    table = Grid(("release", "error of pairs", "of triples", "learner right"),
                 [(row.release, *texts) for row, texts in zip(rows, cells, strict=True)])  # fmt: skip
    words = "; ".join(f"{row.release}: {', '.join(texts)}" for row, texts in zip(rows, cells, strict=True))
    return [
        Exhibit(
            Chart(
                BarPicture(bars, "error (L1, 0 to 2)", plain=True), words, "The same records, released in other ways"
            ),
            table,
            "The shorter a bar, the nearer the shares of all pairs and triples of values are to the original's. The "
            "learner is trained on the release and asked about real records that it was not made from.",
            "mean over all marginals of Σ |share released - share original|",
        )
    ]
