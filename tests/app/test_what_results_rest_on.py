"""What is shown is of the decisions, and of the file, that it was made with; everything else is marked as old."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

from app.conftest import Running
from shoal.app.pages.request import needs_again
from shoal.app.project import Stored, parsed
from shoal.results.sections import Headline

OLD = "of earlier decisions"


def policy(k: int = 5, **more: Any) -> dict[str, Any]:
    roles = {"age": "quasi-identifier", "sex": "quasi-identifier", "illness": "sensitive", "zip": "other"}
    return {"columns": roles, "models": [{"model": "k-anonymity", "k": k}], **more}


def publication(app: Running, workspace: Any, monkeypatch: pytest.MonkeyPatch, **options: Any) -> Any:
    """A publication that holds, written as the verb writes it, without the work."""
    monkeypatch.setattr("shoal.app.jobs.start_child", _asleep)
    job = app.jobs.start(workspace, "publish", options)
    folder = job.folder / "out" / "release"
    folder.mkdir(parents=True)
    (folder / "data.csv").write_text("age\n1\n")
    found = {"verdict": "holds", "output": str(folder), "steps": []}
    Stored(found, "It holds.", [Headline("It holds.", "good")]).write(job.folder / "result.json")
    return job


def _asleep(module: str, folder: Path, stdout: int = -3) -> Any:
    import subprocess
    import sys

    return subprocess.Popen([sys.executable, "-S", "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)


def over(app: Running, workspace: Any, job: Any) -> None:
    app.jobs._running[workspace.id, job.verb][1].stdin.close()
    app.wait(workspace, job)


def test_a_click_while_it_runs_does_not_make_the_result_one_of_later_decisions(
    app: Running, people: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shoal.app.jobs.start_child", _asleep)
    workspace = app.open(people)
    workspace.set_policy(policy(5))
    with app.browser() as client:
        client.timeout = 60
        assert client.post(f"/w/{workspace.id}/check", data={}).status_code == 303
        job = app.jobs.last(workspace, "publish")
        workspace.set_policy(policy(50))
        assert client.post(f"/w/{workspace.id}/check", data={}).status_code == 303
        found = {"verdict": "does not hold", "output": None}
        Stored(found, "No.", [Headline("No.", "bad")]).write(job.folder / "result.json")
        over(app, workspace, job)
        assert app.jobs.last(workspace, "publish").id == job.id
        assert needs_again(workspace, "publish")
        assert OLD in client.get(f"/w/{workspace.id}/check").text
        # back to what it was made with: it is of now again
        workspace.set_policy(parsed(job.policy_text))
        assert not needs_again(workspace, "publish")
        assert OLD not in client.get(f"/w/{workspace.id}/check").text


def test_a_release_is_downloaded_when_it_is_done_and_holds(
    app: Running, people: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = app.open(people)
    address = f"/api/v1/workspaces/{workspace.id}/releases/publish.zip"
    job = publication(app, workspace, monkeypatch)
    assert app.api.get(address).status_code == 404  # it runs
    over(app, workspace, job)
    assert app.api.get(address).status_code == 200
    again = publication(app, workspace, monkeypatch)
    with app.browser() as client:
        client.timeout = 60
        # while another one runs, the one before is whole
        assert len(client.get(f"/w/{workspace.id}/release.zip").content) > 100
    over(app, workspace, again)
    Stored({"verdict": "does not hold", "output": None}, "No.", []).write(again.folder / "result.json")
    assert app.api.get(address).status_code == 404


@pytest.mark.parametrize("change", ["cut", "swapped", "named file", "reading", "failed since", "decide"])
def test_a_release_of_another_file_or_other_decisions_is_old(
    app: Running, people: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    workspace = app.open(people)
    tree = people.with_name("tree.csv")
    tree.write_text("f;*\nm;*\n")
    workspace.set_policy(policy(5, hierarchies={"sex": str(tree)}))
    options = {"decide": {"zip": "identifier"}} if change == "decide" else {}
    over(app, workspace, publication(app, workspace, monkeypatch, **options))
    assert needs_again(workspace, "publish") == (change == "decide")
    if change == "cut":
        people.write_text("".join(people.read_text().splitlines(keepends=True)[:100]))
    if change == "swapped":  # the same size and time, another file
        state, other = people.stat(), people.with_name("other.csv")
        other.write_bytes(people.read_bytes())
        os.utime(other, ns=(state.st_atime_ns, state.st_mtime_ns))
        other.replace(people)
    if change == "named file":
        tree.write_text("f;x;*\nm;x;*\n")
    if change == "reading":
        workspace = workspace.with_reading(type(workspace.reading)(delimiter=","))
    if change == "failed since":  # a run by other decisions that ended badly does not make the one before theirs
        workspace.set_policy(policy(50))
        job = app.jobs.start(workspace, "publish", {})
        over(app, workspace, job)
        assert app.jobs.find(workspace.id, job.id).state == "failed"
    assert needs_again(workspace, "publish")


def test_a_job_works_by_the_policy_of_its_start(app: Running, people: Path) -> None:
    workspace = app.open(people)
    workspace.set_policy({"columns": {"age": "quasi-identifier"}})
    job = app.jobs.start(workspace, "risk", {})
    workspace.set_policy({"columns": {"zip": "quasi-identifier", "sex": "quasi-identifier"}})
    until = time.monotonic() + 120
    while app.jobs.find(workspace.id, job.id).running:
        assert time.monotonic() < until
        time.sleep(0.05)
    assert app.jobs.found(workspace, "risk").result["quasi_identifiers"] == ["age"]
    assert needs_again(workspace, "risk")


def test_a_cure_of_a_draft_is_taken_with_a_button(app: Running, people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.app.jobs.start_child", _asleep)
    workspace = app.open(people)
    workspace.set_policy(policy(5))
    with app.browser() as client:
        client.timeout = 60
        assert client.post(f"/w/{workspace.id}/check", data={}).status_code == 303
        job = app.jobs.last(workspace, "publish")
        file = job.folder / "cure-1.yaml"
        file.write_text(
            "columns: {age: quasi-identifier, sex: quasi-identifier}\nmodels: [{model: k-anonymity, k: 9}]\n"
        )
        words = {
            "words": "ask for k = 9",
            "attack": "linkage",
            "excess": 0.1,
            "limit": 0.2,
            "loss": 0.25,
            "enough": True,
        }
        found = {"verdict": "draft", "output": None, "cures": [{**words, "file": str(file)}]}
        Stored(found, "Draft.", [Headline("Draft.", "bad")]).write(job.folder / "result.json")
        over(app, workspace, job)
        page = client.get(f"/w/{workspace.id}/check").text
        assert "ask for k = 9" in page
        assert "10.0% of 20.0% (linkage)" in page
        assert f'action="{app.settings.prefix}/w/{workspace.id}/cure"' in page
        assert "not there any more" in client.post(f"/w/{workspace.id}/cure", data={"cure": "../secret.yaml"}).text
        assert client.post(f"/w/{workspace.id}/cure", data={"cure": "cure-1.yaml"}).status_code == 303
        assert workspace.policy().models[0].k == 9
        assert app.jobs.last(workspace, "publish").id != job.id or app.jobs.running(workspace)
