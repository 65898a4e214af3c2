"""A step of the app as a command and as Python, to be reviewed and repeated.

Both run in a folder that holds `policy.yaml` (download it) and, where it was uploaded or generated, the file itself; a
file of this machine is named by its whole path. Releases are written to `release/` or `safe.csv` there, and later steps
take them from there.
"""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from shoal.app.project import Workspace
from shoal.app.verbs import VERBS, Option, Verb, VerbOptions
from shoal.errors import InputError

POLICY, RELEASE, DESK = "policy.yaml", "release", "desk"


@dataclass(frozen=True)
class SameAgain:
    """One step, twice."""

    command: str
    python: str


def same_again(
    workspace: Workspace, verb: str, options: VerbOptions | dict[str, Any] | None = None
) -> SameAgain | None:
    """A step as text; None for what the app does for itself (a preview, a tree held against its column)."""
    if verb in ("preview", "hierarchy-check"):
        return None
    known = VERBS[verb]
    made = options if isinstance(options, VerbOptions) else known.options.model_validate(options or {})
    step = _Step(workspace, known, made)
    return SameAgain(step.command(), step.python())


def script(steps: Iterable[SameAgain]) -> str:
    """All steps as a script of the shell that stops at the first failure."""
    return "\n".join(["#!/bin/sh", "set -e", *(step.command for step in steps), ""])


def source_of(workspace: Workspace) -> str:
    """How the file is called: by its path, or, where the app has its own copy, by its name."""
    if workspace.origin == "machine":
        return str(workspace.source)
    return f"./{workspace.name}" if workspace.name.startswith(("-", "~")) else workspace.name


def in_one(names: Iterable[str]) -> str:
    """Names as one argument: commas between, quotes where a name needs them.

    >>> in_one(["age", "name"]), in_one(["a,b", " c"]), in_one([""])
    ('age,name', '"a,b"," c"', '""')
    """
    found = list(names)
    odd = any(not name or name != name.strip() or set(name) & set(',"\r\n') for name in found)
    text = io.StringIO(newline="")
    csv.writer(text, quoting=csv.QUOTE_ALL if odd else csv.QUOTE_NONE, lineterminator="").writerow(found)
    return text.getvalue()


def _as_arguments(option: Option, value: Any) -> list[str]:
    """An option as it is typed."""
    match option.form:
        case "switch":
            return [option.flag]
        case "columns":
            return [option.flag, in_one(value)]
        case "repeated":
            return [part for text in value for part in (option.flag, text)]
        case "lists":
            return [part for names in value for part in (option.flag, in_one(names))]
        case "pairs":
            return [option.flag, in_one(f"{_no_sign(name)}={text}" for name, text in value.items())]
        case "groups":
            found = ((_no_sign(name), in_one(names)) for name, names in value.items())
            return [part for name, names in found for part in (option.flag, f"{name}={names}")]
        case _:
            return [option.flag, str(value)]


def _no_sign(name: str) -> str:
    if "=" in name:
        raise InputError("A name with an equals sign cannot be typed as COLUMN=VALUE.", "Use the Python of this step.")
    return name


class _Step:
    """A step, ready to be written."""

    def __init__(self, workspace: Workspace, verb: Verb, options: Any) -> None:
        self.workspace, self.verb, self.options = workspace, verb, options
        self.source = source_of(workspace)

    # --- the command line

    def command(self) -> str:
        """The command, quoted for the shell."""
        try:
            typed = [part for _, option, value in self.options.given() for part in _as_arguments(option, value)]
        except InputError as error:
            return f"# {error.what} {error.cure}"
        first, more = self._around_command()
        return shlex.join(["shoal", *self.verb.words, *first, *typed, *more, *self._reading_arguments()])

    def _around_command(self) -> tuple[list[str], list[str]]:
        """What comes before and after the options that were given."""
        options = self.options
        policy = ["--policy", POLICY] if self.verb.takes_policy and self.workspace.has_policy else []
        match self.verb.name:
            case "sample-data":
                return [options.sample], ["-o", self.source]
            case "hierarchy-build":
                return [self.source], ["-o", "hierarchy.csv" if len(options.column) == 1 else "hierarchies"]
            case "anonymize":
                flags = ("keep_order", "no_guarantee", "excel_safe")
                more = [f"--{name.replace('_', '-')}" for name in flags if getattr(options, name)]
                more += [] if options.seed is None else ["--seed", str(options.seed)]
                return [self.source], ["-o", f"safe.{options.format}", *more, *policy]
            case "publish":
                return [self.source], ["-o", RELEASE, *(["--no-pdf"] if options.no_pdf else []), *policy]
            case "verify":
                return [self._released()], ["--original", self.source]
            case "attack":
                return [self._released()], ["--original", self.source, *([] if options.twin else ["--no-twin"])]
            case "report":
                target = ["--pdf", "report.pdf"] if options.pdf else ["-o", "report.html"]
                return [f"{RELEASE}.private"], target
            case "desk-open":
                return [self.source], ["-o", DESK, *(["--confirm-types"] if options.confirm_types else [])]
            case "desk-query":
                column = [] if options.column is None else [options.column]
                return [DESK, options.kind, *column], ["--preview"] if options.preview else []
            case "desk-show":
                return [DESK], []
            case _:
                return [self.source], policy

    def _released(self) -> str:
        return RELEASE if self.options.release == "publish" else "safe.csv"

    def _reading_arguments(self) -> list[str]:
        how = self.workspace.reading
        if not self.verb.takes_reading:
            return []
        found = [] if how.encoding is None else ["--encoding", how.encoding]
        found += [] if how.delimiter is None else ["--delimiter", "tab" if how.delimiter == "\t" else how.delimiter]
        return [*found, *(["--missing", in_one(how.missing)] if how.missing else [])]

    # --- Python

    def python(self) -> str:
        """The same call in Python."""
        lines = ["import shoal"]
        if self._reading():
            lines.append("from shoal.reading import Options")
        special: dict[str, Callable[[], list[str]]] = {
            "sample-data": self._sample,
            "hierarchy-build": self._build,
            "anonymize": self._anonymize,
            "publish": self._publish,
            "verify": self._verify,
            "attack": self._attack,
            "report": self._report,
            "desk-open": self._desk_open,
            "desk-query": self._desk_query,
            "desk-show": self._desk_show,
        }
        made = special.get(self.verb.name, self._plain)()
        return "\n".join([*lines, "", *made])

    def _reading(self) -> str:
        how = self.workspace.reading
        given = {name: value for name, value in vars(how).items() if value}
        if not given or not self.verb.takes_reading:
            return ""
        return f"options=Options({', '.join(f'{name}={value!r}' for name, value in given.items())})"

    def _given(self) -> list[str]:
        """Keyword arguments as text; those that a class groups stand inside it."""
        plain: list[str] = []
        inside: dict[tuple[str, str], list[str]] = {}
        for name, option, value in self.options.given():
            place = plain if option.inside is None else inside.setdefault(option.inside, [])
            place.append(f"{name}={value!r}")
        return plain + [f"{name}=shoal.{group}({', '.join(found)})" for (name, group), found in inside.items()]

    def _call(self, function: str, first: str, *more: str, policy: bool = True) -> str:
        with_policy = policy and self.verb.takes_policy and self.workspace.has_policy
        parts = [repr(first), *self._given(), *more]
        parts += [f"policy={POLICY!r}"] if with_policy else []
        parts += [text] if (text := self._reading()) else []
        return f"{function}({', '.join(parts)})"

    def _plain(self) -> list[str]:
        return [f"found = {self._call(f'shoal.{self.verb.function}', self.source)}", "print(found.summary())"]

    def _sample(self) -> list[str]:
        asked = self.options
        call = f"shoal.sample_data({asked.sample!r}, rows={asked.rows!r}, seed={asked.seed!r})"
        return [f"{call}.write_csv({self.source!r})"]

    def _build(self) -> list[str]:
        output = "hierarchy.csv" if len(self.options.column) == 1 else "hierarchies"
        call = self._call("build_hierarchies", self.source, f"output={output!r}")
        return ["from shoal.hierarchy.build_files import build_hierarchies", "", f"print({call}.summary())"]

    def _anonymize(self) -> list[str]:
        asked = self.options
        flags = [f"{name}=True" for name in ("no_guarantee", "excel_safe") if getattr(asked, name)]
        how = [f"shuffle={not asked.keep_order}", *([] if asked.seed is None else [f"seed={asked.seed}"]), *flags]
        release = f"shoal.release(found, {f'safe.{asked.format}'!r}, {', '.join(how)}, source=Path({self.source!r}))"
        call = self._call("shoal.anonymize", self.source)
        return [
            "from pathlib import Path",
            "",
            f"found = {call}",
            "print(found.summary())",
            f"print({release}.summary())",
        ]

    def _publish(self) -> list[str]:
        pdf = ["pdf=False"] if self.options.no_pdf else []
        return [f"print({self._call('shoal.publish', self.source, f'output={RELEASE!r}', *pdf)}.summary())"]

    def _verify(self) -> list[str]:
        return [f"print({self._call('shoal.verify', self._released(), f'original={self.source!r}')}.summary())"]

    def _attack(self) -> list[str]:
        twin = [] if self.options.twin else ["twin=False"]
        return [f"print({self._call('shoal.attack', self._released(), f'original={self.source!r}', *twin)}.summary())"]

    def _report(self) -> list[str]:
        asked = self.options
        target = "pdf=Path('report.pdf')" if asked.pdf else "html=Path('report.html')"
        more = ["public=True"] if asked.public else []
        more += [] if asked.crosswalk is None else [f"crosswalk={asked.crosswalk!r}"]
        call = f"report_files({f'{RELEASE}.private'!r}, {', '.join([target, *more])})"
        imports = ["from pathlib import Path", "", "from shoal.publication.report_files import report_files", ""]
        return [*imports, f"print(*{call})"]

    def _desk_open(self) -> list[str]:
        types = {**(self.options.types or {}), **({"*": "proposed"} if self.options.confirm_types else {})}
        given = [part for part in self._given() if not part.startswith("types=")]
        parts = [repr(self.source), f"folder={DESK!r}", *given, f"types={types!r}"]
        parts += [text] if (text := self._reading()) else []
        return [f"print(shoal.open_desk({', '.join(parts)}).summary())"]

    def _desk_query(self) -> list[str]:
        asked = self.options
        column = [] if asked.column is None else [repr(asked.column)]
        call = (
            f"desk.{'preview' if asked.preview else 'query'}({', '.join([repr(asked.kind), *column, *self._given()])})"
        )
        return [f"with shoal.Desk({DESK!r}) as desk:", f"    print({call}.summary())"]

    def _desk_show(self) -> list[str]:
        return [f"with shoal.Desk({DESK!r}) as desk:", "    print(desk.budget().summary())"]
