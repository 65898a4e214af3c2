"""The pictures of real output, then the site: `make docs`."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

from rich.console import Console

import shoal
from shoal.cli import render as terminal
from shoal.cli.render import show
from shoal.reproduction.sample.discharges import CENSUS, SPATIAL, TEMPORAL

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"

# rich's own frame fetches a font from a server; this one uses what the reader has
FRAME = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: {char_height}px; line-height: {line_height}px; white-space: pre; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal"><rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>
</clipPath>{lines}</defs>
<rect fill="#1b1f24" width="100%" height="100%" rx="8"/>
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}<g class="{unique_id}-matrix">{matrix}</g></g></svg>
"""


def picture_of_risk() -> None:
    """What `shoal risk` shows for 200,000 discharges."""
    console = Console(record=True, width=100, file=io.StringIO(), force_terminal=True, highlight=False)
    terminal.out = console
    frame = shoal.sample_data("discharges", rows=200_000, seed=0)
    groups = {"census": CENSUS, "spatial": SPATIAL, "temporal": TEMPORAL}
    show(shoal.risk(frame, knowledge=groups, threshold="ema"))
    IMAGES.mkdir(exist_ok=True)
    svg = console.export_svg(title="shoal risk", code_format=FRAME, unique_id="risk")
    (IMAGES / "risk.svg").write_text(svg, encoding="utf-8")


def main() -> None:
    """Pictures, then the site."""
    picture_of_risk()
    subprocess.run([sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict"], check=True, cwd=ROOT)
    print(f"written to {ROOT.name}/site/index.html")


if __name__ == "__main__":
    main()
