"""Names that a file does not have are refused by its header, before its rows are read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import shoal
from shoal.errors import InputError
from shoal.storage.reading import Options


@pytest.mark.parametrize(
    "given",
    [
        {"quasi_identifiers": ["nosuch"]},
        {"quasi_identifiers": ["age"], "sensitive": "nosuch"},
        {"quasi_identifiers": ["age"], "decide": {"nosuch": "other"}},
        {"quasi_identifiers": ["age"], "options": Options(types={"nosuch": "nominal"})},
    ],
)
def test_unknown_names_are_refused_by_the_header(
    given: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "people.csv"
    path.write_text("age,sex\n30,f\n31,m\n")

    def no_rows(*_: Any, **__: Any) -> None:
        raise AssertionError("rows were read")

    monkeypatch.setattr("shoal.engine.local.LocalEngine.rows", no_rows)
    with pytest.raises(InputError, match="has no column 'nosuch'"):
        shoal.anonymize(path, k=2, **given)
