"""Fuzz one target: `python worker.py TARGET COUNT SEED`. A process of its own, because a fault may end it.

Prints one line of JSON: how many inputs were read, refused, and what went wrong (with the input, to keep it).
"""

from __future__ import annotations

import base64
import json
import random
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from fuzz.targets import SENTINEL, TARGETS, Target
from shoal.errors import ShoalError


def one(target: Target, path: Path, data: bytes) -> str:
    """What became of one input: it may be read or refused, and nothing else."""
    path.write_bytes(data)
    try:
        target.read(path)
    except ShoalError as error:
        # a name may be shown, and a mutation may have made a value a name
        names = data.split(b"\n")[0] + b"".join(
            data.split(b'"')[1::2] if target.file.endswith(("jsonl", "json")) else []
        )
        return "shows a value" if SENTINEL in str(error) and SENTINEL.encode() not in names else "refused"
    except BaseException as error:  # panics of polars are no Exceptions
        return type(error).__name__
    return "read"


def main(name: str, count: int, seed: int) -> None:
    target = TARGETS[name]
    draw = random.Random(f"{name} {seed}")
    examples = target.examples()
    wrong: list[dict[str, Any]] = []
    refused = 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / target.file
        last = Path(folder).parent / f"shoal-fuzz-last-{name.replace(' ', '-')}"
        for number in range(count):
            data = examples[number] if number < len(examples) else target.change(draw.choice(examples), draw)
            last.write_bytes(data)  # what ended the process, if something does
            became = one(target, path, data)
            refused += became == "refused"
            if became != "read" and (became != "refused" or number < len(examples)):
                wrong.append({"number": number, "problem": became, "input": base64.b64encode(data).decode()[:8000]})
        last.unlink()
    # of this program alone: ru_maxrss begins with what its parent has
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    memory = int(status["VmHWM"].split()[0])
    found = {"inputs": count, "refused": refused, "wrong": wrong[:20], "all_wrong": len(wrong), "kilobytes": memory}
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
