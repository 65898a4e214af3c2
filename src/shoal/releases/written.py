"""Release what was anonymised, and give back its result with where the release is, or why there is none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from shoal.anonymization.results import Anonymized
from shoal.releases.write import Refused, release


def released(result: Anonymized, path: str | Path, **how: Any) -> Anonymized:
    """The result of a release (`how` as in `shoal.release`); where it was refused, with the reason, nothing written."""
    try:
        files = release(result, path, **how)
    except Refused as refusal:
        return result.as_refused(str(refusal))
    return result.as_released(files.written, files.output, files.manifest, files.plan)
