"""What a verb of the app is: the library's function, its options by the names of the command line, and both as text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from shoal.errors import InputError

# how an option is typed: a value, a file of this machine, columns `a,b`, a switch, a text repeated, `a=x,b=y`,
# `name=a,b`, `name=a+b` or `a,b` repeated, and numbers `1,2`
Form = Literal["value", "file", "columns", "switch", "repeated", "pairs", "groups", "sums", "lists", "numbers"]


@dataclass(frozen=True)
class Option:
    """How a field is called on the command line and in Python; `inside` is the class that groups it there.

    Without a flag it is an argument of the command.
    """

    flag: str
    form: Form = "value"
    parameter: str | None = None
    inside: tuple[str, str] | None = None


class VerbOptions(BaseModel):
    """The options of a verb; what is not given is as the library has it."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    def given(self) -> list[tuple[str, Option, Any]]:
        """The options that were given, each with how it is called."""
        found = []
        for name, entry in type(self).model_fields.items():
            value = getattr(self, name)
            option = next((made for made in entry.metadata if isinstance(made, Option)), None)
            if option is not None and value != entry.default:
                found.append((option.parameter or name, option, value))
        return found

    def files(self) -> list[str]:
        """The files of this machine that the options name."""
        return [value for _, option, value in self.given() if option.form == "file"]

    def arguments(self) -> dict[str, Any]:
        """The keyword arguments of the library's function."""
        found: dict[str, Any] = {}
        inside: dict[tuple[str, str], dict[str, Any]] = {}
        for name, option, value in self.given():
            if option.inside is None:
                found[name] = value
            else:
                inside.setdefault(option.inside, {})[name] = value
        shoal = import_module("shoal")
        return found | {parameter: getattr(shoal, group)(**fields) for (parameter, group), fields in inside.items()}


@dataclass(frozen=True)
class Task:
    """What a verb works on: the file and how it is read, the policy, the folder for what it writes, and what verbs
    released before, by the workspace of the file and the verb."""

    source: str
    reading: Any
    policy: Path | None
    folder: Path
    workspace: str = ""
    releases: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def released(self, by: str, workspace: str | None = None) -> str:
        """The release that a verb made of this file, or of another that is open."""
        found = self.releases.get(workspace or self.workspace, {})
        if by not in found:
            raise InputError("Nothing is released yet.", f"Run {by} first.")
        return found[by]


def out(task: Task) -> Path:
    """The folder for what may leave, made."""
    folder = task.folder / "out"
    folder.mkdir(mode=0o700)
    return folder


@dataclass(frozen=True)
class Verb:
    """A verb: its name in addresses, its words on the command line, its function, and how it is run.

    `takes_policy` and `takes_reading`: the function knows these parameters. `run` stands in for a plain call.
    `writes`: it releases a file, and this is its name, without an ending, where the step is repeated by hand.
    """

    name: str
    words: tuple[str, ...]
    home: str
    options: type[VerbOptions]
    summary: str
    takes_policy: bool = True
    takes_reading: bool = True
    run: Callable[[Task, Any], Any] | None = None
    writes: str | None = None

    @property
    def function(self) -> str:
        """The name of the function in Python."""
        return self.home.partition(":")[2]

    def call(self, task: Task, options: VerbOptions) -> Any:
        """Run the verb on a file; a `Result` comes back."""
        if self.run is not None:
            return self.run(task, options)
        module, _, name = self.home.partition(":")
        policy = {"policy": task.policy} if self.takes_policy else {}
        reading = {"options": task.reading} if self.takes_reading else {}
        return getattr(import_module(module), name)(task.source, **options.arguments(), **policy, **reading)
