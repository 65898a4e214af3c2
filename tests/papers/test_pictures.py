"""Pictures as a browser draws them: no text is cut off, and no two numbers lie on each other."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest

from shoal.reports.charts.style import width
from shoal.reproduction import Reproduction, reproduce
from shoal.reproduction import charts as pictures

# every text of every picture: where it sticks out, and which others it lies on, in pixels
SCRIPT = """
const faults = [];
for (const svg of document.querySelectorAll('svg')) {
  const box = svg.getBoundingClientRect();
  const texts = [...svg.querySelectorAll('text')].map(t => [t.textContent, t.getBoundingClientRect()]);
  texts.forEach(([text, r], i) => {
    const out = Math.max(box.left - r.left, r.right - box.right, box.top - r.top, r.bottom - box.bottom);
    if (out > 1) faults.push([svg.parentNode.id, 'cut off', text]);
    for (const [other, s] of texts.slice(i + 1)) {
      const x = Math.min(r.right, s.right) - Math.max(r.left, s.left);
      const y = Math.min(r.bottom, s.bottom) - Math.max(r.top, s.top);
      if (x > 1.5 && y > 4) faults.push([svg.parentNode.id, text, other]);
    }
  });
}
document.body.innerHTML = '<pre>' + JSON.stringify(faults).replace(/</g, '&lt;') + '</pre>';
"""


@pytest.fixture(scope="module")
def faults_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[dict[str, str]], list[Any]]:
    """What is wrong with pictures in Chromium."""
    names = ("chromium", "chromium-browser", "google-chrome")
    browser = next((path for name in names if (path := shutil.which(name))), None)
    if browser is None:
        pytest.skip("no Chromium here: widths of texts are checked by their table alone")
    folder = tmp_path_factory.mktemp("pictures")

    def looked_at(drawn: dict[str, str]) -> list[Any]:
        parts = "".join(f'<div id="{name}">{svg}</div>' for name, svg in drawn.items())
        (folder / "all.html").write_text(f'<meta charset="utf-8"><body>{parts}<script>{SCRIPT}</script></body>')
        options = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}", "--dump-dom"]
        target = (folder / "all.html").as_uri()
        done = subprocess.run([browser, *options, target], capture_output=True, text=True, check=True)
        found = re.search(r"<pre>(.*?)</pre>", done.stdout, re.DOTALL)
        assert found is not None
        faults: list[Any] = json.loads(unescape(found[1]))
        return faults

    return looked_at


def drawn(found: Reproduction) -> dict[str, str]:
    return {exhibit.key: pictures.draw(exhibit.chart()).svg for exhibit in found.exhibits if exhibit.chart is not None}


@pytest.mark.parametrize("paper", ["sanchez", "pastore"])
def test_no_text_is_cut_off_or_covered(paper: str, faults_of: Callable[[dict[str, str]], list[Any]]) -> None:
    assert faults_of(drawn(reproduce(paper, rows=400))) == []


def test_no_text_of_antoniou_is(antoniou: Reproduction, faults_of: Callable[[dict[str, str]], list[Any]]) -> None:
    assert faults_of(drawn(antoniou)) == []


def test_a_fault_is_seen(faults_of: Callable[[dict[str, str]], list[Any]]) -> None:
    """The check itself can fail: a text beyond the edge, two on each other."""
    bad = '<svg width="40" height="40"><text x="30" y="20">beyond</text><text x="29" y="20">on it</text></svg>'
    kinds = {fault[1] for fault in faults_of({"bad": bad})}
    assert kinds == {"cut off", "beyond"}


def test_long_names_and_many_kinds_fit(faults_of: Callable[[dict[str, str]], list[Any]]) -> None:
    rows = [
        {"group": f"a group with a long name, number {i}", "share": i / 7, "kind": f"kind {j} with a long name"}
        for i in range(1, 6)
        for j in range(4)
    ]
    axes = {"x_title": "groups", "y_title": "share"}
    chart = pictures.bars(rows, "group", "share", "A title", label=".2%", format="%", colour="kind", **axes)
    lines = pictures.lines(rows, "share", "share", "kind", "Lines with long names", **axes)
    assert faults_of({"bars": pictures.draw(chart).svg, "lines": pictures.draw(lines).svg}) == []


def test_every_text_has_the_length_of_the_layout() -> None:
    svg = pictures.draw(pictures.bars([{"a": "x<y", "b": 1}], "a", "b", "T & T", x_title="a", y_title="b")).svg
    texts = re.findall(r"<text[^>]*>", svg)
    assert len(texts) > 5
    assert all("textLength" in text for text in texts)
    assert width("x<y", 10) == pytest.approx((500 + 584 + 500) / 100)
    assert f'textLength="{width("x<y", 10):.1f}"' in svg
