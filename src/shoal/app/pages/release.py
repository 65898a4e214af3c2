"""Release: what may leave, as one archive; what stays; and the report to read before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response, StreamingResponse

from shoal.app.jobs import last_done, public_files, zipped
from shoal.app.pages.check import findings_of, folder_of, warned
from shoal.app.pages.request import needs_again
from shoal.app.pages.steps import AppStep, back, page, same
from shoal.app.project import Workspace
from shoal.app.security import REPORT_POLICY
from shoal.app.server import Fields, picker_of, project_of, workspace_of
from shoal.errors import InputError
from shoal.policy.manifest import private_folder, read_json
from shoal.wording import counted, in_units

router = APIRouter()
STEP = AppStep(
    "release", "Release", "Hand it over with its report", "Hand it over",
    "The data goes out with a report that says what was done, what was measured and what remains.",
    verbs={"publish": "Releasing, verifying and attacking"}, done_by="publish",
)  # fmt: skip
_WHAT = (
    (".manifest.json", "What was promised, with the hash of the data"),
    (".dictionary.json", "The columns"),
    ("findings.json", "What was measured, for programs"),
    ("report.html", "The report, for people"),
    ("report.pdf", "The same report, to print and sign"),
    ("README.md", "What is in the folder, and how to check it"),
)
_PRIVATE = (
    (".private.json", "What leads back to the rows of the original: the seed of the order, rows left out"),
    ("findings.json", "What was measured, with small counts"),
    ("policy.yaml", "What was decided"),
    ("report.html", "The internal report"),
    ("report.pdf", "The internal report, to print and sign"),
    (".plan.json", "How values were changed, for new data"),
)


@router.get("/w/{identifier}/release")
def release(request: Request, identifier: str) -> HTMLResponse:
    """What may leave and what stays."""
    return _page(request, workspace_of(request, identifier))


@router.post("/w/{identifier}/sign")
def sign(request: Request, identifier: str, form: Fields) -> Response:
    """Sign the release with a key of this machine; the key is read where it lies, and nowhere kept."""
    from shoal.releases.published import sign_release

    workspace = workspace_of(request, identifier)
    key = form.get("key", [""])[0].strip()
    try:
        if not key:
            raise InputError("No key was named.", "Give the path of the private key, such as /home/me/owner.pem.")
        picker_of(request).check_files([key])
        sign_release(_folder(request, identifier), key)
    except InputError as error:
        return _page(request, workspace, error)
    return back(identifier, step="release")


def _page(request: Request, workspace: Workspace, problem: Exception | None = None) -> HTMLResponse:
    folder = folder_of(request, workspace)
    shown: dict[str, Any] | None = None
    if folder is not None:
        released = findings_of(folder).data.released
        shown = {
            "words": f"{counted(released, 'record')}, with all that a receiver needs to check and to understand them.",
            "public": [
                {"name": file.name, "what": _what(file), "size": in_units(file.stat().st_size)}
                for file in sorted(folder.iterdir())
            ],
            "private": str(private_folder(folder)),
            "kept": [
                {"name": file.name, "what": _kept(file), "size": in_units(file.stat().st_size)}
                for file in sorted(private_folder(folder).iterdir())
            ],
            "temporary": project_of(request).temporary,
            "old": needs_again(workspace, "publish"),
            "warning": warned(request, workspace),
            "signed": _public_key(folder),
            "folders": [str(root) for root in picker_of(request).roots],
        }
    signed = {"sign": "owner.pem"} if shown and shown["signed"] else {}
    repeated = same(workspace, ("publish", signed), ("report", {"public": True}))
    return page(request, workspace, "release", same=repeated, release=shown, problem=problem)


def _public_key(folder: Path) -> str | None:
    """The key that the release is signed with, as whoever checks it knows it."""
    manifest = read_json(next(folder.glob("*.manifest.json")), "manifest")  # without a look at the data beside it
    return None if manifest.get("signature") is None else str(manifest["signature"]["public_key"])


def _what(file: Path) -> str:
    return next((words for ending, words in _WHAT if file.name.endswith(ending)), "The data")


def _kept(file: Path) -> str:
    return next((words for ending, words in _PRIVATE if file.name.endswith(ending)), "")


def _folder(request: Request, identifier: str) -> Path:
    folder = folder_of(request, workspace_of(request, identifier))
    if folder is None:
        raise InputError("There is no release yet.", "Release, verify and attack it first.")
    return folder


@router.get("/w/{identifier}/report")
def report(request: Request, identifier: str) -> Response:
    """The public report, for a frame without rights."""
    headers = {"content-security-policy": REPORT_POLICY}
    page = (_folder(request, identifier) / "report.html").read_bytes()
    return Response(page, media_type="text/html", headers=headers)


@router.get("/w/{identifier}/release.zip")
def download(request: Request, identifier: str) -> StreamingResponse:
    """The folder that may leave as one archive, written as it is sent; never the private one."""
    folder = _folder(request, identifier)
    job = last_done(workspace_of(request, identifier), "publish")
    headers = {"content-disposition": 'attachment; filename="release.zip"'}
    files = public_files(job) if job is not None and job.released == folder else []
    return StreamingResponse(zipped(files, folder.parent), media_type="application/zip", headers=headers)


# A release of several tables: its verdict, found afresh, and a page for each table.


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
