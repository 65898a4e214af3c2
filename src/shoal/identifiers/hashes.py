"""Hashes: hexadecimal strings as long as a known digest, and password hashes in their tagged form."""

from collections.abc import Iterator

from shoal.identifiers.base import Finding
from shoal.identifiers.column import ColumnEvidence
from shoal.identifiers.header import words
from shoal.identifiers.shape import Shape

_WORDS = words(
    """hash, hashed, md5, sha, sha1, sha256, sha512, digest, checksum, fingerprint hash, impronta, prufsumme,
    pruefsumme, empreinte, password hash, pwd hash, token""",
    weak="pseudonym, password, passwd, pwd, key, signature, etag",
)
_HEX = Shape(
    kind="hash",
    rule="hex-digest",
    noun="a hexadecimal digest",
    pattern=(r"(?i)^(0x)?([0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{56}|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128})$"),
    words=_WORDS,
    alone=0.93,
)
_TAGGED = Shape(
    kind="hash",
    rule="tagged-hash",
    noun="a tagged hash",
    pattern=(
        r"^\$(2[abxy]?|1|5|6|argon2id?|y|scrypt)\$\S{10,}$"
        r"|^(?i:sha(1|224|256|384|512)|md5|pbkdf2\w*)[:$-]\S{20,}$"
    ),
    words=_WORDS,
    alone=0.95,
)
_SHORT = Shape(
    kind="hash",
    rule="short-digest",
    noun="a shortened hexadecimal digest or a base64 digest",
    pattern=r"(?i)^[0-9a-f]{16}$|^[0-9a-f]{24}$|^[A-Za-z0-9+/_-]{43}=?$|^[A-Za-z0-9+/_-]{27}=$",
    words=_WORDS,
    alone=0.55,
)
# Numbers of 32 digits are no hashes.
_ONLY_DIGITS = r"^\d+$"


def recognise(column: ColumnEvidence) -> Iterator[Finding]:
    """Whole digests, tagged ones, then short forms."""
    if column.share(column.matches(_ONLY_DIGITS)) < 0.2:
        for rule in (_HEX, _TAGGED, _SHORT):
            yield from rule(column)
