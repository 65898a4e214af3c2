"""The waist: what counts, changes and writes rows, wherever they are stored."""

from __future__ import annotations

from shoal.engine.base import Counted, Engine
from shoal.engine.local import LOCAL

__all__ = ["LOCAL", "Counted", "Engine"]
