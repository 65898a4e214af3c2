"""Openings that are killed: a desk is there whole or not at all, and what is left of it goes with the next opening."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from shoal.dp import Desk, open_desk
from shoal.dp.opening import draft_of

PEOPLE = {"age": list(range(100))}
OPENING = """
import sys
from shoal.dp import open_desk
from shoal.dp import opening
import polars as pl
frame = pl.DataFrame({f"c{n}": range(20_000) for n in range(30)})
if sys.argv[2] == "stuck":  # for ever, with the table in its draft
    def create(*_):
        print("drafted", flush=True)
        sys.stdin.read()
    opening.Ledger.create = staticmethod(create)
print("ready", flush=True)
open_desk(frame, folder=sys.argv[1], epsilon="1", types="proposed")
"""


def opening(folder: Path, how: str = "") -> subprocess.Popen[str]:
    started = subprocess.Popen(
        [sys.executable, "-c", OPENING, str(folder), how], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert started.stdout is not None
    assert started.stdout.readline() == "ready\n"
    return started


def kill(process: subprocess.Popen[str]) -> None:
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()


def drafts(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.name.endswith(".desk-draft")]


def test_a_killed_opening_is_cleared_away_by_the_next_and_a_living_one_is_not(tmp_path: Path) -> None:
    dead, alive = opening(tmp_path / "dead", "stuck"), opening(tmp_path / "alive", "stuck")
    for process in (dead, alive):
        assert process.stdout is not None
        assert process.stdout.readline() == "drafted\n"
    kill(dead)
    assert len(drafts(tmp_path)) == 2
    assert all(any((draft / "columns").iterdir()) for draft in drafts(tmp_path))
    (tmp_path / ".mine.0123abcd").mkdir()  # somebody else's
    (tmp_path / ".link.0123abcd.desk-draft").symlink_to(tmp_path / ".mine.0123abcd")
    found = open_desk(PEOPLE, folder=tmp_path / "desk", epsilon="1", types="proposed")
    assert found.removed_drafts == 1
    assert "1 draft" in str(found.sections())
    assert [draft.name.split(".")[1] for draft in drafts(tmp_path) if not draft.is_symlink()] == ["alive"]
    assert (tmp_path / ".mine.0123abcd").is_dir()
    kill(alive)
    # the key of the killed opening serves the next one
    assert open_desk(PEOPLE, folder=tmp_path / "alive", epsilon="1", types="proposed").removed_drafts == 1
    with Desk(tmp_path / "alive") as desk:
        assert desk.budget().queries == 0


def test_a_draft_that_did_not_become_a_desk_is_removed(tmp_path: Path) -> None:
    with draft_of(tmp_path / "desk") as draft:
        (draft / "columns").mkdir()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_sixty_killed_openings_leave_whole_desks_or_none(tmp_path: Path) -> None:
    chance = random.Random(0)
    whole = 0
    for number in range(60):
        folder = tmp_path / f"desk{number}"
        process = opening(folder)
        time.sleep(chance.uniform(0, 0.6))
        kill(process)
        if folder.exists():
            whole += 1
            with Desk(folder) as desk:
                assert desk.query("count", epsilon="0.5").entry == 1
    open_desk(PEOPLE, folder=tmp_path / "last", epsilon="1", types="proposed")
    assert drafts(tmp_path) == []
    assert 0 < whole < 60
