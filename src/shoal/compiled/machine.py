"""Machine code of a loop in memory, called without numba: as it calls it itself, but that nothing is imported for it.

A loop is `status entry(result*, exception**, arguments...)`. An array goes in as the Python object that it is (the
entry reads where its elements are), a number by value. Memory that a loop takes is from the C library; an array that it
returns gives it back when it is no longer used. Other threads run meanwhile.
"""

from __future__ import annotations

import ctypes
import mmap
import pickle
import struct
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from shoal.compiled.image import PAGE, Image

ENTRY, RELEASE = "shoal_entry", "shoal_release"
# what processors since about 2015 can do, by Linux's names: the target that code made ahead is for
PORTABLE = "x86-64-v3"
PORTABLE_NEEDS = frozenset({"abm", "avx", "avx2", "bmi1", "bmi2", "cx16", "f16c", "fma", "lahf_lm", "movbe", "pni"}) | {
    *("popcnt", "sse4_1", "sse4_2", "ssse3", "xsave")
}
_NUMBERS = {
    "bool": ctypes.c_bool,
    "int8": ctypes.c_int8,
    "int16": ctypes.c_int16,
    "int32": ctypes.c_int32,
    "int64": ctypes.c_int64,
    "uint8": ctypes.c_uint8,
    "uint16": ctypes.c_uint16,
    "uint32": ctypes.c_uint32,
    "uint64": ctypes.c_uint64,
    "float32": ctypes.c_float,
    "float64": ctypes.c_double,
}
# numba's names for functions of the C library
_ALSO_KNOWN_AS = {"numba_nextafter": "nextafter", "numba_nextafterf": "nextafterf"}
# None, the name of a number, [type of elements, dimensions] of an array, or {"tuple": [...]}
Kind = Any
_IN_MEMORY: list[mmap.mmap] = []


@cache
def is_supported() -> bool:
    """Whether machine code can be loaded here without numba."""
    return sys.platform == "linux" and struct.calcsize("P") == 8 and object.__basicsize__ == 16 and bool(processor())


@cache
def processor() -> tuple[str, frozenset[str]] | None:
    """The name of this processor and what it can do, if it is an x86-64 one and the system says so."""
    try:
        with Path("/proc/cpuinfo").open(encoding="ascii", errors="replace") as lines:
            told = dict(line.split(":", 1) for line in iter(lines.readline, "\n") if ":" in line)
    except (OSError, ValueError):
        return None
    told = {name.strip(): value.strip() for name, value in told.items()}
    if "lm" not in told.get("flags", "").split():
        return None
    model = " ".join(told.get(name, "") for name in ("vendor_id", "cpu family", "model"))
    return model, frozenset(told["flags"].split())


def signature(arguments: tuple[Any, ...]) -> list[str] | None:
    """The types of arguments by name; nothing if there are others than arrays of numbers, and numbers.

    >>> signature((np.zeros((2, 3), np.float32), np.zeros(4)[::2], 7, True, np.float32(1)))
    ['float32 2 C', 'float64 1 A', 'int64', 'bool', 'float32']
    """
    names = []
    for argument in arguments:
        name = _name(argument)
        if name is None:
            return None
        names.append(name)
    return names


def _name(argument: Any) -> str | None:
    if isinstance(argument, np.ndarray):
        flags = argument.flags
        if type(argument) is not np.ndarray or argument.dtype.name not in _NUMBERS or not argument.dtype.isnative:
            return None
        layout = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
        kind = f"{argument.dtype.name} {argument.ndim} {layout}"
        return kind + (" read-only" if not flags.writeable else "") + (" unaligned" if not flags.aligned else "")
    if isinstance(argument, np.generic):
        return argument.dtype.name if argument.dtype.name in _NUMBERS else None
    if type(argument) is int:
        return "int64" if -(1 << 63) <= argument < 1 << 63 else None
    return {bool: "bool", float: "float64"}.get(type(argument))


def can_load(image: Image) -> bool:
    """Whether all functions that an image calls are there."""
    return all(_address(name) for name in image.names)


def load(image: Image) -> dict[str, int] | None:
    """Copy an image into memory: the addresses of its functions, or nothing where one that it calls is not there."""
    if not can_load(image):
        return None
    wanted = [_address(name) for name in image.names]
    length = max(len(image.content), PAGE)
    flags, may = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ | mmap.PROT_WRITE
    memory = mmap.mmap(-1, length, flags=flags, prot=may)
    memory[: len(image.content)] = image.content
    base = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    for place, which, added in image.places:
        address = base if which < 0 else wanted[which]
        struct.pack_into("<Q", memory, place, (address or 0) + added)
    if _library("mprotect")(ctypes.c_void_p(base), ctypes.c_size_t(image.code), mmap.PROT_READ | mmap.PROT_EXEC):
        return None
    _IN_MEMORY.append(memory)
    return {name: base + start for name, start in image.starts.items()}


@cache
def _address(name: str) -> int | None:
    try:
        return ctypes.cast(_library(_ALSO_KNOWN_AS.get(name, name)), ctypes.c_void_p).value
    except AttributeError:
        return None


def _library(name: str) -> Any:
    """A function of the C library, or of its mathematics."""
    try:
        return getattr(ctypes.CDLL(None), name)
    except AttributeError:
        return getattr(_mathematics(), name)


@cache
def _mathematics() -> Any:
    try:
        return ctypes.CDLL("libm.so.6")
    except OSError:
        return None


class _Memory:
    """Memory that a loop took and returned as an array; without any of its own, it is that of an argument."""

    __slots__ = ("__array_interface__", "arguments", "at", "release")

    def __init__(self, at: int | None, release: Any, arguments: Any, interface: dict[str, Any]) -> None:
        self.at, self.release, self.arguments = at, release, None if at else arguments
        self.__array_interface__ = interface

    def __del__(self) -> None:
        # when the interpreter ends, the code that releases it may be gone already
        if self.at and not sys.is_finalizing():
            self.release(self.at)


def _field(kind: Kind) -> Any:
    """A result in memory."""
    if kind is None:
        return ctypes.c_void_p
    if isinstance(kind, str):
        return _NUMBERS[kind]
    if isinstance(kind, dict):
        fields = [(f"f{i}", _field(part)) for i, part in enumerate(kind["tuple"])]
    else:
        fields = [("memory", ctypes.c_void_p), ("parent", ctypes.c_void_p), ("items", ctypes.c_int64)]
        fields += [("size", ctypes.c_int64), ("data", ctypes.c_void_p)]
        fields += [("shape", ctypes.c_int64 * kind[1]), ("strides", ctypes.c_int64 * kind[1])]
    return type("Result", (ctypes.Structure,), {"_fields_": fields})


def _reader(kind: Kind, release: Any) -> Callable[[Any, Any], Any]:
    """How a result in memory becomes one of Python."""
    if kind is None:
        return lambda found, arguments: None
    if isinstance(kind, str):
        return lambda found, arguments: found
    if isinstance(kind, dict):
        parts = [(f"f{i}", _reader(part, release)) for i, part in enumerate(kind["tuple"])]
        return lambda found, arguments: tuple([read(getattr(found, name), arguments) for name, read in parts])
    elements = np.dtype(kind[0]).str

    def as_array(found: Any, arguments: Any) -> Any:
        shape, strides = tuple(found.shape), tuple(found.strides)
        interface = {"version": 3, "typestr": elements, "data": (found.data, False), "shape": shape, "strides": strides}
        return np.asarray(_Memory(found.memory, release, arguments, interface))

    return as_array


def _taken_as(name: str, argument: Any) -> Any:
    """How ctypes hands over an argument."""
    if name not in _NUMBERS:
        return ctypes.py_object
    number: Any = _NUMBERS[name]
    if not isinstance(argument, np.generic):
        return number

    class Converted:
        @staticmethod
        def from_param(value: Any) -> Any:
            return number(value.item())

    return Converted


def caller(image: Image, names: list[str], arguments: tuple[Any, ...], result: Kind) -> Callable[..., Any] | None:
    """The function of an image for arguments like these, or nothing where it cannot be loaded."""
    starts = load(image)
    if starts is None:
        return None
    kinds = [_taken_as(name, argument) for name, argument in zip(names, arguments, strict=True)]
    entry = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, *kinds)(starts[ENTRY])
    release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(starts[RELEASE])
    simple = result is None or isinstance(result, str)
    space, read, byref, error = _field(result), _reader(result, release), ctypes.byref, ctypes.c_void_p

    def call(*arguments: Any) -> Any:
        found, failed = space(), error()
        status = entry(byref(found), byref(failed), *arguments)
        if status > 0:
            raise _exception(failed.value)
        return read(found.value if simple else found, arguments)

    return call


def _exception(at: int | None) -> BaseException:
    """What a loop raised: numba keeps it as bytes in the image."""
    if at:
        content, size, _, _, dynamic = struct.unpack("<QixxxxQQi", ctypes.string_at(at, 36))
        if content and not dynamic:
            kind, arguments, _ = pickle.loads(ctypes.string_at(content, size))
            if kind is not None:
                raised: BaseException = kind(*arguments)
                return raised
    return RuntimeError("a compiled loop failed")
