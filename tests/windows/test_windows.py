"""shoal in the Python of Windows, under Wine: what the kernels give and what is released is the same as here."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kernels.test_both_ways import TESTS, compared

ROOT = TESTS.parent
MISSING_IN_WINE = Path(__file__).parent / "wine"
WINDOWS = ROOT / "build" / "windows"  # made by `make windows`: `python` and its `packages`
WINE = shutil.which("wine64") or shutil.which("wine") or shutil.which("wine64", path="/usr/lib/wine")
TARGET = "-target x86_64-windows-gnu -mcpu=baseline"
# what Python's pyconfig.h says on Windows, in the place of the one that is here
PYCONFIG = """
-DPy_PYCONFIG_H -DMS_WINDOWS -DMS_WIN32 -DMS_WIN64 -DPy_ENABLE_SHARED -DHAVE_DECLSPEC_DLL
-DSIZEOF_WCHAR_T=2 -DSIZEOF_INT=4 -DSIZEOF_LONG=4 -DSIZEOF_LONG_LONG=8 -DSIZEOF_VOID_P=8 -DSIZEOF_SIZE_T=8
"""
# the modules that take exp, log or pow of the C library, whose last digit differs between libraries
ROUNDED = {"lattice_bounds", "lattice_boxes", "lattice_order"}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("windows"),  # compiled once
    pytest.mark.skipif(sys.platform != "linux", reason="Wine runs on Linux here"),
    pytest.mark.skipif(WINE is None, reason="no Wine here: install it with: sudo apt-get install wine64"),
    pytest.mark.skipif(
        not (WINDOWS / ".stamp").exists(), reason="no Python for Windows here: get it with: make windows"
    ),
    pytest.mark.skipif(importlib.util.find_spec("ziglang") is None, reason="no ziglang here: make windows installs it"),
]


ROLES = "age_yrs,sex,patzip,charge"
OTHERS = "ethncty=other,race=other,patcnty=other,los=other,adm_qtr=other,oshpd_id=other"
COMMANDS = [
    "sample-data discharges -n 2000 --seed 0 -o people.csv",
    "risk people.csv --qi age_yrs,sex --json",
    f"anonymize people.csv -k 3 --seed 1 --qi {ROLES} --decide {OTHERS} -o safe.csv",
    f"anonymize people.csv -k 3 --seed 1 --qi {ROLES} --decide {OTHERS} --method lattice -o lattice.parquet",
    "verify safe.csv --original people.csv --json",
]


def run(command: list[str], folder: Path, settings: dict[str, str]) -> str:
    """What a program prints; it must end well. Wine knows no standard streams but pipes."""
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **settings},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sources of shoal with the kernels for Windows, compiled by zig as `hatch_build.py` compiles them."""
    folder = tmp_path_factory.mktemp("windows")
    shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    shutil.copy(ROOT / "hatch_build.py", folder)
    zig, python = f"{sys.executable} -m ziglang cc {TARGET}", WINDOWS / "python"
    settings = {
        "CC": zig,
        "LDSHARED": f"{zig} -shared",
        "CFLAGS": " ".join(PYCONFIG.split()),
        "LDFLAGS": f"-L{python} -lpython3",
    }
    run([sys.executable, "hatch_build.py"], folder, settings)
    for module in folder.glob("src/shoal/kernels/*.abi3.so"):  # named as setuptools names them here
        module.rename(module.with_name(module.name.replace(".abi3.so", ".pyd")))
    random = [str(MISSING_IN_WINE / "bcryptprimitives.c"), "-ladvapi32", "-o", str(python / "bcryptprimitives.dll")]
    run([*zig.split(), "-shared", *random], folder, {})
    return folder / "src"


def run_on_windows(source: Path, folder: Path, *arguments: str) -> str:
    """What Windows' Python prints; a path is one of drive Z there."""
    assert WINE is not None
    paths = (MISSING_IN_WINE, WINDOWS / "packages", source, TESTS)
    settings = {
        "WINEPREFIX": str(WINDOWS / "wine"),  # large, and the same for every run
        "WINEDEBUG": "-all",
        "PYTHONPATH": ";".join(f"Z:{path}" for path in paths),
    }
    return run([WINE, str(WINDOWS / "python" / "python.exe"), *arguments], folder, settings)


def test_kernels_compiled_for_windows_agree(source: Path, tmp_path: Path) -> None:
    times = compared(1, str(tmp_path / "calls"))
    found = json.loads(run_on_windows(source, tmp_path, "-m", "kernels.again", "calls"))
    assert found["system"] == "win32"
    assert not found["different"]
    assert {name.split(".")[0] for name in found["rounded"]} <= ROUNDED
    assert times == {name: found["same"].get(name, 0) + found["rounded"].get(name, 0) for name in times}


def test_releases_are_the_same_on_windows(source: Path, tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    for command in COMMANDS:
        mine = run([sys.executable, "-m", "shoal", *command.split()], here, {"PYTHONPATH": str(ROOT / "src")})
        other = run_on_windows(source, there, "-m", "shoal", *command.split())
        assert "--json" not in command or json.loads(mine) == json.loads(other), command
    assert {path.name for path in here.iterdir()} == {path.name for path in there.iterdir()}
    for name in ("people.csv", "safe.csv", "safe.dictionary.json", "lattice.parquet"):
        assert (here / name).read_bytes() == (there / name).read_bytes(), name
