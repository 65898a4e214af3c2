"""The picture of which risk to report is the one that its script draws, and its words fit their boxes."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def drawn() -> ModuleType:
    spec = importlib.util.spec_from_file_location("which_risk", ROOT / "docs" / "which_risk.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_picture_is_what_the_script_draws(drawn: ModuleType) -> None:
    assert drawn.picture() == drawn.PICTURE.read_text(encoding="utf-8"), "draw it anew: python docs/which_risk.py"


def test_words_fit_their_boxes_and_boxes_the_picture(drawn: ModuleType) -> None:
    for box in drawn.BOXES.values():
        # a letter of 13 pixels is about 7 wide, a strong one 7.5
        assert max(7.5 * len(box.lines[0]), *(7 * len(line) for line in box.lines)) <= box.width + 20
        assert 0 <= box.x - box.width // 2 <= box.x + box.width // 2 <= drawn.WIDTH
        assert box.y + box.height <= drawn.HEIGHT
