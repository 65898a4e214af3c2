"""The report in a browser: nothing is loaded, nothing complains, every chart is drawn, nothing runs over the edge."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from html import escape, unescape
from pathlib import Path
from typing import Any

import pytest

BROWSER = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium here: pages are checked by their text alone")
# a page in a frame of a given width, looked at from outside: the report itself has no script
FRAME = """<!doctype html><iframe id="f" style="width:{width}px;height:900px;border:0" src="{source}"></iframe>
<pre id="o"></pre><script>
document.getElementById("f").onload = event => {{
  const page = event.target.contentDocument, root = page.documentElement;
  page.querySelectorAll("details").forEach(one => one.open = true);
  const images = [...page.images].map(one => ({{ drawn: one.complete && one.naturalWidth > 50 && one.naturalHeight > 30,
    right: one.getBoundingClientRect().right, wide: one.naturalWidth }}));
  const over = [...page.querySelectorAll("h1,h2,p,li,figcaption,dd,dt,summary,.wide")]
    .filter(one => one.getBoundingClientRect().right > root.clientWidth + 1).map(one => one.tagName);
  document.getElementById("o").textContent =
    JSON.stringify({{ wide: root.scrollWidth, shown: root.clientWidth, images, over }});
}};
</script>"""


def dumped(page: Path, folder: Path, *options: str) -> tuple[str, str]:
    """The page after it was read, and what the browser said."""
    assert BROWSER is not None
    fixed = ["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--allow-file-access-from-files"]
    command = [BROWSER, *fixed, f"--user-data-dir={folder}", *options, "--dump-dom", page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    return done.stdout, done.stderr


@pytest.fixture(scope="module", params=["release", "release.private"])
def report(request: pytest.FixtureRequest, planted: Path) -> Path:
    return planted / str(request.param) / "report.html"


def test_it_loads_nothing_and_complains_about_nothing(report: Path, tmp_path: Path) -> None:
    """The page's own policy turns any request into a message."""
    shown, said = dumped(report, tmp_path)
    assert "</html>" in shown
    assert "CONSOLE" not in said


@pytest.mark.parametrize("width", [390, 1280])
def test_every_chart_is_drawn_and_nothing_runs_over(report: Path, tmp_path: Path, width: int) -> None:
    frame = tmp_path / "frame.html"
    frame.write_text(FRAME.format(width=width, source=escape(report.as_uri())))
    shown, _ = dumped(frame, tmp_path / "profile", "--window-size=1400,1000", "--virtual-time-budget=8000")
    told = re.search(r'<pre id="o">(.+?)</pre>', shown, re.S)
    assert told is not None, "the page was not looked at"
    found: dict[str, Any] = json.loads(unescape(told[1]))
    assert found["wide"] <= found["shown"] + 1
    assert found["over"] == []
    assert len(found["images"]) >= 10
    assert all(image["drawn"] for image in found["images"])
    assert all(image["right"] <= found["shown"] + 1 for image in found["images"])
    # a narrow page has charts that were drawn for it: they are not made small
    assert width > 400 or max(image["wide"] for image in found["images"]) <= 400


def test_axe_finds_nothing_serious(report: Path, tmp_path: Path) -> None:
    """axe-core is not shipped: `npm install axe-core` in the project, or its axe.min.js named by AXE_CORE."""
    given = [os.environ.get("AXE_CORE", ""), "node_modules/axe-core/axe.min.js"]
    axe = next((Path(name) for name in given if name and Path(name).is_file()), None)
    if axe is None:
        pytest.skip("no axe-core here")
    text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", report.read_text())
    run = (
        'axe.run(document, {resultTypes: ["violations"]}).then(found => { const out = document.createElement("pre");'
        'out.id = "o"; out.textContent = JSON.stringify(found.violations.map(one => [one.impact, one.id,'
        "one.nodes.map(node => node.target)])); document.body.append(out); });"
    )
    page = tmp_path / "axe.html"
    script = f"<script>{axe.read_text()}</script><script>{run}</script></body>"
    page.write_text(text.replace("</body>", script))
    for light in (1, 0):
        options = ("--virtual-time-budget=20000", f"--blink-settings=preferredColorScheme={light}")
        shown, _ = dumped(page, tmp_path / f"profile{light}", *options)
        told = re.search(r'<pre id="o">(.+?)</pre>', shown, re.S)
        assert told is not None, "axe did not run"
        serious = [one for one in json.loads(unescape(told[1])) if one[0] in ("serious", "critical")]
        assert serious == []
