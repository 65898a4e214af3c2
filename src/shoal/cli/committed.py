"""`shoal-committed FILE...`: the program behind the pre-commit hook. It is a program of its own, not a command."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from shoal.errors import InputError
from shoal.keys import is_private_file
from shoal.policy.manifest import manifest_path
from shoal.releases.verify import verify
from shoal.results.sections import Case
from shoal.storage.reading.files import table_extensions

_USAGE = """shoal-committed FILE...

Refuse tables among the files of a commit that are not releases with a manifest that holds: exit code 1 if there are
some. Without a file there is nothing to check.
"""


def main() -> None:
    """Say which files may not be committed, and why; exit code 1 if there are some."""
    if not sys.argv[1:] or {"-h", "--help"} & set(sys.argv[1:]):
        sys.stdout.write(_USAGE)
        return
    from shoal.cli import prepare_streams
    from shoal.cli.render import printable

    prepare_streams()
    refused = [case for case in committed(sys.argv[1:]) if not case.holds]
    for case in refused:
        sys.stdout.write(printable(f"{case.name}: {case.detail}") + "\n")
    sys.exit(1 if refused else 0)


# what belongs to the owner of a release only
PRIVATE_ENDINGS = (".private.json", ".plan.json")
_PRIVATE = "it is for the owner of the release only: take it out, and add it to .gitignore"
_UNRELEASED = "it has no manifest beside it: release it with `shoal anonymize` or `shoal publish`, or exclude it"


def committed(paths: Sequence[str | Path]) -> list[Case]:
    """One case per file that is private, or a table: whether it may be committed, and why not.

    Private are the record and the plan of a release, signing keys, and tables of pseudonyms. A table needs a manifest
    beside it that holds; text files with the ending .txt are not taken for tables.

    >>> committed(["safe.private.json"])[0].detail
    'it is for the owner of the release only: take it out, and add it to .gitignore'
    """
    return [case for path in paths if (case := _case(Path(path))) is not None]


def _case(path: Path) -> Case | None:
    name = str(path)
    if path.name.endswith(PRIVATE_ENDINGS) or (path.is_file() and is_private_file(path)):
        return Case("check", name, "", False, _PRIVATE)
    if path.suffix.lower() == ".txt" or path.suffix.lower() not in table_extensions():
        return None
    if not manifest_path(path).exists():
        return Case("check", name, "", False, _UNRELEASED)
    try:
        found = verify(path)
    except InputError as error:
        return Case("check", name, "", False, " ".join(error.what.split()))
    return Case("check", name, "", found.holds, found.summary() if found.holds else found.reasons())


if __name__ == "__main__":
    main()
