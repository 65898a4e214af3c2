"""What a command loads before it works: counted, not timed."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from shoal.cli.group import app, load
from shoal.verbs import VERBS


def test_every_command_has_a_line_in_the_overview_and_help_of_its_own() -> None:
    overview = CliRunner().invoke(app, ["--help"]).output
    for words in VERBS:
        assert re.search(rf"^  ({words.split()[0]} +\S|also .*\b{words.split()[0]}\b)", overview, re.M), words
        assert (load(words).help or "").startswith("**"), words


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


def test_help_loads_the_requests_and_nothing_that_works() -> None:
    loaded = ours(modules_after("--help"))
    requests = {name for name in loaded if name.startswith("shoal.verbs")}
    assert loaded - requests <= {
        "shoal",
        "shoal.cli",
        "shoal.cli.group",
        "shoal.cli.help",
        "shoal.errors",
        "shoal.vocabulary",
    }


# their options are those of the methods, which are imported with what they work on
WITH_METHOD_OPTIONS = {"anonymize", "lattice"}


@pytest.mark.parametrize("name", sorted(set(VERBS) - WITH_METHOD_OPTIONS))
def test_the_help_of_a_command_loads_no_data_frame_library(name: str) -> None:
    assert not {"polars", "numpy"} & modules_after(*name.split(), "--help")


def test_the_program_ends_with_the_exit_code_and_all_of_its_output(people: Path) -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-m", "shoal", *arguments], capture_output=True, text=True, check=False)

    done = run("risk", str(people), "--qi", "age,zip", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["records"] == 100
    assert run("risk", str(people), "--qi", "age,zip", "--fail-above-threshold").returncode == 1
    assert run("risk", str(people / "none.csv"), "--qi", "age").returncode == 2
    assert run("--version").returncode == 0


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
    path.write_text("age,zip,town\n" + "".join(f"{20 + n % 40},{n % 7},town {n % 5}\n" for n in range(100)))
    return path


def test_risk_loads_what_it_needs(people: Path) -> None:
    loaded = modules_after("risk", str(people), "--qi", "age,zip,town")
    assert not {"pandas", "pyarrow", "narwhals", "yaml", "scipy", "numpy.ma", "pydantic"} & loaded
    packages = {name.split(".")[1] for name in ours(loaded) if "." in name}
    assert not packages & {"detection", "methods", "releases", "reproduction", "dp", "identifiers", "reports"}
    assert len(ours(loaded)) <= 60


def test_the_library_measures_risk_without_pydantic(people: Path) -> None:
    code = (
        f"import sys, shoal\nshoal.risk({str(people)!r}, quasi_identifiers=['age', 'zip'])\n"
        "print({'pydantic', 'click', 'rich'} & set(sys.modules) or 'none')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "none"


@pytest.mark.parametrize(
    ("method", "most"), [("mondrian", 200), ("microaggregate", 200), ("suppress", 200), ("lattice", 236), (None, 240)]
)
def test_anonymize_loads_what_it_needs(method: str | None, most: int, people: Path, tmp_path: Path) -> None:
    """The lattice builds hierarchies by what columns hold, and so asks every recogniser of identifiers."""
    command = ("anonymize", str(people), "-o", str(tmp_path / "safe.csv"), "--qi", "age,zip", "-k", "3")
    loaded = modules_after(*command, "--decide", "town=other", *(["--method", method] if method else []))
    assert not {"pandas", "pyarrow", "scipy", "yaml"} & loaded
    packages = {name.split(".")[1] for name in ours(loaded) if "." in name}
    assert not packages & {"reproduction", "dp", "attacks", "reports", "text", "exposure"}
    assert "shoal.policy.condition_parser" not in loaded
    assert len(ours(loaded)) <= most


@pytest.mark.parametrize("method", ["lattice", "mondrian", "microaggregate"])
def test_anonymize_loads_no_scipy(method: str, people: Path, tmp_path: Path) -> None:
    command = (
        "anonymize",
        str(people),
        "-o",
        str(tmp_path / "safe.csv"),
        "--qi",
        "age,zip",
        "-k",
        "3",
        "--decide",
        "town=other",
    )
    assert not {"scipy", "Cython", "cython"} & modules_after(*command, "--method", method)
