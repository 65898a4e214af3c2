"""A step of the app as a command and as Python, to be reviewed and repeated.

Both run in a folder that holds `policy.yaml` (download it) and, where it was uploaded or generated, the file itself; a
file of this machine is named by its whole path. Releases are written to `release/` or `safe.csv` there, and later steps
take them from there.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from shoal.app.project import Workspace
from shoal.app.same_files import RELEASE, around_command, attacked, beside_of, writing_text, written_by
from shoal.app.same_files import python as file_python
from shoal.app.verbs import VERBS, Option, Verb, VerbOptions
from shoal.errors import InputError
from shoal.systems.console import shell_line

# Options as they are typed on the command line.


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


def as_arguments(option: Option, value: Any) -> list[str]:
    """An option as it is typed."""
    match option.form:
        case "switch":
            return [option.flag]
        case "columns":
            return [option.flag, in_one(value)]
        case "numbers":
            return [option.flag, ",".join(map(str, value))]
        case "repeated":
            return [part for text in value for part in (option.flag, text)]
        case "lists":
            return [part for names in value for part in (option.flag, in_one(names))]
        case "sums":
            found = (f"{_no_sign(name)}{'=' if others else ''}{'+'.join(others)}" for name, others in value.items())
            return [part for text in found for part in (option.flag, text)]
        case "pairs":
            return [option.flag, in_one(f"{_no_sign(name)}={text}" for name, text in value.items())]
        case "groups":
            named = ((_no_sign(name), in_one(names)) for name, names in value.items())
            return [part for name, names in named for part in (option.flag, f"{name}={names}")]
        case _:
            return [option.flag, str(value)]


def _no_sign(name: str) -> str:
    if "=" in name:
        raise InputError("A name with an equals sign cannot be typed as COLUMN=VALUE.", "Use the Python of this step.")
    return name


POLICY, DESK = "policy.yaml", "desk"


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


class _Step:
    """A step, ready to be written."""

    def __init__(self, workspace: Workspace, verb: Verb, options: Any) -> None:
        self.workspace, self.verb, self.options = workspace, verb, options
        self.source = source_of(workspace)

    # --- the command line

    def command(self) -> str:
        """The command, quoted for the shell."""
        try:
            flagged = [(option, value) for _, option, value in self.options.given() if option.flag]
            typed = [part for option, value in flagged for part in as_arguments(option, value)]
        except InputError as error:
            return f"# {error.what} {error.cure}"
        first, more = self._around_command()
        return shell_line("shoal", *self.verb.words, *first, *typed, *more, *self._reading_arguments())

    def _around_command(self) -> tuple[list[str], list[str]]:
        """What comes before and after the options that were given."""
        options = self.options
        policy = ["--policy", POLICY] if self.verb.takes_policy and self.workspace.has_policy else []
        if self.verb.writes is not None:
            return around_command(self.verb, options, self.source, policy, in_one)
        match self.verb.name:
            case "sample-data":
                return [options.sample], ["-o", self.source]
            case "publish":
                return [self.source], ["-o", RELEASE, *(["--no-pdf"] if options.no_pdf else []), *policy]
            case "verify":
                return [written_by(options.release)], ["--original", self.source]
            case "compare":
                return [written_by(one.release) for one in options.releases], []
            case "attack":
                return [written_by(options.release)], [
                    "--original",
                    self.source,
                    *([] if options.twin else ["--no-twin"]),
                ]
            case "attack-link" | "attack-membership" | "attack-intersect":
                return attacked(options, self.source), policy
            case "hierarchy-build" | "k-safety" | "regenerate":
                return [self.source], ["-o", beside_of(self.verb, options)]
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

    def _reading_arguments(self) -> list[str]:
        how = self.workspace.reading
        if not self.verb.takes_reading:
            return []
        found = [] if how.encoding is None else ["--encoding", how.encoding]
        found += [] if how.delimiter is None else ["--delimiter", "tab" if how.delimiter == "\t" else how.delimiter]
        found += ["--missing", in_one(how.missing)] if how.missing else []
        takes_codebook = self.verb.name in ("profile", "publish")
        return [*found, *(["--codebook", how.codebook] if how.codebook and takes_codebook else [])]

    # --- Python

    def python(self) -> str:
        """The same call in Python."""
        lines = ["import shoal"]
        if self._reading():
            lines.append("from shoal.storage.reading import Options")
        special: dict[str, Callable[[], list[str]]] = {
            "sample-data": self._sample,
            "hierarchy-build": self._beside,
            "anonymize": self._anonymize,
            "publish": self._publish,
            "verify": self._verify,
            "attack": self._attack,
            "attack-link": self._single_attack,
            "attack-membership": self._single_attack,
            "attack-intersect": self._single_attack,
            "k-safety": self._beside,
            "regenerate": self._beside,
            "report": self._report,
            "compare": self._compare,
            "desk-open": self._desk_open,
            "desk-query": self._desk_query,
            "desk-show": self._desk_show,
        }
        plain = self._plain if self.verb.writes is None else self._file
        made = special.get(self.verb.name, plain)()
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
            if not option.flag:  # an argument of the command, which each verb writes for itself
                continue
            place = plain if option.inside is None else inside.setdefault(option.inside, [])
            place.append(f"{name}={value!r}")
        return plain + [f"{name}=shoal.{group}({', '.join(found)})" for (name, group), found in inside.items()]

    def _around(self) -> list[str]:
        """The arguments beside the options: the policy, and how the file is read."""
        with_policy = self.verb.takes_policy and self.workspace.has_policy
        reading = self._reading()
        return [*([f"policy={POLICY!r}"] if with_policy else []), *([reading] if reading else [])]

    def _call(self, function: str, first: str, *more: str) -> str:
        return f"{function}({', '.join([repr(first), *self._given(), *more, *self._around()])})"

    def _plain(self) -> list[str]:
        return [f"found = {self._call(f'shoal.{self.verb.function}', self.source)}", "print(found.summary())"]

    def _sample(self) -> list[str]:
        asked = self.options
        call = f"shoal.sample_data({asked.sample!r}, rows={asked.rows!r}, seed={asked.seed!r})"
        return [f"{call}.write_csv({self.source!r})"]

    def _anonymize(self) -> list[str]:
        how = writing_text(self.options).removeprefix("Writing(").removesuffix(")")
        ways = ", ".join([*(["shuffle=True"] if "shuffle" not in how else []), *([how] if how else [])])
        target = f"safe.{self.options.file_format}"
        given = [part for part in self._given() if part.partition("=")[0] not in ("sign", "seed", "excel_safe")]
        call = f"shoal.anonymize({', '.join([repr(self.source), *given, *self._around()])})"
        return [
            "from pathlib import Path",
            "",
            f"found = {call}",
            "print(found.summary())",
            f"print(shoal.release(found, {target!r}, {ways}, source=Path({self.source!r})).summary())",
        ]

    def _file(self) -> list[str]:
        return file_python(self.verb, self.options, self.source, self._given(), self._around())

    def _compare(self) -> list[str]:
        names = [written_by(one.release) for one in self.options.releases]
        return [
            "from shoal.reports.publication.compare import compare_releases",
            "",
            f"print(compare_releases({names!r}).summary())",
        ]

    def _publish(self) -> list[str]:
        pdf = ["pdf=False"] if self.options.no_pdf else []
        return [f"print({self._call('shoal.publish', self.source, f'output={RELEASE!r}', *pdf)}.summary())"]

    def _verify(self) -> list[str]:
        return [f"print({self._of_release('shoal.verify')}.summary())"]

    def _attack(self) -> list[str]:
        twin = [] if self.options.twin else ["twin=False"]
        return [f"print({self._of_release('shoal.attack', *twin)}.summary())"]

    def _of_release(self, function: str, *more: str) -> str:
        return self._call(function, written_by(self.options.release), f"original={self.source!r}", *more)

    def _single_attack(self) -> list[str]:
        source, *second = attacked(self.options, self.source)
        call = self._call(f"shoal.{self.verb.function}", source, *(f"second={other!r}" for other in second))
        return [f"print({call}.summary())"]

    def _beside(self) -> list[str]:
        module, _, function = self.verb.home.partition(":")
        call = self._call(function, self.source, f"output={beside_of(self.verb, self.options)!r}")
        return [f"from {module} import {function}", "", f"print({call}.summary())"]

    def _report(self) -> list[str]:
        asked = self.options
        target = "pdf=Path('report.pdf')" if asked.pdf else "html=Path('report.html')"
        more = ["public=True"] if asked.public else []
        more += [] if asked.crosswalk is None else [f"crosswalk={asked.crosswalk!r}"]
        call = f"report_files({f'{RELEASE}.private'!r}, {', '.join([target, *more])})"
        imports = ["from pathlib import Path", "", "from shoal.reports.publication.results import report_files", ""]
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
