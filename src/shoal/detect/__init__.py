"""Which columns identify people, and why."""

from shoal.detect.find import detect
from shoal.detect.results import Bound, Detection, FoundSet

__all__ = ["Bound", "Detection", "FoundSet", "detect"]
