"""The project folder: what is known about each opened file, on disk, so that a reload or a restart loses nothing.

    project.lock                     held while the app runs
    api-token                        for scripts
    w/<id>/workspace.json            name, source, reading options
    w/<id>/policy.yaml               the policy, as the library writes it
    w/<id>/source/                   an uploaded or generated file, under a name of ours
    w/<id>/jobs/<id>/                one run of a verb: record, progress, result, files it wrote

No path is ever made from the name of a user's file. Folders are for their owner only (0700).
"""

from __future__ import annotations

import json
import re
import secrets
import shutil
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass as pydantic_dataclass

from shoal.errors import InputError
from shoal.results.registry import from_json
from shoal.results.result import Result, fields_as_json
from shoal.results.sections import Headline
from shoal.results.sections import Section as Section
from shoal.storage.writing import write_bytes
from shoal.systems.files import is_own, move, user
from shoal.systems.locks import Lock

Origin = Literal["upload", "machine", "example"]
_ID = re.compile(r"[0-9a-f]{16}")
_RUN = "run-"
# the file that says: this folder is a project of the app
PROJECT_MARK = "project.lock"


def new_id() -> str:
    """A random name for a workspace or a job."""
    return secrets.token_hex(8)


def is_id(text: str) -> bool:
    """Whether a text can be the name of a workspace or a job.

    >>> is_id("0123456789abcdef"), is_id("../../etc"), is_id("0123456789ABCDEF")
    (True, False, False)
    """
    return _ID.fullmatch(text) is not None


@pydantic_dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class FileReading:
    """How the file is read, as `--encoding`, `--delimiter`, `--missing` and `--codebook` say, where that is not found
    by itself."""

    encoding: Annotated[str, Field(max_length=40, pattern=r"^[A-Za-z0-9._-]+$")] | None = None
    delimiter: Annotated[str, Field(min_length=1, max_length=1)] | None = None
    missing: Annotated[tuple[Annotated[str, Field(max_length=100)], ...], Field(max_length=100)] = ()
    codebook: Annotated[str, Field(min_length=1, max_length=4_000)] | None = None

    def options(self) -> Any:
        """The library's own options."""
        from shoal.storage.reading import Options

        return Options(self.encoding, self.delimiter, self.missing, codebook=self.codebook)

    def files(self) -> list[str]:
        """The files of this machine that it names."""
        return [] if self.codebook is None else [self.codebook]


@dataclass(frozen=True)
class Workspace:
    """One opened file: where it lies, how it is read, and what was decided and found about it."""

    folder: Path = field(repr=False)
    id: str
    name: str = field(repr=False)
    source: Path = field(repr=False)
    origin: Origin
    reading: FileReading = field(default_factory=FileReading)
    created: str = ""

    @property
    def policy_path(self) -> Path:
        """The policy file."""
        return self.folder / "policy.yaml"

    @property
    def jobs_folder(self) -> Path:
        """Where runs of verbs are kept."""
        return self.folder / "jobs"

    @property
    def has_policy(self) -> bool:
        """Whether something was decided yet."""
        return self.policy_path.exists()

    @property
    def policy_text(self) -> bytes | None:
        """The policy as it is written now."""
        with suppress(FileNotFoundError):
            return self.policy_path.read_bytes()
        return None

    def policy(self) -> Any:
        """The policy; an empty one where nothing was decided yet."""
        return parsed(self.policy_text)

    def set_policy(self, policy: Any) -> None:
        """Keep a policy (the library's, or its content, which the library checks)."""
        write_bytes(self.policy_path, as_text(policy), 0o600)

    def stamp(self) -> dict[str, Any]:
        """What results rest on beside the policy's words: how the file is read, and the files as they are now."""
        named = [*self.reading.files(), *(named_files(self.policy()) if self.has_policy else [])]
        files = [_state(Path(name)) for name in named]
        return {"reading": asdict(self.reading), "source": _state(self.source), "files": files}

    def with_reading(self, reading: FileReading) -> Workspace:
        """The workspace with other reading options, kept."""
        return replace(self, reading=reading).saved()

    def saved(self) -> Workspace:
        """Write the record of the workspace."""
        record = {**asdict(self), "source": str(self.source)}
        del record["folder"]
        write_bytes(self.folder / "workspace.json", json.dumps(record, ensure_ascii=False).encode(), 0o600)
        return self

    @classmethod
    def read(cls, folder: Path) -> Workspace:
        """The workspace that a folder holds."""
        record = json.loads((folder / "workspace.json").read_bytes())
        own = {"source": Path(record["source"]), "reading": FileReading(**record["reading"])}
        return cls(folder=folder, **{**record, **own})


class Project:
    """A folder with one or more workspaces, held by one running app."""

    def __init__(self, folder: Path, *, temporary: bool) -> None:
        self.folder, self.temporary = folder, temporary
        self._lock = Lock(folder / PROJECT_MARK, stays=True)
        if not self._lock.take():
            raise InputError(
                "The project folder is open in another run of the app.", "End that one, or name another folder."
            )
        (folder / "w").mkdir(mode=0o700, exist_ok=True)

    @classmethod
    def open(cls, folder: Path | None) -> Project:
        """The project of a folder that is kept, or a temporary one; what crashed runs left behind is removed."""
        if folder is not None:
            return cls(_private(folder), temporary=False)
        runs = _private(Path(tempfile.gettempdir()) / f"shoal-app-{user()}")
        with Lock(runs / "start.lock"):  # or another start could take a folder for a leftover that has no lock yet
            remove_leftovers(runs)
            return cls(Path(tempfile.mkdtemp(prefix=_RUN, dir=runs)), temporary=True)

    def close(self) -> None:
        """Let go; a temporary project is removed."""
        if self.temporary and self._lock.held:
            shutil.rmtree(self.folder, ignore_errors=True)
        self._lock.release()
        if self.temporary:  # Windows does not remove a lock that is held
            shutil.rmtree(self.folder, ignore_errors=True)

    def workspaces(self) -> list[Workspace]:
        """All of them, oldest first."""
        found = [self._read(folder) for folder in (self.folder / "w").iterdir() if is_id(folder.name)]
        return sorted((space for space in found if space), key=lambda space: (space.created, space.id))

    def workspace(self, identifier: str) -> Workspace | None:
        """One of them; None where there is none of this name."""
        return self._read(self.folder / "w" / identifier) if is_id(identifier) else None

    @staticmethod
    def _read(folder: Path) -> Workspace | None:
        with suppress(OSError, ValueError, KeyError, TypeError):
            return Workspace.read(folder)
        return None

    def new(self, name: str, origin: Origin, source: Path | None = None, ending: str = ".csv") -> Workspace:
        """A workspace for a file of this machine, or for one that will be written to its own folder."""
        identifier = new_id()
        folder = self.folder / "w" / identifier
        for made in (folder, folder / "jobs", folder / "source"):
            made.mkdir(mode=0o700)
        place = source if source is not None else folder / "source" / f"data{ending}"
        created = datetime.now(UTC).isoformat(timespec="milliseconds")
        return Workspace(folder, identifier, _shown(name), place, origin, FileReading(), created).saved()

    def remove(self, workspace: Workspace) -> None:
        """Close a file: everything about it goes; a file of this machine itself stays."""
        gone = workspace.folder.with_name(f"gone-{workspace.id}")  # at once not found, then removed
        with suppress(FileNotFoundError):
            move(workspace.folder, gone)
        shutil.rmtree(gone, ignore_errors=True)


def _shown(name: str) -> str:
    """The name of a file for people: its last part, without control characters.

    >>> _shown("../../etc/pass\\x00wd"), _shown(""), _shown("C:\\\\data\\\\people.csv")
    ('passwd', 'table', 'people.csv')
    """
    last = re.split(r"[/\\]", name)[-1]
    return "".join(letter for letter in last if letter.isprintable())[:200].strip() or "table"


def _state(path: Path) -> list[int] | None:
    """Which file lies at a path, as far as that is known without reading it."""
    with suppress(OSError, ValueError):
        found = path.stat()
        return [found.st_ino, found.st_size, found.st_mtime_ns]
    return None


def _private(folder: Path) -> Path:
    """A folder of our own, made if need be; one of somebody else, or a link, is refused."""
    try:
        folder.mkdir(mode=0o700, parents=False, exist_ok=True)
    except (FileExistsError, FileNotFoundError, PermissionError, NotADirectoryError):
        raise InputError(f"{folder} cannot be made.", "Name a folder in one that is there.") from None
    owner = folder.lstat()
    if folder.is_symlink() or not is_own(owner):
        raise InputError(f"{folder} is a link, or belongs to somebody else.", "Name a folder of your own.")
    folder.chmod(0o700)
    return folder


def remove_leftovers(runs: Path) -> None:
    """Remove temporary projects whose app no longer runs: their lock is free."""
    for folder in _runs(runs):
        lock = Lock(folder / PROJECT_MARK)
        if lock.take():
            shutil.rmtree(folder, ignore_errors=True)
            lock.release()
            shutil.rmtree(folder, ignore_errors=True)  # Windows does not remove a lock that is held


def _runs(runs: Path) -> Iterator[Path]:
    yield from (folder for folder in runs.iterdir() if folder.name.startswith(_RUN) and not folder.is_symlink())


# What `shoal app` was started with.


UPLOAD_LIMIT = 4 * 10**9
LOCAL_HOST = "127.0.0.1"


def _secret() -> str:
    return secrets.token_urlsafe(32)


@dataclass(frozen=True)
class Settings:
    """Where state is kept, which folders may be looked into, how much may be uploaded, and the secrets of this run.

    `token` opens the first browser session and is good once; `api_token` is for scripts, as long as the app runs. Every
    page lies below `prefix`, which nobody else knows: a browser sends the cookie of a session there alone, and not to
    what else listens on this machine.
    """

    project: Path | None = None
    allow: tuple[Path, ...] = ()
    upload_limit: int = UPLOAD_LIMIT
    host: str = LOCAL_HOST
    token: str = field(default_factory=_secret, repr=False)
    api_token: str = field(default_factory=_secret, repr=False)
    prefix: str = field(default_factory=lambda: f"/{_secret()}", repr=False)
    # a counting process that nobody asked for so long is ended
    idle_seconds: float = 600.0

    def __post_init__(self) -> None:
        for folder in self.allow:
            if not folder.is_dir():
                raise InputError(f"There is no folder {folder}.", "Name a folder that is there (--allow).")


# Results of verbs on disk: the verb's own JSON beside its sections, which read back as the sections they were.


R = TypeVar("R", bound=Result)


@dataclass(frozen=True)
class Stored:
    """What a verb found: its JSON, one sentence, and its sections."""

    result: dict[str, Any]
    summary: str
    sections: Sequence[Section]

    @classmethod
    def of(cls, result: Result) -> Stored:
        """What is kept of a result."""
        return cls(result.to_dict(), result.summary(), result.sections())

    def typed(self, kind: type[R]) -> R:
        """The result, as the verb gave it: figures and names, without tables."""
        return from_json(kind, self.result)

    @property
    def headline(self) -> Headline:
        """The first sentence of the result."""
        return next(section for section in self.sections if isinstance(section, Headline))

    def write(self, path: Path) -> None:
        """To a file of its owner, whole or not at all."""
        content = {
            "result": self.result,
            "summary": self.summary,
            "sections": [section_to_json(section) for section in self.sections],
        }
        write_bytes(path, json.dumps(content, ensure_ascii=False).encode(), 0o600)

    @classmethod
    def read(cls, path: Path) -> Stored:
        """From a file that `write` made."""
        content = json.loads(path.read_bytes())
        return cls(content["result"], content["summary"], [section_from_json(found) for found in content["sections"]])


def section_to_json(section: Section) -> dict[str, Any]:
    """A section as JSON, with its kind.

    >>> section_to_json(Headline("Nobody is unique.", "good"))
    {'kind': 'headline', 'text': 'Nobody is unique.', 'tone': 'good'}
    """
    return {"kind": type(section).__name__.lower(), **fields_as_json(section)}


_SECTIONS: dict[str, type[Any]] = {kind.__name__.lower(): kind for kind in get_args(Section)}


def section_from_json(found: Mapping[str, Any]) -> Section:
    """The section that `section_to_json` wrote.

    >>> from shoal.results import Bar, Cell, Grid
    >>> grid = Grid(("name", "share"), [("age", Bar(0.5)), (Cell("sex", "dim"), "0")], left=1, title="Columns")
    >>> section_from_json(section_to_json(grid)).rows
    (('age', Bar(share=0.5)), (Cell(text='sex', tone='dim'), '0'))
    """
    section: Section = from_json(_SECTIONS[found["kind"]], found)
    return section


# Policies as the app keeps them: their text, parsed once, and the files that they name.


# how `recode` generalises a column without a file
_NO_FILE = re.compile(r"|\*|(?:runs|chunks):[0-9]+")
_OURS = "of this file"
_MOST = 8
_PARSED: dict[bytes, Any] = {}
_LOCK = threading.Lock()


def parsed(text: bytes | None) -> Any:
    """The policy of a text; an empty one where there is none.

    >>> parsed(b"columns: {age: quasi-identifier}").quasi_identifiers, parsed(None).quasi_identifiers
    (['age'], [])
    """
    from shoal.policy import Policy
    from shoal.policy.loading import policy_from_text

    if text is None:
        return Policy()
    found = _PARSED.get(text)
    return found if found is not None else _remember(text, policy_from_text(text.decode("utf-8", "replace"), _OURS))


def _remember(text: bytes, policy: Any) -> Any:
    """Keep a policy beside its text: a long one takes seconds to parse."""
    with _LOCK:
        while len(_PARSED) >= _MOST:
            del _PARSED[next(iter(_PARSED))]
        _PARSED[text] = policy
    return policy


def as_text(policy: Any) -> bytes:
    """A policy (the library's, or its content, which the library checks) as the text of its file."""
    import yaml

    from shoal.policy import as_policy
    from shoal.policy.loading import LONGEST_POLICY

    made = as_policy(policy)
    text = yaml.safe_dump(made.as_written(), sort_keys=False, allow_unicode=True)
    if len(text) > LONGEST_POLICY:
        raise InputError(
            f"Written out, the policy is longer than {LONGEST_POLICY:,} characters.",
            "Keep large hierarchies in files, and name these.",
        )
    try:
        written = text.encode()
    except UnicodeEncodeError:
        raise InputError("The policy holds what is not text (half of a character).", "Remove it.") from None
    _remember(written, made)
    return written


def named_files(policy: Any) -> list[str]:
    """Every file or folder that a policy or its method names, whether it is there or not.

    >>> from shoal.policy import as_policy
    >>> tree = {"name": "lattice", "hierarchies": {"age": "age.csv"}}
    >>> named_files(as_policy({"method": tree, "hierarchies": {"zip": "zip.csv", "sex": [["f", "*"]]}}))
    ['zip.csv', 'age.csv']
    """
    options = policy.method.options if policy.method is not None else {}
    named = [name for model in policy.models for name in model.needs_files]
    named += [] if policy.relations is None else [one.file for one in policy.relations.tables.values()]
    for trees in (policy.hierarchies, options.get("hierarchies")):
        named += trees.values() if isinstance(trees, dict) else [trees]
    maps = options.get("generalize")
    named += maps.values() if isinstance(maps, dict) else []
    return [name for name in named if isinstance(name, str) and not _NO_FILE.fullmatch(name)]
