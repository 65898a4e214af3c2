"""`shoal-committed FILE...`: the program behind the pre-commit hook. It is a program of its own, not a command."""

from __future__ import annotations

import sys


def main() -> None:
    """Say which files may not be committed, and why; exit code 1 if there are some."""
    from shoal.cli.console import printable
    from shoal.releases.committed import committed

    refused = [case for case in committed(sys.argv[1:]) if not case.holds]
    for case in refused:
        sys.stdout.write(printable(f"{case.name}: {case.detail}") + "\n")
    sys.exit(1 if refused else 0)


if __name__ == "__main__":
    main()
