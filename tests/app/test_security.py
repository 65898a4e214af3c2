"""Who is refused: no token, a wrong one, a used one, another site, another name for this machine. Nothing is logged."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn

from shoal.app.project import Settings
from shoal.app.run import REDIRECT, Server
from shoal.app.security import CONTENT_POLICY, Sessions


def test_without_a_token_nothing_is_shown(app: Any, people: Path) -> None:
    workspace = app.open(people)
    for path in ("/", f"/w/{workspace.id}/columns", "/api/v1/", "/api/v1/workspaces", "/api/v1/docs", "/nowhere"):
        refused = httpx.get(app.base + path)
        assert refused.status_code == 403
        assert "people" not in refused.text
    page = httpx.get(app.base).text
    assert "Start `shoal app` again in the terminal" in page
    assert httpx.get(f"{app.base}/api/v1/").json()["cure"]
    assert httpx.put(f"{app.base}/api/v1/uploads", content=b"a,b\n1,2\n").status_code == 403
    assert httpx.put(f"{app.base}/upload", content=b"a,b\n1,2\n").status_code == 403
    assert [made.id for made in app.project.workspaces()] == [workspace.id]


def test_a_wrong_token_is_refused_and_the_right_one_still_works(app: Any) -> None:
    for token in ("", "x", "é", "a" * 10_000, "%00", "' or 1=1"):
        assert httpx.get(app.base, params={"token": token}).status_code == 403
        assert httpx.get(app.base, headers={"authorization": f"Bearer x{token.encode().hex()}"}).status_code == 403
    assert httpx.get(app.base, headers={"authorization": f"Bearer {app.settings.token}"}).status_code == 403
    assert app.browser().get("/").status_code == 200


def test_the_token_is_good_once_and_leaves_the_address(app: Any) -> None:
    first = httpx.get(f"{app.base}/?token={app.settings.token}&x=1")
    assert first.status_code == 303
    assert first.headers["location"] == f"{app.settings.prefix}/?x=1"
    cookie = first.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert app.settings.token not in cookie
    assert httpx.get(f"{app.base}/?token={app.settings.token}").status_code == 403
    value = cookie.split(";")[0]
    assert httpx.get(app.base, headers={"cookie": value}).status_code == 200
    # a browser sends it below the secret path only, and elsewhere it is no session
    assert f"Path={app.settings.prefix};" in cookie
    other = {"cookie": value}
    assert httpx.get(app.origin, headers=other).status_code == 403
    assert httpx.get(f"{app.origin}/api/v1/workspaces", headers=other).status_code == 403
    assert httpx.get(f"{app.origin}{app.settings.prefix[:-1]}/", headers=other).status_code == 403
    assert httpx.get(f"{app.base}x/", headers=other).status_code == 403
    assert httpx.get(app.base, headers={"cookie": value[:-1]}).status_code == 403
    # whoever has a session and opens the printed address again is sent on, without the token
    assert httpx.get(f"{app.base}/?token={app.settings.token}", headers={"cookie": value}).status_code == 303


def test_the_token_never_leads_to_another_site(app: Any) -> None:
    sent = httpx.get(f"{app.base}//evil.example/?token={app.settings.token}")
    assert sent.status_code == 303
    assert sent.headers["location"] == f"{app.settings.prefix}/evil.example/"


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "127.0.0.1.nip.io:{port}", ""]
)
def test_another_name_for_this_machine_is_refused(app: Any, host: str) -> None:
    port = app.port
    bearer = {"authorization": f"Bearer {app.settings.api_token}"}
    refused = httpx.get(f"{app.base}/api/v1/", headers={**bearer, "host": host.format(port=port)})
    assert refused.status_code == 421 or (host == "" and refused.status_code == 400)
    assert httpx.get(f"{app.base}/api/v1/", headers={**bearer, "host": f"localhost:{port}"}).status_code == 200


FOREIGN = [
    {"origin": "http://evil.example"},
    {"origin": "http://127.0.0.1:1"},
    {"origin": "null"},
    {"origin": "null", "sec-fetch-site": "cross-site"},
    {"sec-fetch-site": "cross-site"},
    {"sec-fetch-site": "same-site"},
    {"sec-fetch-site": "none"},
    {},
]


@pytest.mark.parametrize("headers", FOREIGN, ids=str)
def test_a_page_of_another_site_cannot_change_anything(app: Any, headers: dict[str, str]) -> None:
    browser = app.browser()
    cookie = {"cookie": "; ".join(f"{name}={value}" for name, value in browser.cookies.items())}
    for method, path in (
        ("POST", "/api/v1/workspaces"),
        ("PUT", "/upload"),
        ("DELETE", "/api/v1/workspaces/x"),
        ("POST", "/"),
    ):
        refused = httpx.request(method, app.base + path, headers={**cookie, **headers}, content=b"{}")
        assert refused.status_code == 403
    assert app.project.workspaces() == []
    if headers.get("sec-fetch-site") in ("cross-site", "same-site"):
        assert httpx.get(f"{app.base}/api/v1/workspaces", headers={**cookie, **headers}).status_code == 403


def test_our_own_pages_may(app: Any) -> None:
    with app.browser() as browser:
        made = browser.post("/api/v1/workspaces", json={"place": "0/people.csv"})
        assert made.status_code == 201
        # a form of a page with `no-referrer`
        formed = browser.post("/api/v1/workspaces", json={"place": "0/people.csv"}, headers={"origin": "null"})
        assert formed.status_code == 201


def test_every_answer_has_the_headers(app: Any) -> None:
    with app.browser() as browser:
        answers = [
            browser.get("/"),
            browser.get("/nowhere"),
            browser.get("/static/htmx.min.js"),
            browser.get("/api/v1/"),
            httpx.get(app.base),
            httpx.get(app.base, headers={"host": "evil.example"}),
        ]
    for answer in answers:
        assert answer.headers["content-security-policy"] == CONTENT_POLICY
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cross-origin-opener-policy"] == "same-origin"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert "server" not in answer.headers or "shoal" not in answer.headers["server"]
    assert "unsafe" not in CONTENT_POLICY


def test_scripts_come_in_with_the_api_token(app: Any) -> None:
    assert app.api.get("/api/v1/").json()["verbs"]["risk"]
    wrong = httpx.get(f"{app.base}/api/v1/", headers={"authorization": f"Bearer {app.settings.api_token[:-1]}"})
    assert wrong.status_code == 403
    basic = httpx.get(f"{app.base}/api/v1/", headers={"authorization": f"Basic {app.settings.api_token}"})
    assert basic.status_code == 403


def test_bodies_that_are_not_uploads_are_small(app: Any) -> None:
    large = b'{"place": "' + b"x" * 9_000_000 + b'"}'
    assert app.api.post("/api/v1/workspaces", content=large).status_code == 413

    def pieces() -> Any:
        for _ in range(10):
            yield b"x" * 1_000_000

    assert app.api.post("/api/v1/workspaces", content=pieces()).status_code == 413


def test_nothing_is_logged(
    start: Callable[..., Any], people: Path, caplog: pytest.LogCaptureFixture, capfd: Any
) -> None:
    with caplog.at_level(logging.DEBUG):
        app = start()
        with app.browser() as browser:
            workspace = app.open(people)
            app.wait(workspace, app.jobs.start(workspace, "risk", {"qi": ["agee"]}))
            app.done(workspace, "risk", qi=["age"])
            browser.put("/api/v1/uploads?name=secret-name.csv", content=b"a,b\n1,2\n")
            browser.get("/w/0000000000000000/columns?secret=1")
    ours = [record for record in caplog.records if not record.name.startswith(("httpx", "httpcore", "asyncio"))]
    said = " ".join(record.getMessage() for record in ours) + "".join(capfd.readouterr())
    for word in ("secret", "people", app.settings.token, app.settings.api_token, workspace.id, "agee"):
        assert word not in said


def test_a_bug_shows_no_value(app: Any, caplog: pytest.LogCaptureFixture) -> None:
    async def broken(request: Any) -> None:
        raise KeyError("secret value")

    app.app.router.add_route("/broken", broken)
    app.app.router.add_route("/api/v1/broken", broken)
    for path in ("/broken", "/api/v1/broken"):
        answer = app.api.get(path)
        assert answer.status_code == 500
        assert "bug in shoal" in answer.text
        assert "secret" not in answer.text
        assert answer.headers["content-security-policy"] == CONTENT_POLICY
    assert "secret" not in caplog.text


def test_secrets_do_not_show(app: Any) -> None:
    assert app.settings.token not in repr(app.settings)
    assert app.settings.api_token not in repr(app.settings)
    assert len({Settings().token for _ in range(3)}) == 3
    assert Sessions(Settings()).cookie_name != Sessions(Settings()).cookie_name


def test_the_browser_gets_the_token_by_a_file_that_only_its_owner_reads(app: Any, tmp_path: Path) -> None:
    asked: list[str] = []
    config = uvicorn.Config(lambda *_: None, host="127.0.0.1", port=0, log_config=None, lifespan="off")
    server = Server(config, "/", app.settings, tmp_path / "api-token", (lambda _: None, asked.append))

    async def started() -> None:
        config.load()
        server.lifespan = config.lifespan_class(config)
        await server.startup()
        await server.shutdown()

    asyncio.run(started())
    page = tmp_path / REDIRECT
    for _ in range(100):
        if not asked:
            time.sleep(0.01)
    assert asked == [page.as_uri()]
    assert app.settings.token not in asked[0]
    assert app.settings.token in page.read_text()
    assert page.stat().st_mode & 0o777 == 0o600


def test_the_token_of_the_file_is_taken_and_a_page_of_ours_leads_on(app: Any) -> None:
    address = f"{app.base}/w/none?token={app.settings.token}"
    other = {"sec-fetch-site": "cross-site"}
    assert httpx.get(f"{app.base}/w/none?token=wrong", headers=other).status_code == 403
    assert httpx.get(address, headers={**other, "origin": "http://evil.example"}).status_code == 403
    first = httpx.get(address, headers=other)
    assert (first.status_code, f"url={app.settings.prefix}/w/none" in first.text) == (200, True)
    assert "SameSite=strict" in first.headers["set-cookie"]
    assert app.settings.token not in first.text
    assert httpx.get(address, headers=other).status_code == 403
