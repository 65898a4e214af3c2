"""Run the tests of mutants: `python -m mutation.run COUNT SEED` in `tests/` prints which of them nobody noticed."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
import time
from collections.abc import Sequence

from mutation.mutants import ROOT, TESTS, Mutant, drawn, install

# a mutant that makes a test run on for ever is noticed
LIMIT = 300


def passes(tests: Sequence[str], mutant: Mutant | None = None) -> bool:
    """Whether all tests pass, with a mutant or as it is; in a process of its own."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            signal.alarm(LIMIT)
            if mutant is not None:
                install(mutant)
            os.chdir(ROOT)
            import pytest

            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                code = int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", "-m", "not slow", *tests]))
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) == 0


def warm_up() -> None:
    """Import what no mutant changes, once for all children."""
    import numpy
    import pandas
    import polars
    import pydantic
    import pytest

    assert all((numpy, pandas, polars, pydantic, pytest))
    assert "shoal" not in sys.modules


def main(count: int, seed: int) -> None:
    """Say of each mutant of a sample whether the tests noticed it; without a mutant they must pass."""
    warm_up()
    for tests in {tuple(tests) for tests in TESTS.values()}:
        began = time.monotonic()
        if not passes(tests):
            sys.exit(f"these tests do not pass as it is: {', '.join(tests)}")
        _say(f"passes: {', '.join(tests)} in {time.monotonic() - began:.0f} s")
    killed = 0
    for number, mutant in enumerate(drawn(count, seed), 1):
        began = time.monotonic()
        noticed = not passes(mutant.tests, mutant)
        killed += noticed
        word = "killed" if noticed else "survives"
        _say(f"{word}: {mutant.file}:{mutant.line} {mutant.what} ({time.monotonic() - began:.0f} s)")
        _say(f"{killed} of {number}")


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
