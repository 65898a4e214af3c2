"""All benchmarks, or those named: `python benchmarks/run.py classes growth`."""

from __future__ import annotations

import importlib
import sys

BENCHMARKS = ["classes", "commands", "first_use", "detect", "kinds", "anonymize", "lattice", "partition"]
BENCHMARKS += ["microaggregate", "suppress", "methods", "leak", "attacks", "attacks_more", "population", "dp"]
BENCHMARKS += ["learning", "databases", "safe_harbor", "papers", "growth"]


def main() -> None:
    """Run them in order."""
    for name in sys.argv[1:] or BENCHMARKS:
        importlib.import_module(name).main()


if __name__ == "__main__":
    main()
