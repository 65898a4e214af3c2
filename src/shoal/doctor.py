"""Look at the installation: nothing is changed, and nothing leaves this machine."""

from __future__ import annotations

import os
import platform
import re
import shutil
import sys
import tempfile
from dataclasses import dataclass
from importlib import import_module, metadata
from pathlib import Path
from pkgutil import iter_modules
from typing import ClassVar, Literal

from shoal import __version__
from shoal.errors import InputError
from shoal.results import Cell, Grid, Headline, Notes, Result, Section
from shoal.systems import WINDOWS
from shoal.systems.console import can_show
from shoal.systems.files import KEEPS_MODES, others_may, password_file
from shoal.systems.locks import Lock
from shoal.systems.machine import free_memory
from shoal.threads import processors
from shoal.wording import counted, in_units

# What `shoal doctor` found.


State = Literal["fine", "absent", "broken"]
_TONES: dict[str, Literal["good", "dim", "bad"]] = {"fine": "good", "absent": "dim", "broken": "bad"}


@dataclass(frozen=True)
class Part:
    """One part of the installation: what it is for, its state, and one line of cure.

    `absent` is an optional part that is not there; `broken` is something that shoal needs, or a part that is there and
    does not work.
    """

    name: str
    group: Literal["needed", "extra", "program", "place"]
    state: State
    detail: str
    cure: str | None = None
    # a package that every installation has
    is_package: bool = False


@dataclass(frozen=True, repr=False)
class Doctor(Result):
    """The state of an installation, part by part."""

    name: ClassVar[str] = "doctor"

    verdict: Literal["fine", "broken"]
    shoal: str
    python: str
    system: str
    parts: list[Part]

    @property
    def healthy(self) -> bool:
        """Whether nothing that is needed is broken."""
        return self.verdict == "fine"

    def summary(self) -> str:
        """Whether shoal can work here, and what is not installed."""
        broken = [part.name for part in self.parts if part.state == "broken"]
        words = f"shoal {self.shoal} on Python {self.python}, {self.system}."
        if not self.healthy:
            return f"{words} Broken: {', '.join(broken)}."
        absent = [part for part in self.parts if part.state == "absent" and part.group != "place"]
        return f"{words} All that is needed works; {counted(len(absent), 'optional part')} not installed."

    def sections(self) -> list[Section]:
        """A line per part, with its cure."""
        shown = [part for part in self.parts if part.state != "fine" or not part.is_package]
        rows: list[list[str | Cell]] = [
            [part.name, Cell(part.state, _TONES[part.state]), Cell(part.detail, "dim")] for part in shown
        ]
        packages = [f"{part.name} {part.detail}" for part in self.parts if part.state == "fine" and part.is_package]
        cures: dict[str, list[str]] = {}
        for part in self.parts:
            if part.cure:
                cures.setdefault(part.cure, []).append(part.name)
        notes = [f"{', '.join(names)}: {cure}" for cure, names in cures.items()]
        return [
            Headline(self.summary(), "good" if self.healthy else "bad"),
            Grid(("part", "state", "what"), rows, 3, wrap=(2,)),
            Notes([*notes, f"packages: {', '.join(packages)}"]),
        ]


# what each extra brings; one that is not named here is shown by its packages
BRINGS = {
    "app": "the web app",
    "arrow": "pyarrow tables",
    "charts": "charts as pictures",
    "duckdb": "tables of DuckDB",
    "excel": "workbooks of Excel and OpenDocument",
    "pandas": "pandas frames",
    "postgres": "tables of PostgreSQL",
    "report": "reports as pages and PDF",
    "sign": "signed manifests",
    "sklearn": "scikit-learn pipelines",
    "spark": "Spark clusters",
    "sqlite": "tables of SQLite",
    "survey": "files of SPSS, Stata and SAS",
    "text": "a language model for names in free text",
}
_FOR_DEVELOPERS = ("dev", "docs", "kernels", "lint", "test")
_REQUIREMENT = re.compile(r"([\w.-]+)(?:\[[^]]*\])?\s*(.*)")
_LEAST_DISK = 1 << 30
_INSTALL_AGAIN = "Install shoal again from where its source is, such as pip install -e ."
# signs that results are shown with
_SIGNS = "→ ≥ █ │ é"


def doctor() -> Doctor:
    """Versions, extras, programs, caches and free disk, each with one line of cure.

    >>> found = doctor()
    >>> found.verdict, found.parts[0].name
    ('fine', 'Python')
    """
    parts = [_python(), *_needed(), _kernels(), *_places(), *_extras(), *_programs()]
    broken = any(part.state == "broken" for part in parts)
    system = f"{platform.system()} {platform.machine()}"
    return Doctor("broken" if broken else "fine", __version__, platform.python_version(), system, parts)


def _python() -> Part:
    fits = (3, 11) <= sys.version_info[:2] < (3, 15)
    cure = None if fits else "Install Python 3.11 to 3.14, and shoal in it."
    return Part("Python", "needed", "fine" if fits else "broken", platform.python_version(), cure)


def requirements() -> dict[str, list[tuple[str, str, str]]]:
    """The packages that shoal asks for, by extra; those that are needed stand under "".

    Each with the versions that will do, and the least version of Python.

    >>> [name for name, *_ in requirements()[""] if name == "polars"]
    ['polars']
    """
    try:
        lines = metadata.requires("shoal") or []
    except metadata.PackageNotFoundError:
        return {"": []}
    found: dict[str, list[tuple[str, str, str]]] = {"": []}
    for line in lines:
        wanted, _, marker = line.partition(";")
        if not _applies(marker):
            continue
        name, versions = _REQUIREMENT.match(wanted).groups()  # type: ignore[union-attr]
        extra = re.search(r"extra == ['\"]([\w-]+)['\"]", marker)
        python = re.search(r"python_version >= ['\"]([\d.]+)['\"]", marker)
        found.setdefault(extra[1] if extra else "", []).append((name, versions.strip(), python[1] if python else ""))
    return found


def _applies(marker: str) -> bool:
    """Whether a package is asked for on this system and by this Python, as far as markers of shoal tell them apart.

    >>> _applies("python_version < '3.11'"), _applies("extra == 'app'")
    (False, True)
    """
    below = re.search(r"python_version < ['\"]([\d.]+)['\"]", marker)
    old = below is None or sys.version_info[:2] < _numbers(below[1])
    return old and (WINDOWS or re.search(r"sys_platform == ['\"]win32['\"]", marker) is None)


def _needed() -> list[Part]:
    parts = []
    for name, versions, _ in requirements()[""]:
        version, problem = _installed(name, versions)
        cure = f"pip install --upgrade '{name}{versions}'" if problem else None
        parts.append(Part(name, "needed", "broken" if problem else "fine", problem or version, cure, True))
    return parts


def _extras() -> list[Part]:
    parts = []
    for extra, packages in sorted(requirements().items()):
        if extra in ("", *_FOR_DEVELOPERS):
            continue
        brings = BRINGS.get(extra, ", ".join(name for name, *_ in packages))
        later = max((python for *_, python in packages if python), default="", key=_numbers)
        if later and sys.version_info[:2] < _numbers(later):
            parts.append(Part(f"shoal[{extra}]", "extra", "absent", brings, f"It needs Python {later} or later."))
            continue
        problems = [name for name, versions, _ in packages if _installed(name, versions)[1]]
        cure = f"pip install 'shoal[{extra}]'" if problems else None
        detail = f"{brings}; without {', '.join(problems)}" if problems else brings
        parts.append(Part(f"shoal[{extra}]", "extra", "absent" if problems else "fine", detail, cure))
    unknown = sorted(BRINGS.keys() - requirements().keys())
    old = "which the installed metadata does not know: it is older than this source"
    parts += [Part(f"shoal[{e}]", "extra", "absent", f"{BRINGS[e]}, {old}", _INSTALL_AGAIN) for e in unknown]
    return sorted(parts, key=lambda part: part.name)


def _installed(name: str, versions: str) -> tuple[str, str | None]:
    """The version of a package, and what is wrong with it."""
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        return "", "not installed"
    least = re.search(r"[>=]=\s*([\d.]+)", versions)
    return version, f"{version} is older than {least[1]}" if least and _numbers(version) < _numbers(least[1]) else None


def _numbers(version: str) -> tuple[int, ...]:
    """A version for comparing.

    >>> _numbers("1.13.0rc1") < _numbers("2")
    True
    """
    return tuple(int(part) for part in re.findall(r"\d+", version.split("rc")[0].split("post")[0])[:3])


def _kernels() -> Part:
    """Whether the kernels are compiled, and load on this system."""
    from shoal import kernels

    modules = [one.name for one in iter_modules(kernels.__path__) if not one.name.startswith("_")]
    missing = [] if modules else ["all"]
    for module in modules:
        try:
            found = import_module(f"{kernels.__name__}.{module}")
        except ImportError:  # where it is not compiled, Cython may not be there either
            missing.append(module)
        else:
            missing += [module] if str(found.__file__).endswith(".py") else []
    if missing:
        return Part("kernels", "needed", "broken", f"not there for this system: {missing[0]}", _INSTALL_AGAIN)
    return Part("kernels", "needed", "fine", "ready for this version")


def _spill() -> Part:
    """The folder for what does not fit in memory."""
    folder = Path(os.environ.get("SHOAL_SPILL") or tempfile.gettempdir())
    cure = "Set SHOAL_SPILL to a folder on a disk with space."
    if not folder.is_dir() or not _can_write(folder):
        return Part("disk", "place", "broken", f"{folder} cannot be written to", cure)
    free = shutil.disk_usage(folder).free
    little = free < _LEAST_DISK
    detail = f"{in_units(free)} free at {folder}"
    return Part("disk", "place", "broken" if little else "fine", detail, cure if little else None)


def _places() -> list[Part]:
    """What the system gives: disk, processors and memory, locks, modes of files, signs on the console."""
    threads = Part("threads", "place", "fine", f"{processors()} threads, {in_units(free_memory())} of memory free")
    return [_spill(), threads, _locks(), _modes(), _console()]


def _locks() -> Part:
    """Whether a lock keeps a second one out, in the folder for temporary files."""
    cure = "Set SHOAL_SPILL and TMPDIR (on Windows TEMP) to a folder on a disk of this machine."
    try:
        with tempfile.TemporaryDirectory() as folder:
            first, second = (Lock(Path(folder) / "doctor.lock") for _ in range(2))
            try:
                if first.take() and not second.take():
                    return Part("locks", "place", "fine", "a second run waits, and a killed one is cleaned up after")
            finally:
                first.release()
                second.release()
    except OSError:
        pass
    detail = f"{tempfile.gettempdir()} has none: what a killed run leaves there is not removed"
    return Part("locks", "place", "broken", detail, cure)


def _modes() -> Part:
    """Whether a file can be its owner's alone, as keys and private records are."""
    if not KEEPS_MODES:
        detail = "not kept by this system: keys and private records are as safe as the folder that they lie in"
        return Part("file modes", "place", "absent", detail, "Keep them in a folder that only you can open.")
    try:
        handle, name = tempfile.mkstemp()
        os.close(handle)
        kept = not others_may(Path(name).stat().st_mode)
        Path(name).unlink()
    except OSError:
        kept = False
    if kept:
        return Part("file modes", "place", "fine", "kept: keys and private records are their owner's alone (0600)")
    detail = f"not kept at {tempfile.gettempdir()}: keys there can be read by others"
    return Part("file modes", "place", "absent", detail, "Keep keys on another disk.")


def _console() -> Part:
    encoding = (getattr(sys.stdout, "encoding", None) or "utf-8").lower()
    if can_show(_SIGNS, sys.stdout):
        return Part("console", "place", "fine", f"{encoding}: all signs are shown")
    detail = f"{encoding}: some signs are shown as simpler ones"
    return Part("console", "place", "absent", detail, "Set PYTHONUTF8=1 to see all of them.")


def _programs() -> list[Part]:
    from shoal.engine import check_java

    try:
        check_java()
        java = Part("Java", "program", "fine", "runs Spark")
    except InputError as error:
        java = Part("Java", "program", "absent", f"for Spark. {error.what}", error.cure)
    return [java, _postgresql()]


def _postgresql() -> Part:
    """What a connection to PostgreSQL needs beside its driver: where credentials come from."""
    name = "PostgreSQL"
    file = password_file()
    if file.is_file() and others_may(file.stat().st_mode):
        return Part(name, "program", "broken", f"{file} can be read by others, so it is not used", f"chmod 600 {file}")
    known = [word for word in ("PGPASSWORD", "PGSERVICE", "PGSERVICEFILE") if os.environ.get(word)]
    known += [str(file)] if file.is_file() else []
    detail = f"credentials from {', '.join(known)}" if known else "no credentials in the environment"
    cure = None if known else "Where a server asks for a password: PGPASSWORD, ~/.pgpass or a service file."
    return Part(name, "program", "fine", detail, cure)


def _can_write(folder: Path) -> bool:
    """Whether a file can be made in a folder, or in the nearest one above it that is there."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return os.access(folder, os.W_OK | os.X_OK)
