"""Publications side by side: what each promises, what is left of the risk, what attacks gain, what was lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any, ClassVar

from shoal import __version__
from shoal.attacks.link import attack_link
from shoal.dp.tables.counting import encoded, marginal_errors
from shoal.errors import InputError, Message
from shoal.policy.manifest import PRIVATE_TABLE, manifest_path
from shoal.releases.compare import Comparison, LinkedReleases, compare, differences, linked_section
from shoal.releases.decode import decode
from shoal.releases.open import Release
from shoal.releases.private_table import SECTION, domains_of
from shoal.releases.table_set import TableSet
from shoal.reports.chapters.base import Chapter, listing
from shoal.reports.findings import ReportFindings, read_findings, typed_findings
from shoal.reports.publication.results import check_not_published
from shoal.reports.report import check_report, page_html, page_of
from shoal.results import Cell, Chart, Exhibit, Figure, Figures, Grid, Headline, Notes, Result, Section, where_known
from shoal.results.sections import BarPicture, BarRow
from shoal.storage.reading import read
from shoal.storage.writing import write_bytes
from shoal.wording import counted, figure, in_words, percent, share, told_apart, with_interval

MOST = 4
# what publications are called in heads and charts: a path may be long
LETTERS = "ABCD"
_TWIN = " (twin)"


@dataclass(frozen=True)
class PublicationFigures:
    """One publication: figures from its findings; null where a step did not find one."""

    folder: str
    created: str
    method: str | None
    models: list[str]
    records: int
    released: int
    suppressed_rows: int
    verdict: str | None
    k: int | None
    uniqueness_before: float | None
    uniqueness: float | None
    highest_risk: float | None
    average_risk: float | None
    threshold: float | None
    loss: float | None
    largest_correlation_change: float | None
    loss_by_column: dict[str, float | None]
    # what being in the data adds to the risk of a person, for every attack with a control
    excess_by_attack: dict[str, float | None]
    # the ends of its 95% interval
    excess_interval_by_attack: dict[str, list[float | None]]


@dataclass(frozen=True, repr=False)
class PublicationComparison(Result):
    """Publications in the order given; where they are not of the same columns or records, `differ` says so, and their
    losses do not say which is better: then none is the `best`."""

    name: ClassVar[str] = "compare-publications"

    publications: list[PublicationFigures]
    best: str | None
    differ: list[str]
    # the folders without data: an attack goes past its limit, or the policy is not met
    drafts: list[str]
    linked: list[LinkedReleases] | None = where_known()

    def summary(self) -> str:
        """Which publication lost least."""
        words = f"{counted(len(self.publications), 'publication')} compared"
        if self.drafts:
            words += f", {in_words(self.drafts)} no release but a draft"
        if self.differ:
            return f"{words}; their losses cannot be ranked: they differ in {in_words(self.differ)}."
        return f"{words}; no loss is known for all." if self.best is None else f"{words}; least loss: {self.best}."

    def sections(self) -> list[Section]:
        """The figures, a line each, then loss by column and excess by attack."""
        shown = self.publications
        heads = LETTERS[: len(shown)]
        folders = [Figure(letter, one.folder) for letter, one in zip(heads, shown, strict=True)]
        rows = [(words, *(write(one) for one in shown)) for words, write in _LINES]
        sections: list[Section] = [Headline(self.summary()), Figures(folders), Grid(("figure", *heads), rows)]
        sections += [*linked_section(self.linked or ()), *_exhibits(self)]
        notes = [
            "excess: what being in the data adds to a person's risk, beside people who are not in it; its 95% interval "
            "behind it"
        ]
        return [*sections, Notes(notes)] if any(one.excess_by_attack for one in shown) else sections


def _loss(one: PublicationFigures, column: str) -> str:
    return figure(one.loss_by_column.get(column))


def excess_words(one: PublicationFigures, attack: str) -> str:
    """The excess of an attack with its 95% interval."""
    low, high = one.excess_interval_by_attack.get(attack) or (None, None)
    return with_interval(one.excess_by_attack.get(attack), low, high)


def _within(one: PublicationFigures) -> str | Cell:
    if one.highest_risk is None:
        return "–"
    if one.threshold is None:
        return percent(one.highest_risk)
    risk, limit = told_apart(one.highest_risk, one.threshold)
    over = one.highest_risk > one.threshold * (1 + 1e-9)
    return Cell(f"{risk} ({'above' if over else 'within'} {limit})", "bad" if over else "good")


_LINES = (
    ("created", lambda one: one.created[:10]),
    ("method", lambda one: one.method or "–"),
    ("models", lambda one: ", ".join(one.models) or "–"),
    ("verified", lambda one: Cell(one.verdict or "–", "good" if one.verdict == "holds" else "bad")),
    ("records released", lambda one: f"{one.released:,} of {one.records:,}"),
    ("suppressed records", lambda one: f"{one.suppressed_rows:,}"),
    ("smallest class (k)", lambda one: figure(one.k)),
    ("unique in the quasi-identifiers, before", lambda one: share(one.uniqueness_before)),
    ("unique in the quasi-identifiers, after", lambda one: share(one.uniqueness)),
    ("highest risk", _within),
    ("average risk", lambda one: share(one.average_risk)),
    ("loss", lambda one: figure(one.loss)),
    ("largest change of a correlation", lambda one: figure(one.largest_correlation_change)),
)


def compare_publications(folders: Sequence[str | Path]) -> PublicationComparison:
    """Read the findings of published folders and set them side by side.

    >>> compare_publications([])
    Traceback (most recent call last):
    shoal.errors.InputError: Two to 4 publications are compared, not 0. ...
    """
    if not 2 <= len(folders) <= MOST:
        raise InputError(
            f"Two to {MOST} publications are compared, not {len(folders)}.", "Name folders that `shoal publish` wrote."
        )
    read = [(str(folder).rstrip("/"), typed_findings(read_findings(folder))) for folder in folders]
    rows = [_figures(folder, found) for folder, found in read]
    found = [findings for _, findings in read]
    drafts = [folder for folder, findings in read if findings.refusal is not None]
    differ = differences(map(_quasi_identifiers, found), (findings.data.records for findings in found))
    known = not differ and all(row.loss is not None for row in rows)
    released = [row for row in rows if row.folder not in drafts]  # what is no release is none to choose
    best = min(released, key=lambda row: float(row.loss or 0)).folder if known and released else None
    return PublicationComparison(rows, best, differ, drafts)


def compare_releases(
    releases: Sequence[str | Path], person: str | None = None, original: Any = None
) -> Comparison | PublicationComparison:
    """Published folders by their findings, manifests and released files by their manifests.

    With `person`, a pseudonym that all releases have, each two are linked too: `attack_link` of one with the other.
    """
    if any(TableSet.find(release) is not None for release in releases):
        raise InputError(
            "Releases of several tables are not set side by side.", "See the figures of each by `shoal report`."
        )
    folders = [Path(release).is_dir() for release in releases]
    if any(folders) and not all(folders):
        raise InputError("Some are folders and some are files.", "Name folders only, or manifests and files only.")
    result = compare_publications(releases) if any(folders) else compare(releases)
    if original is not None:
        if not isinstance(result, Comparison):
            raise InputError("Folders are compared by their findings, without an original.", "Name the data files.")
        result = with_errors(result, [data_of(Path(release)) for release in releases], original)
    if person is None:
        return result
    return replace(result, linked=[linked_releases(one, other, person) for one, other in combinations(releases, 2)])


def with_errors(result: Comparison, files: Sequence[Path], original: Any) -> Comparison:
    """The mean error of all pairs and triples of each release, in the cells of one under differential privacy.

    A range or a set is a value drawn from it. Measured on the original: for its owner.
    """
    manifests = [Release.open(file).manifest for file in files]
    known = [one for one in manifests if one.method == PRIVATE_TABLE]
    if not known:
        raise InputError("No release says which values are public.", "Name one by `shoal dp-release` among them.")
    said: Any = known[0].sections[SECTION]
    shared = [name for name in said["public"]["domains"] if all(name in one.released_names for one in manifests)]
    domains = domains_of(known[0], shared)
    if not domains:
        raise InputError("The releases have no column in common.", "Compare releases of one table.")
    table, rows = read(original), []
    before = encoded({name: table[name] for name in domains}, domains)[0]
    for row, file, manifest in zip(result.releases, files, manifests, strict=True):
        drawn = manifest.method == PRIVATE_TABLE
        frame = read(file) if drawn else read(decode(file, how="sample", columns=list(domains)))
        after = encoded({name: frame[name] for name in domains}, domains)[0]
        _, means = marginal_errors(before, after, list(domains))
        rows.append(replace(row, pairs_error=means.get("2"), triples_error=means.get("3")))
    return replace(result, releases=rows)


def linked_releases(first: str | Path, second: str | Path, person: str) -> LinkedReleases:
    """The first release against the records of the second, by a pseudonym that both have."""
    found = attack_link(data_of(Path(first)), identified=data_of(Path(second)), person=person, truth=person)
    assert found.correct is not None
    figures = (found.targets, found.unique_matches, found.correct, found.expected_correct)
    return LinkedReleases(str(first), str(second), *figures)


def data_of(release: Path) -> Path:
    """The data file of a published folder, or beside a manifest; a data file itself."""
    if release.is_dir():
        manifests = sorted(release.glob("*.manifest.json"))
        if len(manifests) != 1:
            raise InputError(f"{release} holds no release.", "Name folders of `shoal publish` that are no drafts.")
        release = manifests[0]
    if not release.name.endswith(".manifest.json"):
        return release
    known = [path for path in release.parent.iterdir() if manifest_path(path) == release and path != release]
    if len(known) != 1:
        raise InputError(f"The data file of {release.name} is not beside it.", "Name the data file.")
    return known[0]


def _quasi_identifiers(found: ReportFindings) -> list[str]:
    return [name for name, role in found.policy.columns.items() if role == "quasi-identifier"]


def _method(found: ReportFindings) -> str | None:
    if found.private_table is not None:
        return f"{PRIVATE_TABLE}, {found.private_table.synthesizer}"
    return None if found.change is None else found.change.method


def _figures(folder: str, found: ReportFindings) -> PublicationFigures:
    before, after, utility = found.risk.before, found.risk.after, found.utility
    judged, verified = None if after is None else after.judged, found.verification
    attacks = [one for one in (found.attacks.attacks if found.attacks else ()) if one.excess is not None]
    analysis = None if utility is None else utility.analysis
    return PublicationFigures(
        folder=folder,
        created=found.created,
        method=_method(found),
        models=[] if verified is None else [model.title for model in verified.models],
        records=found.data.records,
        released=found.data.released,
        suppressed_rows=found.data.suppressed_rows,
        verdict=None if verified is None else verified.verdict,
        k=None if after is None else after.k,
        uniqueness_before=None if before is None else before.uniqueness,
        uniqueness=None if after is None else after.uniqueness,
        highest_risk=None if judged is None else judged.highest,
        average_risk=None if judged is None else judged.average,
        threshold=None if judged is None else judged.threshold,
        loss=None if utility is None else utility.loss,
        largest_correlation_change=None if analysis is None else analysis.largest_correlation_change,
        loss_by_column={} if utility is None else dict(utility.by_column),
        excess_by_attack={one.name.removesuffix(_TWIN): one.excess for one in attacks},
        excess_interval_by_attack={one.name.removesuffix(_TWIN): [one.excess_low, one.excess_high] for one in attacks},
    )


# Publications, or releases, side by side as a page of its own.


_LOSS = (
    "x = (mean share of all values that a released cell may stand for - 1/h) / (1 - 1/h), h the number of values of "
    "the column. 0: nothing was lost, 1: nothing is left."
)
_EXCESS = "Excess = 1 - (1 - rate) / (1 - control), the control being people who are not in the data."


def check_page(path: Path, force: bool) -> None:
    """Refuse a page that could not be written, before any work."""
    check_report(pdf=False)
    if path.suffix.lower() != ".html":
        raise InputError(f"{path} does not end in .html.", "Name a file that ends in .html.")
    if path.exists() and not force:
        raise InputError(f"{path} is there already.", Message("Replace it with `{force}`."))
    if not path.parent.is_dir():
        raise InputError(f"There is no folder {path.parent}.", "Make it first.")
    check_not_published(path)


def write_comparison(result: Result, path: Path) -> Path:
    """Write a comparison as a page; the same comparison gives the same bytes."""
    write_bytes(path, comparison_html(result).encode(), 0o644)
    return path


def comparison_html(result: Result) -> str:
    """The page: every section."""
    about = "The same figures of each, from its own findings."
    chapters = [Chapter("compare", "Side by side", about, list(result.sections()))]
    return page_html(page_of("Publications side by side", "Compared by shoal", __version__, chapters))


def _exhibits(result: PublicationComparison) -> list[Section]:
    shown = [
        _exhibit(result, "loss_by_column", "Loss by column", "column", _LOSS,
                 "The longer a bar, the less the release still says about people in this column."),
        _exhibit(result, "excess_by_attack", "Excess by attack", "attack", _EXCESS,
                 "The longer a bar, the more a person risks by being in the data."),
    ]  # fmt: skip
    return [one for one in shown if one is not None]


def _exhibit(
    result: PublicationComparison, key: str, title: str, first: str, formula: str, meaning: str
) -> Exhibit | None:
    names = list(dict.fromkeys(name for one in result.publications for name in getattr(one, key)))
    bars: list[BarRow] = []
    for name in names:
        for letter, one in zip(LETTERS, result.publications, strict=False):
            value = getattr(one, key).get(name)
            if value is not None:  # what is below zero by chance is drawn as nothing; the table has it
                bars.append(BarRow(name, max(value, 0.0), letter))
    if not bars:
        return None

    write = excess_words if key == "excess_by_attack" else _loss
    rows = [(name, *(write(one, name) for one in result.publications)) for name in names]
    return Exhibit(
        Chart(BarPicture(tuple(bars), title.lower()), listing(title, rows), title),
        Grid((first, *LETTERS[: len(result.publications)]), rows),
        meaning,
        formula,
    )
