"""A release whose writer was killed, or whose source changed meanwhile."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.errors import InputError
from shoal.releases.drafts import DraftFile, remove_dead_drafts
from shoal.releases.jobs import Writing, release_anonymized
from shoal.releases.places import FilePlace
from shoal.releases.write import release

HOW: dict[str, Any] = {"quasi_identifiers": ["age"], "k": 2, "method": "sorted-clusters"}


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    pl.DataFrame({"age": [30, 31, 40, 41]}).write_csv(path)
    return path


def test_the_draft_of_a_killed_writer_is_removed_by_the_next_release(people: Path, tmp_path: Path) -> None:
    folder = tmp_path / "released"
    folder.mkdir()
    code = (
        "import os, sys; from pathlib import Path; from shoal.releases.places import FilePlace\n"
        "FilePlace(Path(sys.argv[1])).fill(lambda draft: (draft.write_text('age\\n30'), os._exit(9)))"
    )
    for name in ("safe.csv", "other.csv"):
        assert subprocess.run([sys.executable, "-c", code, str(folder / name)], check=False).returncode == 9
    (left,) = folder.glob(".safe.*")
    assert left.stat().st_mode & 0o077 == 0
    release_anonymized(people, output=folder / "safe.csv", writing=Writing(seed=1), **HOW)
    assert not list(folder.glob(".safe.*"))
    assert list(folder.glob(".other.*")), "the draft of another target is not ours to remove"


def test_the_draft_of_a_living_writer_stays(tmp_path: Path) -> None:
    living = DraftFile(tmp_path / "safe.csv")
    assert remove_dead_drafts(tmp_path / "safe.csv") == 0
    # another number of process in the name: the lock is what tells
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    other = living.path.with_name(living.path.name.replace(str(os.getpid()), str(ended.pid)))
    living.path.rename(other)
    assert remove_dead_drafts(tmp_path / "safe.csv") == 0
    living.close()
    assert remove_dead_drafts(tmp_path / "safe.csv") == 1
    assert not list(tmp_path.iterdir())


def test_a_source_that_is_rewritten_during_the_work_is_refused(
    people: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output, stage = tmp_path / "safe.csv", FilePlace.stage

    def late(self: FilePlace, *given: Any) -> None:
        people.write_text("age\n30\n31\n50\n51\n")
        stage(self, *given)

    monkeypatch.setattr(FilePlace, "stage", late)
    with pytest.raises(InputError, match=r"people.csv was changed while shoal worked on it"):
        release_anonymized(people, output=output, writing=Writing(seed=1), **HOW)
    assert [file.name for file in tmp_path.iterdir()] == ["people.csv"]
    result = shoal.anonymize(people, **HOW)
    people.write_text("age\n30\n31\n60\n61\n")
    with pytest.raises(InputError, match="was changed"):
        release(result, output)
    assert not output.exists()
