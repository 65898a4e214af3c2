"""The command line: the same words as the library, in the same order. It holds no rules."""

from __future__ import annotations

import io
import os
import sys

from shoal.cli.app import app
from shoal.errors import InputError, ShoalError

__all__ = ["app", "main"]


def main() -> None:
    """Run a command; an error is one clear message and an exit code, a traceback only with --debug."""
    arguments = sys.argv[1:]
    debug = "--debug" in arguments
    if debug:
        arguments.remove("--debug")
    # a panic inside polars would print pages; threads of linear algebra cost 0.1 s to start and nothing here uses them;
    # a terminal without bars gets question marks
    os.environ.setdefault("RUST_BACKTRACE", "0")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        app(arguments, prog_name="shoal")
    except (KeyboardInterrupt, BrokenPipeError):
        sys.exit(130)
    except Exception as error:
        if debug:
            raise
        from shoal.cli.console import show_error

        sys.exit(show_error(_as_ours(error)))


def _as_ours(error: Exception) -> Exception:
    """What the machine refused, in our words."""
    if isinstance(error, MemoryError):
        return InputError("There is not enough memory for this table.", "Name fewer columns, or use a larger machine.")
    if isinstance(error, OSError) and not isinstance(error, ShoalError):
        return InputError(
            f"The system refused: {error.strerror}.", "Check the disk, the rights and the names of files."
        )
    return error
