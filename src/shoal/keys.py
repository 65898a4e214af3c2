"""Secret keys in files: made with mode 0600 where the system keeps modes, never overwritten, never shown.

One key serves several purposes; each purpose derives its own secret from it, so that a pseudonym tells nothing about a
shift of dates.
"""

from __future__ import annotations

import hmac
import os
import secrets
from pathlib import Path

from shoal.errors import InputError
from shoal.systems.files import others_may

KEY_BYTES = 32
_LONGEST = 64
_SIGNING_KEY = b"-----BEGIN PRIVATE KEY-----"
# what the first line of a mapping or of a table of surrogates says
_PRIVATE_HEADERS = (b"old,new\r\n", b"value,pseudonym\r\n")


class SecretKey:
    """A secret; what is printed of it never shows it.

    >>> key = SecretKey(bytes(32))
    >>> key, key.secret_for("pseudonyms") == key.secret_for("dates")
    (SecretKey(secret), False)
    """

    __slots__ = ("_secret",)

    def __init__(self, secret: bytes) -> None:
        if not KEY_BYTES <= len(secret) <= _LONGEST:
            raise InputError(
                f"A key has {KEY_BYTES} to {_LONGEST} random bytes.",
                "Let shoal make one: name a file that is not there.",
            )
        self._secret = bytes(secret)

    def __repr__(self) -> str:
        return "SecretKey(secret)"

    def secret_for(self, purpose: str) -> bytes:
        """HMAC-SHA-256 of the purpose under the key."""
        return hmac.digest(self._secret, b"shoal " + purpose.encode(), "sha256")


def read_key(path: str | Path) -> SecretKey:
    """A key from its file, which nobody but its owner may read."""
    path = Path(path)
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            secret = file.read(_LONGEST + 1)
    except FileNotFoundError:
        raise InputError(f"There is no key file {path}.", "Check its name, or let shoal make it.") from None
    except OSError as error:
        raise InputError(f"Key file {path} cannot be read: {error.strerror}.", "Check its rights.") from None
    if others_may(mode):
        raise InputError(f"Key file {path} can be read by others: it is not a secret.", f"Run chmod 600 {path}.")
    if not KEY_BYTES <= len(secret) <= _LONGEST:
        raise InputError(
            f"{path} is not a key: a key has {KEY_BYTES} to {_LONGEST} random bytes.",
            "Name the key's file, or one that is not there yet.",
        )
    return SecretKey(secret)


def create_key(path: str | Path) -> SecretKey:
    """A new key in a new file (mode 0600 from its first byte on); an existing file is never touched."""
    path = Path(path)
    secret = secrets.token_bytes(KEY_BYTES)
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise InputError(f"{path} exists already: keys are never overwritten.", "Choose another name.") from None
    except OSError as error:
        raise InputError(f"Key file {path} cannot be made: {error.strerror}.", "Choose another folder.") from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(secret)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        path.unlink(missing_ok=True)  # half a key is not one
        raise InputError(f"Key file {path} could not be written: {error.strerror}.", "Nothing was done.") from None
    return SecretKey(secret)


def find_key(path: str | Path) -> tuple[SecretKey, bool]:
    """The key of a file, and whether the file had to be made.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "key.bin"
    >>> find_key(path)[1], find_key(path)[1], oct(path.stat().st_mode & 0o777)
    (True, False, '0o600')
    """
    if Path(path).exists():
        return read_key(path), False
    return create_key(path), True


def as_key(given: SecretKey | bytes | str | Path) -> SecretKey:
    """A key from what was given: one, its bytes, or the path of its file."""
    if isinstance(given, SecretKey):
        return given
    return SecretKey(given) if isinstance(given, bytes) else read_key(given)


def key_or_new(given: SecretKey | bytes | str | Path, create: bool = True) -> tuple[SecretKey, bool]:
    """A key from what was given (one, its bytes, or the path of its file), and whether its file had to be made."""
    if create and isinstance(given, (str, Path)):
        return find_key(given)
    return as_key(given), False


def path_of(given: SecretKey | bytes | str | Path | None) -> Path | None:
    """The file of a key, where it is given by one."""
    return Path(given) if isinstance(given, (str, Path)) else None


def check_no_secret(path: Path) -> None:
    """Refuse to replace a file that looks like a key, a mapping or a table of surrogates, whoever asks."""
    if is_private_file(path):
        raise InputError(
            f"{path} holds a key, a mapping or a table of surrogates: it is never replaced.", "Choose another name."
        )


def is_private_file(path: Path) -> bool:
    """Whether a file looks like a key, a signing key, a mapping or a table of surrogates."""
    try:
        with path.open("rb") as file:
            start, size = file.read(_LONGEST + 1), os.fstat(file.fileno()).st_size
            private = not others_may(os.fstat(file.fileno()).st_mode)
    except OSError:
        return False
    is_key = KEY_BYTES <= size <= _LONGEST and private and not start.isascii()
    return is_key or start.startswith(_PRIVATE_HEADERS) or start.startswith(_SIGNING_KEY)
