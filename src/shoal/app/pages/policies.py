"""The policy of a file: downloaded and loaded at any time."""

from __future__ import annotations

from collections.abc import Callable

from fastapi import APIRouter, Request
from fastapi.responses import Response

from shoal.app.opening import keep_policy
from shoal.app.pages.steps import VerbatimText, back
from shoal.app.project import Workspace
from shoal.app.server import Fields, jobs_of, picker_of, workspace_of
from shoal.errors import InputError
from shoal.policy import Policy

router = APIRouter()


@router.get("/w/{identifier}/policy.yaml")
def download(request: Request, identifier: str) -> Response:
    """The policy as a file."""
    workspace = workspace_of(request, identifier)
    if not workspace.has_policy:
        raise InputError("Nothing is decided yet.", "Decide on the columns first.")
    headers = {"content-disposition": 'attachment; filename="policy.yaml"'}
    return Response(workspace.policy_path.read_bytes(), media_type="application/yaml", headers=headers)


@router.post("/w/{identifier}/policy")
def load(request: Request, identifier: str, form: Fields) -> Response:
    """Take a policy from its text; what is wrong with it is said beside the text, which stays."""
    workspace = workspace_of(request, identifier)
    text = form.get("text", [""])[0]
    try:
        _keep(request, workspace, text)
    except InputError as error:
        request.state.policy_refused = {"text": VerbatimText(text), "what": error.what, "cure": error.cure}
        return _page_of(form.get("step", [""])[0])(request, identifier)
    return back(identifier, form)


def _keep(request: Request, workspace: Workspace, text: str) -> None:
    """Check a policy by itself and against the columns of the file, and keep it."""
    from shoal.policy.loading import policy_from_text

    if not text.strip():
        raise InputError("There is no policy in the field.", "Paste the text of a policy file, or choose a file.")
    try:
        policy = policy_from_text(text, "given")
    except InputError as error:
        raise InputError(error.what.replace("Policy given", "The policy"), error.cure) from None
    _check_columns(request, workspace, policy)
    keep_policy(workspace, policy, picker_of(request))


def _check_columns(request: Request, workspace: Workspace, policy: Policy) -> None:
    """Refuse a policy of another file: one about columns that this one does not have."""
    known = [found for verb in ("propose", "preview") if (found := jobs_of(request).found(workspace, verb)) is not None]
    if not known:
        return  # the file was not read yet: whatever uses the policy says so then
    names = [one if isinstance(one, str) else one["name"] for one in known[0].result["columns"]]
    needed = [name for name, role in policy.columns.items() if role in ("quasi-identifier", "sensitive")]
    missing = [name for name in dict.fromkeys([*needed, *policy.counted_by]) if name not in names]
    if missing:
        raise InputError.missing_columns(missing, names, workspace.name)


def _page_of(key: str) -> Callable[[Request, str], Response]:
    """The page that a form stands on."""
    from shoal.app.pages import check, columns, protect, release, risk

    pages: dict[str, Callable[[Request, str], Response]] = {
        "risk": risk.risk, "protect": protect.protect, "check": check.check, "release": release.release,
    }  # fmt: skip
    return pages.get(key, columns.columns)
