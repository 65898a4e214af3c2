"""The parts beside a data file, and the manifest read back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from shoal.errors import InputError
from shoal.policy import Policy


def names_as_released(policy: Policy, manifest: dict[str, Any] | None) -> list[str]:
    """The policy's quasi-identifiers under the names that they were released as."""
    if manifest is None:
        return policy.quasi_identifiers
    released = {column["name"]: column["released_as"] for column in manifest["columns"]}
    names = [name for column in policy.quasi_identifiers for name in released.get(column, [column])]
    return names or list(manifest["quasi_identifiers"])


def released_names(source: Any, names: Sequence[str]) -> list[str]:
    """Quasi-identifiers under the names that a file's manifest says they were released as; as they are without one."""
    manifest = read_manifest(Path(source)) if isinstance(source, (str, Path)) else None
    released = {column["name"]: column["released_as"] for column in manifest["columns"]} if manifest else {}
    return [found for name in names for found in released.get(name, [name])]


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


def read_manifest(path: Path | None) -> dict[str, Any] | None:
    """The manifest beside a data file, if there is one."""
    if path is None or not manifest_path(path).exists():
        return None
    try:
        found = json.loads(manifest_path(path).read_text(encoding="utf-8"))
        needed = {"policy", "policy_sha256", "data_sha256", "quasi_identifiers", "written", "columns"}
        if isinstance(found, dict) and needed <= set(found):
            return found
    except ValueError:
        pass
    raise InputError(
        f"{manifest_path(path)} is no manifest of shoal's.", "Take the one that was written with the file."
    )
