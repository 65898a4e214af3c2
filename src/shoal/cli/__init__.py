"""The command line: the same words as the library, in the same order. It holds no rules."""

from __future__ import annotations

import gc
import io
import os
import sys
from typing import NoReturn

from shoal.cli.group import app
from shoal.errors import CLOSED_PIPE, INTERRUPTED, InputError, ShoalError

__all__ = ["app", "main", "prepare_streams", "run"]


def run() -> NoReturn:
    """The program `shoal`: `main`, then the rest of its output, which may meet a closed pipe or a full disk."""
    code: object = 0
    # modules make many objects and no garbage: the default of 700 looks through them some forty times at start-up
    gc.set_threshold(20_000)
    try:
        main()
    except SystemExit as ended:
        code = ended.code
    try:
        sys.stdout.flush()
    except OSError as error:
        # Python flushes once more when it ends; what is left must have somewhere to go
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = code or _exit_code(error)
    # what is left ends with the process: not looked through for garbage first, which takes a fifth of a short command;
    # after an error it is, for a database that its traceback holds would tell of leaks
    if not code:
        gc.freeze()
    sys.exit(code)  # type: ignore[arg-type]


def main() -> None:
    """Run a command; an error is one clear message and an exit code, a traceback only with --debug."""
    arguments = sys.argv[1:] or ["--help"]
    debug = "--debug" in arguments
    if debug:
        arguments.remove("--debug")
    # a panic inside polars would print pages; threads of linear algebra cost 0.1 s to start and nothing here uses them
    os.environ.setdefault("RUST_BACKTRACE", "0")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # what is installed beside shoal must not see values of policies
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    prepare_streams()
    try:
        app(arguments, prog_name="shoal")
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except BaseException as error:  # a panic inside polars is no Exception
        if isinstance(error, (SystemExit, GeneratorExit)) or (debug and not isinstance(error, BrokenPipeError)):
            raise
        sys.exit(_exit_code(error))


def prepare_streams() -> None:
    """Let no sign end a command: UTF-8 has all but halves of signs, other encodings get simpler ones."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            if stream.encoding.lower() == "utf-8":
                stream.reconfigure(errors="replace")
            else:
                from shoal.systems.console import prepare

                prepare(stream)


def _exit_code(error: BaseException) -> int:
    """The exit code of what went wrong, which is said first; nobody is there to hear of a closed pipe."""
    if isinstance(error, BrokenPipeError):
        return CLOSED_PIPE
    from shoal.cli.render import show_error

    return show_error(_as_ours(error))


def _as_ours(error: BaseException) -> BaseException:
    """What the machine refused, in our words."""
    if isinstance(error, MemoryError):
        return InputError("There is not enough memory for this table.", "Name fewer columns, or use a larger machine.")
    if isinstance(error, OSError) and not isinstance(error, ShoalError):
        return InputError(
            f"The system refused: {error.strerror}.", "Check the disk, the rights and the names of files."
        )
    return error
