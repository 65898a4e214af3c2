"""The child process of one job: one verb on one file, its progress, and its result, in files.

It reads one JSON line from its input and ends when that input is closed, that is, when the server ends, however it
ends. Nothing is printed: a message of a bug could hold values.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from shoal import progress
from shoal.app.picker import Picker
from shoal.app.project import FileReading, Stored, parsed
from shoal.app.verb_options import Task
from shoal.app.verbs import VERBS
from shoal.errors import InputError, ShoalError
from shoal.storage.writing import write_bytes
from shoal.systems.files import replace
from shoal.systems.machine import give_way

_EVERY = 0.2
_NICER = 5


def main() -> int:
    """Do the job that the first line of the input names."""
    line = sys.stdin.buffer.readline()
    end_with_parent()
    order = json.loads(line)
    folder = Path(order["folder"])
    try:
        with progress.listening(Progress(folder / "progress.json").report):
            found = run(order, folder)
        found.write(folder / "result.json")
    except BaseException as error:  # a panic inside polars is not an Exception
        said = {name: by_its_name(text, order) for name, text in in_words(error).items()}
        write_bytes(folder / "error.json", json.dumps(said).encode(), 0o600)
        return 1
    return 0


def run(order: dict[str, Any], folder: Path) -> Stored:
    """Call the verb."""
    verb = VERBS[order["verb"]]
    reading = FileReading(**order["reading"])
    policy = allowed_policy(order)
    options = verb.options.model_validate(order["options"])
    _picker(order).check_files([*reading.files(), *options.files()])
    task = Task(order["source"], reading.options(), policy, folder, order["workspace"], order["releases"])
    found = verb.call(task, options)
    return found if isinstance(found, Stored) else Stored.of(found)


def allowed_policy(order: dict[str, Any]) -> Path | None:
    """The policy that an order names; refused where, by now, a file that it names lies outside the allowed folders."""
    if order["policy"] is None:
        return None
    path = Path(order["policy"])
    _picker(order).check_policy(parsed(path.read_bytes()))
    return path


def _picker(order: dict[str, Any]) -> Picker:
    return Picker(tuple(Path(folder) for folder in order["allow"]))


def by_its_name(text: str, order: dict[str, Any]) -> str:
    """A message with the file's name as its owner knows it, not the path that the app keeps it under.

    >>> by_its_name("/p/w/1/source/data.csv is empty.", {"source": "/p/w/1/source/data.csv", "name": "people.csv"})
    'people.csv is empty.'
    """
    return text.replace(order["source"], order["name"])


def in_words(error: BaseException) -> dict[str, str]:
    """What happened, and the cure: the library's words, or that it is a bug, without its message."""
    if isinstance(error, InputError):
        return {"error": error.what, "cure": error.cure or ""}
    if isinstance(error, ShoalError):
        return {"error": str(error), "cure": ""}
    if isinstance(error, MemoryError):
        return {"error": "There is not enough memory for this table.", "cure": "Name fewer columns."}
    if isinstance(error, OSError):
        return {"error": f"The system refused: {error.strerror}.", "cure": "Check the disk and the rights."}
    return {"error": f"shoal failed ({type(error).__name__}); this is a bug in shoal.", "cure": "Please report it."}


class Progress:
    """Writes how far a step has come to a small file, a few times a second at most."""

    def __init__(self, path: Path) -> None:
        self._path, self._last, self._step = path, 0.0, ""

    def report(self, step: str, done: float, total: float | None) -> None:
        """Hear of a step."""
        now = time.monotonic()
        if step == self._step and now - self._last < _EVERY:
            return
        self._last, self._step = now, step
        share = min(1.0, max(0.0, done / total)) if total else None
        draft = self._path.with_suffix(".new")
        draft.write_bytes(json.dumps({"step": step, "share": share}).encode())
        with suppress(InputError):  # Windows: somebody reads it just now
            replace(draft, self._path)


def end_with_parent() -> None:
    """End this process when its input is closed, and let the pages go first."""

    def wait() -> None:
        while sys.stdin.buffer.readline():
            pass
        os._exit(3)

    threading.Thread(target=wait, daemon=True).start()
    give_way(_NICER)


if __name__ == "__main__":
    os._exit(main())
