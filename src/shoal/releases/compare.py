"""Several releases side by side: what each lost, what it still discloses, how long it took."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from shoal.errors import InputError
from shoal.manifest.files import as_shape, manifest_path, read_json
from shoal.manifest.schema import Manifest
from shoal.results import Cell, Grid, Headline, Result, Section
from shoal.wording import counted, percent


@dataclass(frozen=True, slots=True)
class Row:
    """One release: figures from its manifest; null where the manifest has none."""

    manifest: str
    method: str
    k: int | None
    classes: int | None
    uniques: int | None
    suppressed_rows: int | None
    information_loss: float | None
    loss: float | None
    attribute_disclosure: dict[str, float | None]
    modified_rows: int | None
    seconds: float | None
    verdict: str


@dataclass(frozen=True, repr=False)
class Comparison(Result):
    """Releases in the order given; `best` is the one of least loss of those that hold, by a figure that all have."""

    name: ClassVar[str] = "compare"

    releases: list[Row]
    best: str | None
    by: str | None

    def summary(self) -> str:
        """Which release lost least."""
        words = f"{counted(len(self.releases), 'release')} compared"
        if self.best is None or self.by is None:
            return f"{words}; no figure of loss is known for all that hold."
        return f"{words}; least {self.by.replace('_', ' ')}: {self.best}."

    def sections(self) -> list[Section]:
        """One line per release."""
        rows = [
            (
                row.manifest,
                row.method,
                Cell(row.verdict, "good" if row.verdict == "holds" else "bad"),
                _figure(row.k),
                _figure(row.classes),
                _figure(row.information_loss),
                _figure(row.loss),
                _largest(row.attribute_disclosure),
                _figure(row.suppressed_rows),
                _figure(row.seconds, 2),
            )
            for row in self.releases
        ]
        heads = ("release", "method", "verdict", "k", "classes", "information loss", "loss")
        grid = Grid((*heads, "largest disclosure", "suppressed rows", "seconds"), rows, 3)
        return [Headline(self.summary()), grid]


def _figure(figure: float | None, digits: int = 4) -> str:
    return "–" if figure is None else f"{figure:,}" if isinstance(figure, int) else f"{figure:.{digits}f}"


def _largest(disclosed: dict[str, float | None]) -> str:
    shares = [share for share in disclosed.values() if share is not None]
    return percent(max(shares)) if shares else "–"


def compare(manifests: Sequence[str | Path]) -> Comparison:
    """Read manifests (or the data files beside them) and set them side by side.

    >>> compare([])
    Traceback (most recent call last):
    shoal.errors.InputError: There is nothing to compare. Name manifests or released files.
    """
    if not manifests:
        raise InputError("There is nothing to compare.", "Name manifests or released files.")
    rows = [_row(Path(path)) for path in manifests]
    good = [row for row in rows if row.verdict == "holds"]
    for figure in ("information_loss", "loss"):
        if good and all(getattr(row, figure) is not None for row in good):
            best = min(good, key=lambda row: float(getattr(row, figure)))
            return Comparison(rows, best.manifest, figure)
    return Comparison(rows, None, None)


def _row(path: Path) -> Row:
    file = path if path.name.endswith(".json") else manifest_path(path)
    manifest = as_shape(Manifest, read_json(file, "manifest"), file, "manifest")
    findings: dict[str, Any] = manifest.findings
    disclosed = findings.get("attribute_disclosure") or []
    return Row(
        manifest=str(path),
        method=manifest.method,
        k=findings.get("k"),
        classes=findings.get("classes"),
        uniques=findings.get("uniques"),
        suppressed_rows=findings.get("suppressed_rows"),
        information_loss=findings.get("information_loss"),
        loss=findings.get("loss"),
        attribute_disclosure={
            str(entry.get("condition")): entry.get("share") for entry in disclosed if isinstance(entry, dict)
        },
        modified_rows=findings.get("modified_rows"),
        seconds=manifest.seconds,
        verdict=manifest.verdict,
    )
