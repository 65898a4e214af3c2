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
from shoal.releases.jobs import Writing, release_anonymized
from shoal.releases.places import DraftFile, FilePlace, remove_dead_drafts
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
    left, lock = sorted(folder.glob(".safe.*"))
    assert lock.name == f"{left.name}.lock"
    assert all(file.stat().st_mode & 0o077 == 0 for file in (left, lock))
    release_anonymized(people, output=folder / "safe.csv", writing=Writing(seed=1), **HOW)
    assert not list(folder.glob(".safe.*"))
    assert list(folder.glob(".other.*")), "the draft of another target is not ours to remove"


def test_the_draft_of_a_living_writer_stays(tmp_path: Path) -> None:
    living = DraftFile(tmp_path / "safe.csv")
    assert remove_dead_drafts(tmp_path / "safe.csv") == 0
    # the lock is what tells, not the number of the process in the name
    (tmp_path / f".safe.{os.getpid()}-0123abcd.draft.csv").touch()
    (tmp_path / f".safe.{os.getpid()}-0123abce.draft.csv.lock").touch()  # of one that was killed before it had a draft
    assert remove_dead_drafts(tmp_path / "safe.csv") == 1
    assert len(list(tmp_path.iterdir())) == 2
    living.close()
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


def killed_while_parts_take_their_names(people: Path, output: Path, renamed: int) -> None:
    code = (
        "import os, sys; from pathlib import Path; import shoal.releases.places as places\n"
        "from shoal.releases.jobs import Writing, release_anonymized\n"
        "kept, left = places.replace, int(sys.argv[3])\n"
        "def replace(source, target):\n"
        "    global left\n"
        "    if not left: os._exit(9)\n"
        "    left -= 1; kept(source, target)\n"
        "places.replace = replace\n"
        "release_anonymized(sys.argv[1], output=sys.argv[2], writing=Writing(force=True),\n"
        "    quasi_identifiers=['age'], k=2, method='sorted-clusters')"
    )
    command = [sys.executable, "-c", code, str(people), str(output), str(renamed)]
    assert subprocess.run(command, check=False).returncode == 9


def test_the_parts_of_killed_writers_are_removed_by_the_next_release(people: Path, tmp_path: Path) -> None:
    folder = tmp_path / "released"
    folder.mkdir()
    output = folder / "safe[1].csv"
    writing = Writing(force=True)
    release_anonymized(people, output=output, writing=writing, **HOW)
    whole = sorted(file.name for file in folder.iterdir())
    for renamed in (0, 1, 2, 0):
        killed_while_parts_take_their_names(people, output, renamed)
        assert shoal.verify(output, original=people).verdict == "holds"
    assert any(file.name.startswith(".safe[1].private.json.") for file in folder.iterdir())
    (folder / "..safe[1].private.json.0123456789abcdef.01234567").touch()  # of one that was killed in the midst of it
    (folder / ".safe[1].private.json.01234567").touch()
    others = [".other.private.json.01234567", ".safe[1].manifest.json.swp"]
    for name in others:
        (folder / name).touch()
    release_anonymized(people, output=output, writing=writing, **HOW)
    assert sorted(file.name for file in folder.iterdir()) == sorted(whole + others)


def test_the_parts_of_a_living_writer_stay(people: Path, tmp_path: Path) -> None:
    """A second release of the same name waits until the parts of the first have their names."""
    output, published = tmp_path / "safe.csv", FilePlace.publish
    release_anonymized(people, output=output, writing=Writing(), **HOW)
    code = (
        "import sys; from shoal.releases.jobs import Writing, release_anonymized\n"
        "release_anonymized(sys.argv[1], output=sys.argv[2], writing=Writing(force=True),\n"
        "    quasi_identifiers=['age'], k=2, method='sorted-clusters')"
    )
    second: list[subprocess.Popen[bytes]] = []

    def publish(self: FilePlace) -> None:
        if not second:
            second.append(subprocess.Popen([sys.executable, "-c", code, str(people), str(output)]))
            while len(list(tmp_path.glob(".safe.*.draft.csv"))) < 2:
                assert second[0].poll() is None
        published(self)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(FilePlace, "publish", publish)
        release_anonymized(people, output=output, writing=Writing(force=True), **HOW)
    assert second[0].wait() == 0
    assert shoal.verify(output, original=people).verdict == "holds"
    assert not list(tmp_path.glob(".*"))


def test_without_locks_the_parts_of_others_stay(people: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(handle: int, *, blocking: bool) -> bool:
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr("filelock.lock_descriptor", refused)
    waiting = tmp_path / ".safe.private.json.0123456789abcdef"
    waiting.touch()
    release_anonymized(people, output=tmp_path / "safe.csv", writing=Writing(), **HOW)
    assert waiting.exists()


def test_a_release_that_would_share_its_parts_is_told_to_take_another_name(people: Path, tmp_path: Path) -> None:
    release_anonymized(people, output=tmp_path / "safe.csv", writing=Writing(), **HOW)
    with pytest.raises(InputError, match=r"safe\.manifest\.json exists already") as refused:
        release_anonymized(people, output=tmp_path / "safe.parquet", writing=Writing(), **HOW)
    assert refused.value.cure == "Choose another name, or replace it with `force`."
