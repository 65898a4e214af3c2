"""The same step on the command line and in Python: what was clicked can be read, reviewed and repeated."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Any

from shoal.app.project import Workspace

_POLICY = "policy.yaml"


@dataclass(frozen=True)
class Same:
    """A step as commands and as Python."""

    shell: str
    python: str


def same(workspace: Workspace, *steps: tuple[str, str, dict[str, Any]]) -> Same:
    """Commands on the file of a workspace: words of the command, function in Python, and what is given to both.

    `policy` among what is given stands for the policy that can be downloaded.

    >>> from pathlib import Path
    >>> space = Workspace(Path("w"), "0" * 16, "my data.csv", Path("x"), "upload")
    >>> print(same(space, ("risk", "risk", {"policy": "policy.yaml"})).shell)
    shoal risk 'my data.csv' --policy policy.yaml
    >>> print(same(space, ("detect", "detect", {"columns": ["age", "zip"]})).python)
    import shoal
    <BLANKLINE>
    shoal.detect('my data.csv', columns=['age', 'zip'])
    """
    file = str(workspace.source) if workspace.origin == "machine" else workspace.name
    lines, calls = [], ["import shoal", ""]
    for words, function, given in steps:
        reading = _reading(workspace)
        flags = [f"{_flag(name)} {shlex.quote(_typed(value))}" for name, value in {**given, **reading}.items()]
        lines.append(" ".join(["shoal", words, shlex.quote(file), *flags]))
        inside = ", ".join(f"{name}={value!r}" for name, value in reading.items())
        options = [f"options=shoal.reading.Options({inside})"] if reading else []
        arguments = [repr(file), *(f"{name}={value!r}" for name, value in given.items()), *options]
        calls.append(f"shoal.{function}({', '.join(arguments)})")
    return Same("\n".join(lines), "\n".join(calls))


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def _typed(value: Any) -> str:
    return ",".join(value) if isinstance(value, (list, tuple)) else str(value)


def _reading(workspace: Workspace) -> dict[str, Any]:
    return {name: value for name, value in vars(workspace.reading).items() if value}
