"""The draft of a file is its owner's alone, and locked while its writer lives: a killed one leaves data behind.

A draft is removed by the next release to the same target, and only where its writer is dead: nobody holds its lock, and
no process has the number in its name (a library that writes a file anew leaves the lock on the old one).
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
from contextlib import suppress
from pathlib import Path


class DraftFile:
    """A new file beside a target, under a name of its own; drafts of dead writers for that target are removed.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> draft = DraftFile(folder / "safe.csv")
    >>> [file == draft.path for file in folder.iterdir()]
    [True]
    >>> draft.close()
    """

    def __init__(self, target: Path) -> None:
        remove_dead_drafts(target)
        name = f".{target.stem}.{os.getpid()}-{secrets.token_hex(4)}.draft{target.suffix.lower()}"
        self.path = target.with_name(name)
        self._handle: int | None = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        with suppress(OSError):  # a file system without locks
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def close(self) -> None:
        """Nothing more is written; what has still its own name is removed."""
        self.path.unlink(missing_ok=True)
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


def remove_dead_drafts(target: Path) -> int:
    """Remove the drafts for a target whose writers are dead; how many there were."""
    end = re.escape(target.suffix.lower())
    name = re.compile(rf"^\.{re.escape(target.stem)}\.([0-9]+)-[0-9a-f]{{8}}\.draft{end}$", re.DOTALL)
    removed = 0
    for draft in target.parent.iterdir():
        found = name.match(draft.name)
        if found is None or draft.is_symlink() or _lives(int(found[1])):
            continue
        with suppress(OSError):
            handle = os.open(draft, os.O_RDWR | os.O_NOFOLLOW)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                draft.unlink()
                removed += 1
            finally:
                os.close(handle)
    return removed


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # somebody else's
        return True
    return True
