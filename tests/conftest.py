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

# What takes long to make is made once: tests of a file, or of a folder that ask for a fixture, share a worker.
TOGETHER = {
    "papers/test_sanchez.py": None,
    "papers": "antoniou",
    "detection/test_roles_labelled.py": None,
    "publication/test_publish.py": None,
    "publication/test_flow.py": None,
    "publication": "planted",
    "standards/test_planted_columns.py": None,
    "systems/test_every_verb.py": None,
}

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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark them for `--dist loadgroup`."""
    tests = Path(__file__).parent
    for item in items:
        if not item.path.is_relative_to(tests):
            continue
        file = item.path.relative_to(tests).as_posix()
        for place, fixture in TOGETHER.items():
            asked = fixture is None or fixture in getattr(item, "fixturenames", ())
            if (file == place or file.startswith(f"{place}/")) and asked:
                item.add_marker(pytest.mark.xdist_group(place))
                break
