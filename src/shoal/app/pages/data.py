"""Data: the table as it was read, page by page, and how to read it otherwise."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response
from pydantic import ValidationError

from shoal.app.opening import allowed_reading
from shoal.app.pages.request import ensure, needs_again
from shoal.app.pages.steps import AppStep, back, page, same
from shoal.app.project import FileReading, Workspace
from shoal.app.server import Fields, jobs_of, picker_of, render, workspace_of
from shoal.detection.profiles import ColumnProfile, Profile
from shoal.errors import InputError
from shoal.wording import percent

router = APIRouter()
STEP = AppStep(
    "data", "Data", "What is in the file", "Is this your table?",
    "Everything that follows rests on how the file was read: look at it before you go on.",
    verbs={
        "sample-data": "Making the example", "preview": "Reading the file", "propose": "Looking at the columns",
    },
    done_by="propose",
)  # fmt: skip
ROWS_SHOWN, _ROWS_KEPT = 50, 1_000
_DELIMITERS = (("", "As found in the file"), (",", "Comma"), (";", "Semicolon"), ("\t", "Tab"), ("|", "Bar"))
_ENCODINGS = (
    ("", "As found in the file"),
    ("utf-8", "UTF-8"),
    ("cp1252", "Western European (Windows-1252)"),
    ("latin-1", "Latin 1"),
    ("cp1250", "Central European (Windows-1250)"),
    ("utf-16", "UTF-16"),
    ("utf-16-le", "UTF-16 without its mark, little-endian (utf-16-le)"),
    ("utf-16-be", "UTF-16 without its mark, big-endian (utf-16-be)"),
    ("shift_jis", "Japanese (shift_jis)"),
    ("gb18030", "Chinese (gb18030)"),
)


@router.get("/w/{identifier}/data")
def data(request: Request, identifier: str, first: int = 0) -> HTMLResponse:
    """The table as it was read."""
    workspace = workspace_of(request, identifier)
    ensure(request, workspace, "preview", {"rows": _ROWS_KEPT})
    ensure(request, workspace, "propose")
    found = None if needs_again(workspace, "propose") else jobs_of(request).found(workspace, "propose")
    result = found.typed(Profile) if found else None
    return page(
        request,
        workspace,
        "data",
        same=same(workspace, *_opened(workspace, request), ("profile", {})),
        overview=None if result is None else _overview(result),
        preview=_preview(request, workspace, first),
        reading=_reading(workspace, result),
    )


@router.get("/w/{identifier}/rows")
def rows(request: Request, identifier: str, first: int = 0) -> HTMLResponse:
    """One page of records."""
    workspace = workspace_of(request, identifier)
    return render(request, "rows.html", workspace=workspace, preview=_preview(request, workspace, first))


def _preview(request: Request, workspace: Workspace, first: int) -> dict[str, Any] | None:
    found = None if needs_again(workspace, "preview") else jobs_of(request).found(workspace, "preview")
    if found is None:
        return None
    profile = jobs_of(request).found(workspace, "propose")
    result = None if profile is None else profile.typed(Profile)
    known = {} if result is None else {column.name: column for column in result.columns}
    everything = found.result["rows"]
    first = min(max(first, 0), max(len(everything) - 1, 0)) // ROWS_SHOWN * ROWS_SHOWN
    shown = everything[first : first + ROWS_SHOWN]
    records = None if result is None else result.records
    whole = records is not None and records <= len(everything)
    return {
        "columns": [_head(name, known.get(name)) for name in found.result["columns"]],
        "rows": shown,
        "first": first + 1 if shown else 0,
        "last": first + len(shown),
        "before": first - ROWS_SHOWN if first else None,
        "after": first + ROWS_SHOWN if first + ROWS_SHOWN < len(everything) else None,
        "of": f"of {records:,}" if whole else _of_more(len(everything), records),
    }


def _of_more(kept: int, records: int | None) -> str:
    """Of how many records a page of them is.

    >>> _of_more(1000, 20000)
    'of the first 1,000; the other 19,000 are counted, not shown'
    """
    more = "" if records is None else f"; the other {records - kept:,} are counted, not shown"
    return f"of the first {kept:,}{more}"


def _head(name: str, column: ColumnProfile | None) -> dict[str, Any]:
    kind = column.type if column else ""
    missing = f"{column.nulls:,} missing" if column and column.nulls else ""
    return {"name": name, "type": kind, "missing": missing, "number": kind in ("integer", "number")}


def _opened(workspace: Workspace, request: Request) -> list[tuple[str, dict[str, Any]]]:
    """How the example came to be; a file of one's own is there already."""
    made = jobs_of(request).last(workspace, "sample-data")
    return [] if made is None else [("sample-data", made.options)]


def _overview(result: Profile) -> list[dict[str, str]]:
    cells = result.records * len(result.columns)
    missing = sum(column.nulls for column in result.columns)
    with_missing = sum(column.nulls > 0 for column in result.columns)
    return [
        {"name": "records", "value": f"{result.records:,}", "note": ""},
        {"name": "columns", "value": f"{len(result.columns):,}", "note": ""},
        {"name": "values are missing", "value": f"{missing:,}",
         "note": f"{percent(missing / cells)} of all, in {with_missing} of the columns" if missing else ""},
    ]  # fmt: skip


def _reading(workspace: Workspace, result: Profile | None) -> dict[str, Any]:
    given = workspace.reading
    ending = "".join(workspace.source.suffixes[-2:]).lower()
    text = any(part in ending for part in (".csv", ".tsv", ".txt", ".tab", ".psv"))
    usual = "Text with a header line, in UTF-8, columns separated by commas, as is usual."
    notes = [] if result is None else result.notes
    return {
        "found": f"A {ending.strip('.').upper()} file." if not text else "Text with a header line." if notes else usual,
        "notes": notes,
        "delimiters": _DELIMITERS,
        "delimiter": given.delimiter or "",
        "encodings": _ENCODINGS,
        "encoding": given.encoding or "",
        "missing": ", ".join(given.missing),
        "codebook": given.codebook or "",
    }


@router.post("/w/{identifier}/reading")
def read_otherwise(request: Request, identifier: str, form: Fields) -> Response:
    """Keep other options of reading; everything about the file is counted again."""
    workspace = workspace_of(request, identifier)
    words = [word.strip() for word in form.get("missing", [""])[0].split(",")]
    encoding, delimiter = (form.get(name, [""])[0] for name in ("encoding", "delimiter"))
    given: dict[str, Any] = {
        "encoding": encoding or None,
        "delimiter": delimiter or None,
        "missing": [word for word in words if word],
        "codebook": form.get("codebook", [""])[0].strip() or None,
    }
    try:
        how = FileReading(**given)
    except ValidationError:
        raise InputError(
            "This is not a way to read a file.", "Choose an encoding and one character between columns from the lists."
        ) from None
    workspace.with_reading(allowed_reading(how, picker_of(request)))
    return back(identifier, step="data")
