"""Rules of the house, kept by tests."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import shoal

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src" / "shoal").rglob("*.py"))
NETWORK = {"socket", "urllib.request", "http", "requests", "httpx", "ftplib", "smtplib", "aiohttp"}


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def public_parts(tree: ast.Module) -> list[ast.Module | ast.FunctionDef | ast.ClassDef]:
    """A module, and the functions and classes of it that others may use."""
    named = [node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    return [tree, *(node for node in named if not node.name.startswith("_"))]


def test_no_file_reaches_for_the_network() -> None:
    reaching = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in SOURCES
        for name in imports(path)
        if name in NETWORK or name.split(".")[0] in NETWORK
    }
    assert not reaching


def test_every_module_and_public_name_says_what_it_is() -> None:
    silent = [
        f"{path.relative_to(ROOT)}: {getattr(node, 'name', 'the module')}"
        for path in SOURCES
        for node in public_parts(ast.parse(path.read_text()))
        if not ast.get_docstring(node)
    ]
    assert not silent


def test_every_public_name_can_be_had() -> None:
    for name in shoal.__all__:
        assert callable(getattr(shoal, name)), name
    assert set(shoal.__all__) <= set(dir(shoal))
    with pytest.raises(AttributeError):
        _ = shoal.nothing  # type: ignore[attr-defined]


def test_no_package_bears_the_name_of_a_verb() -> None:
    packages = {path.parent.name for path in SOURCES if path.name == "__init__.py"}
    verbs = {name for name in shoal.__all__ if name[0].islower()}
    assert not packages & verbs


def test_importing_shoal_loads_nothing_heavy() -> None:
    heavy = "{'polars', 'numpy', 'pydantic', 'pandas', 'pyarrow', 'rich', 'click'}"
    code = f"import sys, shoal; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_help_loads_no_data_frame_library() -> None:
    code = (
        "import sys\nfrom shoal.cli import main\nsys.argv = ['shoal', '--help']\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print(sorted({'polars', 'numpy', 'pydantic', 'pandas'} & set(sys.modules)))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip().splitlines()[-1] == "[]"


# lowest first; packages on one line do not know each other
LAYERS = """
kernels errors progress wording vocabulary
systems
threads keys
results
storage
identifiers
text
ranges
population
models
policy
verbs
engine
detection
exposure
utility
methods
dp
releases
streams
attacks
sklearn
reports
reproduction
local
joint
doctor
app
cli
__main__
"""
LEVEL = {name: level for level, line in enumerate(LAYERS.split("\n")) for name in line.split()}
# upward edges that are still there; each must go
KNOWN: set[tuple[str, str]] = set()


def edges() -> set[tuple[str, str]]:
    """Which package imports which, lazy imports and those for types included."""
    found = set()
    for path in SOURCES:
        here = path.relative_to(ROOT / "src" / "shoal").with_suffix("").parts[0]
        if here == "__init__":
            continue
        there = {
            name.split(".")[1] for name in imports(path) if name.startswith("shoal.") and name != "shoal.__version__"
        }
        found |= {(here, name) for name in there if name != here}
    return found


def test_every_package_imports_downwards_only() -> None:
    upward = {(here, there) for here, there in edges() if LEVEL[there] >= LEVEL[here]}
    assert upward == KNOWN


def test_the_top_of_the_package_shows_packages() -> None:
    entries = [path for path in (ROOT / "src" / "shoal").iterdir() if path.name != "__pycache__" and not path.is_dir()]
    assert len(entries) <= 12


def test_packages_are_two_levels_deep_at_most() -> None:
    assert all(len(path.relative_to(ROOT / "src" / "shoal").parts) <= 3 for path in SOURCES)


# class names that several modules use, with the reason
SHARED_CLASS_NAMES = {
    "_Staged": "one meaning, one per database: the table that is written aside before it takes its name",
}


def test_a_class_name_has_one_meaning() -> None:
    modules: dict[str, set[str]] = {}
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                modules.setdefault(node.name, set()).add(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert {name for name, places in modules.items() if len(places) > 1} == set(SHARED_CLASS_NAMES)


def test_constraints_name_versions_and_no_address() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    assert lines
    assert all(re.fullmatch(r"[A-Za-z0-9_.\-]+==[A-Za-z0-9.]+( ; python_version < '3\.\d+')?", line) for line in lines)
