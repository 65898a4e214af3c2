"""Fuzz the commands: `python commands.py COUNT SEED` runs so many on inputs that are nearly right, in one process.

Prints one line of JSON: how often each exit code came, and what went wrong (a traceback, an exit code that is not one
of the four, a value of the data in what was written).
"""

from __future__ import annotations

import base64
import contextlib
import io
import json
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import shoal
from fuzz.targets import SENTINEL, TARGETS, people
from shoal.cli import main

# what a command may end with: fine, not met, bad input, budget refused
EXITS = (0, 1, 2, 3)


OWN = {"desk": "desk/desk.json", "manifest": "safe.manifest.json"}


class Bench:
    """A folder with good files, in which one file after the other is replaced by a changed one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.people = folder / "people.csv"
        people().write_csv(self.people)
        columns = dict.fromkeys(people().columns, "other") | {"age": "quasi-identifier", "sex": "quasi-identifier"}
        policy = {"columns": columns, "models": [{"model": "k-anonymity", "k": 2}]}
        shoal.release(shoal.anonymize(people(), policy=policy, method="mondrian"), folder / "safe.csv")
        for name in ("desk", "asked"):
            shoal.open_desk(people(), folder=folder / name, epsilon=1, types="proposed")
        # these belong to what lies beside them
        self.own = {name: (folder / file).read_bytes() for name, file in OWN.items()}

    def examples(self, name: str) -> list[bytes]:
        """Good files to start from."""
        return [self.own[name]] if name in self.own else TARGETS[name].examples()

    def command(self, name: str, data: bytes, number: int) -> list[str]:
        """The changed input in its place, and the command that reads it."""
        path = self.folder / TARGETS[name].file
        if name == "condition":
            words = data.decode(errors="replace").replace("\0", "")
            asked = ["desk", "query", str(self.folder / "asked"), "count", "--preview", "--epsilon", "0.1"]
            return [*asked, f"--where={words}"]
        if name == "desk":
            path = self.folder / "desk" / "desk.json"
        path.write_bytes(data)
        applied = self.folder / f"applied-{number}.csv"
        given = {
            "policy": ["risk", str(self.people), "--policy", str(path)],
            "plan": ["apply", str(path), str(self.people), "-o", str(applied), "--unseen", "suppress"],
            "manifest": ["verify", str(self.folder / "safe.csv"), "--original", str(self.people)],
            "desk": ["desk", "show", str(path.parent)],
            "hierarchy": ["hierarchy", "check", str(path), "--data", str(self.people)],
            "hierarchy in YAML": ["hierarchy", "check", str(path)],
        }
        if name in given:
            return given[name]
        verb, *options = TARGETS[name].command
        return [verb, str(path), *options, *(["--json"] if number % 2 else [])]


def ended(arguments: list[str]) -> tuple[Any, str]:
    """The exit code of a command, or the exception that came through, and all that it wrote."""
    out, code = io.StringIO(), 0
    before, sys.argv = sys.argv, ["shoal", *arguments]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            main()
    except SystemExit as end:
        return end.code or 0, out.getvalue()
    except BaseException as error:  # panics of polars are no Exceptions
        return type(error).__name__, out.getvalue()
    finally:
        sys.argv = before
    return code, out.getvalue()


def fuzz(count: int, seed: int) -> dict[str, Any]:
    """So many commands over all targets in turn."""
    draw = random.Random(seed)
    codes: Counter[str] = Counter()
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder))
        examples = {name: bench.examples(name) for name in TARGETS}
        for number in range(count):
            name = list(TARGETS)[number % len(TARGETS)]
            known = examples[name]
            round_ = number // len(TARGETS)
            data = known[round_] if round_ < len(known) else TARGETS[name].change(draw.choice(known), draw)
            code, text = ended(bench.command(name, data, number))
            codes[str(code)] += 1
            # a mutation may make a value a name, and names are shown
            shows = SENTINEL in text and name in ("policy", "plan", "manifest", "desk", "condition")
            good = round_ >= len(known) or code in (0, 1)
            if code not in EXITS or not good or "Traceback" in text or shows:
                kept = base64.b64encode(data).decode()[:8000]
                wrong.append({"target": name, "code": code, "end": text[-300:], "input": kept})
    return {"codes": dict(codes), "wrong": wrong[:10], "all_wrong": len(wrong)}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(fuzz(int(sys.argv[1]), int(sys.argv[2]))) + "\n")
