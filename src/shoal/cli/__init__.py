"""The command line: the same words as the library, in the same order. It holds no rules."""

from __future__ import annotations

import atexit
import gc
import io
import os
import sys
from importlib.util import find_spec, module_from_spec
from typing import Any, NoReturn

from shoal.cli.app import app
from shoal.errors import CLOSED_PIPE, InputError, ShoalError

__all__ = ["app", "main", "run"]

# what importing allocates stays (120,000 objects for a release): one look through it for garbage takes 0.05 s
_ALLOCATIONS_BEFORE_COLLECTION = 500_000


def run() -> NoReturn:
    """The program `shoal`: `main`, then the end at once, without taking apart hundreds of modules (0.06 s)."""
    gc.set_threshold(_ALLOCATIONS_BEFORE_COLLECTION)
    code: object = 0
    try:
        main()
    except SystemExit as ended:
        code = ended.code
    if code is not None and not isinstance(code, int):
        sys.exit(str(code))
    try:
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        code = code or CLOSED_PIPE
    os._exit(code or 0)


def _load_at_first_use(package: str, name: str, function: str) -> None:
    """A module that is imported for a use that rarely comes: empty until it is asked for more than a function."""
    whole = f"{package}.{name}"
    spec = find_spec(whole)
    if whole in sys.modules or spec is None or spec.loader is None:
        return
    module, loader = module_from_spec(spec), spec.loader

    def load(attribute: str) -> Any:
        if vars(module).pop("__getattr__", None):
            loader.exec_module(module)
        return getattr(module, attribute)

    def call(*arguments: Any, **named: Any) -> Any:
        load("__name__")
        return getattr(module, function)(*arguments, **named)

    vars(module).update({"__getattr__": load, function: call})
    sys.modules[whole] = module
    setattr(sys.modules[package], name, module)


def main() -> None:
    """Run a command; an error is one clear message and an exit code, a traceback only with --debug."""
    arguments = sys.argv[1:] or ["--help"]
    debug = "--debug" in arguments
    if debug:
        arguments.remove("--debug")
    # a panic inside polars would print pages; threads of linear algebra cost 0.1 s to start and nothing here uses them;
    # a terminal without bars gets question marks
    os.environ.setdefault("RUST_BACKTRACE", "0")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # what is installed beside shoal must not see values of policies, and looking for it takes 0.02 s
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    # polars and pydantic import it, and have no use for it here: forty modules, 0.03 s
    _load_at_first_use("importlib", "metadata", "entry_points")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        app(arguments, prog_name="shoal")
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        sys.exit(CLOSED_PIPE)
    except BaseException as error:  # a panic inside polars is no Exception
        if debug or isinstance(error, (SystemExit, GeneratorExit)):
            raise
        from shoal.cli.console import show_error

        sys.exit(show_error(_as_ours(error)))


def _as_ours(error: BaseException) -> BaseException:
    """What the machine refused, in our words."""
    if isinstance(error, MemoryError):
        return InputError("There is not enough memory for this table.", "Name fewer columns, or use a larger machine.")
    if isinstance(error, OSError) and not isinstance(error, ShoalError):
        return InputError(
            f"The system refused: {error.strerror}.", "Check the disk, the rights and the names of files."
        )
    return error
