"""Several releases side by side: what each lost, what it still discloses, how long it took."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from shoal.errors import InputError
from shoal.policy.manifest import PRIVATE_TABLE, Manifest, as_shape, manifest_path, read_json
from shoal.results import Cell, Grid, Headline, Result, Section, where_known, without_unknown
from shoal.wording import counted, figure, percent


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
    # of a table under differential privacy its budget; against an original that is given, the mean error of all pairs
    # and of all triples: for its owner
    epsilon: float | None = None
    pairs_error: float | None = None
    triples_error: float | None = None


@dataclass(frozen=True)
class LinkedReleases:
    """Two releases about the same people: of so many targets of the second, how many meet one person of the first only.

    `correct`: those of them that are the same person. `expected_correct`: how many are named rightly, if one of the
    persons that a target may be is picked.
    """

    first: str
    second: str
    targets: int
    unique_matches: int
    correct: int
    expected_correct: float


def linked_section(linked: Sequence[LinkedReleases]) -> list[Section]:
    """What can be linked across releases, a line for each two."""
    heads = ("release", "with", "records", "meet one person only", "and rightly", "named rightly by a pick")
    rows = [
        (
            one.first,
            one.second,
            f"{one.targets:,}",
            f"{one.unique_matches:,}",
            Cell(f"{one.correct:,}", "bad" if one.correct else "good"),
            percent(one.expected_correct / one.targets) if one.targets else "–",
        )
        for one in linked
    ]
    return [Grid(heads, rows, 2, title="Linkable across releases", wrap=(0, 1))] if rows else []


@dataclass(frozen=True, repr=False)
class Comparison(Result):
    """Releases in the order given; `best` is the one of least loss of those that hold, by a figure that all have.

    Where they have other quasi-identifiers or other numbers of records, `differ` says so, and none is the best.
    """

    name: ClassVar[str] = "compare"

    releases: list[Row]
    best: str | None
    by: str | None
    differ: list[str]
    linked: list[LinkedReleases] | None = where_known()

    def summary(self) -> str:
        """Which release lost least."""
        words = f"{counted(len(self.releases), 'release')} compared"
        if self.differ:
            return f"{words}; their losses cannot be ranked: they differ in {' and '.join(self.differ)}."
        if self.best is None or self.by is None:
            return f"{words}; no figure of loss is known for all that hold."
        return f"{words}; least {self.by.replace('_', ' ')}: {self.best}."

    def sections(self) -> list[Section]:
        """One line per release."""
        rows = [
            (
                row.manifest.removesuffix(".manifest.json"),
                row.method,
                Cell(row.verdict, "good" if row.verdict == "holds" else "bad"),
                figure(row.epsilon),
                figure(row.pairs_error),
                figure(row.triples_error),
                figure(row.k),
                figure(row.classes),
                figure(row.information_loss),
                figure(row.loss),
                _largest(row.attribute_disclosure),
                figure(row.suppressed_rows),
                figure(row.seconds, 2),
            )
            for row in self.releases
        ]
        errors = ("epsilon", "error of pairs", "of triples")
        heads = ("release", "method", "verdict", *errors, "k", "classes", "information loss", "loss")
        grid = Grid((*heads, "largest disclosure", "suppressed rows", "seconds"), rows, 3, wrap=(0,))
        return [Headline(self.summary()), without_unknown(grid), *linked_section(self.linked or ())]


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
    read = [(str(path), _manifest(Path(path))) for path in manifests]
    rows = [_row(path, manifest) for path, manifest in read]
    differ = differences(
        (manifest.policy.quasi_identifiers for _, manifest in read),
        (manifest.written + manifest.removed_rows for _, manifest in read),
    )
    good = [row for row in rows if row.verdict == "holds"]
    for name in ("information_loss", "loss"):
        if good and not differ and all(getattr(row, name) is not None for row in good):
            best = min(good, key=lambda row: float(getattr(row, name)))
            return Comparison(rows, best.manifest, name, [])
    return Comparison(rows, None, None, differ)


def differences(quasi_identifiers: Iterable[Iterable[str]], records: Iterable[int]) -> list[str]:
    """Why the losses of releases do not say which is better: they are not of the same columns and records.

    >>> differences([["age", "sex"], ["sex", "age"]], [100, 90])
    ['their numbers of records']
    """
    columns = len({frozenset(names) for names in quasi_identifiers}) > 1
    counts = len(set(records)) > 1
    return [*(["their quasi-identifiers"] if columns else []), *(["their numbers of records"] if counts else [])]


def _manifest(path: Path) -> Manifest:
    file = path if path.name.endswith(".json") else manifest_path(path)
    return as_shape(Manifest, read_json(file, "manifest"), file, "manifest")


def _row(path: str, manifest: Manifest) -> Row:
    findings: dict[str, Any] = manifest.findings
    disclosed = findings.get("attribute_disclosure") or []
    return Row(
        manifest=path,
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
        seconds=manifest.seconds or None,
        verdict=manifest.verdict,
        epsilon=_epsilon(manifest),
    )


def _epsilon(manifest: Manifest) -> float | None:
    said: Any = manifest.sections.get("differential_privacy") or {}
    return float(said["epsilon"]) if manifest.method == PRIVATE_TABLE else None
