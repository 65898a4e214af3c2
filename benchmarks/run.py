"""All benchmarks, or those named: `python benchmarks/run.py classes growth`."""

from __future__ import annotations

import importlib
import sys

BENCHMARKS = ["classes", "commands", "detect", "kinds", "anonymize", "lattice", "partition", "microaggregate"]
BENCHMARKS += ["suppress", "methods", "leak", "dp", "safe_harbor", "papers", "growth"]
BENCHMARKS += ["attacks"]


def main() -> None:
    """Run them in order."""
    for name in sys.argv[1:] or BENCHMARKS:
        importlib.import_module(name).main()


if __name__ == "__main__":
    main()
