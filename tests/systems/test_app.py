"""The app on macOS and Windows: pages with a token, an upload, jobs through the API, and an end that leaves nothing."""

from __future__ import annotations

import io
import re
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import polars as pl
import pytest

from accepted import ACCEPTED
from systems.conftest import environment

POLICY = {
    "columns": {"age": "quasi-identifier", "sex": "quasi-identifier", "illness": "sensitive"},
    "models": [{"model": "k-anonymity", "k": 3}],
    "attacks": ACCEPTED,
}


@contextmanager
def running(system: str, folder: Path, temporary: Path) -> Iterator[tuple[str, str, httpx.Client]]:
    """The app as its command starts it: its address, its token, and a client of the API."""
    command = [sys.executable, "-m", "shoal", "app", "--no-browser", "--allow", str(folder)]
    told = {**environment(system, temporary), "PYTHONUNBUFFERED": "1"}
    app = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=told)
    try:
        assert app.stdout is not None
        lines = [app.stdout.readline().decode("cp1252") for _ in range(3)]
        found = re.search(r"((http://127\.0\.0\.1:\d+)/[\w-]+)/\?token=(\S+)", lines[0])
        key = re.search(r"cat ([^)]+)\)", lines[2])
        assert found, lines
        assert key, lines
        bearer = {"authorization": f"Bearer {Path(key[1].strip(chr(34) + chr(39))).read_text('ascii')}"}
        with httpx.Client(base_url=found[2], headers=bearer, timeout=60) as api:
            yield found[1], found[3], api
    finally:
        app.send_signal(signal.SIGINT)
        app.communicate(timeout=60)


def over(api: httpx.Client, workspace: str, verb: str, **options: Any) -> Any:
    started = api.post(f"/api/v1/workspaces/{workspace}/{verb}", json=options)
    assert started.status_code == 202, started.text
    place = f"/api/v1/workspaces/{workspace}/jobs/{started.json()['id']}"
    while (found := api.get(place).json())["state"] == "running":
        time.sleep(0.05)
    assert found["state"] == "done", found
    return api.get(f"/api/v1/workspaces/{workspace}/{verb}").json()


@pytest.mark.parametrize("system", ["win32", pytest.param("darwin", marks=pytest.mark.slow)])
def test_from_a_file_to_a_release(system: str, tmp_path: Path, temporary: Path) -> None:
    rows = range(60)
    people = pl.DataFrame(
        {
            "age": [20 + row * 7 % 50 for row in rows],
            "sex": ["f" if row % 2 else "m" for row in rows],
            "illness": [["flu", "cold", "asthma"][row % 3] for row in rows],
        }
    )
    people.write_csv(tmp_path / "people.csv")
    with running(system, tmp_path, temporary) as (base, token, api):
        with httpx.Client(base_url=base, timeout=60, follow_redirects=True) as browser:
            assert browser.get("/", params={"token": token}).status_code == 200
            assert "people.csv" in browser.get("/").text
            sent = api.put("/api/v1/uploads", params={"name": "people.csv"}, content=people.write_csv().encode())
            workspace = sent.json()["id"]
            assert api.put(f"/api/v1/workspaces/{workspace}/policy", json=POLICY).status_code == 200
            assert over(api, workspace, "risk", qi=["age", "sex"])["records"] == 60
            known = api.post(f"/api/v1/workspaces/{workspace}/knowledge", json={"known": ["age", "sex"]})
            assert known.status_code == 200, known.text
            assert over(api, workspace, "publish", no_pdf=True, seed=1)["verdict"] == "holds"
            assert over(api, workspace, "publish", no_pdf=True, seed=2)["verdict"] == "holds"
            released = api.get(f"/api/v1/workspaces/{workspace}/releases/publish.zip")
            assert "release/data.csv" in zipfile.ZipFile(io.BytesIO(released.content)).namelist()
            for page in ("data", "columns", "risk", "protect", "check", "release"):
                assert browser.get(f"/w/{workspace}/{page}").status_code == 200, page
        slow = api.post(f"/api/v1/workspaces/{workspace}/attack", json={}).json()
        ended = api.delete(f"/api/v1/workspaces/{workspace}/jobs/{slow['id']}").json()
        assert ended["state"] == "cancelled"
        assert api.delete(f"/api/v1/workspaces/{workspace}").status_code == 204
    assert [path.name for path in temporary.rglob("*") if not path.name.startswith("shoal-app-")] == []
