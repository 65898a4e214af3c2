"""What a pipeline reads of a check: JUnit and SARIF files, written also where the check fails."""

from __future__ import annotations

import json
import time
from dataclasses import field
from pathlib import Path
from typing import Any

from shoal.dataclasses import dataclass
from shoal.errors import InputError
from shoal.reports.junit import junit_xml
from shoal.reports.sarif import sarif_log
from shoal.results.cases import Judged
from shoal.writing import check_apart, write_whole


@dataclass(frozen=True)
class CiReports:
    """Where a check leaves its JUnit and SARIF files; refused before any work if they cannot be written there.

    A file that is there is replaced, as test runners do; the data that is checked never is.
    """

    command: str
    source: Any
    junit: Path | None = None
    sarif: Path | None = None
    started: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        check_apart(input=self.source, junit=self.junit, sarif=self.sarif)
        for path in (self.junit, self.sarif):
            if path is not None and (not path.parent.is_dir() or path.is_dir()):
                raise InputError(f"{path} cannot be written: it is a folder, or is in none.", "Name another file.")

    def write(self, result: Judged) -> None:
        """Write what was asked for."""
        cases = result.cases()
        if self.junit is not None:
            content = junit_xml(cases, f"shoal {self.command}", time.monotonic() - self.started)
            write_whole(self.junit, lambda draft: draft.write_bytes(content))
        if self.sarif is not None:
            several = self.source if isinstance(self.source, (list, tuple)) else [self.source]
            log = sarif_log(cases, str(several[0]), result.summary())
            text = json.dumps(log, indent=2, ensure_ascii=False) + "\n"
            write_whole(self.sarif, lambda draft: draft.write_text(text, "utf-8"))
