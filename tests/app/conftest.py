"""The app as it runs: a real server in a thread, on a port of its own, with its own temporary folders."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import polars as pl
import pytest
import uvicorn
from fastapi import FastAPI

from shoal.app.project import Settings, Workspace
from shoal.app.server import create_app


@dataclass
class Running:
    """A running app: its address with the secret path, its parts, and a client that scripts would use."""

    origin: str
    app: FastAPI
    settings: Settings
    api: httpx.Client

    @property
    def base(self) -> str:
        return self.origin + self.settings.prefix

    @property
    def port(self) -> str:
        return self.origin.rpartition(":")[2]

    @property
    def project(self) -> Any:
        return self.app.state.project

    @property
    def jobs(self) -> Any:
        return self.app.state.jobs

    def browser(self) -> httpx.Client:
        """A client that went through the token, as a browser does."""
        first = httpx.get(self.base, params={"token": self.settings.token}, timeout=60)
        assert first.status_code == 303
        headers = {"sec-fetch-site": "same-origin", "origin": self.origin}
        return httpx.Client(base_url=self.base, headers=headers, cookies=first.cookies, timeout=60)

    def open(self, path: Path) -> Workspace:
        made: Workspace = self.project.new(path.name, "machine", path)
        return made

    def wait(self, workspace: Workspace, job: Any, seconds: float = 120) -> Any:
        """The job when it is over."""
        until = time.monotonic() + seconds
        while (found := self.jobs.find(workspace.id, job.id)).running:
            assert time.monotonic() < until, found.progress
            time.sleep(0.05)
        with self.jobs._lock:  # held until older runs are removed too
            return found

    def done(self, workspace: Workspace, verb: str, **options: Any) -> Any:
        """Run a verb to its end."""
        job = self.wait(workspace, self.jobs.start(workspace, verb, options))
        assert job.state == "done", job.error
        return job


@contextmanager
def running(settings: Settings) -> Iterator[Running]:
    """Run the app while something is done with it."""
    app = create_app(settings)
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_config=None, access_log=False))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    base = f"http://127.0.0.1:{port}"
    try:
        bearer = {"authorization": f"Bearer {settings.api_token}"}
        with httpx.Client(base_url=base, headers=bearer, timeout=60) as api:
            yield Running(base, app, settings, api)
    finally:
        server.should_exit = True
        thread.join(20)


@pytest.fixture
def own_temporary_folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Temporary projects of a test lie apart from those of others."""
    folder = tmp_path_factory.mktemp("tmp")
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """A small table in a folder that the app may look into."""
    folder = tmp_path / "allowed"
    folder.mkdir()
    path = folder / "people.csv"
    frame = pl.DataFrame(
        {
            "age": [30 + number % 7 for number in range(210)],
            "sex": ["f" if number % 2 else "m" for number in range(210)],
            "zip": [f"021{number % 5:02}" for number in range(210)],
            "illness": [["flu", "cold", "asthma"][number % 3] for number in range(210)],
        }
    )
    frame.write_csv(path)
    return path


@pytest.fixture
def start(own_temporary_folder: Path, people: Path) -> Iterator[Callable[..., Running]]:
    """Start apps that end with the test."""
    from contextlib import ExitStack

    with ExitStack() as stack:

        def started(**settings: Any) -> Running:
            given = {"allow": (people.parent,), **settings}
            return stack.enter_context(running(Settings(**given)))

        yield started


@pytest.fixture
def app(start: Callable[..., Running]) -> Running:
    """The app with its usual settings."""
    return start()
