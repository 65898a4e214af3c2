"""Jobs: real processes, with progress, a real end, and nothing left behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from shoal.app.jobs import Busy, Job, Jobs
from shoal.app.project import Project, Stored, section_from_json, section_to_json


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "Z" not in Path(f"/proc/{pid}/stat").read_text().split()[2] if Path("/proc").exists() else True


@pytest.fixture
def slow(people: Path) -> Path:
    """A wide table on which `detect` searches for long."""
    path = people.with_name("wide.csv")
    drawn = np.random.default_rng(0).integers(0, 6, (24, 20_000))
    frame = pl.DataFrame({f"c{place}": column for place, column in enumerate(drawn)})
    frame.write_csv(path)
    return path


def child_of(app: Any, workspace: Any, verb: str) -> Any:
    return app.jobs._running[workspace.id, verb][1]


def test_cancel_ends_the_process_and_leaves_nothing(app: Any, slow: Path) -> None:
    workspace = app.open(slow)
    job = app.jobs.start(workspace, "detect", {"max_size": 12, "time_limit": 600})
    child = child_of(app, workspace, "detect")
    until = time.monotonic() + 60
    while job.progress["step"] == "starting":
        assert time.monotonic() < until
        assert app.jobs.find(workspace.id, job.id).running
        time.sleep(0.02)
    assert alive(child.pid)
    cancelled = app.api.delete(f"/api/v1/workspaces/{workspace.id}/jobs/{job.id}").json()
    assert cancelled["state"] == "cancelled"
    assert not alive(child.pid)
    assert [path.name for path in job.folder.iterdir()] == ["job.json"]
    assert app.api.get(f"/api/v1/workspaces/{workspace.id}/detect").status_code == 404
    assert app.jobs.cancel(job).state == "cancelled"  # again is nothing
    assert app.done(workspace, "profile").state == "done"


def test_one_job_per_file_and_verb(app: Any, slow: Path) -> None:
    workspace, other = app.open(slow), app.open(slow)
    job = app.jobs.start(workspace, "detect", {"max_size": 12, "time_limit": 600})
    with pytest.raises(Busy):
        app.jobs.start(workspace, "detect", {})
    assert app.api.post(f"/api/v1/workspaces/{workspace.id}/detect", json={}).status_code == 409
    second = app.jobs.start(other, "detect", {"max_size": 12, "time_limit": 600})
    app.jobs.cancel(job)
    assert app.jobs.find(other.id, second.id).running
    children = [child_of(app, other, "detect")]
    assert app.api.delete(f"/api/v1/workspaces/{other.id}").status_code == 204
    assert not any(alive(child.pid) for child in children)


def test_the_last_run_of_a_verb_replaces_the_one_before(app: Any, people: Path) -> None:
    workspace = app.open(people)
    first = app.done(workspace, "risk", qi=["age"])
    failed = app.wait(workspace, app.jobs.start(workspace, "risk", {"qi": ["nothing"]}))
    assert failed.state == "failed"
    assert app.jobs.found(workspace, "risk").result["quasi_identifiers"] == ["age"]
    app.done(workspace, "risk", qi=["zip"])
    assert app.jobs.found(workspace, "risk").result["quasi_identifiers"] == ["zip"]
    assert not first.folder.exists()
    assert not failed.folder.exists()


def test_children_end_with_the_app(start: Callable[..., Any], slow: Path, tmp_path: Path) -> None:
    """Also when it is killed: their input is closed then."""
    code = (
        "import sys, time\nfrom pathlib import Path\nfrom shoal.app.jobs import Jobs\n"
        "from shoal.app.project import Project\n"
        f"project = Project.open(Path({str(tmp_path / 'kept')!r}))\njobs = Jobs(project)\n"
        f"workspace = project.new('w.csv', 'machine', Path({str(slow)!r}))\n"
        "job = jobs.start(workspace, 'detect', {'max_size': 12, 'time_limit': 600})\n"
        "print(jobs._running[workspace.id, 'detect'][1].pid, flush=True)\ntime.sleep(600)\n"
    )
    server = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    pid = int(server.stdout.readline())
    time.sleep(0.5)
    assert alive(pid)
    server.kill()
    server.communicate()
    until = time.monotonic() + 20
    while alive(pid):
        assert time.monotonic() < until
        time.sleep(0.05)
    project = Project.open(tmp_path / "kept")
    (workspace,) = project.workspaces()
    (job,) = Jobs(project).of(workspace)
    assert job.state == "failed"
    assert job.error is not None
    assert "ended while" in job.error["error"]
    assert [path.name for path in job.folder.iterdir()] == ["job.json"]
    project.close()


def test_a_child_that_dies_is_said_so(app: Any, slow: Path) -> None:
    workspace = app.open(slow)
    job = app.jobs.start(workspace, "detect", {"max_size": 12, "time_limit": 600})
    child_of(app, workspace, "detect").kill()
    ended = app.wait(workspace, job)
    assert ended.state == "failed"
    assert "signal 9" in ended.error["error"]
    assert "memory" in ended.error["cure"]


def test_results_survive_a_restart(start: Callable[..., Any], people: Path, tmp_path: Path) -> None:
    app = start(project=tmp_path / "kept")
    workspace = app.open(people)
    app.done(workspace, "risk", qi=["age", "zip"])
    before: Stored = app.jobs.found(workspace, "risk")
    app.app.state.project.close()
    again = Jobs(Project.open(tmp_path / "kept"))
    after = again.found(again.project.workspaces()[0], "risk")
    assert after == before
    again.project.close()


@pytest.mark.parametrize("verb", ["profile", "risk", "detect", "leak"])
def test_sections_read_back_as_they_were(tmp_path: Path, verb: str) -> None:
    from results_cases import CASES

    sections = CASES[verb](tmp_path).result.sections()
    assert len(sections) > 1
    for section in sections:
        read = section_from_json(json.loads(json.dumps(section_to_json(section))))
        assert section_to_json(read) == section_to_json(section)
        assert type(read) is type(section)


def test_a_record_of_a_job_shows_no_values() -> None:
    job = Job(Path("/secret-folder"), "0" * 16, "1" * 16, "risk", {"qi": ["secret"]}, "running", 0.0)
    assert "secret" not in repr(job)
