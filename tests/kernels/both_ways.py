"""Runs jobs of shoal with every kernel called twice: as machine code, on arrays that end at a page which nobody may
touch, and as Python on copies. Run as a program with a seed; prints how often each kernel was compared. Given the name
of a file too, it keeps there what was compared, for `again.py`.

A read or write past the end of an array ends the process. Results and arrays must agree to the last bit.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import mmap
import pickle
import sys
import threading
import types
import warnings
from collections import Counter
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from kernels.uncompiled import names, uncompiled
from kernels.values import arrays, bits, each, know_class

# what takes longer in Python is left out, and a kernel is compared so many times for each kind of arguments
MOST_BYTES, MOST_TIMES = 60_000, 4
_LIBRARY = ctypes.CDLL(None, use_errno=True)
_PAGE = mmap.PAGESIZE


def guarded(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A copy whose last byte is the last before a page that nobody may touch."""
    if not array.nbytes:
        return array
    pages = -(-array.nbytes // _PAGE) * _PAGE
    memory = mmap.mmap(-1, pages + _PAGE)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    assert _LIBRARY.mprotect(ctypes.c_void_p(address + pages), ctypes.c_size_t(_PAGE), 0) == 0
    copy = np.frombuffer(memory, array.dtype, array.size, pages - array.nbytes).reshape(array.shape)
    copy[...] = array
    copy.flags.writeable = array.flags.writeable
    return copy


class BothWays:
    """A kernel in the place of the compiled one."""

    compared: ClassVar[Counter[str]] = Counter()
    times: ClassVar[Counter[Any]] = Counter()
    kept: ClassVar[list[tuple[str, bytes, Any, list[Any]]]] = []
    keeps = False
    lock = threading.Lock()

    def __init__(self, module: str, function: Any) -> None:
        self.name, self.function = f"{module}.{function.__name__}", function
        self.python = getattr(uncompiled(module), function.__name__)

    def __call__(self, *arguments: Any) -> Any:
        kind = tuple((array.dtype.str, array.ndim) for array in arrays(arguments))
        size = sum(array.nbytes for array in arrays(arguments))
        with self.lock:
            self.times[self.name, kind, size.bit_length()] += 1
            compares = self.times[self.name, kind, size.bit_length()] <= MOST_TIMES and size <= MOST_BYTES
        if not compares:
            return self.function(*arguments)
        given = pickle.dumps(arguments) if self.keeps else b""
        copies, walled = each(arguments, np.copy, python=True), each(arguments, guarded)
        result = self.function(*walled)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            expected = self.python(*copies)
        assert bits(result) == bits(expected), f"{self.name}: results differ"
        for number, (one, other) in enumerate(zip(arrays(walled), arrays(copies), strict=True)):
            assert bits(one) == bits(other), f"{self.name}: array {number} differs"
        for original, changed in zip(arrays(arguments), arrays(walled), strict=True):
            if original.flags.writeable:
                original[...] = changed
        with self.lock:
            self.compared[self.name] += 1
            if self.keeps:
                self.kept.append((self.name, given, bits(result), [bits(array) for array in arrays(walled)]))
        return result


def install() -> list[str]:
    """Put both ways in the place of every kernel, before anything imports it; their names."""
    found = []
    for name in names():
        compiled = importlib.import_module(f"shoal.kernels.{name}")
        double = types.ModuleType(compiled.__name__)
        double.__dict__.update(vars(compiled))
        for key, value in vars(uncompiled(name)).items():
            if isinstance(value, type) and value.__module__ == f"uncompiled_{name}":
                know_class(getattr(compiled, key), value)
            if (
                isinstance(value, types.FunctionType)
                and value.__module__ == f"uncompiled_{name}"
                and hasattr(compiled, key)
            ):
                setattr(double, key, BothWays(name, getattr(compiled, key)))
                found.append(f"{name}.{key}")
        sys.modules[compiled.__name__] = double
        setattr(sys.modules["shoal.kernels"], name, double)
    return found


def main(seed: int, file: str = "") -> None:
    known = install()
    from kernels.jobs import run

    BothWays.keeps = bool(file)
    run(seed)
    if file:
        Path(file).write_bytes(pickle.dumps(BothWays.kept))
    sys.stdout.write(json.dumps({name: BothWays.compared[name] for name in known}))


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:])
