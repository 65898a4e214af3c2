"""A document as files: JSON, CSV, pictures and the page, all of them or none.

Names start with the document's key, so that several documents share a folder: `a.html`, `a.json`, `a-fig-1.svg`.
"""

from __future__ import annotations

import csv
import io
import json
import os
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from shoal import progress
from shoal.errors import InputError
from shoal.reports.exhibit import Document, Exhibit, Number
from shoal.reports.page import page
from shoal.writing import give_usual_rights, sync


def check_folder(folder: Path, keys: Sequence[str], force: bool, charts: bool) -> None:
    """Refuse a folder that cannot be filled, before any work is done for it."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file.", "Name a folder.")
    if not folder.exists() and not folder.absolute().parent.is_dir():
        raise InputError(f"There is no folder {folder.absolute().parent}.", "Make it first.")
    if not os.access(folder if folder.exists() else folder.absolute().parent, os.W_OK):
        raise InputError(f"{folder} cannot be written to.", "Choose another folder.")
    there = [f"{key}.html" for key in keys if (folder / f"{key}.html").exists()]
    if there and not force:
        raise InputError(f"{folder / there[0]} exists already.", "Replace it with force.")
    if charts:
        from shoal.reports.charts import check_drawing

        check_drawing()


def contents(document: Document, charts: bool = True) -> dict[str, bytes]:
    """All files of a document by name, the page last: where it is, all the others are."""
    key = document.key
    files = {f"{key}.json": _json(document)}
    for name, (header, rows) in document.tables.items():
        files[f"{key}-{name}.csv"] = _csv(header, rows)
    for exhibit in document.exhibits:
        if exhibit.rows:
            files[f"{key}-{exhibit.key}.csv"] = _csv(exhibit.header, exhibit.rows)
    pictures: dict[str, str] = {}
    if charts:
        for exhibit, svg, png in _drawn(document.exhibits):
            pictures[exhibit.key] = svg
            files[f"{key}-{exhibit.key}.svg"] = svg.encode()
            files[f"{key}-{exhibit.key}.png"] = png
    files[f"{key}.html"] = page(document, pictures).encode()
    return files


def _drawn(exhibits: Sequence[Exhibit]) -> Iterable[tuple[Exhibit, str, bytes]]:
    from shoal.reports.pictures import draw

    with_chart = [(exhibit, exhibit.chart) for exhibit in exhibits if exhibit.chart is not None]
    for number, (exhibit, chart) in enumerate(with_chart):
        progress.report("drawing", number, len(with_chart))
        picture = draw(chart())
        yield exhibit, picture.svg, picture.png


def write_folder(folder: Path, files: dict[str, bytes]) -> None:
    """Write files into a folder, made if it is not there: all take their names at the end, or none does.

    Drafts are written beside the targets. What was replaced comes back if a later file cannot take its name.
    """
    made = not folder.exists()
    drafts: dict[Path, Path] = {}
    kept: dict[Path, Path] = {}
    placed: list[Path] = []
    try:
        folder.mkdir(exist_ok=True)
        for name, content in files.items():
            drafts[folder / name] = _draft(folder, content)
        for target, draft in drafts.items():
            if target.exists():
                kept[target] = _draft(folder, b"")
                target.replace(kept[target])
            draft.replace(target)
            placed.append(target)
    except BaseException as error:
        for target in placed:
            target.unlink(missing_ok=True)
        for target, old in kept.items():
            old.replace(target)
        kept.clear()
        if isinstance(error, OSError):
            raise InputError(f"{folder} could not be written: {error.strerror}.", "Nothing was written.") from None
        raise
    finally:
        for leftover in (*drafts.values(), *kept.values()):
            leftover.unlink(missing_ok=True)
        if made and folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


def _draft(folder: Path, content: bytes) -> Path:
    handle, name = tempfile.mkstemp(prefix=".draft-", dir=folder)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
    draft = Path(name)
    sync(draft)
    give_usual_rights(draft)
    return draft


def _json(document: Document) -> bytes:
    return (json.dumps(document.data, ensure_ascii=False, indent=1) + "\n").encode()


def _csv(header: Sequence[str], rows: Iterable[Sequence[Number]]) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue().encode()
