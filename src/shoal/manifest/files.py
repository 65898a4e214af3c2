"""The parts beside a data file, read back: ordinary files of a limited size only; any damage is an `InputError`."""

from __future__ import annotations

import json
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError

from shoal.databases import Address, is_database
from shoal.errors import InputError, ShoalError
from shoal.manifest.schema import Manifest, PrivateRecord, StoredIn
from shoal.policy import Policy
from shoal.reading.files import is_address

if TYPE_CHECKING:
    from shoal.databases.base import Found

LARGEST_MANIFEST = 64_000_000
LARGEST_PLAN = 1_000_000_000

Shape = TypeVar("Shape", bound=BaseModel)


def names_as_released(policy: Policy, manifest: Manifest | None) -> list[str]:
    """The policy's quasi-identifiers under the names that they were released as: their own, or the two names that
    ranges in two columns have. Without quasi-identifiers in the policy, those of the manifest."""
    if manifest is None:
        return policy.quasi_identifiers
    names: list[str] = []
    for name in policy.quasi_identifiers:
        entry = manifest.column(name)
        names += [name] if entry is None or not entry.derived else entry.derived
    return names or list(manifest.quasi_identifiers)


def released_names(source: Any, names: Sequence[str]) -> list[str]:
    """Quasi-identifiers under the names that a file's manifest says they were released as; as they are without one."""
    here = isinstance(source, (str, Path)) and not is_address(source)
    beside = Address.of(source).beside if is_database(source) else Path(source) if here else None
    manifest = read_manifest(beside)
    entries = {name: None if manifest is None else manifest.column(name) for name in names}
    return [found for name, entry in entries.items() for found in ([name] if entry is None else entry.derived)]


def stored_as(address: Address, found: Found) -> StoredIn:
    """Where a table is, by its names; of a file of a database the name alone."""
    from shoal.databases.base import check_table

    return StoredIn(
        system=address.system,  # type: ignore[arg-type]
        database=found.database,
        schema_name=found.schema,
        table=check_table(address),
    )


def manifest_path(path: Path) -> Path:
    """The public manifest of a data file.

    >>> manifest_path(Path("safe.csv")).name
    'safe.manifest.json'
    """
    return path.with_name(path.stem + ".manifest.json")


def private_path(path: Path) -> Path:
    """The private record of a data file: seed, row map, input hash; for its owner only."""
    return path.with_name(path.stem + ".private.json")


def plan_path(path: Path) -> Path:
    """The plan by which a data file was generalised; for its owner only."""
    return path.with_name(path.stem + ".plan.json")


def private_folder(folder: Path) -> Path:
    """The owner's folder of a published folder: it lies beside it.

    >>> private_folder(Path("release")).name
    'release.private'
    """
    return folder.with_name(folder.name + ".private")


def dictionary_path(path: Path) -> Path:
    """The data dictionary of a data file."""
    return path.with_name(path.stem + ".dictionary.json")


def files_of(path: str | Path | None) -> list[Path]:
    """All files that a release writes: the data and what lies beside it.

    >>> [file.name for file in files_of("safe.csv")][:2]
    ['safe.csv', 'safe.manifest.json']
    """
    if path is None:
        return []
    path = Path(path)
    return [path, manifest_path(path), dictionary_path(path), private_path(path), plan_path(path)]


def pending_path(part: Path, data_sha256: str) -> Path:
    """Where a part of a release waits that replaces another: until the data has taken its name."""
    return part.with_name(f".{part.name}.{data_sha256[:16]}")


def read_json(path: Path, what: str, largest: int = LARGEST_MANIFEST) -> dict[str, Any]:
    """A JSON object from an ordinary file of a limited size.

    >>> read_json(Path("/dev/zero"), "manifest")
    Traceback (most recent call last):
    shoal.errors.InputError: /dev/zero is not an ordinary file. ...
    """
    cure = f"Take the {what} that was written with the release."
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            raise InputError(f"{path} is not an ordinary file.", cure)
        if found.st_size > largest:
            raise InputError(f"{path} has more than {largest:,} bytes: that is not a {what}.", cure)
        content = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise InputError(f"There is no {what} {path}.", cure) from None
    except InputError:
        raise
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or type(error).__name__}.", cure) from None
    except (ValueError, RecursionError, MemoryError):
        raise InputError(f"{path} is not a {what} of shoal.", cure) from None
    if not isinstance(content, dict):
        raise InputError(f"{path} is not a {what} of shoal.", cure)
    return content


def as_shape(shape: type[Shape], content: dict[str, Any], path: Path, what: str) -> Shape:
    """JSON as its pydantic model; what does not fit is named by its place, never by its value."""
    try:
        return shape.model_validate(content)
    except ValidationError as error:
        places = dict.fromkeys(".".join(str(part) for part in found["loc"][:3]) for found in error.errors())
        shown = ", ".join(list(places)[:5])
        raise InputError(
            f"{path} is not a {what} of shoal: see {shown or 'its content'}.",
            f"Take the {what} that was written with the release.",
        ) from None
    except (RecursionError, ValueError, TypeError, OverflowError, ShoalError):
        raise InputError(
            f"{path} is not a {what} of shoal.", f"Take the {what} that was written with the release."
        ) from None


def part_of(part: Path, data_sha256: str | None, owners: bool = False) -> Path | None:
    """Where a part of a release is: beside its data, waiting to replace one that belongs to older data, or, if it
    is its `owners`, in the folder beside a published one."""
    waiting = None if data_sha256 is None else pending_path(part, data_sha256)
    if waiting is not None and waiting.exists():
        return waiting
    if part.exists():
        return part
    kept = private_folder(part.parent.absolute()) / part.name
    return kept if owners and kept.exists() else None


def read_manifest(path: Path | None, data_sha256: str | None = None) -> Manifest | None:
    """The manifest beside a data file, if there is one."""
    file = None if path is None else part_of(manifest_path(path), data_sha256)
    return None if file is None else as_shape(Manifest, read_json(file, "manifest"), file, "manifest")


def read_private(path: Path, data_sha256: str | None = None) -> PrivateRecord | None:
    """The private record beside a data file, if there is one."""
    file = part_of(private_path(path), data_sha256, owners=True)
    return None if file is None else as_shape(PrivateRecord, read_json(file, "private record"), file, "private record")
