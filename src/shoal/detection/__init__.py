"""Which columns identify people, and why. The search is loaded when it is first asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shoal.detection.find import detect
    from shoal.detection.results import Bound, Detection, FoundSet

__all__ = ["Bound", "Detection", "FoundSet", "detect"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'shoal.detection' has no attribute {name!r}")
    return getattr(import_module(f"shoal.detection.{'find' if name == 'detect' else 'results'}"), name)
