"""Who may talk to the app: its own pages in the browser that was opened with the token, and scripts with the API token.

A page of another site cannot: its requests carry another Origin and Sec-Fetch-Site, and the cookie is SameSite=Strict.
Another port of this machine cannot: cookies do not tell ports apart, so this one is bound to a path that is secret.
A name that is made to point at this machine (DNS rebinding) cannot: the Host is checked. Nothing is logged.
"""

from __future__ import annotations

import hmac
import ipaddress
import secrets
from html import escape
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from shoal.app.project import LOCAL_HOST, Settings

CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; frame-src 'self'; frame-ancestors 'none'; base-uri 'none'"
)
# a report is a page with its styles inside: shown in a frame of ours, without script, form or outside address
REPORT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; form-action 'none'; "
    "frame-ancestors 'self'; base-uri 'none'; sandbox"
)
_HEADERS = {
    "content-security-policy": CONTENT_POLICY,
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
_SAFE = ("GET", "HEAD")
_PORT_DIGITS, _SIZE_DIGITS = 5, 18
# bodies that are not uploads: forms, policies, hierarchies
BODY_LIMIT = 8_000_000
API = "/api/"
UPLOADS = ("/upload", "/api/v1/uploads")


class RefusedRequest(HTTPException):
    """A refusal with its cure."""

    def __init__(self, status: int, what: str, cure: str) -> None:
        super().__init__(status, what)
        self.cure = cure


class TooLarge(RefusedRequest):
    """A body is larger than its route allows, whatever was announced."""

    def __init__(self) -> None:
        super().__init__(413, *_TOO_LARGE)


class Sessions:
    """The token of the address, good once, and the cookie that it is exchanged for."""

    def __init__(self, settings: Settings) -> None:
        self.cookie_name = f"shoal_{secrets.token_hex(4)}"  # cookies do not tell ports apart: two apps, two names
        self._cookie = secrets.token_urlsafe(32)
        self.prefix = settings.prefix
        self._token: str | None = settings.token
        self._api_token = settings.api_token

    def exchange(self, token: str) -> str | None:
        """The value of the cookie for the token, the first time; then never again."""
        if self._token is None or not _same(token, self._token):
            return None
        self._token = None
        return self._cookie

    def knows(self, headers: Headers, below: bool = True) -> str | None:
        """By what a request is known: `cookie`, `token`, or not at all; a cookie is good below the secret path only."""
        word, _, given = headers.get("authorization", "").partition(" ")
        if word.lower() == "bearer" and _same(given.strip(), self._api_token):
            return "token"
        found = [value for name, value in _cookies(headers) if name == self.cookie_name]
        return "cookie" if below and any(_same(value, self._cookie) for value in found) else None


def _same(given: str, secret: str) -> bool:
    return hmac.compare_digest(given.encode(), secret.encode())


def _cookies(headers: Headers) -> list[tuple[str, str]]:
    parts = [part.partition("=") for line in headers.getlist("cookie") for part in line.split(";")]
    return [(name.strip(), value.strip()) for name, _, value in parts]


class Guard:
    """The outermost layer: refuses, before anything is looked at, what does not come from our own pages or scripts."""

    def __init__(self, app: ASGIApp, *, settings: Settings, sessions: Sessions) -> None:
        self.app, self.settings, self.sessions = app, settings, sessions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":  # no websockets here
            return
        scope = _below(scope, self.sessions.prefix)
        answer = _with_headers(send, self.sessions.prefix if scope.get(_BELOW) else "")
        refusal = self._refused(scope)
        if refusal is not None:
            await refusal(scope, receive, answer)
            return
        limit = self.settings.upload_limit if is_upload(scope) else BODY_LIMIT
        if _announced(Headers(scope=scope)) > limit:
            await refuse(scope, 413, *_TOO_LARGE)(scope, receive, answer)
            return
        await self._passed_on(scope, _counted(receive, limit), answer)

    async def _passed_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on; a bug is said to be one, without its message, which could hold values, and without a log."""
        started = False

        async def watched(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self.app(scope, receive, watched)
        except ClientDisconnect:
            return
        except Exception as error:
            if started:
                raise ConnectionAbortedError from None  # broken off: nobody may take the answer for whole
            said = f"shoal failed ({type(error).__name__}); this is a bug in shoal."
            await refuse(scope, 500, said, "Please report it.")(scope, receive, send)

    def _refused(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        if not self._is_our_host(scope, headers):
            return refuse(scope, 421, "This address does not belong to the app.", "Use the address it printed.")
        known = self.sessions.knows(headers, bool(scope.get(_BELOW)))
        token = dict(parse_qsl(_query(scope))).get("token")
        if known is None and token is not None and scope["method"] in _SAFE and headers.get("origin") is None:
            cookie = self.sessions.exchange(token)  # whoever has the token may come from anywhere: it is good once
            if cookie is not None:
                return self._welcome(scope, headers, cookie)
        if known != "token" and not _from_our_pages(scope, headers, known):
            return refuse(scope, 403, "The request comes from another site.", "Use the app's own pages.")
        if known is not None or scope["path"].startswith("/static/"):
            given = [name for name, _ in parse_qsl(_query(scope), keep_blank_values=True)]
            return None if "token" not in given else _without_token(scope)
        return refuse(scope, 403, "This browser has no session with the app.", _AGAIN)

    def _welcome(self, scope: Scope, headers: Headers, cookie: str) -> Response:
        """The page without the token, with the cookie; after a page of elsewhere (our redirect file) one of ours leads
        there, because a browser does not send a strict cookie where another site sent it."""
        there = _without_token(scope, self.sessions.prefix)
        answer: Response = there
        if headers.get("sec-fetch-site") in ("cross-site", "same-site"):
            to = escape(there.headers["location"])
            answer = HTMLResponse(
                f'<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url={to}">'
            )
        answer.set_cookie(
            self.sessions.cookie_name, cookie, httponly=True, samesite="strict", path=self.sessions.prefix
        )
        return answer

    def _is_our_host(self, scope: Scope, headers: Headers) -> bool:
        """Whether the Host is one of ours with our port; every IP address is where the app listens on all of them."""
        if len(headers.getlist("host")) != 1:
            return False
        name, port = split_host(headers["host"])
        server = scope.get("server") or (LOCAL_HOST, None)
        if port != (server[1] or 80):
            return False
        own = {LOCAL_HOST, "localhost", "::1", self.settings.host}
        return name in own or (self.settings.host in ("0.0.0.0", "::") and _is_address(name))


def leading_to(address: str) -> str:
    """A page that leads to an address."""
    return f'<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url={escape(address)}">'


def split_host(text: str) -> tuple[str, int]:
    """The name and the port of a Host header.

    >>> split_host("127.0.0.1:8000"), split_host("localhost"), split_host("[::1]:80"), split_host("a:b")
    (('127.0.0.1', 8000), ('localhost', 80), ('::1', 80), ('a', -1))
    """
    name, colon, port = text.rpartition(":") if not text.endswith("]") else (text, "", "")
    if not colon:
        return text.strip("[]").lower(), 80
    is_port = port.isascii() and port.isdigit() and len(port) <= _PORT_DIGITS
    return name.strip("[]").lower(), int(port) if is_port else -1


def _is_address(name: str) -> bool:
    try:
        return bool(ipaddress.ip_address(name))
    except ValueError:
        return False


def _from_our_pages(scope: Scope, headers: Headers, known: str | None) -> bool:
    """Whether a browser says that our own page, or the person at the address bar, asked.

    A form of a page with `no-referrer` sends `Origin: null`: then Sec-Fetch-Site, which no page can set, decides.
    """
    unsafe = scope["method"] not in _SAFE
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if origin is not None and origin not in ("null", f"http://{headers['host']}"):
        return False
    if origin == "null" and site != "same-origin":
        return False
    if site is None:
        return not unsafe or origin is not None or known is None
    return site == "same-origin" or (not unsafe and (site == "none" or scope["path"] == "/"))


def _counted(receive: Receive, limit: int) -> Receive:
    """Hand on what comes, and stop where it is more than the limit."""
    seen = 0

    async def receiving() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > limit:
            raise TooLarge
        return message

    return receiving


_AGAIN = "Start `shoal app` again in the terminal, and open the address that it prints."
_TOO_LARGE = ("The request is larger than the app accepts.", "Name a file of this machine instead of uploading it.")


def is_upload(scope: Scope) -> bool:
    """Whether a request carries a file."""
    return scope["method"] == "PUT" and scope["path"] in UPLOADS


def _announced(headers: Headers) -> int:
    text = headers.get("content-length", "0")
    return int(text[: _SIZE_DIGITS + 1]) if text.isascii() and text.isdigit() else 0


def _query(scope: Scope) -> str:
    return bytes(scope["query_string"]).decode("latin-1")


# where a request came to an address below the secret path, which is taken off
_BELOW = "shoal.below"


def _below(scope: Scope, prefix: str) -> Scope:
    """A request as it would be without the secret path."""
    path = str(scope["path"])
    if not _same(path[: len(prefix)], prefix) or path[len(prefix) :][:1] not in ("", "/"):
        return scope
    rest = path[len(prefix) :] or "/"
    raw = bytes(scope.get("raw_path") or path.encode())[len(prefix) :] or b"/"
    return {**scope, "path": rest, "raw_path": raw, _BELOW: True}


def _without_token(scope: Scope, prefix: str = "") -> RedirectResponse:
    kept = [(name, value) for name, value in parse_qsl(_query(scope), keep_blank_values=True) if name != "token"]
    path = "/" + scope["path"].lstrip("/")  # never //other.example
    return RedirectResponse(prefix + path + (f"?{urlencode(kept)}" if kept else ""), 303)


def refuse(scope: Scope, status: int, what: str, cure: str) -> Response:
    """A refusal in words of ours, as JSON for the API and as a small page for people."""
    if scope["path"].startswith(API):
        return JSONResponse({"error": what, "cure": cure}, status)
    page = (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>shoal</title>'
        '<link rel="stylesheet" href="/static/app.css"><main class="refusal">'
        f"<h1>{what}</h1><p>{cure}</p></main></html>"
    )
    return HTMLResponse(page, status)


# headers that name a page of ours
_ADDRESSES = ("location", "hx-replace-url")


def _with_headers(send: Send, prefix: str) -> Send:
    """Every answer carries the headers that keep other sites, frames and caches out; the pages that it leads to lie
    below the secret path."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message.setdefault("headers", [])
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
            for name in _ADDRESSES:
                if (to := headers.get(name)) and to.startswith("/") and not to.startswith(f"{prefix}/"):
                    headers[name] = prefix + to
        await send(message)

    return sending
