"""Keyed hashes: the chain of the ledger, and the marks that say how far it goes.

With the secret of the ledger key, an entry's hash is HMAC-SHA-256 over all that the entry says and the hash before it;
the first one follows the desk's terms. A *mark* says how many entries there are and the hash of the last one, signed
with the same secret: `head.json` in the desk's folder, and the witness, which is kept elsewhere. Entries can be cut
off a chain without breaking it, so a mark has a signature of its own that no entry shows: whoever cuts entries off
cannot sign the mark that would fit. Putting back an old ledger together with its old `head.json` is found by the
witness only.
"""

from __future__ import annotations

import hmac
import json
from pathlib import Path
from typing import Annotated, Any

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from shoal.dataclasses import dataclass
from shoal.dp.documents import read_limited
from shoal.dp.terms import Terms
from shoal.errors import InputError
from shoal.keys import Key
from shoal.writing import write_json

LARGEST_MARK = 4096
Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class Chain:
    """The secret of a desk's ledger; what is printed of it never shows it."""

    __slots__ = ("_secret", "desk", "start")

    def __init__(self, key: Key, terms: Terms) -> None:
        self._secret = key.secret_for("desk ledger")
        self.desk = terms.desk
        self.start = self.digest("terms", terms.to_bytes().decode())

    def digest(self, *parts: Any) -> str:
        """HMAC-SHA-256 of the parts in one unmistakable writing."""
        return hmac.digest(self._secret, json.dumps(parts, ensure_ascii=False).encode(), "sha256").hex()


def key_check(key: Key, desk: str) -> str:
    """What the terms say of the ledger key: enough to know a wrong one by, and nothing of the key."""
    return hmac.digest(key.secret_for("desk check"), desk.encode(), "sha256").hex()


@dataclass(frozen=True)
class Mark:
    """How far the ledger of a desk goes, signed."""

    __pydantic_config__ = ConfigDict(extra="forbid", strict=True)

    desk: Annotated[str, Field(max_length=64)]
    entries: Annotated[int, Field(ge=0, le=2**53)]
    hash: Digest
    signature: Digest

    @classmethod
    def of(cls, chain: Chain, entries: int, digest: str) -> Mark:
        """A mark, signed."""
        return cls(chain.desk, entries, digest, chain.digest("mark", chain.desk, entries, digest))

    @classmethod
    def read(cls, path: Path, chain: Chain) -> Mark:
        """A mark from its file, if it is one of this desk and its signature is right."""
        try:
            mark = _MARK.validate_json(read_limited(path, LARGEST_MARK))
        except (ValidationError, InputError):
            raise tampered(f"{path.name} is missing or damaged") from None
        if mark.desk != chain.desk:
            raise tampered(f"{path.name} is of another desk")
        if not hmac.compare_digest(mark.signature, cls.of(chain, mark.entries, mark.hash).signature):
            raise tampered(f"{path.name} was changed")
        return mark

    def write(self, path: Path) -> None:
        """Into its file, whole or not at all."""
        content = {"desk": self.desk, "entries": self.entries, "hash": self.hash, "signature": self.signature}
        write_json(path, content, 0o600)


_MARK = TypeAdapter(Mark)


def tampered(how: str) -> InputError:
    """What a desk says of a ledger that is not as it was written."""
    return InputError(
        f"The ledger was tampered with, or belongs to another desk: {how}.",
        "Nothing is answered from it. Restore the ledger, or open a new desk and count what was spent.",
    )
