"""schemathesis over the API: no request that fits its description, or does not, breaks it; answers are as described."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]


def idle_child(module: str, folder: Path, stdout: int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
    """A process in the place of a worker that ends at once: here only the border of the API is tried."""
    return subprocess.Popen(
        [sys.executable, "-S", "-c", "pass"], stdin=subprocess.PIPE, stdout=stdout, start_new_session=True
    )


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=["fitting", "not-fitting"])
def test_requests_of_every_kind(app: Any, people: Path, monkeypatch: pytest.MonkeyPatch, mode: GenerationMode) -> None:
    for place in ("shoal.app.jobs.start_child", "shoal.app.server.start_child"):
        monkeypatch.setattr(place, idle_child)
    workspace = app.open(people)
    described = schemathesis.openapi.from_dict(app.api.get("/api/v1/openapi.json").json())
    operations = [found.ok() for found in described.get_all_operations()]
    assert len(operations) > 40
    headers = {"authorization": f"Bearer {app.settings.api_token}"}
    for operation in operations:
        if mode is GenerationMode.NEGATIVE and not (operation.body or operation.path_parameters or operation.query):
            continue

        @given(case=operation.as_strategy(generation_mode=mode))
        @settings(
            max_examples=3, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck)
        )
        def check(case: Any) -> None:
            closes = case.method == "DELETE" and case.path.endswith("{workspace}")
            if "workspace" in (case.path_parameters or {}) and mode is GenerationMode.POSITIVE and not closes:
                case.path_parameters["workspace"] = workspace.id
            case.call_and_validate(base_url=app.base, headers=headers, checks=CHECKS)

        check()
    assert app.project.workspace(workspace.id) is not None
