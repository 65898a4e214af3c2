"""What may leave, as one ZIP file made while it is sent; the owner's part is never in it."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path

from shoal.app.jobs import Job, last_done
from shoal.app.project import Workspace
from shoal.policy.manifest import OWNERS_ENDINGS, files_of

_PIECE = 1 << 20
_DAY = (1980, 1, 1, 0, 0, 0)


class _Sink:
    """A file that only remembers what was written since it was last asked."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []

    def write(self, data: bytes) -> int:
        self.parts.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """Nothing is kept back."""

    def taken(self) -> bytes:
        made = b"".join(self.parts)
        self.parts.clear()
        return made


def released_by(workspace: Workspace, verb: str) -> Job | None:
    """The last job of a verb that ended well and wrote a release: one that holds, or that says that it promises
    nothing."""
    job = last_done(workspace, verb)
    stored = None if job is None or job.released is None else job.stored
    if job is None or stored is None:
        return None
    allowed = ("holds", "no guarantee", None)  # None: a table that stays personal data has no verdict
    return job if stored.result.get("verdict") in allowed or job.options.get("no_guarantee") else None


def public_files(job: Job) -> list[Path]:
    """The files that may leave: of a publication all in its folder, of a release the data and what stands beside it."""
    released = job.released
    if released is None:
        return []
    if released.is_dir():
        return sorted(path for path in released.rglob("*") if path.is_file() and not path.is_symlink())
    found = [Path(path) for path in files_of(released)]
    return [path for path in found if path.is_file() and not path.name.endswith(OWNERS_ENDINGS)]


def zipped(files: list[Path], folder: Path) -> Iterator[bytes]:
    """A ZIP file of files below a folder, piece by piece; nothing is compressed twice, nothing is held whole."""
    sink = _Sink()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:  # type: ignore[call-overload]
        for path in files:
            entry = zipfile.ZipInfo(path.relative_to(folder).as_posix(), _DAY)
            entry.compress_type = zipfile.ZIP_DEFLATED
            with path.open("rb") as opened, archive.open(entry, "w", force_zip64=True) as member:
                while piece := opened.read(_PIECE):
                    member.write(piece)
                    yield sink.taken()
    yield sink.taken()
