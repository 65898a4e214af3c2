"""A stream from JSON lines to JSON lines: with files and a state exactly once, through pipes at least once.

The state is a private folder. Its checkpoint holds what waits, the published boxes, and how far input and outputs had
come; it is replaced whole, after the outputs were synced. Who starts again with the same input goes on from there: what
the outputs have beyond it is cut off and made again, line by line the same.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import numpy as np
from pydantic_core import from_json

from shoal.errors import InputError, Message
from shoal.storage.writing import check_apart, check_target, failure, write_bytes
from shoal.streams.results import StreamResult
from shoal.streams.stream import Core, Rejected, plan_of, written_box, written_tails
from shoal.systems.console import shell_line
from shoal.systems.files import BINARY, sync
from shoal.systems.locks import Lock
from shoal.verbs.base import takes
from shoal.verbs.releasing import StreamRequest

PIPE = "-"
SEQUENCE = "_sequence"
CHECKPOINT, PERSONS = "checkpoint.npz", "persons.bin"
LONGEST_LINE = 1 << 24
_CHUNK = 1 << 20
# a checkpoint after so many times the delay, at least so many records, or so many seconds
_DELAYS, _RECORDS, _SECONDS = 10, 1000, 5.0
_ENDINGS = (".jsonl", ".ndjson")
_OTHER_INPUT = "Give the input that it was made from, from its start, or start anew with another folder and output."


@takes(StreamRequest)
def stream(source: Any, asked: StreamRequest) -> StreamResult:
    """Publish a stream of records: `source` and `output` are files of JSON lines, or `-` for the standard ones.

    With files and a `state` every record is published once, whenever the job is killed and started again. Lines that
    cannot be taken go to `rejects`; without it the first one is an error.
    """
    try:
        with ExitStack() as stack:
            return _Job(str(source), asked, stack).run()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise InputError(f"The stream stopped: {failure(error)}.", "Mend it, and run again.") from None


class _Known:
    """How much went through, and the hash of it, by which it is known again."""

    def __init__(self) -> None:
        self.size, self.hash = 0, hashlib.sha256()

    def add(self, data: bytes) -> None:
        self.size += len(data)
        self.hash.update(data)

    def to_dict(self) -> dict[str, Any]:
        return {"size": self.size, "sha256": self.hash.hexdigest()}


class _GrowingFile:
    """What is written: the standard output, or a file that is cut to where a checkpoint left it."""

    def __init__(self, path: str | None, stack: ExitStack, private: bool, left: dict[str, Any] | None) -> None:
        self.known, self.path = _Known(), path
        self.file: IO[bytes] | None = None
        if path == PIPE:
            self.file = sys.stdout.buffer
            self.known.size = 0 if left is None else left["size"]
        elif path is not None:
            try:
                self.file = stack.enter_context(_opened(Path(path), private, left is None))
            except OSError as error:
                raise InputError(f"{path} cannot be written: {failure(error)}.", "Choose another place.") from None
            if left is not None:
                self._cut(self.file, left)

    def _cut(self, file: IO[bytes], left: dict[str, Any]) -> None:
        """Back to where a checkpoint left it."""
        while data := file.read(min(left["size"] - self.known.size, _CHUNK)):
            self.known.add(data)
        if left["sha256"] != self.known.to_dict()["sha256"]:
            raise InputError(f"{self.path} is not as the state knows it.", "Put back the file that was written.")
        file.truncate(self.known.size)
        file.seek(self.known.size)

    def to_dict(self) -> dict[str, Any] | None:
        """Where it is, and how far it has come."""
        return None if self.file is None else {**self.known.to_dict(), "path": _full(self.path)}

    def write(self, data: bytes) -> None:
        """Add to the end."""
        if self.file is None or not data:
            return
        try:
            self.file.write(data)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise InputError(f"{self.path} cannot be written: {failure(error)}.", "Make room, and run again.") from None
        self.known.add(data)

    def flush(self, down: bool) -> None:
        """Let it go; `down` to the disk."""
        if self.file is not None:
            self.file.flush()
            if down and self.path != PIPE:
                os.fsync(self.file.fileno())


def _full(path: str | None) -> str | None:
    """A path by which the same file is known again."""
    return path if path is None or path == PIPE else str(Path(path).resolve())


def _opened(path: Path, private: bool, anew: bool) -> IO[bytes]:
    mode = 0o600 if private else 0o666
    if anew:
        path.unlink(missing_ok=True)
    handle = os.open(path, os.O_RDWR | os.O_CREAT | BINARY, mode)
    return os.fdopen(handle, "r+b")


class _Job:
    """One run from an input to its outputs."""

    def __init__(self, source: str, asked: StreamRequest, stack: ExitStack) -> None:
        self.source, self.plan = source, plan_of(asked.policy)
        self.core, self.boxes = Core(self.plan, asked.delay, asked.time), dict[int, bytes]()
        output, rejects = str(asked.output), None if asked.rejects is None else str(asked.rejects)
        self.folder = None if asked.state is None else Path(asked.state)
        self.numbered = PIPE in (source, output)
        recorded = self.folder is not None and output != PIPE
        self.check = f"shoal verify {shell_line(output, '--state', str(self.folder))}" if recorded else None
        self._check(asked, output, rejects)
        self.settings = {
            "format": 1,
            "policy": self.plan.policy.as_written(),
            "delay": asked.delay,
            "time": asked.time,
            "output": _full(output),
        }
        self.read, self.line = _Known(), 0
        self.input = self._open(stack)
        left = self._lock_and_load(stack)
        sizes: dict[str, Any] = left or dict.fromkeys(("output", "rejects", "persons"))
        known = sizes["rejects"]
        if known is not None and known["path"] != _full(rejects):
            raise InputError("The state has another file of rejects.", "Name the same one.")
        for path, before in ((output, sizes["output"]), (rejects, known)):
            if path not in (None, PIPE) and before is None:
                check_target(Path(str(path)), asked.force, _ENDINGS)
        self._skip(left)
        if left is None:
            none = _Known().to_dict()
            started = {"output": none, "rejects": None if rejects is None else {**none, "path": _full(rejects)}}
            self._save({**started, "persons": none})
        self.output = _GrowingFile(output, stack, False, sizes.get("output"))
        self.rejects = _GrowingFile(rejects, stack, True, sizes.get("rejects"))
        persons = None if self.folder is None or output == PIPE else str(self.folder / PERSONS)
        self.persons = _GrowingFile(persons, stack, True, sizes.get("persons"))
        self.tails = written_tails(self.plan.others)
        self.saved, self.saved_at = self.core.counts["records"], time.monotonic()

    def _check(self, asked: StreamRequest, output: str, rejects: str | None) -> None:
        files = {"input": self.source, "output": output, "rejects": rejects}
        files = {word: path for word, path in files.items() if path != PIPE}
        policy = asked.policy if isinstance(asked.policy, (str, Path)) else None
        check_apart(**files, policy=policy, state=None if self.folder is None else self.folder / CHECKPOINT)
        if self.numbered and SEQUENCE in self.plan.known:
            raise InputError(f"A column is called {SEQUENCE}, as the numbers of lines in pipes are.", "Rename it.")

    # --- the state

    def _lock_and_load(self, stack: ExitStack) -> dict[str, Any] | None:
        if self.folder is None:
            return None
        try:
            self.folder.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise InputError(f"{self.folder} cannot be a folder: {failure(error)}.", "Name another one.") from None
        lock = Lock(self.folder / "lock")
        if not lock.take():
            raise InputError(f"Another stream works with {self.folder}.", "Wait for it, or name another folder.")
        stack.callback(lock.release)
        for draft in self.folder.glob(f".{CHECKPOINT}.*"):  # of a job that was killed
            draft.unlink(missing_ok=True)
        found = read_checkpoint(self.folder)
        if found is None:
            return None
        arrays, kept = found
        odd = [word for word, value in self.settings.items() if kept["settings"].get(word) != value]
        if odd:
            raise InputError(
                f"The state in {self.folder} is of another {odd[0]}.", "Ask as before, or name another folder."
            )
        tails = [] if not kept["core"]["positions"] else arrays["tails"].tobytes().split(b"\n")
        self.core.restore(arrays, kept["core"], tails)
        self.line = kept["line"]
        left: dict[str, Any] = kept["left"]
        return left

    def _save(self, left: dict[str, Any]) -> None:
        if self.folder is None:
            return
        arrays, kept = self.core.to_state()
        content = {
            "settings": self.settings,
            "core": kept,
            "line": self.line,
            "left": {**left, "input": self.read.to_dict()},
        }
        packed = io.BytesIO()
        tails = np.frombuffer(b"\n".join(self.core.tails.values()), np.uint8)
        about = np.frombuffer(json.dumps(content).encode(), np.uint8)
        np.savez(packed, allow_pickle=False, about_state=about, tails=tails, **arrays)
        written = packed.getvalue()
        write_bytes(self.folder / CHECKPOINT, written + hashlib.sha256(written).digest(), 0o600)
        sync(self.folder)

    def checkpoint(self) -> None:
        """Outputs down to the disk, then the state that knows how long they are."""
        if self.folder is not None:
            sinks = {"output": self.output, "rejects": self.rejects, "persons": self.persons}
            for sink in sinks.values():
                sink.flush(down=True)
            self._save({word: sink.to_dict() for word, sink in sinks.items()})
        self.saved, self.saved_at = self.core.counts["records"], time.monotonic()

    # --- the input

    def _open(self, stack: ExitStack) -> io.FileIO:
        if self.source == PIPE:
            return io.FileIO(sys.stdin.fileno(), closefd=False)
        try:
            return stack.enter_context(io.FileIO(self.source))
        except OSError as error:
            raise InputError(f"{self.source} cannot be read: {failure(error)}.", "Check its name.") from None

    def _skip(self, left: dict[str, Any] | None) -> None:
        """Past what was read already, which must be there again."""
        if left is None:
            return
        wanted, known = left["input"]["size"], left["input"]["sha256"]
        while self.read.size < wanted:
            data = self.input.read(min(_CHUNK, wanted - self.read.size))
            if not data:
                raise InputError("The input is shorter than what the state has read.", _OTHER_INPUT)
            self.read.add(data)
        if self.read.to_dict()["sha256"] != known:
            raise InputError("The input is not the one that the state has read.", _OTHER_INPUT)

    def _lines(self) -> Iterator[list[bytes]]:
        """Whole lines as they come; the last one may lack its end."""
        rest = b""
        while data := self.input.read(_CHUNK):
            whole, end, after = data.rpartition(b"\n")
            if not end:
                rest += data
                if len(rest) > LONGEST_LINE:
                    raise InputError(
                        f"Line {self.line + 1} is longer than {LONGEST_LINE:,} bytes.", "Is this JSON lines?"
                    )
                continue
            whole, rest = rest + whole, after
            self.read.add(whole + end)
            yield whole.split(b"\n")
        if rest:
            self.read.add(rest)
            yield [rest]

    # --- the way of the records

    def run(self) -> StreamResult:
        """All of the input; a checkpoint now and then, and one at the end."""
        every = max(_DELAYS * self.core.delay, _RECORDS)
        for lines in self._lines():
            self._publish(lines)
            due = self.core.counts["records"] - self.saved >= every or time.monotonic() - self.saved_at > _SECONDS
            if due:
                self.checkpoint()
        self._publish([], ends=True)
        self.checkpoint()
        if self.folder is None:
            self.output.flush(down=True)
        return replace(self.core.result(), check=self.check)

    def _publish(self, lines: Sequence[bytes], ends: bool = False) -> None:
        core, first = self.core, self.line + 1
        rows, places, rejected = _parsed(lines, first == 1)
        core.counts["malformed"] += len(rejected)
        refused, values, persons, taken = core.check(rows)
        rejected += [Rejected(places[one.place], one.reason) for one in refused]
        if rejected:
            self._reject(sorted(rejected), lines, first)
        if len(taken) < len(rows):
            rows, values, persons = [rows[place] for place in taken], values[taken], persons[taken]
        left, out = core.feed(rows, values, persons, map(self.tails, rows), ends)
        self.line += len(lines)
        for serial, texts in core.texts.items():
            if serial not in self.boxes:
                self.boxes[serial] = written_box(self.plan.names, texts)
        if self.numbered:
            number, boxes = core.counts["released"] - len(left), self.boxes
            written = [
                b'{"%s":%d,%s%s' % (SEQUENCE.encode(), number + place, boxes[serial][1:], tail)
                for place, (serial, tail) in enumerate(left, 1)
            ]
        else:
            written = [self.boxes[serial] + tail for serial, tail in left]
        if written:
            self.output.write(b"\n".join(written) + b"\n")
            self.output.flush(down=False)
            self.persons.write(np.ascontiguousarray(out[:, [0, 2, 3]]).tobytes())
        core.forget()
        self.boxes = {serial: self.boxes[serial] for serial in core.texts}

    def _reject(self, rejected: Sequence[Rejected], lines: Sequence[bytes], first: int) -> None:
        if self.rejects.file is None:
            one = rejected[0]
            raise InputError(
                f"Line {first + one.place} is not taken: {one.reason}.",
                Message("Mend it, or name a file for such lines with `{rejects}`."),
            )
        entries = [
            {"line": first + one.place, "reason": one.reason, "text": lines[one.place].decode(errors="surrogateescape")}
            for one in rejected
        ]
        self.rejects.write("".join(json.dumps(entry) + "\n" for entry in entries).encode())


def _parsed(lines: Sequence[bytes], at_start: bool) -> tuple[list[dict[str, Any]], list[int], list[Rejected]]:
    """The records of lines, where they stand, and what is none; empty lines are passed over."""
    try:
        rows = [from_json(line, allow_inf_nan=False) for line in lines]
        if set(map(type, rows)) <= {dict}:
            return rows, list(range(len(lines))), []
    except ValueError:
        pass
    rows, places, rejected = [], [], []
    for place, line in enumerate(lines):
        if at_start and place == 0:
            line = line.removeprefix(b"\xef\xbb\xbf")
        if not line.strip():
            continue
        try:
            row = from_json(line, allow_inf_nan=False)
        except ValueError:
            row = None
        if type(row) is dict:
            rows.append(row)
            places.append(place)
        else:
            rejected.append(Rejected(place, "no JSON object"))
    return rows, places, rejected


def read_checkpoint(folder: Path) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """The arrays of a state and what else it knows; None where there is none yet."""
    try:
        content = (folder / CHECKPOINT).read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"The state in {folder} cannot be read: {failure(error)}.", "Check its rights.") from None
    try:
        content, end = content[:-32], content[-32:]
        if hashlib.sha256(content).digest() != end:
            raise ValueError
        with np.load(io.BytesIO(content), allow_pickle=False) as packed:
            arrays = {name: packed[name] for name in packed.files}
        kept = json.loads(arrays.pop("about_state").tobytes())
    except Exception:
        raise InputError(f"The state in {folder} is damaged.", "Put back a copy, or start anew.") from None
    return arrays, kept
