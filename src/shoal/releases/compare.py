"""Several releases side by side: what each lost, what it still discloses, how long it took."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from shoal.errors import InputError


@dataclass(frozen=True)
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


@dataclass(frozen=True)
class Comparison:
    """Releases in the order given; `best` is the one of least loss of those that hold, by a figure that all have."""

    releases: list[Row]
    best: str | None
    by: str | None

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)


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
    from shoal.manifest.files import manifest_path

    file = path if path.name.endswith(".json") else manifest_path(path)
    try:
        manifest = json.loads(file.read_text(encoding="utf-8"))
        findings = manifest["findings"]
        method = str(manifest["method"])
        verdict = str(manifest["verdict"])
    except OSError:
        raise InputError(f"There is no manifest {file}.", "Name the one that was written with a release.") from None
    except (ValueError, KeyError, TypeError):
        raise InputError(
            f"{file} is no manifest of shoal's.", "Name the one that was written with a release."
        ) from None
    disclosed = findings.get("attribute_disclosure") or []
    return Row(
        manifest=str(path),
        method=method,
        k=findings.get("k"),
        classes=findings.get("classes"),
        uniques=findings.get("uniques"),
        suppressed_rows=findings.get("suppressed_rows"),
        information_loss=findings.get("information_loss"),
        loss=findings.get("loss"),
        attribute_disclosure={entry["condition"]: entry["share"] for entry in disclosed},
        modified_rows=findings.get("modified_rows"),
        seconds=manifest.get("seconds"),
        verdict=verdict,
    )
