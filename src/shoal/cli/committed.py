"""`shoal-committed FILE...`: the program behind the pre-commit hook. It is a program of its own, not a command."""

from __future__ import annotations

import sys

_USAGE = """shoal-committed FILE...

Refuse tables among the files of a commit that are not releases with a manifest that holds: exit code 1 if there are
some. Without a file there is nothing to check.
"""


def main() -> None:
    """Say which files may not be committed, and why; exit code 1 if there are some."""
    if not sys.argv[1:] or {"-h", "--help"} & set(sys.argv[1:]):
        sys.stdout.write(_USAGE)
        return
    from shoal.cli.console import printable
    from shoal.releases.committed import committed

    refused = [case for case in committed(sys.argv[1:]) if not case.holds]
    for case in refused:
        sys.stdout.write(printable(f"{case.name}: {case.detail}") + "\n")
    sys.exit(1 if refused else 0)


if __name__ == "__main__":
    main()
