"""Uploads: streamed, limited, named by us; what is not a table is refused in the library's words."""

from __future__ import annotations

import contextlib
import gzip
import io
import time
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

import httpx


def upload(app: Any, name: str, content: Any) -> httpx.Response:
    found: httpx.Response = app.api.put("/api/v1/uploads", params={"name": name}, content=content)
    return found


def test_an_upload_becomes_a_file_of_ours(app: Any) -> None:
    made = upload(app, "../../x/people.csv", b"age,zip\n30,1\n31,2\n")
    assert made.status_code == 201
    workspace = app.project.workspace(made.json()["id"])
    assert made.json()["name"] == "people.csv"
    assert workspace.source == workspace.folder / "source" / "data.csv"
    assert app.done(workspace, "risk", qi=["age"]).stored.result["uniques"] == 2
    assert app.done(workspace, "preview").stored.result["rows"] == [["30", "1"], ["31", "2"]]


def test_an_upload_over_the_limit_leaves_nothing(start: Callable[..., Any]) -> None:
    app = start(upload_limit=1_000)
    assert upload(app, "a.csv", b"x" * 1_001).status_code == 413
    assert app.project.workspaces() == []

    def unannounced() -> Iterator[bytes]:
        for _ in range(30):
            yield b"x" * 100

    refused = upload(app, "a.csv", unannounced())
    assert refused.status_code == 413
    assert set(refused.json()) == {"error", "cure"}
    assert list((app.project.folder / "w").iterdir()) == []
    assert upload(app, "a.csv", b"x" * 1_000).status_code == 201


def test_an_empty_upload_is_refused(app: Any) -> None:
    refused = upload(app, "a.csv", b"")
    assert refused.status_code == 422
    assert "empty" in refused.json()["error"]
    assert list((app.project.folder / "w").iterdir()) == []


def test_an_upload_that_breaks_off_leaves_nothing(app: Any) -> None:
    def broken() -> Iterator[bytes]:
        yield b"age,zip\n"
        raise RuntimeError

    with contextlib.suppress(RuntimeError):
        upload(app, "a.csv", broken())
    until = time.monotonic() + 20
    while list((app.project.folder / "w").iterdir()) and time.monotonic() < until:
        time.sleep(0.05)
    assert list((app.project.folder / "w").iterdir()) == []


def test_a_zip_bomb_is_not_unpacked(app: Any) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.csv", b"0" * 50_000_000)
    for name in ("bomb.zip", "bomb.csv"):
        workspace = app.project.workspace(upload(app, name, packed.getvalue()).json()["id"])
        job = app.wait(workspace, app.jobs.start(workspace, "preview"))
        assert job.state == "failed"
        assert "ZIP archive" in job.error["error"]


def test_a_gzip_bomb_is_refused_by_the_librarys_limits(app: Any) -> None:
    """One line of 150 MB in 150 kB: no record is as long as that."""
    workspace = app.project.workspace(upload(app, "a.csv.gz", gzip.compress(b"0" * 150_000_000, 9)).json()["id"])
    job = app.wait(workspace, app.jobs.start(workspace, "profile"))
    assert job.state == "failed"
    assert "bug" not in job.error["error"]


def test_what_is_not_a_table_is_said_so(app: Any) -> None:
    for name, content in (
        ("a.parquet", b"PAR1 not really"),
        ("a.xlsx", b"PK\x03\x04"),
        ("a.csv", b"\x00\x01\x02\xff" * 50),
    ):
        workspace = app.project.workspace(upload(app, name, content).json()["id"])
        job = app.wait(workspace, app.jobs.start(workspace, "profile"))
        assert job.state == "failed"
        assert "bug" not in job.error["error"]
