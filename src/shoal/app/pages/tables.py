"""A release of several tables: its verdict, found afresh, and a page for each table."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from shoal.app.security import REPORT_POLICY
from shoal.app.server import picker_of
from shoal.errors import InputError

router = APIRouter()


@router.get("/tables")
def tables(request: Request) -> HTMLResponse:
    """The verdict on the folder that is named, or the page of one of its tables."""
    from shoal.attacks.verification import verify
    from shoal.releases.table_set import TableSet
    from shoal.reports.tables import table_page, verdict_page

    folder, name = (request.query_params.get(key, "") for key in ("folder", "table"))
    picker_of(request).check_files([folder])
    release = TableSet.find(folder)
    if release is None:
        raise InputError("There is no release of several tables in that folder.", "Name one that `publish` wrote.")
    if name and name not in release.manifest.tables:
        raise InputError("The release has no such table.", "Take one of those that its verdict lists.")
    page = table_page(release.manifest, name) if name else verdict_page(release.manifest, verify(str(release.folder)))
    return HTMLResponse(page, headers={"content-security-policy": REPORT_POLICY})
