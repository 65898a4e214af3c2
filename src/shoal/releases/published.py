"""What a manifest vouches for beside the data: every file of a published folder, and the figures of the release."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from shoal.judgement.checks import Check
from shoal.manifest.files import as_shape, files_of, manifest_path, private_path, read_json
from shoal.manifest.schema import Manifest, PrivateRecord
from shoal.releases.results import Verification
from shoal.results.result import as_json
from shoal.wording import in_words
from shoal.writing import sha256, write_json

# what `publish` writes beside a release: without their hashes in the manifest nothing protects them
_DOCUMENTS = ("findings.json", "report.html", "report.pdf", "README.md")
_MOST = 8


def cover_files(data: Path, private: Path, sign: str | Path | None) -> None:
    """Put the hash of every file beside the data into its manifest, signed with them; `private` is the folder of the
    private record, which knows the manifest by its hash."""
    place, record = manifest_path(data), private / private_path(data).name
    manifest = as_shape(Manifest, read_json(place, "manifest"), place, "manifest")
    hashes = {file.name: sha256(file) for file in sorted(data.parent.iterdir()) if file != place}
    manifest = manifest.model_copy(update={"files": hashes, "signature": None})
    if sign is not None:
        from shoal.releases.signing import sign as signed

        manifest = signed(manifest, sign)
    known = as_shape(PrivateRecord, read_json(record, "private record"), record, "private record")
    known = known.model_copy(update={"manifest_sha256": manifest.digest()})
    write_json(place, manifest.to_dict(), 0o644)
    write_json(record, known.model_dump(mode="json"), 0o600)


def files_check(data: Path, manifest: Manifest, folder: bool) -> list[Check]:
    """Whether a published folder holds exactly the files that its manifest names, each as it was written.

    `folder`: the folder was named, not the data in it; then a file that no hash covers is named too.
    """
    if not data.is_file():
        return []
    present = {entry.name: entry for entry in os.scandir(data.parent)}
    own = {file.name for file in files_of(data)}
    if manifest.files is None:
        others = sorted(set(present) - own) if folder else []
        if not others:
            return []
        bare = [name for name in others if name in _DOCUMENTS]
        return [Check("files", not bare, f"the manifest has no hash of {in_words((bare or others)[:_MOST])}")]
    place = manifest_path(data).name
    problems = []
    for name, digest in manifest.files.items():
        entry = present.get(name)
        if entry is None:
            problems.append(f"{name} is missing")
        elif entry.is_symlink() or not entry.is_file():
            problems.append(f"{name} is not a file of this folder")
        elif sha256(data.parent / name) != digest:
            problems.append(f"{name} was changed")
    problems += [f"{name} was added" for name in sorted(set(present) - set(manifest.files) - {place})]
    problems += [f"{place} is not a file of this folder"] if present[place].is_symlink() else []
    more = f" and {len(problems) - _MOST} more" if len(problems) > _MOST else ""
    detail = f"all {len(manifest.files)} files are those that were published"
    return [Check("files", not problems, "; ".join(problems[:_MOST]) + more or detail)]


def measured_figures(judged: Verification) -> dict[str, int]:
    """The figures of a manifest that can be measured again on the released file."""
    if judged.classes is None or judged.uniques is None or not judged.models:
        return {}
    return {"k": judged.k, "classes": judged.classes, "uniques": judged.uniques}


def figures_check(manifest: Manifest, judged: Verification) -> Check:
    """Whether the manifest says what is measured: the smallest class, classes, uniques, and the worst class of each
    model. How the table was changed, and what that cost, cannot be measured without the original."""
    measured = measured_figures(judged)
    wrong = [name for name, value in measured.items() if manifest.findings.get(name, value) != value]
    models: Sequence[Mapping[str, Any]] = as_json([verdict.to_dict() for verdict in judged.models])
    said = [entry.model_dump(mode="json") for entry in manifest.models]
    if len(said) != len(models):
        wrong.append("models")
    for entry, found in zip(said, models, strict=False):
        if not all(_same(entry[key], found[key]) for key in ("name", "parameters", "holds", "worst")):
            wrong.append(str(found["name"]))
    wrong += ["suppressed_rows"] if manifest.suppressed_rows != judged.suppressed_rows else []
    detail = "the manifest says what is measured; method, changes and losses cannot be measured without the original"
    return Check("figures", not wrong, f"not as measured: {', '.join(wrong[:_MOST])}" if wrong else detail)


def _same(said: Any, found: Any) -> bool:
    """Equal, numbers up to rounding, names in any order."""
    if isinstance(said, Mapping) and isinstance(found, Mapping):
        return said.keys() == found.keys() and all(_same(said[key], found[key]) for key in said)
    if isinstance(said, list) and isinstance(found, list):
        if all(isinstance(entry, str) for entry in (*said, *found)):
            return sorted(said) == sorted(found)
        return len(said) == len(found) and all(map(_same, said, found))
    if isinstance(said, float) and isinstance(found, (int, float)):
        return abs(said - found) <= 1e-9 * max(1.0, abs(found))
    return bool(said == found)
