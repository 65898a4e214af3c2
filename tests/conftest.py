"""Shared by all tests: real data where it is, and a quiet hypothesis."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "shoal", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
settings.load_profile("shoal")

DATA = Path(os.environ.get("SHOAL_DATA", Path(__file__).parents[2] / "shared" / "data"))


@pytest.fixture(scope="session")
def data() -> Path:
    """Real data and golden values; they are not part of the project."""
    if not DATA.is_dir():
        pytest.skip("real data is absent: set SHOAL_DATA to its folder")
    return DATA


@pytest.fixture(scope="session")
def golden(data: Path) -> Any:
    """The golden values of Sánchez et al."""
    return json.loads((data / "golden" / "sanchez.json").read_text())
