"""Odd requests are refused in words: never a bug, never half accepted, never at the cost of other pages."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.conftest import Running

POLICY = {"columns": {"age": "quasi-identifier", "sex": "quasi-identifier", "illness": "sensitive"}}
LONG = "9" * 5_000
GOAL = {"k": "5", "threshold": "0.2", "method": "", "suppression": "0"}


@pytest.fixture
def client(app: Running) -> Any:
    with app.browser() as made:
        made.timeout = 60
        yield made


def test_forms_with_what_is_not_a_choice(app: Running, people: Path, client: httpx.Client) -> None:
    workspace = app.open(people)
    workspace.set_policy(POLICY)
    before = workspace.policy_text
    forms: list[tuple[str, dict[str, str]]] = [
        *(("protect", {**GOAL, "k": k}) for k in ("nan", "inf", "1e308", "5.7", "<b>", LONG)),
        *(("protect", {**GOAL, name: "nan"}) for name in ("suppression", "threshold", "t")),
        ("protect", {**GOAL, "suppression": "inf"}),
        ("protect", {**GOAL, "l": "inf"}),
        ("hierarchy/build", {"kind": "bogus", "column": "0"}),
        *(("hierarchy/build", {"column": "0", "width": width}) for width in ("nan", "-1", "1e309", "x")),
        ("hierarchy/build", {"column": LONG}),
        ("hierarchy/build", {"column": "0", "cut": LONG}),
        ("hierarchy", {"column": "0", "text": "x" * 200_000 + ";*"}),
        ("reading", {"encoding": "a\0b"}),
        ("reading", {"encoding": "x" * 100}),
        ("reading", {"delimiter": "ab"}),
        ("policy", {"step": "check", "text": 'context: {title: "\\ud800"}'}),
    ]
    for name, fields in forms:
        answer = client.post(f"/w/{workspace.id}/{name}", data=fields)
        assert answer.status_code == 422, (name, str(fields)[:80])
        assert "bug in shoal" not in answer.text
    assert workspace.policy_text == before
    assert app.jobs.of(workspace) == []
    refused = client.post(f"/w/{workspace.id}/protect", data={**GOAL, "start": "1", "prefer": "bogus"})
    assert (refused.status_code, app.jobs.of(workspace)) == (422, [])
    assert client.get(f"/w/{workspace.id}/knowledge?know={LONG}").status_code == 422


def test_half_a_character_is_not_text(app: Running, people: Path) -> None:
    workspace = app.open(people)
    base = f"/api/v1/workspaces/{workspace.id}"
    json = {"content-type": "application/json"}
    for method, address, body in (
        ("POST", f"{base}/risk", '{"qi": ["\\ud800"]}'),
        ("POST", f"{base}/hierarchy-check", '{"column": "age", "rows": [["\\uDFFF", "*"]]}'),
        ("PUT", f"{base}/policy", '{"hierarchies": {"age": "\\ud800"}}'),
        ("PUT", f"{base}/policy", '{"context": {"title": "\\ud800"}}'),
        ("POST", "/api/v1/workspaces", '{"place": "0/\\ud800"}'),
        ("PUT", f"{base}/reading", '{"missing": ["\\ud800"]}'),
    ):
        answer = app.api.request(method, address, content=body, headers=json)
        assert answer.status_code == 422, (address, answer.text)
        assert answer.json()["cure"]
    assert app.api.get(f"{base}/jobs").json() == []
    whole = app.api.put(f"{base}/policy", content='{"context": {"title": "\\ud83d\\ude00"}}', headers=json)
    assert (whole.status_code, whole.json()["context"]["title"]) == (200, "\U0001f600")


def test_addresses_and_bodies_that_are_none(app: Running, client: httpx.Client) -> None:
    port = app.port
    for host in (f"127.0.0.1:{LONG}", f"127.0.0.1:0{port * 3}"):
        assert app.api.get("/api/v1/", headers={"host": host}).status_code == 421
    assert client.get("/?xtoken=1").status_code == 200
    assert client.get("/?token=1").headers["location"] == f"{app.settings.prefix}/"
    assert app.api.get("/api/v1/files", params={"place": f"{LONG}/a.csv"}).status_code == 422
    for body in ("{", "\xff", "[" * 100_000):
        given = {"content-type": "application/json"}
        answer = app.api.post("/api/v1/workspaces", content=body.encode("latin-1"), headers=given)
        assert answer.status_code in (400, 422)
        assert answer.json()["cure"]


def test_failures_name_the_file_as_its_owner_does_and_say_what_is_known(app: Running) -> None:
    made = app.api.put("/api/v1/uploads", params={"name": "my people.parquet"}, content=b"PAR1 this is not one PAR1")
    workspace = app.project.workspace(made.json()["id"])
    job = app.wait(workspace, app.jobs.start(workspace, "profile", {}))
    assert job.state == "failed"
    assert str(workspace.folder) not in str(job.error)
    job = app.jobs.start(workspace, "profile", {})
    os.kill(app.jobs._running[workspace.id, "profile"][1].pid, signal.SIGKILL)
    assert "signal 9" in app.wait(workspace, job).error["error"]


def test_a_long_policy_stops_no_other_page_and_is_parsed_once(
    app: Running, people: Path, client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    import shoal.policy.loading as loading

    workspace, parse, runs = app.open(people), loading.policy_from_text, []
    going, go_on = threading.Event(), threading.Event()

    def slowly(text: str, path: Any) -> Any:
        runs.append(path)
        going.set()
        assert go_on.wait(60)
        return parse(text, path)

    monkeypatch.setattr(loading, "policy_from_text", slowly)
    text = "columns: {age: quasi-identifier, sex: quasi-identifier}\n# once"
    answers: list[int] = []

    def load() -> None:
        answers.append(client.post(f"/w/{workspace.id}/policy", data={"text": text, "step": "data"}).status_code)

    loading = threading.Thread(target=load)
    loading.start()
    assert going.wait(60)
    assert app.api.get("/api/v1/").status_code == 200  # while it is parsed
    go_on.set()
    loading.join(60)
    assert answers == [303]
    for step in ("protect", "check", "release"):
        assert client.get(f"/w/{workspace.id}/{step}").status_code == 200
    assert len(runs) == 1


def test_a_policy_that_grows_too_long_when_written_is_refused(app: Running, people: Path) -> None:
    from shoal.policy.loading import LONGEST_POLICY

    workspace = app.open(people)
    rows = [["x" * 50, "*"]] * (LONGEST_POLICY // 62)
    before = time.monotonic()
    answer = app.api.put(f"/api/v1/workspaces/{workspace.id}/policy", json={"hierarchies": {"age": rows}})
    assert answer.status_code == 422, time.monotonic() - before
    assert "longer than" in answer.json()["error"]
    assert not workspace.has_policy


def test_forms_about_one_file_are_worked_off_one_after_the_other(
    app: Running, people: Path, monkeypatch: pytest.MonkeyPatch, client: httpx.Client
) -> None:
    from shoal.app.project import Workspace

    workspace = app.open(people)
    workspace.set_policy(POLICY)
    keep, inside, most = Workspace.set_policy, [0], [0]

    def slowly(self: Workspace, policy: Any) -> None:
        inside[0] += 1
        most[0] = max(most[0], inside[0])
        time.sleep(0.1)
        keep(self, policy)
        inside[0] -= 1

    monkeypatch.setattr(Workspace, "set_policy", slowly)
    threads = [
        threading.Thread(target=client.post, args=[f"/w/{workspace.id}/protect"], kwargs={"data": GOAL})
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert most == [1]
