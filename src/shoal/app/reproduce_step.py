"""A step of the app as a command and as Python, to be reviewed and repeated.

Both run in a folder that holds `policy.yaml` (download it) and, where it was uploaded or generated, the file itself; a
file of this machine is named by its whole path. Releases are written to `release/` or `safe.csv` there, and later steps
take them from there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from shoal.app.project import Workspace
from shoal.app.verb_options import Verb, VerbOptions
from shoal.app.verbs import VERBS, OfTwoReleases
from shoal.errors import InputError
from shoal.systems.console import shell_line
from shoal.verbs.forms import in_one

__all__ = ["ReproducedStep", "in_one", "reproduce_step", "script", "source_of"]

POLICY, DESK, RELEASE, PROPOSED, PLACES = "policy.yaml", "desk", "release", "proposed.yaml", "spans.csv"
# functions of the library whose result is printed as it is, and by which name they are imported where `shoal` has none
_PRINTED = {"publish", "verify", "attack", "attack-link", "attack-membership", "attack-intersect"}


@dataclass(frozen=True)
class ReproducedStep:
    """One step, twice."""

    command: str
    python: str


def reproduce_step(
    workspace: Workspace, verb: str, options: VerbOptions | dict[str, Any] | None = None
) -> ReproducedStep | None:
    """A step as text; None for what the app does for itself (a preview, a tree held against its column)."""
    if verb in ("preview", "hierarchy-check"):
        return None
    known = VERBS[verb]
    made = options if isinstance(options, VerbOptions) else known.options.model_validate(options or {})
    step = _Step(workspace, known, made)
    return ReproducedStep(step.command(), step.python())


def script(steps: Iterable[ReproducedStep]) -> str:
    """All steps as a script of the shell that stops at the first failure."""
    return "\n".join(["#!/bin/sh", "set -e", *(step.command for step in steps), ""])


def source_of(workspace: Workspace) -> str:
    """How the file is called: by its path, or, where the app has its own copy, by its name."""
    if workspace.origin == "machine":
        return str(workspace.source)
    return f"./{workspace.name}" if workspace.name.startswith(("-", "~")) else workspace.name


def _written_by(verb: str) -> str:
    """What a verb releases where the step is repeated by hand: a folder, or a file."""
    return RELEASE if VERBS[verb].writes is None else f"{VERBS[verb].writes}.csv"


class _Step:
    """A step, ready to be written."""

    def __init__(self, workspace: Workspace, verb: Verb, options: Any) -> None:
        self.workspace, self.verb, self.options = workspace, verb, options
        self.source = source_of(workspace)
        # what the step works on, and what it writes or is held against: keywords of the library, in its own words
        self.first: Any = self.source
        self.more: dict[str, Any] = {}
        self._place()

    def _place(self) -> None:
        """What the step is on and what it writes, verb by verb."""
        options, name, kind = self.options, self.verb.name, getattr(self.options, "file_format", "csv")
        if self.verb.writes is not None:
            self.more["output"] = f"{self.verb.writes}.{kind}"
        match name:
            case "sample-data":
                self.first, self.more = options.sample, {"output": self.source}
            case "publish":
                self.more["output"] = RELEASE
            case "verify" | "attack":
                self.first, self.more = _written_by(options.release), {"original": self.source}
            case "compare":
                self.first = [_written_by(one.release) for one in options.releases]
            case "attack-link" | "attack-membership" | "attack-intersect":
                self.first = self.source if options.release is None else _written_by(options.release)
            case "hierarchy-build":
                self.more["output"] = "hierarchy.csv" if len(options.column) == 1 else "hierarchies"
            case "k-safety" | "regenerate":
                self.more["output"] = f"{'filled' if name == 'regenerate' else 'documents'}.{kind}"
            case "report":
                self.first = f"{RELEASE}.private"
                self.more = {"pdf": "report.pdf"} if options.pdf else {"html": "report.html"}
            case "apply":
                plan = f"{RELEASE}.private/data.plan.json" if options.release == "publish" else "safe.plan.json"
                self.more["plan"] = plan
            case "desk-open":
                self.more["folder"] = DESK
            case "desk-query" | "desk-show":
                self.first = DESK
        if isinstance(options, OfTwoReleases):
            other = options.second_file if options.second is None else _written_by(options.second.release)
            self.more["second"] = str(other)
        if getattr(options, "propose", False):
            self.more = {"write_policy": PROPOSED}
        if getattr(options, "spans_out", False):
            self.more["spans_out"] = PLACES
        if noise := getattr(options, "correlated_noise", None):
            self.more["correlated_noise"] = {tuple(one.columns): one.share for one in noise}
        if self.verb.name in ("anonymize", "lattice") and options.suppression is not None:
            self.more["suppression"] = options.suppression

    # --- the command line

    def command(self) -> str:
        """The command, quoted for the shell."""
        entries = {entry.name: entry for entry in self.options.request.typed()}
        values = {entry.name: value for entry, value in self.options.given()} | self.more
        if self.verb.takes_policy and self.workspace.has_policy:
            values["policy"] = POLICY
        positional: list[str] = []
        typed: list[str] = []
        try:
            for name, entry in entries.items():
                if name == "file":
                    positional += self.first if isinstance(self.first, list) else [self.first]
                elif name in values:
                    to = typed if entry.option.flag else positional
                    to += entry.form.arguments(entry.option.first, values[name])
        except InputError as error:
            return f"# {error.what} {error.cure}"
        if "suppression" in values:
            typed += ["--suppression", str(values["suppression"])]
        return shell_line("shoal", *self.verb.words, *positional, *typed, *self._reading_arguments())

    def _reading_arguments(self) -> list[str]:
        how, beside = self.workspace.reading, self.options.request.beside
        if not self.verb.takes_reading:
            return []
        given = [] if how.encoding is None else ["--encoding", how.encoding]
        given += [] if how.delimiter is None else ["--delimiter", "tab" if how.delimiter == "\t" else how.delimiter]
        given += ["--missing", in_one(how.missing)] if how.missing and "missing" in beside else []
        takes_codebook = self.verb.name in ("profile", "publish")
        return [*given, *(["--codebook", how.codebook] if how.codebook and takes_codebook else [])]

    # --- Python

    def python(self) -> str:
        """The same call in Python."""
        lines = ["import shoal"]
        if self._reading():
            lines.append("from shoal.storage.reading import Options")
        return "\n".join([*lines, "", *self._lines()])

    def _lines(self) -> list[str]:
        if self.verb.name.startswith("desk-"):
            return self._desk()
        if self.verb.name == "anonymize":
            return self._anonymize()
        if self.verb.writes is not None:
            return self._released()
        module, function = self.verb.place
        if self.verb.name == "sample-data":
            values = {name: value for name, value in self._values().items() if name != "output"}
            return [f"shoal.sample_data({self._arguments(values)}).write_csv({self.source!r})"]
        if self.verb.name in ("hierarchy-build", "k-safety", "regenerate", "compare", "report"):
            call = f"{function}({self._arguments(self._values())})"
            shown = f"print(*{call})" if self.verb.name == "report" else f"print({call}.summary())"
            return [f"from {module} import {function}", "", shown]
        call = f"shoal.{function}({self._arguments(self._values())})"
        if self.verb.name in _PRINTED:
            return [f"print({call}.summary())"]
        return [f"found = {call}", "print(found.summary())"]

    def _values(self) -> dict[str, Any]:
        """The keyword arguments of the library."""
        return {**self.options.keywords(), **self.more}

    def _arguments(self, values: dict[str, Any], *texts: str) -> str:
        """Arguments as text: the source, values, what is text already, the policy, and how the file is read."""
        policy = [f"policy={POLICY!r}"] if self.verb.takes_policy and self.workspace.has_policy else []
        named = [f"{name}={value!r}" for name, value in values.items()]
        reading = [text] if (text := self._reading()) else []
        return ", ".join([repr(self.first), *named, *texts, *policy, *reading])

    def _reading(self) -> str:
        given = {name: value for name, value in vars(self.workspace.reading).items() if value}
        if not given or not self.verb.takes_reading:
            return ""
        return f"options=Options({', '.join(f'{name}={value!r}' for name, value in given.items())})"

    def _anonymize(self) -> list[str]:
        how = {"shuffle": True, **self.options.writing()}
        ways = ", ".join(f"{name}={value!r}" for name, value in how.items())
        values = {name: value for name, value in {**self.options.settings(), **self.more}.items() if name != "output"}
        target = self.more["output"]
        return [
            "from pathlib import Path",
            "",
            f"found = shoal.anonymize({self._arguments(values)})",
            "print(found.summary())",
            f"print(shoal.release(found, {target!r}, {ways}, source=Path({self.source!r})).summary())",
        ]

    def _released(self) -> list[str]:
        module, function = self.verb.place
        values = {**self.more, **self.options.settings()}
        values.pop("correlated_noise", None)  # it is part of the noise
        writing = ", ".join(f"{name}={value!r}" for name, value in self.options.writing().items())
        call = f"{function}({self._arguments(values, f'writing=Writing({writing})')})"
        return [f"from {module} import Writing, {function}", "", f"print({call}.summary())"]

    def _desk(self) -> list[str]:
        asked, values = self.options, self._values()
        if self.verb.name == "desk-open":
            values["types"] = {**(asked.types or {}), **({"*": "proposed"} if asked.confirm_types else {})}
            return [f"print(shoal.open_desk({self._arguments(values)}).summary())"]
        call = "desk.budget()"
        if self.verb.name == "desk-query":
            column = [] if asked.column is None else [repr(asked.column)]
            named = [f"{name}={value!r}" for name, value in values.items() if name not in ("kind", "column")]
            call = f"desk.{'preview' if asked.preview else 'query'}({', '.join([repr(asked.kind), *column, *named])})"
        return [f"with shoal.Desk({DESK!r}) as desk:", f"    print({call}.summary())"]
