"""`shoal doctor`: what is there, what is missing, what is broken, each with its cure."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import pytest

from shoal import doctor as module
from shoal.doctor import BRINGS, doctor

ROOT = Path(__file__).parents[1]


def part(name: str) -> module.Part:
    return next(part for part in doctor().parts if part.name == name)


def test_the_command_prints_the_result_and_ends_well() -> None:
    run = subprocess.run([sys.executable, "-m", "shoal", "doctor", "--json"], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout
    found = json.loads(run.stdout)
    assert found["verdict"] == "fine"
    assert {entry["group"] for entry in found["parts"]} == {"needed", "extra", "program", "place"}
    assert all(entry["cure"] for entry in found["parts"] if entry["state"] != "fine")


def test_every_extra_of_the_project_says_what_it_brings() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert set(BRINGS) <= set(project["optional-dependencies"])


def test_the_versions_of_python_are_those_of_the_project(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"]
    least, end = (int(number) for number in re.findall(r"3\.(\d+)", asked))
    for minor in range(least - 1, end + 1):
        monkeypatch.setattr(module.sys, "version_info", (3, minor, 0))
        assert module._python().state == ("fine" if least <= minor < end else "broken")


def test_a_package_that_is_missing_or_old_is_told_with_its_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    real = metadata.version

    def version(name: str) -> str:
        if name == "cryptography":
            raise metadata.PackageNotFoundError(name)
        return "1.9.9" if name == "polars" else real(name)

    monkeypatch.setattr(module.metadata, "version", version)
    found = doctor()
    assert not found.healthy
    assert "polars" in found.summary()
    broken = next(part for part in found.parts if part.name == "polars")
    assert (broken.state, broken.detail) == ("broken", "1.9.9 is older than 2")
    absent = next(part for part in found.parts if part.name == "shoal[sign]")
    assert (absent.state, absent.cure) == ("absent", "pip install 'shoal[sign]'")


def test_places_that_cannot_be_used_are_broken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SHOAL_SPILL", str(tmp_path / "nowhere"))
    assert part("disk").state == "broken"
    monkeypatch.setenv("SHOAL_SPILL", str(tmp_path))
    assert part("disk").state == "fine"
    monkeypatch.setattr(module, "_LEAST_DISK", 1 << 62)
    assert "SHOAL_SPILL" in (part("disk").cure or "")


def test_kernels_that_are_not_compiled_are_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (part("kernels").state, part("kernels").detail) == ("fine", "ready for this version")
    monkeypatch.setattr(module, "import_module", lambda name: SimpleNamespace(__file__=f"{name}.py"))
    assert part("kernels").state == "broken"

    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(module, "import_module", missing)
    assert (part("kernels").state, part("kernels").cure) == ("broken", module._INSTALL_AGAIN)


def test_a_password_file_that_others_can_read_is_told_without_its_content(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "pgpass"
    file.write_text("host:5432:*:clerk:geheim\n")
    monkeypatch.setenv("PGPASSFILE", str(file))
    monkeypatch.setenv("PGPASSWORD", "geheim")
    file.chmod(0o644)
    assert part("PostgreSQL").cure == f"chmod 600 {file}"
    file.chmod(0o600)
    found = doctor()
    assert "geheim" not in json.dumps(found.to_dict())
    assert "PGPASSWORD" in part("PostgreSQL").detail


def test_extras_that_the_installed_metadata_does_not_know_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {"": module.requirements()[""], "sign": []}
    monkeypatch.setattr(module, "requirements", lambda: known)
    assert part("shoal[sign]").state == "fine"
    assert "older than this source" in part("shoal[sklearn]").detail
    assert "pip install" in str(part("shoal[sklearn]").cure)
    notes = [line for section in module.doctor().sections() for line in getattr(section, "notes", [])]
    assert sum("Install shoal again" in line for line in notes) == 1  # said once for all of them


def test_programs_that_are_absent_do_not_break_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.devnull)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    found = doctor()
    assert found.healthy
    assert "Java" in {part.name for part in found.parts if part.state == "absent"}
    assert "Chromium" not in {part.name for part in found.parts}, "only the tests of pages need it"
