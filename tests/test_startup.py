"""What a command loads before it works: counted, not timed."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from shoal.cli.commands import COMMANDS
from shoal.cli.group import load
from shoal.cli.method_table import METHOD_OPTIONS
from shoal.compiled import machine


@pytest.mark.parametrize("name", COMMANDS)
def test_the_line_in_the_table_is_the_first_of_the_commands_help(name: str) -> None:
    first = load(name).help.split("\n\n")[0]
    assert " ".join(first.split()) == COMMANDS[name].help


def modules_after(*arguments: str) -> set[str]:
    code = (
        f"import sys\nfrom shoal.cli import main\nsys.argv = ['shoal', *{arguments!r}]\n"
        "try:\n    main()\nexcept SystemExit as ended:\n    assert not ended.code, ended\n"
        "print('modules:', *sorted(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split("modules:")[-1].split())


# what `importlib.metadata` brings with it, which polars, pydantic and numba's version would have
NETWORK = {"email", "socket"}


def ours(modules: set[str]) -> set[str]:
    return {name for name in modules if name.startswith("shoal")}


def test_help_loads_the_table_of_commands_and_no_command() -> None:
    assert ours(modules_after("--help")) <= {
        "shoal",
        "shoal.cli",
        "shoal.cli.app",
        "shoal.cli.commands",
        "shoal.cli.group",
        "shoal.errors",
    }


def test_the_help_of_a_command_loads_no_data_frame_library() -> None:
    for name in COMMANDS:
        heavy = {"polars", "numpy", "pydantic", "numba"} & modules_after(name, "--help")
        assert not heavy, name


def module_of(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_table_of_method_options_is_the_registry(tmp_path: Path) -> None:
    generator = module_of(Path(__file__).parents[1] / "docs" / "method_table.py")
    fresh = tmp_path / "fresh.py"
    fresh.write_text(generator.source())
    assert module_of(fresh).METHOD_OPTIONS == METHOD_OPTIONS, "write it anew with: python docs/method_table.py"


def test_the_program_ends_with_the_exit_code_and_all_of_its_output(people: Path) -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-m", "shoal", *arguments], capture_output=True, text=True, check=False)

    done = run("risk", str(people), "--qi", "age,zip", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["records"] == 100
    assert run("risk", str(people), "--qi", "age,zip", "--fail-above-threshold").returncode == 1
    assert run("risk", str(people / "none.csv"), "--qi", "age").returncode == 2
    assert run("--version").returncode == 0


def test_what_is_to_be_done_at_the_end_is_done(tmp_path: Path) -> None:
    left = tmp_path / "left.txt"
    code = (
        f"import atexit, sys\nfrom pathlib import Path\natexit.register(Path({str(left)!r}).write_text, 'done')\n"
        "sys.argv = ['shoal', '--version']\nfrom shoal.cli import run\nrun()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("shoal ")
    assert left.read_text() == "done"


def test_a_reader_that_went_away_is_not_a_crash() -> None:
    shoal = subprocess.Popen([sys.executable, "-m", "shoal", "--help"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert shoal.stdout is not None
    assert shoal.stderr is not None
    shoal.stdout.close()
    errors = shoal.stderr.read()
    assert shoal.wait() in (1, 130)
    assert errors == b""


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    path.write_text("age,zip\n" + "".join(f"{20 + n % 40},{n % 7}\n" for n in range(100)))
    return path


def test_risk_loads_what_it_needs(people: Path) -> None:
    loaded = modules_after("risk", str(people), "--qi", "age,zip")
    heavy = {"pydantic", "numba", "pandas", "pyarrow", "narwhals", "yaml", "scipy", "numpy.ma"} & loaded
    assert not heavy
    assert not NETWORK & loaded
    packages = {name.split(".")[1] for name in ours(loaded) if "." in name}
    assert not packages & {"detection", "anonymization", "releases", "standards", "papers", "dp", "kinds", "reports"}
    assert len(ours(loaded)) <= 60


@pytest.mark.skipif(not machine.is_supported(), reason="machine code is loaded without numba on Linux on x86-64")
@pytest.mark.parametrize("method", ["lattice", "mondrian", "microaggregate"])
def test_numba_is_loaded_only_to_compile(method: str, people: Path, tmp_path: Path) -> None:
    command = ("anonymize", str(people), "-o", str(tmp_path / "safe.csv"), "--force", "--qi", "age,zip", "-k", "3")
    modules_after(*command, "--method", method)  # compiles what is not there yet
    assert not {"numba", "llvmlite", "scipy", *NETWORK} & modules_after(*command, "--method", method)


def test_a_module_that_is_rarely_used_is_there_when_it_is() -> None:
    code = (
        "import sys\nfrom shoal.cli import _load_at_first_use\n"
        "_load_at_first_use('importlib', 'metadata', 'entry_points')\n"
        "import importlib.metadata\nfrom importlib.metadata import entry_points\nassert 'email' not in sys.modules\n"
    )
    for use in (
        "assert entry_points(group='console_scripts').select(name='pytest')",
        "assert importlib.metadata.version('polars')",
        "from importlib.metadata import PackageNotFoundError as error\nassert issubclass(error, ImportError)",
    ):
        real = "assert importlib.metadata.entry_points.__module__ == 'importlib.metadata' and 'email' in sys.modules"
        subprocess.run([sys.executable, "-c", f"{code}{use}\n{real}"], check=True)
