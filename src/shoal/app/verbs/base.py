"""What a verb of the app is: the library's function, its options by the names of the command line, and both as text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

# how an option is typed: a value, columns `a,b`, a switch, a text repeated, `a=x,b=y`, `name=a,b` or `a,b` repeated
Form = Literal["value", "columns", "switch", "repeated", "pairs", "groups", "lists"]


@dataclass(frozen=True)
class Option:
    """How a field is called on the command line and in Python; `inside` is the class that groups it there."""

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
    wrote before."""

    source: str
    reading: Any
    policy: Path | None
    folder: Path
    releases: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Verb:
    """A verb: its name in addresses, its words on the command line, its function, and how it is run.

    `takes_policy` and `takes_reading`: the function knows these parameters. `run` stands in for a plain call.
    """

    name: str
    words: tuple[str, ...]
    home: str
    options: type[VerbOptions]
    summary: str
    takes_policy: bool = True
    takes_reading: bool = True
    run: Callable[[Task, Any], Any] | None = None

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
