"""What a manifest vouches for beside the data: every file of a published folder, and the figures of the release."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from shoal.errors import InputError
from shoal.policy.judgement.shown_classes import Check
from shoal.policy.manifest import (
    Manifest,
    PrivateRecord,
    as_shape,
    files_of,
    manifest_path,
    owners_part,
    parts_lock,
    private_path,
    read_json,
)
from shoal.releases.results import Verification
from shoal.results.result import as_json
from shoal.storage.writing import sha256, write_json
from shoal.wording import in_words

# what `publish` writes beside a release: without their hashes in the manifest nothing protects them
_FINDINGS = "findings.json"
_DOCUMENTS = (_FINDINGS, "report.html", "report.pdf", "README.md")
_MOST = 8


def cover_files(data: Path, private: Path, sign: str | Path | None) -> None:
    """Put the hash of every file beside the data into its manifest, signed with them; `private` is the folder of the
    private record, which knows the manifest by its hash."""
    place, record = manifest_path(data), private / private_path(data).name
    manifest = as_shape(Manifest, read_json(place, "manifest"), place, "manifest")
    hashes = {file.name: sha256(file) for file in sorted(data.parent.iterdir()) if file != place}
    _write_manifest(manifest.model_copy(update={"files": hashes, "signature": None}), place, record, sign)


def sign_release(source: str | Path, key_file: str | Path) -> str:
    """Sign a release that is there: its owner does, who has its private record; returns the public key.

    Data, manifest and published files must still be those that were written.
    """
    from shoal.releases.open import Release

    release = Release.open(source)
    manifest, record = release.manifest, owners_part(private_path(release.data))
    known = release.private
    if record is None or known is None:
        raise InputError("Only the owner of a release signs it.", "Keep its private record beside it.")
    whole = known.data_sha256 == release.data_sha256 and known.manifest_sha256 == manifest.digest()
    if not whole or not all(check.holds for check in files_check(release.data, manifest, Path(source).is_dir())):
        raise InputError("The release was changed since it was written.", "Release it again, then sign it.")
    unsigned = manifest.model_copy(update={"signature": None})
    with parts_lock(release.data):
        signed = _write_manifest(unsigned, release.parts["manifest"], record, key_file)
    assert signed.signature is not None
    return signed.signature.public_key


def _write_manifest(manifest: Manifest, place: Path, record: Path, sign: str | Path | None) -> Manifest:
    """Write a manifest, signed where there is a key, and its hash into the private record."""
    if sign is not None:
        from shoal.releases.signing import sign as signed

        manifest = signed(manifest, sign)
    known = as_shape(PrivateRecord, read_json(record, "private record"), record, "private record")
    known = known.model_copy(update={"manifest_sha256": manifest.digest()})
    write_json(place, manifest.to_dict(), 0o644)
    write_json(record, known.model_dump(mode="json"), 0o600)
    return manifest


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
    problems: list[str] = []
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
    whole = Check("files", not problems, "; ".join(problems[:_MOST]) + more or detail)
    return [whole, *(_findings_check(data.parent / _FINDINGS, manifest) if _FINDINGS in manifest.files else ())]


def _findings_check(path: Path, manifest: Manifest) -> list[Check]:
    """Whether the findings beside a manifest are about this manifest and this data, word for word."""
    try:
        found = read_json(path, "file of findings").get("data")
    except InputError:
        found = None
    said = found if isinstance(found, dict) else {}
    known = {"manifest_sha256": manifest.statements_digest(), "released_sha256": manifest.data_sha256}
    same = all(said.get(name) == value for name, value in known.items())
    detail = "findings, report and manifest are of one release"
    return [Check("findings", same, detail if same else "the manifest is not the one that the findings are about")]


def measured_figures(judged: Verification) -> dict[str, int]:
    """The figures of a manifest that can be measured again on the released file."""
    if judged.classes is None or judged.uniques is None or not judged.models:
        return {}
    return {"k": judged.k, "classes": judged.classes, "uniques": judged.uniques}


def figures_check(manifest: Manifest, judged: Verification | None) -> Check:
    """Whether the manifest says what is measured: the smallest class, classes, uniques, and the worst class of each
    model. How the table was changed, and what that cost, cannot be measured without the original: these are claims,
    and only a signature, or the private record, tells whose they are. So are all where nothing was measured as they
    were: by other classes, or by tables that only the manifest names."""
    if judged is None:
        claims = ["policy", "models", *manifest.findings]
        return Check("figures", True, f"claimed, not checked: {', '.join(claims)}")
    measured = measured_figures(judged)
    wrong = [name for name, value in measured.items() if manifest.findings.get(name, value) != value]
    models: Sequence[Mapping[str, Any]] = as_json([verdict.to_dict() for verdict in judged.models])
    said = [entry.model_dump(mode="json") for entry in manifest.models]
    if len(said) != len(models):
        wrong.append("models")
    for entry, model in zip(said, models, strict=False):
        if not all(_same(entry[key], model[key]) for key in ("name", "parameters", "holds", "worst")):
            wrong.append(str(model["name"]))
    wrong += ["suppressed_rows"] if manifest.suppressed_rows != judged.suppressed_rows else []
    again = [name for name in measured if name in manifest.findings]
    again += ["suppressed_rows", *dict.fromkeys(str(model["name"]) for model in models)]
    claims = ["method", "parameters", *_claims(manifest, measured)]
    detail = f"measured again: {', '.join(again)}; claimed, not checked: {', '.join(claims)}"
    return Check("figures", not wrong, f"not as measured: {', '.join(wrong[:_MOST])}" if wrong else detail)


def _claims(manifest: Manifest, measured: Mapping[str, int]) -> list[str]:
    """The findings of a manifest that the released file cannot show. Suppressed rows are counted there again, unless
    the method counted others too: rows that were removed, or by their weights."""
    names = {name: name for name in manifest.findings if name not in measured}
    if names.pop("suppressed_rows", None) and manifest.findings["suppressed_rows"] != manifest.suppressed_rows:
        names["suppressed_rows"] = "suppressed rows as the method counts them"
    return list(names.values())


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
