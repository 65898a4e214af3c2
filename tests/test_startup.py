"""What a command loads before it works: counted, not timed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from shoal.cli.commands import COMMANDS
from shoal.cli.group import load


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


# their options come from the registry of methods
FROM_REGISTRY = {"anonymize", "lattice"}


def test_the_help_of_a_command_loads_no_data_frame_library() -> None:
    for name in set(COMMANDS) - FROM_REGISTRY:
        heavy = {"polars", "numpy", "pydantic", "numba"} & modules_after(name, "--help")
        assert not heavy, name


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    path.write_text("age,zip\n" + "".join(f"{20 + n % 40},{n % 7}\n" for n in range(100)))
    return path


def test_risk_loads_what_it_needs(people: Path) -> None:
    loaded = modules_after("risk", str(people), "--qi", "age,zip")
    heavy = {"pydantic", "numba", "pandas", "pyarrow", "narwhals", "yaml", "scipy"} & loaded
    assert not heavy
    packages = {name.split(".")[1] for name in ours(loaded) if "." in name}
    assert not packages & {"detection", "anonymization", "releases", "standards", "papers", "dp", "kinds", "reports"}
    assert len(ours(loaded)) <= 60
