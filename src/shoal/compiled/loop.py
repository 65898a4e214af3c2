"""A loop that is called as machine code: loaded where it is kept, compiled by numba where it is not."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable
from functools import cache, cached_property, update_wrapper
from typing import Any

import numpy as np

from shoal.compiled import kept, machine
from shoal.compiled.stamp import of_module, stamp

# divisions by zero give inf, as in numpy: a branch that raises in every loop would double the time to compile it
_COMMON = {"nogil": True, "boundscheck": False, "error_model": "numpy", "no_cfunc_wrapper": True}
_LEAST, _MOST = -(1 << 63), (1 << 63) - 1
_LOADING = threading.RLock()


class Loop:
    """A function of arrays and numbers that runs as machine code, alone or as a part of others."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        update_wrapper(self, function)
        self.py_func = function
        self.targetoptions = _COMMON | options
        self.signatures: list[list[str]] = []
        self.built = 0
        self._known: dict[Any, Callable[..., Any]] = {}

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        if named:
            arguments = self._in_order(arguments, named)
        # types as the interpreter has them at hand: arrays differ by elements, dimensions and flags
        key = tuple([
            (one.dtype, one.ndim, one.flags.num) if (kind := type(one)) is np.ndarray
            else kind if kind is not int or _LEAST <= one <= _MOST else "too large"
            for one in arguments
        ])  # fmt: skip
        known = self._known.get(key) or self._loaded(key, arguments)
        return known(*arguments)

    def _in_order(self, arguments: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
        bound = inspect.signature(self.py_func).bind(*arguments, **named)
        bound.apply_defaults()
        return bound.args

    def _loaded(self, key: Any, arguments: tuple[Any, ...]) -> Callable[..., Any]:
        with _LOADING:
            if key not in self._known:
                self._known[key] = self._machine_code(arguments) or self.dispatcher
            return self._known[key]

    def _machine_code(self, arguments: tuple[Any, ...]) -> Callable[..., Any] | None:
        if len(arguments) < self.py_func.__code__.co_argcount:
            return lambda *some: self(*self._in_order(some, {}))
        if any(isinstance(one, np.memmap) for one in arguments):  # an array like any other, but for its class
            return lambda *mapped: self(*[np.asarray(one) if isinstance(one, np.memmap) else one for one in mapped])
        names = machine.signature(arguments) if machine.is_supported() else None
        if names is None:
            return None
        self.signatures.append(names)
        found = kept.read(self, names) or self._built(arguments, names)
        return machine.caller(found.image, names, arguments, found.result) if found.image else None

    def _built(self, arguments: tuple[Any, ...], names: list[str]) -> kept.Kept:
        from shoal.compiled import build

        found = kept.Kept(*(build.built(self, arguments) or (None, None)))
        self.built += 1
        kept.write(self, names, found)
        return found

    @cached_property
    def stamp(self) -> str:
        """What the loop is built from, as it was when its machine code was first looked for."""
        return stamp(self)

    @cached_property
    def dispatcher(self) -> Any:
        """The loop as numba runs it, where machine code cannot be loaded without it."""
        from shoal.compiled import build

        return build.dispatcher(self)

    @cached_property
    def _part(self) -> Any:
        from shoal.compiled import build

        return build.part(self)

    @property
    def _numba_type_(self) -> Any:
        """Asked for by numba, where another loop calls this one."""
        return self._part._numba_type_

    def is_kept(self) -> bool:
        """Whether machine code that holds is on disk, made ahead or kept by a run before."""
        if machine.is_supported():
            return any(True for _ in kept.found(self))
        return kept.folder(self) is not None and self.is_ready()

    def is_ready(self) -> bool:
        """Whether the machine code is loaded or on disk; also where it cannot be kept, or nobody can tell."""
        if self._known or kept.folder(self) is None:
            return True
        some = list(kept.found(self)) if machine.is_supported() else []
        if machine.is_supported() and (not some or any(one.image for one in some)):
            return bool(some)
        file: Any = getattr(self.dispatcher._cache, "_cache_file", None)
        if not hasattr(file, "_load_index"):
            return True
        try:
            return bool(file._load_index())
        except OSError:
            return True


class InLanes(Loop):
    """A function whose machine code is written by hand, as a part of the loops that call it; here it is Python."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function, {"written": _written()})

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self.py_func(*arguments, **named)

    @cached_property
    def _part(self) -> Any:
        from shoal.compiled import vectors

        return vectors.function_type(self)

    @property
    def _numba_type_(self) -> Any:
        return self._part


@cache
def _written() -> str:
    return of_module("shoal.compiled.vectors")
