"""The wheel of this machine in an empty environment, where there is no compiler, on every Python that is here."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
COMMANDS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["cibuildwheel"]["test-command"]
pytestmark = pytest.mark.slow


def python(version: str) -> str | None:
    """A Python of this version: one of pyenv's, whose names on the path are only those that it was told to offer, or
    on the path."""
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    of_pyenv = next((str(path) for path in sorted(versions.glob(f"{version}*/bin/python"))), None)
    return of_pyenv or shutil.which(f"python{version}")


def run(*command: str | Path, path: str = os.environ["PATH"], cwd: Path = ROOT) -> str:
    """What a command prints, without this environment's settings."""
    kept = {name: value for name, value in os.environ.items() if name.startswith("PIP_") or name == "HOME"}
    done = subprocess.run(
        [str(part) for part in command],
        env={**kept, "PATH": path},
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", folder, ROOT)
    [made] = folder.glob("*.whl")
    return made


def test_the_wheel_is_of_this_system_and_of_every_python(wheel: Path) -> None:
    assert "-cp311-abi3-" in wheel.name
    names = zipfile.ZipFile(wheel).namelist()
    kernels = [name for name in names if name.startswith("shoal/kernels/")]
    assert {Path(name).suffix for name in kernels if not name.endswith("__init__.py")} <= {".so", ".pyd"}
    assert len(kernels) > 10
    assert not [name for name in names if name.endswith((".c", ".loop"))]


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13", "3.14"])
def test_the_wheel_works_where_nothing_else_is(version: str, wheel: Path, tmp_path: Path) -> None:
    interpreter = python(version)
    if interpreter is None:
        pytest.skip(f"no Python {version} here")
    run(interpreter, "-m", "venv", tmp_path / "empty")
    programs = tmp_path / "empty" / ("Scripts" if os.name == "nt" else "bin")
    install = [programs / "python", "-m", "pip", "install", "--quiet", "--only-binary=:all:"]
    run(*install, "-c", ROOT / "constraints.txt", wheel, path=str(programs))
    for command in COMMANDS:
        program, *arguments = command.split()
        run(programs / program, *arguments, path=str(programs), cwd=tmp_path)
    assert "fine" in run(programs / "shoal", "doctor", path=str(programs), cwd=tmp_path)
    loaded = run(
        programs / "python", "-c", "import importlib.metadata as m; print(*(d.name for d in m.distributions()))"
    )
    assert not {"numba", "llvmlite", "cython"} & set(loaded.lower().split())
