"""A browser for tests of pages: what it asked for, what it complained about, pictures, and what axe finds."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

SHOTS = Path(__file__).parent / "screenshots"
_ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
WIDTHS = {1280: 800, 390: 844}


@contextmanager
def chromium() -> Iterator[Any]:
    """Debian's Chromium; skips where it, or Playwright, is absent."""
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    path = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.skip("Chromium is not installed: pages are tested in it")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=path, args=_ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Visitor:
    """A person at a browser with a session of the app."""

    browser: Any
    base: str
    page: Any
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, browser: Any, base: str, token: str | None = None, state: Any = None) -> Visitor:
        """With the token of the address, or with the session of somebody else."""
        context = browser.new_context(viewport={"width": 1280, "height": WIDTHS[1280]}, storage_state=state)
        page = context.new_page()
        made = cls(browser, base, page)
        page.on("request", lambda request: made.requests.append(request.url))
        page.on("console", lambda said: made.complaints.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: made.complaints.append(str(error)))
        page.on("dialog", lambda dialog: (made.complaints.append("a dialog opened"), dialog.dismiss()))
        page.goto(f"{base}/?token={token}" if token else base)
        return made

    @property
    def workspace(self) -> str:
        """The address of the file that is open."""
        parts = urlsplit(self.page.url)
        return f"{parts.scheme}://{parts.netloc}" + "/".join(parts.path.split("/")[:4])

    def another(self) -> Visitor:
        """A second tab of the same browser."""
        return Visitor.of(self.browser, self.base, state=self.page.context.storage_state())

    def step(self, key: str) -> None:
        """To a step by its link, and wait until nothing runs there."""
        self.page.goto(f"{self.workspace}/{key}")
        self.settled()

    def settled(self, seconds: float = 300) -> None:
        """Wait until no job runs on the page."""
        until, quiet = time.monotonic() + seconds, 0
        while quiet < 2:  # a page that is being loaded again has no job for a moment
            self.page.wait_for_load_state()
            quiet = 0 if self.page.locator("main .job[hx-get]").count() else quiet + 1
            assert time.monotonic() < until, self.page.locator("main .job").first.inner_text()
            self.page.wait_for_timeout(150)

    def click(self, name: str) -> None:
        """Press a button by its words."""
        self.page.get_by_role("button", name=name, exact=True).first.click()

    def upload(self, path: Path) -> None:
        """Choose a file on the first page, and wait until it was sent, or refused."""
        self.page.goto(self.base)
        self.page.set_input_files("#file", path)
        self.page.wait_for_url("**/w/*/data")
        self.settled()

    def pictures(self, name: str) -> None:
        """The page at both widths, by day and by night, into a folder that git does not keep."""
        SHOTS.mkdir(exist_ok=True)
        for width, height in WIDTHS.items():
            self.page.set_viewport_size({"width": width, "height": height})
            assert self.overflow() <= 0, f"{name} is wider than {width} pixels"
            for light in ("light", "dark"):
                self.page.emulate_media(color_scheme=light)
                self.page.screenshot(path=SHOTS / f"{name}-{width}-{light}.png", full_page=True)
        self.page.emulate_media(color_scheme="light")
        self.page.set_viewport_size({"width": 1280, "height": WIDTHS[1280]})

    def overflow(self) -> int:
        """By how many pixels the page is wider than the window."""
        wide = self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        return int(wide)

    def faults(self, *lights: str) -> list[str]:
        """What axe calls serious or critical on this page, by day or night; its script needs the policy set aside."""
        from axe_playwright_python.sync_playwright import Axe

        context = self.browser.new_context(bypass_csp=True, storage_state=self.page.context.storage_state())
        page = context.new_page()
        found = []
        for light in lights:
            page.emulate_media(color_scheme=light)
            page.goto(self.page.url)
            page.evaluate("document.querySelectorAll('details').forEach(entry => { entry.open = true; })")
            for fault in Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]:
                if fault["impact"] in ("serious", "critical"):
                    nodes = [node["html"][:120] for node in fault["nodes"][:3]]
                    found.append(f"{light}: {fault['id']}: {nodes}")
        context.close()
        return found

    def strayed(self) -> list[str]:
        """Requests that left this machine's app."""
        static = self.base.rpartition("/")[0] + "/static/"
        own = (self.base + "/", self.base + "?", static, "data:", "blob:")
        return [url for url in self.requests if url != self.base and not url.startswith(own)]
