"""What differs between Linux, macOS and Windows. No other package asks which system it runs on; a test keeps that.

`locks`: locks that end with their process. `files`: names, replacing and syncing. `rights`: owners and modes.
`machine`: processors and memory. `processes`: signals and child processes. `console`: what a terminal can show.
"""

from __future__ import annotations

import sys

WINDOWS = sys.platform == "win32"
MACOS = sys.platform == "darwin"
