"""Signed manifests: Ed25519 over everything that a manifest says. Needs the extra `shoal[sign]`."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any, TypeVar

from shoal.errors import InputError
from shoal.policy.judgement.shown_classes import Check
from shoal.policy.manifest import Signature, Statements
from shoal.storage.writing import check_target, write_bytes
from shoal.systems.files import others_may

_LARGEST_KEY = 10_000
_Manifest = TypeVar("_Manifest", bound=Statements)


def _library() -> Any:
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise InputError("Signing needs the package cryptography.", "Install it: pip install 'shoal[sign]'.") from None
    return ed25519


def make_signing_key(path: str | Path, *, force: bool = False) -> tuple[Path, Path]:
    """Make a key pair: the private key in `path` (mode 0600), the public one beside it with the ending .pub."""
    library, path = _library(), Path(path)
    from cryptography.hazmat.primitives import serialization as form

    public = path.with_name(path.name + ".pub")
    if path.exists() or public.exists():  # a key is never replaced: what it signed could not be verified any more
        raise InputError(f"{path if path.exists() else public} exists already.", "Name another file.")
    check_target(path, force, (path.suffix.lower(),))
    key = library.Ed25519PrivateKey.generate()
    private_bytes = key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())
    public_bytes = key.public_key().public_bytes(form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo)
    write_bytes(path, private_bytes, 0o600)
    write_bytes(public, public_bytes, 0o644)
    return path, public


def read_signing_key(key_file: str | Path) -> Any:
    """A private key from its file, which nobody but its owner may read."""
    library, path = _library(), Path(key_file)
    content = _key_bytes(path)
    if others_may(path.stat().st_mode):
        raise InputError(f"Others can read the signing key {path}.", "Give it the mode 0600, or make another.")
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        key = load_pem_private_key(content, None)
    except (ValueError, TypeError):
        key = None
    if not isinstance(key, library.Ed25519PrivateKey):
        raise InputError(f"{path} is not a signing key.", "Make one with `shoal signing-key`.")
    return key


def check_signing_key(key_file: str | Path | None) -> None:
    """Refuse a file that is not a signing key before any work."""
    if key_file is not None:
        read_signing_key(key_file)


def sign(manifest: _Manifest, key_file: str | Path) -> _Manifest:
    """A manifest with its signature."""
    key = read_signing_key(key_file)
    public = key.public_key().public_bytes_raw().hex()
    value = key.sign(manifest.canonical_bytes(signature=False)).hex()
    return manifest.model_copy(update={"signature": Signature(algorithm="ed25519", public_key=public, value=value)})


def check_signature(manifest: Statements | None, public_key: str | Path) -> Check:
    """Whether a manifest is signed by the owner of a public key."""
    library, path = _library(), Path(public_key)
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    try:
        key = load_pem_public_key(_key_bytes(path))
    except (ValueError, TypeError):
        key = None
    if not isinstance(key, library.Ed25519PublicKey):
        raise InputError(f"{path} is not a public key.", "Name the .pub file that was made with the signing key.")
    if manifest is None or manifest.signature is None:
        return Check("signature", False, "the manifest is not signed")
    try:
        key.verify(bytes.fromhex(manifest.signature.value), manifest.canonical_bytes(signature=False))
    except InvalidSignature:
        return Check("signature", False, "the manifest is not what the owner of the key signed")
    return Check("signature", True, "the manifest is signed by the owner of the key")


def _key_bytes(path: Path) -> bytes:
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode) or found.st_size > _LARGEST_KEY:
            raise InputError(f"{path} is not a key.", "Make one with `shoal signing-key`.")
        return path.read_bytes()
    except OSError:
        raise InputError(f"There is no key {path}.", "Make one with `shoal signing-key`.") from None
