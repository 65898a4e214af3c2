"""What `--force` may replace: folders in which shoal wrote every file, and which none of the inputs is in."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from shoal.errors import InputError
from shoal.manifest.files import as_shape, private_folder, read_json
from shoal.manifest.schema import Manifest, PrivateRecord
from shoal.policy import Policy
from shoal.releases.write import files_read

MANIFEST, RECORD = "data.manifest.json", "data.private.json"
FINDINGS = "findings.json"
_OWNERS = {RECORD, "data.plan.json", FINDINGS, "report.html", "report.pdf", "policy.yaml"}
_SHOWN = 5


def check_ours(folder: Path, kind: str) -> None:
    """Refuse to replace a folder with a file in it that shoal did not write."""
    known = _written(folder)
    strange = sorted(
        entry.name for entry in folder.iterdir() if entry.name not in known or entry.is_symlink() or entry.is_dir()
    )
    if strange:
        more = f" and {len(strange) - _SHOWN:,} more" if len(strange) > _SHOWN else ""
        raise InputError(
            f"{folder} is not replaced: it is not a {kind} as shoal writes it. It holds "
            f"{', '.join(strange[:_SHOWN])}{more}, which shoal did not write there.",
            "Move what you need out of it, or name another place.",
        )


def _written(folder: Path) -> set[str]:
    """The names of the files that shoal wrote into a folder, by the manifest or the private record in it."""
    if (folder / MANIFEST).is_file():
        manifest = as_shape(Manifest, read_json(folder / MANIFEST, "manifest"), folder / MANIFEST, "manifest")
        return {MANIFEST, *(manifest.files or {})}
    if (folder / RECORD).is_file():
        as_shape(PrivateRecord, read_json(folder / RECORD, "private record"), folder / RECORD, "private record")
        return _OWNERS
    return {FINDINGS} if is_evidence(folder) else set()


def is_evidence(folder: Path) -> bool:
    """Whether a folder holds the findings of a publication that was refused."""
    try:
        return isinstance(read_json(folder / FINDINGS, "file of findings").get("refusal"), dict)
    except InputError:
        return False


def check_outside(
    source: Any, policy: Any, rules: Policy, sign: str | Path | None, output: Path | None, evidence: Path | None
) -> None:
    """Refuse an output that holds something that is read, or that lies in a folder of inputs.

    Whatever is read (table, policy, key, hierarchies, populations, linked tables) would be destroyed by a later
    `--force`, and released rows in a folder of inputs would be read as records the next time.
    """
    places = [] if output is None else [("output", output), ("owner's folder", private_folder(output))]
    places += [] if evidence is None else [("folder of evidence", evidence)]
    for number, (word, place) in enumerate(places):
        for other_word, other in places[:number]:
            if _within(place, other) or _within(other, place):
                raise InputError(f"{place} is the {word}, and the {other_word} {other} too.", "Name another place.")
    read = {"input": source, "policy": policy, "signing key": sign, "file that the policy names": files_read(rules, {})}
    for what, given in read.items():
        for path in _paths(given):
            for word, place in places:
                if _within(path, place):
                    raise InputError(f"{path} is the {what}, and lies in the {word} {place}.", "Name another place.")
                if path.is_dir() and _within(place, path):
                    raise InputError(
                        f"{place} would lie in {path}, which is read as the {what}: released records would be read "
                        "with it the next time.",
                        "Name a place outside of it.",
                    )


def _paths(given: Any) -> Iterable[Path]:
    """The paths among what was given; of a pattern, the folder in which it looks."""
    several = given if isinstance(given, (list, tuple)) else [given]
    for path in several:
        if isinstance(path, (str, Path)):
            parts = Path(path).parts
            fixed = next((place for place, part in enumerate(parts) if any(sign in part for sign in "*?[")), None)
            whole = fixed is None or Path(path).exists()
            recursive = not whole and "**" in parts
            yield from [Path(path)] if whole else [Path(*parts[:fixed])] if recursive else _matches(str(path))


def _matches(pattern: str) -> list[Path]:
    from glob import glob

    return [Path(path) for path in glob(pattern)]


def _within(path: Path, folder: Path) -> bool:
    """Whether a path is a folder or lies in it, links followed."""
    try:
        inner, outer = path.resolve(), folder.resolve()
    except (OSError, RuntimeError, ValueError):
        return False
    return inner == outer or outer in inner.parents
