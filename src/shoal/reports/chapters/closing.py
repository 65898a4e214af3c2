"""What the figures rest on, how to repeat them, and who signs."""

from __future__ import annotations

from shoal.reports.chapters.base import Chapter, Found
from shoal.results import Figure, Figures, Grid, Notes


def limits(found: Found) -> Chapter:
    """Assumptions, and what is not known."""
    about = "What the figures rest on, and what is not known."
    return Chapter("limits", "Assumptions and limits", about, [Notes(found["limits"])])


def repeat(found: Found) -> Chapter:
    """Software, versions, hashes."""
    data = found["data"]
    figures = [Figure(name, text) for name, text in found["software"].items()]
    hashes = [
        ("released data", data.get("released_sha256")),
        ("manifest's statements", data.get("manifest_sha256")),
        ("input", data.get("sha256")),
    ]
    figures += [Figure(f"SHA-256 of the {name}", value) for name, value in hashes if value]
    about = "The same data, policy and version of the software give the same release, apart from the order of rows."
    notes = [
        "To check the released file: the command shoal verify, with its folder. To make this report again: shoal "
        "report, which reads findings.json and nothing else.",
        "What is measured again on the released file: the smallest class, classes, uniques and every model. Method, "
        "changes and losses need the original: they are statements of the manifest, which the hash above, a signature, "
        "or the owner's private record holds fast.",
    ]
    return Chapter("repeat", "How to repeat it", about, [Figures(figures), Notes(notes)])


def signature(found: Found) -> Chapter | None:
    """The place to sign; the date of expiry where the policy has one. What was refused is not signed."""
    if found.get("refusal") is not None:
        return None
    known = {"Name and role": found["context"].get("responsible"), "Valid until": found["context"].get("expires")}
    rows = [(name, str(known.get(name) or "")) for name in ("Name and role", "Signature", "Date", "Valid until")]
    about = (
        "Software prepared this report; it does not certify. A person who knows the data and its recipients reads it, "
        "judges whether the risk is small enough, and signs."
    )
    return Chapter("signature", "Signature", about, [Grid(("", ""), rows, 2)])
