"""Hot loops compiled to machine code by numba, and called without it once they are. Imported only where it is used.

Loops are compiled when they are first called, and kept on disk: beside their source, in the user's cache folder where
that is read-only, or in `NUMBA_CACHE_DIR`. What is kept is loaded without numba, which takes most of a second to start.
`shoal.installation.ahead` compiles loops ahead, for any processor of the last ten years, into the package.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from shoal.compiled.kept import folder
from shoal.compiled.loop import InLanes, Loop
from shoal.compiled.ready import STEP, Rehearsal, at_hand, is_ready, make_ready, run_here

__all__ = [
    "STEP",
    "Loop",
    "Number",
    "Rehearsal",
    "at_hand",
    "compiled",
    "compiled_in_lanes",
    "compiled_inside",
    "compiled_once",
    "compiled_part",
    "folder",
    "is_ready",
    "make_ready",
    "run_here",
]

# a number of the type of the arrays that it comes from: machine code tells them apart, annotations do not
Number = Any
Function = TypeVar("Function", bound=Callable[..., Any])


def _loop(function: Function, **options: Any) -> Function:
    return cast(Function, Loop(function, options))


def compiled(function: Function) -> Function:
    """Compile a loop when it is first called; the machine code is kept on disk and runs beside other threads."""
    return _loop(function)


def compiled_part(function: Function) -> Function:
    """The same for a function that only compiled loops call: it is kept with them, not by itself."""
    return _loop(function)


def compiled_once(function: Function) -> Function:
    """The same for a function that is called in one place: it becomes a part of its caller before anything else."""
    return _loop(function, inline="always")


def compiled_inside(function: Function) -> Function:
    """The same for a few lines in a hot loop: they become a part of it, for a call would cost more than they do."""
    return _loop(function, forceinline=True)


def compiled_in_lanes(function: Function) -> Function:
    """A function that `compiled/vectors.py` has machine code for, by its name; what stands here says what that does."""
    return cast(Function, InLanes(function))
