"""The command line: the same words as the library, in the same order. It holds no rules."""

from __future__ import annotations

import sys

from shoal.cli.app import app
from shoal.errors import ShoalError

__all__ = ["app", "main"]


def main() -> None:
    """Run a command; an error is one clear message and an exit code, a traceback only with --debug."""
    arguments = sys.argv[1:]
    debug = "--debug" in arguments
    if debug:
        arguments.remove("--debug")
    try:
        app(arguments, prog_name="shoal")
    except ShoalError as error:
        if debug:
            raise
        from shoal.cli.show import show_error

        show_error(error)
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, BrokenPipeError):
        sys.exit(130)
    except Exception as error:
        if debug:
            raise
        from shoal.cli.show import show_fault

        show_fault(error)
        sys.exit(70)
