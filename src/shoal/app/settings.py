"""What `shoal app` was started with."""

from __future__ import annotations

import secrets
from dataclasses import field
from pathlib import Path

from shoal.dataclasses import dataclass
from shoal.errors import InputError

UPLOAD_LIMIT = 4 * 10**9
LOCAL_HOST = "127.0.0.1"


def _secret() -> str:
    return secrets.token_urlsafe(32)


@dataclass(frozen=True)
class Settings:
    """Where state is kept, which folders may be looked into, how much may be uploaded, and the secrets of this run.

    `token` opens the first browser session and is good once; `api_token` is for scripts, as long as the app runs.
    """

    project: Path | None = None
    allow: tuple[Path, ...] = ()
    upload_limit: int = UPLOAD_LIMIT
    host: str = LOCAL_HOST
    token: str = field(default_factory=_secret, repr=False)
    api_token: str = field(default_factory=_secret, repr=False)
    # a counting process that nobody asked for so long is ended
    idle_seconds: float = 600.0

    def __post_init__(self) -> None:
        for folder in self.allow:
            if not folder.is_dir():
                raise InputError(f"There is no folder {folder}.", "Name a folder that is there.", settings="allow")
