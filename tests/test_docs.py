"""The commands in README and docs run as they stand."""

from __future__ import annotations

import importlib.util
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


def test_the_map_of_the_architecture_is_true() -> None:
    spec = importlib.util.spec_from_file_location("map", ROOT / "docs" / "map.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.whole() == (ROOT / "ARCHITECTURE.md").read_text(), "write it anew with: python docs/map.py"


def test_the_glossary_names_places_that_are_there() -> None:
    rows = [line for line in (ROOT / "docs" / "glossary.md").read_text().splitlines() if line.startswith("| ")]
    places = [place for row in rows for place in re.findall(r"`([a-z0-9_/]+(?:\.py|/))`", row.rsplit("|", 2)[1])]
    assert len(places) > 60
    assert [place for place in places if not (ROOT / "src" / "shoal" / place).exists()] == []


MARKDOWN = [*PAGES, ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md"]
PLACEHOLDER = re.compile(r"[`*]*(TABLE|MICRO|TBD|TODO|FIXME|XXX+|[A-Z]\d{1,2}|\?\?+)[`*.]*")
DELIMITER = re.compile(r"\|(\s*:?-+:?\s*\|)+")


def prose(page: Path) -> list[tuple[int, str]]:
    """The lines of a page outside code blocks, with their numbers."""
    lines, fenced = [], False
    for number, line in enumerate(page.read_text().splitlines(), 1):
        fenced ^= line.lstrip().startswith("```")
        if not fenced:
            lines.append((number, line.strip()))
    return lines


def cells(line: str) -> list[str]:
    """The cells of a table row; a bar in code or behind a backslash is no border."""
    bare = re.sub(r"\\\||`[^`]*`", lambda match: match.group().replace("|", "·"), line)
    return [cell.strip() for cell in bare.strip().strip("|").split("|")]


def faults(page: Path) -> list[str]:
    """Placeholders, and tables that are not whole: header, delimiter, equal numbers of cells, no orphan row."""
    found, table = [], []
    for number, line in [*prose(page), (0, "")]:
        if PLACEHOLDER.fullmatch(line):
            found.append(f"{number}: the placeholder {line}")
        if line.startswith("|"):
            table.append((number, line))
            continue
        if table:
            found += broken(table)
        table = []
    return found


def broken(table: list[tuple[int, str]]) -> list[str]:
    first = table[0][0]
    if len(table) < 3 or not DELIMITER.fullmatch(table[1][1]):
        return [f"{first}: rows without a header and its delimiter"]
    width = len(cells(table[0][1]))
    found = [f"{number}: not {width} cells" for number, line in table if len(cells(line)) != width]
    found += [f"{number}: a second delimiter" for number, line in table[2:] if DELIMITER.fullmatch(line)]
    for number, line in table[2:]:
        found += [f"{number}: the placeholder {cell}" for cell in cells(line)[1:] if PLACEHOLDER.fullmatch(cell)]
    return found


@pytest.mark.parametrize("page", MARKDOWN, ids=lambda page: page.name)
def test_tables_are_whole_and_nothing_is_a_placeholder(page: Path) -> None:
    assert faults(page) == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("TABLE", "placeholder"),
        ("| a | b |\n|---|---|\n| T | T3 |", "placeholder T3"),
        ("| a | b |\n|---|---|\n| T |", "not 2 cells"),
        ("Some words\n| a | b |", "without a header"),
        ("| a |\n|---|\n| b |\n\nwords\n| c | d |", "without a header"),
        ("| a |\n|---|\n| b |\n|---|\n| c |", "second delimiter"),
    ],
)
def test_a_broken_page_is_told(tmp_path: Path, text: str, fault: str) -> None:
    page = tmp_path / "page.md"
    page.write_text(text)
    assert fault in " ".join(faults(page))
    page.write_text("| a | `b|c` |\n|---|:-:|\n| d | `--effort fast\\|best` |\n\n```\n| T3\n```\n")
    assert faults(page) == []
