"""What `shoal.publish` returns: where the publication is, how each step went, its findings and its report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

from shoal.attacks.cures import TriedCure
from shoal.errors import InputError, Message
from shoal.methods.results import Anonymized
from shoal.policy.manifest import TABLES_MANIFEST
from shoal.releases.table_set import TableSet
from shoal.reports.findings import FindingsDocument, read_findings, typed_findings
from shoal.reports.publication.small_counts import public_edition
from shoal.reports.report import report_html, report_pdf
from shoal.results import (
    Cell,
    Commands,
    Grid,
    Headline,
    Notes,
    Result,
    Section,
    beside,
    left_out,
    where_known,
    without_unknown,
)
from shoal.storage.writing import check_target, failure, write_bytes
from shoal.systems.console import shell_line
from shoal.wording import counted


@dataclass(frozen=True)
class Step:
    """One step: how long it took and how it ended (`done`, `holds`, `refused`, `not possible`, or a verdict)."""

    name: str
    seconds: float
    verdict: str


@dataclass(frozen=True, repr=False)
class Publication(Result):
    """A publication: the folder that may leave, every step, and the findings that its report is made from.

    `verdict` is `holds`; `draft` where an attack goes past its limit and the policy does not accept that, then `output`
    holds the evidence and the report, and no data; or `refused` with the step and the reason: nothing was written.
    """

    name: ClassVar[str] = "publish"

    output: str | None
    verdict: str
    files: dict[str, str | None] = beside(("report", "findings"))
    steps: list[Step] = None  # type: ignore[assignment]
    refusal: str | None = where_known()
    warnings: list[str] | None = where_known()
    # of a draft: what was tried to make it a release
    cures: list[TriedCure] | None = where_known()
    document: FindingsDocument = left_out(default=None)
    result: Anonymized | None = left_out(default=None)
    # the file that was read, quoted for a shell
    original: str | None = left_out(default=None)

    def in_short(self) -> dict[str, Any]:
        """How many records were read and released, in classes of how many at least, and how many steps it took."""
        data, k = self.document.data, (self.document.verification or {}).get("k")
        smallest = {} if self.verdict != "holds" or k is None else {"k": k}
        return {"records": data["records"], "released": data["released"], **smallest, "steps": len(self.steps)}

    @property
    def frame(self) -> Any:
        """The released table, of the kind of frame that came in; None where nothing was released."""
        return None if self.result is None or self.verdict != "holds" else self.result.frame

    @property
    def findings(self) -> dict[str, Any]:
        """What every step found, as JSON."""
        return self.document.to_dict()

    def report(self, path: str | Path, *, public: bool = False, crosswalk: str | None = None) -> Path:
        """Write the report as HTML, or as PDF where the name ends in .pdf."""
        from shoal.reports.report import write_report

        found = public_edition(self.findings) if public else self.findings
        return write_report(found, Path(path), crosswalk=crosswalk)

    def summary(self) -> str:
        """What may be published, or what is left and how to cure or accept it, or why nothing may be."""
        if self.verdict != "holds":
            return self.refusal or "Refused, nothing was written."
        records = counted(self.document.data["released"], "record")
        return f"{records} ready to be published{f' in {self.output}' if self.output else ''}."

    def _worst_attack(self) -> list[str]:
        """What attacks gained, as the report's summary says it."""
        from shoal.reports.chapters.attacks import worst_attack

        worst = worst_attack(typed_findings(self.findings))
        return [] if worst is None else [f"{worst.text[:1].lower()}{worst.text[1:].removesuffix('.')}"]

    def sections(self) -> list[Section]:
        """The verdict, the steps, what attacks gained, and where to look."""
        rows = [(step.name, Cell(step.verdict), f"{step.seconds:.1f}") for step in self.steps]
        tone = "good" if self.verdict == "holds" else "bad"
        shown: list[Section] = [Headline(self.summary(), tone), Grid(("step", "verdict", "seconds"), rows, 2)]  # type: ignore[arg-type]
        shown += [Headline(f"Note: {warning}.", "warning") for warning in self.warnings or []]
        if self.cures:
            shown.insert(1, cures_grid(self.cures))
        if self.output is None:
            return shown
        if self.verdict == "draft":
            shown.append(Notes([f"{self.output} holds the evidence and the report, and no data"]))
            cured = [cure.file for cure in self.cures or [] if cure.file is not None]
            source = self.original or "FILE"
            again = [f"shoal publish {source} --policy {shell_line(file)} -o {self.output}.cured" for file in cured[:1]]
            return [*shown, Commands(again)] if again else shown
        private = f"{Path(self.output).name}.private"
        notes = [
            *self._worst_attack(),
            f"{self.output} may leave; {private} beside it is for its owner only",
            "a tool prepares, a person certifies: read the report, then sign it",
        ]
        return [*shown, Notes(notes), Commands([self._verify_command()])]

    def _verify_command(self) -> str:
        """How to check it, with the table that it was made from."""
        original = f" --original {self.original}" if self.original and not self.document.private_table else ""
        return f"shoal verify {shell_line(str(self.output))}{original}"


def cures_grid(cures: Sequence[TriedCure]) -> Grid:
    """What each cure leaves to attacks and what it costs."""
    rows = [
        (
            cure.words,
            cure.attack or "none",
            Cell(cure.gain, "good" if cure.enough else "bad"),
            f"{cure.loss:.3f}",
            Path(cure.file).name if cure.file else "–",
        )
        for cure in cures
    ]
    heads = ("cure", "worst attack after it", "gains, of the limit", "loss", "policy")
    return without_unknown(Grid(heads, rows, 2, "Cures that were tried", (0,)))


# The report of a publication again, as files: all of them, or none.


def report_files(
    source: str | Path,
    *,
    html: str | Path | None = None,
    pdf: str | Path | None = None,
    crosswalk: str | None = None,
    public: bool = False,
    linked_with: str | Path | None = None,
    person: str | None = None,
    force: bool = False,
) -> list[Path]:
    """Write the report of a folder that `shoal publish` wrote, or of a file of findings, as a page, a PDF, or both.

    `linked_with`: another release about the same people. How many of them can be linked across both, by the pseudonym
    `person`, stands under the attacks, in the owner's report only.
    """
    if html is None and pdf is None:
        raise InputError("No report was asked for.", Message("Name a page with `{html}`, a PDF with `{pdf}`, or both."))
    if person is not None and linked_with is None:
        raise InputError("A pseudonym is named, and no other release.", Message("Name one with `{linked_with}`."))
    html, pdf = (None if path is None else Path(path) for path in (html, pdf))
    for path, ending in ((html, ".html"), (pdf, ".pdf")):
        if path is not None:
            if path.suffix.lower() != ending:
                raise InputError(f"{path} does not end in {ending}.", f"Name a file that ends in {ending}.")
            check_target(path, force, (ending,))
            check_not_published(path)
    if (tables := TableSet.find(source)) is not None:
        return _report_of_tables(tables, html, pdf)
    found = read_findings(source)
    found = public_edition(found) if public else found
    if linked_with is not None:
        found["linked"] = _linked(source, linked_with, person, found["context"].get("edition") == "public")
    made = [] if html is None else [(html, report_html(found, crosswalk).encode())]
    made += [] if pdf is None else [(pdf, report_pdf(found, crosswalk))]
    mode = 0o644 if found["context"].get("edition") == "public" else 0o600
    for path, content in made:
        try:
            write_bytes(path, content, mode)
        except OSError as error:
            raise InputError(f"{path} could not be written: {failure(error)}.", "Choose another place.") from None
    return [path for path, _ in made]


def _linked(source: str | Path, other: str | Path, person: str | None, public: bool) -> list[dict[str, Any]]:
    """Who can be linked across a published folder, named by itself or by its owner's part, and another release."""
    from shoal.reports.publication.compare import linked_releases

    if public:
        raise InputError(
            "Who can be linked across releases is for their owner.",
            "Take the owner's folder, without the public edition.",
        )
    if person is None:
        raise InputError("Nothing says whose record is whose in both.", Message("Name a pseudonym with `{person}`."))
    folder = Path(source) if Path(source).is_dir() else Path(source).parent
    own = folder.with_name(folder.name.removesuffix(".private"))
    return [asdict(linked_releases(own, other, person))]


def _report_of_tables(tables: TableSet, html: Path | None, pdf: Path | None) -> list[Path]:
    """The report of a release of several tables, as one page."""
    if html is None or pdf is not None:
        raise InputError("The report of several tables is a page.", Message("Name one with `{html}`, and no PDF."))
    from shoal.reports.tables import one_page

    write_bytes(html, one_page(tables.manifest).encode(), 0o644)
    return [html]


def check_not_published(path: Path) -> None:
    """Refuse to write into a folder that was published: its manifest has the hash of every file there.

    A manifest without findings is that of a single released file; others may lie beside it.
    """
    folder = path.absolute().parent
    several = (folder / TABLES_MANIFEST).exists()
    if several or ((folder / "findings.json").exists() and any(folder.glob("*.manifest.json"))):
        raise InputError(
            f"{path} lies in a folder that was published, whose manifest would not hold any more.",
            "Write it somewhere else.",
        )
