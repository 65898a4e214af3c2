"""Look at the installation: nothing is changed, and nothing leaves this machine."""

from __future__ import annotations

import os
import platform
import re
import shutil
import sys
import tempfile
from importlib import metadata
from pathlib import Path

from shoal import __version__
from shoal.errors import InputError
from shoal.installation.results import Doctor, Part
from shoal.table.memory import free_memory
from shoal.threads import processors
from shoal.wording import in_units

# what each extra brings; one that is not named here is shown by its packages
BRINGS = {
    "app": "the web app",
    "arrow": "pyarrow tables",
    "attacks": "reconstruction attacks",
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
_FOR_DEVELOPERS = ("dev", "docs", "lint", "test")
_REQUIREMENT = re.compile(r"([\w.-]+)(?:\[[^]]*\])?\s*(.*)")
_LEAST_DISK = 1 << 30
_INSTALL_AGAIN = "Install shoal again from where its source is, such as pip install -e ."
_CHROMIUM = ("chromium", "chromium-browser", "google-chrome")


def doctor() -> Doctor:
    """Versions, extras, programs, caches and free disk, each with one line of cure.

    >>> found = doctor()
    >>> found.verdict, found.parts[0].name
    ('fine', 'Python')
    """
    parts = [_python(), *_needed(), _compiled_loops(), _spill(), _memory(), *_extras(), *_programs()]
    broken = any(part.state == "broken" for part in parts)
    system = f"{platform.system()} {platform.machine()}"
    return Doctor("broken" if broken else "fine", __version__, platform.python_version(), system, parts)


def _python() -> Part:
    fits = (3, 11) <= sys.version_info[:2] < (3, 14)
    cure = None if fits else "Install Python 3.11 to 3.13, and shoal in it."
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
        name, versions = _REQUIREMENT.match(wanted).groups()  # type: ignore[union-attr]
        extra = re.search(r"extra == ['\"]([\w-]+)['\"]", marker)
        python = re.search(r"python_version >= ['\"]([\d.]+)['\"]", marker)
        found.setdefault(extra[1] if extra else "", []).append((name, versions.strip(), python[1] if python else ""))
    return found


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


def _compiled_loops() -> Part:
    """Machine code of the inner loops: whether this version's is there, and if not, whether it can be kept."""
    from shoal import compiled
    from shoal.anonymization.partition.rehearsals import EXCHANGE, GROUP
    from shoal.anonymization.search.rehearsals import SEARCH

    name, loops = "compiled loops", [one.loop for one in (SEARCH, GROUP, EXCHANGE)]
    if all(loop.is_kept() for loop in loops):
        return Part(name, "needed", "fine", "ready for this version")
    folders = {folder for loop in loops if (folder := compiled.folder(loop))}
    closed = [folder for folder in folders if not _can_write(folder)]
    if closed or not folders:
        where = f"{closed[0]} cannot be written to" if closed else "no folder can be written to"
        cure = "Set NUMBA_CACHE_DIR to a folder that you can write to; without it every command compiles anew."
        return Part(name, "needed", "broken", f"cannot be kept: {where}", cure)
    return Part(name, "needed", "fine", "compiled at the first use, which takes some seconds more")


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


def _memory() -> Part:
    detail = f"{processors()} threads, {in_units(free_memory())} of memory free"
    return Part("threads", "place", "fine", detail)


def _programs() -> list[Part]:
    from shoal.engine import check_java

    try:
        check_java()
        java = Part("Java", "program", "fine", "runs Spark")
    except InputError as error:
        java = Part("Java", "program", "absent", f"for Spark. {error.what}", error.cure)
    browser = next((path for name in _CHROMIUM if (path := shutil.which(name))), None)
    chromium = Part("Chromium", "program", "fine", browser or "")
    if browser is None:
        cure = "sudo apt-get install chromium"
        chromium = Part("Chromium", "program", "absent", "tests of pages are skipped without it", cure)
    return [java, chromium, _postgresql()]


def _postgresql() -> Part:
    """What a connection to PostgreSQL needs beside its driver: where credentials come from."""
    name = "PostgreSQL"
    file = Path(os.environ.get("PGPASSFILE") or Path.home() / ".pgpass")
    if file.is_file() and file.stat().st_mode & 0o077:
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
