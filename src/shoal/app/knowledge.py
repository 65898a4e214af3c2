"""What attackers with other knowledge would find: one counting process per opened file, asked many times.

The first question counts the file; every further one is answered from the count table. A process ends when its file is
closed, when it was not asked for a while, or when the policy or the reading options change.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from shoal.app.jobs import end, start_child
from shoal.app.project import Workspace
from shoal.app.stored import Stored, section_from_json
from shoal.errors import InputError

_GONE = "The counting process ended without a word; often the memory was not enough."


class _Asked:
    """A counting process: what it was made for, and the line to it."""

    def __init__(self, workspace: Workspace, columns: list[str], stamp: tuple[Any, ...]) -> None:
        self.stamp, self.columns, self.used = stamp, columns, time.monotonic()
        self.lock = threading.Lock()
        self._tmp = tempfile.TemporaryDirectory(prefix="count-", dir=workspace.folder)
        (Path(self._tmp.name) / "tmp").mkdir(mode=0o700)
        self.child: subprocess.Popen[bytes] = start_child(
            "shoal.app.counter", Path(self._tmp.name), stdout=subprocess.PIPE
        )

    def say(self, order: dict[str, Any]) -> dict[str, Any]:
        """One question, one answer."""
        assert self.child.stdin is not None
        assert self.child.stdout is not None
        line = b""
        with suppress(BrokenPipeError, ValueError):
            self.child.stdin.write(json.dumps(order).encode() + b"\n")
            self.child.stdin.flush()
            line = self.child.stdout.readline()
        self.used = time.monotonic()
        if not line:
            raise InputError(_GONE, "Ask about fewer columns.")
        found: dict[str, Any] = json.loads(line)
        if "error" in found:
            raise InputError(found["error"], found["cure"] or None)
        return found

    def close(self) -> None:
        """End the process."""
        end(self.child)
        for pipe in (self.child.stdin, self.child.stdout):
            with suppress(OSError):
                if pipe is not None:
                    pipe.close()
        self._tmp.cleanup()


class Counters:
    """The counting processes of all opened files."""

    def __init__(self, idle_seconds: float, allow: tuple[Path, ...] = ()) -> None:
        self._idle, self._allow = idle_seconds, [str(folder) for folder in allow]
        self._of: dict[str, _Asked] = {}
        self._lock = threading.Lock()

    def ask(self, workspace: Workspace, known: list[str], columns: list[str]) -> Stored:
        """The risk where an attacker knows `known`, some of `columns`, which are counted once."""
        self.close_idle()
        asked = self._process(workspace, columns)
        with asked.lock:
            found = asked.say({"columns": known})
        sections = [section_from_json(section) for section in found["sections"]]
        return Stored(found["result"], found["summary"], sections)

    def is_ready(self, workspace: Workspace, columns: list[str]) -> bool:
        """Whether a question would be answered at once."""
        asked = self._of.get(workspace.id)
        ready = asked is not None and asked.stamp == _stamp(workspace) and set(columns) <= set(asked.columns)
        return ready and asked is not None and not asked.lock.locked()

    def _process(self, workspace: Workspace, columns: list[str]) -> _Asked:
        stamp = _stamp(workspace)
        with self._lock:
            asked = self._of.get(workspace.id)
            usable = asked is not None and asked.stamp == stamp and set(columns) <= set(asked.columns)
            if asked is not None and usable and asked.child.poll() is None:
                return asked
            if asked is not None:
                asked.close()
            asked = self._of[workspace.id] = _Asked(workspace, columns, stamp)
            asked.lock.acquire()  # whoever asks next waits for the first count
        try:
            asked.say({**_order(workspace, columns), "allow": self._allow})
        except InputError:
            self.close_workspace(workspace.id)
            raise
        finally:
            asked.lock.release()
        return asked

    def close_workspace(self, identifier: str) -> None:
        """End the process of a file."""
        with self._lock:
            asked = self._of.pop(identifier, None)
        if asked is not None:
            asked.close()

    def close_idle(self) -> None:
        """End processes that nobody asked for long."""
        now = time.monotonic()
        old = [name for name, asked in list(self._of.items()) if now - asked.used > self._idle]
        for name in old:
            if not self._of[name].lock.locked():
                self.close_workspace(name)

    def close(self) -> None:
        """End all of them."""
        for name in list(self._of):
            self.close_workspace(name)


def _order(workspace: Workspace, columns: list[str]) -> dict[str, Any]:
    reading = {**vars(workspace.reading), "missing": list(workspace.reading.missing)}
    policy = str(workspace.policy_path) if workspace.has_policy else None
    return {"source": str(workspace.source), "columns": columns, "reading": reading, "policy": policy}


def _stamp(workspace: Workspace) -> tuple[Any, ...]:
    """What the count depends on: the file, how it is read, and the policy."""
    changed = workspace.policy_path.stat().st_mtime_ns if workspace.has_policy else 0
    with suppress(OSError):
        found = workspace.source.stat()
        return (workspace.reading, changed, found.st_mtime_ns, found.st_size)
    return (workspace.reading, changed)
