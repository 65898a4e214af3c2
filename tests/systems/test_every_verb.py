"""Every verb on the three systems: the same exit codes, the same words, the same bytes, and nothing left behind."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from shoal.verbs import VERBS
from systems.conftest import HERE, environment
from systems.every_verb import COMMANDS

# what is drawn anew each time, or says when it was made
RANDOM = ("table.csv", "words.csv", "reports.csv", "private.csv", "apart/quasi-identifiers.csv", "apart/sensitive.csv")
COMPARED = (".csv", ".parquet", ".yaml", ".svg", ".pub")
TEXTS = (".csv", ".yaml", ".svg", ".html", ".json", ".xml", ".sarif", ".md")
# what they print depends on the system, or on chance
VARYING = {"doctor", "publish", "desk", "pseudonymize", "dp-release", "epsilon", "estimate", "local", "joint"}


def run(system: str, folder: Path) -> tuple[list[dict[str, Any]], dict[str, bytes]]:
    """What every command said, and the files that it wrote."""
    work, temporary, report = folder / "work", folder / "temporary", folder / "report.json"
    for made in (work, temporary):
        made.mkdir()
    command = [sys.executable, str(HERE / "every_verb.py"), str(work), str(report)]
    done = subprocess.run(command, env=environment(system, temporary), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode("cp1252")[-2000:]
    assert [path.name for path in temporary.iterdir()] == [], "left in the folder for temporary files"
    assert not [path for path in work.rglob("*") if ".lock" in path.name or "draft" in path.name]
    files = {path.relative_to(work).as_posix(): path.read_bytes() for path in work.rglob("*") if path.is_file()}
    return json.loads(report.read_bytes()), files


def without_times(text: str, exact: bool) -> str:
    """What was printed, without numbers (some are seconds) and without quotes: PowerShell needs them at a comma."""
    return text if exact else re.sub(r"[0-9.]+", "0", text).replace('"', "").replace("'", "")


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[dict[str, Any]], dict[str, bytes]]:
    """The system that the tests run on."""
    return run("here", tmp_path_factory.mktemp("here"))


def test_every_verb_is_among_the_commands() -> None:
    assert {words[0] for words, _ in COMMANDS} == {words.split()[0] for words in VERBS}


def test_every_verb_works_here(here: tuple[list[dict[str, Any]], dict[str, bytes]]) -> None:
    for one in here[0]:
        assert one["code"] == one["expected"], (one["words"], one["text"][-1000:])


@pytest.mark.parametrize("system", ["win32", pytest.param("darwin", marks=pytest.mark.slow)])
def test_every_verb_works_alike(
    system: str, here: tuple[list[dict[str, Any]], dict[str, bytes]], tmp_path: Path
) -> None:
    said, files = run(system, tmp_path)
    for one, other in zip(said, here[0], strict=True):
        assert one["code"] == one["expected"], (one["words"], one["text"][-1000:])
        if one["words"][0] not in VARYING:
            plain = [without_times(text["text"], "--json" in one["words"]) for text in (one, other)]
            assert plain[0] == plain[1], one["words"]
    assert files.keys() == here[1].keys()
    for name, content in files.items():
        if name.endswith(COMPARED) and name not in RANDOM and "owner" not in name:
            assert content == here[1][name], name
        if name.endswith(TEXTS):
            assert content.count(b"\r") == here[1][name].count(b"\r"), name
