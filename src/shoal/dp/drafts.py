"""A desk is made in a draft folder beside its own. Who makes it holds a lock on the draft; a draft without one is dead.

The lock (`flock` on the folder itself) ends with its process, however that ends. A draft is removed only by who got
its lock, and a maker whose new draft was taken away before it could be locked makes another one.
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_DRAFT = re.compile(r"^\..+\.[0-9a-f]{8}\.desk-draft$", re.DOTALL)


@contextmanager
def draft_of(folder: Path) -> Iterator[Path]:
    """A new private folder beside `folder`, locked; what is left of it in the end is removed."""
    while True:
        draft = folder.parent / f".{folder.name}.{secrets.token_hex(4)}.desk-draft"
        draft.mkdir(mode=0o700)
        if (handle := locked(draft)) is not None:
            break
    try:
        yield draft
    finally:
        shutil.rmtree(draft, ignore_errors=True)
        os.close(handle)


def remove_dead_drafts(parent: Path) -> int:
    """Remove the drafts in a folder whose makers are gone; how many there were.

    >>> import tempfile
    >>> parent = Path(tempfile.mkdtemp())
    >>> (parent / ".desk.0123abcd.desk-draft").mkdir()
    >>> with draft_of(parent / "desk"):
    ...     remove_dead_drafts(parent)
    1
    """
    removed = 0
    for draft in parent.iterdir():
        if not _DRAFT.match(draft.name) or draft.is_symlink() or not draft.is_dir():
            continue
        if (handle := locked(draft)) is not None:
            shutil.rmtree(draft, ignore_errors=True)
            os.close(handle)
            removed += not draft.exists()
    return removed


def locked(folder: Path) -> int | None:
    """The handle that holds the lock of a folder; None if somebody else holds it, or the folder is gone."""
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(handle), folder.stat()):
            return handle
    except OSError:
        pass
    os.close(handle)
    return None
