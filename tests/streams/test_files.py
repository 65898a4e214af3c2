"""Streams through files and pipes: exactly once whatever ends the job, rejects with their reasons, persons verified."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import shoal
from shoal.cli import app
from shoal.errors import InputError, ShoalError
from shoal.streams import files
from shoal.streams.verify import verify_stream

POLICY = """
columns: {who: identifier, age: quasi-identifier, town: quasi-identifier, ill: sensitive, n: other}
person: who
models: [{model: k-anonymity, k: 3}, {model: l-diversity, l: 2, sensitive: ill}]
"""


def records(count: int, seed: int = 0) -> list[dict[str, Any]]:
    draw = random.Random(seed)
    towns, ills = ["Lyon", "Nice", "Rome"], ["flu", "cold", "HIV"]
    return [
        {
            "who": draw.randrange(40),
            "age": draw.randrange(90),
            "town": draw.choice(towns),
            "ill": draw.choice(ills),
            "n": n,
        }
        for n in range(count)
    ]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines = [json.dumps(record) for record in records(600)]
    lines[17], lines[200], lines[201] = "no json", json.dumps({"who": 1, "age": "old"}), ""
    (tmp_path / "in.jsonl").write_text("\n".join(lines))
    (tmp_path / "policy.yaml").write_text(POLICY)
    return tmp_path


def asked(folder: Path, **more: Any) -> dict[str, Any]:
    named = {"policy": folder / "policy.yaml", "rejects": folder / "bad.jsonl", "output": folder / "out.jsonl"}
    return {**named, "delay": 20, "state": folder / "state", **more}


def run(folder: Path, **more: Any) -> Any:
    return shoal.stream(folder / "in.jsonl", **asked(folder, **more))


def content(folder: Path) -> tuple[bytes, bytes, bytes]:
    return tuple((folder / name).read_bytes() for name in ("out.jsonl", "bad.jsonl", "state/persons.bin"))  # type: ignore[return-value]


def same_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.streams.stream.secrets.token_bytes", lambda count: b"s" * count)


def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("_CHUNK", 700), ("_DELAYS", 1), ("_RECORDS", 40)):
        monkeypatch.setattr(files, name, value)


def test_each_record_leaves_once_or_is_counted(folder: Path) -> None:
    result = run(folder)
    out = [json.loads(line) for line in (folder / "out.jsonl").read_text().splitlines()]
    assert result.records == 597
    assert result.released == len(out) == len({record["n"] for record in out})
    assert result.released + result.suppressed == result.records
    given = {record["n"]: record for record in records(600)}
    assert all(record["ill"] == given[record["n"]]["ill"] for record in out)
    assert all(set(record) == {"age", "town", "ill", "n"} for record in out)
    assert result.longest_wait <= 20


def test_rejects_have_line_reason_and_text_and_are_private(folder: Path) -> None:
    result = run(folder)
    bad = [json.loads(line) for line in (folder / "bad.jsonl").read_text().splitlines()]
    assert [(entry["line"], entry["text"][:7]) for entry in bad] == [(18, "no json"), (201, '{"who":')]
    assert bad[1]["reason"] == "column 'age' has another type, or a value that is not declared"
    assert result.malformed == 2
    for path in (folder / "bad.jsonl", folder / "state" / "checkpoint.npz", folder / "state" / "persons.bin"):
        assert path.stat().st_mode & 0o077 == 0


def test_without_rejects_the_first_bad_line_ends_the_stream(folder: Path) -> None:
    with pytest.raises(InputError, match="Line 18 is not taken: no JSON object") as caught:
        run(folder, rejects=None)
    assert "no json" not in str(caught.value)
    # it goes on from its state once there is a place for such lines
    assert run(folder).malformed == 2
    assert verify_stream(folder / "out.jsonl", folder / "state").holds


def test_a_second_run_changes_nothing_and_a_longer_input_goes_on(folder: Path) -> None:
    first = run(folder)
    before = content(folder)
    assert run(folder) == first
    assert content(folder) == before
    with (folder / "in.jsonl").open("a") as file:
        file.write("\n" + "\n".join(json.dumps(record) for record in records(100, 1)))
    assert run(folder).records == 697
    assert content(folder)[0].startswith(before[0])
    assert verify_stream(folder / "out.jsonl", folder / "state").holds


class Killed(BaseException):
    pass


def crash_after(monkeypatch: pytest.MonkeyPatch, steps: int, draw: random.Random) -> None:
    """After so many writes, syncs and replacements the job ends; of a write only a part gets through."""
    left = [steps]

    def step(real: Any, partial: bool) -> Any:
        def call(*given: Any) -> Any:
            left[0] -= 1
            if left[0] == 0:
                if partial:
                    given[0].file.write(given[1][: draw.randrange(len(given[1]) + 1)])
                    given[0].file.flush()
                raise Killed
            if left[0] < 0:
                raise Killed
            return real(*given)

        return call

    monkeypatch.setattr(files._GrowingFile, "write", step(files._GrowingFile.write, True))
    monkeypatch.setattr(files, "write_bytes", step(files.write_bytes, False))
    monkeypatch.setattr(files.os, "fsync", step(os.fsync, False))


def test_whatever_ends_it_the_output_is_that_of_one_run(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    same_secret(monkeypatch)
    small_steps(monkeypatch)
    run(folder)
    whole, draw, crashes = content(folder), random.Random(5), 0
    for _ in range(12):
        for name in ("out.jsonl", "bad.jsonl", "state/persons.bin", "state/checkpoint.npz"):
            (folder / name).unlink()
        for _ in range(100):
            with monkeypatch.context() as patched:
                crash_after(patched, draw.randrange(1, 60), draw)
                try:
                    run(folder)
                    break
                except Killed:
                    crashes += 1
        else:
            run(folder)
        assert content(folder) == whole
    assert crashes > 25
    assert verify_stream(folder / "out.jsonl", folder / "state").holds


KILLED = """
import sys, time
from shoal.streams import files
files._CHUNK, files._RECORDS, files._DELAYS = 2000, 40, 1
read = files.os.read
def slowly(*given):
    time.sleep(0.002)
    return read(*given)
files.os.read = slowly
import shoal
folder = sys.argv[1]
shoal.stream(f"{folder}/in.jsonl", policy=f"{folder}/policy.yaml", delay=20, state=f"{folder}/state",
    rejects=f"{folder}/bad.jsonl", output=f"{folder}/out.jsonl")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
@pytest.mark.parametrize("kills", [3, pytest.param(200, marks=pytest.mark.slow)])
def test_kill_9_loses_and_repeats_nothing(folder: Path, kills: int) -> None:
    count = 60 * kills + 600
    (folder / "in.jsonl").write_text("\n".join(json.dumps(record) for record in records(count)) + "\n")
    command = [sys.executable, "-c", KILLED, str(folder)]
    draw, killed, ended = random.Random(3), 0, False
    for _ in range(50 * kills):
        before = (folder / "state" / "checkpoint.npz").stat().st_mtime_ns if (folder / "state").exists() else 0
        job = subprocess.Popen(command)
        if killed < kills:
            # not before it has begun to work: a checkpoint of its own is there
            until = time.monotonic() + 60
            while time.monotonic() < until and job.poll() is None:
                checkpoint = folder / "state" / "checkpoint.npz"
                if checkpoint.exists() and checkpoint.stat().st_mtime_ns != before:
                    break
                time.sleep(0.001)
            time.sleep(draw.random() * 0.01)
            if job.poll() is None:
                job.send_signal(signal.SIGKILL)
                killed += 1
        ended = job.wait() == 0
        if ended:
            break
    assert ended
    assert killed >= min(kills, 3)
    result = run(folder)
    out = [json.loads(line)["n"] for line in (folder / "out.jsonl").read_text().splitlines()]
    assert len(out) == len(set(out)) == result.released
    assert result.released + result.suppressed == result.records == count
    found = verify_stream(folder / "out.jsonl", folder / "state")
    assert found.holds, found.reasons()


def test_what_is_not_the_input_or_the_output_of_the_state_is_refused(folder: Path) -> None:
    run(folder)
    given = (folder / "in.jsonl").read_text()
    for changed, why in ((given[:-30], "shorter"), (given.replace("Lyon", "Rome"), "not the one")):
        (folder / "in.jsonl").write_text(changed)
        with pytest.raises(InputError, match=why):
            run(folder)
    (folder / "in.jsonl").write_text(given)
    for more in ({"delay": 30}, {"output": folder / "other.jsonl"}, {"rejects": folder / "other.jsonl"}):
        with pytest.raises(InputError, match="state"):
            run(folder, **more)
    out = (folder / "out.jsonl").read_text()
    (folder / "out.jsonl").write_text(out.replace("flu", "FLU"))
    with pytest.raises(InputError, match="not as the state knows it"):
        run(folder)
    (folder / "out.jsonl").write_text(out)
    (folder / "state" / "checkpoint.npz").write_bytes(b"PK")
    with pytest.raises(InputError, match="damaged"):
        run(folder)


def test_files_that_are_there_are_not_replaced_unless_asked(folder: Path) -> None:
    (folder / "out.jsonl").write_text("mine")
    with pytest.raises(InputError, match="exists already"):
        run(folder)
    assert (folder / "out.jsonl").read_text() == "mine"
    assert run(folder, force=True).released
    with pytest.raises(InputError, match="at once"):
        run(folder, output=folder / "in.jsonl", state=None, force=True)


def test_one_job_at_a_time_works_with_a_state(folder: Path) -> None:
    from shoal.systems.locks import Lock

    (folder / "state").mkdir()
    with Lock(folder / "state" / "lock"), pytest.raises(InputError, match="Another stream"):
        run(folder)


def test_verify_counts_persons_and_finds_what_was_changed(folder: Path) -> None:
    run(folder)
    out = folder / "out.jsonl"
    found = shoal.verify(out, state=folder / "state")
    assert found.holds
    assert found.k >= 3
    lines = out.read_text().splitlines()
    first = json.loads(lines[0])
    tampered = {
        "narrower": [json.dumps({**first, "age": "[1;2]"}), *lines[1:]],
        "one value": [line.replace("cold", "flu").replace("HIV", "flu") for line in lines],
        "no record": ["{}", *lines[1:]],
        "longer": [*lines, lines[-1]],
        "shorter": lines[:-1],
    }
    for changed in tampered.values():
        out.write_text("\n".join(changed) + "\n")
        assert not shoal.verify(out, state=folder / "state").holds
    out.write_text("\n".join(lines) + "\n")
    persons = np.fromfile(folder / "state" / "persons.bin", np.int64).reshape(-1, 3)
    # as if all records were of one person, as if one were there twice, as if one had waited longer
    for column, value in ((1, 7), (0, persons[0, 0]), (2, 10**6)):
        changed = persons.copy()
        changed[:, column] = value
        changed.tofile(folder / "state" / "persons.bin")
        assert not shoal.verify(out, state=folder / "state").holds


def test_without_the_state_verify_says_that_it_counts_records_only(folder: Path) -> None:
    run(folder)
    found = shoal.verify(folder / "out.jsonl", policy=folder / "policy.yaml")
    assert not found.holds
    assert next(check.detail for check in found.checks if check.name == "persons").endswith("by `state` of a stream")
    assert all(model.holds for model in found.models)


def test_the_command_line(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    command = ["stream", "in.jsonl", "--policy", "policy.yaml", "--delay", "20", "--state", "state"]
    done = CliRunner().invoke(app, [*command, "--rejects", "bad.jsonl", "-o", "out.jsonl", "--json"])
    assert done.exit_code == 1, done.output
    assert json.loads(done.stdout)["malformed"] == 2
    assert CliRunner().invoke(app, ["verify", "out.jsonl", "--state", "state"]).exit_code == 0
    again = CliRunner().invoke(app, [*command[:-2], "-o", "new.jsonl"])
    assert isinstance(again.exception, InputError)


def test_pipes_number_their_lines_so_that_what_comes_again_is_known(folder: Path) -> None:
    given = [json.dumps(record) for record in records(600)]
    code = "import sys; from shoal.streams import files; files._RECORDS = 40; files._DELAYS = 1; files._CHUNK = 2000\n"
    code += "from shoal.cli import run; sys.argv = ['shoal', *sys.argv[1:]]; run()"
    command = [sys.executable, "-c", code, "stream", "-", "--policy", str(folder / "policy.yaml"), "--delay", "20"]
    command += ["--state", str(folder / "state"), "-o", "-"]

    def piped(lines: list[str], ends: bool) -> list[dict[str, Any]]:
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as job:
            assert job.stdin is not None
            assert job.stdout is not None
            job.stdin.write(("\n".join(lines) + "\n").encode())
            if not ends:
                job.stdin.flush()
                got = [job.stdout.readline() for _ in range(250)]
                job.kill()
                return [json.loads(line) for line in got]
            out = job.communicate()[0]
            assert job.returncode == 0
            return [json.loads(line) for line in out.splitlines()]

    first, second = piped(given[:400], ends=False), piped(given, ends=True)
    assert [line["_sequence"] for line in first] == list(range(1, 251))
    # what comes again is the same line, and after it every record is there once
    merged = {line["_sequence"]: line for line in first}
    assert all(merged.get(line["_sequence"], line) == line for line in second)
    merged |= {line["_sequence"]: line for line in second}
    assert sorted(merged) == list(range(1, len(merged) + 1))
    assert max(Counter(line["n"] for line in merged.values()).values()) == 1


def test_what_two_consecutive_outputs_give_away_together_is_measured(folder: Path) -> None:
    run(folder)
    found = shoal.attack_intersect(folder / "out.jsonl", state=folder / "state")
    persons = np.fromfile(folder / "state" / "persons.bin", np.int64).reshape(-1, 3)
    lines = [json.loads(line) for line in (folder / "out.jsonl").read_text().splitlines()]
    frame = pl.DataFrame(lines).with_columns(person=pl.Series(persons[:, 1]))
    middle = int(np.median(persons[:, 2]))
    halves = [frame.filter(pl.Series(side)) for side in (persons[:, 2] <= middle, persons[:, 2] > middle)]
    assert found.persons == len(set(halves[0]["person"]) & set(halves[1]["person"]))
    by_hand = 0
    for person in set(halves[0]["person"]) & set(halves[1]["person"]):
        possible: set[str] | None = None
        for half in halves:
            own = half.filter(pl.col("person") == person)
            values = set(half.join(own.select("age", "town").unique(), on=["age", "town"])["ill"])
            possible = values if possible is None else possible & values
        real = set(halves[0].filter(pl.col("person") == person)["ill"])
        by_hand += len(possible or ()) == 1 and bool((possible or set()) & real)
    assert found.columns[0].certain == by_hand


def test_without_persons_nobody_is_in_two_outputs(folder: Path) -> None:
    (folder / "policy.yaml").write_text(POLICY.replace("person: who\n", "").replace("who: identifier", "who: other"))
    run(folder)
    with pytest.raises(InputError, match="names no person"):
        shoal.attack_intersect(folder / "out.jsonl", state=folder / "state")


def test_what_cannot_begin_leaves_nothing_and_an_empty_output_promises_nothing(folder: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        shoal.stream(folder / "none.jsonl", **asked(folder))
    assert not (folder / "state").exists()
    (folder / "in.jsonl").write_text("")
    assert run(folder).records == 0
    found = verify_stream(folder / "out.jsonl", folder / "state")
    assert not found.holds
    for source, state in ((folder / "none.jsonl", folder / "state"), (folder / "out.jsonl", folder)):
        with pytest.raises(InputError):
            shoal.verify(source, state=state)


def test_drafts_of_killed_jobs_are_removed(folder: Path) -> None:
    run(folder)
    draft = folder / "state" / ".checkpoint.npz.0123"
    draft.write_bytes(b"half")
    run(folder)
    assert not draft.exists()
    assert sorted(path.name for path in (folder / "state").iterdir()) == ["checkpoint.npz", "persons.bin"]


def test_a_tree_whose_labels_say_otherwise_is_refused() -> None:
    tree = [["34", "[40;49]", "*"], ["45", "[40;49]", "*"]]
    policy = {"columns": {"age": "quasi-identifier"}, "hierarchies": {"age": tree}}
    with pytest.raises(ShoalError):
        shoal.Stream({**policy, "models": [{"model": "k-anonymity", "k": 2}]}, delay=5)
