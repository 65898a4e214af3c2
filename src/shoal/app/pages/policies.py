"""The policy of a file: downloaded and loaded at any time."""

from __future__ import annotations

import yaml
from fastapi import APIRouter, Request
from fastapi.responses import Response

from shoal.app.opening import keep_policy
from shoal.app.pages.running import back
from shoal.app.server import form_of, picker_of, workspace_of
from shoal.errors import InputError
from shoal.writing import write_bytes

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
async def load(request: Request, identifier: str) -> Response:
    """Take a policy from its text; the library checks it, with lines in its words."""
    from shoal.policy import load_policy

    workspace, form = workspace_of(request, identifier), await form_of(request)
    text = form.get("text", [""])[0]
    if not text.strip():
        raise InputError("There is no policy in the field.", "Paste the text of a policy file, or choose a file.")
    draft = workspace.folder / "loaded-policy.yaml"
    write_bytes(draft, text.encode(), 0o600)
    try:
        keep_policy(workspace, load_policy(draft), picker_of(request))
    except InputError as error:
        what = error.what.replace(f"Policy {draft}", "The policy")
        raise InputError(what, error.cure) from None
    except yaml.YAMLError:
        raise InputError("The policy is not YAML.", "Take the text of a policy file as it is.") from None
    finally:
        draft.unlink(missing_ok=True)
    return back(identifier, form)
