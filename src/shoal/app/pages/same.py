"""The same step on the command line and in Python, as the pages show it: one or several verbs, one after the other."""

from __future__ import annotations

from typing import Any

from shoal.app.project import Workspace
from shoal.app.same_again import SameAgain, same_again


def same(workspace: Workspace, *steps: tuple[str, dict[str, Any]]) -> SameAgain:
    """Verbs with their options as commands below each other, and as one piece of Python."""
    found = [made for verb, options in steps if (made := same_again(workspace, verb, options)) is not None]
    commands = "\n".join(made.command for made in found)
    python = [line for made in found for line in made.python.splitlines()]
    once = [line for place, line in enumerate(python) if line != "import shoal" or place == 0]
    return SameAgain(commands, "\n".join(once))
