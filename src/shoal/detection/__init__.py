"""Which columns identify people, and why."""

from shoal.detection.find import detect
from shoal.detection.results import Bound, Detection, FoundSet

__all__ = ["Bound", "Detection", "FoundSet", "detect"]
