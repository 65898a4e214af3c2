"""The commands in README and docs run as they stand."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def commands(page: Path) -> list[str]:
    blocks = re.findall(r"```console\n(.*?)```", page.read_text(), re.DOTALL)
    return [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ ")]


@pytest.mark.parametrize("page", [page for page in PAGES if commands(page)], ids=lambda page: page.name)
def test_commands_run_in_an_empty_folder(page: Path, tmp_path: Path) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for command in commands(page):
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=tmp_path,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stderr}"


@pytest.mark.parametrize(
    "page", [*PAGES, ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md"], ids=lambda page: page.name
)
def test_links_and_pictures_are_there(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)\)", page.read_text()):
        assert target.startswith("http") or (page.parent / target).exists(), target


def test_architecture_names_every_module_and_no_other() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text()
    layout = text[text.index("src/shoal/") : text.index("```", text.index("src/shoal/"))]
    named = set(re.findall(r"^\s+(\w+(?:\.py|/))", layout, re.MULTILINE))
    package = ROOT / "src" / "shoal"
    there = {
        path.name + ("/" if path.is_dir() else "") for path in package.iterdir() if not path.name.startswith("__p")
    }
    there -= {"__main__.py", "py.typed"}
    missing = {name for name in there if name not in named and f"{name}" not in layout}
    assert not missing
    for name in named:
        assert (package / name).exists() or any(package.glob(f"*/{name}")), name
