"""Files under their names: replaced at once, synced, removed, named as the system allows."""

from __future__ import annotations

import mmap
import os
import re
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from shoal.errors import InputError
from shoal.systems import MACOS, WINDOWS

# Windows refuses to replace, move and remove files that are open: scanners let go of theirs within these seconds
_PAUSES = (0.01, 0.03, 0.1, 0.3, 0.6)
# names that Windows keeps for devices, and what no name holds there
_DEVICES = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])([ .].*)?", re.IGNORECASE)
_REFUSED = re.compile(r'[<>:"/\\|?*\0-\x1f]|[ .]$')
_BLOCK = 1 << 20

# opens a file as bytes where the system has texts too
BINARY: int = getattr(os, "O_BINARY", 0)


def replace(source: Path, target: Path) -> None:
    """Give a file its name, at once, whatever had that name; an `InputError` where Windows refuses because it is open.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> (folder / "new").touch(); replace(folder / "new", folder / "old"); [path.name for path in folder.iterdir()]
    ['old']
    """
    _patiently(source.replace, target)


def move(source: Path, target: Path) -> None:
    """Give a file or a folder a name that is free; an empty folder of that name makes way."""
    if WINDOWS and target.is_dir() and source.is_dir():
        with suppress(OSError):
            target.rmdir()
    _patiently(source.rename, target)


def check_closed(*paths: Path) -> None:
    """Refuse files that cannot be replaced because another program has them open, before the first of them is."""
    for path in paths:
        if WINDOWS and path.exists():
            _patiently(path.rename, path)


def _patiently(action: Callable[[Path], object], target: Path) -> None:
    for pause in (*_PAUSES, None):
        try:
            action(target)
            return
        except PermissionError:
            if not WINDOWS:
                raise
            if pause is None:
                raise InputError(
                    f"{target} is open in another program, or may not be written to.",
                    "Close it there and run it again; what was there stays.",
                ) from None
            time.sleep(pause)


def remove(path: Path) -> bool:
    """Remove a file; whether it is gone. Windows refuses one that is open or mapped into memory."""
    try:
        path.unlink(missing_ok=True)
    except PermissionError:
        if not WINDOWS:
            raise
        return False
    return True


def sync(path: Path) -> None:
    """A file, or the names in a folder, down to the disk; Windows keeps the names of a folder by itself."""
    if WINDOWS and path.is_dir():
        return
    # Windows syncs only what was opened for writing
    handle = os.open(path, os.O_RDWR if WINDOWS else os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def open_at_once(path: str | Path) -> int:
    """A handle for reading; a pipe is opened as well, without waiting for somebody to write into it."""
    return os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))


def take_space(handle: int, size: int) -> None:
    """Give a file a size whose space is taken on the disk at once, so that it cannot lack later."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(handle, 0, size)
        return
    with os.fdopen(handle, "r+b", buffering=0, closefd=False) as file:
        zeros = bytes(_BLOCK)
        for start in range(0, size, _BLOCK):
            file.write(zeros[: size - start])


def forget_pages(mapped: mmap.mmap) -> None:
    """Let the pages of a mapped file go from memory, where the system can be told so."""
    if hasattr(mapped, "madvise") and hasattr(mmap, "MADV_DONTNEED"):
        mapped.madvise(mmap.MADV_DONTNEED)


def as_errno(code: int) -> int | None:
    """The `errno` of an error that the system numbers as libraries show it: Windows has numbers of its own."""
    return OSError(0, "", None, code).errno if WINDOWS else code


def is_file_name(name: str) -> bool:
    """Whether a file can have a name on this system.

    >>> is_file_name("age.csv"), is_file_name("a/b.csv"), is_file_name("")
    (True, False, False)
    """
    if WINDOWS:
        return bool(name) and not _REFUSED.search(name) and not _DEVICES.fullmatch(name)
    return bool(name) and Path(name).name == name


def as_one_name(name: str) -> str:
    """What two names have in common that mean one file here: on macOS and Windows capitals make no difference."""
    return name.casefold() if WINDOWS or MACOS else name


# Whose a file is, and who may read it. Windows keeps no modes: what is promised about them is not promised there.


KEEPS_MODES = not WINDOWS


def others_may(mode: int) -> bool:
    """Whether anybody but the owner may read, write or enter; never known where the system keeps no modes.

    >>> others_may(0o600), others_may(0o640)
    (False, True)
    """
    return KEEPS_MODES and bool(mode & 0o077)


def is_own(about: os.stat_result) -> bool:
    """Whether a file or a folder belongs to this user; where the system does not tell, it is taken for granted."""
    return not hasattr(os, "getuid") or about.st_uid == os.getuid()


def user() -> str:
    """The user as part of a name of a folder that several users share."""
    if hasattr(os, "getuid"):
        return str(os.getuid())
    return re.sub(r"[^\w-]+", "-", os.environ.get("USERNAME", "")) or "user"


def password_file() -> Path:
    """Where PostgreSQL's library looks for passwords."""
    home = Path(os.environ.get("APPDATA", ""), "postgresql", "pgpass.conf") if WINDOWS else Path.home() / ".pgpass"
    return Path(os.environ.get("PGPASSFILE") or home)
