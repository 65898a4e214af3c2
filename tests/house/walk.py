"""`python walk.py VERB ...`: how far a command walks through the code; a report, not a test.

Prints how many files of shoal it enters, how often a call leads from one package to another, and how many modules of
shoal it loads: `python tests/house/walk.py anonymize people.csv -o safe.csv --qi age,zip -k 5`.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any


class Walk:
    """The calls of a command, as the profiler of the interpreter tells them."""

    def __init__(self, root: Path) -> None:
        self.root = f"{root}{os.sep}"
        self.files: Counter[str] = Counter()
        self.switches: Counter[tuple[str, str]] = Counter()

    def package(self, frame: FrameType | None) -> str | None:
        """The package of the nearest frame that is shoal's own."""
        while frame is not None:
            name = frame.f_code.co_filename
            if name.startswith(self.root):
                return Path(name[len(self.root) :]).parts[0]
            frame = frame.f_back
        return None

    def called(self, frame: FrameType, event: str, _: Any) -> None:
        """One call: note its file, and the package that it comes from."""
        name = frame.f_code.co_filename
        if event != "call" or not name.startswith(self.root) or frame.f_code.co_name == "<module>":
            return
        self.files[name[len(self.root) :]] += 1
        there, here = self.package(frame.f_back), self.package(frame)
        if there is not None and here is not None and there != here:
            self.switches[there, here] += 1


def main() -> None:
    """Run the command under the profiler, and print what it entered."""
    import shoal
    from shoal.cli import main as run

    walk = Walk(Path(shoal.__file__).parent)
    sys.argv = ["shoal", *sys.argv[1:]]
    threading.setprofile(walk.called)
    sys.setprofile(walk.called)
    try:
        run()
    except SystemExit:
        pass
    finally:
        sys.setprofile(None)
    loaded = [name for name in sys.modules if name.split(".")[0] == "shoal"]
    print(f"{len(walk.files)} files, {walk.switches.total():,} switches of package, {len(loaded)} modules loaded")
    for (there, here), count in walk.switches.most_common(10):
        print(f"{count:8,}  {there} -> {here}")


if __name__ == "__main__":
    main()
