"""A publication that is stopped half way leaves neither folder, and what was there before stays as it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from accepted import ACCEPTED
from shoal.reports.publication import publish as module

POLICY: dict[str, Any] = {
    "columns": {"age": "quasi-identifier", "illness": "sensitive"},
    "models": [{"model": "k-anonymity", "k": 3}],
    "attacks": ACCEPTED,
}
PEOPLE = pl.DataFrame({"age": [30, 34, 51, 52] * 3, "illness": ["flu", "cold"] * 6})


def contents(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.mark.parametrize("before", [False, True])
@pytest.mark.parametrize("where", ["report", "placing"])
def test_nothing_is_left_and_nothing_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: bool, where: str
) -> None:
    output = tmp_path / "release"
    if before:
        shoal.publish(PEOPLE, POLICY, output=output, pdf=False)
    kept, rename = contents(tmp_path), Path.rename

    def stopped(*_: Any) -> str:
        raise KeyboardInterrupt

    def failing(self: Path, target: Any) -> Path:
        """The owner's part has its name already; what may leave does not get it."""
        if Path(target) == output and ".old." not in self.name:
            raise KeyboardInterrupt
        return rename(self, target)

    if where == "report":
        monkeypatch.setattr(module, "report_html", stopped)
    else:
        monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(KeyboardInterrupt):
        shoal.publish(PEOPLE, POLICY, output=output, pdf=False, force=before)
    monkeypatch.undo()
    assert contents(tmp_path) == kept
    assert before or list(tmp_path.iterdir()) == []
