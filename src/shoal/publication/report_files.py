"""The report of a publication again, as files: all of them, or none."""

from __future__ import annotations

from pathlib import Path

from shoal.errors import InputError
from shoal.publication.small_counts import public_edition
from shoal.reports.findings import read_findings
from shoal.reports.report import report_html, report_pdf
from shoal.writing import check_target, failure, write_bytes


def report_files(
    source: str | Path,
    *,
    html: Path | None = None,
    pdf: Path | None = None,
    crosswalk: str | None = None,
    public: bool = False,
    force: bool = False,
) -> list[Path]:
    """Write the report of a folder that `shoal publish` wrote, or of a file of findings, as a page, a PDF, or both."""
    if html is None and pdf is None:
        raise InputError("No report was asked for.", "Name a page with -o, a PDF with --pdf, or both.")
    for path, ending in ((html, ".html"), (pdf, ".pdf")):
        if path is not None:
            if path.suffix.lower() != ending:
                raise InputError(f"{path} does not end in {ending}.", f"Name a file that ends in {ending}.")
            check_target(path, force, (ending,))
            check_not_published(path)
    found = read_findings(source)
    found = public_edition(found) if public else found
    made = [] if html is None else [(html, report_html(found, crosswalk).encode())]
    made += [] if pdf is None else [(pdf, report_pdf(found, crosswalk))]
    mode = 0o644 if found["context"].get("edition") == "public" else 0o600
    for path, content in made:
        try:
            write_bytes(path, content, mode)
        except OSError as error:
            raise InputError(f"{path} could not be written: {failure(error)}.", "Choose another place.") from None
    return [path for path, _ in made]


def check_not_published(path: Path) -> None:
    """Refuse to write into a folder that was published: its manifest has the hash of every file there.

    A manifest without findings is that of a single released file; others may lie beside it.
    """
    folder = path.absolute().parent
    if (folder / "findings.json").exists() and any(folder.glob("*.manifest.json")):
        raise InputError(
            f"{path} lies in a folder that was published, whose manifest would not hold any more.",
            "Write it somewhere else.",
        )
